import MediaCore

extension CommandTable {
  private static let recorder = ParameterSpec(
    .recorder, .integer(1...Int.max), .optional, "RECORDER", "the number of the recorder; default: the newest")

  private static let statusFields: [FieldSpec] = [
    .recorder, .recorderState, .writtenFile, .recordedTime, .pts, .recordedSource.nullable, .format.nullable,
    .sampleRate, .channels, .lost, .skippedFrames, .waitingForLevel, .fault.optional, .message.optional,
  ]

  private static let settings: [ParameterSpec] = [
    ParameterSpec(.file, .outputPath, .required, "PATH", "the file to write"),
    ParameterSpec(
      .source, .text(maximumByteCount: 255), .option, "NAME",
      "the source, as `pactl list short sources` lists it, or `@DEFAULT_MONITOR@` for the audio being played;"
        + " default: the default source of the sound server"
    ),
    ParameterSpec(
      .container, .word(RecordCommand.Recording.Container.allCases.map(\.rawValue)), .option, "CONTAINER",
      "the container; required with fd:TOKEN; default: from the file name extension"),
    ParameterSpec(
      .format, .word(RecordCommand.Recording.Format.allCases.map(\.rawValue)), .option, "FORMAT",
      "the codec; default: from the container or the file name extension"),
    ParameterSpec(.replace, .flag, .option, "replace", "replace an existing file"),
    ParameterSpec(.sampleRate, .integer(1...768_000), .option, "HZ", "the sample rate; default: that of the source"),
    ParameterSpec(.channels, .integer(1...64), .option, "N", "the number of channels; default: that of the source"),
    ParameterSpec(.bits, .word(["8", "16", "24", "32", "64"]), .option, "BITS", "the bits per sample; default: 16"),
    ParameterSpec(.float, .flag, .option, "float", "write floating-point samples"),
    ParameterSpec(.bigEndian, .flag, .option, "big-endian", "write the most significant byte first"),
    ParameterSpec(
      .quality, .word(RecordCommand.Recording.Quality.allCases.map(\.rawValue)), .option, "QUALITY",
      "the quality of aac and opus, from `min` to `max`; other formats ignore it"),
    ParameterSpec(
      .bitRate, .integer(1_000...2_000_000), .option, "BPS",
      "the bit rate of aac and opus, in bits per second; other formats ignore it"),
    ParameterSpec(
      .startLevel, .number(-160...0, exceptZero: false), .option, "DB",
      "start the recording 0.25 s before the audio reaches this level, in dBFS"),
    ParameterSpec(
      .silenceLevel, .number(-160...0, exceptZero: false), .option, "DB",
      "audio below this level in dBFS counts as silence; long silences are shortened"),
    ParameterSpec(
      .longestSilence, .duration(positive: true), .option, "TIME",
      "the length to which a longer silence is shortened; default: 1 s"),
  ]

