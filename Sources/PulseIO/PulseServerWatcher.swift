import CPulse
import Glibc
import MediaCore
import RealtimeAudio
import Synchronization

// Waits until an output through PulseAudio can be opened. Owns one thread, which sleeps in poll(2) until the kernel
// says that something appeared beside the server's socket, or the server says that its devices changed. No timer runs,
// with one exception: a server that accepts connections and does not answer is asked again every five seconds.

/// Calls back once, when a sound server answers and has the device.
///
/// Threading: made and cancelled on any thread; the callback comes from the watcher's own, `playhead-watch`.
public final class PulseServerWatcher: Sendable {
  private let worker: Worker

  /// Whether `server` (nil: the user's default) is where its appearance can be seen: on a Unix socket whose path is known.
  public static func canWatch(server: String?) -> Bool { PulseServerAddress.socketPath(server: server) != nil }

  /// Begins to wait for `server` (nil: the user's default, as libpulse finds it) to have the sink `sinkName` (nil: any).
  ///
  /// The socket and the folders that it lies in need not exist. Throws `outputUnavailable` when the server is not on a
  /// Unix socket, or nothing can be watched: then there is nothing to wait for.
  public init(
    server: String? = nil, sinkName: String? = nil, onAppearance: @escaping @Sendable () -> Void
  ) throws(MediaError) {
    guard let path = PulseServerAddress.socketPath(server: server) else {
      throw MediaError(.outputUnavailable, "the sound server has no socket that could be watched")
    }
    let worker = Worker(path: path, server: server, sinkName: sinkName, onAppearance: onAppearance)
    guard worker.isUsable else {
      throw MediaError(.outputUnavailable, "nothing can be watched: no file descriptor is left")
    }
    self.worker = worker
    NamedThread.detached(name: "playhead-watch") { worker.run() }
  }

  deinit { cancel() }

  /// Ends the waiting. When it returns the callback is not running and will not run, unless this is called from within
  /// the callback. Idempotent. May block for a second while a server is being asked.
  public func cancel() {
    worker.cancel()
    worker.waitForEnd()
  }

  /// What the thread runs.
  private final class Worker: @unchecked Sendable {
    // `@unchecked Sendable`: `folder` and `connection` are used by the thread only; `owner` is atomic.
    private static let answerNanoseconds: Int64 = 1_000_000_000
    private static let silentServerMilliseconds: Int32 = 5_000
    /// Between bind(2) and listen(2) of a server that starts its socket refuses connections.
    private static let refusalRetryMilliseconds: Int32 = 20
    private static let refusalRetryLimit = 25

    private enum Finding {
      case nothing, refusing, silent, withoutDevice, ready
    }

    private let path: String
    private let server: String
    private let sinkName: String?
    private let onAppearance: @Sendable () -> Void
    private let folder: FolderWatch
    private let changed = EventSignal()
    private let cancelled = EventSignal()
    private let isCancelled = Atomic<Bool>(false)
    /// The thread, once it runs.
    private let owner = Atomic<UInt>(0)
    private let hasEnded = WakeSignal(false)
    private var connection: PulseConnection?

    init(
      path: String, server: String?, sinkName: String?, onAppearance: @escaping @Sendable () -> Void
    ) {
      self.path = path
      self.server = server ?? "unix:\(path)"
      self.sinkName = sinkName
      self.onAppearance = onAppearance
      folder = FolderWatch(path: path)
    }

    var isUsable: Bool {
      folder.descriptor >= 0 && changed.descriptor >= 0 && cancelled.descriptor >= 0
    }

    func cancel() {
      isCancelled.store(true, ordering: .sequentiallyConsistent)
      cancelled.raise()
    }

    /// Blocks until the thread has ended; on the thread itself it returns at once.
    func waitForEnd() {
      if owner.load(ordering: .sequentiallyConsistent) == UInt(pthread_self()) { return }
      _ = hasEnded.wait { $0 ? true : nil }
    }

    func run() {
      owner.store(UInt(pthread_self()), ordering: .sequentiallyConsistent)
      defer { hasEnded.update { $0 = true } }
      var refusalCount = 0
      while !isCancelled.load(ordering: .sequentiallyConsistent) {
        changed.clear()
        guard folder.prepare() else { return }
        let finding = look()
        var timeOut: Int32 = -1
        switch finding {
        case .ready:
          connection = nil
          if !isCancelled.load(ordering: .sequentiallyConsistent) { onAppearance() }
          return
        case .silent: timeOut = Self.silentServerMilliseconds
        case .refusing:
          refusalCount += 1
          if refusalCount <= Self.refusalRetryLimit { timeOut = Self.refusalRetryMilliseconds }
        case .nothing, .withoutDevice: break
        }
        if waitForChange(milliseconds: timeOut) { refusalCount = 0 }
      }
      connection = nil
    }

    /// True when something happened, false after the time-out.
    private func waitForChange(milliseconds: Int32) -> Bool {
      var polled = [folder.descriptor, changed.descriptor, cancelled.descriptor].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      return poll(&polled, nfds_t(polled.count), milliseconds) != 0
    }

    private func look() -> Finding {
      if let connection {
        if let finding = askForDevice(connection) { return finding }
        self.connection = nil
      }
      switch knock() {
      case 0: break
      case ENOENT, ENOTDIR: return .nothing
      default: return .refusing
      }
      do {
        let connection = try PulseConnection(applicationName: "Playhead")
        try connection.connect(server: server, deadline: deadline)
        connection.watchDevices(changed)
        guard let finding = askForDevice(connection) else { return .silent }
        self.connection = connection
        return finding
      } catch { return .silent }
    }

    private var deadline: HostTime { HostTime.now.advanced(byNanoseconds: Self.answerNanoseconds) }

    /// Nil when the connection is no good any more.
    private func askForDevice(_ connection: PulseConnection) -> Finding? {
      do {
        _ = try connection.sinkInfo(name: sinkName, deadline: deadline)
        return .ready
      } catch { return error.code == Int32(PA_ERR_NOENTITY.rawValue) ? .withoutDevice : nil }
    }

    /// Connects to the socket and hangs up; 0, or the errno.
    private func knock() -> Int32 {
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { return errno }
      defer { close(descriptor) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return ENAMETOOLONG }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 ? 0 : errno
        }
      }
    }
  }
}
