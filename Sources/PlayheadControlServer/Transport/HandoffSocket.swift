// The socket next to the control socket, for passing open files, pipes and sockets (unix(7), SCM_RIGHTS). A separate
// thread inspects each descriptor, because this may block, and assigns its `fd:` path. The control loop adds the
// descriptor to the ``DescriptorTable``. The thread sleeps until a connection arrives.
import CPlayheadMediaShims
import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWireProtocol
import Synchronization

/// Receives open descriptors, one per connection. The client sends a packet of at least one byte with the descriptor,
/// and gets one packet with the reply line.
final class HandoffSocket: @unchecked Sendable {
  // `@unchecked Sendable`: the mutable state is confined to the socket's thread.

  /// The maximum number of connections that have not sent their packet.
  private static let connectionLimit = 16
  /// The time limit in nanoseconds for the packet.
  private static let packetTimeoutNanoseconds: Int64 = 5_000_000_000
  /// The delay in nanoseconds before the next accept(2), after one failed (for example, no descriptor was free).
  private static let acceptRetryDelayNanoseconds: Int64 = 1_000_000_000

  private struct Client {
    let socket: Int32
    let userID: UInt32
    let deadline: HostTime
  }

  private let listener: Int32
  private let stopEvent: Int32
  private let server: ServerContext
  private let access: PeerAccess.Box
  private var clients: [Client] = []
  private var pausedUntil: HostTime?
  private let thread = Mutex<NamedThread?>(nil)

  /// Takes ownership of a listening, non-blocking `SOCK_SEQPACKET` socket. Returns nil, and closes the socket, if no
  /// descriptor is available for the stop event.
  init?(listener: Int32, server: ServerContext, access: PeerAccess.Box) {
    let event = media_shims_event_open()
    guard event >= 0 else {
      close(listener)
      return nil
    }
    self.listener = listener
    self.server = server
    self.access = access
    stopEvent = event
  }

  deinit { close(stopEvent) }

  /// Starts to accept connections.
  func start() { thread.withLock { $0 = NamedThread(name: "handoff") { [self] in run() } } }

  /// Stops the thread and closes the socket. Blocks briefly. Call it once, not on the control loop.
  func stop() {
    media_shims_event_signal(stopEvent)
    thread.withLock { $0.take() }?.join()
  }

  // MARK: - The thread

  private func run() {
    while wait() {
      let now = HostTime.now
      let late = clients.filter { $0.deadline <= now }
      clients.removeAll { $0.deadline <= now }
      for client in late { sendReplyAndClose(client.socket, .error(Self.timeoutError)) }
    }
    for client in clients { close(client.socket) }
    close(listener)
  }

  /// Waits for the next events and handles them. Returns false after `stop()` was called.
  private func wait() -> Bool {
    let now = HostTime.now
    if let end = pausedUntil, end <= now { pausedUntil = nil }
    let accepts = pausedUntil == nil
    var entries = [pollfd(fd: stopEvent, events: Int16(POLLIN), revents: 0)]
    entries.append(pollfd(fd: accepts ? listener : -1, events: Int16(POLLIN), revents: 0))
    entries += clients.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
    let next = (clients.map(\.deadline) + [pausedUntil].compactMap(\.self)).min()
    // Rounded up to a whole millisecond. Otherwise the thread would wake repeatedly just before the deadline.
    let timeout = next.map { Int32(clamping: max(0, $0.nanoseconds(since: now)) / 1_000_000 + 1) } ?? -1
    guard poll(&entries, nfds_t(entries.count), timeout) > 0 else { return true }
    if entries[0].revents != 0 { return false }
    let ready = zip(clients, entries.dropFirst(2)).filter { $0.1.revents != 0 }.map(\.0)
    clients.removeAll { client in ready.contains { $0.socket == client.socket } }
    for client in ready { receive(client) }
    if entries[1].revents != 0 { accept() }
    return true
  }

  private func accept() {
    let socket = media_shims_accept(listener)
    guard socket >= 0 else {
      if errno != EAGAIN { pausedUntil = HostTime.now.advanced(byNanoseconds: Self.acceptRetryDelayNanoseconds) }
      return
    }
    let peer = PeerCredentials(ofSocket: socket)
    guard let peer, access.value.rights(of: peer).contains(.control) else {
      let name = peer.map { "user \($0.userID)" } ?? "this peer"
      let error = MediaError(.notAllowed, "\(name) may not pass descriptors", operation: "fd")
      return sendReplyAndClose(socket, .error(error))
    }
    let deadline = HostTime.now.advanced(byNanoseconds: Self.packetTimeoutNanoseconds)
    if clients.count >= Self.connectionLimit { closeOldest() }
    clients.append(Client(socket: socket, userID: peer.userID, deadline: deadline))
  }

  /// Closes the oldest connection of the user with the most connections, so that idle connections cannot block the
  /// socket.
  private func closeOldest() {
    let counts = Dictionary(clients.map { ($0.userID, 1) }, uniquingKeysWith: +)
    guard let busiestUserID = counts.max(by: { $0.value < $1.value })?.key,
      let oldest = clients.firstIndex(where: { $0.userID == busiestUserID })
    else { return }
    sendReplyAndClose(clients.remove(at: oldest).socket, .error(Self.tooManyConnectionsError))
  }

  /// Handles the packet, or the end of the connection.
  private func receive(_ client: Client) {
    let received = media_shims_receive_descriptor(client.socket)
    guard received >= 0 else { return sendReplyAndClose(client.socket, .error(Self.packetError(errno))) }
    let path = DescriptorTable.newPath()
    let descriptor: OpenDescriptor
    do throws(MediaError) {
      // On this thread, because the initializer queries the file system, which may block.
      descriptor = try OpenDescriptor(received, name: path.text)
    } catch {
      close(received)
      return sendReplyAndClose(client.socket, .error(error))
    }
    server.loop.execute { [self] in
      do throws(MediaError) {
        try server.registry.descriptors.add(descriptor, of: client.userID)
        sendReplyAndClose(client.socket, .ok(["path": .path(path)]))
      } catch {
        sendReplyAndClose(client.socket, .error(error))
      }
    }
  }

  private static let timeoutError = MediaError(
    .notReadable, "no descriptor was received within \(packetTimeoutNanoseconds / 1_000_000_000) s", operation: "fd")
  private static let tooManyConnectionsError = MediaError(
    .notReadable, "closed: more than \(connectionLimit) pending connections", operation: "fd")
  private static func packetError(_ code: Int32) -> MediaError {
    let message =
      switch code {
      case EBADMSG: "the packet must contain exactly one descriptor"
      case EMFILE, ENFILE: "the daemon has no free descriptor"
      default: "the connection ended without a packet"
      }
    return MediaError(.notReadable, message, operation: "fd")
  }

  /// Sends the reply, if the socket buffer has room, and closes the connection. Threading: any.
  private func sendReplyAndClose(_ socket: Int32, _ reply: Reply) {
    var bytes: [UInt8] = []
    reply.encode(to: .words, into: &bytes)
    _ = bytes.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) }
    close(socket)
  }
}
