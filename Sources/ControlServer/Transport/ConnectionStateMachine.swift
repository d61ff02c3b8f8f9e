import WireProtocol

/// Identifies a waiting request of one connection.
typealias WaitToken = UInt64

/// Decides when a connection may process its next request, and when it is finished
/// (docs/protocol/concepts.md, *Order*).
///
/// - Requests that reply immediately only need `accepts`.
/// - A waiting request with an id is in flight until its reply and does not delay others.
/// - A waiting request without an id delays all later requests. So does a request that is executed in order but not
///   immediately.
///
/// Pure: no I/O, no clock.
struct ConnectionStateMachine {
  private enum Input {
    case open
    /// The peer ended its side. It still gets the remaining replies.
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
  /// The waiting request that delays later requests.
  private var holder: WaitToken?
  /// Whether the holder delays others because it is executed in order, even if it has an id.
  private var isHolderInOrder = false
  private var nextToken: WaitToken = 1

  /// Creates the state of a connection with a limit for requests in flight.
  init(waitingRequestLimit limit: Int = WireLimits.standard.waitingRequestCount) { self.limit = limit }

  /// Whether the next request may be processed.
  var mayProcessRequest: Bool { input != .closed && holder == nil && inFlight.count < limit }

  /// Whether a request is using several loop iterations, after which the next request is processed.
  var isRunningInSlices: Bool { holder != nil && isHolderInOrder }

  /// The number of requests in flight.
  var waitingCount: Int { inFlight.count }

  /// Whether the peer ended its side and all requests have their replies. Valid after all input is processed.
  var isComplete: Bool { input == .ended && inFlight.isEmpty }

  /// Whether the id of a request is not in flight.
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
    if isInOrder || !address.hasID { (holder, isHolderInOrder) = (token, isInOrder) }
    return .started(token)
  }

  /// The ordered part of a request is done and it only waits now. If it has an id, it no longer delays others.
  mutating func allowLaterRequests(after token: WaitToken) {
    guard holder == token, isHolderInOrder else { return }
    isHolderInOrder = false
    if inFlight[token]?.hasID == true { holder = nil }
  }

  /// Ends a waiting request. Returns the destination of its reply, or nil if it has already ended.
  mutating func finish(_ token: WaitToken) -> ReplyAddress? {
    guard let address = inFlight.removeValue(forKey: token) else { return nil }
    idsInUse.remove(address.id)
    if holder == token { holder = nil }
    return address
  }

  /// The peer ended its side.
  mutating func inputEnded() { if input == .open { input = .ended } }

  /// The connection is closing. No more requests are processed.
  mutating func close() { input = .closed }
}
