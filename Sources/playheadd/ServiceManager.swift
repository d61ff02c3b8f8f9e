import Glibc
// The communication with systemd or another service manager, without libsystemd: sd_notify(3) sends a datagram, and
// sd_listen_fds(3) reads three environment variables.
import PlayheadControlLoop
import PlayheadControlServer
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import Synchronization

/// The service manager that started the daemon, if it requested notifications.
final class ServiceManager: @unchecked Sendable {
  // `@unchecked Sendable`: all properties are constant or atomic.

  /// The inherited sockets by role.
  let sockets: [SocketRole: Int32]
  /// The inherited descriptors without a known role, which were closed: number and name.
  let unknownSockets: [String]
  private let address: [UInt8]?
  private let watchdogMicroseconds: Int64?
  private let isStopping = Atomic<Bool>(false)

  /// Reads the environment, and removes the variables that child processes must not inherit. Call it before threads
  /// exist.
  init() {
    func removeVariable(_ name: String) -> String? {
      defer { unsetenv(name) }
      return getenv(name).map { String(cString: $0) }
    }
    // A path, or an abstract name whose leading NUL is written as `@`.
    let target = removeVariable("NOTIFY_SOCKET").map { Array($0.utf8) } ?? []
    let isUsable = (2..<MemoryLayout.size(ofValue: sockaddr_un().sun_path)).contains(target.count)
    if isUsable, target[0] == UInt8(ascii: "/") {
      address = target
    } else if isUsable, target[0] == UInt8(ascii: "@") {
      address = [0] + target.dropFirst()
    } else {
      address = nil
    }
    let isWatchdogForThisProcess = removeVariable("WATCHDOG_PID").map { $0 == "\(getpid())" } ?? true
    let limit = removeVariable("WATCHDOG_USEC").flatMap { Int64($0) }
    watchdogMicroseconds = isWatchdogForThisProcess ? limit.flatMap { $0 > 0 ? $0 : nil } : nil
    let areSocketsForThisProcess = removeVariable("LISTEN_PID") == "\(getpid())"
    let count = removeVariable("LISTEN_FDS").flatMap { Int32($0) } ?? 0
    let names = (removeVariable("LISTEN_FDNAMES") ?? "").split(separator: ":", omittingEmptySubsequences: false)
      .map(String.init)
    var (sockets, unknown): ([SocketRole: Int32], [String]) = ([:], [])
    for index in 0..<(areSocketsForThisProcess ? max(0, min(count, 64)) : 0) {
      let descriptor = Self.firstDescriptor + index
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      let name = Int(index) < names.count ? names[Int(index)] : ""
      if let role = SocketRole(named: name, descriptor: descriptor), sockets[role] == nil {
        sockets[role] = descriptor
      } else {
        close(descriptor)
        unknown.append("\(descriptor) \(name)")
      }
    }
    (self.sockets, unknownSockets) = (sockets, unknown)
  }

  /// `SD_LISTEN_FDS_START`.
  private static let firstDescriptor: Int32 = 3

  /// Reports that the daemon is ready.
  func notifyReady(status: String? = nil) { notify("READY=1" + (status.map { "\nSTATUS=\($0)" } ?? "")) }

  /// Reports that a reload has started. `notifyReady` reports its end.
  func notifyReloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    notify("RELOADING=1\nMONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000)")
  }

  /// Reports that the daemon is stopping.
  func notifyStopping() {
    isStopping.store(true, ordering: .releasing)
    notify("STOPPING=1\nSTATUS=Stopping", timeoutSeconds: Self.stopTimeoutSeconds)
  }

  /// Starts to send two watchdog messages per requested interval from the control loop, so that the manager detects a
  /// hanging loop. Has no effect without a request of the manager, so that an idle daemon does not wake up.
  func startWatchdog(on loop: ThreadControlLoop) {
    guard let watchdogMicroseconds, address != nil else { return }
    let interval = max(1, watchdogMicroseconds / 2).multipliedReportingOverflow(by: 1_000)
    loop.execute { [self] in notifyWatchdog(every: interval.overflow ? .max : interval.partialValue, on: loop) }
  }

  private func notifyWatchdog(every nanoseconds: Int64, on loop: ThreadControlLoop) {
    guard !isStopping.load(ordering: .acquiring) else { return }
    notify("WATCHDOG=1", timeoutSeconds: 0)
    _ = loop.schedule(at: loop.now.advanced(byNanoseconds: nanoseconds)) { [self] in
      notifyWatchdog(every: nanoseconds, on: loop)
    }
  }

  /// The timeout in seconds for a manager that does not read. It is long, because a lost message would leave the
  /// manager with a wrong state of the daemon.
  private static let defaultTimeoutSeconds = 10
  /// The timeout in seconds when the daemon stops. It is short, because the manager also detects the end of the
  /// process.
  private static let stopTimeoutSeconds = 2

  /// Sends a datagram. Blocks while the manager's receive buffer is full. Drops the datagram after the timeout.
  private func notify(_ text: String, timeoutSeconds: Int = defaultTimeoutSeconds) {
    guard let path = address else { return }
    let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(AF_UNIX, type, 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    let flags = Int32(MSG_NOSIGNAL) | (timeoutSeconds == 0 ? Int32(MSG_DONTWAIT) : 0)
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: path) }
    // The size must be exact. Trailing NULs would be part of an abstract name.
    let size = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    let bytes = Array(text.utf8)
    _ = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bytes.withUnsafeBytes {
          sendto(socket, $0.baseAddress, $0.count, flags, address, size)
        }
      }
    }
  }
}
