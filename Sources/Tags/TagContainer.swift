import CTags

/// Where in a file tags are looked for.
public enum TagContainer: Sendable, Hashable, CaseIterable, Codable {
  /// ID3v2 in front, APEv2 and ID3v1 at the end.
  case edges
  case flac, ogg, mp4, wav, aiff, asf
  /// Matroska and WebM, which TagLib does not read.
  case matroska

  /// For FFmpeg's name of a format; nil when FFmpeg loses nothing of its tags, or nobody here reads them.
  public init?(formatName: String) {
    switch formatName {
    case "mp3", "aac", "ac3", "eac3", "ape", "mpc", "mpc8", "wv", "tta", "tak", "dts": self = .edges
    case "flac": self = .flac
    case "ogg": self = .ogg
    case "mov,mp4,m4a,3gp,3g2,mj2": self = .mp4
    case "wav": self = .wav
    case "aiff": self = .aiff
    case "asf", "asf_o": self = .asf
    case "matroska,webm": self = .matroska
    default: return nil
    }
  }

  /// The same for the shim; nil for what is read without TagLib.
  var forShim: tags_container? {
    switch self {
    case .edges: tags_container_edges
    case .flac: tags_container_flac
    case .ogg: tags_container_ogg
    case .mp4: tags_container_mp4
    case .wav: tags_container_wav
    case .aiff: tags_container_aiff
    case .asf: tags_container_asf
    case .matroska: nil
    }
  }
}
