// The video of one track of a composition: its segments one after another, each read from its source. One source is
// open at a time, from its first video frame to the first frame of another source.
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO

/// Reads the frames of a video track of a composition in order, from any time. Empty segments have no
/// frames, and a source may have gaps.
///
/// Threading: one thread at a time, which may block; `cancel` and `resetCancellation` on any thread.
final class CompositionVideoReader: VideoReader, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only `interrupt`, which is Sendable.

  let timeRange: TimeRange
  let assetDuration: MediaTime
  let displayPath = "a composition"
  private let segments: [CompositionTrack.Segment]
  private let interrupt: Interrupt
  private let log: NetworkLog?
  private let pixelCount: Int
  private let pool: WorkerPool?
  private var open: (source: CompositionTrack.Source, reader: any VideoReader)?
  /// The index of the current segment.
  private var index = 0
  /// The time to which the source must seek before the next read; nil for no seek.
  private var start: MediaTime? = .zero
  private(set) var currentFrame: VideoFrame?
  private var isCurrentReturned = true
  /// The time at which reading continues after an error.
  private var resumeTime = MediaTime.zero
  private var fault: MediaError?

  /// Creates a reader that opens no source yet. Parameters are those of `VideoReaders.open`.
  ///
  /// - Throws: `noPlayableTracks` without video, `noSuchTrack`.
  init(
    _ composition: Composition, interrupt: Interrupt, trackID: AssetTrack.ID?, log: NetworkLog?, pixelCount: Int = 0,
    pool: WorkerPool? = nil
  ) throws(MediaError) {
    let properties = try composition.properties()
    let tracks = properties.tracks.filter { $0.mediaType == .video }
    guard let first = tracks.first else {
      throw MediaError(.noPlayableTracks, "there is no video in the composition", operation: "read")
    }
    guard let chosen = trackID.map({ id in tracks.first { $0.id == id } }) ?? first,
      let segments = composition.track(chosen.id)?.segments
    else {
      throw MediaError(.noSuchTrack, "there is no video track \(trackID ?? -1) in the composition", operation: "read")
    }
    timeRange = chosen.timeRange
    assetDuration = properties.duration
    self.segments = segments
    self.interrupt = interrupt
    (self.log, self.pixelCount, self.pool) = (log, pixelCount, pool)
  }

  var imageLimits: LocalImageMaker.Limits { open?.reader.imageLimits ?? .standard }
  var isLost: Bool { open?.reader.isLost ?? false }

  func releaseMemory() throws(MediaError) {
    try open?.reader.releaseMemory()
    currentFrame = nil
  }

  func cancel() { interrupt.cancel() }
  func resetCancellation() { interrupt.reset() }

  func popFault() -> MediaError? {
    noteFault()
    defer { fault = nil }
    return fault
  }

  private func noteFault() { fault = fault ?? open?.reader.popFault() }

  // Not supported: image generation then decodes the frame at the exact time.
  func seekToKey(near time: MediaTime, latest: MediaTime) throws(MediaError) -> VideoFrame? { nil }
  func indexedKeyTimes(around time: MediaTime) -> (before: MediaTime?, after: MediaTime?) { (nil, nil) }

  // MARK: - Reading

  func next() throws(MediaError) -> VideoFrame? {
    if isCurrentReturned || currentFrame == nil { try advance() }
    isCurrentReturned = true
    if let currentFrame { resumeTime = currentFrame.end }
    return currentFrame
  }

  /// Seeks as `VideoTrackReader.seek` does. In a gap, seeks to the frame after it.
  func seek(to time: MediaTime) throws(MediaError) {
    guard time.isNumeric else { throw MediaError(.invalidTime, "cannot seek to \(time)", operation: "seek") }
    if interrupt.isCancelled { throw AssetReader.cancelled }
    if let currentFrame, currentFrame.time <= time, time < currentFrame.end {
      isCurrentReturned = false
      return
    }
    let target = max(.zero, time)
    resumeTime = target
    if let found = segments.firstIndex(where: { target < $0.timeRange.end }) {
      (index, start) = (found, target)
      try advance()
      isCurrentReturned = false
      if currentFrame != nil { return }
    }
    currentFrame = nil
    currentFrame = try last()
    (index, start, isCurrentReturned) = (segments.endIndex, nil, true)
  }

  /// Makes the next frame the current one. After an error `currentFrame` is nil, because frames are reused, and the
  /// next read seeks to `resumeTime`.
  private func advance() throws(MediaError) {
    currentFrame = nil
    do throws(MediaError) { currentFrame = try read() } catch {
      (index, start) = (segments.firstIndex { resumeTime < $0.timeRange.end } ?? segments.endIndex, resumeTime)
      throw error
    }
  }

  /// Returns the last frame of the track, which is shown until the composition ends; nil if there is none.
  private func last() throws(MediaError) -> VideoFrame? {
    for segment in segments.reversed() {
      guard let source = segment.source else { continue }
      let reader = try reader(of: source)
      try reader.seek(to: max(segment.sourceRange.start, segment.sourceRange.end - Self.frameMargin))
      if let videoFrame = reader.currentFrame, let result = mapped(videoFrame, in: segment) { return result }
    }
    return nil
  }

  /// A time shorter than the duration of any frame.
  private static let frameMargin = MediaTime(value: 1, timescale: 1_000_000)

  /// Returns the next frame; nil after the last segment.
  private func read() throws(MediaError) -> VideoFrame? {
    while segments.indices.contains(index) {
      let segment = segments[index]
      if let source = segment.source {
        let reader = try reader(of: source)
        if let start {
          try reader.seek(to: segment.sourceTime(at: max(start, segment.timeRange.start)))
          self.start = nil
        }
        while let videoFrame = try reader.next(), videoFrame.time < segment.sourceRange.end {
          if let result = mapped(videoFrame, in: segment) { return result }
        }
      }
      index += 1
      start = segment.timeRange.end
    }
    return nil
  }

  /// Returns a source's frame at its time in the composition; nil if no part of it is shown.
  private func mapped(_ videoFrame: VideoFrame, in segment: CompositionTrack.Segment) -> VideoFrame? {
    // A frame with an unknown duration is shown to the end of the segment.
    let sourceEnd = videoFrame.duration > .zero ? videoFrame.end : segment.sourceRange.end
    let (first, end) = (max(videoFrame.time, segment.sourceRange.start), min(sourceEnd, segment.sourceRange.end))
    guard first < end else { return nil }
    var result = videoFrame
    result.time = segment.time(ofSourceTime: first)
    result.duration = segment.time(ofSourceTime: end) - result.time
    return result
  }

  private func reader(of source: CompositionTrack.Source) throws(MediaError) -> any VideoReader {
    if let open, open.source.isSame(as: source), !open.reader.isLost { return open.reader }
    noteFault()
    open = nil
    let reader = try VideoReaders.open(
      source.asset, interrupt: interrupt, trackID: source.trackID, log: log, pixelCount: pixelCount, pool: pool)
    open = (source, reader)
    return reader
  }
}
