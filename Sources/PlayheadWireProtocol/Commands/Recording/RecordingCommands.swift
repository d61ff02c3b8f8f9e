import PlayheadMediaCore

/// Commands for recording. The daemon assigns the numbers of recorders and never reuses them.
package typealias RecordingCommands = CommandList<
  RecordPrepareCommand, RecordStartCommand, RecordPauseCommand, RecordStopCommand, RecordDeleteCommand,
  RecordStatusCommand, RecordListCommand, RecordWatchCommand, RecordUnwatchCommand
>

/// The parameters of the commands that only select a recorder.
package struct RecorderParameters: ParameterList {
  /// Nil: the newest recorder.
  package let recorder: Parameter<Int?>

  package init(_ list: inout ParameterListBuilder) { recorder = list.recorder() }
}

extension ParameterListBuilder {
  /// Adds the optional positional number of a recorder. Default: the newest.
  fileprivate mutating func recorder() -> Parameter<Int?> {
    optional(.recorder, .integer(1...Int.max), "RECORDER", "the number of the recorder; default: the newest")
  }
}

/// `record.start`: starts or resumes a recording.
package enum RecordStartCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: the newest recorder.
    package let recorder: Parameter<Int?>
    /// Never a frame. Nil: now.
    package let at: Parameter<RequestedMoment?>
    /// Positive. Nil: until `record.stop`.
    package let duration: Parameter<MediaTime?>

    package init(_ list: inout ParameterListBuilder) {
      recorder = list.recorder()
      at = list.option(.at, .startTime, "now|+TIME|TIME", "the start; default: now")
      duration = list.option(
        .duration, .positiveDuration, "DURATION", "the duration of the recording; default: until `record.stop`")
    }
  }

  package static let name: CommandName = "record.start"

  package static let definition = CommandDefinition<Self>(
    .recording, "Record, or resume a paused recording in the same file.",
    details:
      "Starts now, after a delay (`at=+0.5`), or at a CLOCK_MONOTONIC time (`at=1234.5`). This also applies with"
      + " the virtual clock. The start is sample-accurate if the source reports capture times. With `duration` the"
      + " recording stops after exactly that time. A stopped recorder cannot start again. The category of the"
      + " session must allow recording. An interruption of the session pauses the recording. It resumes when the"
      + " interruption ends with `shouldResume=true`, unless it was changed meanwhile.",
    errors: [.noSuchRecorder, .invalidState, .invalidTime, .sessionForbidsRecording, .sessionInterrupted],
    example: ["> record.start duration=20", "< ok"])
}

/// `record.pause`: pauses a recording.
package enum RecordPauseCommand: ImmediateCommand {
  package typealias Parameters = RecorderParameters

  package static let name: CommandName = "record.pause"

  package static let definition = CommandDefinition<Self>(
    .recording, "Pause a recording; `record.start` resumes it.", errors: [.noSuchRecorder, .invalidState],
    example: ["> record.pause", "< ok"])
}

