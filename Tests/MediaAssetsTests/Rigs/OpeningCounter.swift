import Glibc
import Testing

/// Counts the openings of a file, through inotify(7).
final class OpeningCounter {
  private let descriptor: Int32

  /// The size of an event of a watched file, which has no name.
  private static let eventByteCount = 16
  private static let maskOffset = 4

  /// Starts to watch an existing file.
  init(_ path: String) throws {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    try #require(descriptor >= 0)
    // The kernel merges successive equal events. The other events separate the openings.
    let mask = IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE
    try #require(inotify_add_watch(descriptor, path, UInt32(mask)) >= 0)
  }

  deinit { close(descriptor) }

  /// Returns the number of openings since the last call.
  func drain() -> Int {
    var buffer = [UInt8](repeating: 0, count: Self.eventByteCount * 1_024)
    var openingCount = 0
    while true {
      let byteCount = read(descriptor, &buffer, buffer.count)
      guard byteCount > 0 else { return openingCount }
      buffer.withUnsafeBytes { bytes in
        for offset in stride(from: 0, to: byteCount, by: Self.eventByteCount) {
          let mask = bytes.loadUnaligned(fromByteOffset: offset + Self.maskOffset, as: UInt32.self)
          if mask & UInt32(IN_OPEN) != 0 { openingCount += 1 }
        }
      }
    }
  }
}
