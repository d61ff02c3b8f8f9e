import MediaCore

/// The sound of one track, decoded. `AssetReaderStoredOutput` has it as it is stored.
public final class AssetReaderTrackOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`.

  /// The track; nil: the one that the file would have played, of a composition all of them, added up.
  public let trackID: AssetTrack.ID?
  /// What the samples are read as.
  public let settings: AudioReadSettings

  /// An output that has no reader yet.
  public init(
    trackID: AssetTrack.ID? = nil, settings: AudioReadSettings = AudioReadSettings(), supportsRandomAccess: Bool = false
  ) {
    self.trackID = trackID
    self.settings = settings
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  override func check() throws(MediaError) { try settings.check() }

  override func makePass(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any ReadPass {
    let track = trackID.map { id in properties.tracks.first { $0.id == id } } ?? properties.audioTrack
    let likely = track?.audioFormat.map { SoundPass.encoding(for: settings, of: $0) }
    var sound = try opening.reader(
      asset, trackID: trackID, encoding: likely ?? NativeSamples.native(of: settings.encoding))
    let encoding = SoundPass.encoding(for: settings, of: sound.format)
    // What is decoded is not what the file's header says of it.
    if sound.encoding != encoding { sound = try opening.reader(asset, trackID: trackID, encoding: encoding) }
    return try SoundPass(sound, settings)
  }
}
