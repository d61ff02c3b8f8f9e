import Glibc

// usage: RoundTrip SOCKET COUNT REQUEST
//
// Sends REQUEST over a Unix socket COUNT times, each when the one before has its answer, and prints how long an answer took; then
// COUNT times without waiting, and prints how many a second there were. An answer is one line, so that any player's socket can be measured.

func fail(_ what: String) -> Never {
  perror("RoundTrip: \(what)")
  exit(1)
}

func now() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// A connection that counts the lines it is sent.
struct Connection: ~Copyable {
  private let descriptor: Int32
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  init(path: String) {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { fail("socket") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { fail("the path is too long") }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { fail("connect \(path)") }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent) }
      guard count > 0 else { fail("write") }
      sent += count
    }
  }

  /// Blocks until something comes, and gives the number of line ends in it.
  mutating func receive() -> Int {
    let count = read(descriptor, &buffer, buffer.count)
    guard count > 0 else { fail("the server closed the connection") }
    return buffer[..<count].count { $0 == UInt8(ascii: "\n") }
  }

  /// Whether something comes within this time.
  func isReadable(milliseconds: Int32) -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return Glibc.poll(&poll, 1, milliseconds) > 0
  }
}

guard CommandLine.arguments.count == 4, let count = Int(CommandLine.arguments[2]), count > 0 else {
  print("usage: RoundTrip SOCKET COUNT REQUEST")
  exit(2)
}
var connection = Connection(path: CommandLine.arguments[1])
let request = Array((CommandLine.arguments[3] + "\n").utf8)

// A greeting, where there is one.
while connection.isReadable(milliseconds: 200) { _ = connection.receive() }

var nanoseconds: [Int64] = []
nanoseconds.reserveCapacity(count)
for round in -count / 10..<count {
  let start = now()
  connection.send(request)
  while connection.receive() == 0 {}
  if round >= 0 { nanoseconds.append(now() - start) }
}
nanoseconds.sort()
let microseconds = [0.5, 0.9, 0.99, 1].map { Double(nanoseconds[Int(Double(count - 1) * $0)]) / 1_000 }

// Pipelined: a hundred at a time are under way.
let batch = Array(repeatElement(request, count: 100).joined())
let start = now()
for _ in 0..<count / 100 {
  connection.send(batch)
  var answers = 0
  while answers < 100 { answers += connection.receive() }
}
let perSecond = Double(count / 100 * 100) / (Double(now() - start) / 1_000_000_000)
print(
  "median=\(microseconds[0])us p90=\(microseconds[1])us p99=\(microseconds[2])us max=\(microseconds[3])us"
    + " pipelined=\(Int(perSecond))/s")
