import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
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
///
/// With `Asset.Isolation`, a worker process opens the file and reads its packets. A packet then has at most 64 MiB,
/// otherwise 256 MiB.
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
    let source = try opening.storedSamples(
      asset, trackID: track.id, isCounted: track.mediaType == .audio && track.isDecodable)
    openedFormat.withLock { $0 = source.format }
    return source
  }
}

/// A source of stored samples.
protocol StoredSampleSource: SampleBufferSource {
  /// The format of the samples.
  var format: FormatDescription { get }
}

/// Opens sources of stored samples in this process or in a worker.
enum StoredSampleSources {
  /// Opens a track of an asset. Blocks.
  ///
  /// With isolation, a worker opens the file and reads its packets.
  ///
  /// - Parameter isCounted: Whether the positions of the samples are counted in audio frames.
  /// - Throws: The errors of `Asset.load` for the file and its container; `invalidArgument` for an asset without
  ///   packets, such as a segmented stream; `noSuchTrack`; `cancelled`. With isolation also `workerUnavailable`, and
  ///   `damagedFile` if the worker crashes.
  static func open(
    _ asset: Asset, trackID: AssetTrack.ID, isCounted: Bool, interrupt: Interrupt, log: NetworkLog?,
    pool: WorkerPool? = nil
  ) throws(MediaError) -> any StoredSampleSource {
    guard asset.isolation != .none else {
      return try openLocally(asset, trackID: trackID, isCounted: isCounted, interrupt: interrupt, log: log)
    }
    guard case .bytes(let source) = try MediaFile.openLocation(of: asset, interrupt: interrupt, log: log) else {
      throw noPackets(asset)
    }
    let pool = if let pool { pool } else { try Asset.Isolation.pool() }
    return try IsolatedStoredSource(
      pool, source: source, displayName: asset.displayPath, trackID: trackID, isCounted: isCounted)
  }

  /// Opens a track in this process, which may be a worker process. Parameters and errors are those of `open`.
  ///
  /// - Parameter maximumPacketByteCount: The maximum size of a packet that is not audio, in bytes.
  static func openLocally(
    _ asset: Asset, trackID: AssetTrack.ID, isCounted: Bool, interrupt: Interrupt, log: NetworkLog? = nil,
    maximumPacketByteCount: Int = StoredPacketSource.maximumPacketByteCount
  ) throws(MediaError) -> any StoredSampleSource {
    guard case .file(let demuxer, let byteCount) = try MediaFile.open(asset, interrupt: interrupt, log: log) else {
      throw noPackets(asset)
    }
    if isCounted {
      return try StoredAudioSource(
        MediaTrackReader(
          asset: asset, demuxer: demuxer, byteCount: byteCount, interrupt: interrupt, trackID: trackID,
          keepsPackets: true))
    }
    return try StoredPacketSource(
      asset, demuxer, byteCount: byteCount, interrupt: interrupt, trackID: trackID,
      maximumPacketByteCount: maximumPacketByteCount)
  }

  private static func noPackets(_ asset: Asset) -> MediaError {
    MediaError(
      .invalidArgument, "stored samples can be read from files only: \(asset.displayPath)", operation: "read")
  }
}
