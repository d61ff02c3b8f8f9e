import MediaCore

/// What of an asset becomes which tracks of a file.
struct ExportPlan: Sendable {
  /// What is read becomes what is written.
  struct Lane: Sendable {
    let output: AssetReaderOutput
    let input: AssetWriterInput
  }

  let lanes: [Lane]
  /// On the asset's timeline; the end may be indefinite.
  let range: TimeRange
  let container: WritableContainer
  let options: AssetWriter.Options

  /// Errors: `noPlayableTracks`, `noSuchTrack`, `invalidTime`, `unsupportedPlace`, `invalidArgument`; those of reading tags.
  init(
    _ asset: Asset, _ properties: AssetProperties, _ settings: ExportSettings, _ opening: AssetOpening
  ) throws(MediaError) {
    container = settings.container
    range = try Self.range(settings.timeRange, properties, asset.displayPath)
    lanes = try Self.lanes(properties, settings, asset.displayPath)
    var options = AssetWriter.Options()
    options.shouldOptimizeForNetworkUse = settings.shouldOptimizeForNetworkUse
    if settings.metadataFilter != .none {
      options.metadata = ExportTags.dictionary(try opening.metadata(of: asset), settings.metadataFilter)
    }
    for (name, value) in settings.metadata { options.metadata[name] = value.isEmpty ? nil : value }
    self.options = options
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
    guard wanted.start < properties.duration else {
      throw MediaError(
        .invalidTime, "\(wanted.start) lies behind the end, which is at \(properties.duration): \(path)",
        operation: "export")
    }
    return TimeRange(start: wanted.start, end: min(wanted.end, properties.duration))
  }

  private static func lanes(
    _ properties: AssetProperties, _ settings: ExportSettings, _ path: String
  ) throws(MediaError) -> [Lane] {
    var lanes: [Lane] = []
    if settings.sound != .none, let lane = try soundLane(properties, settings, path) { lanes.append(lane) }
    guard !lanes.isEmpty else {
      throw MediaError(.noPlayableTracks, "there is nothing to export in \(path)", operation: "export")
    }
    return lanes
  }

  private static func soundLane(
    _ properties: AssetProperties, _ settings: ExportSettings, _ path: String
  ) throws(MediaError) -> Lane? {
    let id = settings.audioTrackID ?? properties.audioTrackID
    guard let track = properties.tracks.first(where: { $0.id == id }), track.mediaType == .audio else {
      guard settings.audioTrackID == nil else {
        throw MediaError(.noSuchTrack, "there is no such track of sound in \(path)", operation: "export")
      }
      return nil
    }
    guard track.isAudible, let format = track.audioFormat else {
      throw MediaError(.unsupportedAudioFormat, "the sound of \(path) is not decoded", operation: "export")
    }
    let encoding = Self.encoding(of: track)
    var output = AudioOutputSettings(settings.container.usualCodec)
    if case .encode(let wanted?) = settings.sound { output = wanted }
    if case .pcm(let pcm) = output.codec, case .encode(nil) = settings.sound, pcm == .signed16 {
      output.codec = .pcm(track.bitsPerSample.map { $0 > 16 ? .signed24 : .signed16 } ?? .signed16)
    }
    let source = FormatDescription.pcm(
      encoding, sampleRateHz: format.sampleRateHz, channelCount: format.channelCount, channelMask: track.channelMask)
    return Lane(
      output: AssetReaderTrackOutput(trackID: track.id, settings: AudioReadSettings(encoding)),
      input: AssetWriterInput(settings: output, sourceFormat: source, languageCode: track.languageCode))
  }

  /// What a track's samples are handed over as: so that nothing is lost, and as little as possible converted.
  private static func encoding(of track: AssetTrack) -> PCMEncoding {
    switch track.sampleFormatName {
    case "u8", "u8p", "s16", "s16p": .signed16
    case "s32", "s32p": .signed32
    case "dbl", "dblp": PCMEncoding(.float, bitsPerSample: 64)
    default: .float32
    }
  }
}
