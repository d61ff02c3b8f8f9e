import PlayheadMediaCore

/// The fields of ``SeekReply``.
extension FieldKey<Bool> {
  static var finished: Self {
    Self("finished", "whether the seek was carried out")
  }
  static var exact: Self {
    Self("exact", "whether `time` is the start of the requested sample")
  }
  static var clamped: Self {
    Self("clamped", "whether the requested time was outside the item and was moved to its nearer end")
  }
}

extension FieldKey<MediaTime> {
  static var requested: Self {
    Self(time: "requested", "the requested position, from the start of the item; it may be outside the item")
  }
  static var before: Self {
    Self(time: "before", "how much earlier than requested the reached position may be, 0 or more; `inf` is unlimited")
  }
  static var after: Self {
    Self(time: "after", "how much later than requested the reached position may be, 0 or more; `inf` is unlimited")
  }
}

extension FieldKey<Int64> {
  static var us: Self {
    Self("us", "the duration of the seek in microseconds")
  }
}

extension FieldKey<HostTime> {
  static var hostTime: Self {
    Self(
      "hostTime",
      "the instant at which the position is heard, in seconds of CLOCK_MONOTONIC; `none` while the time does not"
        + " advance")
  }
}

extension FieldKey<String> {
  static var seekReason: Self {
    Self(
      "reason",
      words: [
        "superseded", "itemChanged", "itemEnded", "itemFailed", "cancelled", "outputLost", "closed", "tolerance",
        "estimated", "irregularTimestamps", "coarseTimestamps", "decoderState", "damage",
      ], "why the seek was not carried out, or why its position is not exact")
  }
}
