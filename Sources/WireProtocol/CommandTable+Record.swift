import MediaCore

extension CommandTable {
  private static let recorder = ParameterSpec(
    .recorder, .integer(1...Int.max), .optional, "RECORDER", "the recorder's number; the newest unless said")

  private static let statusFields: [FieldSpec] = [
    "recorder", "state", "file", "time", "pts", "source?", "format?", "sampleRate", "channels", "lost", "skipped",
    "waitingForLevel", "[fault]", "[message]",
  ]

  private static let settings: [ParameterSpec] = [
    ParameterSpec(.file, .localPath, .required, "PATH", "the file to make"),
    ParameterSpec(
      .source, .text(maximumByteCount: 255), .option, "NAME",
      "the source, as `pactl list short sources` says it, or `@DEFAULT_MONITOR@` for what is played; the sound server's default unless said"
    ),
    ParameterSpec(
      .format, .word(RecordCommand.Recording.Form.allCases.map(\.rawValue)), .option, "FORM",
      "how sound is coded; as the file's name ends unless said"),
    ParameterSpec(.replace, .flag, .option, "replace", "even if there is a file"),
    ParameterSpec(.sampleRate, .integer(1...768_000), .option, "HZ", "as the source's unless said"),
    ParameterSpec(.channels, .integer(1...64), .option, "N", "as the source's unless said"),
    ParameterSpec(.bits, .word(["8", "16", "24", "32", "64"]), .option, "BITS", "of a sample; 16 unless said"),
    ParameterSpec(.float, .flag, .option, "float", "floating-point numbers"),
    ParameterSpec(.bigEndian, .flag, .option, "big-endian", "the most significant byte first"),
    ParameterSpec(
      .quality, .word(RecordCommand.Recording.Quality.allCases.map(\.rawValue)), .option, "QUALITY",
      "of aac and opus; other formats ignore it"),
    ParameterSpec(
      .bitRate, .integer(1_000...2_000_000), .option, "BITS",
      "per second, of aac and opus; other formats ignore it"),
    ParameterSpec(
      .startLevel, .number(-160...0, exceptZero: false), .option, "DB",
      "nothing is kept before something is as loud, but a quarter of a second"),
    ParameterSpec(
      .silenceLevel, .number(-160...0, exceptZero: false), .option, "DB", "what stays below is silent, and shortened"),
    ParameterSpec(
      .longestSilence, .duration(positive: true), .option, "TIME", "how much of a silence is kept; 1 second unless said"
    ),
  ]

