import MediaCore

/// Several tracks of sound, mixed: as AVAssetReaderAudioMixOutput.
///
/// Each track is brought to the rate and the channels that are asked for, multiplied with its volume at each frame's time, and added
/// up; the sum is multiplied with the mix's own. Nothing limits it: integers are clipped. One track without ramps comes as
/// `AssetReaderTrackOutput` has it.
public final class AssetReaderAudioMixOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`.

  /// Tracks that are mixed at most: each opens the file once more.
  public static let maximumTrackCount = 32

  /// The tracks, `maximumTrackCount` at most; nil: all of the asset that are audible.
  public let trackIDs: [AssetTrack.ID]?
  /// What the samples are read as. A rate that is not said is that of the first track, and as many channels are read as the track with
  /// most of them has.
  public let settings: AudioReadSettings
  /// How loud each track is, and all of them together; nil: as they are.
  public let audioMix: AudioMix?

  /// An output that has no reader yet.
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
      throw MediaError(.invalidArgument, "tracks are mixed once each, and one at least", operation: "add")
    }
  }

  /// Errors: `mediaLimitExceeded`.
  private static func checkCount(_ ids: [AssetTrack.ID]) throws(MediaError) {
    guard ids.count > maximumTrackCount else { return }
    throw MediaError(
      .mediaLimitExceeded, "at most \(maximumTrackCount) tracks are mixed, not \(ids.count)", operation: "read")
  }

  override func makePass(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any ReadPass {
    let ids = trackIDs ?? properties.tracks.filter(\.isAudible).map(\.id)
    guard !ids.isEmpty else {
      try properties.checkHasAudio(path: asset.displayPath, operation: "read")
      throw MediaError(.noPlayableTracks, "there is no sound to mix in \(asset.displayPath)", operation: "read")
    }
    try Self.checkCount(ids)
    var readers: [AudioTrackReader] = []
    for id in ids { readers.append(try opening.reader(asset, trackID: id)) }
    return try MixPass(readers, settings, audioMix ?? AudioMix())
  }
}
