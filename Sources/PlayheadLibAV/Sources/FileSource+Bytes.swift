import CPlayheadFFmpeg
import CPlayheadMediaShims
import Glibc
import PlayheadMediaCore

/// The identity and state of a file. When the value changes, cached results about the file's bytes may be wrong.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  package let byteCount: Int64
  /// The time of the last modification, from the file system.
  package let modifiedSeconds: Int64
  package let modifiedNanoseconds: Int64

  package init(device: UInt64, inode: UInt64, byteCount: Int64, modifiedSeconds: Int64, modifiedNanoseconds: Int64) {
    self.device = device
    self.inode = inode
    self.byteCount = byteCount
    self.modifiedSeconds = modifiedSeconds
    self.modifiedNanoseconds = modifiedNanoseconds
  }
}

extension FileSource {
  /// Returns the current identity of the open file; nil for a pipe.
  ///
  /// - Throws: The failure of `fstat`.
  package func identity() throws(AVFailure) -> FileIdentity? {
    guard let byteCount else { return nil }
    if memory != nil || byteSource != nil {
      // The content cannot be replaced or changed.
      return FileIdentity(device: 0, inode: 0, byteCount: byteCount, modifiedSeconds: 0, modifiedNanoseconds: 0)
    }
    var status = stat()
    guard media_shims_fstat(descriptor, &status) == 0 else { throw AVFailure(errno: errno, call: "fstat") }
    return FileIdentity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), byteCount: Int64(status.st_size),
      modifiedSeconds: Int64(status.st_mtim.tv_sec), modifiedNanoseconds: Int64(status.st_mtim.tv_nsec))
  }

  /// Reads at most `count` bytes from `offset` on. Blocks until at least one byte is available, and does not wait for
  /// more. Returns none at the end. Does not disturb FFmpeg's reads.
  ///
  /// - Throws: As `read(into:at:)`.
  package func readAvailable(at offset: Int64, count: Int) throws(AVFailure) -> [UInt8] {
    var failure: AVFailure?
    let bytes = [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
      let rest = UnsafeMutableRawBufferPointer(buffer)
      do throws(AVFailure) {
        guard let byteSource else {
          filled = try read(into: rest, at: offset)
          return
        }
        if interrupt.isCancelled { throw AVFailure(cancelledIn: "read") }
        do throws(MediaError) {
          filled = min(try byteSource.read(into: rest, at: offset), rest.count)
        } catch {
          throw AVFailure(error)
        }
        readByteCount += Int64(filled)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Fills `buffer` with the file's bytes from `offset` on, and returns their number, which is smaller only at the
  /// file's end. Does not disturb FFmpeg's reads. Blocks; pipes are not supported.
  ///
  /// - Throws: The failure of `pread` or of the byte source; `cancelled` when the interrupt is cancelled.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(AVFailure) -> Int {
    if let byteSource {
      if interrupt.isCancelled { throw AVFailure(cancelledIn: "read") }
      do throws(MediaError) {
        let count = try Self.fill(buffer, at: offset, from: byteSource)
        readByteCount += Int64(count)
        return count
      } catch {
        throw AVFailure(error)
      }
    }
    guard byteCount != nil, offset >= 0 else { throw AVFailure(errno: EINVAL, call: "read") }
    if let memory {
      if interrupt.isCancelled { throw AVFailure(cancelledIn: "read") }
      let range = Self.range(of: memory, from: offset, count: buffer.count)
      memory.withUnsafeBytes { bytes in buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range])) }
      readByteCount += Int64(range.count)
      return range.count
    }
    var filled = 0
    while filled < buffer.count {
      if interrupt.isCancelled { throw AVFailure(cancelledIn: "read") }
      let (position, overflow) = offset.addingReportingOverflow(Int64(filled))
      guard !overflow else { break }
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      let count = pread(descriptor, rest.baseAddress, rest.count, Int(position))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw AVFailure(errno: errno, call: "read") }
      if count == 0 { break }
      filled += count
      readByteCount += Int64(count)
    }
    return filled
  }
}
