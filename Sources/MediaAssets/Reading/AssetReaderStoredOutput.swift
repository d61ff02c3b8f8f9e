import LibAV
import MediaCore
import Synchronization

/// The samples of one track as they are stored, in the order in which they are decoded: as AVAssetReaderTrackOutput without settings.
///
/// Each buffer is a packet; of sound that is plain numbers, many frames. Their times are those of what they decode to, on the timeline
/// of the decoded sound: the frame at `presentationTime` is the one that `AssetReaderTrackOutput` has there. What is decoded but not
/// to be heard or seen is in the attachments: an encoder's padding before time 0 and at the end, and, of a range, what its edges cut off
/// and what has to be decoded before it. So a range that is written to a container that can say such a thing is exact to the sample.
///
/// A range of sound begins so many packets before its start as the codec wants to be right there. One of video begins with the last
/// packet before its start that decoding can begin with, and ends with the last that is decoded before what is shown last. Plain
/// numbers are cut at the range's edges.
public final class AssetReaderStoredOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`; `format` has a lock.

  /// The track, of any kind of media; nil: the sound that the file would have played, or else its video.
  public let trackID: AssetTrack.ID?
  private let found = Mutex<FormatDescription?>(nil)

  /// An output that has no reader yet.
  public init(trackID: AssetTrack.ID? = nil, supportsRandomAccess: Bool = false) {
    self.trackID = trackID
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  /// What the samples are, as every buffer says, too; nil before reading has begun.
  public var format: FormatDescription? { found.withLock { $0 } }

  override func makePass(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any ReadPass {
    let preferred = properties.audioTrack ?? properties.tracks.first { $0.mediaType == .video }
    guard let track = trackID.map({ id in properties.tracks.first { $0.id == id } }) ?? preferred else {
      throw MediaError(
        .noSuchTrack, "there is no track \(trackID.map { "\($0)" } ?? "to read") in \(asset.displayPath)",
        operation: "read")
    }
    let (demuxer, byteCount, interrupt) = try opening.container(asset)
    let isCounted = track.mediaType == .audio && track.isDecodable
    let pass: any StoredPass =
      isCounted
      ? try StoredSoundPass(
        MediaTrackReader(
          asset: asset, demuxer: demuxer, byteCount: byteCount, interrupt: interrupt, trackID: track.id,
          keepsPackets: true))
      : try StoredPacketPass(asset, demuxer, byteCount: byteCount, interrupt: interrupt, trackID: track.id)
    found.withLock { $0 = pass.format }
    return pass
  }
}

/// A pass over samples as they are stored.
protocol StoredPass: ReadPass {
  /// What they are.
  var format: FormatDescription { get }
}
