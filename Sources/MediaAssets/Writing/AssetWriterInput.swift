import MediaCore
import RealtimeAudio
import Synchronization

/// One track of a file that is written.
///
/// Threading: any thread; samples are appended by one at a time.
public final class AssetWriterInput: Sendable {
  /// What the track is written as.
  public enum Settings: Sendable, Hashable {
    /// Plain numbers are appended, and coded.
    case sound(AudioOutputSettings)
    /// Pictures are appended (`SampleBuffer.init(pixels:)`), and coded.
    case video(VideoOutputSettings)
    /// Packets are appended that are coded already, and written as they are; plain numbers, too.
    case passthrough
  }

  /// What the track is written as.
  public let settings: Settings
  /// What is appended. Of what is passed through it is what the container is told: the codec, its `setupData`, and the details. By how
  /// much pictures are to be turned is said by MP4 and its kin only.
  public let sourceFormat: FormatDescription
  /// Samples come when they come: more of them are kept before the input says that it is not ready.
  public let expectsMediaDataInRealTime: Bool
  /// ISO 639-2 code of the language; nil: not said. MOV has those of a list of its own only: of others it says nothing.
  public let languageCode: String?
  /// The track to play, unless someone chooses; of a group it is the default one.
  public let marksOutputTrackAsEnabled: Bool
  /// What the track's tags say, as FFmpeg names them.
  public let metadata: [String: String]
  /// Of pictures: ticks a second of the track's times, which are rounded to them; nil: see `timescale`. As `mediaTimeScale`.
  public let mediaTimescale: Int32?
  /// Memory for pictures to encode.
  let pixelBufferPool: PixelBufferPool?

  private let place = Mutex<(shared: WakeSignal<AssetWriter.State>, index: Int)?>(nil)

  /// A track of a writer that is yet to be.
  ///
  /// - Parameters:
  ///   - sourceFormat: what is appended: of `.sound` plain numbers (`FormatDescription.pcm`), of `.video` pictures
  ///     (`FormatDescription.pixels`), of `.passthrough` what the packets are.
  ///   - mediaTimescale: of a track of pictures whose times are not exact in `timescale`'s ticks.
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

  /// A track of sound that is coded.
  public convenience init(
    settings: AudioOutputSettings, sourceFormat: FormatDescription, expectsMediaDataInRealTime: Bool = false,
    languageCode: String? = nil, marksOutputTrackAsEnabled: Bool = true, metadata: [String: String] = [:]
  ) {
    self.init(
      settings: .sound(settings), sourceFormat: sourceFormat, expectsMediaDataInRealTime: expectsMediaDataInRealTime,
      languageCode: languageCode, marksOutputTrackAsEnabled: marksOutputTrackAsEnabled, metadata: metadata)
  }

  /// A track of pictures that are coded.
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

  /// Ticks a second of the track's times. Of sound: its rate. Of pictures `mediaTimescale`, else one in which times in milliseconds,
  /// in 1/90000 s, of the usual rates of pictures and of 48 kHz are exact, and multiples of the source's `frameDuration`.
  public var timescale: Int32 {
    if sourceFormat.mediaType == .audio { return Int32(clamping: max(1, sourceFormat.audio?.sampleRateHz ?? 1)) }
    if let mediaTimescale { return mediaTimescale }
    let usual = 720_000
    guard let frame = sourceFormat.video?.frameDuration, frame.isNumeric else { return Int32(usual) }
    var (larger, smaller) = (usual, Int(frame.timescale))
    while smaller != 0 { (larger, smaller) = (smaller, larger % smaller) }
    let common = usual / larger * Int(frame.timescale)
    return common <= 10_000_000 ? Int32(common) : frame.timescale
  }

  /// What is passed through, by FFmpeg's name; nil for what is coded here. Plain numbers are: silence can be put between them.
  var storedCodecName: String? {
    guard case .passthrough = settings, sourceFormat.audio?.pcm == nil else { return nil }
    return sourceFormat.codecName
  }

  /// What sound is coded as; nil for other tracks.
  var soundSettings: AudioOutputSettings? {
    switch settings {
    case .sound(let settings): settings
    case .passthrough: sourceFormat.audio?.pcm.map { AudioOutputSettings(.pcm($0)) }
    case .video: nil
    }
  }

