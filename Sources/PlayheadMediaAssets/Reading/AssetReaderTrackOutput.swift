import PlayheadMediaCore

/// Reads the decoded audio of one track. ``AssetReaderStoredOutput`` reads stored samples.
public final class AssetReaderTrackOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`.

  /// The track. Default: nil, the track that plays, or the mix of all audio tracks of a composition.
  public let trackID: AssetTrack.ID?
  /// The format of the samples.
  public let settings: AudioReadSettings

  /// Creates an output that has no reader yet.
  public init(
    trackID: AssetTrack.ID? = nil, settings: AudioReadSettings = AudioReadSettings(), supportsRandomAccess: Bool = false
  ) {
    self.trackID = trackID
    self.settings = settings
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  override func check() throws(MediaError) { try settings.check() }

  override func makeSource(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any SampleBufferSource {
    let track = trackID.map { id in properties.tracks.first { $0.id == id } } ?? properties.audioTrack
    let expectedEncoding = track?.audioFormat.map { AudioTrackSource.encoding(for: settings, of: $0) }
    var reader = try opening.reader(
      asset, trackID: trackID, encoding: expectedEncoding ?? NativeSamples.native(of: settings.encoding))
    let encoding = AudioTrackSource.encoding(for: settings, of: reader.format)
    // The decoded format differs from the one in the file's header.
    if reader.encoding != encoding { reader = try opening.reader(asset, trackID: trackID, encoding: encoding) }
    return try AudioTrackSource(reader, settings)
  }
}
