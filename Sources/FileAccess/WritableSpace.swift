import Glibc
import Synchronization

/// The space of a file system that this process leaves free when it writes media, images and waveforms.
///
/// One value for the process, as with ``ReadableFiles``: several modules write files. Threading: any.
public enum WritableSpace {
  private static let reserve = Atomic<Int>(0)

  /// The bytes that stay free for ordinary users of the file system; 0 by default: no reserve.
  public static var reservedByteCount: Int {
    get { reserve.load(ordering: .relaxed) }
    set { reserve.store(newValue, ordering: .relaxed) }
  }

  /// Returns the number of bytes that a new file can have while the reserve stays free.
  ///
  /// Returns nil without a reserve, and if the file system does not report its free space.
  ///
  /// - Parameter descriptor: The open file, without bytes.
  public static func byteCount(forNew descriptor: Int32) -> UInt64? {
    let reserved = reservedByteCount
    var system = statvfs()
    guard reserved > 0, fstatvfs(descriptor, &system) == 0 else { return nil }
    let (free, overflow) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
    return overflow ? nil : free > UInt64(reserved) ? free - UInt64(reserved) : 0
  }

  /// Returns whether the reserve stays free when a file becomes longer.
  ///
  /// Bytes that are written over others need no room, so that a file can always be completed.
  ///
  /// - Parameters:
  ///   - descriptor: The open file.
  ///   - end: The offset after the last byte that is about to be written.
  public static func allows(growing descriptor: Int32, to end: Int64) -> Bool {
    let reserved = reservedByteCount
    guard reserved > 0 else { return true }
    var (file, system) = (stat(), statvfs())
    // What cannot be found out is left to the write itself.
    guard fstat(descriptor, &file) == 0, end > Int64(file.st_size), fstatvfs(descriptor, &system) == 0 else {
      return true
    }
    let growth = UInt64(end - Int64(file.st_size))
    let (free, overflow) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
    return overflow || free >= growth && free - growth >= UInt64(reserved)
  }
}
