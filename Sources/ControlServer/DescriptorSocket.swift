// The socket beside the daemon's own on which open files, pipes and sockets are handed over (unix(7), SCM_RIGHTS). NIO reads bytes and
// drops what comes with them: it only accepts here, and a short-lived thread takes the one message that a connection has.
import CMediaShims
import Glibc
import MediaCore
import NIOCore
import NIOPosix
import RealtimeAudio
import WireProtocol

/// Takes open descriptors, one a connection: a message of at least a byte with it, an answer of a line.
///
/// Threading: confined to the event loop but for `receive`.
final class DescriptorSocket: @unchecked Sendable {
  // `@unchecked Sendable`: what changes is confined to the event loop.

  /// What stands behind the path of the daemon's socket.
  static let suffix = ".fd"
  /// Connections whose message is waited for, and for how long, in milliseconds.
  private static let connectionLimit = 16
  private static let patience: Int32 = 5_000

  /// The connection is somebody else's now: NIO lets go of it.
  private struct HandedOver: Error {}

  private let server: ServerContext
  private var connectionCount = 0

  init(_ server: ServerContext) { self.server = server }

  /// Begins to accept.
  func bootstrap(on eventLoop: any EventLoop) -> ServerBootstrap {
    ServerBootstrap(group: eventLoop)
      .serverChannelOption(.backlog, value: SocketListener.backlog)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let socket =
            try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
              fcntl($0, F_DUPFD_CLOEXEC, 0)
            } ?? -1
          if socket >= 0 { self.accepted(socket, refusal: ControlServer.refusal(of: channel, self.server)) }
          throw HandedOver()
        }
      }
  }

  private func accepted(_ socket: Int32, refusal: MediaError?) {
    if let refusal {
      server.counters.refused += 1
      return answer(.error(refusal), socket)
    }
    guard connectionCount < Self.connectionLimit else {
      return answer(
        .error(MediaError(.tooManyDescriptors, "\(Self.connectionLimit) connections hand something over already")),
        socket)
    }
    connectionCount += 1
    let loop = server.loop
    NamedThread.detached(name: "hand-over") { [self] in
      let received = Self.receive(socket)
      loop.execute {
        self.connectionCount -= 1
        self.finish(received, socket)
      }
    }
  }

  /// Waits for the message; -1 when there is none, or none with one descriptor.
  private static func receive(_ socket: Int32) -> Int32 {
    var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    var ready: Int32
    repeat { ready = poll(&entry, 1, patience) } while ready < 0 && errno == EINTR
    return ready > 0 ? media_shims_receive_descriptor(socket) : -1
  }

  private func finish(_ descriptor: Int32, _ socket: Int32) {
    guard descriptor >= 0 else {
      return answer(
        .error(
          MediaError(
            .notReadable, "no message with one descriptor came within \(Self.patience / 1_000) s", operation: "fd")
        ), socket)
    }
    do throws(MediaError) {
      answer(.ok(["path": .path(try server.registry.descriptors.add(descriptor))]), socket)
    } catch {
      answer(.error(error), socket)
    }
  }

  /// Says what became of it, as far as it fits at once, and closes the connection.
  private func answer(_ reply: Reply, _ socket: Int32) {
    var bytes: [UInt8] = []
    reply.encode(to: .words, into: &bytes)
    _ = bytes.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) }
    close(socket)
  }
}
