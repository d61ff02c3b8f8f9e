// The control server: a Unix socket on which every connection speaks the wire protocol. It owns the listening socket, the
// players and the connections; it never blocks the loop, and never lets one peer hold up another.
import Glibc
import Logging
import MediaCore
import Playback
import RealtimeAudio
import SavedState
import WireProtocol

/// Serves the wire protocol on a Unix socket, from `start()` to `stop()`.
///
/// No task and no Dispatch queue is behind it: a process that uses either is woken once a second from then on, by
/// libdispatch's watch over its worker threads, and an idle daemon does not wake at all.
///
/// Threading: `start` and `stop` on one thread, not the loop's; they block for moments. Connections live on `loop`,
/// which must also be what the engine's control loop runs on.
public final class ControlServer: @unchecked Sendable {
  // `@unchecked Sendable`: `running` is used by the thread that starts and stops; the rest is constant.

  /// Where the server listens, and whom it serves.
  public struct Configuration: Sendable {
    public var place: SocketPlace
    /// Whom the sockets' files let in, and the group that they are given to; nil: the process's own.
    public var socketMode: UInt32 = 0o600
    public var socketGroupID: UInt32?
    /// Sockets that listen already, in the place of those that would be made.
    public var inherited: [SocketRole: Int32] = [:]
    /// What can change while it runs.
    public var policy = ServerPolicy()
    /// What the sound is used for, until somebody says something else.
    public var sessionCategory = SessionCommand.Category.playAndRecord
    /// What the players' state is saved with; nil: it is not.
    public var stateStore: StateStore?
    /// Has the configuration read again on a client's word; nil: nobody does.
    public var reload: Reload?
    /// Makes what is recorded; nil: nothing is.
    public var makeSource: MakeSource?
    /// The restrictions that the process has put on itself, for `stats`.
    public var sandbox = SandboxStatus()
    /// The daemon's, as the greeting says it.
    public var version: String

    public init(place: SocketPlace, version: String) {
      self.place = place
      self.version = version
    }
  }

  /// Descriptors that connections must leave for files, devices and what the system opens.
  private static let reservedDescriptorCount = 128
  /// Descriptors that are asked for besides those of connections.
  private static let spareDescriptorCount: rlim_t = 1_024
  /// How long peers have to take what is left for them when the server stops.
  private static let farewell: Int64 = 250_000_000
  /// How long recordings have to become whole then.
  private static let recordingsEnd: Int64 = 2_000_000_000

  private let configuration: Configuration
  private let engine: PlaybackEngine
  private let loop: ThreadControlLoop
  private let logger: Logger
  private var running: Running?

  /// What there is while the server runs.
  private struct Running {
    var context: ServerContext
    /// The control socket, and that for watching where it could be made.
    var doors: [(listener: SocketListener, door: Door)] = []
    /// Where descriptors are handed over; nil when that socket cannot be made.
    var handoff: (listener: SocketListener, socket: HandoffSocket)?
    var path: String { doors.first?.listener.path ?? "" }
  }

  /// A server for the players of `engine`.
  public init(
    configuration: Configuration, engine: PlaybackEngine, loop: ThreadControlLoop,
    logger: Logger = Logger(label: "playhead.server")
  ) {
    self.configuration = configuration
    self.engine = engine
    self.loop = loop
    self.logger = logger
  }

  /// Begins to listen; afterwards clients can connect.
  ///
  /// Errors: `invalid-state` when another daemon listens there; `file-not-found`, `not-a-file`, `invalid-argument`, `permission-denied` and
  /// `write-failed` when the socket cannot be made.
  public func start() throws(MediaError) {
    precondition(running == nil, "the server runs already")
    let listener = try makeListener(.control)
    do {
      let policy = policyForThisProcess(configuration.policy)
      let setting = try AudioSessionSetting(.init(configuration.sessionCategory))
      let context = loop.perform { [configuration, engine, logger, loop] in
        engine.core.session.apply(setting)
        return ServerContext(
          version: configuration.version, policy: policy, engine: engine, loop: loop, logger: logger,
          sandbox: configuration.sandbox, store: configuration.stateStore, reload: configuration.reload,
          makeSource: configuration.makeSource)
      }
      var running = Running(context: context)
      running.handoff = optional(.handoff) { listener in
        let socket = HandoffSocket(listener: listener.takeDescriptor(), server: context, access: context.access)
        guard let socket else { throw MediaError(.writeFailed, "no descriptor is left") }
        socket.start()
        return (listener, socket)
      }
      let watch = optional(.watch, { (listener: $0, door: try open($0, .read, context)) })
      // The control socket greets last: a greeted client finds the other sockets.
      running.doors = [(listener, try open(listener, .all, context))] + (watch.map { [$0] } ?? [])
      self.running = running
      logger.info(
        "listening", metadata: ["socket": "\(listener.path)", "connections": "\(policy.limits.connectionCount)"])
    } catch {
      listener.remove()
      throw MediaError(.writeFailed, "cannot listen at \(listener.path): \(error)")
    }
  }

  /// The path of the control socket while the server runs, wherever it came from.
  public var path: String? { running?.path }

