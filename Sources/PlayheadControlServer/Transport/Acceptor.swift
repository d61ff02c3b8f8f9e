// A listening socket on the control loop. Each new connection is served, or refused with a reason.
import CPlayheadMediaShims
import Glibc
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// Accepts the connections of a listening Unix socket.
///
/// Threading: confined to the control loop.
final class Acceptor: DescriptorHandler, @unchecked Sendable {
  // `@unchecked Sendable`: `ControlServer` retains it, and uses it on the loop only.

  /// The maximum number of connections accepted in one loop iteration.
  private static let acceptLimit = 16
  /// The delay in nanoseconds before the next accept(2), after no descriptor or memory was available.
  private static let acceptRetryDelayNanoseconds: Int64 = 1_000_000_000

  private let server: ServerContext
  /// The maximum rights of connections from this socket.
  private let rights: Rights
  private var descriptor: Int32
  private var watch: DescriptorWatch?

  /// Takes ownership of a listening, non-blocking descriptor and accepts its connections.
  ///
  /// - Throws: The errors of `ThreadControlLoop.watch`.
  init(descriptor: Int32, rights: Rights, server: ServerContext) throws(MediaError) {
    self.server = server
    self.rights = rights
    self.descriptor = descriptor
    watch = try server.transport.loop.watch(descriptor, for: .readable, self)
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// Stops accepting connections.
  func close() {
    watch?.cancel()
    watch = nil
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  func descriptorIsReady(_ events: DescriptorEvents) {
    for _ in 0..<Self.acceptLimit {
      let accepted = media_shims_accept(descriptor)
      guard accepted < 0 else {
        let stream = ByteStream(descriptor: accepted, loop: server.transport.loop, buffer: server.transport.buffer)
        Connection(server: server, stream: stream).open(admission(of: stream.peer))
        continue
      }
      switch errno {
      case EAGAIN, EWOULDBLOCK: return
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pause(because: errno)
      default:
        // Not recoverable. For example, the process that passed the listening socket called shutdown(2) on it.
        server.logger.error("no connection can be accepted", metadata: ["error": "\(String(cString: strerror(errno)))"])
        return close()
      }
    }
  }

  /// Stops accepting for a moment, because no descriptor or memory is available. Connections stay pending in the
  /// kernel.
  private func pause(because failure: Int32) {
    server.logger.warning(
      "no connection can be accepted for now", metadata: ["error": "\(String(cString: strerror(failure)))"])
    watch?.events = []
    let loop = server.transport.loop
    _ = loop.schedule(at: loop.now.advanced(byNanoseconds: Self.acceptRetryDelayNanoseconds)) { [weak self] in
      self?.watch?.events = .readable
    }
  }

  /// Decides whether a new connection is served, and with which rights. Counts and logs refusals.
  private func admission(of credentials: PeerCredentials?) -> Admission {
    let admission = decideAdmission(credentials)
    if case .refused(let refusal) = admission {
      server.counters.refused += 1
      server.logger.log(
        level: refusal.code == .notAllowed ? .warning : .info, "connection refused", metadata: ["error": "\(refusal)"])
    }
    return admission
  }

  private func decideAdmission(_ credentials: PeerCredentials?) -> Admission {
    if server.isShuttingDown { return .refused(MediaError(.shuttingDown, "playheadd is stopping")) }
    guard let credentials, !server.access.value.rights(of: credentials).isDisjoint(with: rights) else {
      let name = credentials.map { "user \($0.userID)" } ?? "this peer"
      return .refused(
        MediaError(
          .notAllowed,
          "\(name) may not connect; playheadd --allow-uid or its configuration can allow other users"
        ))
    }
    let reservedCount = rights == .all && credentials.userID == geteuid() ? 0 : server.limits.reservedConnectionCount
    guard server.connections.count < server.limits.connectionCount - reservedCount else {
      return .refused(
        MediaError(
          .tooManyConnections,
          "too many connections (the limit is \(server.limits.connectionCount)"
            + (reservedCount > 0 ? ", of which \(reservedCount) are reserved for the daemon's user)" : ")")))
    }
    let granted = rights.intersection(server.access.value.rights(of: credentials))
    return .served(Peer(credentials: credentials, maximumRights: rights, rights: granted))
  }
}
