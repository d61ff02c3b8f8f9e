// The contents of HLS playlists (RFC 8216), as values. Times are integer nanoseconds, so that sums of thousands of
// decimals are exact.
import PlayheadMediaCore

/// The limits of HLS playlists.
public enum HLSLimits {
  /// The maximum number of bytes of one playlist.
  public static let playlistByteCount = 8 << 20
  /// The maximum number of segments of one playlist: ten days of ten-second segments, or four days of four-second
  /// segments.
  public static let segmentCount = 100_000
  /// The maximum number of variants of a master playlist, and of renditions of each type.
  public static let variantCount = 512
  /// The maximum total number of bytes of the resolved locations of a playlist's segments.
  public static let locationByteCount = 64 << 20
  /// The maximum duration of a segment in nanoseconds: a day.
  public static let segmentNanoseconds: Int64 = 86_400_000_000_000
  /// The maximum total duration of all segments in nanoseconds: 115 days.
  public static let totalNanoseconds: Int64 = 10_000_000_000_000_000
  /// The maximum distance on the timeline of a live stream in nanoseconds, in either direction: 36 years.
  public static let timelineNanoseconds: Int64 = 1 << 60
  /// The maximum end of a byte range: 8 PiB.
  public static let rangeEnd: Int64 = 1 << 53
}

/// A playlist of either kind.
public enum HLSPlaylist: Sendable, Hashable {
  /// The segments of a stream.
  case media(HLSMediaPlaylist)
  /// The variants of a stream.
  case master(HLSMasterPlaylist)

  /// Whether the playlist references any location on a server.
  public var referencesServers: Bool {
    func isRemote(_ location: PlaylistLocation?) -> Bool { if case .url = location { true } else { false } }
    return switch self {
    case .media(let playlist):
      playlist.segments.contains { isRemote($0.location) } || playlist.maps.contains { isRemote($0.location) }
        || playlist.keys.contains { isRemote($0.location) }
    case .master(let playlist):
      playlist.variants.contains { isRemote($0.location) }
        || playlist.audioRenditions.contains { isRemote($0.location) }
    }
  }
}

/// A byte range of a resource.
public struct HLSByteRange: Sendable, Hashable {
  /// The offset of the first byte.
  public var start: Int64
  /// The number of bytes, 1 or more.
  public var count: Int64
  /// The offset after the last byte.
  public var end: Int64 { start + count }
}

/// The encryption of segments (`EXT-X-KEY`).
public struct HLSKey: Sendable, Hashable {
  /// The encryption methods.
  public enum Method: Sendable, Hashable {
    /// AES-128 in CBC mode with PKCS #7 padding, for whole segments.
    case aes128
    /// Any other method, such as `SAMPLE-AES`. Not playable.
    case other(String)
  }

  /// The encryption method.
  public var method: Method
  /// The location of the key; nil for an unsupported method.
  public var location: PlaylistLocation?
  /// The initialization vector, 16 bytes; nil for the segment's number.
  public var initializationVector: [UInt8]?
}

/// The initialization section of fragmented MP4 segments (`EXT-X-MAP`).
public struct HLSMap: Sendable, Hashable {
  /// The location of the resource that has the section.
  public var location: PlaylistLocation
  /// The bytes of the section; nil for the whole resource.
  public var byteRange: HLSByteRange?
  /// The encryption of the section.
  public var key: HLSKey?
}

/// A segment of a stream.
public struct HLSSegment: Sendable, Hashable {
  /// The location of the resource that has the segment.
  public var location: PlaylistLocation
  /// The bytes of the segment; nil for the whole resource.
  public var byteRange: HLSByteRange?
  /// The duration in nanoseconds.
  public var durationNanoseconds: Int64
  /// The media sequence number.
  public var number: Int64
  /// The discontinuity sequence number. When it changes, the timestamps, format or encoder change.
  public var discontinuityNumber: Int64
  /// The indices among the playlist's keys and maps; nil for none.
  public var keyIndex: Int?
  /// The index among the playlist's maps; nil for none.
  public var mapIndex: Int?
  /// The recording time of the first sample, in nanoseconds since 1970, if the playlist states it for this segment.
  public var date: Int64?
  /// Whether the segment is a gap without data (`EXT-X-GAP`).
  public var isGap = false
}

/// The segments of one stream.
public struct HLSMediaPlaylist: Sendable, Hashable {
  /// The target duration in nanoseconds. No segment is longer, within half a second.
  public var targetNanoseconds: Int64
  /// The available segments, in order.
  public var segments: [HLSSegment] = []
  /// The keys of the segments.
  public var keys: [HLSKey] = []
  /// The initialization sections of the segments.
  public var maps: [HLSMap] = []
  /// Whether no segments will be added.
  public var isEnded = false
  /// The number of the first segment, even if there is none yet.
  public var firstNumber: Int64 = 0
  /// The discontinuity sequence number of the first segment.
  public var firstDiscontinuityNumber: Int64 = 0
  /// The start position in nanoseconds, from the first segment's start, or from the end when negative (`EXT-X-START`).
  public var startOffsetNanoseconds: Int64?

  /// The date ranges, in the order of the playlist.
  public var dateRanges: [HLSDateRange] = []

  /// The number after the last segment's number.
  public var endNumber: Int64 { firstNumber + Int64(segments.count) }
}

/// A variant of a stream (`EXT-X-STREAM-INF`).
public struct HLSVariant: Sendable, Hashable {
  /// The location of the variant's playlist.
  public var location: PlaylistLocation
  /// The peak bit rate in bits per second.
  public var bandwidth: Int64
  /// The codecs in the form of RFC 6381, such as `mp4a.40.2`; empty when not specified.
  public var codecs: [String] = []
  /// The group of the variant's audio renditions.
  public var audioGroup: String?
  /// Whether a resolution is specified, which means video.
  public var hasResolution = false
  /// The group of the variant's subtitle renditions.
  public var subtitleGroup: String?
}

/// An audio or subtitle rendition of a stream (`EXT-X-MEDIA` of the types `AUDIO` and `SUBTITLES`).
public struct HLSRendition: Sendable, Hashable {
  /// The group of the rendition.
  public var group: String
  /// The display name.
  public var name: String
  /// Whether the rendition is the default of its group.
  public var isDefault = false
  /// Whether the rendition may be selected automatically.
  public var isAutoselect = false
  /// The location of the playlist; nil when the audio is in the variant's segments. Always nil for subtitles, which
  /// are not read.
  public var location: PlaylistLocation?
  /// The language, in BCP 47 form.
  public var language: String?
  /// An associated language with another role, such as the written language for a spoken one.
  public var associatedLanguage: String?
  /// Whether the subtitles are displayed even when subtitles are not selected.
  public var isForced = false
  /// Characteristics such as `public.accessibility.describes-video`.
  public var characteristics: [String] = []
  /// The number of channels; nil when not specified.
  public var channelCount: Int?
  /// The identifier of the rendition among several in the variant's segments.
  public var instreamID: String?

  /// Whether another rendition is the same one in the group of another variant.
  public func isSame(as other: HLSRendition) -> Bool { name == other.name && language == other.language }
}

/// The variants of one stream.
public struct HLSMasterPlaylist: Sendable, Hashable {
  /// The variants, in the order of the playlist.
  public var variants: [HLSVariant] = []
  /// The audio renditions of all groups.
  public var audioRenditions: [HLSRendition] = []
  /// The subtitle renditions of all groups.
  public var subtitleRenditions: [HLSRendition] = []
  /// The data about the whole stream.
  public var sessionData: [HLSSessionData] = []
}
