import Glibc

/// The header of a database file (https://www.sqlite.org/fileformat.html, 1.3).
enum DatabaseHeader: Equatable {
  /// The file is empty and has no write-ahead log.
  case empty
  case database(applicationID: Int32)
  /// The file cannot be read, or has no valid header.
  case other

  init(path: String) {
    self = .other
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = pread(file, &bytes, bytes.count, 0)
    if count == 0, access("\(path)-wal", F_OK) != 0 { self = .empty }
    guard count == bytes.count, bytes.starts(with: Array("SQLite format 3\0".utf8)) else { return }
    self = .database(applicationID: Int32(bitPattern: bytes[68..<72].reduce(0) { $0 << 8 | UInt32($1) }))
  }
}
