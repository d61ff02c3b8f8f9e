/// The end of the current item, when it has been heard. A pure value.
package struct HeardEnd: Sendable, Hashable {
  /// Whether `actionAtItemEnd` is `.none` and the current item's end has been heard: its time continues in silence.
  package private(set) var isPassed = false
  /// The item whose end has been reported, while it stays current at its end.
  package private(set) var reportedItemID: PlayerItemID?

  init() {}

  /// Whether the current item's end has been heard.
  var isReached: Bool { isPassed || reportedItemID != nil }

  /// Handles the end of an item, after which playback continues in silence.
  mutating func pass() { isPassed = true }

  /// Handles the end of an item that stays current, at its end.
  mutating func report(_ id: PlayerItemID) { reportedItemID = id }

  /// Allows another report: the item's end is reached again, or from the other direction.
  mutating func clearReport() { reportedItemID = nil }

  /// Handles the return from the silence after the end into the item.
  mutating func leaveSilence() { isPassed = false }

  /// Handles another current item, or another start of it.
  mutating func clear() { self = HeardEnd() }

  /// Handles the loss of the output: the end of the current item is not reported again.
  mutating func outputWasLost(current id: PlayerItemID?) {
    if isPassed { reportedItemID = id }
  }

  /// Handles a new stream. Restoring the position at an item's end does not report the end again.
  mutating func streamPrepared(_ request: PlayerStateMachine.DecodeRequest) {
    isPassed = request.isSilence
    if request.isNewPass { reportedItemID = nil }
  }
}
