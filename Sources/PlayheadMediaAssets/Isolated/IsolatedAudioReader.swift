// Reads audio that a worker process decodes. The worker has a separate `AudioTrackReader`. Samples arrive through
// shared memory, and everything else in messages.
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import Synchronization

/// The audio of a file's track, decoded in a worker process.
final class IsolatedAudioReader: AudioReader {
  /// The time limit for a worker to stop a cancelled function.
  private static let graceMilliseconds: Int32 = 5_000
  /// Frames per request when the reader reads ahead.
  private static let readAheadFrameCount = 32_768

  private let lease: WorkerLease
  private let shared: SharedSamples
  private let source: FileSource
  private let readsAhead: Bool
  private let description: AudioDescription
  private var state: AudioState
  /// The frames in the shared memory that have not been delivered: `frameCount` frames from `nextFrame`.
  private var (nextFrame, frameCount) = (0, 0)
  private var pendingError: MediaError?
  private var skipped: AudioState.Skipped?
  private var warning: AudioState.Warning?
  private var titles: [AudioState.Title] = []
  let sampleFormat: SampleFormat

  /// Opens the audio of a file in a worker. Blocks.
  ///
  /// - Parameters:
  ///   - source: The file. This object owns it from now on. Its interrupt cancels the worker's functions.
  ///   - readsAhead: Whether more frames than requested are decoded at once.
  /// - Throws: The errors of `AudioTrackReader`; `workerUnavailable`.
  init(
    _ lease: WorkerLease, source: FileSource, displayName: String, trackID: AssetTrack.ID?, encoding: PCMEncoding,
    readsAhead: Bool
  ) throws(MediaError) {
    sampleFormat = try SampleWriter.format(of: encoding)
    let parameters = AudioParameters(trackID: trackID, encoding: encoding)
    (shared, description) = try SharedSamples.make { (shared, descriptor) throws(MediaError) in
      (
        shared,
        try lease.open(
          source, displayName: displayName, AssetWorkerFunction.openAudio.rawValue, parameters,
          graceMilliseconds: Self.graceMilliseconds, descriptor: descriptor, as: AudioDescription.self)
      )
    }
    guard description.format.isSupported, description.state.isPlausible else {
      throw lease.rejectResult()
    }
    state = description.state
    (self.lease, self.source, self.readsAhead) = (lease, source, readsAhead)
    source.interrupt.attach(shared)
    note(state)
  }

  deinit {
    source.interrupt.detach(shared)
    lease.closeFiles(AssetWorkerFunction.closeAudio.rawValue)
  }

  var format: AudioFormat { description.format }
  var trackID: AssetTrack.ID { description.trackID }
  var channelMask: UInt64? { description.channelMask }
  var position: Int64 { state.position - Int64(frameCount) }
  var positionDoubt: PositionDoubt? { state.positionDoubt }
  var lastSeekTimings: SeekTimings { state.lastSeekTimings }
  var startTrim: EdgeTrim { state.startTrim }
  var endTrim: EdgeTrim { state.endTrim }
  var end: AudioTrackReader.TrackEnd? { frameCount == 0 ? state.end : nil }

  // MARK: - Cancellation

  func cancel() { source.interrupt.cancel() }
  func resetCancellation() { source.interrupt.reset() }

  // MARK: - Reports

  func popTitles() -> [(time: MediaTime, title: StreamTitle)] {
    defer { titles = [] }
    return titles.map { ($0.time, $0.title) }
  }

  func popSkippedPackets() -> (count: Int, time: MediaTime, error: MediaError)? {
    defer { skipped = nil }
    return skipped.map { ($0.count, $0.time, $0.error) }
  }

  func popWarning() -> (time: MediaTime, error: MediaError)? {
    defer { warning = nil }
    return warning.map { ($0.time, $0.error) }
  }

  private func note(_ state: AudioState) {
    self.state = state
    if let more = state.skipped {
      skipped = skipped.map { .init(count: $0.count + more.count, time: $0.time, error: $0.error) } ?? more
    }
    warning = warning ?? state.warning
    titles = (titles + state.titles).suffix(64)
  }

  // MARK: - Reading

