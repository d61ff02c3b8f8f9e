import PlayheadMediaCore

/// A condition of playback to wait for.
package enum WaitCondition: Sendable, Hashable {
  /// The current item's time has reached this time, playing forwards.
  case timeAtLeast(MediaTime)
  /// The current item's time has reached this time, playing backwards.
  case timeAtMost(MediaTime)
  case status(TimeControlStatus)
  /// The current item has this id.
  case currentItem(Int)
  /// The entry that has this position when the wait starts is the current item.
  case entry(EntryReference)
  /// There is no current item, or playback stopped at the end of the last item.
  case ended
  /// The current item is ready to play.
  case ready
  /// The player has been silent for this duration, which is at least 0.1 s.
  case silence(MediaTime)

  /// AVPlayer's `timeControlStatus`, with the names of the replies. Conditions accept `waiting` as the short form of
  /// the long name.
  package enum TimeControlStatus: String, Sendable, Hashable, CaseIterable {
    case paused
    case waitingToPlayAtSpecifiedRate
    case playing
  }
}
