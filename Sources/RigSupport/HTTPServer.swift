import Glibc
import Synchronization

/// A web server on loopback for one test (`Tests/Support/http_server.py`). The query of a request controls its
/// behaviour. The server reports events as lines.
///
/// Threading: one thread at a time.
package final class HTTPServer: @unchecked Sendable {
  // `@unchecked Sendable`: used only by the owning test.
  package let files: TemporaryDirectory
  /// `http://127.0.0.1:PORT`, or `https:`.
  package private(set) var address = ""
  package private(set) var port = 0
  private let process: ChildProcess
  private let control: Int32
  private var pending: [UInt8] = []
  /// Reported lines that no wait has matched yet.
  private var lines: [String] = []

  /// Starts a server for the files in a new folder. It uses TLS if a certificate and a key are given.
  ///
  /// - Parameter newestTLS: the newest TLS version that the server accepts, such as `TLSv1_1`; nil for all versions.
  package init(certificate: String? = nil, key: String? = nil, newestTLS: String? = nil) throws {
    files = try TemporaryDirectory("http")
    let folder = try TemporaryDirectory("control")
    let path = folder.file("socket")
    let listener = try Self.listen(at: path)
    defer { close(listener) }
    let script = "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")
    var arguments = ["/usr/bin/python3", "/\(script)/Tests/Support/http_server.py", files.path, path]
    if let certificate, let key { arguments += [certificate, key] }
    if let newestTLS { arguments.append(newestTLS) }
    process = try ChildProcess(arguments, silent: false)
    control = try Self.accept(listener)
    let reply = try wait("port ")
    guard let port = Int(reply.dropFirst(5)) else { throw RigError.programFailed("the server reported \(reply)") }
    self.port = port
    address = "\(certificate == nil ? "http" : "https")://127.0.0.1:\(port)"
  }

  /// Creates a self-signed certificate for 127.0.0.1, and its key.
  package static func makeCertificate(in folder: TemporaryDirectory) throws -> (certificate: String, key: String) {
    let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
    try ChildProcess.run([
      "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
      "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
    ])
    return (certificate, key)
  }

  deinit {
    stop()
    close(control)
  }

  /// Ends the server and all its connections.
  package func stop() { process.kill() }

  /// Writes a file for the server.
  package func write(_ bytes: [UInt8], to name: String) throws {
    let descriptor = Glibc.open(files.file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw RigError.system(call: "open", errno: errno) }
    defer { close(descriptor) }
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + written }, bytes.count - written)
      }
      guard count > 0 else { throw RigError.system(call: "write", errno: errno) }
      written += count
    }
  }

  /// Opens a gate for the requests that wait at it, and for later ones.
  package func open(gate name: String) { command("open \(name)") }

  /// The number of connections that clients have made, and how many of them resumed a TLS session.
  package func connections() throws -> (count: Int, resumedCount: Int) {
    command("connections")
    let numbers = try wait("connections ").split(separator: " ").compactMap { Int($0) }
    return (numbers[0], numbers[1])
  }

  private func command(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(control, $0.baseAddress, $0.count) }
  }

  /// Waits until the server reports a line with this prefix, and returns the line. An earlier line counts if no wait
  /// has matched it yet.
  @discardableResult
  package func wait(_ prefix: String) throws -> String {
    while true {
      if let index = lines.firstIndex(where: { $0.hasPrefix(prefix) }) { return lines.remove(at: index) }
      guard try readMore(milliseconds: 60_000) else { throw RigError.timedOut("the web server to report '\(prefix)'") }
    }
  }

  /// All unmatched lines so far, in order.
  package func drain() throws -> [String] {
    while try readMore(milliseconds: 0) {}
    defer { lines = [] }
    return lines
  }

  private func readMore(milliseconds: Int32) throws -> Bool {
    var entry = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, milliseconds) > 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = read(control, &buffer, buffer.count)
    guard count > 0 else { return false }
    pending += buffer[..<count]
    while let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: pending[..<end], as: UTF8.self))
      pending.removeSubrange(...end)
    }
    return true
  }

  private static func listen(at path: String) throws -> Int32 {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard listener >= 0 else { throw RigError.system(call: "socket", errno: errno) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw RigError.system(call: "bind", errno: ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, Glibc.listen(listener, 1) == 0 else { throw RigError.system(call: "bind", errno: errno) }
    return listener
  }

  private static func accept(_ listener: Int32) throws -> Int32 {
    var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 60_000) > 0 else { throw RigError.timedOut("the web server to start") }
    let control = Glibc.accept(listener, nil, nil)
    guard control >= 0 else { throw RigError.system(call: "accept", errno: errno) }
    _ = fcntl(control, F_SETFD, FD_CLOEXEC)
    return control
  }
}
