import PlayheadWireProtocol

/// Identifies a waiting request of one connection.
typealias WaitToken = UInt64

/// Decides when a connection may process its next request, and when it is finished
/// (docs/protocol/concepts.md, *Order*).
///
/// - Requests that reply immediately only need `accepts`.
/// - Every waiting request is in flight until its reply. With an id, it does not delay later requests. Without an id,
///   it delays them.
/// - A request that *runs in slices* is executed in several loop iterations. It delays later requests, even with an id,
///   until ``allowLaterRequests(after:)`` or ``finish(_:)``.
///
/// It uses no I/O and no clock.
struct ConnectionStateMachine {
  private enum Input {
    case open
    /// The peer has shut down its sending side. It still gets the remaining replies.
    case ended
    /// No more requests are processed.
    case closed
  }

  /// The result of starting a waiting request.
  enum StartResult: Equatable {
    case started(WaitToken)
    /// Another request in flight has this id.
    case idInUse
  }

  private let limit: Int
  private var input = Input.open
  private var inFlight: [WaitToken: ReplyAddress] = [:]
  private var idsInUse: Set<RequestID> = []
  /// The waiting request that delays all later requests.
  private var blockingToken: WaitToken?
  /// Whether the blocking request runs in slices.
  private var isBlockingInSlices = false
  private var nextToken: WaitToken = 1

  /// Creates the state of a connection with a limit for requests in flight.
  init(waitingRequestLimit limit: Int = WireLimits.standard.waitingRequestCount) { self.limit = limit }

  /// Whether the next request may be processed.
  var mayProcessRequest: Bool { input != .closed && blockingToken == nil && inFlight.count < limit }

  /// Whether a request runs in slices and still delays later requests.
  var isRunningInSlices: Bool { blockingToken != nil && isBlockingInSlices }

  /// The number of requests in flight.
  var waitingCount: Int { inFlight.count }

  /// Whether the peer has shut down its sending side and all requests have their replies. Valid after all input is
  /// processed.
  var isComplete: Bool { input == .ended && inFlight.isEmpty }

  /// Whether no request in flight has this id.
  func accepts(_ address: ReplyAddress) -> Bool { idsInUse.isEmpty || !idsInUse.contains(address.id) }

  /// Starts a waiting request.
  ///
  /// - Parameter runsInSlices: Whether it is executed in several loop iterations.
  mutating func start(_ address: ReplyAddress, runsInSlices: Bool = false) -> StartResult {
    guard accepts(address) else { return .idInUse }
    let token = nextToken
    nextToken += 1
    inFlight[token] = address
    if address.hasID { idsInUse.insert(address.id) }
    if runsInSlices || !address.hasID { (blockingToken, isBlockingInSlices) = (token, runsInSlices) }
    return .started(token)
  }

  /// Marks the slices of a request as done. If the request has an id, it no longer delays later requests while it
  /// waits.
  mutating func allowLaterRequests(after token: WaitToken) {
    guard blockingToken == token, isBlockingInSlices else { return }
    isBlockingInSlices = false
    if inFlight[token]?.hasID == true { blockingToken = nil }
  }

  /// Ends a waiting request. Returns the destination of its reply, or nil if it has already ended.
  mutating func finish(_ token: WaitToken) -> ReplyAddress? {
    guard let address = inFlight.removeValue(forKey: token) else { return nil }
    idsInUse.remove(address.id)
    if blockingToken == token { blockingToken = nil }
    return address
  }

  /// Records that the peer has shut down its sending side.
  mutating func inputEnded() { if input == .open { input = .ended } }

  /// Records that the connection is closing. No more requests are processed.
  mutating func close() { input = .closed }
}
