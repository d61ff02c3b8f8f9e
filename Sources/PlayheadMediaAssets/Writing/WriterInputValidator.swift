import PlayheadMediaCore

/// Checks the samples appended to an input, and tracks the earliest time of the next one. Protected by the
/// `ConditionMutex` that contains the writer's state.
struct WriterInputValidator: Sendable {
  /// The earliest time of the next sample; invalid before the first one. A session cannot end before this time.
  private(set) var nextTime = MediaTime.invalid
  private let sourceFormat: FormatDescription
  private let isStored: Bool
  private let timescale: Int32
  private let container: WritableContainer
  /// The decoding time of the last video frame in ticks, relative to the session's start.
  private var lastTicks: Int64?
  /// Whether a stored video frame has been accepted.
  private var hasVideoFrame = false
  /// Whether audible audio has been accepted.
  private var hasAudio = false
  /// Whether the last audio was trimmed at its end.
  private var hasEndTrim = false

  init(_ input: AssetWriterInput, _ container: WritableContainer) {
    sourceFormat = input.sourceFormat
    isStored = input.storedCodecName != nil
    timescale = input.timescale
    self.container = container
  }

  /// Accepts a buffer. On an error the state does not change.
  ///
  /// - Throws: `invalidArgument` for samples of another format, `invalidTime` for times that go back, `unsupportedEdit`
  ///   for samples that the container cannot store.
  mutating func accept(_ buffer: SampleBuffer, sessionStart: MediaTime) throws(MediaError) {
    if sourceFormat.mediaType == .video {
      try isStored ? acceptStoredVideoFrame(buffer, sessionStart) : acceptVideoFrame(buffer, sessionStart)
    } else {
      try isStored ? acceptStoredAudio(buffer, sessionStart) : acceptAudio(buffer)
    }
  }

  private static func refuse(_ code: MediaError.Code, _ message: String) -> MediaError {
    MediaError(code, message, operation: "append")
  }

  private static let formatMismatch = refuse(
    .invalidArgument, "the format of the samples is not the source format of the input")

  // MARK: - Encoded tracks

  private mutating func acceptAudio(_ buffer: SampleBuffer) throws(MediaError) {
    guard let audio = sourceFormat.audio, let received = buffer.format.audio, audio.pcm == received.pcm,
      audio.sampleRateHz == received.sampleRateHz, audio.channelCount == received.channelCount
    else { throw Self.formatMismatch }
    try advance(past: buffer, audio)
  }

  /// Checks that samples follow the previous ones, within a tolerance, because a reader's times may be rounded.
  private mutating func advance(past buffer: SampleBuffer, _ audio: FormatDescription.Audio) throws(MediaError) {
    let tolerance = MediaTime(
      value: WriterTimeline.toleratedFrames(audio.sampleRateHz, buffer), timescale: Int32(clamping: audio.sampleRateHz))
    guard !nextTime.isValid || buffer.outputPresentationTime + tolerance >= nextTime else {
      throw Self.refuse(.invalidTime, "samples must not begin before the end of the previous samples")
    }
    let duration = buffer.outputDuration
    nextTime = buffer.outputPresentationTime + (duration.isValid ? duration : .zero)
  }

  private mutating func acceptVideoFrame(_ buffer: SampleBuffer, _ sessionStart: MediaTime) throws(MediaError) {
    guard let video = sourceFormat.video, let received = buffer.format.video,
      buffer.format.codecName == sourceFormat.codecName,
      received.pixelFormatName == video.pixelFormatName, received.width == video.width, received.height == video.height
    else { throw Self.formatMismatch }
    guard buffer.pixels != nil else {
      throw Self.refuse(
        .invalidArgument,
        "a frame of \(received.width) x \(received.height) pixels does not have \(buffer.data.count) bytes")
    }
    let ticks = try ticks(buffer.presentationTime, sessionStart)
    guard lastTicks.map({ ticks > $0 }) ?? true else {
      throw Self.refuse(.invalidTime, "video frames must be in order, at least 1/\(timescale) s apart")
    }
    (lastTicks, nextTime) = (ticks, buffer.presentationTime)
  }

  // MARK: - Passed-through tracks

