import PlayheadMediaCore

/// `silence`: a player has been silent for a duration, or is heard again.
package struct SilenceEvent: NumberedEvent {
  package var subscription = 0
  package let player: String
  package let isBeginning: Bool
  /// The output frame at which the silence began or ended. Nil if no device ran.
  package let frame: Int64?
  package let hostTime: HostTime
  package let durationNanoseconds: Int64

  package init(player: String, isBeginning: Bool, frame: Int64?, hostTime: HostTime, durationNanoseconds: Int64) {
    (self.player, self.isBeginning, self.frame) = (player, isBeginning, frame)
    (self.hostTime, self.durationNanoseconds) = (hostTime, durationNanoseconds)
  }

  package static let definition = EventDefinition(
    .silence, key: .playerEvents,
    """
    the level of the player stayed below the threshold of `silence` for its duration (`phase=began`), or audio is \
    heard again (`phase=ended`, within 0.2 s). `frame` and `hostTime` are those at which the silence began or ended, \
    exact to 10 ms. `duration` is the time since the silence began.
    """)

  package static let fields: [Field<Self>] = [
    Field(.id) { $0.subscription }, Field(.player) { $0.player },
    Field(.phase) { $0.isBeginning ? "began" : "ended" }, Field(nullable: .frameOfSilence) { $0.frame },
    Field(.hostTimeOfSilence) { $0.hostTime }, Field(.durationOfSilence) { $0.durationNanoseconds },
  ]
}

extension FieldKey<Int64> {
  fileprivate static var frameOfSilence: Self {
    Self("frame", "the output frame at which the silence began or ended; `none` if no device ran")
  }
  fileprivate static var durationOfSilence: Self {
    Self(FieldSpec("duration", .time, "the time since the silence began, in seconds")) { .seconds(nanoseconds: $0) }
  }
}

extension FieldKey<HostTime> {
  fileprivate static var hostTimeOfSilence: Self {
    Self("hostTime", "the instant at which the silence began or ended, in seconds of CLOCK_MONOTONIC")
  }
}
