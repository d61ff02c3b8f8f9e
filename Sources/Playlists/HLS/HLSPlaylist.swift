// What an HLS playlist says (RFC 8216), as values. Times are whole nanoseconds: sums of thousands of decimals stay exact.
import MediaCore

/// Bounds on what a playlist may ask for.
public enum HLSLimits {
  /// Bytes of one playlist.
  public static let playlistByteCount = 8 << 20
  /// Segments of one playlist: ten days of segments of ten seconds, or four of four.
  public static let segmentCount = 100_000
  /// Variants of a master playlist, and renditions of each type.
  public static let variantCount = 512
  /// Bytes of the places of all segments of a playlist, once they are whole.
  public static let placeByteCount = 64 << 20
  /// Nanoseconds of a segment: a day.
  public static let segmentNanoseconds: Int64 = 86_400_000_000_000
  /// Nanoseconds of all segments: 115 days.
  public static let totalNanoseconds: Int64 = 10_000_000_000_000_000
  /// Nanoseconds that a live stream may have gone on, either way: 36 years.
  public static let timelineNanoseconds: Int64 = 1 << 60
  /// Where a range of bytes ends, at most: 8 PiB.
  public static let rangeEnd: Int64 = 1 << 53
}

/// A playlist of either kind.
public enum HLSPlaylist: Sendable, Hashable {
  case media(HLSMediaPlaylist)
  case master(HLSMasterPlaylist)

  /// Whether something that it names is on a server.
  public var namesServers: Bool {
    func isRemote(_ place: PlaylistPlace?) -> Bool { if case .url = place { true } else { false } }
    return switch self {
    case .media(let list):
      list.segments.contains { isRemote($0.place) } || list.maps.contains { isRemote($0.place) }
        || list.keys.contains { isRemote($0.place) }
    case .master(let list):
      list.variants.contains { isRemote($0.place) } || list.audioRenditions.contains { isRemote($0.place) }
    }
  }
}

/// Part of a resource.
public struct HLSByteRange: Sendable, Hashable {
  public var start: Int64
  /// 1 or more.
  public var count: Int64
  /// The first byte behind it.
  public var end: Int64 { start + count }
}

/// How segments are encrypted (`EXT-X-KEY`).
public struct HLSKey: Sendable, Hashable {
  /// The ways that there are.
  public enum Method: Sendable, Hashable {
    /// All of a segment with AES-128 in CBC mode and PKCS #7 padding.
    case aes128
    /// Anything else, such as `SAMPLE-AES`: it cannot be played.
    case other(String)
  }

  public var method: Method
  /// Where the key is; nil for a method that is not known.
  public var place: PlaylistPlace?
  /// 16 bytes; nil: the segment's number.
  public var initializationVector: [UInt8]?
}

/// What comes in front of segments of fragmented MP4 (`EXT-X-MAP`).
public struct HLSMap: Sendable, Hashable {
  public var place: PlaylistPlace
  public var byteRange: HLSByteRange?
  /// How it is encrypted.
  public var key: HLSKey?
}

/// One segment of a stream.
public struct HLSSegment: Sendable, Hashable {
  public var place: PlaylistPlace
  public var byteRange: HLSByteRange?
  public var durationNanoseconds: Int64
  /// Its media sequence number.
  public var number: Int64
  /// Its discontinuity sequence number: another one means that timestamps, format or encoder begin anew.
  public var discontinuityNumber: Int64
  /// Index among the playlist's keys and maps; nil: none.
  public var keyIndex: Int?
  public var mapIndex: Int?
  /// When its first sample was recorded, in nanoseconds since 1970, as the playlist says it for this very segment.
  public var date: Int64?
  /// There is nothing to load (`EXT-X-GAP`).
  public var isGap = false
}

/// The segments of one stream.
public struct HLSMediaPlaylist: Sendable, Hashable {
  /// Nanoseconds; no segment is longer, to half a second.
  public var targetNanoseconds: Int64
  public var segments: [HLSSegment] = []
  public var keys: [HLSKey] = []
  public var maps: [HLSMap] = []
  /// Nothing will be added.
  public var isEnded = false
  /// The first segment's number, were there one.
  public var firstNumber: Int64 = 0
  public var firstDiscontinuityNumber: Int64 = 0
  /// Where playing should begin, in nanoseconds from the first segment's start, or when negative from the end (`EXT-X-START`).
  public var startOffsetNanoseconds: Int64?

  /// What is said of spans of it, in the playlist's order.
  public var dateRanges: [HLSDateRange] = []

  /// The number behind the last segment's.
  public var endNumber: Int64 { firstNumber + Int64(segments.count) }
}

/// One of the streams to choose from (`EXT-X-STREAM-INF`).
public struct HLSVariant: Sendable, Hashable {
  public var place: PlaylistPlace
  /// Bits a second at most.
  public var bandwidth: Int64
  /// As RFC 6381 has them, such as `mp4a.40.2`; none when not said.
  public var codecs: [String] = []
  /// The group of renditions that its sound is in.
  public var audioGroup: String?
  /// It has video.
  public var hasResolution = false
  /// The group of renditions that its subtitles are in.
  public var subtitleGroup: String?
}

/// One way to hear a stream, or to read what is said in it (`EXT-X-MEDIA` of the types `AUDIO` and `SUBTITLES`).
public struct HLSRendition: Sendable, Hashable {
  public var group: String
  /// For people.
  public var name: String
  public var isDefault = false
  public var isAutoselect = false
  /// Nil: the sound is in the variant's own segments. Always nil of subtitles, which nobody reads.
  public var place: PlaylistPlace?
  /// As BCP 47 has it.
  public var language: String?
  /// A language that goes with it, in another role: that which is written, where the other is spoken.
  public var associatedLanguage: String?
  /// Subtitles that are shown to who wants none, too.
  public var isForced = false
  /// Names such as `public.accessibility.describes-video`.
  public var characteristics: [String] = []
  /// Nil when not said.
  public var channelCount: Int?
  /// Which of several in the variant's own segments it is.
  public var instreamID: String?

  /// Whether it is the same one in another group, for another variant.
  public func isSame(as other: HLSRendition) -> Bool { name == other.name && language == other.language }
}

/// Variants of one stream.
public struct HLSMasterPlaylist: Sendable, Hashable {
  public var variants: [HLSVariant] = []
  public var audioRenditions: [HLSRendition] = []
  public var subtitleRenditions: [HLSRendition] = []
  public var sessionData: [HLSSessionData] = []
}
