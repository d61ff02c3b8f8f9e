import PlayheadMediaCore

/// Reads several audio tracks as one mix, as AVAssetReaderAudioMixOutput.
///
/// Each track is converted to the requested sample rate and channels, multiplied by its volume at the time of each
/// frame, and added. The sum is multiplied by the volume of the mix. There is no limiter: integer samples are clipped.
/// A single track without ramps has the same samples as from ``AssetReaderTrackOutput``.
public final class AssetReaderAudioMixOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`.

  /// The maximum number of mixed tracks. Each track opens the file once more.
  public static let maximumTrackCount = 32

  /// The tracks, at most ``maximumTrackCount``. Default: nil, all audible tracks of the asset.
  public let trackIDs: [AssetTrack.ID]?
  /// The format of the samples. By default the sample rate is that of the first track, and the channel count is the
  /// largest of all tracks.
  public let settings: AudioReadSettings
  /// The volumes of the tracks and of the mix. Default: nil, unchanged.
  public let audioMix: AudioMix?

  /// Creates an output that has no reader yet.
  public init(
    trackIDs: [AssetTrack.ID]? = nil, settings: AudioReadSettings = AudioReadSettings(), audioMix: AudioMix? = nil,
    supportsRandomAccess: Bool = false
  ) {
    self.trackIDs = trackIDs
    self.settings = settings
    self.audioMix = audioMix
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  override func check() throws(MediaError) {
    try settings.check()
    if let trackIDs, trackIDs.isEmpty || Set(trackIDs).count != trackIDs.count {
      throw MediaError(.invalidArgument, "an audio mix needs at least one track, and no track twice", operation: "add")
    }
  }

  /// - Throws: `mediaLimitExceeded`.
  private static func checkCount(_ ids: [AssetTrack.ID]) throws(MediaError) {
    guard ids.count > maximumTrackCount else { return }
    throw MediaError(
      .mediaLimitExceeded, "an audio mix must have at most \(maximumTrackCount) tracks (got \(ids.count))",
      operation: "read")
  }

  override func makeSource(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any SampleBufferSource {
    let ids = trackIDs ?? properties.tracks.filter(\.isAudible).map(\.id)
    guard !ids.isEmpty else {
      try properties.checkHasAudio(path: asset.displayPath, operation: "read")
      throw MediaError(.noPlayableTracks, "there is no audio to mix in \(asset.displayPath)", operation: "read")
    }
    try Self.checkCount(ids)
    var readers: [AudioTrackReader] = []
    for id in ids { readers.append(try opening.reader(asset, trackID: id)) }
    return try AudioMixSource(readers, settings, audioMix ?? AudioMix())
  }
}