  /// Commands for recording.
  static let recording: [CommandSpec] = [
    CommandSpec(
      .recordPrepare, .recording, "Opens a source and begins a file, so that `record.start` records at once.",
      details:
        "Nothing listens yet. What is wrong with the settings is said before anything is opened or written. Formats: pcm (wav, caf), flac, alac and aac (m4a), opus (ogg, opus), ima4 (caf), ulaw and alaw (wav, caf); there is no encoder for"
        + " ilbc and amr. `bits`: 8, 16, 24 or 32 of pcm, 32 or 64 with `float`; 16 or 24 of flac and alac. Until the recording is whole the file is"
        + " called PATH.recording; what a crash has left under that name is made whole first (see *Recordings that were not ended*)."
        + " The daemon writes below the folders of `--write-root` only, and with the right to `write`. There are at most 16 recorders; a new one"
        + " takes the place of the oldest that is stopped.",
      parameters: settings, waiting: .always,
      reply: ["recorder", "file", "source", "format", "sampleRate", "channels"],
      errors: [
        .sourceUnavailable, .sourceConfiguration, .invalidArgument, .unsupportedAudioFormat, .fileExists, .outsideRoots,
        .writeFailed, .notAllowed, .tooManyRecorders, .sessionForbidsRecording, .sessionInterrupted,
      ],
      example: [
        "> record.prepare /memos/idea.flac sample-rate=48000",
        "< ok recorder=1 file=/memos/idea.flac source=pulse:microphone format=flac sampleRate=48000 channels=1",
      ]
    ) { arguments throws(MediaError) in .record(.prepare(try arguments.recording())) },
    CommandSpec(
      .recordStart, .recording, "Records, or goes on after a pause, in the same file.",
      details:
        "From now on, or at an instant of CLOCK_MONOTONIC (`at=+0.5`, `at=1234.5`; also with a virtual clock, for a source records in real time), exact to the sample as far as the source knows when it captured. With `duration` it stops by itself after so much more, exactly. A recorder that is stopped does not start again."
        + " The session's category has to allow it. An interruption of the session pauses what records; with its end that goes on, where players do.",
      parameters: [
        recorder,
        ParameterSpec(.at, .startMoment, .option, "WHEN", "when; now unless said"),
        ParameterSpec(
          .duration, .duration(positive: true), .option, "TIME", "how much more; until `record.stop` unless said"),
      ],
      errors: [.noSuchRecorder, .invalidState, .invalidTime, .sessionForbidsRecording, .sessionInterrupted],
      example: ["> record.start duration=20", "< ok"]
    ) { arguments throws(MediaError) in
      .record(.start(arguments.integer(.recorder), try arguments.recordingStart(), duration: arguments.time(.duration)))
    },
    CommandSpec(
      .recordPause, .recording, "Lets a recording stand; `record.start` goes on.",
      parameters: [recorder], errors: [.noSuchRecorder, .invalidState], example: ["> record.pause", "< ok"]
    ) { arguments throws(MediaError) in .record(.pause(arguments.integer(.recorder))) },
    CommandSpec(
      .recordStop, .recording, "Ends a recording; answers when the file is whole.",
      details:
        "`lost` frames of the source did not come, because the machine or the disk was too slow; silence stands for them. `skipped` frames were left out: before"
        + " `start-level`, and of silence. A recording that ended before, because its source vanished or the disk is full, has a `fault` and a `message`, and what was recorded lies in `file`, whole; without `file` there is nothing.",
      parameters: [recorder], waiting: .always,
      reply: ["recorder", "[file]", "[duration]", "size", "lost", "skipped", "[fault]", "[message]"],
      errors: [.noSuchRecorder, .invalidState, .cancelled],
      example: [
        "> @7 record.stop", "< @7 ok recorder=1 file=/memos/idea.flac duration=12.25 size=412339 lost=0 skipped=0",
      ]
    ) { arguments throws(MediaError) in .record(.stop(arguments.integer(.recorder))) },
    CommandSpec(
      .recordDelete, .recording, "Removes the file of a recording that is stopped, and forgets its recorder.",
      parameters: [recorder], waiting: .always, reply: ["recorder", "file"],
      errors: [.noSuchRecorder, .invalidState, .fileNotFound, .outsideRoots, .writeFailed, .notAllowed],
      example: ["> record.delete", "< ok recorder=1 file=/memos/idea.flac"]
    ) { arguments throws(MediaError) in .record(.delete(arguments.integer(.recorder))) },
    CommandSpec(
      .recordStatus, .recording, "Says what a recorder does.",
      details:
        "`state` is `preparing`, `prepared`, `recording`, `paused`, `stopping` or `stopped`; `time` is how much has been recorded, 0 when stopped.",
      parameters: [recorder], right: .read, reply: statusFields, errors: [.noSuchRecorder],
      example: [
        "> record.status",
        "< ok recorder=1 state=recording file=/memos/idea.flac time=3.25 pts=156000/48000 source=pulse:microphone format=flac sampleRate=48000 channels=1 lost=0 skipped=0 waitingForLevel=false",
      ]
    ) { arguments throws(MediaError) in .record(.status(arguments.integer(.recorder))) },
    CommandSpec(
      .recordList, .recording, "Lists the recorders, a row for each, by their numbers.", right: .read,
      reply: ["count"], rows: statusFields, example: ["> record.list", "< ok count=0"]
    ) { _ throws(MediaError) in .record(.list) },
    CommandSpec(
      .recordWatch, .recording, "Sends an event whenever a recorder does something else, and how loud its source is.",
      details:
        "`recording` events come with each change of the state, the present one first, and when frames were lost; with `rate` there are `record-meter` events while it records. It ends with the recorder.",
      parameters: [
        recorder,
        ParameterSpec(
          .rate, .number(1...100, exceptZero: false), .option, "RATE", "levels a second; none unless said"),
      ], right: .read, reply: ["id"], errors: [.noSuchRecorder, .tooManySubscriptions],
      example: [
        "> record.watch rate=20", "< ok id=1",
        "< * recording id=1 recorder=1 state=recording time=0 pts=0/48000 lost=0",
        "< * record-meter id=1 recorder=1 time=0.05 pts=2400/48000 average=-31.2 peak=-20.5 averageScale=0.1642 peakScale=0.3041",
      ]
    ) { arguments throws(MediaError) in
      .record(.watch(arguments.integer(.recorder), rate: arguments.number(.rate)))
    },
    CommandSpec(
      .recordUnwatch, .recording, "Ends a `record.watch`.",
      parameters: [ParameterSpec(.id, .integer(1...Int.max), .required, "ID", "what `record.watch` answered")],
      right: .read, errors: [.noSuchObserver], example: ["> record.unwatch 1", "< ok"]
    ) { arguments throws(MediaError) in
      .record(.unwatch(try arguments.required(.id, arguments.integer(.id))))
    },
  ]
}

extension Arguments {
  fileprivate func recording() throws(MediaError) -> RecordCommand.Recording {
    var recording = RecordCommand.Recording(try required(.file, path(.file)))
    recording.source = text(.source)
    recording.form = text(.format).flatMap(RecordCommand.Recording.Form.init(rawValue:))
    recording.replaces = flag(.replace)
    (recording.sampleRateHz, recording.channelCount) = (integer(.sampleRate), integer(.channels))
    recording.bitsPerSample = text(.bits).flatMap { Int($0) }
    (recording.isFloat, recording.isBigEndian) = (flag(.float), flag(.bigEndian))
    recording.quality = text(.quality).flatMap(RecordCommand.Recording.Quality.init(rawValue:))
    recording.bitRate = integer(.bitRate)
    (recording.startLevel, recording.silenceLevel) = (number(.startLevel), number(.silenceLevel))
    recording.longestSilence = time(.longestSilence)
    guard recording.longestSilence == nil || recording.silenceLevel != nil else {
      throw failure("longest-silence is said with silence-level")
    }
    return recording
  }

  fileprivate func recordingStart() throws(MediaError) -> RecordCommand.StartMoment {
    switch moment(.at) {
    case nil, .now: return .now
    case .after(let span): return span > .zero ? .after(span) : .now
    case .instant(let time): return .instant(time)
    case .frame: throw failure("a recording begins now, at +TIME or at an instant, not with a frame of the output")
    }
  }
}