/// `record.stop`: stops a recording and completes its file.
package enum RecordStopCommand: WaitingCommand {
  package typealias Parameters = RecorderParameters

  package struct Reply: ReplyFields {
    package var recorder: Int
    /// Nil if nothing was recorded.
    package var file: FilePath?
    /// Nil if it is unknown.
    package var duration: MediaTime?
    /// In bytes.
    package var size: Int64
    /// In frames.
    package var lost: Int64
    /// In frames.
    package var skipped: Int64
    /// Why the recording ended early. Nil: the request ended it.
    package var error: MediaError?

    package init(
      recorder: Int, file: FilePath?, duration: MediaTime?, size: Int64, lost: Int64, skipped: Int64,
      error: MediaError?
    ) {
      (self.recorder, self.file, self.duration, self.size) = (recorder, file, duration, size)
      (self.lost, self.skipped, self.error) = (lost, skipped, error)
    }

    package static let fields: [Field<Self>] = [
      Field(.recorder) { $0.recorder }, Field(optional: .writtenFile) { $0.file },
      Field(optional: .duration) { $0.duration }, Field(.size) { $0.size }, Field(.lost) { $0.lost },
      Field(.skippedFrames) { $0.skipped }, Field(optional: .fault) { $0.error?.code.name },
      Field(optional: .message) { $0.error?.message },
    ]
  }

  package static let name: CommandName = "record.stop"

  package static let definition = CommandDefinition<Self>(
    .recording, "Stop a recording, and reply when the file is complete.",
    details: """
      - `lost` is the number of frames that the source lost because the machine or the disk was too slow. Silence \
      replaces them.
      - `skipped` is the number of frames that were left out: before `start-level`, and of silences.
      - `fault` and `message` state why the recording ended before, for example because the source disappeared or \
      the disk is full. `file` is complete nevertheless.
      - `file` is absent if nothing was recorded.
      """,
    errors: [.noSuchRecorder, .invalidState, .cancelled],
    example: [
      "> @7 record.stop", "< @7 ok recorder=1 file=/memos/idea.flac duration=12.25 size=412339 lost=0 skipped=0",
    ])
}

/// `record.delete`: deletes the file of a stopped recording.
package enum RecordDeleteCommand: WaitingCommand {
  package typealias Parameters = RecorderParameters

  package struct Reply: ReplyFields {
    package var recorder: Int
    package var file: FilePath

    package init(recorder: Int, file: FilePath) { (self.recorder, self.file) = (recorder, file) }

    package static let fields: [Field<Self>] = [
      Field(.recorder) { $0.recorder }, Field(.writtenFile) { $0.file },
    ]
  }

  package static let name: CommandName = "record.delete"

  package static let definition = CommandDefinition<Self>(
    .recording, "Delete the file of a stopped recording, and its recorder.",
    details: "A file that the client has opened (`fd:TOKEN`) is deleted by the client: `invalid-state`.",
    errors: [.noSuchRecorder, .invalidState, .fileNotFound, .outsideRoots, .writeFailed, .notAllowed],
    example: ["> record.delete", "< ok recorder=1 file=/memos/idea.flac"])

  package static func writesFile(_ arguments: Arguments<Self>) -> Bool { true }
}

/// The state of a recorder.
package struct RecorderFields: ReplyFields {
  package var recorder: Int
  package var state: String
  package var file: FilePath
  package var time: MediaTime
  /// Nil before it is open.
  package var source: String?
  /// Nil if it is not known yet.
  package var format: String?
  /// 0 if it is not known yet.
  package var sampleRateHz: Int
  /// 0 if it is not known yet.
  package var channelCount: Int
  /// In frames.
  package var lost: Int64
  /// In frames.
  package var skipped: Int64
  package var isWaitingForLevel: Bool
  /// Why the recording ended.
  package var error: MediaError?

  package init(
    recorder: Int, state: String, file: FilePath, time: MediaTime, source: String?, format: String?,
    sampleRateHz: Int, channelCount: Int, lost: Int64, skipped: Int64, isWaitingForLevel: Bool, error: MediaError?
  ) {
    (self.recorder, self.state, self.file, self.time) = (recorder, state, file, time)
    (self.source, self.format) = (source, format)
    (self.sampleRateHz, self.channelCount) = (sampleRateHz, channelCount)
    (self.lost, self.skipped, self.isWaitingForLevel, self.error) = (lost, skipped, isWaitingForLevel, error)
  }

  package static let fields: [Field<Self>] = [
    Field(.recorder) { $0.recorder }, Field(.recorderState) { $0.state }, Field(.writtenFile) { $0.file },
    Field(.recordedTime) { $0.time }, Field(.pts) { $0.time }, Field(nullable: .recordedSource) { $0.source },
    Field(nullable: .formatOfRecording) { $0.format }, Field(.sampleRate) { $0.sampleRateHz },
    Field(.channels) { $0.channelCount }, Field(.lost) { $0.lost }, Field(.skippedFrames) { $0.skipped },
    Field(.waitingForLevel) { $0.isWaitingForLevel }, Field(optional: .fault) { $0.error?.code.name },
    Field(optional: .message) { $0.error?.message },
  ]
}

