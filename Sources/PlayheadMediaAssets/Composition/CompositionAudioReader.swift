// The audio source of a composition for `AudioTrackReader`: reads the tracks in chunks and adds them.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// Reads the audio of a composition: the sum of all its tracks, or one of them.
///
/// The sum is not limited to full scale. A single track is bit-exact. At most one source is open for each track.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` on any thread.
final class CompositionAudioReader: AudioReader, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only `interrupt`, which is Sendable.

  /// Number of frames of all tracks that are added at once.
  private static let chunkFrameCount = 4_096

  let format: AudioFormat
  let sampleFormat: SampleFormat
  let trackID: AssetTrack.ID
  let channelMask: UInt64?
  private(set) var position: Int64 = 0
  private let interrupt: Interrupt
  private let tracks: [CompositionTrackAudio]
  private let endFrame: Int64
  private let mixer: AudioMixer
  /// Converts to sample formats other than float32.
  private let writer: SampleWriter?
  private let mixBuffer: UnsafeMutableBufferPointer<Float>?
  /// An error found while frames remained to be delivered. The next read throws it.
  private var pendingError: MediaError?
  /// Whether reading failed. Nothing is read until the next seek.
  private var hasFailed = false

  /// Creates a reader. Performs no I/O.
  ///
  /// - Parameter trackID: The track; nil for the sum of all audio tracks.
  /// - Throws: `noPlayableTracks` without audio; `noSuchTrack`; `unsupportedAudioFormat`; `conversionFailed`.
  init(
    _ composition: Composition, interrupt: Interrupt, trackID: AssetTrack.ID?, sampleFormat: SampleFormat,
    log: NetworkLog?
  ) throws(MediaError) {
    guard let format = composition.audioFormat else {
      throw MediaError(.noPlayableTracks, "there is no audio in the composition")
    }
    try format.checkSupported()
    let readTracks = composition.tracks.filter { track in
      track.mediaType == .audio && !track.segments.isEmpty && trackID.map { $0 == track.id } ?? true
    }
    guard let first = readTracks.first else {
      throw MediaError(.noSuchTrack, "there is no audio track \(trackID ?? 0) in the composition")
    }
    self.format = format
    self.sampleFormat = sampleFormat
    self.interrupt = interrupt
    self.trackID = first.id
    channelMask = composition.channelMask
    tracks = readTracks.map { CompositionTrackAudio($0, format, interrupt: interrupt, log: log) }
    let end = readTracks.map(\.duration).max() ?? .zero
    endFrame = end.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero) ?? Int64.max / 8
    mixer = AudioMixer(channelCount: format.channelCount, chunkFrames: Self.chunkFrameCount)
    writer = sampleFormat == .float32 ? nil : try SampleWriter(format, sampleFormat)
    mixBuffer = writer == nil ? nil : .allocate(capacity: Self.chunkFrameCount * format.channelCount)
  }

  deinit { mixBuffer?.deallocate() }

  var positionDoubt: PositionDoubt? { tracks.lazy.compactMap(\.positionDoubt).first }
  var lastSeekTimings: SeekTimings { SeekTimings() }
  var startTrim: EdgeTrim { .none }
  var endTrim: EdgeTrim { .none }
  var end: AudioTrackReader.TrackEnd? { AudioTrackReader.TrackEnd(frame: endFrame, isExact: true) }

  func cancel() { interrupt.cancel() }
  func resetCancellation() { interrupt.reset() }

  func popTitles() -> [(time: MediaTime, title: StreamTitle)] { [] }

  func popSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    for track in tracks { if let found = track.popSkippedPackets() { return found } }
    return nil
  }

  func popWarning() -> (time: MediaTime, error: MediaError)? {
    for track in tracks { if let found = track.popWarning() { return found } }
    return nil
  }

  // MARK: - Reading

  func read(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> AudioTrackReader.ReadResult {
    precondition(capacityFrames > 0, "the capacity must be at least one frame")
    if interrupt.isCancelled { return .cancelled }
    if let error = pendingError {
      (pendingError, hasFailed) = (nil, true)
      throw error
    }
    let start = position
    let (count, error) = fillBuffer(output, capacityFrames)
    if let error, count == 0 {
      if error.code == .cancelled { return .cancelled }
      hasFailed = true
      throw error
    }
    pendingError = error.flatMap { $0.code == .cancelled ? nil : $0 }
    return count > 0 ? .frames(count, position: start) : .endOfTrack
  }

  func advance() throws(MediaError) -> Bool {
    if interrupt.isCancelled { throw AssetReader.cancelled }
    if let error = pendingError {
      (pendingError, hasFailed) = (nil, true)
      throw error
    }
    return !hasFailed && position < endFrame
  }

  func copyAvailable(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError) -> Int {
    let count = Int(min(Int64(min(capacityFrames, Self.chunkFrameCount)), endFrame - position))
    let buffer = mixBuffer?.baseAddress ?? output.assumingMemoryBound(to: Float.self)
    let start = position
    let mixed = mixer.mix(into: buffer, count, tracks.count) { index, buffer in
      tracks[index].fill(buffer, frameCount: count, from: start)
    }
    if mixed.count > 0, let writer { try writer.write(buffer, frameCount: mixed.count, into: output) }
    position += Int64(mixed.count)
    if let error = mixed.error {
      if mixed.count == 0 { throw error }
      if error.code != .cancelled { pendingError = error }
    }
    return mixed.count
  }

  func seek(
    to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime
  ) throws(MediaError) -> MediaTime {
    let (target, _) = try SeekTarget.frames(
      time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter, sampleRateHz: format.sampleRateHz,
      last: endFrame)
    if interrupt.isCancelled { throw MediaError(.cancelled, "the seek was cancelled", operation: "seek") }
    (pendingError, hasFailed) = (nil, false)
    position = target
    return MediaTime(frame: target, rate: format.sampleRateHz)
  }

  func exactFrameCount() throws(MediaError) -> Int64 {
    position = endFrame
    return endFrame
  }
}
