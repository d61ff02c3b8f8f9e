import PlayheadMediaCore
import PlayheadRealtimeAudio
import Synchronization

/// One track of a file that is written.
///
/// Threading: any thread, but only one thread at a time may append samples.
public final class AssetWriterInput: Sendable {
  /// The format in which a track is written.
  public enum Settings: Sendable, Hashable {
    /// PCM samples are appended and encoded.
    case audio(AudioOutputSettings)
    /// Video frames (`SampleBuffer.init(pixels:)`) are appended and encoded.
    case video(VideoOutputSettings)
    /// Encoded packets are appended and written unchanged. PCM is also accepted.
    case passthrough
  }

  /// The format in which the track is written.
  public let settings: Settings
  /// The format of the appended samples. For passthrough, the container gets its codec, `setupData` and details from
  /// here. Only MP4, M4A and MOV store the rotation of video.
  public let sourceFormat: FormatDescription
  /// Whether samples arrive in real time. If so, the input queues more samples before it stops being ready. Default:
  /// false.
  public let expectsMediaDataInRealTime: Bool
  /// The ISO 639-2 code of the language. Default: nil, unspecified. MOV stores only the languages of a fixed list and
  /// omits the others.
  public let languageCode: String?
  /// Whether players choose this track by default. In a group, `defaultInput` decides instead. Default: true.
  public let marksOutputTrackAsEnabled: Bool
  /// The tags of the track, by FFmpeg's names.
  public let metadata: [String: String]
  /// The timescale of a video track, in ticks per second, to which times are rounded. Default: nil, see `timescale`. As
  /// `mediaTimeScale` of AVAssetWriterInput.
  public let mediaTimescale: Int32?
  /// The memory pool for video frames to encode; nil for other tracks.
  let pixelBufferPool: PixelBufferPool?

  private let attachment = Mutex<(shared: ConditionMutex<AssetWriter.State>, index: Int)?>(nil)

  /// Creates a track that has no writer yet.
  ///
  /// - Parameters:
  ///   - settings: The format in which the track is written.
  ///   - sourceFormat: The format of the appended samples: for `.audio` PCM (`FormatDescription.pcm`), for `.video`
  ///     pixels (`FormatDescription.pixels`), for `.passthrough` the format of the packets.
  ///   - expectsMediaDataInRealTime: Whether samples arrive in real time. Default: false.
  ///   - languageCode: The ISO 639-2 code of the language. Default: nil, unspecified.
  ///   - marksOutputTrackAsEnabled: Whether players choose this track by default. Default: true.
  ///   - metadata: The tags of the track, by FFmpeg's names.
  ///   - mediaTimescale: For a video track whose times are not exact in ticks of `timescale`.
  public init(
    settings: Settings, sourceFormat: FormatDescription, expectsMediaDataInRealTime: Bool = false,
    languageCode: String? = nil, marksOutputTrackAsEnabled: Bool = true, metadata: [String: String] = [:],
    mediaTimescale: Int32? = nil
  ) {
    self.settings = settings
    self.sourceFormat = sourceFormat
    self.expectsMediaDataInRealTime = expectsMediaDataInRealTime
    self.languageCode = languageCode
    self.marksOutputTrackAsEnabled = marksOutputTrackAsEnabled
    self.metadata = metadata
    self.mediaTimescale = mediaTimescale
    if case .video = settings { pixelBufferPool = PixelBufferPool(sourceFormat) } else { pixelBufferPool = nil }
  }

  /// Creates an audio track that is encoded.
  public convenience init(
    settings: AudioOutputSettings, sourceFormat: FormatDescription, expectsMediaDataInRealTime: Bool = false,
    languageCode: String? = nil, marksOutputTrackAsEnabled: Bool = true, metadata: [String: String] = [:]
  ) {
    self.init(
      settings: .audio(settings), sourceFormat: sourceFormat, expectsMediaDataInRealTime: expectsMediaDataInRealTime,
      languageCode: languageCode, marksOutputTrackAsEnabled: marksOutputTrackAsEnabled, metadata: metadata)
  }

  /// Creates a video track that is encoded.
  public convenience init(
    settings: VideoOutputSettings, sourceFormat: FormatDescription, expectsMediaDataInRealTime: Bool = false,
    languageCode: String? = nil, marksOutputTrackAsEnabled: Bool = true, metadata: [String: String] = [:],
    mediaTimescale: Int32? = nil
  ) {
    self.init(
      settings: .video(settings), sourceFormat: sourceFormat, expectsMediaDataInRealTime: expectsMediaDataInRealTime,
      languageCode: languageCode, marksOutputTrackAsEnabled: marksOutputTrackAsEnabled, metadata: metadata,
      mediaTimescale: mediaTimescale)
  }

