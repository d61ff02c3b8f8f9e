import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// Reads the frames of a video track that a worker process decodes. The worker has a separate `VideoTrackReader`, and
/// converts the frames whose pixels are needed.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` on any thread.
final class IsolatedVideoReader: VideoReader, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the interrupt, which is Sendable.

  private let video: IsolatedVideo
  private let interrupt: Interrupt
  let displayPath: String
  private(set) var currentFrame: VideoFrame?

  /// Opens the video of a file in a worker. Blocks. Parameters and errors are those of `IsolatedVideo.open`.
  init(
    _ pool: WorkerPool, source: FileSource, displayName: String, trackID: AssetTrack.ID?, pixelCount: Int = 0
  ) throws(MediaError) {
    video = try IsolatedVideo.open(
      pool, source: source, displayName: displayName, trackID: trackID, pixelCount: pixelCount)
    (interrupt, displayPath) = (source.interrupt, displayName)
  }

  var timeRange: TimeRange { video.description.timeRange }
  var assetDuration: MediaTime { video.description.assetDuration }
  var imageLimits: LocalImageMaker.Limits { video.limits }
  var isLost: Bool { video.isLost }

  func cancel() { interrupt.cancel() }
  func resetCancellation() { interrupt.reset() }

  // MARK: - Reading

  func next() throws(MediaError) -> VideoFrame? { try move(.next) ? currentFrame : nil }

  func seek(to time: MediaTime) throws(MediaError) { _ = try move(.seek(time)) }

  func seekToKey(near time: MediaTime, latest: MediaTime) throws(MediaError) -> VideoFrame? {
    try move(.seekToKey(near: time, latest: latest)) ? currentFrame : nil
  }

  /// Performs a command that changes the current frame. Returns whether it found a frame.
  private func move(_ command: FrameCommand) throws(MediaError) -> Bool {
    if interrupt.isCancelled { throw AssetReader.cancelled }
    guard case .moved(let isFound) = try perform(command), !isFound || currentFrame != nil else {
      throw video.rejectReply()
    }
    return isFound
  }

  private func perform(_ command: FrameCommand) throws(MediaError) -> FrameReading.Outcome {
    try video.perform(command) { current in
      currentFrame = current.map { frame in
        VideoFrame(
          pixels: .inWorker(video), properties: frame.properties, format: video.description.format, time: frame.time,
          duration: frame.duration, hasTimestamp: frame.hasTimestamp)
      }
    }
  }

  /// Returns no times if the worker has ended: the next seek then reports the error.
  func indexedKeyTimes(around time: MediaTime) -> (before: MediaTime?, after: MediaTime?) {
    guard case .keyTimes(let before, let after)? = try? perform(.keyTimes(around: time)),
      [before, after].allSatisfy({ $0?.isNumeric != false })
    else { return (nil, nil) }
    return (before, after)
  }

  func popFault() -> MediaError? {
    guard case .fault(let fault)? = try? perform(.popFault) else { return nil }
    return fault
  }

  /// The worker retains the pixels of the current frame until the next command that reads.
  func releaseMemory() throws(MediaError) {
    guard case .moved = try perform(.releaseMemory) else { throw video.rejectReply() }
  }
}
