import PlayheadMediaCore

/// `recording`: a recorder changed its state or lost frames.
package struct RecordingEvent: Event {
  package var subscription: Int
  package var recorder: Int
  package var state: String
  /// The recorded duration. 0 when stopped.
  package var time: MediaTime
  /// The number of frames of the source that have been lost so far.
  package var lostFrameCount: Int64
  /// The error that ended the recording.
  package var error: MediaError?

  package init(
    subscription: Int, recorder: Int, state: String, time: MediaTime, lostFrameCount: Int64, error: MediaError? = nil
  ) {
    (self.subscription, self.recorder, self.state) = (subscription, recorder, state)
    (self.time, self.lostFrameCount, self.error) = (time, lostFrameCount, error)
  }

  package static let definition = EventDefinition(
    .recording,
    "`record.watch`: the state of a recorder changed, or frames of its source were lost (`lost`). An error means that"
      + " the recording ended by itself.")

  package static let fields: [Field<Self>] =
    [
      Field(.id) { $0.subscription }, Field(.recorder) { $0.recorder }, Field(.recorderState) { $0.state },
      Field(.recordedTime) { $0.time }, Field(.pts) { $0.time }, Field(.lost) { $0.lostFrameCount },
    ] + MediaError.fields.map { $0.within(ifPresent: \.error) }
}

/// `record-meter`: the levels of a recording, for each channel of the source.
package struct RecordMeterEvent: Event {
  package var subscription: Int
  package var recorder: Int
  /// The end of the measured range.
  package var time: MediaTime
  package var levels: LevelValues

  package init(subscription: Int, recorder: Int, time: MediaTime, levels: LevelValues) {
    (self.subscription, self.recorder) = (subscription, recorder)
    (self.time, self.levels) = (time, levels)
  }

  package static let definition = EventDefinition(
    .recordMeter,
    "`record.watch`: the level of the recording up to `time`, a value for each channel of the source, as in `meter`.")

  package static let fields: [Field<Self>] =
    [
      Field(.id) { $0.subscription }, Field(.recorder) { $0.recorder }, Field(.recordedTime) { $0.time },
      Field(.pts) { $0.time },
    ] + LevelValues.fields.map { $0.within(\.levels) }
}
