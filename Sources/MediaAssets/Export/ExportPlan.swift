import MediaCore

/// What of an asset becomes which tracks of a file.
struct ExportPlan: Sendable {
  /// What is read becomes what is written.
  struct Lane: Sendable {
    let output: AssetReaderOutput
    /// The error of a track that has no samples, if all of it is exported. Nil for a part, which may lie after its end.
    let missing: MediaError?
    /// Made when the first samples are there: they say what they are.
    let input: @Sendable (_ first: SampleBuffer, _ start: MediaTime) -> AssetWriterInput
  }

  let lanes: [Lane]
  /// What is read, on the asset's timeline. The end may be infinite or lie after that of the asset.
  let range: TimeRange
  /// How long the result will be, for the progress. An estimate; indefinite if nothing tells it.
  let expectedDuration: MediaTime
  let container: WritableContainer
  let options: AssetWriter.Options

  /// Errors: `noPlayableTracks`, `noSuchTrack`, `invalidTime`, `unsupportedPlace`, `unsupportedAudioFormat`; those of reading tags.
  init(
    _ material: ExportSource.Material, _ settings: ExportSettings, name: String, _ opening: AssetOpening
  ) throws(MediaError) {
    container = settings.container
    range = try Self.range(settings.timeRange, material.properties, name)
    let end = min(range.end, material.properties.duration)
    expectedDuration = end.isNumeric ? end - range.start : .indefinite
    lanes = try ExportLanes(material, settings, path: name).all()
    options = try ExportExtras(material, settings, range, opening).options
  }

  private static func range(
    _ wanted: TimeRange, _ properties: AssetProperties, _ path: String
  ) throws(MediaError) -> TimeRange {
    guard properties.isSeekable || properties.duration.isNumeric else {
      throw MediaError(.unsupportedPlace, "a stream has no end, so it is not exported: \(path)", operation: "export")
    }
    guard wanted.start.isNumeric, wanted.start >= .zero, wanted.duration > .zero else {
      throw MediaError(
        .invalidTime, "what is exported begins at a number from 0 on, and has a length", operation: "export")
    }
    guard properties.duration.isNumeric else { return wanted }
    guard wanted.start < properties.duration || !properties.providesPreciseDuration else {
      throw MediaError(
        .invalidTime, "\(wanted.start) lies behind the end, which is at \(properties.duration): \(path)",
        operation: "export")
    }
    // Tracks of a file end by themselves. Its duration may be an estimate, or that of another track. A server may send
    // more than it says, without an end.
    return properties.isSeekable ? wanted : TimeRange(start: wanted.start, end: min(wanted.end, properties.duration))
  }
}
