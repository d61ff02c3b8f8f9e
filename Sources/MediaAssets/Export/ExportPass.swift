import MediaCore
import Synchronization

/// Moves what is read to where it is written. On one thread, which may block; `cancel` from any.
final class ExportPass: Sendable {
  /// A track on its way.
  private struct Track {
    let output: AssetReaderOutput
    let input: AssetWriterInput
    /// What comes next; nil at the end.
    var next: SampleBuffer?

    /// When that is to be in the file.
    var place: MediaTime? { next.map { $0.decodeTime.isValid ? $0.decodeTime : $0.presentationTime } }
  }

  private let plan: ExportPlan
  /// The first samples of each lane, once it is prepared; nil where it has none.
  private let firsts = Mutex<[SampleBuffer?]>([])
  private let reader: AssetReader
  private let writer: AssetWriter

  /// - Parameter descriptor: of the file, open and without bytes.
  /// Errors: those of adding outputs.
  init(_ asset: Asset, _ plan: ExportPlan, to descriptor: Int32) throws(MediaError) {
    self.plan = plan
    reader = AssetReader(asset: asset)
    writer = AssetWriter(destination: .descriptor(descriptor), container: plan.container, options: plan.options)
    try reader.setTimeRange(plan.range)
    for lane in plan.lanes { try reader.add(lane.output) }
  }

  /// Makes what blocks give up. Does not block.
  func cancel() {
    // Before the reader's end, which a cancelled one comes to, too.
    writer.cancelWriting()
    reader.cancelReading()
  }

  /// Begins to read. Answers from where on else it has to be: what is stored of pictures begins with one that needs no other, and only
  /// MP4 and its kin can say that it is not to be shown. Once, before `run`.
  func prepare(_ check: () throws(MediaError) -> Void) throws(MediaError) -> MediaTime? {
    try reader.startReading()
    var found: [SampleBuffer?] = []
    for lane in plan.lanes {
      try check()
      found.append(lane.output.copyNextSampleBuffer())
    }
    if let error = reader.error { throw error }
    let pictures = found.compactMap(\.self).first { buffer in buffer.format.mediaType == .video && buffer.pixels == nil
    }
    firsts.withLock { $0 = found }
    guard !plan.container.isMovie, let pictures, pictures.presentationTime < plan.range.start else { return nil }
    return max(.zero, pictures.presentationTime)
  }

  /// Reads and writes all of it.
  ///
  /// - Parameters:
  ///   - progress: called with the number of completed twentieths: at the beginning (nil if the duration is unknown), for
  ///     each further one, and at the end.
  ///   - check: called for each buffer; throws when it is to end.
  func run(
    _ progress: (Int?) -> Void, check: () throws(MediaError) -> Void
  ) throws(MediaError) -> AssetExportSession.Outcome {
    // Who leaves on an error leaves nothing behind.
    defer {
      reader.cancelReading()
      writer.cancelWritingAndWait()
    }
    let tracks = try begin()
    try writer.startWriting()
    try writer.startSession(atSourceTime: plan.range.start)
    let end = try copy(tracks, progress, check)
    if let error = reader.error { throw error }
    guard reader.status == .completed else { throw AssetReader.cancelled }
    try writer.finishWriting()
    progress(20)
    let fault = plan.lanes.lazy.compactMap(\.output.fault).first
    return AssetExportSession.Outcome(duration: end - plan.range.start, byteCount: writer.byteCount, fault: fault)
  }

  /// The first samples of each track say what they are; of one that has none in the range there is none in the file.
  private func begin() throws(MediaError) -> [Track] {
    var tracks: [Track] = []
    for (lane, first) in zip(plan.lanes, firsts.withLock({ $0 })) {
      guard let first else {
        if let missing = lane.missing { throw missing }
        continue
      }
      let input = lane.input(first, plan.range.start)
      try writer.add(input)
      tracks.append(Track(output: lane.output, input: input, next: first))
    }
    guard !tracks.isEmpty else {
      throw MediaError(.invalidTime, "there is nothing in the range that is exported", operation: "export")
    }
    return tracks
  }

  /// Answers where the last sample ends.
  private func copy(
    _ begun: [Track], _ progress: (Int?) -> Void, _ check: () throws(MediaError) -> Void
  ) throws(MediaError) -> MediaTime {
    var tracks = begun
    var (end, toldPart) = (plan.range.start, 0)
    progress(plan.expectedDuration.isNumeric ? 0 : nil)
    // What is furthest behind comes next, so that tracks lie side by side in the file.
    while let index = Self.first(of: tracks), let buffer = tracks[index].next {
      try check()
      try tracks[index].input.append(waiting: buffer)
      tracks[index].next = tracks[index].output.copyNextSampleBuffer()
      if tracks[index].next == nil { tracks[index].input.markAsFinished() }
      let bufferEnd = buffer.outputPresentationTime + buffer.outputDuration
      if bufferEnd.isNumeric { end = max(end, min(bufferEnd, plan.range.end)) }
      let part = Self.part(end - plan.range.start, of: plan.expectedDuration)
      if part > toldPart, part < 20 {
        toldPart = part
        progress(part)
      }
    }
    return end
  }

  private static func first(of tracks: [Track]) -> Int? {
    tracks.indices.lazy.filter { tracks[$0].next != nil }.min {
      (tracks[$0].place ?? .positiveInfinity) < (tracks[$1].place ?? .positiveInfinity)
    }
  }

  /// How many twentieths.
  private static func part(_ done: MediaTime, of whole: MediaTime) -> Int {
    guard whole.isNumeric, whole > .zero else { return 0 }
    return Int(max(0, min(1, done.seconds / whole.seconds)) * 20)
  }
}
