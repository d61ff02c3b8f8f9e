import PlayheadMediaCore
import Synchronization

/// Copies samples from the reader to the writer. Runs on one thread, which may block; `cancel` may be called on any
/// thread.
final class ExportCopier: Sendable {
  /// The state of a track.
  private struct TrackState {
    let output: AssetReaderOutput
    let input: AssetWriterInput
    /// The next sample; nil at the end.
    var next: SampleBuffer?

    /// The time by which samples of all tracks are ordered in the file.
    var orderingTime: MediaTime? { next.map { $0.decodeTime.isValid ? $0.decodeTime : $0.presentationTime } }
  }

  private let plan: ExportPlan
  /// The first sample of each track; nil for a track without samples. Empty before `prepare`.
  private let firstSamples = Mutex<[SampleBuffer?]>([])
  private let reader: AssetReader
  private let writer: AssetWriter

  /// - Parameter descriptor: The file, open and empty.
  /// - Throws: The errors of adding outputs.
  init(_ asset: Asset, _ plan: ExportPlan, to descriptor: Int32) throws(MediaError) {
    self.plan = plan
    reader = AssetReader(asset: asset)
    writer = AssetWriter(destination: .descriptor(descriptor), container: plan.container, options: plan.options)
    try reader.setTimeRange(plan.range)
    for track in plan.tracks { try reader.add(track.output) }
  }

  /// Makes blocking calls return with an error. Does not block.
  func cancel() {
    // The writer is cancelled first, because a cancelled reader also ends.
    writer.cancelWriting()
    reader.cancelReading()
  }

  /// Starts reading. Call once, before `run`. Blocks.
  ///
  /// Passed-through video begins with a key frame. Only MP4, M4A and MOV can hide the frames between this key frame and
  /// the start of the range.
  ///
  /// - Returns: The time at which the export must begin instead; nil if the start is correct.
  func prepare(_ check: () throws(MediaError) -> Void) throws(MediaError) -> MediaTime? {
    try reader.startReading()
    var found: [SampleBuffer?] = []
    for track in plan.tracks {
      try check()
      found.append(track.output.copyNextSampleBuffer())
    }
    if let error = reader.error { throw error }
    let videoSample = found.compactMap(\.self).first {
      $0.format.mediaType == .video && $0.pixels == nil
    }
    firstSamples.withLock { $0 = found }
    guard !plan.container.isMovie, let videoSample, videoSample.presentationTime < plan.range.start else { return nil }
    return max(.zero, videoSample.presentationTime)
  }

  /// Reads and writes everything.
  ///
  /// - Parameters:
  ///   - progress: Called with the completed fraction in units of 1/20: at the beginning (nil if the duration is
  ///     unknown), when it increases, and at the end.
  ///   - check: Called for each buffer; throws when the export must end.
  func run(
    _ progress: (Int?) -> Void, check: () throws(MediaError) -> Void
  ) throws(MediaError) -> AssetExportSession.Outcome {
    // On an error, the reader and the writer must end, so that no file is left.
    defer {
      reader.cancelReading()
      writer.cancelWritingAndWait()
    }
    let tracks = try addInputs()
    try writer.startWriting()
    try writer.startSession(atSourceTime: plan.range.start)
    let end = try copy(tracks, progress, check)
    if let error = reader.error { throw error }
    guard reader.status == .completed else { throw AssetReader.cancelled }
    try writer.finishWriting()
    progress(20)
    let fault = plan.tracks.lazy.compactMap(\.output.fault).first
    return AssetExportSession.Outcome(duration: end - plan.range.start, byteCount: writer.byteCount, fault: fault)
  }

  /// Creates the writer's inputs from the first sample of each track. A track without samples in the range is omitted.
  private func addInputs() throws(MediaError) -> [TrackState] {
    var tracks: [TrackState] = []
    for (track, first) in zip(plan.tracks, firstSamples.withLock({ $0 })) {
      guard let first else {
        if let missingError = track.missingError { throw missingError }
        continue
      }
      let input = track.makeInput(first, plan.range.start)
      try writer.add(input)
      tracks.append(TrackState(output: track.output, input: input, next: first))
    }
    guard !tracks.isEmpty else {
      throw MediaError(.invalidTime, "the exported range contains no samples", operation: "export")
    }
    return tracks
  }

  /// Copies all samples. Returns the end of the last sample.
  private func copy(
    _ initial: [TrackState], _ progress: (Int?) -> Void, _ check: () throws(MediaError) -> Void
  ) throws(MediaError) -> MediaTime {
    var tracks = initial
    var (end, reportedPart) = (plan.range.start, 0)
    progress(plan.expectedDuration.isNumeric ? 0 : nil)
    // The earliest sample is next, so that the tracks are interleaved in the file.
    while let index = Self.first(of: tracks), let buffer = tracks[index].next {
      try check()
      try tracks[index].input.append(waiting: buffer)
      tracks[index].next = tracks[index].output.copyNextSampleBuffer()
      if tracks[index].next == nil { tracks[index].input.markAsFinished() }
      let bufferEnd = buffer.outputPresentationTime + buffer.outputDuration
      if bufferEnd.isNumeric { end = max(end, min(bufferEnd, plan.range.end)) }
      let part = Self.completedPart(end - plan.range.start, of: plan.expectedDuration)
      if part > reportedPart, part < 20 {
        reportedPart = part
        progress(part)
      }
    }
    return end
  }

  private static func first(of tracks: [TrackState]) -> Int? {
    tracks.indices.lazy.filter { tracks[$0].next != nil }.min {
      (tracks[$0].orderingTime ?? .positiveInfinity) < (tracks[$1].orderingTime ?? .positiveInfinity)
    }
  }

  /// Returns the completed fraction in units of 1/20.
  private static func completedPart(_ done: MediaTime, of whole: MediaTime) -> Int {
    guard whole.isNumeric, whole > .zero else { return 0 }
    return Int(max(0, min(1, done.seconds / whole.seconds)) * 20)
  }
}
