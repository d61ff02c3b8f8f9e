// The bytes of one local file, of memory or of a byte source, for FFmpeg. Playhead opens the file without blocking, and
// then checks the open descriptor. A FIFO or a device can therefore not block the process, and no other file can
// replace the file after the check. A path is plain bytes (':', '-' and '%d' have no meaning), and no protocol of
// FFmpeg is reachable.
import CPlayheadFFmpeg
import CPlayheadMediaShims
import Glibc
import PlayheadFileAccess
import PlayheadMediaCore

/// One open file, bytes in memory or a byte source, and the `AVIOContext` that reads it.
///
/// Threading: one thread at a time. The demuxer that reads from it owns it.
package final class FileSource {
  /// The kinds of file that may be opened.
  package enum Kinds: Sendable {
    case regularFiles
    /// Regular files and pipes, for tests of blocked reads.
    case regularFilesAndPipes
  }

  /// The file's path, as bytes without a terminating zero. The hint for a descriptor or byte source; empty for memory.
  package let path: [UInt8]
  /// The size of the file when it was opened, in bytes; nil for a pipe, and for a byte source of unknown size.
  package let byteCount: Int64?
  /// The switch that interrupts reads.
  package let interrupt: Interrupt
  let io: UnsafeMutablePointer<AVIOContext>
  /// The file descriptor; -1 for other sources.
  let descriptor: Int32
  /// The bytes, for a source in memory.
  let memory: [UInt8]?
  /// The byte source, if the bytes are neither in a file nor in memory.
  package let byteSource: (any ByteSource)?
  /// The position of FFmpeg's next read, except for pipes. The descriptor's own offset is not used, because it may be
  /// shared.
  private var nextOffset: Int64 = 0
  /// The number of bytes read so far, by FFmpeg and by Playhead, across all reopenings.
  package internal(set) var readByteCount: Int64 = 0
  /// The number of bytes that FFmpeg may still read in its current call; nil: no limit. Beyond it, reads fail with a
  /// failure of the kind `limit`.
  var remainingByteCount: Int?
  /// The masked ranges, which FFmpeg sees with replaced bytes; in order.
  var masks: [Mask] = []
  /// The last failure of a read, except cancellation. FFmpeg often ignores such a failure.
  private(set) var readFailure: AVFailure?
  /// Whether a read was interrupted since errors were cleared. FFmpeg then treats the data as a short packet or header.
  private(set) var wasInterrupted = false

  private static let bufferByteCount: Int32 = 65_536

  /// Opens a file for reading. Does not block, even for a FIFO or a device.
  ///
  /// - Throws: The failure of `open` or `fstat`. Special cases:
  ///   - `EISDIR` for a folder.
  ///   - `ESPIPE` for anything else that is not a regular file.
  ///   - `ENOENT` for an invalid path (empty, or with a zero byte).
  ///   - `EXDEV` for a path outside `ReadableFiles.roots`.
  package convenience init(path: [UInt8], kinds: Kinds = .regularFiles, interrupt: Interrupt) throws(AVFailure) {
    let descriptor = ReadableFiles.roots.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      // `open` fails with ENXIO for a socket, which is reported like a FIFO.
      throw AVFailure(errno: -descriptor == ENXIO ? ESPIPE : -descriptor, call: "open")
    }
    try self.init(path: path, descriptor: descriptor, kinds: kinds, interrupt: interrupt)
  }

  /// Calls `body` with the file's descriptor, which this object still owns. Returns nil if there is none.
  package func withDescriptor<Value>(_ body: (Int32) -> Value?) -> Value? { descriptor >= 0 ? body(descriptor) : nil }

  /// Reads an open regular file from its first byte on, without moving the descriptor's offset. The caller keeps
  /// ownership of `descriptor`.
  ///
  /// - Parameter hint: A name whose extension suggests the content, as a file's does.
  package convenience init(duplicating descriptor: Int32, hint: String, interrupt: Interrupt) throws(AVFailure) {
    let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard duplicate >= 0 else { throw AVFailure(errno: errno, call: "dup") }
    try self.init(
      path: Array(hint.utf8.filter { $0 != 0 }), descriptor: duplicate, kinds: .regularFiles, interrupt: interrupt)
  }

  /// Reads bytes in memory. They are shared, not copied.
  package init(bytes: [UInt8], interrupt: Interrupt) throws(AVFailure) {
    io = try Self.makeIO(isSeekable: true)
    path = []
    self.interrupt = interrupt
    descriptor = -1
    memory = bytes
    byteSource = nil
    byteCount = Int64(bytes.count)
    io.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  /// Reads a byte source that has been opened with `open(_:interrupt:)`. The interrupt also cancels its reads.
  ///
  /// - Parameter hint: A name whose extension suggests the content, as a file's does.
  package init(opened source: any ByteSource, hint: String, interrupt: Interrupt) throws(AVFailure) {
    let isSeekable = source.isSeekable
    byteCount = source.byteCount
    io = try Self.makeIO(isSeekable: isSeekable)
    path = Array(hint.utf8.filter { $0 != 0 })
    self.interrupt = interrupt
    descriptor = -1
    memory = nil
    byteSource = source
    io.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    interrupt.attach(source)
  }

  /// Opens a byte source. Blocks until the source is open, or the interrupt is cancelled.
  package static func open(_ source: any ByteSource, interrupt: Interrupt) throws(AVFailure) {
    interrupt.attach(source)
    defer { interrupt.detach(source) }
    do throws(MediaError) { try source.open() } catch { throw AVFailure(error) }
  }

  /// Takes ownership of an open descriptor; closes it when it throws.
  private init(path: [UInt8], descriptor: Int32, kinds: Kinds, interrupt: Interrupt) throws(AVFailure) {
    let opened: (byteCount: Int64?, io: UnsafeMutablePointer<AVIOContext>)
    do throws(AVFailure) {
      let byteCount = try Self.byteCount(of: descriptor, kinds: kinds)
      opened = (byteCount, try Self.makeIO(isSeekable: byteCount != nil))
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    self.path = path
    self.interrupt = interrupt
    self.descriptor = descriptor
    memory = nil
    byteSource = nil
    (byteCount, io) = opened
    io.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    if let byteSource { interrupt.detach(byteSource) }
    av_free(io.pointee.buffer)
    var released: UnsafeMutablePointer<AVIOContext>? = io
    avio_context_free(&released)
    if descriptor >= 0 { Glibc.close(descriptor) }
  }

  /// Clears an interruption or an error, so that reading can continue; FFmpeg's buffer stays valid.
  func clearErrors() {
    io.pointee.error = 0
    io.pointee.eof_reached = 0
    readFailure = nil
    wasInterrupted = false
  }

  /// Returns bytes from `offset` on, fewer at the end of the file; none for a pipe or when they cannot be read. Does
  /// not disturb other reads. Blocks.
  func bytes(at offset: Int64, count: Int) -> [UInt8] {
    if let byteSource {
      var bytes = [UInt8](repeating: 0, count: max(0, count))
      let filled = try? bytes.withUnsafeMutableBytes { try Self.fill($0, at: offset, from: byteSource) }
      return Array(bytes.prefix(filled ?? 0))
    }
    guard byteCount != nil, offset >= 0 else { return [] }
    if let memory { return Array(memory[Self.range(of: memory, from: offset, count: count)]) }
    return [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
      while filled < buffer.count {
        let result = pread(
          descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, Int(offset) + filled)
        if result < 0, errno == EINTR { continue }
        if result <= 0 { return }
        filled += result
      }
    }
  }

  /// The bytes, for a source in memory; otherwise nil.
  package var bytesInMemory: [UInt8]? { memory }

  /// The descriptor of a local regular file, open as long as this object; nil for other sources.
  package var localDescriptor: Int32? { descriptor >= 0 && byteCount != nil ? descriptor : nil }

  /// Whether any position can be read; false for a pipe or a stream.
  package var isSeekable: Bool { byteSource?.isSeekable ?? (byteCount != nil) }

  /// The current size of the file, in bytes; nil when it cannot be determined.
  var currentByteCount: Int64? {
    if let byteSource { return byteSource.byteCount }
    if memory != nil { return byteCount }
    var status = stat()
    return media_shims_fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Returns a source for the same open file from its start, even if the file was renamed. If this source is a pipe, it
  /// must not be read afterwards.
  func reopened() throws(AVFailure) -> FileSource {
    if let byteSource {
      let source = try FileSource(
        opened: byteSource, hint: String(decoding: path, as: UTF8.self), interrupt: interrupt)
      source.readByteCount = readByteCount
      return source
    }
    if let memory {
      let source = try FileSource(bytes: memory, interrupt: interrupt)
      source.readByteCount = readByteCount
      return source
    }
    let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard duplicate >= 0 else { throw AVFailure(errno: errno, call: "dup") }
    let source = try FileSource(
      path: path, descriptor: duplicate, kinds: byteCount == nil ? .regularFilesAndPipes : .regularFiles,
      interrupt: interrupt)
    source.readByteCount = readByteCount
    return source
  }

  /// Returns the range of bytes in memory from `offset` on, as far as they exist.
  static func range(of memory: [UInt8], from offset: Int64, count: Int) -> Range<Int> {
    let first = Int(clamping: min(max(0, offset), Int64(memory.count)))
    return first..<first + min(max(0, count), memory.count - first)
  }

  // MARK: - Opening

  private static func makeIO(isSeekable: Bool) throws(AVFailure) -> UnsafeMutablePointer<AVIOContext> {
    let buffer = try check(av_malloc(Int(bufferByteCount)), "av_malloc")
    guard
      let io = avio_alloc_context(
        buffer.assumingMemoryBound(to: UInt8.self), bufferByteCount, 0, nil, readCallback, nil,
        isSeekable ? seekCallback : nil)
    else {
      av_free(buffer)
      throw AVFailure(errno: ENOMEM, call: "avio_alloc_context")
    }
    io.pointee.seekable = isSeekable ? AVIO_SEEKABLE_NORMAL : 0
    return io
  }

  private static func byteCount(of descriptor: Int32, kinds: Kinds) throws(AVFailure) -> Int64? {
    var status = stat()
    guard media_shims_fstat(descriptor, &status) == 0 else { throw AVFailure(errno: errno, call: "fstat") }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return Int64(status.st_size)
    case S_IFDIR: throw AVFailure(errno: EISDIR, call: "open")
    case S_IFIFO where kinds == .regularFilesAndPipes: return nil
    default: throw AVFailure(errno: ESPIPE, call: "open")
    }
  }

  // MARK: - Callbacks

  /// Fills a buffer from a byte source, as far as possible; returns the number of bytes.
  static func fill(
    _ buffer: UnsafeMutableRawBufferPointer, at offset: Int64, from source: any ByteSource
  ) throws(MediaError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let (position, overflow) = offset.addingReportingOverflow(Int64(filled))
      guard !overflow, position >= 0 else { break }
      let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), at: position)
      guard count > 0 else { break }
      // A source may report more bytes than fit; the excess is ignored.
      filled += min(count, buffer.count - filled)
    }
    return filled
  }

  private func read(
    into buffer: UnsafeMutablePointer<UInt8>, byteCount: Int32, from source: any ByteSource
  ) -> Int32 {
    if interrupt.isCancelled { return noteInterruption() }
    let rest = UnsafeMutableRawBufferPointer(start: buffer, count: Int(max(0, byteCount)))
    do throws(MediaError) {
      let count = min(try source.read(into: rest, at: nextOffset), rest.count)
      guard count > 0 else { return shim_AVERROR_EOF() }
      nextOffset += Int64(count)
      readByteCount += Int64(count)
      return Int32(count)
    } catch {
      if error.code == .cancelled { return noteInterruption() }
      let failure = AVFailure(error)
      readFailure = failure
      return failure.code
    }
  }

  private func read(into buffer: UnsafeMutablePointer<UInt8>, byteCount: Int32) -> Int32 {
    if let byteSource { return read(into: buffer, byteCount: byteCount, from: byteSource) }
    if let memory {
      if interrupt.isCancelled { return noteInterruption() }
      let range = Self.range(of: memory, from: nextOffset, count: Int(byteCount))
      guard !range.isEmpty else { return shim_AVERROR_EOF() }
      memory.withUnsafeBufferPointer { bytes in
        if let base = bytes.baseAddress { buffer.update(from: base + range.lowerBound, count: range.count) }
      }
      nextOffset = Int64(range.upperBound)
      readByteCount += Int64(range.count)
      return Int32(range.count)
    }
    while true {
      if interrupt.isCancelled { return noteInterruption() }
      let capacity = Int(max(0, byteCount))
      let count =
        self.byteCount == nil
        ? Glibc.read(descriptor, buffer, capacity) : pread(descriptor, buffer, capacity, Int(nextOffset))
      if count > 0 {
        readByteCount += Int64(count)
        nextOffset += Int64(count)
        return Int32(count)
      }
      if count == 0 { return shim_AVERROR_EOF() }
      let error = errno
      if error == EINTR { continue }
      do throws(AVFailure) {
        guard error == EAGAIN else { throw AVFailure(errno: error, call: "read") }
        guard try interrupt.waitUntilReadable(descriptor) else { return noteInterruption() }
      } catch {
        readFailure = error
        return error.code
      }
    }
  }

  /// Reads for FFmpeg, within the limit of its current call.
  private func readWithinLimit(into buffer: UnsafeMutablePointer<UInt8>, byteCount: Int32) -> Int32 {
    guard let remaining = remainingByteCount else { return read(into: buffer, byteCount: byteCount) }
    guard remaining > 0 else {
      let failure = AVFailure(errno: EFBIG, call: "read")
      readFailure = failure
      return failure.code
    }
    let count = read(into: buffer, byteCount: Int32(clamping: min(Int(byteCount), remaining)))
    if count > 0 { remainingByteCount = remaining - Int(count) }
    return count
  }

  /// Replaces the masked ranges in the bytes that were just read.
  private func applyMasks(_ buffer: UnsafeMutablePointer<UInt8>, byteCount: Int32) {
    let readRange = nextOffset - Int64(byteCount)..<nextOffset
    for mask in masks {
      let range = mask.range.clamped(to: readRange)
      guard !range.isEmpty else { continue }
      let masked = buffer + Int(range.lowerBound - readRange.lowerBound)
      masked.update(repeating: 0, count: range.count)
      let replacement = mask.bytes.dropFirst(Int(range.lowerBound - mask.range.lowerBound)).prefix(range.count)
      for (index, byte) in replacement.enumerated() { masked[index] = byte }
    }
  }

  func noteInterruption() -> Int32 {
    wasInterrupted = true
    return shim_AVERROR_EXIT()
  }

  /// Moves the read position as `lseek` does: after the end is allowed, before the beginning is not.
  private func seek(to offset: Int64, whence: Int32) -> Int64 {
    let byteCount = currentByteCount
    if whence & AVSEEK_SIZE != 0 { return byteCount ?? Int64(shim_AVERROR(ENOSYS)) }
    let base: Int64?
    switch whence & ~AVSEEK_FORCE {
    case SEEK_SET: base = 0
    case SEEK_CUR: base = nextOffset
    case SEEK_END: base = byteCount
    default: base = nil
    }
    guard let base else { return Int64(shim_AVERROR(EINVAL)) }
    let (target, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return Int64(shim_AVERROR(EINVAL)) }
    nextOffset = target
    return target
  }

  private static let readCallback:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = { opaque, buffer, count in
      guard let opaque, let buffer else { return shim_AVERROR(EINVAL) }
      let source = Unmanaged<FileSource>.fromOpaque(opaque).takeUnretainedValue()
      let result = source.readWithinLimit(into: buffer, byteCount: count)
      if !source.masks.isEmpty, result > 0 { source.applyMasks(buffer, byteCount: result) }
      return result
    }

  private static let seekCallback: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = {
    opaque, offset, whence in
    guard let opaque else { return Int64(shim_AVERROR(EINVAL)) }
    return Unmanaged<FileSource>.fromOpaque(opaque).takeUnretainedValue().seek(to: offset, whence: whence)
  }
}
