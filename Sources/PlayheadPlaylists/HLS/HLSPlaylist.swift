// The contents of HLS playlists (RFC 8216), as values. Times are integer nanoseconds, so that sums of thousands of
// decimals are exact.
import PlayheadMediaCore

/// The limits of HLS playlists.
package enum HLSLimits {
  /// The maximum number of bytes of one playlist.
  package static let playlistByteCount = 8 << 20
  /// The maximum number of segments of one playlist: ten days of ten-second segments, or four days of four-second
  /// segments.
  package static let segmentCount = 100_000
  /// The maximum number of variants of a master playlist, and of renditions of each type.
  package static let variantCount = 512
  /// The maximum total number of bytes of the resolved locations of a playlist's segments.
  package static let locationByteCount = 64 << 20
  /// The maximum duration of a segment in nanoseconds: a day.
  package static let segmentNanoseconds: Int64 = 86_400_000_000_000
  /// The maximum total duration of all segments in nanoseconds: 115 days.
  package static let totalNanoseconds: Int64 = 10_000_000_000_000_000
  /// The maximum distance on the timeline of a live stream in nanoseconds, in either direction: 36 years.
  package static let timelineNanoseconds: Int64 = 1 << 60
  /// The maximum end of a byte range: 8 PiB.
  package static let rangeEnd: Int64 = 1 << 53
}

/// A playlist of either kind.
package enum HLSPlaylist: Sendable, Hashable {
  /// The segments of a stream.
  case media(HLSMediaPlaylist)
  /// The variants of a stream.
  case master(HLSMasterPlaylist)

  /// Whether the playlist references any location on a server.
  package var referencesServers: Bool {
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
package struct HLSByteRange: Sendable, Hashable {
  /// The offset of the first byte.
  package var start: Int64
  /// The number of bytes, 1 or more.
  package var count: Int64
  /// The offset after the last byte.
  package var end: Int64 { start + count }
}

/// The encryption of segments (`EXT-X-KEY`).
package struct HLSKey: Sendable, Hashable {
  /// The encryption methods.
  package enum Method: Sendable, Hashable {
    /// AES-128 in CBC mode with PKCS #7 padding, for whole segments.
    case aes128
    /// Any other method, such as `SAMPLE-AES`. Not playable.
    case other(String)
  }

  /// The encryption method.
  package var method: Method
  /// The location of the key; nil for an unsupported method.
  package var location: PlaylistLocation?
  /// The initialization vector, 16 bytes; nil for the segment's number.
  package var initializationVector: [UInt8]?
}

/// The initialization section of fragmented MP4 segments (`EXT-X-MAP`).
package struct HLSMap: Sendable, Hashable {
  /// The location of the resource that has the section.
  package var location: PlaylistLocation
  /// The bytes of the section; nil for the whole resource.
  package var byteRange: HLSByteRange?
  /// The encryption of the section.
  package var key: HLSKey?
}

/// A segment of a stream.
package struct HLSSegment: Sendable, Hashable {
  /// The location of the resource that has the segment.
  package var location: PlaylistLocation
  /// The bytes of the segment; nil for the whole resource.
  package var byteRange: HLSByteRange?
  /// The duration in nanoseconds.
  package var durationNanoseconds: Int64
  /// The media sequence number.
  package var number: Int64
  /// The discontinuity sequence number. When it changes, the timestamps, format or encoder change.
  package var discontinuityNumber: Int64
  /// The indices among the playlist's keys and maps; nil for none.
  package var keyIndex: Int?
  /// The index among the playlist's maps; nil for none.
  package var mapIndex: Int?
  /// The recording time of the first sample, in nanoseconds since 1970, if the playlist states it for this segment.
  package var date: Int64?
  /// Whether the segment is a gap without data (`EXT-X-GAP`).
  package var isGap = false
}

/// The segments of one stream.
package struct HLSMediaPlaylist: Sendable, Hashable {
  /// The target duration in nanoseconds. No segment is longer, within half a second.
  package var targetNanoseconds: Int64
  /// The available segments, in order.
  package var segments: [HLSSegment] = []
  /// The keys of the segments.
  package var keys: [HLSKey] = []
  /// The initialization sections of the segments.
  package var maps: [HLSMap] = []
  /// Whether no segments will be added.
  package var isEnded = false
  /// The number of the first segment, even if there is none yet.
  package var firstNumber: Int64 = 0
  /// The discontinuity sequence number of the first segment.
  package var firstDiscontinuityNumber: Int64 = 0
  /// The start position in nanoseconds, from the first segment's start, or from the end when negative (`EXT-X-START`).
  package var startOffsetNanoseconds: Int64?

  /// The date ranges, in the order of the playlist.
  package var dateRanges: [HLSDateRange] = []

  /// The number after the last segment's number.
  package var endNumber: Int64 { firstNumber + Int64(segments.count) }
}

/// A variant of a stream (`EXT-X-STREAM-INF`).
package struct HLSVariant: Sendable, Hashable {
  /// The location of the variant's playlist.
  package var location: PlaylistLocation
  /// The peak bit rate in bits per second.
  package var bandwidth: Int64
  /// The codecs in the form of RFC 6381, such as `mp4a.40.2`; empty when not specified.
  package var codecs: [String] = []
  /// The group of the variant's audio renditions.
  package var audioGroup: String?
  /// Whether a resolution is specified, which means video.
  package var hasResolution = false
  /// The group of the variant's subtitle renditions.
  package var subtitleGroup: String?
}

/// An audio or subtitle rendition of a stream (`EXT-X-MEDIA` of the types `AUDIO` and `SUBTITLES`).
package struct HLSRendition: Sendable, Hashable {
  /// The group of the rendition.
  package var group: String
  /// The display name.
  package var name: String
  /// Whether the rendition is the default of its group.
  package var isDefault = false
  /// Whether the rendition may be selected automatically.
  package var isAutoselect = false
  /// The location of the playlist; nil when the audio is in the variant's segments. Always nil for subtitles, which
  /// are not read.
  package var location: PlaylistLocation?
  /// The language, in BCP 47 form.
  package var language: String?
  /// An associated language with another role, such as the written language for a spoken one.
  package var associatedLanguage: String?
  /// Whether the subtitles are displayed even when subtitles are not selected.
  package var isForced = false
  /// Characteristics such as `public.accessibility.describes-video`.
  package var characteristics: [String] = []
  /// The number of channels; nil when not specified.
  package var channelCount: Int?
  /// The identifier of the rendition among several in the variant's segments.
  package var instreamID: String?

  /// Whether another rendition is the same one in the group of another variant.
  package func isSame(as other: HLSRendition) -> Bool { name == other.name && language == other.language }
}

/// The variants of one stream.
package struct HLSMasterPlaylist: Sendable, Hashable {
  /// The variants, in the order of the playlist.
  package var variants: [HLSVariant] = []
  /// The audio renditions of all groups.
  package var audioRenditions: [HLSRendition] = []
  /// The subtitle renditions of all groups.
  package var subtitleRenditions: [HLSRendition] = []
  /// The data about the whole stream.
  package var sessionData: [HLSSessionData] = []
}
