// The control server: a Unix socket on which every connection speaks the wire protocol. It owns the listening socket, the
// players and the connections; it never blocks the loop, and never lets one peer hold up another.
import Glibc
import Logging
import MediaCore
import NIOCore
import NIOPosix
import Playback
import WireProtocol

/// Serves the wire protocol on a Unix socket, from `start()` to `stop()`.
///
/// No task and no Dispatch queue is behind it: a process that uses either is woken once a second from then on, by
/// libdispatch's watch over its worker threads, and an idle daemon does not wake at all.
///
/// Threading: `start` and `stop` on one thread, not the loop's; they block for moments. Connections live on `eventLoop`,
/// which must also be what the engine's control loop runs on.
public final class ControlServer: @unchecked Sendable {
  // `@unchecked Sendable`: `running` is used by the thread that starts and stops; the rest is constant.

  /// Where the server listens, and whom it serves.
  public struct Configuration: Sendable {
    public var place: SocketPlace
    /// Users besides the daemon's own who may connect.
    public var allowedUserIDs: Set<UInt32> = []
    public var limits = WireLimits.standard
    /// The daemon's, as the greeting says it.
    public var version: String

    public init(place: SocketPlace, version: String) {
      self.place = place
      self.version = version
    }
  }

  /// Descriptors that connections must leave for files, devices and what the system opens.
  private static let reservedDescriptorCount = 128
  /// How long peers have to take what is left for them when the server stops.
  private static let farewell = TimeAmount.milliseconds(250)

  private let configuration: Configuration
  private let engine: PlaybackEngine
  private let eventLoop: any EventLoop
  private let logger: Logger
  private var running: Running?

  /// What there is while the server runs.
  private struct Running {
    var listener: SocketListener
    var channel: any Channel
    var context: ServerContext
    /// Where descriptors are handed over; nil when that socket cannot be made.
    var handOver: (listener: SocketListener, channel: any Channel)?
  }

  /// A server for the players of `engine`.
  public init(
    configuration: Configuration, engine: PlaybackEngine, eventLoop: any EventLoop,
    logger: Logger = Logger(label: "playhead.server")
  ) {
    self.configuration = configuration
    self.engine = engine
    self.eventLoop = eventLoop
    self.logger = logger
  }

  /// Begins to listen; afterwards clients can connect.
  ///
  /// Errors: `invalid-state` when another daemon listens there; `file-not-found`, `not-a-file`, `invalid-argument`, `permission-denied` and
  /// `write-failed` when the socket cannot be made.
  public func start() throws(MediaError) {
    precondition(running == nil, "the server runs already")
    let listener = try SocketListener(
      path: configuration.place.path, makesFolder: configuration.place.isOwnFolder,
      needsOwnedFolder: configuration.place.needsOwnedFolder)
    let limits = limitsForThisProcess()
    do {
      let context = try eventLoop.submit { [configuration, engine, logger] in
        ServerContext(
          version: configuration.version, limits: limits, allowedUserIDs: configuration.allowedUserIDs,
          engine: engine, logger: logger)
      }.wait()
      let channel = try bootstrap(context).withBoundSocket(listener.takeDescriptor()).wait()
      running = Running(listener: listener, channel: channel, context: context, handOver: startHandOver(context))
    } catch {
      listener.remove()
      throw MediaError(.writeFailed, "cannot listen at \(listener.path): \(error)")
    }
    logger.info("listening", metadata: ["socket": "\(listener.path)", "connections": "\(limits.connectionCount)"])
  }

  /// Makes the socket on which descriptors are handed over. Without it everything else works.
  private func startHandOver(_ context: ServerContext) -> (listener: SocketListener, channel: any Channel)? {
    do {
      let listener = try SocketListener(path: configuration.place.path + DescriptorSocket.suffix)
      do {
        let bootstrap = DescriptorSocket(context).bootstrap(on: eventLoop)
        return (listener, try bootstrap.withBoundSocket(listener.takeDescriptor()).wait())
      } catch {
        listener.remove()
        throw error
      }
    } catch {
      logger.warning("no descriptors can be handed over", metadata: ["error": "\(error)"])
      return nil
    }
  }

  /// Takes no more connections, says goodbye on those that there are, and removes the socket. Blocks for a quarter of a second
  /// at most.
  public func stop() {
    guard let running else { return }
    self.running = nil
    try? running.channel.close().wait()
    try? running.handOver?.channel.close().wait()
    farewell(running.context)
    running.handOver?.listener.remove()
    running.listener.remove()
    logger.info("stopped listening", metadata: ["socket": "\(running.listener.path)"])
  }

  /// As many connections as the protocol allows, if the process may have so many descriptors.
  private func limitsForThisProcess() -> WireLimits {
    var limits = configuration.limits
    var descriptors = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &descriptors) == 0 {
      let available = Int(clamping: descriptors.rlim_cur) - Self.reservedDescriptorCount
      limits.connectionCount = max(1, min(limits.connectionCount, available))
    }
    return limits
  }

  private func bootstrap(_ server: ServerContext) -> ServerBootstrap {
    // NIO's own acceptor backs off for a second when descriptors run out.
    ServerBootstrap(group: eventLoop)
      .serverChannelOption(.backlog, value: SocketListener.backlog)
      .serverChannelOption(.maxMessagesPerRead, value: 16)
      // Small reads, one a turn: who sends a lot holds up others by no more than what 8 KiB of requests take.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 8_192))
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 65_536, high: 262_144))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            Connection(server: server) { channel in
              let refusal = Self.refusal(of: channel, server)
              if let refusal {
                server.counters.refused += 1
                server.logger.log(
                  level: refusal.code == .notAllowed ? .warning : .info, "connection refused",
                  metadata: ["error": "\(refusal)"])
              }
              return refusal
            })
        }
      }
  }

  /// Why a new connection is not served; nil when it is.
  static func refusal(of channel: any Channel, _ server: ServerContext) -> MediaError? {
    if server.isShuttingDown { return MediaError(.shuttingDown, "playheadd is stopping") }
    let userID = PeerCredentials.userID(of: channel)
    guard let userID, userID == geteuid() || server.allowedUserIDs.contains(userID) else {
      let name = userID.map { "user \($0)" } ?? "this peer"
      return MediaError(.notAllowed, "\(name) may not connect; playheadd --allow-uid allows more than its own user")
    }
    guard server.connections.count < server.limits.connectionCount else {
      return MediaError(
        .tooManyConnections, "there are \(server.limits.connectionCount) connections, and more are not allowed")
    }
    return nil
  }

  /// Closes every connection, giving each a moment to take what is left for it.
  private func farewell(_ server: ServerContext) {
    let closed = eventLoop.flatSubmit { [eventLoop] in
      server.isShuttingDown = true
      let error = MediaError(.shuttingDown, "playheadd is stopping")
      let connections = Array(server.connections.values)
      for connection in connections {
        connection.cancelWaiting(error)
        connection.close(saying: error)
      }
      let abort = eventLoop.scheduleTask(in: Self.farewell) { for connection in connections { connection.abort() } }
      let closed = EventLoopFuture.andAllComplete(connections.compactMap(\.closed), on: eventLoop)
      closed.whenComplete { _ in abort.cancel() }
      return closed
    }
    try? closed.wait()
  }
}