  /// Errors: `invalidArgument` for settings that do not fit the container or what is appended, `unsupportedAudioFormat` for sound that
  /// cannot be encoded.
  func check(_ container: WritableContainer) throws(MediaError) {
    func refuse(_ message: String) -> MediaError { MediaError(.invalidArgument, message, operation: "add") }
    switch settings {
    case .sound where sourceFormat.mediaType != .audio, .video where sourceFormat.mediaType != .video:
      throw refuse("the settings are not for \(sourceFormat.mediaType.rawValue)")
    case .passthrough where sourceFormat.mediaType != .audio && sourceFormat.mediaType != .video:
      throw refuse("only sound and pictures are passed through, not \(sourceFormat.mediaType.rawValue)")
    default: break
    }
    guard sourceFormat.audio == nil || sourceFormat.video == nil else {
      throw refuse("the source format is sound or pictures, not both")
    }
    guard mediaTimescale.map({ $0 > 0 }) ?? true else { throw refuse("there is a tick a second, or more") }
    if let video = sourceFormat.video { try checkRotation(video, container) }
    if let soundSettings {
      try container.check(soundSettings.codec)
      _ = try soundSettings.encoderSettings(for: sourceFormat)
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
          .unsupportedAudioFormat, "\(audio.channelCount) channels at \(audio.sampleRateHz) Hz are no sound",
          operation: "add")
      }
    } else if let video = sourceFormat.video, sourceFormat.mediaType == .video {
      guard PixelBuffer.supportedSizes.contains(video.width), PixelBuffer.supportedSizes.contains(video.height)
      else {
        throw MediaError(
          .invalidArgument, "there is no picture of \(video.width) x \(video.height) pixels", operation: "add")
      }
    } else {
      throw MediaError(
        .invalidArgument, "the source format does not say what the \(sourceFormat.mediaType.rawValue) is",
        operation: "add")
    }
  }

  /// FFmpeg 5.1 writes nothing of it into Matroska: pictures would lie on their side, in silence.
  private func checkRotation(
    _ video: FormatDescription.Video, _ container: WritableContainer
  ) throws(MediaError) {
    guard [0, 90, 180, 270].contains(video.rotationDegrees) else {
      throw MediaError(
        .invalidArgument, "pictures are turned by 0, 90, 180 or 270 degrees, not \(video.rotationDegrees)",
        operation: "add")
    }
    guard video.rotationDegrees == 0 || container.isMovie else {
      throw MediaError(
        .invalidArgument,
        "\(container.rawValue) is not written with pictures that are to be turned by \(video.rotationDegrees) degrees",
        operation: "add")
    }
  }

  /// Whether its writer is at work.
  var isWriting: Bool {
    guard let (shared, _) = place.withLock({ $0 }) else { return false }
    return shared.withState { $0.status == .writing && !$0.isCancelled }
  }

  /// Bytes that wait to be written before the input says that it is not ready.
  var queueByteLimit: Int {
    guard let pool = pixelBufferPool else { return expectsMediaDataInRealTime ? 16 << 20 : 1 << 20 }
    // As many pictures, but not much memory of large ones.
    let picture = pool.pixelFormat.byteCount(width: pool.width, height: pool.height)
    return expectsMediaDataInRealTime ? min(16 * picture, 128 << 20) : min(3 * picture, 8 << 20)
  }

  /// False when it has a writer already.
  func attach(_ shared: WakeSignal<AssetWriter.State>, index: Int) -> Bool {
    place.withLock { place in
      guard place == nil else { return false }
      place = (shared, index)
      return true
    }
  }

  // MARK: - Samples

  /// Whether another buffer can be appended. False before the session, when enough is waiting to be written, once the input is
  /// finished, and when the writer has ended.
  public var isReadyForMoreMediaData: Bool {
    guard let (shared, index) = place.withLock({ $0 }) else { return false }
    return shared.withState { $0.isReady(index) }
  }

  /// Gives the writer samples. Their bytes are shared, not copied. Does not block.
  ///
  /// Errors: what the writer failed of; `cancelled`; `invalidState` while it is not ready, out of a session, once finished;
  /// `invalidArgument` for another format than `sourceFormat`, and bytes that are no such picture; `invalidTime` for samples that begin
  /// before those before them ended, and packets that are out of the order of decoding; `unsupportedEdit` for packets that are cut off
  /// in the middle of a track, or lie where the container cannot have them. After the last four the writer goes on without these samples.
  public func append(_ buffer: SampleBuffer) throws(MediaError) {
    let (shared, index) = try attached()
    let result: Result<Void, MediaError> = shared.update { state in Self.append(buffer, at: index, in: &state) }
    try result.get()
  }

  /// As `append`, but waits until the input is ready.
  public func append(waiting buffer: SampleBuffer) throws(MediaError) {
    let (shared, index) = try attached()
    let result: Result<Void, MediaError>? = shared.wait { state in
      let input = state.inputs[index]
      let isFull =
        state.status == .writing && !state.isCancelled && !input.isFinished && state.sessionStart != nil
        && state.sessionEnd == nil && !state.isReady(index)
      return isFull ? nil : Self.append(buffer, at: index, in: &state)
    }
    // `wait` wakes nobody, and the writer's thread is to be.
    shared.update { _ in }
    try result?.get()
  }

  /// Calls `body` again and again, whenever the input is ready, until it is finished or the writer has ended; `body` appends until
  /// the input is not ready. On a thread of the input's own.
  ///
  /// Errors: `invalidState` for an input without a writer.
  public func requestMediaDataWhenReady(_ body: @escaping @Sendable (AssetWriterInput) -> Void) throws(MediaError) {
    let (shared, index) = try attached()
    NamedThread.detached(name: "playhead-input") { [self] in
      while true {
        let isReady: Bool? = shared.wait { state in
          if state.isReady(index) { return true }
          let isOver = state.hasEnded || state.isCancelled || state.inputs[index].isFinished || state.sessionEnd != nil
          return isOver ? false : nil
        }
        guard isReady == true else { return }
        body(self)
      }
    }
  }

  /// Says that no sample follows.
  public func markAsFinished() {
    guard let (shared, index) = place.withLock({ $0 }) else { return }
    shared.update { $0.inputs[index].isFinished = true }
  }

  // MARK: - Internals

  private func attached() throws(MediaError) -> (WakeSignal<AssetWriter.State>, Int) {
    guard let place = place.withLock({ $0 }) else {
      throw MediaError(.invalidState, "the input has no writer", operation: "append")
    }
    return (place.shared, place.index)
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
      return refuse(.invalidState, "samples are appended within a session")
    }
    guard !state.inputs[index].isFinished else { return refuse(.invalidState, "the input is finished") }
    guard state.isReady(index) else { return refuse(.invalidState, "the input is not ready for more") }
    guard let start = state.sessionStart else { return refuse(.invalidState, "there is no session") }
    do throws(MediaError) {
      try state.inputs[index].intake.take(buffer, sessionStart: start)
    } catch { return .failure(error) }
    state.inputs[index].queue.append(buffer)
    state.inputs[index].queuedByteCount += buffer.data.count
    return .success(())
  }
}
