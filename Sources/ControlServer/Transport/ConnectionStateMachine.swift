import WireProtocol

/// Identifies a waiting request of one connection.
typealias WaitToken = UInt64

/// Decides when a connection may process its next request, and when it is finished
/// (docs/protocol/concepts.md, *Order*).
///
/// - Requests that reply immediately only need `accepts`.
/// - A waiting request with an id is in flight until its reply and does not delay others.
/// - A waiting request without an id delays all later requests, as does a request that runs in several loop iterations.
///
/// It uses no I/O and no clock.
struct ConnectionStateMachine {
  private enum Input {
    case open
    /// The peer has ended its output. It still gets the remaining replies.
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
  /// Whether the blocking request delays others because it is executed in order, even if it has an id.
  private var isBlockingInOrder = false
  private var nextToken: WaitToken = 1

  /// Creates the state of a connection with a limit for requests in flight.
  init(waitingRequestLimit limit: Int = WireLimits.standard.waitingRequestCount) { self.limit = limit }

  /// Whether the next request may be processed.
  var mayProcessRequest: Bool { input != .closed && blockingToken == nil && inFlight.count < limit }

  /// Whether a request is using several loop iterations, after which the next request is processed.
  var isRunningInSlices: Bool { blockingToken != nil && isBlockingInOrder }

  /// The number of requests in flight.
  var waitingCount: Int { inFlight.count }

  /// Whether the peer has ended its output and all requests have their replies. Valid after all input is processed.
  var isComplete: Bool { input == .ended && inFlight.isEmpty }

  /// Whether no request in flight has this id.
  func accepts(_ address: ReplyAddress) -> Bool { idsInUse.isEmpty || !idsInUse.contains(address.id) }

  /// Starts a waiting request.
  ///
  /// - Parameter isInOrder: Whether its reply must come before the replies to later requests, even if it has an id.
  mutating func start(_ address: ReplyAddress, isInOrder: Bool = false) -> StartResult {
    guard accepts(address) else { return .idInUse }
    let token = nextToken
    nextToken += 1
    inFlight[token] = address
    if address.hasID { idsInUse.insert(address.id) }
    if isInOrder || !address.hasID { (blockingToken, isBlockingInOrder) = (token, isInOrder) }
    return .started(token)
  }

  /// Marks the ordered part of a request as done. If the request has an id, it no longer delays others while it waits.
  mutating func allowLaterRequests(after token: WaitToken) {
    guard blockingToken == token, isBlockingInOrder else { return }
    isBlockingInOrder = false
    if inFlight[token]?.hasID == true { blockingToken = nil }
  }

  /// Ends a waiting request. Returns the destination of its reply, or nil if it has already ended.
  mutating func finish(_ token: WaitToken) -> ReplyAddress? {
    guard let address = inFlight.removeValue(forKey: token) else { return nil }
    idsInUse.remove(address.id)
    if blockingToken == token { blockingToken = nil }
    return address
  }

  /// Records that the peer has ended its output.
  mutating func inputEnded() { if input == .open { input = .ended } }

  /// Records that the connection is closing. No more requests are processed.
  mutating func close() { input = .closed }
}
