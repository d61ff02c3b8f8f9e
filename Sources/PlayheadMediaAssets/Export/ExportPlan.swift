import PlayheadMediaCore

/// The tracks of an export, and how each is written.
struct ExportPlan: Sendable {
  /// An output of the reader and the input of the writer that it feeds.
  struct Track: Sendable {
    let output: AssetReaderOutput
    /// The error if the track has no samples. Nil if only a range is exported, because the track may end before it.
    let missingError: MediaError?
    /// Makes the input when the first sample is available, because the sample states its format.
    let makeInput: @Sendable (_ first: SampleBuffer, _ start: MediaTime) -> AssetWriterInput
  }

  let tracks: [Track]
  /// The exported range on the asset's timeline. The end may be infinite, or after the end of the asset.
  let range: TimeRange
  /// The expected duration of the result, for the progress. An estimate; indefinite if it is unknown.
  let expectedDuration: MediaTime
  let container: WritableContainer
  let options: AssetWriter.Options

  /// - Throws: `noPlayableTracks`, `noSuchTrack`, `invalidTime`, `unsupportedLocation`, `unsupportedAudioFormat`; the
  ///   errors of reading tags.
  init(
    _ opened: ExportSource.OpenedSource, _ settings: ExportSettings, name: String, _ opening: AssetOpening
  ) throws(MediaError) {
    container = settings.container
    range = try Self.range(settings.timeRange, opened.properties, name)
    let end = min(range.end, opened.properties.duration)
    expectedDuration = end.isNumeric ? end - range.start : .indefinite
    tracks = try ExportTracks(opened, settings, path: name).all()
    options = try ExportExtras(opened, settings, range, opening).options
  }

  private static func range(
    _ requested: TimeRange, _ properties: AssetProperties, _ path: String
  ) throws(MediaError) -> TimeRange {
    guard properties.isSeekable || properties.duration.isNumeric else {
      throw MediaError(.unsupportedLocation, "a stream without an end cannot be exported: \(path)", operation: "export")
    }
    guard requested.start.isNumeric, requested.start >= .zero, requested.duration > .zero else {
      throw MediaError(
        .invalidTime, "the exported range must start at 0 or later and have a positive duration", operation: "export")
    }
    guard properties.duration.isNumeric else { return requested }
    // The duration in a header may be too short.
    guard requested.start < properties.duration || !properties.providesPreciseDuration || properties.isSeekable else {
      throw MediaError(
        .invalidTime, "the start \(requested.start) must be before the end (\(properties.duration)): \(path)",
        operation: "export")
    }
    // In a file, each track has its end, and the declared duration may be an estimate. A source that cannot seek may
    // continue after the declared duration, even without an end, so the duration limits the range.
    if properties.isSeekable { return requested }
    return TimeRange(start: requested.start, end: min(requested.end, properties.duration))
  }
}