  /// Commands for recording.
  static let recording: [CommandSpec] = [
    CommandSpec(
      .recordPrepare, .recording, "Open a source and a file, so that `record.start` is immediate.",
      details: """
        Nothing is captured yet. Invalid settings are reported before anything is opened or written.

        - The formats are pcm (wav, caf), flac, alac and aac (m4a), opus (ogg, opus), ima4 (caf), and ulaw and alaw \
        (wav, caf). ilbc and amr have no encoder.
        - `bits` is 8, 16, 24 or 32 for pcm, 32 or 64 with `float`, and 16 or 24 for flac and alac.
        - Until the recording is complete, the file is named PATH.recording. If a crash has left a file of that name, \
        it is repaired first (see *Recordings that were not ended*).
        - The daemon writes only below the folders of `--write-root`. The client needs the right `write`. Neither applies \
        to a file that the client has opened (`fd:TOKEN`, *Open files*). That file is written in place, and the client \
        gives it its name.
        - There are at most 16 recorders. A new recorder replaces the oldest stopped one.
        """,
      parameters: settings, waiting: .always,
      reply: [.recorder, .writtenFile, .recordedSource, .format, .sampleRate, .channels],
      errors: [
        .sourceUnavailable, .sourceConfiguration, .invalidArgument, .unsupportedAudioFormat, .fileExists, .outsideRoots,
        .noSuchDescriptor, .writeFailed, .notAllowed, .tooManyRecorders, .sessionForbidsRecording, .sessionInterrupted,
      ],
      example: [
        "> record.prepare /memos/idea.flac sample-rate=48000",
        "< ok recorder=1 file=/memos/idea.flac source=pulse:microphone format=flac sampleRate=48000 channels=1",
      ]
    ) { arguments throws(MediaError) in .record(.prepare(try arguments.recording())) },
    CommandSpec(
      .recordStart, .recording, "Record, or resume a paused recording in the same file.",
      details:
        "Starts now, after a delay (`at=+0.5`), or at a CLOCK_MONOTONIC time (`at=1234.5`). This also applies with"
        + " the virtual clock. The start is sample-accurate if the source reports capture times. With `duration` the"
        + " recording stops after exactly that time. A stopped recorder cannot start again. The category of the"
        + " session must allow recording. An interruption of the session pauses the recording. It resumes when the"
        + " interruption ends with `shouldResume=true`, unless it was changed meanwhile.",
      parameters: [
        recorder,
        ParameterSpec(.at, .startTime, .option, "now|+TIME|TIME", "the start; default: now"),
        ParameterSpec(
          .duration, .duration(positive: true), .option, "DURATION",
          "the duration of the recording; default: until `record.stop`"),
      ],
      errors: [.noSuchRecorder, .invalidState, .invalidTime, .sessionForbidsRecording, .sessionInterrupted],
      example: ["> record.start duration=20", "< ok"]
    ) { arguments throws(MediaError) in
      .record(.start(arguments.integer(.recorder), try arguments.recordingStart(), duration: arguments.time(.duration)))
    },
    CommandSpec(
      .recordPause, .recording, "Pause a recording; `record.start` resumes it.",
      parameters: [recorder], errors: [.noSuchRecorder, .invalidState], example: ["> record.pause", "< ok"]
    ) { arguments throws(MediaError) in .record(.pause(arguments.integer(.recorder))) },
    CommandSpec(
      .recordStop, .recording, "Stop a recording, and reply when the file is complete.",
      details: """
        - `lost` is the number of frames that the source lost because the machine or the disk was too slow. Silence \
        replaces them.
        - `skipped` is the number of frames that were left out: before `start-level`, and of silences.
        - `fault` and `message` state why the recording ended before, for example because the source disappeared or \
        the disk is full. `file` is complete nevertheless.
        - `file` is absent if nothing was recorded.
        """,
      parameters: [recorder], waiting: .always,
      reply: [
        .recorder, .writtenFile.optional, .duration.optional, .size, .lost, .skippedFrames, .fault.optional,
        .message.optional,
      ],
      errors: [.noSuchRecorder, .invalidState, .cancelled],
      example: [
        "> @7 record.stop", "< @7 ok recorder=1 file=/memos/idea.flac duration=12.25 size=412339 lost=0 skipped=0",
      ]
    ) { arguments throws(MediaError) in .record(.stop(arguments.integer(.recorder))) },
    CommandSpec(
      .recordDelete, .recording, "Delete the file of a stopped recording, and its recorder.",
      details: "A file that the client has opened (`fd:TOKEN`) is deleted by the client: `invalid-state`.",
      parameters: [recorder], waiting: .always, reply: [.recorder, .writtenFile],
      errors: [.noSuchRecorder, .invalidState, .fileNotFound, .outsideRoots, .writeFailed, .notAllowed],
      example: ["> record.delete", "< ok recorder=1 file=/memos/idea.flac"]
    ) { arguments throws(MediaError) in .record(.delete(arguments.integer(.recorder))) },
    CommandSpec(
      .recordStatus, .recording, "Show the state of a recorder.",
      details: """
        `time` is the duration recorded so far, and 0 when stopped. `state` is one of these:

        - `preparing`: the source and the file are being opened
        - `prepared`: `record.start` is immediate
        - `recording`: the source is recorded
        - `paused`: `record.start` resumes the recording
        - `stopping`: the file is being completed
        - `stopped`: the file is complete
        """,
      parameters: [recorder], right: .read, reply: statusFields, errors: [.noSuchRecorder],
      example: [
        "> record.status",
        "< ok recorder=1 state=recording file=/memos/idea.flac time=3.25 pts=156000/48000 source=pulse:microphone format=flac sampleRate=48000 channels=1 lost=0 skipped=0 waitingForLevel=false",
      ]
    ) { arguments throws(MediaError) in .record(.status(arguments.integer(.recorder))) },
    CommandSpec(
      .recordList, .recording, "List the recorders by their numbers.", right: .read,
      reply: [.count], rows: statusFields, example: ["> record.list", "< ok count=0"]
    ) { _ throws(MediaError) in .record(.list) },
    CommandSpec(
      .recordWatch, .recording, "Subscribe to the changes and levels of a recorder.",
      details:
        "`recording` events report the current state, each change of the state, and lost frames. With `rate`,"
        + " `record-meter` events report levels during the recording. The subscription ends with the recorder.",
      parameters: [
        recorder,
        ParameterSpec(
          .rate, .number(1...100, exceptZero: false), .option, "RATE",
          "the number of `record-meter` events per second; default: none"),
      ], right: .read, reply: [.id], errors: [.noSuchRecorder, .tooManySubscriptions],
      example: [
        "> record.watch rate=20", "< ok id=1",
        "< * recording id=1 recorder=1 state=recording time=0 pts=0/48000 lost=0",
        "< * record-meter id=1 recorder=1 time=0.05 pts=2400/48000 average=-31.2 peak=-20.5 averageScale=0.1642 peakScale=0.3041",
      ]
    ) { arguments throws(MediaError) in
      .record(.watch(arguments.integer(.recorder), rate: arguments.number(.rate)))
    },
    CommandSpec(
      .recordUnwatch, .recording, "End a `record.watch`.",
      parameters: [ParameterSpec(.id, .integer(1...Int.max), .required, "ID", "the id that `record.watch` returned")],
      right: .read, errors: [.noSuchObserver], example: ["> record.unwatch 1", "< ok"]
    ) { arguments throws(MediaError) in
      .record(.unwatch(try arguments.required(.id, arguments.integer(.id))))
    },
  ]
}

