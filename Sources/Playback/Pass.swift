import MediaCore

/// One playing of an item, or of a part of it: what lies between two seams.
struct Pass: Sendable, Hashable {
  var itemID: PlayerItem.ID
  /// Where it begins; backwards that is the later time, and positive infinity the end of the item's sound.
  var start = MediaTime.zero
  /// Where it ends, exclusive; nil: where the item's sound ends, or backwards where it begins.
  var end: MediaTime?
  /// The item's time goes on behind its end, without sound and without an end.
  var isSilence = false

  /// Whether both begin with the same sample.
  func begins(like other: Pass) -> Bool {
    itemID == other.itemID && start == other.start && isSilence == other.isSilence
  }

  /// Whether this one is what was left of `other` when that was split: it goes on where `other` ends, either way.
  func continues(_ other: Pass) -> Bool {
    itemID == other.itemID && !isSilence && start == other.end && other.start != other.end
  }

  /// Whether this one ends before `other`, which begins where it does and is played at `rate`.
  func ends(before other: Pass, at rate: PlaybackRate) -> Bool {
    guard let end else { return false }
    return other.end.map { !rate.reaches($0, by: end) } ?? true
  }
}

extension PlaybackRate {
  /// What mirrored times are counted from: whole seconds, so that frames of every rate lie as they do at 0, and longer than
  /// any item, 194 days, so that no time is below 0.
  static let mirrorSeconds: Int64 = 1 << 24

  /// An item's time as one that grows while it is played at this rate: mirrored when that is backwards. And back again.
  func growing(_ time: MediaTime) -> MediaTime {
    isReverse ? MediaTime(value: Self.mirrorSeconds, timescale: 1) - time : time
  }

  /// Where an item begins for who plays it at this rate.
  var itemStart: MediaTime { isReverse ? .positiveInfinity : .zero }
}

/// Names a pass: the `index`th, from 0, of a generation.
struct PassID: Sendable, Hashable {
  var generation: UInt64
  var index: Int
}