/// `record.status`: shows the state of a recorder.
package enum RecordStatusCommand: ImmediateCommand {
  package typealias Parameters = RecorderParameters
  package typealias Reply = RecorderFields

  package static let name: CommandName = "record.status"

  package static let definition = CommandDefinition<Self>(
    .recording, "Show the state of a recorder.",
    details: """
      `time` is the duration recorded so far, and 0 when stopped. `state` is one of these:

      - `preparing`: the source and the file are being opened
      - `prepared`: `record.start` is immediate
      - `recording`: the source is recorded
      - `paused`: `record.start` resumes the recording
      - `stopping`: the file is being completed
      - `stopped`: the file is complete
      """,
    right: .read, errors: [.noSuchRecorder],
    example: [
      "> record.status",
      "< ok recorder=1 state=recording file=/memos/idea.flac time=3.25 pts=156000/48000 source=pulse:microphone format=flac sampleRate=48000 channels=1 lost=0 skipped=0 waitingForLevel=false",
    ])
}

/// `record.list`: lists the recorders.
package enum RecordListCommand: ImmediateCommand {
  package struct Reply: ReplyRows {
    package var rows: [RecorderFields]

    package init(rows: [RecorderFields]) { self.rows = rows }

    package static let fields: [Field<Self>] = [Field(.count) { $0.rows.count }]
  }

  package static let name: CommandName = "record.list"

  package static let definition = CommandDefinition<Self>(
    .recording, "List the recorders by their numbers.", right: .read,
    example: ["> record.list", "< ok count=0"])
}

/// `record.watch`: subscribes to the events of a recorder.
package enum RecordWatchCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: the newest recorder.
    package let recorder: Parameter<Int?>
    /// The number of meter events per second. Nil: no meter events.
    package let rate: Parameter<Double?>

    package init(_ list: inout ParameterListBuilder) {
      recorder = list.recorder()
      rate = list.option(
        .rate, .number(1...100), "RATE", "the number of `record-meter` events per second; default: none")
    }
  }

  package struct Reply: ReplyFields {
    /// The id of the subscription.
    package var id: Int

    package init(id: Int) { self.id = id }

    package static let fields: [Field<Self>] = [Field(.id) { $0.id }]
  }

  package static let name: CommandName = "record.watch"

  package static let definition = CommandDefinition<Self>(
    .recording, "Subscribe to the changes and levels of a recorder.",
    details:
      "`recording` events report the current state, each change of the state, and lost frames. With `rate`,"
      + " `record-meter` events report levels during the recording. The subscription ends with the recorder.",
    right: .read, errors: [.noSuchRecorder, .tooManySubscriptions],
    example: [
      "> record.watch rate=20", "< ok id=1",
      "< * recording id=1 recorder=1 state=recording time=0 pts=0/48000 lost=0",
      "< * record-meter id=1 recorder=1 time=0.05 pts=2400/48000 average=-31.2 peak=-20.5 averageScale=0.1642 peakScale=0.3041",
    ])
}

/// `record.unwatch`: ends a subscription to the events of a recorder.
package enum RecordUnwatchCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let id: Parameter<Int>

    package init(_ list: inout ParameterListBuilder) {
      id = list.required(.id, .integer(1...Int.max), "ID", "the id that `record.watch` returned")
    }
  }

  package static let name: CommandName = "record.unwatch"

  package static let definition = CommandDefinition<Self>(
    .recording, "End a `record.watch`.", right: .read, errors: [.noSuchObserver],
    example: ["> record.unwatch 1", "< ok"])
}
