import PlayheadWireProtocol

/// Counts the sent requests without a final reply. A connection that ends before all replies was interrupted.
///
/// Pure: no I/O.
struct ReplyTally {
  private var reader = RequestReader()
  private var pendingReplyCount = 0
  /// The requests in the text form without an id and without a final reply, in their order: whether each is waiting.
  private var orderedRequests: [Bool] = []
  /// Whether `bye` was sent, after which the daemon ends the connection.
  private(set) var hasSentBye = false
  /// Whether the daemon has announced the end of the connection with a `closing` event.
  private(set) var isCutOff = false

  /// Whether all requests have their replies.
  var isComplete: Bool { pendingReplyCount == 0 }

  /// Whether a waiting request without an id delays all later requests.
  var isDelayed: Bool { orderedRequests.first == true }

  /// Counts the requests in a line to the daemon, with its LF. Lines after `bye` get no reply.
  mutating func recordSent(_ line: [UInt8]) {
    var offset = 0
    while !hasSentBye, let incoming = reader.next(in: line.span, at: &offset) {
      switch incoming {
      case .request(let request):
        if request.address.expectsReply { pendingReplyCount += 1 }
        if request.address == .words { orderedRequests.append(request.isWaiting) }
        if request.name == ByeCommand.name { hasSentBye = true }
      case .rejected(let rejection):
        if rejection.address.expectsReply { pendingReplyCount += 1 }
        if rejection.address == .words { orderedRequests.append(false) }
      case .close: break
      case .batch(let members):
        var expectsReply = false
        for member in members {
          switch member {
          case .request(let request):
            if request.address.expectsReply { expectsReply = true }
            if request.name == ByeCommand.name { hasSentBye = true }
          case .rejected(let rejection): if rejection.address.expectsReply { expectsReply = true }
          }
        }
        if expectsReply { pendingReplyCount += 1 }
      }
    }
  }

  /// Counts the replies in a line from the daemon. Returns whether it is an error reply. The replies of a batch are not
  /// examined, and return false.
  mutating func recordReceived(_ line: [UInt8]) -> Bool {
    if line.first == UInt8(ascii: "[") {
      pendingReplyCount -= 1
      return false
    }
    if line.first == UInt8(ascii: "{") {
      guard let value = try? JSONValue(parsing: line.span) else { return false }
      if let method = value["method"] {
        if method == .string(EventName.closing.rawValue) { isCutOff = true }
        return false
      }
      pendingReplyCount -= 1
      return value["error"] != nil
    }
    switch try? ServerLine(parsing: line) {
    case .ok(let id, _)?:
      countReply(id: id)
      return false
    case .error(let id, _, _)?:
      countReply(id: id)
      return true
    case .event(EventName.closing.rawValue, _)?:
      isCutOff = true
      return false
    case .hello?, .row?, .event?, nil: return false
    }
  }

  private mutating func countReply(id: String?) {
    pendingReplyCount -= 1
    if id == nil, !orderedRequests.isEmpty { orderedRequests.removeFirst() }
  }
}
