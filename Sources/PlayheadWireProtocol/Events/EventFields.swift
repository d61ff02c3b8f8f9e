import PlayheadMediaCore

/// The fields that only events have.
extension FieldKey<Int64> {
  static var late: Self {
    Self(FieldSpec("late", .time, "the delay between the time heard and the event, in seconds; 0 if nothing was due")) {
      .seconds(nanoseconds: $0)
    }
  }
  static var startupNanoseconds: Self { Self(FieldSpec(FieldKey<MediaTime>.startup)) { .seconds(nanoseconds: $0) } }
  static var trimmedEnd: Self {
    Self("trimmedEnd", "the number of frames trimmed from the end of `from`, at its sample rate")
  }
  static var trimmedStart: Self {
    Self("trimmedStart", "the number of frames trimmed from the start of `to`, at its sample rate")
  }
  static var overlap: Self {
    Self("overlap", "the number of output frames in which both items are heard in a cross-fade")
  }
  static var inserted: Self {
    Self("inserted", "the number of silent output frames between the items; 0 unless the second one was late")
  }
}

extension FieldKey<Int> {
  static var countOfPackets: Self { Self("count", "the number of packets that did not decode") }
  static var merged: Self { Self("merged", "the number of changes that later events of the same keys include") }
}

extension FieldKey<UInt64> {
  static var fromItem: Self { Self("from", "the id of the entry that ended or repeats") }
  static var toItem: Self { Self("to", "the id of the entry that begins") }
  static var since: Self { Self("since", "the event number before the first lost one, for `since` of `events`") }
}

extension FieldKey<Double> {
  static var tickRate: Self {
    Self("rate", "the rate at which the time heard advances; 0 while it does not advance")
  }
  static var done: Self {
    Self("done", "the completed part of the work, from 0 to 1; `none` if the length is unknown")
  }
}

extension FieldKey<[Double]> {
  static var average: Self {
    Self("average", "the average power of each channel since the last event, in dBFS; -160 is silence")
  }
  static var averageScale: Self {
    Self("averageScale", "the average power of each channel on a meter, from 0 (-60 dBFS) to 1 (0 dBFS)")
  }
  static var peaks: Self {
    Self("peak", "the largest sample of each channel since the last event, in dBFS; -160 is silence")
  }
  static var peakScale: Self {
    Self("peakScale", "`peak` on a meter's scale for each channel, from 0 (-60 dBFS or less) to 1 (full scale)")
  }
}

extension FieldKey<Bool> {
  static var initial: Self {
    Self("initial", "`true` for the value at the start of the observation; otherwise absent")
  }
  static var shouldResume: Self { Self("shouldResume", "whether playback resumes") }
}

extension FieldKey<TickEvent.Reason> {
  static var tickReason: Self {
    Self("reason", "why the tick was sent: the interval, a jump of the time, or audio that started or stopped")
  }
}

extension FieldKey<RemovedEvent.Cause> {
  static var causeOfRemoval: Self {
    Self("cause", "why the subscription ended: the item of its `at` left the queue, or its player was closed")
  }
}

extension FieldKey<FieldValue> {
  static var new: Self {
    Self(FieldSpec("new", .value, "the current value of the key; `none` if it has none")) { $0 }
  }
  static var old: Self {
    Self(FieldSpec("old", .value, "the value of the key before the change; `none` if it had none")) { $0 }
  }
}

extension FieldKey<[QueueChange]> {
  static var changes: Self {
    Self(
      "changes", "the edits of the queue in order, such as `insert:12:3`; `none` for too many edits or a new order")
  }
}

extension FieldKey<String> {
  static var kindOfBoundary: Self {
    Self("kind", words: ["crossed", "skipped"], "whether playback reached the time, or a seek passed it")
  }
  static var direction: Self {
    Self("direction", words: ["forward", "backward"], "the direction of the seek over the time")
  }
  static var causeOfChange: Self {
    Self(
      "cause",
      words: [
        "request", "itemEnded", "looped", "itemFailed", "itemLoaded", "buffered", "stalled", "output", "interruption",
        "rangeEnded", "fadeEnded", "session", "closed", "initial",
      ], "the cause of the change; `initial` for the current value at the start of the observation")
  }
  static var causeOfJump: Self {
    Self(
      "cause", words: ["seek", "step", "stop", "endAction", "repeat", "restart"], "the cause of the time jump")
  }
  static var operation: Self { Self("operation", "the command or call that failed") }
  static var underlying: Self {
    Self("underlying", "the error text of a lower layer, such as `No such file or directory (errno 2)`")
  }
  static var url: Self { Self("url", "the URL that the station announces with the title") }
  static var trimmedEndBy: Self {
    Self(
      "trimmedEndBy", words: sourcesOfTrims, "the part of the file that specified `trimmedEnd`; `none` if nothing did")
  }
  static var trimmedStartBy: Self {
    Self(
      "trimmedStartBy", words: sourcesOfTrims,
      "the part of the file that specified `trimmedStart`; `none` if nothing did")
  }
  private static var sourcesOfTrims: [String] {
    [
      "lame-tag", "iTunSMPB", "edit-list", "opus-pre-skip", "granule-position", "codec-delay", "discard-padding",
      "track-duration",
    ]
  }
  static var phase: Self {
    Self("phase", words: ["began", "ended"], "whether the interruption or the lowered volume began or ended")
  }
  static var by: Self {
    Self(
      "by", words: ["server", "request", "timeOut", "outputLost"],
      "the end of the interruption: by the sound server, a command, `timeout` of `session.policy`, or the loss of the"
        + " output")
  }
  static var routeReason: Self {
    Self(
      "reason",
      words: [
        "unknown", "newDeviceAvailable", "oldDeviceUnavailable", "categoryChange", "override", "noSuitableRoute",
        "routeConfigurationChange",
      ], "the reason of the change (`route-changed`)")
  }
  static var currentDevice: Self { Self("current", "the output device in use and, after a `/`, its port") }
  static var previousDevice: Self {
    Self("previous", "the former output, as `DEVICE/PORT`, or `DEVICE` without ports; `none` if there was none")
  }
  static var input: Self {
    Self("input", "the default input of the sound server, as `DEVICE/PORT`; `none` if there is none")
  }
}

extension FieldSpec {
  static let seq = FieldSpec("seq", .integer, "the number of the event in the event log")
  static let value = FieldSpec("value", .value, "the value of the key or tag")

  /// The name of an event in the log.
  static var event: FieldSpec {
    let names = EventTable.all.filter(\.isNumbered).map(\.name.rawValue)
    return FieldSpec("event", .word(names), "the name of the event")
  }
}

extension MediaError {
  /// The fields of an error, as of an error reply in the text form.
  static let fields: [Field<MediaError>] = [
    Field(.code) { $0.code.rawValue }, Field(.name) { $0.code.name }, Field(.message) { $0.message },
    Field(optional: .operation) { $0.operation }, Field(optional: .underlying) { $0.underlying },
  ]
}
