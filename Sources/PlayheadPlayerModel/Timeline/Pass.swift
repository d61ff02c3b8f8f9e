import PlayheadMediaCore

/// One traversal of an item or of a range of it, between two transitions.
package struct Pass: Sendable, Hashable {
  package var itemID: PlayerItemID
  /// The start time. In reverse it is the later time, and positive infinity means the end of the item's audio.
  package var start = MediaTime.zero
  /// The end time, exclusive; nil: the end of the item's audio, or in reverse its beginning.
  package var end: MediaTime?
  /// Whether this is the silence after the item's end, in which the item's time continues indefinitely.
  package var isSilence = false
  /// The cross-fade from the previous pass; nil: this pass begins after its end.
  package var crossfade: Crossfade?

  package init(
    itemID: PlayerItemID, start: MediaTime = MediaTime.zero, end: MediaTime? = nil, isSilence: Bool = false,
    crossfade: Crossfade? = nil
  ) {
    self.itemID = itemID
    self.start = start
    self.end = end
    self.isSilence = isSilence
    self.crossfade = crossfade
  }

  /// Whether both start with the same sample.
  package func hasSameStart(as other: Pass) -> Bool {
    itemID == other.itemID && start == other.start && isSilence == other.isSilence && crossfade == other.crossfade
  }

  /// Whether this is the rest of `other` after a split: it continues at the end of `other`, in either direction.
  package func continues(_ other: Pass) -> Bool {
    itemID == other.itemID && !isSilence && start == other.end && other.start != other.end
  }

  /// Whether this pass ends before `other`, which has the same start and the rate `rate`.
  package func ends(before other: Pass, at rate: PlaybackRate) -> Bool {
    guard let end else { return false }
    return other.end.map { !rate.reaches($0, by: end) } ?? true
  }
}

extension PlaybackRate {
  /// The origin of mirrored times in seconds. An integer keeps the frame grid of every sample rate. The value, 194
  /// days, is longer than any item, so no mirrored time is negative.
  package static let mirrorSeconds: Int64 = 1 << 24

  /// Converts an item's time to one that increases during playback at this rate: in reverse the time is mirrored. The
  /// conversion is its own inverse.
  package func mirroredInReverse(_ time: MediaTime) -> MediaTime {
    isReverse ? MediaTime(value: Self.mirrorSeconds, timescale: 1) - time : time
  }

  /// The beginning of an item in the direction of this rate.
  package var itemStart: MediaTime { isReverse ? .positiveInfinity : .zero }
}

/// Identifies a pass: its generation, and its index in that, from 0.
package struct PassID: Sendable, Hashable {
  package var generation: UInt64
  package var index: Int

  package init(generation: UInt64, index: Int) {
    self.generation = generation
    self.index = index
  }
}