extension ParsedArguments {
  fileprivate func recording() throws(MediaError) -> RecordCommand.Recording {
    var recording = RecordCommand.Recording(try required(.file, outputFile()))
    recording.source = text(.source)
    recording.format = text(.format).flatMap(RecordCommand.Recording.Format.init(rawValue:))
    recording.container = text(.container).flatMap(RecordCommand.Recording.Container.init(rawValue:))
    guard recording.file.isFile || recording.container != nil else { throw failure("file=fd:TOKEN needs container") }
    recording.replaces = flag(.replace)
    (recording.sampleRateHz, recording.channelCount) = (integer(.sampleRate), integer(.channels))
    recording.bitsPerSample = text(.bits).flatMap { Int($0) }
    (recording.isFloat, recording.isBigEndian) = (flag(.float), flag(.bigEndian))
    recording.quality = text(.quality).flatMap(RecordCommand.Recording.Quality.init(rawValue:))
    recording.bitRate = integer(.bitRate)
    (recording.startLevel, recording.silenceLevel) = (number(.startLevel), number(.silenceLevel))
    recording.longestSilence = time(.longestSilence)
    guard recording.longestSilence == nil || recording.silenceLevel != nil else {
      throw failure("longest-silence needs silence-level")
    }
    return recording
  }

  fileprivate func recordingStart() throws(MediaError) -> RecordCommand.StartMoment {
    switch moment(.at) {
    case nil, .now: return .now
    case .after(let delay): return delay > .zero ? .after(delay) : .now
    case .instant(let time): return .instant(time)
    case .frame: preconditionFailure("a start time is not a frame")
    }
  }
}
