import WireProtocol

/// Names a waiting request of one connection.
typealias WaitToken = UInt64

/// When a connection may take its next request, and when it is done (protocol.md, *Order*).
///
/// Requests that answer at once need nothing from here but `accepts`: they are answered before the next is taken. A
/// waiting request with an id is in flight until it is answered and holds up nothing; one without an id holds up
/// everything behind it, and so does one that is answered in order though not at once.
///
/// Pure: no I/O, no clock.
struct ConnectionStateMachine {
  private enum Input {
    case open
    /// The peer sends no more, and gets the rest of its answers.
    case ended
    /// Nothing more is taken.
    case closed
  }

  /// What became of a waiting request that wants to begin.
  enum Beginning: Equatable {
    case began(WaitToken)
    /// Another one in flight has this id.
    case idInUse
  }

  private let limit: Int
  private var input = Input.open
  private var inFlight: [WaitToken: ReplyAddress] = [:]
  private var idsInUse: Set<RequestID> = []
  /// The waiting request that holds up what comes behind it.
  private var holder: WaitToken?
  /// Whether the holder is to be answered in order though it has an id, or waits for nothing but turns of the loop.
  private var isHolderInOrder = false
  private var nextToken: WaitToken = 1

  /// A connection that may have so many requests in flight.
  init(waitingRequestLimit limit: Int = WireLimits.standard.waitingRequestCount) { self.limit = limit }

  /// Whether the next request may be taken.
  var mayTakeRequest: Bool { input != .closed && holder == nil && inFlight.count < limit }

  /// Whether a request takes several turns of the loop, after which the next is taken.
  var isTakingTurns: Bool { holder != nil && isHolderInOrder }

  /// Requests in flight.
  var waitingCount: Int { inFlight.count }

  /// Whether the peer sends no more and all of its requests are answered: provided that all it sent has been taken.
  var isAnswered: Bool { input == .ended && inFlight.isEmpty }

  /// Whether a request may use this address: its id is not in flight.
  func accepts(_ address: ReplyAddress) -> Bool { idsInUse.isEmpty || !idsInUse.contains(address.id) }

  /// A waiting request begins. `isInOrder`: its reply is to come before those to what is behind it, even if it has an id.
  mutating func begin(_ address: ReplyAddress, isInOrder: Bool = false) -> Beginning {
    guard accepts(address) else { return .idInUse }
    let token = nextToken
    nextToken += 1
    inFlight[token] = address
    if address.hasID { idsInUse.insert(address.id) }
    if isInOrder || !address.hasID { (holder, isHolderInOrder) = (token, isInOrder) }
    return .began(token)
  }

  /// What a request does in order is done, and it only waits now: with an id it does not hold up others any more.
  mutating func letOthersPass(_ token: WaitToken) {
    guard holder == token, isHolderInOrder else { return }
    isHolderInOrder = false
    if inFlight[token]?.hasID == true { holder = nil }
  }

  /// A waiting request has its answer: tells where that goes, once.
  mutating func finish(_ token: WaitToken) -> ReplyAddress? {
    guard let address = inFlight.removeValue(forKey: token) else { return nil }
    idsInUse.remove(address.id)
    if holder == token { holder = nil }
    return address
  }

  /// The peer closed its side.
  mutating func inputEnded() { if input == .open { input = .ended } }

  /// The connection is to be closed: no request is taken any more.
  mutating func close() { input = .closed }
}
