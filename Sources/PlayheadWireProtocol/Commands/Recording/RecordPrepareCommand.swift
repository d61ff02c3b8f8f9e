import PlayheadMediaCore

/// `record.prepare`: opens a source and a file.
package enum RecordPrepareCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let file: Parameter<FilePath>
    package let source: Parameter<String?>
    package let container: Parameter<RecordingRequest.Container?>
    package let format: Parameter<RecordingRequest.Format?>
    package let replace: Parameter<Bool>
    /// In hertz. Nil: that of the source.
    package let sampleRate: Parameter<Int?>
    /// Nil: those of the source.
    package let channels: Parameter<Int?>
    /// The bits per sample. Nil: the default of the format.
    package let bits: Parameter<String?>
    package let float: Parameter<Bool>
    package let bigEndian: Parameter<Bool>
    package let quality: Parameter<RecordingRequest.Quality?>
    /// In bits per second. Nil: the default of the codec.
    package let bitRate: Parameter<Int?>
    /// The level at which the recording begins, in dBFS. Nil: immediately.
    package let startLevel: Parameter<Double?>
    /// The level below which audio is silence, in dBFS.
    package let silenceLevel: Parameter<Double?>
    /// The longest silence that is recorded, in seconds. Nil: any.
    package let longestSilence: Parameter<MediaTime?>

    package init(_ list: inout ParameterListBuilder) {
      file = list.required(.file, .outputPath, "PATH", "the file to write")
      source = list.option(
        .source, .text(maximumByteCount: 255), "NAME",
        "the source, as `pactl list short sources` lists it, or `@DEFAULT_MONITOR@` for the audio being played;"
          + " default: the default source of the sound server")
      container = list.option(
        .container, .word, "CONTAINER", "the container; required with fd:TOKEN; default: from the file name extension")
      format = list.option(
        .format, .word, "FORMAT", "the codec; default: from the container or the file name extension")
      replace = list.flag(.replace, "replace an existing file")
      sampleRate = list.option(
        .sampleRate, .integer(1...768_000), "HZ", "the sample rate; default: that of the source")
      channels = list.option(.channels, .integer(1...64), "N", "the number of channels; default: that of the source")
      bits = list.option(
        .bits, .word(["8", "16", "24", "32", "64"]), "BITS", "the bits per sample; default: 16")
      float = list.flag(.float, "write floating-point samples")
      bigEndian = list.flag(.bigEndian, "write the most significant byte first")
      quality = list.option(
        .quality, .word, "QUALITY", "the quality of aac and opus, from `min` to `max`; other formats ignore it")
      bitRate = list.option(
        .bitRate, .integer(1_000...2_000_000), "BPS",
        "the bit rate of aac and opus, in bits per second; other formats ignore it")
      startLevel = list.option(
        .startLevel, .number(-160...0), "DB",
        "start the recording 0.25 s before the audio reaches this level, in dBFS")
      silenceLevel = list.option(
        .silenceLevel, .number(-160...0), "DB",
        "audio below this level in dBFS counts as silence; long silences are shortened")
      longestSilence = list.option(
        .longestSilence, .positiveDuration, "TIME",
        "the length to which a longer silence is shortened; default: 1 s")
    }
  }

  package struct Reply: ReplyFields {
    package var recorder: Int
    package var file: FilePath
    package var source: String
    /// Nil if it is unknown.
    package var format: String?
    package var sampleRateHz: Int
    package var channelCount: Int

    package init(
      recorder: Int, file: FilePath, source: String, format: String?, sampleRateHz: Int, channelCount: Int
    ) {
      (self.recorder, self.file, self.source, self.format) = (recorder, file, source, format)
      (self.sampleRateHz, self.channelCount) = (sampleRateHz, channelCount)
    }

    package static let fields: [Field<Self>] = [
      Field(.recorder) { $0.recorder }, Field(.writtenFile) { $0.file }, Field(.recordedSource) { $0.source },
      Field(nullable: .formatOfRecording) { $0.format }, Field(.sampleRate) { $0.sampleRateHz },
      Field(.channels) { $0.channelCount },
    ]
  }

  package static let name: CommandName = "record.prepare"

  package static let definition = CommandDefinition<Self>(
    .recording, "Open a source and a file, so that `record.start` is immediate.",
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
    errors: [
      .sourceUnavailable, .sourceConfiguration, .invalidArgument, .unsupportedAudioFormat, .fileExists, .outsideRoots,
      .noSuchDescriptor, .writeFailed, .notAllowed, .tooManyRecorders, .sessionForbidsRecording, .sessionInterrupted,
    ],
    example: [
      "> record.prepare /memos/idea.flac sample-rate=48000",
      "< ok recorder=1 file=/memos/idea.flac source=pulse:microphone format=flac sampleRate=48000 channels=1",
    ])

  package static func writesFile(_ arguments: Arguments<Self>) -> Bool { arguments.file.isFile }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    try arguments.checkReplacement(of: arguments.file, arguments.replace)
    guard arguments.file.isFile || arguments.container != nil else {
      throw arguments.failure("file=fd:TOKEN needs container")
    }
    guard arguments.longestSilence == nil || arguments.silenceLevel != nil else {
      throw arguments.failure("longest-silence needs silence-level")
    }
  }
}

extension Arguments<RecordPrepareCommand> {
  /// The recording that the request prepares.
  package var recording: RecordingRequest {
    var recording = RecordingRequest(self.file)
    (recording.source, recording.container, recording.format) = (self.source, self.container, self.format)
    recording.replaces = self.replace
    (recording.sampleRateHz, recording.channelCount) = (self.sampleRate, self.channels)
    recording.bitsPerSample = self.bits.flatMap { Int($0) }
    (recording.isFloat, recording.isBigEndian) = (self.float, self.bigEndian)
    (recording.quality, recording.bitRate) = (self.quality, self.bitRate)
    (recording.startLevel, recording.silenceLevel) = (self.startLevel, self.silenceLevel)
    recording.longestSilence = self.longestSilence
    return recording
  }
}
