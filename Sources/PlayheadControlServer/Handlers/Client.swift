import PlayheadMediaCore
import PlayheadPlayback
import PlayheadWireProtocol

/// A client: its rights, and what its requests opened, collected or subscribed to. Each part is a value of the feature
/// that it belongs to. All of them end with the connection.
///
/// Threading: confined to the control loop.
final class Client: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop.
  let server: ServerContext
  /// The connection, which retains the client. Set once.
  weak var connection: Connection?
  /// The peer of the connection, with the client's rights. Nil before it is known, and if the connection is refused.
  private(set) var peer: Peer?
  /// The edits that are collected between `queue.begin` and `queue.commit`.
  var transaction: QueueTransaction?
  /// The assets that the client opened.
  var assets = OpenAssets()
  /// The running operations on media files.
  var operations = RunningOperations()
  /// The players that close with the connection.
  var temporaryPlayers: [NamedPlayer] = []
  var subscriptions = Subscriptions()

  init(server: ServerContext) { self.server = server }

  // MARK: - Lifecycle

  /// Admits the peer.
  func begin(with peer: Peer) { self.peer = peer }

  /// Ends everything that belongs to the client.
  func end() {
    subscriptions.endAll()
    assets.closeAll()
    discardTransaction()
    guard !temporaryPlayers.isEmpty else { return }
    // In a separate loop iteration, because a connection that does not read is closed while a player changes.
    server.loop.execute { [self] in
      for player in temporaryPlayers { server.registry.close(player) }
      temporaryPlayers = []
    }
  }

  // MARK: - Rights

  /// Applies a change of the access rights. A client without any rights gets the reason, and the connection is closed.
  func updateRights() {
    guard let peer else { return }
    let allowed = server.access.value.rights(of: peer.credentials)
    let rights = peer.maximumRights.intersection(allowed)
    guard !rights.isEmpty else {
      let error = MediaError(
        .notAllowed,
        allowed.isEmpty
          ? "user \(peer.userID) is no longer allowed to connect"
          : "user \(peer.userID) no longer has the right to \(peer.rights.names.joined(separator: " or "))")
      connection?.cancelWaiting(error)
      connection?.close(reason: error)
      return
    }
    setRights(rights)
  }

  /// Drops all other rights until the connection ends.
  ///
  /// - Throws: `not-allowed` if the client does not have all of `rights`.
  func dropRights(except rights: Rights) throws(MediaError) {
    guard let peer else { return }
    let missing = rights.subtracting(peer.rights)
    guard missing.isEmpty else {
      throw MediaError(
        .notAllowed,
        "this connection does not have the right to \(missing.names.joined(separator: " and "))"
          + " (it has: \(peer.rights.names.joined(separator: ", ")))", operation: "hello")
    }
    self.peer?.maximumRights = rights
    setRights(rights)
  }

  /// Ends waiting requests and subscriptions that the new rights do not allow.
  private func setRights(_ rights: Rights) {
    guard rights != peer?.rights else { return }
    peer?.rights = rights
    if !rights.contains(.read) { subscriptions.endAll() }
    connection?.checkWaitingRequests()
  }

  /// Checks that the client has the rights for a request.
  ///
  /// - Throws: `not-allowed`.
  func checkRights(_ request: Request) throws(MediaError) {
    let rights = peer?.rights ?? []
    guard rights != .all, !rights.isSuperset(of: request.neededRights) else { return }
    let missing = request.neededRights.subtracting(rights).names.joined(separator: " and ")
    throw MediaError(
      .notAllowed,
      "the request needs the right to \(missing) (this connection has: \(rights.names.joined(separator: ", ")))",
      operation: request.name.rawValue)
  }

  // MARK: - Events

  /// Sends an event at the end of this loop iteration (``Connection/send(_:form:number:)``).
  func send(_ event: some Event, form: WireForm, number: UInt64? = nil) {
    connection?.send(event, form: form, number: number)
  }

  /// Calls `body` after the reply to the current request is added to the output.
  func afterReply(_ body: @escaping () -> Void) { connection?.postReplyAction = .send(body) }

  /// Drops the retained changes of an ended subscription.
  func dropChanges(ofSubscription id: Int) { connection?.dropChanges(ofSubscription: id) }
}
