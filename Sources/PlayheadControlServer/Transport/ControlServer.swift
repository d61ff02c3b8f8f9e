import Glibc
import Logging
// The control server, which serves the wire protocol on Unix sockets. It owns the listening sockets, the players and
// the connections. It never blocks the control loop, and no peer can delay another for long.
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import PlayheadSavedState
import PlayheadWireProtocol

/// Serves the wire protocol on a Unix socket, from ``start()`` to ``stop()``.
///
/// It uses no Swift tasks and no Dispatch queues, because libdispatch's monitor of worker threads would wake up once
/// per second. An idle daemon does not wake up at all.
///
/// Threading: call `start` and `stop` on the same thread, which is not the control loop. Both block briefly.
/// Connections run on `loop`. The engine must use the same loop, or a virtual loop based on it.
package final class ControlServer: @unchecked Sendable {
  // `@unchecked Sendable`: `running` is only used by the thread that calls `start` and `stop`. The rest is constant.

  /// The location of the sockets, the access rights, and the services of the daemon.
  package struct Configuration: Sendable {
    package var socketFile: SocketFile
    /// The file mode of the sockets. Default: only the user of the daemon can connect.
    package var socketMode: UInt32 = 0o600
    /// The group of the sockets. Nil: the group of the process.
    package var socketGroupID: UInt32?
    /// The inherited listening sockets. The server uses them instead of creating sockets.
    package var inherited: [SocketRole: Int32] = [:]
    /// The part of the configuration that can change while the server runs.
    package var policy = ServerPolicy()
    /// The initial category of the audio session.
    package var sessionCategory = SessionCategory.playAndRecord
    /// The store for the state of the players. Nil: the state is not saved.
    package var stateStore: StateStore?
    /// Reloads the configuration when a client requests it. Nil: reloading is not supported.
    package var reload: Reload?
    /// Creates the sources of recordings. Nil: recording is not supported.
    package var makeSource: MakeSource?
    /// The sandbox restrictions of the process, for `stats`.
    package var sandbox = SandboxStatus()
    /// The version of the daemon, which the greeting contains.
    package var version: String

    package init(socketFile: SocketFile, version: String) {
      self.socketFile = socketFile
      self.version = version
    }
  }

  /// The number of descriptors reserved for files, devices and the system.
  private static let reservedDescriptorCount = 128
  /// The number of descriptors to request from the system in addition to one for each connection.
  private static let spareDescriptorCount: rlim_t = 1_024
  /// The time in nanoseconds for peers to read their remaining output when the server stops.
  private static let closeGraceNanoseconds: Int64 = 250_000_000
  /// The time in nanoseconds for recordings to be finalized when the server stops.
  private static let recordingsTimeoutNanoseconds: Int64 = 2_000_000_000

  private let configuration: Configuration
  private let engine: PlaybackEngine
  private let loop: ThreadControlLoop
  private let logger: Logger
  private var running: Running?

  /// The state while the server runs.
  private struct Running {
    var context: ServerContext
    /// The acceptors of the control socket and, if it could be created, of the socket for observers.
    var acceptors: [(listener: SocketListener, acceptor: Acceptor)] = []
    /// The socket for passing descriptors. Nil if it could not be created.
    var handoff: (listener: SocketListener, socket: HandoffSocket)?
    var path: String { acceptors.first?.listener.path ?? "" }
  }

  /// Creates a server for the players of `engine`.
  package init(
    configuration: Configuration, engine: PlaybackEngine, loop: ThreadControlLoop,
    logger: Logger = Logger(label: "playhead.server")
  ) {
    self.configuration = configuration
    self.engine = engine
    self.loop = loop
    self.logger = logger
  }

  /// Starts to listen. After the call clients can connect.
  ///
  /// - Throws: `invalid-state` if another daemon listens on the socket.
  ///   `file-not-found`, `not-a-file`, `invalid-argument`, `permission-denied` or `write-failed` if the socket cannot
  ///   be created.
  package func start() throws(MediaError) {
    precondition(running == nil, "the server is already running")
    let listener = try makeListener(.control)
    do {
      let policy = policyForThisProcess(configuration.policy)
      let setting = try AudioSession.Setting(configuration.sessionCategory, mode: .default, options: [])
      // Restoring the state takes longer than creating the other sockets.
      let (context, others) = loop.perform { [configuration, engine, logger, loop] in
        engine.core.session.apply(setting)
        return ServerContext(
          version: configuration.version, policy: policy, engine: engine, loop: loop, logger: logger,
          sandbox: configuration.sandbox, store: configuration.stateStore, reload: configuration.reload,
          makeSource: configuration.makeSource)
      } whileRunning: {
        (handoff: makeSecondaryListener(.handoff), watch: makeSecondaryListener(.watch))
      }
      var running = Running(context: context)
      running.handoff = startService(of: .handoff, on: others.handoff) { listener in
        let socket = HandoffSocket(listener: listener.releaseDescriptor(), server: context, access: context.access)
        guard let socket else { throw MediaError(.writeFailed, "no file descriptor is available") }
        socket.start()
        return (listener, socket)
      }
      let watch = startService(of: .watch, on: others.watch) {
        (listener: $0, acceptor: try open($0, .read, context))
      }
      // The control socket opens last, so a client that gets the greeting finds the other sockets.
      running.acceptors = [(listener, try open(listener, .all, context))] + (watch.map { [$0] } ?? [])
      self.running = running
      logger.info(
        "listening", metadata: ["socket": "\(listener.path)", "connections": "\(policy.limits.connectionCount)"])
    } catch {
      listener.remove()
      throw MediaError(.writeFailed, "cannot listen at \(listener.path): \(error)")
    }
  }

  /// The path of the control socket, whether created or inherited. Nil while the server is stopped.
  package var path: String? { running?.path }

  /// The socket of a role: an inherited socket, or a new one.
  ///
  /// - Throws: The errors of `start`.
  private func makeListener(_ role: SocketRole) throws(MediaError) -> SocketListener {
    let kind = role == .handoff ? SocketListener.Kind.packets : .stream
    if let descriptor = configuration.inherited[role] {
      return try SocketListener(inherited: descriptor, kind: kind)
    }
    let socketFile = configuration.socketFile
    let path = role.sibling.map { SocketLocation.path(of: $0, nextTo: socketFile.path) } ?? socketFile.path
    return try SocketListener(
      path: path, kind: kind,
      permissions: SocketListener.Permissions(
        mode: mode_t(configuration.socketMode), groupID: configuration.socketGroupID),
      createsFolder: socketFile.createsFolder, requiresFolderOwnership: socketFile.requiresFolderOwnership)
  }

  /// Creates a socket other than the control socket. Returns nil if it cannot be created, because the server works
  /// without it. Also returns nil if the control socket was inherited and this one was not.
  private func makeSecondaryListener(_ role: SocketRole) -> SocketListener? {
    if configuration.inherited[.control] != nil, configuration.inherited[role] == nil { return nil }
    do { return try makeListener(role) } catch {
      warn(about: role, error)
      return nil
    }
  }

  /// Starts the service of a socket other than the control socket. If this fails, removes the socket and returns nil.
  private func startService<Service>(
    of role: SocketRole, on listener: SocketListener?, _ start: (SocketListener) throws -> Service
  ) -> Service? {
    guard let listener else { return nil }
    do { return try start(listener) } catch {
      listener.remove()
      warn(about: role, error)
      return nil
    }
  }

  private func warn(about role: SocketRole, _ error: any Error) {
    logger.warning(
      "cannot create socket; continuing without it", metadata: ["socket": "\(role.rawValue)", "error": "\(error)"])
  }

  /// Applies a new policy. Blocks until the policy is in effect.
  package func apply(_ policy: ServerPolicy) {
    guard let context = running?.context else { return }
    let policy = policyForThisProcess(policy)
    loop.perform { context.apply(policy) }
  }

  /// Stops accepting connections, closes the existing ones, stops recordings, saves the state, and removes the sockets
  /// that the server created.
  ///
  /// Blocks for at most 0.25 s for connections, 2 s for recordings and 0.5 s for the state.
  package func stop() {
    guard let running else { return }
    self.running = nil
    loop.perform {
      for opened in running.acceptors { opened.acceptor.close() }
      running.context.titleReader.close()
    }
    running.handoff?.socket.stop()
    let recordings = stopRecordings(running.context)
    closeConnections(running.context)
    // On a very slow disk, files that are not finalized by the deadline are repaired at the next start.
    let deadline = HostTime.now.advanced(byNanoseconds: Self.recordingsTimeoutNanoseconds)
    _ = recordings.wait(until: deadline) { $0 ? true : nil }
    saveState(running.context)
    running.handoff?.listener.remove()
    for opened in running.acceptors.reversed() { opened.listener.remove() }
    logger.info("stopped listening", metadata: ["socket": "\(running.path)"])
  }

  /// Limits the number of connections to the available descriptors. First raises the soft limit of the process, so that
  /// the configured number of connections fits. This is safe, because no code uses select(2), which is limited to 1,024
  /// descriptors.
  private func policyForThisProcess(_ policy: ServerPolicy) -> ServerPolicy {
    var policy = policy
    var descriptors = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    if getrlimit(resource, &descriptors) == 0 {
      let requested = min(rlim_t(policy.limits.connectionCount) + Self.spareDescriptorCount, descriptors.rlim_max)
      if descriptors.rlim_cur < requested {
        var raised = descriptors
        raised.rlim_cur = requested
        if setrlimit(resource, &raised) == 0 { descriptors = raised }
      }
      let available = Int(clamping: descriptors.rlim_cur) - Self.reservedDescriptorCount
      policy.limits.connectionCount = max(1, min(policy.limits.connectionCount, available))
    }
    return policy
  }

  private func open(_ listener: SocketListener, _ rights: Rights, _ context: ServerContext) throws -> Acceptor {
    let descriptor = listener.releaseDescriptor()
    return try loop.perform { Result { try Acceptor(descriptor: descriptor, rights: rights, server: context) } }.get()
  }

  /// Saves the current state. Waits at most 0.5 s.
  private func saveState(_ server: ServerContext) {
    guard let writer = server.stateWriter else { return }
    loop.perform { writer.stop() }
    writer.store.close(by: HostTime.now.advanced(byNanoseconds: 500_000_000))
  }

  /// Stops all recordings. The returned value becomes true when the files are finalized.
  private func stopRecordings(_ server: ServerContext) -> ConditionMutex<Bool> {
    let done = ConditionMutex(false)
    loop.perform { server.recorders.stopAll { done.update { $0 = true } } }
    return done
  }

  /// Closes every connection, and waits at most 0.25 s for the peers to read their remaining output.
  private func closeConnections(_ server: ServerContext) {
    let closed = ConditionMutex(false)
    let end = HostTime.now.advanced(byNanoseconds: Self.closeGraceNanoseconds)
    let connections = loop.perform {
      server.isShuttingDown = true
      let error = MediaError(.shuttingDown, "playheadd is stopping")
      let connections = Array(server.connections.values)
      var openCount = connections.count
      if openCount == 0 { closed.update { $0 = true } }
      for connection in connections {
        connection.onClose = {
          openCount -= 1
          if openCount == 0 { closed.update { $0 = true } }
        }
        connection.cancelWaiting(error)
        connection.close(reason: error)
      }
      return connections
    }
    if closed.wait(until: end, { $0 ? true : nil }) == nil {
      loop.perform { for connection in connections { connection.abort() } }
    }
  }
}