  /// The ticks per second of the track's times.
  ///
  /// - Audio: the sample rate.
  /// - Video: ``mediaTimescale``. If it is nil, a timescale in which milliseconds, 1/90000 s, 1/48000 s, common frame
  ///   durations and the source's `frameDuration` are exact. If that would exceed 10,000,000, the timescale of
  ///   `frameDuration`.
  public var timescale: Int32 {
    if sourceFormat.mediaType == .audio { return Int32(clamping: max(1, sourceFormat.audio?.sampleRateHz ?? 1)) }
    if let mediaTimescale { return mediaTimescale }
    let defaultTimescale = 720_000
    guard let frame = sourceFormat.video?.frameDuration, frame.isNumeric else { return Int32(defaultTimescale) }
    var (larger, smaller) = (defaultTimescale, Int(frame.timescale))
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    let commonTimescale = defaultTimescale / larger * Int(frame.timescale)
    return commonTimescale <= 10_000_000 ? Int32(commonTimescale) : frame.timescale
  }

  /// FFmpeg's name of the passed-through codec; nil for encoded tracks. PCM counts as encoded, because silence can be
  /// inserted between its samples.
  var storedCodecName: String? {
    guard case .passthrough = settings, sourceFormat.audio?.pcm == nil else { return nil }
    return sourceFormat.codecName
  }

  /// The codec settings of an audio track, including passed-through PCM; nil for other tracks.
  var audioSettings: AudioOutputSettings? {
    switch settings {
    case .audio(let settings): settings
    case .passthrough: sourceFormat.audio?.pcm.map { AudioOutputSettings(.pcm($0)) }
    case .video: nil
    }
  }

  /// - Throws: `invalidArgument` for settings that do not fit the container or the source format;
  ///   `unsupportedAudioFormat` for audio that cannot be encoded.
  func check(_ container: WritableContainer) throws(MediaError) {
    func refuse(_ message: String) -> MediaError { MediaError(.invalidArgument, message, operation: "add") }
    switch settings {
    case .audio where sourceFormat.mediaType != .audio, .video where sourceFormat.mediaType != .video:
      throw refuse("the settings do not fit the media type \(sourceFormat.mediaType.rawValue)")
    case .passthrough where sourceFormat.mediaType != .audio && sourceFormat.mediaType != .video:
      throw refuse("only audio and video can be passed through (got \(sourceFormat.mediaType.rawValue))")
    default: break
    }
    guard sourceFormat.audio == nil || sourceFormat.video == nil else {
      throw refuse("the source format must be audio or video, not both")
    }
    guard mediaTimescale.map({ $0 > 0 }) ?? true else { throw refuse("the media timescale must be at least 1") }
    if let video = sourceFormat.video { try checkRotation(video, container) }
    if let audioSettings {
      try container.check(audioSettings.codec)
      _ = try audioSettings.encoderSettings(for: sourceFormat)
    } else if case .video(let settings) = settings {
      try container.check(settings)
      try settings.check(for: sourceFormat)
    } else {
      try container.check(storedCodecName: sourceFormat.codecName, sourceFormat.mediaType)
      try checkStored()
    }
  }

  private func checkStored() throws(MediaError) {
    if let audio = sourceFormat.audio, sourceFormat.mediaType == .audio {
      guard AudioFormat.supportedSampleRatesHz.contains(audio.sampleRateHz),
        AudioFormat.supportedChannelCounts.contains(audio.channelCount),
        (0..<1 << 20).contains(audio.initialPaddingFrames)
      else {
        throw MediaError(
          .unsupportedAudioFormat,
          "unsupported audio format: \(audio.channelCount) channels at \(audio.sampleRateHz) Hz",
          operation: "add")
      }
    } else if let video = sourceFormat.video, sourceFormat.mediaType == .video {
      guard PixelBuffer.supportedSizes.contains(video.width), PixelBuffer.supportedSizes.contains(video.height)
      else {
        throw MediaError(
          .invalidArgument, "unsupported frame size: \(video.width) x \(video.height) pixels", operation: "add")
      }
    } else {
      throw MediaError(
        .invalidArgument, "the source format has no description of the \(sourceFormat.mediaType.rawValue)",
        operation: "add")
    }
  }

  /// FFmpeg 5.1 does not write the rotation into Matroska, and reports no error: the video would be shown on its side.
  private func checkRotation(
    _ video: FormatDescription.Video, _ container: WritableContainer
  ) throws(MediaError) {
    guard [0, 90, 180, 270].contains(video.rotationDegrees) else {
      throw MediaError(
        .invalidArgument, "video rotation must be 0, 90, 180 or 270 degrees (got \(video.rotationDegrees))",
        operation: "add")
    }
    guard video.rotationDegrees == 0 || container.isMovie else {
      throw MediaError(
        .invalidArgument,
        "\(container.rawValue) does not support a video rotation of \(video.rotationDegrees) degrees",
        operation: "add")
    }
  }

  /// Whether the writer of this input is writing.
  var isWriting: Bool {
    guard let (shared, _) = attachment.withLock({ $0 }) else { return false }
    return shared.withState { $0.status == .writing && !$0.isCancelled }
  }

