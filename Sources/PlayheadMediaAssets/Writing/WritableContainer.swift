import PlayheadLibAV
import PlayheadMediaCore

/// The containers that ``AssetWriter`` writes.
public enum WritableContainer: String, Sendable, Hashable, Codable, CaseIterable {
  /// The container of this name. WAV and CAF contain PCM and similar codecs. M4A is MP4 with audio only.
  case wav, caf, flac, m4a, mp4, mov, matroska, webm, ogg, mp3

  /// Returns the container of a file name extension; nil for an unknown extension.
  public init?(fileExtension: String) {
    switch fileExtension.lowercased() {
    case "mka", "mkv": self = .matroska
    case "oga", "opus": self = .ogg
    case "wave": self = .wav
    case let name: self.init(rawValue: name)
    }
  }

  /// FFmpeg's name of the format.
  var muxerName: String { self == .m4a ? "ipod" : rawValue }

  /// Maximum number of tracks.
  var maximumTrackCount: Int {
    switch self {
    case .wav, .caf, .flac, .ogg, .mp3: 1
    case .m4a, .mp4, .mov, .matroska, .webm: 64
    }
  }

  /// Whether the container belongs to the MP4 family, which has a movable index, fragments and edit lists.
  var isMovie: Bool { [.m4a, .mp4, .mov].contains(self) }

  /// Whether packets have timestamps, so that there may be gaps between them.
  var hasTimes: Bool {
    switch self {
    case .m4a, .mp4, .mov, .matroska, .webm: true
    case .wav, .caf, .flac, .ogg, .mp3: false
    }
  }

  /// Checks that packets of a codec can be written to the container.
  ///
  /// - Parameter name: FFmpeg's name of the codec.
  /// - Throws: `invalidArgument`.
  func check(storedCodecName name: String, _ mediaType: FormatDescription.MediaType) throws(MediaError) {
    let storedCodecs = mediaType == .video ? storedVideoCodecs : storedAudioCodecs
    guard storedCodecs.contains(name), isWritten(name) else {
      let supported = storedCodecs.filter(isWritten).sorted().joined(separator: ", ")
      throw MediaError(
        .invalidArgument,
        "\(rawValue) does not support \(mediaType) encoded as \(name)"
          + (supported.isEmpty ? "" : "; it supports \(supported)"),
        operation: "add")
    }
  }

  /// Returns whether FFmpeg can write the codec. Containers without timestamps are not checked, because FFmpeg
  /// knows only their default codec.
  private func isWritten(_ codecName: String) -> Bool {
    !hasTimes || Muxer.supports(codecName: codecName, formatName: muxerName)
  }

  /// The codecs whose packets are written unchanged. FFmpeg's list also contains codecs that do not work.
  ///
  /// FFmpeg refuses AAC in CAF, and treats FLAC in MP4 as experimental. ProRes and DNxHD are missing, because only the
  /// container states their variant.
  private var storedAudioCodecs: Set<String> {
    switch self {
    case .wav: ["pcm_alaw", "pcm_mulaw"]
    case .caf: ["alac", "adpcm_ima_qt", "pcm_alaw", "pcm_mulaw"]
    case .flac: ["flac"]
    case .mp3: ["mp3"]
    case .ogg: ["opus", "vorbis", "flac", "speex"]
    case .webm: ["opus", "vorbis"]
    case .m4a: ["aac", "alac", "ac3"]
    case .mp4: ["aac", "alac", "mp3", "opus", "ac3", "eac3", "vorbis", "dts"]
    case .mov: ["aac", "alac", "mp3", "ac3", "eac3", "adpcm_ima_qt", "pcm_alaw", "pcm_mulaw"]
    case .matroska:
      ["aac", "alac", "mp3", "mp2", "opus", "vorbis", "flac", "ac3", "eac3", "dts", "truehd", "wavpack", "tta"]
    }
  }

  private var storedVideoCodecs: Set<String> {
    switch self {
    case .wav, .caf, .flac, .mp3, .ogg, .m4a: []
    case .webm: ["vp8", "vp9", "av1"]
    case .mp4: ["h264", "hevc", "av1", "vp9", "mpeg4", "mpeg2video", "mpeg1video"]
    case .mov: ["h264", "hevc", "mpeg4", "mpeg2video", "mjpeg"]
    case .matroska:
      ["h264", "hevc", "av1", "vp8", "vp9", "mpeg4", "mpeg2video", "mpeg1video", "mjpeg", "theora", "ffv1"]
    }
  }

  /// - Throws: `invalidArgument` if the container does not support the codec.
  func check(_ settings: VideoOutputSettings) throws(MediaError) {
    guard storedVideoCodecs.contains(settings.codec.codecName) else {
      throw MediaError(
        .invalidArgument, "\(rawValue) does not support video encoded as \(settings.codec.codecName)",
        operation: "add")
    }
  }

  /// - Throws: `invalidArgument` if the container does not support the codec. The message lists the supported codecs.
  func check(_ codec: AudioOutputSettings.Codec) throws(MediaError) {
    guard !supports(codec) else { return }
    let allCodecs: [AudioOutputSettings.Codec] = [
      .pcm(.signed16), .flac, .alac, .aac, .opus, .mp3, .ima4, .muLaw, .aLaw,
    ]
    let supported = allCodecs.filter(supports).map(\.encoderName).joined(separator: ", ")
    throw MediaError(
      .invalidArgument, "\(rawValue) does not support \(codec.encoderName); it supports \(supported)")
  }

  private func supports(_ codec: AudioOutputSettings.Codec) -> Bool {
    switch (self, codec) {
    case (.wav, .pcm(let encoding)):
      !encoding.isBigEndian
        && (encoding.kind == .unsignedInteger) == (encoding.bitsPerSample == 8) && encoding.isSupported
        && (encoding.kind == .float || encoding.bitsPerSample <= 32)
    case (.caf, .pcm(let encoding)), (.mov, .pcm(let encoding)):
      encoding.kind != .unsignedInteger && encoding.isSupported
        && (encoding.kind == .float || encoding.bitsPerSample <= 32)
    case (.matroska, .pcm(let encoding)):
      encoding.isSupported && !encoding.isBigEndian && encoding.kind != .unsignedInteger
        && [16, 24, 32, 64].contains(encoding.bitsPerSample)
        && (encoding.kind == .float || encoding.bitsPerSample <= 32)
    case (.caf, .alac), (.caf, .ima4), (.mov, .ima4): true
    case (.wav, .muLaw), (.caf, .muLaw), (.mov, .muLaw), (.wav, .aLaw), (.caf, .aLaw), (.mov, .aLaw): true
    case (.flac, .flac), (.ogg, .flac), (.matroska, .flac): true
    case (.m4a, .alac), (.mp4, .alac), (.mov, .alac), (.matroska, .alac): true
    case (.m4a, .aac), (.mp4, .aac), (.mov, .aac), (.matroska, .aac): true
    case (.ogg, .opus), (.matroska, .opus), (.webm, .opus), (.mp4, .opus): true
    case (.mp3, .mp3), (.matroska, .mp3), (.mp4, .mp3), (.mov, .mp3): true
    default: false
    }
  }
}
