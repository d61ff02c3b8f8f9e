import PlayheadMediaCore

/// An item in the queue, with the data that the state machine needs.
package struct QueueEntry: Sendable, Hashable {
  package var id: PlayerItemID
  package var status = ItemStatus.unknown
  package var duration = MediaTime.indefinite
  /// Whether `duration` is exact, not an estimate.
  package var isDurationPrecise = false
  /// The end times of forward and reverse playback; nil: the item's edges.
  package var forwardEnd: MediaTime?
  package var reverseEnd: MediaTime?
  /// Whether the whole item was decoded and is shorter than `shortestLoop`: it is not repeated.
  package var isTooShort = false
  /// Whether decoding failed before the end in the last pass.
  package var hasFailedBeforeEnd = false
  /// Whether the entry failed and is being opened again. Decoding then waits until it is open.
  package var isRetried = false
  /// The start position when the item becomes current; nil: its beginning, or it has started.
  package var resumeTime: MediaTime?
  /// The length of the end of a pass that depends on the following audio: the reach of a filter, at rate 1.
  package var filterReach = MediaTime.zero

  package init(
    id: PlayerItemID, status: ItemStatus = ItemStatus.unknown, duration: MediaTime = MediaTime.indefinite,
    isDurationPrecise: Bool = false, forwardEnd: MediaTime? = nil, reverseEnd: MediaTime? = nil,
    isTooShort: Bool = false, hasFailedBeforeEnd: Bool = false, resumeTime: MediaTime? = nil,
    filterReach: MediaTime = MediaTime.zero
  ) {
    self.id = id
    self.status = status
    self.duration = duration
    self.isDurationPrecise = isDurationPrecise
    self.forwardEnd = forwardEnd
    self.reverseEnd = reverseEnd
    self.isTooShort = isTooShort
    self.hasFailedBeforeEnd = hasFailedBeforeEnd
    self.resumeTime = resumeTime
    self.filterReach = filterReach
  }

  /// Whether only the id is known.
  package var hasOnlyID: Bool { status == .unknown && self == QueueEntry(id: id) }

  /// The end time of forward playback, as far as it is known.
  package var endTime: MediaTime {
    min(forwardEnd ?? .positiveInfinity, duration.isNumeric ? duration : .positiveInfinity)
  }

  /// The end time of playback at this rate; nil: the item's edge.
  package func end(at rate: PlaybackRate) -> MediaTime? { rate.isReverse ? reverseEnd : forwardEnd }

  /// The end time of playback at this rate; the time of the item's edge if none is set.
  package func endTime(at rate: PlaybackRate) -> MediaTime { rate.isReverse ? reverseEnd ?? .zero : endTime }

  /// The latest valid seek target. Indefinite if the duration is an estimate, because the item may be longer.
  package var latestTime: MediaTime { isDurationPrecise ? duration : .indefinite }
}
