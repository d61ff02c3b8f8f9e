import PlayheadLibAV
import PlayheadMediaCore

/// The container's description of the audio of contiguous segments.
struct SegmentDescription: Codable {
  var trackIndex: Int
  var codecName: String
  /// The duration of a tick in seconds, as a fraction.
  var tickNumerator: Int32
  var tickDenominator: Int32
  var sampleRateHz: Int
  /// Nil if it is unknown before decoding.
  var audioFormat: AudioFormat?
  var seekPrerollFrames: Int64?
  var isMovie: Bool
  var isMPEGTransport: Bool
  /// The number of ticks by which an MP4 edit list moves timestamps back.
  var editTicks: Int64

  /// Whether all numbers are in their ranges, so that sums of them do not overflow.
  var isPlausible: Bool {
    (0..<4_096).contains(trackIndex) && timeBase != nil && (1...1 << 30).contains(sampleRateHz)
      && audioFormat?.isSupported != false && (seekPrerollFrames.map { (0...1 << 40).contains($0) } ?? true)
      && abs(max(editTicks, -.max)) < 1 << 60
  }

  var timeBase: TimeBase? { TimeBase(numerator: tickNumerator, denominator: tickDenominator) }
}

/// An ID3 tag from a stream of tags.
struct TimestampedTag: Codable {
  /// The timestamp; nil if there is none.
  var time: MediaTime?
  var bytes: [UInt8]

  /// Maximum number of tags that wait to be read.
  static let maximumCount = 256
}

/// Decodes the audio of contiguous segments from their first packet: in this process or in a worker process.
///
/// Threading: one thread at a time, which may block.
protocol SegmentDecoder: AnyObject {
  var description: SegmentDescription { get }

  /// Returns the properties of the container.
  ///
  /// - Throws: The errors of `AssetProperties.init`.
  func properties(displayPath: String) throws(MediaError) -> AssetProperties

  /// Decodes the next frame.
  func next(into frame: Frame) throws(AVFailure) -> SegmentDecodeResult

  /// Removes and returns the tags found since the last call.
  func drainTags() -> [TimestampedTag]
}

/// The result of decoding.
enum SegmentDecodeResult {
  /// `frame` has been filled. In MP4, the fragment of its packet ends at a timestamp.
  case frame(fragmentEndTicks: Int64?)
  /// A packet did not decode.
  case undecodable(AVFailure)
  case end
  case cancelled
}

/// Decodes in this process, which may be a worker.
final class LocalSegmentDecoder: SegmentDecoder {
  let description: SegmentDescription
  private let packets: PacketFrameReader
  /// The streams that contain ID3 tags.
  private let tagStreams: [StreamInfo]
  private var tags: [TimestampedTag] = []
  /// In MP4: the timestamp of the end of the last packet's fragment.
  private var fragmentEndTicks: Int64?

  private static let maximumTagStreamCount = 4

  /// The options for opening the segments' container.
  static var options: Demuxer.Options {
    var options = Demuxer.Options()
    options.probeByteCount = 1 << 20
    options.analyzeMicroseconds = 2_000_000
    return options
  }

  /// - Throws: `unknownCodec`, `noPlayableTracks`, `damagedFile`.
  init(_ demuxer: Demuxer, name: String) throws(MediaError) {
    guard let index = demuxer.preferredAudioStreamIndex else {
      throw MediaError(.noPlayableTracks, "there is no audio in \(name)", operation: "hls")
    }
    let stream = demuxer.streams[index]
    guard let rate = stream.sampleRateHz, TimeBase(sampleRateHz: rate) != nil else {
      throw MediaError(.damagedFile, "the audio format is unknown in \(name)", operation: "hls")
    }
    let isMovie = ContainerFormat(demuxer.formatName) == .movie
    let times =
      isMovie
      ? MovieTrackTimes(
        trackID: stream.containerID, readsLastSample: false, read: { demuxer.bytes(at: $0, count: $1) }) : nil
    description = SegmentDescription(
      trackIndex: index, codecName: stream.codecName, tickNumerator: stream.timeBase.numerator,
      tickDenominator: stream.timeBase.denominator, sampleRateHz: rate, audioFormat: stream.audioFormat,
      seekPrerollFrames: stream.seekPrerollFrames, isMovie: isMovie,
      isMPEGTransport: demuxer.formatName == "mpegts",
      editTicks: (stream.startTicks ?? 0) < 0 ? times?.mediaOrigin ?? 0 : 0)
    tagStreams = Array(demuxer.streams.filter(\.isTimedID3).prefix(Self.maximumTagStreamCount))
    do throws(AVFailure) {
      packets = try PacketFrameReader(demuxer: demuxer, streamIndex: index, others: tagStreams.map(\.index))
    } catch {
      throw MediaError(error, path: name)
    }
  }

  func properties(displayPath: String) throws(MediaError) -> AssetProperties {
    try AssetProperties(demuxer: packets.demuxer, byteCount: 0, displayPath: displayPath)
  }

  func next(into frame: Frame) throws(AVFailure) -> SegmentDecodeResult {
    while true {
      switch try packets.next(into: frame, reading: readPacket) {
      case .frame:
        guard frame.frameCount > 0, frame.layout != nil else { continue }
        return .frame(fragmentEndTicks: fragmentEndTicks)
      case .skipped(let failure): return .undecodable(failure)
      case .end: return .end
      case .cancelled, .stopped: return .cancelled
      }
    }
  }

  func drainTags() -> [TimestampedTag] {
    defer { tags = [] }
    return tags
  }

  private func readPacket() throws(AVFailure) -> PacketFrameReader.PacketResult {
    do throws(AVFailure) {
      let result = try packets.readPacket()
      if result == .otherPacket { storeTag() }
      if result == .packet, description.isMovie {
        fragmentEndTicks = packets.demuxer.currentDurationTicks(streamIndex: packets.stream.index)
          .map { $0 + description.editTicks }
      }
      return result
    } catch {
      // The byte source of segments throws the cancellation of a transfer.
      guard error.kind == .cancelled else { throw error }
      return .cancelled
    }
  }

  /// Keeps the packet if it is an ID3 tag.
  private func storeTag() {
    let packet = packets.packet
    guard tags.count < TimestampedTag.maximumCount,
      let stream = tagStreams.first(where: { $0.index == packet.streamIndex }),
      let bytes = packet.data(limit: SegmentTag.maximumByteCount).flatMap(TransportTag.restored)
    else { return }
    tags.append(TimestampedTag(time: packet.pts.map { stream.timeBase.time(ofTicks: $0) }, bytes: bytes))
  }
}
