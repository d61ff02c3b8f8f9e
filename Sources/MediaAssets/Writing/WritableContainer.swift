import MediaCore

/// The containers that are written.
public enum WritableContainer: String, Sendable, Hashable, CaseIterable {
  case wav, caf, flac, m4a, mp4, mov, matroska, webm, ogg, mp3

  /// The container that a name's ending speaks of; nil when none is known.
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

  /// How many tracks of sound it holds at most.
  var largestTrackCount: Int {
    switch self {
    case .wav, .caf, .flac, .ogg, .mp3: 1
    case .m4a, .mp4, .mov, .matroska, .webm: 64
    }
  }

  /// It has an index that can be moved, and fragments.
  var isMovie: Bool { [.m4a, .mp4, .mov].contains(self) }

  /// Errors: `invalidArgument` when the container does not hold the codec, with what it holds.
  func check(_ codec: AudioOutputSettings.Codec) throws(MediaError) {
    guard !holds(codec) else { return }
    let known: [AudioOutputSettings.Codec] = [
      .pcm(.signed16), .flac, .alac, .aac, .opus, .mp3, .ima4,
    ]
    let held = known.filter(holds).map(\.encoderName).joined(separator: ", ")
    throw MediaError(
      .invalidArgument, "\(rawValue) is not written with \(codec.encoderName); it is with \(held)")
  }

  private func holds(_ codec: AudioOutputSettings.Codec) -> Bool {
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
    case (.flac, .flac), (.ogg, .flac), (.matroska, .flac): true
    case (.m4a, .alac), (.mp4, .alac), (.mov, .alac), (.matroska, .alac): true
    case (.m4a, .aac), (.mp4, .aac), (.mov, .aac), (.matroska, .aac): true
    case (.ogg, .opus), (.matroska, .opus), (.webm, .opus), (.mp4, .opus): true
    case (.mp3, .mp3), (.matroska, .mp3), (.mp4, .mp3), (.mov, .mp3): true
    default: false
    }
  }
}