  func read(
    into output: UnsafeMutableRawPointer, capacityFrames: Int
  ) throws(MediaError) -> AudioTrackReader.ReadResult {
    precondition(capacityFrames > 0, "the capacity must be at least one frame")
    if source.interrupt.isCancelled { return .cancelled }
    let start = position
    var count = 0
    do throws(MediaError) {
      while count < capacityFrames, try prepare(capacityFrames - count) {
        count += try copyAvailable(into: output + count * frameByteCount, capacityFrames: capacityFrames - count)
      }
    } catch {
      if count == 0 { throw error }
      pendingError = error
    }
    if count > 0 { return .frames(count, position: start) }
    return source.interrupt.isCancelled ? .cancelled : .endOfTrack
  }

  func advance() throws(MediaError) -> Bool {
    if source.interrupt.isCancelled { return false }
    return try prepare(4_096)
  }

  func copyAvailable(into output: UnsafeMutableRawPointer, capacityFrames: Int) throws(MediaError) -> Int {
    let count = min(capacityFrames, frameCount)
    output.copyMemory(from: shared.samples + nextFrame * frameByteCount, byteCount: count * frameByteCount)
    nextFrame += count
    frameCount -= count
    return count
  }

  /// Ensures that frames are available. Returns false at the end, and when cancelled.
  private func prepare(_ requestedFrameCount: Int) throws(MediaError) -> Bool {
    if frameCount > 0 { return true }
    if let error = pendingError {
      pendingError = nil
      throw error
    }
    let capacity = SharedSamples.sampleByteCount / frameByteCount
    let usefulFrameCount = readsAhead ? max(requestedFrameCount, Self.readAheadFrameCount) : requestedFrameCount
    let maximumFrameCount = min(capacity, usefulFrameCount)
    switch try perform(.readAudio, maximumFrameCount) {
    case .frames(let count):
      guard (1...maximumFrameCount).contains(count) else { throw lease.rejectResult() }
      (nextFrame, frameCount) = (0, count)
      return true
    case .endOfTrack, .cancelled: return false
    case .failed(let error): throw error
    case .time, .frameCount: throw lease.rejectResult()
    }
  }

  func seek(
    to time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime
  ) throws(MediaError) -> MediaTime {
    (nextFrame, frameCount, pendingError) = (0, 0, nil)
    let parameters = SeekParameters(time: time, toleranceBefore: toleranceBefore, toleranceAfter: toleranceAfter)
    switch try perform(.seekAudio, parameters) {
    case .time(let time): return time
    case .cancelled: throw MediaError(.cancelled, "the seek was cancelled", operation: "seek")
    case .failed(let error): throw error
    case .frames, .endOfTrack, .frameCount: throw lease.rejectResult()
    }
  }

  func exactFrameCount() throws(MediaError) -> Int64 {
    (nextFrame, frameCount, pendingError) = (0, 0, nil)
    switch try perform(.countAudio, true) {
    case .frameCount(let count): return count
    case .cancelled: throw MediaError(.cancelled, "the operation was cancelled")
    case .failed(let error): throw error
    case .frames, .endOfTrack, .time: throw lease.rejectResult()
    }
  }

  private func perform(
    _ function: AssetWorkerFunction, _ parameters: some Encodable
  ) throws(MediaError) -> AudioReading.Outcome {
    let reading: AudioReading
    do throws(MediaError) { reading = try lease.run(function.rawValue, parameters, as: AudioReading.self) } catch {
      // Without a worker the audio ends here, as in a damaged file.
      state.end = AudioTrackReader.TrackEnd(frame: state.position, isExact: false)
      throw error
    }
    guard reading.state.isPlausible else { throw lease.rejectResult() }
    note(reading.state)
    // A worker reports an interrupted read as a cancellation error.
    if case .failed(let error) = reading.outcome, error.code == .cancelled { return .cancelled }
    return reading.outcome
  }
}

extension AudioState {
  /// Whether all numbers are in their ranges, so that sums of them do not overflow.
  fileprivate var isPlausible: Bool {
    let frames = [position, startTrim.frameCount, endTrim.frameCount, end?.frame ?? 0]
    return frames.allSatisfy { (-(1 << 53)...1 << 53).contains($0) } && (skipped?.count ?? 0) < 1 << 40
  }
}
