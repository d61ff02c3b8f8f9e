import CPlayheadMediaShims
import Glibc
import Synchronization

/// The free space that this process leaves on a file system when it writes media, images and waveforms.
///
/// There is one value per process, as for ``ReadableFiles``, because several modules write files. Threading: any
/// thread.
package enum WritableSpace {
  private static let reserve = Atomic<Int>(0)

  /// The number of bytes to leave free for ordinary users of the file system. Default: 0, no reserve.
  package static var reservedByteCount: Int {
    get { reserve.load(ordering: .relaxed) }
    set { reserve.store(newValue, ordering: .relaxed) }
  }

  /// The maximum size of a new file in bytes, so that the reserve stays free.
  ///
  /// Nil without a reserve, and when the file system does not report its free space.
  ///
  /// - Parameter descriptor: the open, empty file.
  package static func byteCount(forNew descriptor: Int32) -> UInt64? {
    let reserved = reservedByteCount
    var fileSystem = statvfs()
    guard reserved > 0, fstatvfs(descriptor, &fileSystem) == 0 else { return nil }
    let (free, overflow) = UInt64(fileSystem.f_bavail).multipliedReportingOverflow(by: UInt64(fileSystem.f_frsize))
    return overflow ? nil : free > UInt64(reserved) ? free - UInt64(reserved) : 0
  }

  /// Whether the reserve stays free when a file is extended.
  ///
  /// Overwriting bytes needs no space, so a file can always be completed.
  ///
  /// - Parameters:
  ///   - descriptor: the open file.
  ///   - end: the offset after the last byte to be written.
  package static func allows(growing descriptor: Int32, to end: Int64) -> Bool {
    let reserved = reservedByteCount
    guard reserved > 0 else { return true }
    var (file, fileSystem) = (stat(), statvfs())
    // If the size or the free space is unknown, the write is permitted, and may fail.
    guard media_shims_fstat(descriptor, &file) == 0, end > Int64(file.st_size), fstatvfs(descriptor, &fileSystem) == 0
    else {
      return true
    }
    let growth = UInt64(end - Int64(file.st_size))
    let (free, overflow) = UInt64(fileSystem.f_bavail).multipliedReportingOverflow(by: UInt64(fileSystem.f_frsize))
    return overflow || free >= growth && free - growth >= UInt64(reserved)
  }
}
