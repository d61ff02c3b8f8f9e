import CPlayheadTags

/// The location and the formats of the tags in a file.
package enum TagContainer: Sendable, Hashable, CaseIterable, Codable {
  /// ID3v2 at the beginning or the end, APEv2 and ID3v1 at the end; in this order of precedence, as in TagLib.
  case edges
  case flac, ogg, mp4, wav, aiff, asf
  /// Matroska and WebM, which TagLib does not support.
  case matroska
  /// The same tags as in `edges`, but APEv2, the native tag of these formats, takes precedence.
  case apeEdges
  /// DSDIFF and DSF, with an ID3v2 tag in a chunk.
  case dsd

  /// The container for FFmpeg's name of a format. Nil if FFmpeg reads all tags of the format, or this module does not
  /// support it.
  package init?(formatName: String) {
    switch formatName {
    case "mp3", "aac", "ac3", "eac3", "tta", "dts": self = .edges
    case "ape", "mpc", "mpc8", "wv", "tak": self = .apeEdges
    // FFmpeg's IFF demuxer also reads DSDIFF.
    case "dsf", "iff": self = .dsd
    case "flac": self = .flac
    case "ogg": self = .ogg
    case "mov,mp4,m4a,3gp,3g2,mj2": self = .mp4
    // AVI has the same INFO lists.
    case "wav", "avi": self = .wav
    case "aiff": self = .aiff
    case "asf", "asf_o": self = .asf
    case "matroska,webm": self = .matroska
    default: return nil
    }
  }

  /// The container in the C interface; nil for Matroska, which is read without TagLib.
  var forShim: tags_container? {
    switch self {
    case .edges: tags_container_edges
    case .flac: tags_container_flac
    case .ogg: tags_container_ogg
    case .mp4: tags_container_mp4
    case .wav: tags_container_wav
    case .aiff: tags_container_aiff
    case .asf: tags_container_asf
    case .apeEdges: tags_container_ape_edges
    case .dsd: tags_container_dsd
    case .matroska: nil
    }
  }
}
