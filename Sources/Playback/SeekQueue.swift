import MediaCore

/// Which seeks of a player have not completed: the one under way, and with chasing the newest of those behind it.
///
/// Pure: each input answers which seeks are over and which is to begin now.
struct SeekQueue: Sendable, Hashable {
  typealias Token = UInt64

  struct Request: Sendable, Hashable {
    var token: Token
    var itemID: PlayerItem.ID
    var target: SeekTarget
    var toleranceBefore = MediaTime.zero
    var toleranceAfter = MediaTime.zero
    var jumpCause = TimeJumpCause.seek
  }

  /// The seek that is being carried out, or waits for its item.
  private(set) var current: Request?
  /// The seek that begins when `current` has been heard.
  private(set) var held: Request?

  /// The seek that was asked for last, of those that have not completed.
  var newest: Request? { held ?? current }

  /// A seek is asked for. Answers those that it supersedes, in the order in which they were asked for, and whether it
  /// begins at once.
  mutating func ask(_ request: Request, mode: SeekMode) -> (superseded: [Token], beginsNow: Bool) {
    if mode == .chase, current != nil {
      defer { held = request }
      return (held.map { [$0.token] } ?? [], false)
    }
    let superseded = end()
    current = request
    return (superseded, true)
  }

  /// The current seek is over; the held one takes its place and is to begin. False when `token` is not the current one.
  mutating func complete(_ token: Token) -> Bool {
    guard current?.token == token else { return false }
    current = held
    held = nil
    return true
  }

  /// All are over. Answers them in the order in which they were asked for.
  mutating func end() -> [Token] {
    defer { (current, held) = (nil, nil) }
    return [current, held].compactMap { $0?.token }
  }
}
