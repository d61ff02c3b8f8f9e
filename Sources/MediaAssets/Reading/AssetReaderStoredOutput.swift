import LibAV
import MediaCore
import Synchronization

/// Reads the stored samples of one track in decoding order, as AVAssetReaderTrackOutput without settings.
///
/// Each buffer is a packet, or for PCM many frames. Times are on the timeline of the decoded audio: the frame at
/// `presentationTime` is the one that ``AssetReaderTrackOutput`` has there. The attachments contain the trims of
/// samples that are decoded but not heard or shown:
///
/// - an encoder's padding before time 0 and at the end
/// - samples outside the range, and those that must be decoded before it
///
/// Therefore a range written to a container that supports trims is exact to the sample.
///
/// A range of audio also contains the packets before its start that the codec needs for correct output there. A range
/// of video begins with the last key frame before its start, and ends with the last packet that is decoded before the
/// last shown frame. PCM is cut at the range's edges.
public final class AssetReaderStoredOutput: AssetReaderOutput, @unchecked Sendable {
  // `@unchecked Sendable`: as `AssetReaderOutput`; `format` has a lock.

  /// The track, of any media type. Default: nil, the audio track that plays, or the video track if there is none.
  public let trackID: AssetTrack.ID?
  private let openedFormat = Mutex<FormatDescription?>(nil)

  /// Creates an output that has no reader yet.
  public init(trackID: AssetTrack.ID? = nil, supportsRandomAccess: Bool = false) {
    self.trackID = trackID
    super.init(supportsRandomAccess: supportsRandomAccess)
  }

  /// The format of the samples, as in each buffer; nil before reading has started.
  public var format: FormatDescription? { openedFormat.withLock { $0 } }

  override func makeSource(
    _ asset: Asset, _ properties: AssetProperties, _ opening: AssetOpening
  ) throws(MediaError) -> any SampleBufferSource {
    let preferred = properties.audioTrack ?? properties.tracks.first { $0.mediaType == .video }
    guard let track = trackID.map({ id in properties.tracks.first { $0.id == id } }) ?? preferred else {
      throw MediaError(
        .noSuchTrack, "there is no track \(trackID.map { "\($0)" } ?? "to read") in \(asset.displayPath)",
        operation: "read")
    }
    let (demuxer, byteCount, interrupt) = try opening.container(asset)
    let isCounted = track.mediaType == .audio && track.isDecodable
    let source: any StoredSampleSource =
      isCounted
      ? try StoredAudioSource(
        MediaTrackReader(
          asset: asset, demuxer: demuxer, byteCount: byteCount, interrupt: interrupt, trackID: track.id,
          keepsPackets: true))
      : try StoredPacketSource(asset, demuxer, byteCount: byteCount, interrupt: interrupt, trackID: track.id)
    openedFormat.withLock { $0 = source.format }
    return source
  }
}

/// A source of stored samples.
protocol StoredSampleSource: SampleBufferSource {
  /// The format of the samples.
  var format: FormatDescription { get }
}
