import PlayheadWireProtocol

/// The client and the form of a request, for its handler.
///
/// Threading: confined to the control loop.
struct RequestContext {
  /// The connection of the request, which transports requests and replies.
  let connection: Connection
  /// The form of the request, which its subscriptions also have.
  let form: WireForm

  var client: Client { connection.client }
  var server: ServerContext { connection.server }
}
