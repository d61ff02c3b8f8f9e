import MediaCore

/// The seeks of a player that have not completed: the seek in progress, and when chasing the newest seek that waits
/// after it.
///
/// Pure: each input returns the seeks that are over and whether a seek begins now.
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

  /// The seek that is in progress, or waits for its item.
  private(set) var current: Request?
  /// The seek that begins when `current` has been heard.
  private(set) var held: Request?

  /// The most recent seek that has not completed.
  var newest: Request? { held ?? current }

  /// Adds a seek. Returns the seeks that it supersedes, in the order of their requests, and whether it begins at once.
  mutating func ask(_ request: Request, mode: SeekMode) -> (superseded: [Token], beginsNow: Bool) {
    if mode == .chase, current != nil {
      defer { held = request }
      return (held.map { [$0.token] } ?? [], false)
    }
    let superseded = end()
    current = request
    return (superseded, true)
  }

  /// Completes the current seek; the waiting seek becomes current and must begin. Returns false if `token` is not the
  /// current seek.
  mutating func complete(_ token: Token) -> Bool {
    guard current?.token == token else { return false }
    current = held
    held = nil
    return true
  }

  /// Ends all seeks and returns them in the order of their requests.
  mutating func end() -> [Token] {
    defer { (current, held) = (nil, nil) }
    return [current, held].compactMap { $0?.token }
  }
}
