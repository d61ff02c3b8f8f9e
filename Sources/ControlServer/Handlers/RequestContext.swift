import WireProtocol

/// The connection and the form of a request, for its handler.
///
/// Threading: confined to the control loop.
struct RequestContext {
  /// The connection of the request.
  let connection: Connection
  /// The form of the request, which its subscriptions also have.
  let form: WireForm

  var server: ServerContext { connection.server }
}
