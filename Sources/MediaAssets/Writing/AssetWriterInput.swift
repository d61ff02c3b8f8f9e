import MediaCore
import RealtimeAudio
import Synchronization

/// One track of a file that is written.
///
/// Threading: any thread; samples are appended by one at a time.
public final class AssetWriterInput: Sendable {
  /// What the track is written as.
  public let settings: AudioOutputSettings
  /// What is appended: plain numbers.
  public let sourceFormat: FormatDescription
  /// Samples come when they come: more of them are kept before the input says that it is not ready.
  public let expectsMediaDataInRealTime: Bool
  /// ISO 639-2 code of the language; nil: not said.
  public let languageCode: String?
  /// The track to play, unless someone chooses.
  public let marksOutputTrackAsEnabled: Bool
  /// What the track's tags say, as FFmpeg names them.
  public let metadata: [String: String]

  private let place = Mutex<(shared: WakeSignal<AssetWriter.State>, index: Int)?>(nil)

  /// A track of a writer that is yet to be.
  public init(
    settings: AudioOutputSettings, sourceFormat: FormatDescription, expectsMediaDataInRealTime: Bool = false,
    languageCode: String? = nil, marksOutputTrackAsEnabled: Bool = true, metadata: [String: String] = [:]
  ) {
    self.settings = settings
    self.sourceFormat = sourceFormat
    self.expectsMediaDataInRealTime = expectsMediaDataInRealTime
    self.languageCode = languageCode
    self.marksOutputTrackAsEnabled = marksOutputTrackAsEnabled
    self.metadata = metadata
  }

  /// Bytes that wait to be written before the input says that it is not ready.
  var queueByteLimit: Int { expectsMediaDataInRealTime ? 16 << 20 : 1 << 20 }

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
  /// `invalidArgument` for another format than `sourceFormat`; `invalidTime` for samples that begin before those before them ended.
  /// After the last three the writer goes on without these samples.
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
    let format = state.inputs[index].sourceFormat
    guard let audio = format.audio, let given = buffer.format.audio, audio.pcm == given.pcm,
      audio.sampleRateHz == given.sampleRateHz, audio.channelCount == given.channelCount
    else { return refuse(.invalidArgument, "the input was made for other samples") }
    // A reader's times may be rounded.
    let tolerance = MediaTime(
      value: WriterTimeline.toleratedFrames(audio.sampleRateHz, buffer), timescale: Int32(clamping: audio.sampleRateHz))
    let next = state.inputs[index].nextTime
    guard !next.isValid || buffer.outputPresentationTime + tolerance >= next else {
      return refuse(.invalidTime, "samples begin before those before them ended")
    }
    state.inputs[index].nextTime = buffer.outputPresentationTime + buffer.outputDuration
    state.inputs[index].queue.append(buffer)
    state.inputs[index].queuedByteCount += buffer.data.count
    return .success(())
  }
}