  private mutating func acceptStoredVideoFrame(_ buffer: SampleBuffer, _ sessionStart: MediaTime) throws(MediaError) {
    guard buffer.format.mediaType == .video, buffer.format.codecName == sourceFormat.codecName,
      buffer.format.setupData == sourceFormat.setupData, buffer.sampleCount == 1
    else { throw Self.formatMismatch }
    let start = try ticks(buffer.presentationTime, sessionStart)
    // The order of frames without decoding times cannot be checked. `StoredVideoFrames` corrects equal decoding times,
    // and decoding times after the frame is shown.
    let decodeTicks = buffer.decodeTime.isValid ? try ticks(buffer.decodeTime, sessionStart) : nil
    guard lastTicks.map({ (decodeTicks ?? start) >= $0 }) ?? true else {
      throw Self.refuse(.invalidTime, "stored video frames must be appended in the order of their decoding times")
    }
    guard container.isMovie || start >= 0 || hasVideoFrame else {
      throw Self.refuse(
        .unsupportedEdit,
        "\(container.rawValue) does not support frames before the start: start the session with the first frame")
    }
    let isDecodedOnly = buffer.outputDuration == .zero
    guard buffer.attachments.trimAtStart == .zero || start < 0 || isDecodedOnly else {
      throw Self.refuse(.unsupportedEdit, "stored video frames can be trimmed before the session only")
    }
    (lastTicks, hasVideoFrame) = (decodeTicks ?? lastTicks, true)
    guard !isDecodedOnly else { return }
    nextTime = nextTime.isValid ? max(nextTime, buffer.presentationTime) : buffer.presentationTime
  }

  private mutating func acceptStoredAudio(_ buffer: SampleBuffer, _ sessionStart: MediaTime) throws(MediaError) {
    guard let audio = sourceFormat.audio, let received = buffer.format.audio,
      buffer.format.codecName == sourceFormat.codecName, hasSameSetup(buffer.format),
      audio.sampleRateHz == received.sampleRateHz, audio.channelCount == received.channelCount
    else { throw Self.formatMismatch }
    // Some containers state MP3 for all layers of MPEG audio. The information frame exists in layer III only.
    if container == .mp3, let header = BigEndianBytes(Array(buffer.data.prefix(4))).header(at: 0),
      let layer = MPEGAudioHeader(header)?.layer, layer != 3
    {
      throw Self.refuse(.invalidArgument, "mp3 does not support audio encoded as mp\(layer); it supports mp3")
    }
    _ = try ticks(buffer.presentationTime, sessionStart)
    _ = try StoredAudioChunks.ticks(of: buffer, timescale: timescale)
    let trims = buffer.attachments
    let isSilent = buffer.outputDuration == .zero
    guard !hasEndTrim || isSilent, !hasAudio || isSilent || trims.trimAtStart == .zero else {
      throw Self.refuse(.unsupportedEdit, "stored audio can be trimmed at the start and the end of a track only")
    }
    if !container.hasTimes, !isSilent { try checkGap(before: buffer, sessionStart) }
    try advance(past: buffer, audio)
    if !isSilent, buffer.presentationTime + buffer.outputDuration > sessionStart { hasAudio = true }
    if trims.trimAtEnd > .zero, hasAudio { hasEndTrim = true }
  }

  /// Checks that a packet follows the previous one, or the session's start, without a gap: the packets of the container
  /// have no timestamps.
  private func checkGap(before buffer: SampleBuffer, _ sessionStart: MediaTime) throws(MediaError) {
    let expected = nextTime.isValid ? max(nextTime, sessionStart) : sessionStart
    let half =
      buffer.duration.isNumeric
      ? MediaTime(value: buffer.duration.value / 2, timescale: buffer.duration.timescale) : .zero
    guard buffer.outputPresentationTime <= expected + max(half, MediaTime(value: 1, timescale: 1_000)) else {
      throw Self.refuse(.unsupportedEdit, "\(container.rawValue) does not support gaps between packets")
    }
  }

  private func ticks(_ time: MediaTime, _ sessionStart: MediaTime) throws(MediaError) -> Int64 {
    guard let ticks = WriterTimeline.ticks(time - sessionStart, timescale) else {
      throw Self.refuse(.invalidTime, "a sample is too far from the session's start")
    }
    return ticks
  }

  /// Returns whether a decoder of the track can decode these samples. The pre-skip of the Opus header (RFC 7845,
  /// section 5.1) may differ: the track's value applies.
  private func hasSameSetup(_ format: FormatDescription) -> Bool {
    guard sourceFormat.codecName == "opus", format.setupData.count >= 19 else {
      return format.setupData == sourceFormat.setupData
    }
    var setupData = sourceFormat.setupData
    guard setupData.count == format.setupData.count else { return false }
    setupData[10...11] = format.setupData[10...11]
    return setupData == format.setupData
  }
}
