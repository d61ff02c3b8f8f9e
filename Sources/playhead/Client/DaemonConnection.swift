// A blocking connection to the daemon: sends bytes, receives lines.
import Glibc

/// The reason why the daemon cannot be reached. The client exits with status 3.
struct Unreachable: Error {
  var message: String
  /// Whether no daemon runs.
  var isNotRunning = false
}

/// A connected socket and the bytes read from it.
struct DaemonConnection: ~Copyable {
  let descriptor: Int32
  let path: String
  /// The user of the process at the other end, if the client does not trust this user with secrets; nil otherwise.
  private let untrustedUserID: UInt32?
  private var buffer: [UInt8] = []
  /// The number of bytes of `buffer` already returned, and the number of bytes already searched for a line end.
  private var readCount = 0
  private var searchedCount = 0

  /// Connects to a socket.
  ///
  /// - Parameter usesPackets: Whether the socket is a packet socket (`SOCK_SEQPACKET`). Default: false.
  /// - Throws: `Unreachable`.
  init(path: String, usesPackets: Bool = false) throws(Unreachable) {
    self.path = path
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else {
      throw Unreachable(message: "a socket path must have at most \(capacity - 1) bytes: \(path)")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      for (index, byte) in path.utf8.enumerated() { bytes[index] = byte }
    }
    let type = Int32(usesPackets ? SOCK_SEQPACKET.rawValue : SOCK_STREAM.rawValue)
    let opened = socket(AF_UNIX, type | Int32(SOCK_CLOEXEC.rawValue), 0)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(opened, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard opened >= 0, status == 0 else {
      let error = errno
      if opened >= 0 { close(opened) }
      throw Unreachable(
        message: "no daemon at \(path): \(String(cString: strerror(error)))",
        isNotRunning: error == ENOENT || error == ECONNREFUSED)
    }
    descriptor = opened
    untrustedUserID = Self.untrustedUserID(of: opened)
  }

  // MARK: - Trust

  /// The environment variable with the id of another user. The client trusts the daemons of this user.
  static let trustedUserVariable = "PLAYHEAD_DAEMON_UID"

  /// The user at the other end (unix(7), SO_PEERCRED); nil if the client trusts this user. The client trusts the user
  /// that runs it, root, and the user in `PLAYHEAD_DAEMON_UID`. `UInt32.max` if the user is not known.
  private static func untrustedUserID(of descriptor: Int32) -> UInt32? {
    // The layout of `struct ucred`, which the headers declare only with _GNU_SOURCE.
    var credentials: (pid: Int32, uid: UInt32, gid: UInt32) = (0, .max, 0)
    var byteCount = socklen_t(MemoryLayout.size(ofValue: credentials))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &byteCount) == 0 else { return .max }
    let trusted = getenv(trustedUserVariable).flatMap { UInt32(String(cString: $0)) }
    return [geteuid(), 0, trusted].contains(credentials.uid) ? nil : credentials.uid
  }

  /// Checks that the client trusts the user at the other end with open files, header fields and passwords.
  ///
  /// - Throws: `Unreachable` otherwise.
  func requireTrustedPeer() throws(Unreachable) {
    guard let untrustedUserID else { return }
    throw Unreachable(
      message: "the daemon at \(path) runs as user \(untrustedUserID): open files, header fields and passwords are sent"
        + " only to daemons of your user and of root; \(Self.trustedUserVariable)=\(untrustedUserID) allows this user")
  }

  /// Checks that the client trusts the user at the other end with the secrets in `request`, if there are any.
  ///
  /// - Throws: `Unreachable` otherwise.
  func requireTrust(for request: [UInt8]) throws(Unreachable) {
    if untrustedUserID != nil, Self.containsSecrets(request) { try requireTrustedPeer() }
  }

  /// Whether a request contains header fields or a URL with a user name.
  static func containsSecrets(_ request: [UInt8]) -> Bool {
    if request.firstRange(of: Array("header".utf8)) != nil { return true }
    var remaining = request[...]
    while let scheme = remaining.firstRange(of: Array("://".utf8)) {
      remaining = remaining[scheme.upperBound...]
      let authority = remaining.prefix { !"/?# \"'".utf8.contains($0) }
      if authority.contains(UInt8(ascii: "@")) { return true }
    }
    return false
  }

  // MARK: - Bytes

  deinit { close(descriptor) }

  /// Sends all bytes.
  ///
  /// - Throws: `Unreachable`, also for a request with secrets to a user that the client does not trust.
  func send(_ bytes: [UInt8]) throws(Unreachable) {
    try requireTrust(for: bytes)
    var sentCount = 0
    while sentCount < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.send(descriptor, bytes.baseAddress.map { $0 + sentCount }, bytes.count - sentCount, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 { sentCount += count } else if errno != EINTR { throw disconnected() }
    }
  }

  /// Sends a request. A send error is ignored, because a daemon that rejected the connection has already sent the
  /// reason, which the caller reads next.
  ///
  /// - Throws: `Unreachable` for secrets to a user that the client does not trust.
  func sendIgnoringDisconnection(_ bytes: [UInt8]) throws(Unreachable) {
    try requireTrust(for: bytes)
    try? send(bytes)
  }

  /// Sets the maximum time that `receive` waits. After it, `receive` throws.
  func limitWaiting(microseconds: Int) {
    var limit = timeval(tv_sec: microseconds / 1_000_000, tv_usec: __suseconds_t(microseconds % 1_000_000))
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Ends sending; pending requests still get their replies.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// The next complete line in the buffer, without its LF; nil when there is none.
  mutating func nextLine() -> [UInt8]? {
    guard let end = buffer[searchedCount...].firstIndex(of: UInt8(ascii: "\n")) else {
      searchedCount = buffer.count
      return nil
    }
    defer {
      readCount = end + 1
      searchedCount = readCount
      if readCount == buffer.count {
        buffer.removeAll(keepingCapacity: true)
        (readCount, searchedCount) = (0, 0)
      }
    }
    return Array(buffer[readCount..<end])
  }

  /// The maximum length of a line, in bytes. No daemon sends a longer one.
  static let maximumLineByteCount = 67_108_864

  /// Waits for bytes and reads them. Returns false at the end of the stream.
  ///
  /// - Throws: `Unreachable`, also for a line that exceeds the maximum length.
  mutating func receive() throws(Unreachable) -> Bool {
    guard searchedCount - readCount <= Self.maximumLineByteCount else {
      throw Unreachable(
        message:
          "the peer at \(path) is not a Playhead daemon: it sent a line of more than"
          + " \(Self.maximumLineByteCount) bytes")
    }
    if readCount > 0 {
      buffer.removeSubrange(..<readCount)
      searchedCount -= readCount
      readCount = 0
    }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count > 0 {
        buffer.append(contentsOf: chunk[..<count])
        return true
      }
      // A daemon that closes with unread data resets the connection: treat it as an end.
      if count == 0 || errno == ECONNRESET { return false }
      if errno != EINTR { throw disconnected() }
    }
  }

  /// Waits for the next line. Returns nil at the end of the stream.
  ///
  /// - Throws: `Unreachable`.
  mutating func waitForLine() throws(Unreachable) -> [UInt8]? {
    while true {
      if let line = nextLine() { return line }
      guard try receive() else { return nil }
    }
  }

  private func disconnected() -> Unreachable { Unreachable(message: "the daemon at \(path) disconnected") }
}
