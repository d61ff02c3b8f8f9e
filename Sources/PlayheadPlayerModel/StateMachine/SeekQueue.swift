import PlayheadMediaCore

/// The pending seeks of a player: the seek in progress and, with `SeekMode.chase`, the newest seek that waits for it.
///
/// A pure value: each input returns the seeks that end, and whether a seek begins now.
package struct SeekQueue: Sendable, Hashable {
  package typealias Token = UInt64

  /// A seek that was requested.
  package struct Request: Sendable, Hashable {
    package var token: Token
    package var itemID: PlayerItemID
    package var target: UnresolvedSeekTarget
    package var toleranceBefore = MediaTime.zero
    package var toleranceAfter = MediaTime.zero
    package var jumpCause = TimeJumpCause.seek
  }

  /// The seek that is in progress, or waits for its item.
  package private(set) var current: Request?
  /// The seek that begins when `current` has been heard.
  package private(set) var waiting: Request?

  /// The most recent seek that has not completed.
  package var newest: Request? { waiting ?? current }

  /// Adds a seek. Returns the seeks that it supersedes, in the order of their requests, and whether it begins at once.
  package mutating func add(_ request: Request, mode: SeekMode) -> (superseded: [Token], startsNow: Bool) {
    if mode == .chase, current != nil {
      defer { waiting = request }
      return (waiting.map { [$0.token] } ?? [], false)
    }
    let superseded = removeAll()
    current = request
    return (superseded, true)
  }

  /// Completes the current seek; the waiting seek becomes current and must begin. Returns false if `token` is not the
  /// current seek.
  package mutating func complete(_ token: Token) -> Bool {
    guard current?.token == token else { return false }
    current = waiting
    waiting = nil
    return true
  }

  /// Ends all seeks and returns them in the order of their requests.
  package mutating func removeAll() -> [Token] {
    defer { (current, waiting) = (nil, nil) }
    return [current, waiting].compactMap { $0?.token }
  }
}