  /// The socket of a role: the one that was inherited, or a new one. Errors: those of `start`.
  private func makeListener(_ role: SocketRole) throws(MediaError) -> SocketListener {
    let kind = role == .handoff ? SocketListener.Kind.packets : .stream
    if let descriptor = configuration.inherited[role] {
      return try SocketListener(inherited: descriptor, kind: kind)
    }
    let place = configuration.place
    let path = role.sibling.map { SocketLocation.path(of: $0, beside: place.path) } ?? place.path
    return try SocketListener(
      path: path, kind: kind,
      permissions: SocketListener.Permissions(
        mode: mode_t(configuration.socketMode), groupID: configuration.socketGroupID),
      makesFolder: place.isOwnFolder, needsOwnedFolder: place.needsOwnedFolder)
  }

  /// What is made of a socket besides the control socket, without which everything else works. Nil where it cannot be made, or whoever
  /// handed over the control socket did not want it.
  private func optional<Made>(_ role: SocketRole, _ make: (SocketListener) throws -> Made) -> Made? {
    if configuration.inherited[.control] != nil, configuration.inherited[role] == nil { return nil }
    do {
      let listener = try makeListener(role)
      do {
        return try make(listener)
      } catch {
        listener.remove()
        throw error
      }
    } catch {
      logger.warning("a socket is missing", metadata: ["socket": "\(role.rawValue)", "error": "\(error)"])
      return nil
    }
  }

  /// Allows something else from now on. Blocks until it holds.
  public func apply(_ policy: ServerPolicy) {
    guard let context = running?.context else { return }
    let policy = policyForThisProcess(policy)
    loop.perform { context.apply(policy) }
  }

  /// Takes no more connections, says goodbye on those that there are, and removes the sockets that are its own. Blocks for a quarter of
  /// a second at most.
  public func stop() {
    guard let running else { return }
    self.running = nil
    loop.perform { for opened in running.doors { opened.door.close() } }
    running.handoff?.socket.stop()
    let recordings = stopRecordings(running.context)
    farewell(running.context)
    // The files of what was being recorded are whole then, unless the disk is very slow: those are at the next start.
    _ = recordings.wait(until: HostTime.now.advanced(byNanoseconds: Self.recordingsEnd)) { $0 ? true : nil }
    saveState(running.context)
    running.handoff?.listener.remove()
    for door in running.doors.reversed() { door.listener.remove() }
    logger.info("stopped listening", metadata: ["socket": "\(running.path)"])
  }

  /// As many connections as the policy allows, if the process may have so many descriptors: what it may have is raised for
  /// them, and for as many files again as other programs have without asking. Nothing here or below uses `select`.
  private func policyForThisProcess(_ policy: ServerPolicy) -> ServerPolicy {
    var policy = policy
    var descriptors = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    if getrlimit(resource, &descriptors) == 0 {
      let wanted = min(rlim_t(policy.limits.connectionCount) + Self.spareDescriptorCount, descriptors.rlim_max)
      if descriptors.rlim_cur < wanted {
        var raised = descriptors
        raised.rlim_cur = wanted
        if setrlimit(resource, &raised) == 0 { descriptors = raised }
      }
      let available = Int(clamping: descriptors.rlim_cur) - Self.reservedDescriptorCount
      policy.limits.connectionCount = max(1, min(policy.limits.connectionCount, available))
    }
    return policy
  }

  private func open(_ listener: SocketListener, _ rights: Rights, _ context: ServerContext) throws -> Door {
    let descriptor = listener.takeDescriptor()
    return try loop.perform { Result { try Door(descriptor: descriptor, rights: rights, server: context) } }.get()
  }

  /// Saves where everything is now. Waits for it no longer than half a second.
  private func saveState(_ server: ServerContext) {
    guard let keeper = server.keeper else { return }
    loop.perform { keeper.stop() }
    keeper.store.close(by: HostTime.now.advanced(byNanoseconds: 500_000_000))
  }

  /// Ends what is being recorded; true once the files are whole.
  private func stopRecordings(_ server: ServerContext) -> WakeSignal<Bool> {
    let done = WakeSignal(false)
    loop.perform { server.recorders.stopAll { done.update { $0 = true } } }
    return done
  }

  /// Closes every connection, giving each a moment to take what is left for it.
  private func farewell(_ server: ServerContext) {
    let closed = WakeSignal(false)
    let end = HostTime.now.advanced(byNanoseconds: Self.farewell)
    let connections = loop.perform {
      server.isShuttingDown = true
      let error = MediaError(.shuttingDown, "playheadd is stopping")
      let connections = Array(server.connections.values)
      var openCount = connections.count
      if openCount == 0 { closed.update { $0 = true } }
      for connection in connections {
        connection.whenClosed = {
          openCount -= 1
          if openCount == 0 { closed.update { $0 = true } }
        }
        connection.cancelWaiting(error)
        connection.close(saying: error)
      }
      return connections
    }
    if closed.wait(until: end, { $0 ? true : nil }) == nil {
      loop.perform { for connection in connections { connection.abort() } }
    }
  }
}
