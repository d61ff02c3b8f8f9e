// A listening socket on the control loop: each who comes is let in or told why not.
import CMediaShims
import Glibc
import MediaCore
import Playback
import RealtimeAudio
import WireProtocol

/// A listening Unix socket whose connections are served.
///
/// Threading: confined to the control loop.
final class Door: DescriptorHandler, @unchecked Sendable {
  // `@unchecked Sendable`: `ControlServer` keeps it, and uses it on the loop only.

  /// Who come in one turn of the loop, at most.
  private static let turnCount = 16
  /// Nanoseconds for which nobody is let in when descriptors have run out.
  private static let pause: Int64 = 1_000_000_000

  private let server: ServerContext
  /// What anybody may who comes in here.
  private let rights: Rights
  private var descriptor: Int32
  private var watch: DescriptorWatch?

  /// Takes a listening descriptor over, which does not block, and lets in who comes. Errors: as `ThreadControlLoop.watch`.
  init(descriptor: Int32, rights: Rights, server: ServerContext) throws(MediaError) {
    self.server = server
    self.rights = rights
    self.descriptor = descriptor
    watch = try server.streams.loop.watch(descriptor, for: .readable, self)
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// Lets nobody in any more.
  func close() {
    watch?.cancel()
    watch = nil
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  func descriptorIsReady(_ events: DescriptorEvents) {
    for _ in 0..<Self.turnCount {
      let accepted = media_shims_accept(descriptor)
      guard accepted < 0 else {
        let stream = ByteStream(descriptor: accepted, loop: server.streams.loop, buffer: server.streams.buffer)
        Connection(server: server, stream: stream).open(admission(of: stream.peer))
        continue
      }
      switch errno {
      case EAGAIN, EWOULDBLOCK: return
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: return pause(because: errno)
      default:
        // Somebody else has ended the socket, perhaps who handed it over.
        server.logger.error("nobody can be let in any more", metadata: ["error": "\(String(cString: strerror(errno)))"])
        return close()
      }
    }
  }

  /// Descriptors or memory have run out: who waits is let in when some have been given back.
  private func pause(because failure: Int32) {
    server.logger.warning("nobody can be let in for now", metadata: ["error": "\(String(cString: strerror(failure)))"])
    watch?.events = []
    let loop = server.streams.loop
    _ = loop.schedule(at: loop.now.advanced(byNanoseconds: Self.pause)) { [weak self] in self?.watch?.events = .readable
    }
  }

  /// Whether a new connection is served, and what it may. Who is not is said in the log.
  private func admission(of credentials: PeerCredentials?) -> Admission {
    let admission = judge(credentials)
    if case .refused(let refusal) = admission {
      server.counters.refused += 1
      server.logger.log(
        level: refusal.code == .notAllowed ? .warning : .info, "connection refused", metadata: ["error": "\(refusal)"])
    }
    return admission
  }

  private func judge(_ credentials: PeerCredentials?) -> Admission {
    if server.isShuttingDown { return .refused(MediaError(.shuttingDown, "playheadd is stopping")) }
    guard let credentials, !server.access.value.rights(of: credentials).isDisjoint(with: rights) else {
      let name = credentials.map { "user \($0.userID)" } ?? "this peer"
      return .refused(
        MediaError(
          .notAllowed,
          "\(name) may not connect; playheadd --allow-uid and its configuration allow more than its own user"
        ))
    }
    let kept = rights == .all && credentials.userID == geteuid() ? 0 : server.limits.keptConnectionCount
    guard server.connections.count < server.limits.connectionCount - kept else {
      return .refused(
        MediaError(
          .tooManyConnections,
          "there are \(server.connections.count) connections, and more are not allowed"
            + (kept > 0 ? ": \(kept) are kept for the control socket's own user" : "")))
    }
    let granted = rights.intersection(server.access.value.rights(of: credentials))
    return .served(Peer(credentials: credentials, socketRights: rights, rights: granted))
  }
}