  /// The number of queued bytes at which the input stops being ready.
  var queueByteLimit: Int {
    guard let pool = pixelBufferPool else { return expectsMediaDataInRealTime ? 16 << 20 : 1 << 20 }
    // In real time 16 frames, but at most 128 MiB; otherwise 3 frames, but at most 8 MiB.
    let frameByteCount = pool.pixelFormat.byteCount(width: pool.width, height: pool.height)
    return expectsMediaDataInRealTime ? min(16 * frameByteCount, 128 << 20) : min(3 * frameByteCount, 8 << 20)
  }

  /// Attaches the input to a writer. Returns false if it has one already.
  func attach(_ shared: ConditionMutex<AssetWriter.State>, index: Int) -> Bool {
    attachment.withLock { attachment in
      guard attachment == nil else { return false }
      attachment = (shared, index)
      return true
    }
  }

  // MARK: - Samples

  /// Whether another buffer can be appended. False before the session, when the queue is full, after the input is
  /// finished, and after the writer has ended.
  public var isReadyForMoreMediaData: Bool {
    guard let (shared, index) = attachment.withLock({ $0 }) else { return false }
    return shared.withState { $0.isReady(index) }
  }

  /// Appends samples. Shares their bytes without a copy. Does not block.
  ///
  /// After `invalidArgument`, `invalidTime` and `unsupportedEdit` the writer continues without these samples.
  ///
  /// - Throws:
  ///   - the error of the failed writer, or `cancelled`
  ///   - `invalidState` while the input is not ready, outside a session, or after the input is finished
  ///   - `invalidArgument` for a format other than ``sourceFormat``, and for data of a wrong size for a video frame
  ///   - `invalidTime` for samples that begin before the previous samples end, and for packets out of decoding order
  ///   - `unsupportedEdit` for packets trimmed in the middle of a track, or at a time that the container cannot store
  public func append(_ buffer: SampleBuffer) throws(MediaError) {
    let (shared, index) = try attached()
    let result: Result<Void, MediaError> = shared.update { state in Self.append(buffer, at: index, in: &state) }
    try result.get()
  }

  /// Appends samples as ``append(_:)`` does, but blocks until the input is ready.
  public func append(waiting buffer: SampleBuffer) throws(MediaError) {
    let (shared, index) = try attached()
    let result: Result<Void, MediaError>? = shared.wait { state in
      let input = state.inputs[index]
      let isFull =
        state.status == .writing && !state.isCancelled && !input.isFinished && state.sessionStart != nil
        && state.sessionEnd == nil && !state.isReady(index)
      return isFull ? nil : Self.append(buffer, at: index, in: &state)
    }
    // Wakes the writer thread: `wait` wakes no other threads.
    shared.update { _ in }
    try result?.get()
  }

  /// Calls `body` whenever the input is ready, until the input is finished or the writer has ended. `body` appends
  /// samples until the input is not ready. It is called on a separate thread of this input.
  ///
  /// - Throws: `invalidState` for an input without a writer.
  public func requestMediaDataWhenReady(_ body: @escaping @Sendable (AssetWriterInput) -> Void) throws(MediaError) {
    let (shared, index) = try attached()
    NamedThread.detached(name: "playhead-input") { [self] in
      while true {
        let isReady: Bool? = shared.wait { state in
          if state.isReady(index) { return true }
          let hasEnded =
            state.hasEnded || state.isCancelled || state.inputs[index].isFinished || state.sessionEnd != nil
          return hasEnded ? false : nil
        }
        guard isReady == true else { return }
        body(self)
      }
    }
  }

  /// Finishes the input: no sample follows.
  public func markAsFinished() {
    guard let (shared, index) = attachment.withLock({ $0 }) else { return }
    shared.update { $0.inputs[index].isFinished = true }
  }

  // MARK: - Internals

  private func attached() throws(MediaError) -> (ConditionMutex<AssetWriter.State>, Int) {
    guard let attachment = attachment.withLock({ $0 }) else {
      throw MediaError(.invalidState, "the input has no writer", operation: "append")
    }
    return (attachment.shared, attachment.index)
  }

  private static func append(
    _ buffer: SampleBuffer, at index: Int, in state: inout AssetWriter.State
  ) -> Result<Void, MediaError> {
    func refuse(_ code: MediaError.Code, _ message: String) -> Result<Void, MediaError> {
      .failure(MediaError(code, message, operation: "append"))
    }
    if let error = state.error { return .failure(error) }
    if state.isCancelled || state.status == .cancelled { return refuse(.cancelled, "writing was cancelled") }
    guard state.status == .writing, state.sessionStart != nil, state.sessionEnd == nil else {
      return refuse(.invalidState, "samples can be appended only within a session")
    }
    guard !state.inputs[index].isFinished else { return refuse(.invalidState, "the input is finished") }
    guard state.isReady(index) else { return refuse(.invalidState, "the input is not ready for more") }
    guard let start = state.sessionStart else { return refuse(.invalidState, "there is no session") }
    do throws(MediaError) {
      try state.inputs[index].validator.accept(buffer, sessionStart: start)
    } catch { return .failure(error) }
    state.inputs[index].queue.append(buffer)
    state.inputs[index].queuedByteCount += buffer.data.count
    return .success(())
  }
}
