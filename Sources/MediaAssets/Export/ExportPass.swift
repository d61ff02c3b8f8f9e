import MediaCore
import WholeFiles

/// Moves what is read to where it is written. On one thread, which may block; `cancel` from any.
final class ExportPass: Sendable {
  private let plan: ExportPlan
  private let reader: AssetReader
  private let writer: AssetWriter

  /// Errors: those of adding outputs.
  init(_ asset: Asset, _ plan: ExportPlan, _ file: WholeFile) throws(MediaError) {
    self.plan = plan
    reader = AssetReader(asset: asset)
    writer = AssetWriter(file: file, container: plan.container, options: plan.options)
    try reader.setTimeRange(plan.range)
    for lane in plan.lanes { try reader.add(lane.output) }
  }

  /// Makes what blocks give up. Does not block.
  func cancel() {
    reader.cancelReading()
    writer.cancelWriting()
  }

  /// Reads and writes all of it.
  ///
  /// - Parameters:
  ///   - progress: as `AssetExportSession.start` tells it.
  ///   - check: called for each buffer; throws when it is to end.
  func run(
    _ progress: (Double?) -> Void, check: () throws(MediaError) -> Void
  ) throws(MediaError) -> AssetExportSession.Outcome {
    // Who leaves on an error leaves nothing behind.
    defer {
      reader.cancelReading()
      writer.cancelWritingAndWait()
    }
    try reader.startReading()
    var inputs: [AssetWriterInput] = []
    for lane in plan.lanes {
      let input = try lane.input()
      try writer.add(input)
      inputs.append(input)
    }
    try writer.startWriting()
    try writer.startSession(atSourceTime: plan.range.start)
    let end = try copy(into: inputs, progress, check)
    if let error = reader.error { throw error }
    try writer.finishWriting()
    progress(1)
    let fault = plan.lanes.lazy.compactMap(\.output.fault).first
    return AssetExportSession.Outcome(duration: end - plan.range.start, byteCount: writer.byteCount, fault: fault)
  }

  /// Answers where the last sample ends.
  private func copy(
    into inputs: [AssetWriterInput], _ progress: (Double?) -> Void, _ check: () throws(MediaError) -> Void
  ) throws(MediaError) -> MediaTime {
    var places = plan.lanes.map { _ in MediaTime?.some(.negativeInfinity) }
    var (end, toldPart) = (plan.range.start, 0)
    progress(plan.range.duration.isNumeric ? 0 : nil)
    // What is furthest behind comes next, so that tracks lie side by side in the file.
    while let index = Self.first(of: places) {
      try check()
      guard let buffer = plan.lanes[index].output.copyNextSampleBuffer() else {
        inputs[index].markAsFinished()
        places[index] = nil
        continue
      }
      try inputs[index].append(waiting: buffer)
      places[index] = buffer.decodeTime.isValid ? buffer.decodeTime : buffer.presentationTime
      let bufferEnd = buffer.outputPresentationTime + buffer.outputDuration
      if bufferEnd.isNumeric { end = max(end, min(bufferEnd, plan.range.end)) }
      let part = Self.part(end - plan.range.start, of: plan.range.duration)
      if part > toldPart, part < 20 {
        toldPart = part
        progress(Double(part) / 20)
      }
    }
    return end
  }

  private static func first(of places: [MediaTime?]) -> Int? {
    places.indices.filter { places[$0] != nil }.min {
      (places[$0] ?? .positiveInfinity) < (places[$1] ?? .positiveInfinity)
    }
  }

  /// How many twentieths.
  private static func part(_ done: MediaTime, of whole: MediaTime) -> Int {
    guard whole.isNumeric, whole > .zero else { return 0 }
    return Int(max(0, min(1, done.seconds / whole.seconds)) * 20)
  }
}
