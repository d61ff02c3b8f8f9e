import LibAV
import MediaCore

/// One opening of an asset, which can be cancelled while it blocks: a server may take its time.
///
/// Threading: `inspect`, or `load` and then `reader` once, on a worker thread; `cancel` from any, does not block.
public final class AssetOpening: Sendable {
  private let interrupt = Interrupt()

  public init() {}

  /// Makes what runs, and what is called then, throw `cancelled`.
  public func cancel() { interrupt.cancel() }

  /// Finds out what the asset is, for who does not read it. Blocks. Errors: those of `Asset.load`; `cancelled`.
  public func inspect(_ asset: Asset) throws(MediaError) -> AssetProperties { try asset.load(interrupt: interrupt) }

  /// Finds out what the asset is; what had to be opened for that is kept for `reader`. Blocks.
  ///
  /// Errors: those of `Asset.load`; `cancelled`.
  public func load(_ asset: Asset) throws(MediaError) -> AssetProperties {
    try asset.load(interrupt: interrupt, keepsOpen: true)
  }

  /// Opens the asset's sound. Blocks.
  ///
  /// - Parameter trackID: the track to read; nil: the one that the file would have played.
  ///
  /// Errors: those of `AudioTrackReader`; `cancelled`.
  public func reader(_ asset: Asset, trackID: AssetTrack.ID?) throws(MediaError) -> AudioTrackReader {
    defer { finish(asset) }
    return try AudioTrackReader(asset: asset, interrupt: interrupt, kinds: .regularFiles, trackID: trackID)
  }

  /// Nothing more is opened: what was kept is let go.
  public func finish(_ asset: Asset) { asset.dropKept() }
}
