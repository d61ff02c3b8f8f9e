import MediaCore

/// One playing of an item, or of a part of it: what lies between two seams.
struct Pass: Sendable, Hashable {
  var itemID: PlayerItem.ID
  /// Where it begins.
  var start = MediaTime.zero
  /// Where it ends, exclusive; nil: where the item's sound ends.
  var end: MediaTime?
  /// The item's time goes on behind its end, without sound and without an end.
  var isSilence = false

  /// Whether both begin with the same sample.
  func begins(like other: Pass) -> Bool {
    itemID == other.itemID && start == other.start && isSilence == other.isSilence
  }

  /// Whether this one ends before `other`, which begins where it does.
  func ends(before other: Pass) -> Bool {
    guard let end else { return false }
    return other.end.map { end < $0 } ?? true
  }
}

/// Names a pass: the `index`th, from 0, of a generation.
struct PassID: Sendable, Hashable {
  var generation: UInt64
  var index: Int
}
