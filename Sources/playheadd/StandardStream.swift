import Glibc

/// Standard output and error without the buffers of C, so that written data is visible immediately.
enum StandardStream {
  /// Writes a string. Blocks until a reader accepts it. Drops the rest after an error.
  static func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8), to: descriptor) }

  /// Writes bytes. Blocks until a reader accepts them. Drops the rest after an error.
  static func write(_ bytes: [UInt8], to descriptor: Int32) {
    var remaining = bytes[...]
    while !remaining.isEmpty {
      let count = remaining.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        remaining = remaining.dropFirst(count)
      } else if errno == EAGAIN {
        // The inherited descriptor may be in non-blocking mode.
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&polled, 1, -1)
      } else if errno != EINTR {
        return
      }
    }
  }
}
