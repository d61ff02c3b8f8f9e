import PlayheadMediaAssets
import PlayheadMediaCore

/// The format of a recording, as in AVAudioRecorder's settings. All settings are checked before anything is written.
///
/// <!-- listing: recording-settings -->
/// ```swift
/// var settings = RecordingSettings()
/// (settings.format, settings.quality, settings.channelCount) = (.aac, .high, 1)
/// ```
public struct RecordingSettings: Sendable, Hashable {
  /// The codec.
  public enum Format: String, Sendable, Hashable, CaseIterable {
    /// PCM. Containers: WAV and CAF.
    case pcm
    /// FLAC. Container: FLAC.
    case flac
    /// ALAC. Container: M4A. CAF is not supported: its packet table follows all packets, so a crash would lose it.
    case alac
    /// AAC. Container: M4A.
    case aac
    /// Opus. Container: Ogg.
    case opus
    /// Apple's IMA 4:1. Container: CAF.
    case ima4
    /// G.711. Containers: WAV and CAF.
    case ulaw, alaw
    /// Formats of AVAudioRecorder without an encoder in FFmpeg: `unsupportedAudioFormat`.
    case ilbc, amr
  }

  /// The quality of lossy codecs: bits a second for each channel at 44.1 or 48 kHz.
  public enum Quality: String, Sendable, Hashable, CaseIterable {
    /// The quality of this name, in increasing order.
    case min, low, medium, high, max

    fileprivate var bitsPerChannel: (aac: Int, opus: Int) {
      switch self {
      case .min: (32_000, 16_000)
      case .low: (48_000, 24_000)
      case .medium: (64_000, 40_000)
      case .high: (96_000, 64_000)
      case .max: (128_000, 96_000)
      }
    }
  }

  /// The container. Default: nil, derived from the file's extension, or else from the codec.
  public var container: WritableContainer?
  /// The codec. Default: nil, derived from the container or the file's extension: AAC for M4A, Opus for Ogg, FLAC for
  /// FLAC, else PCM.
  public var format: Format?
  /// The sample rate in Hz. Default: nil, the source's rate, or the next higher rate that the codec supports.
  public var sampleRateHz: Int?
  /// The number of channels. Default: nil, as many as the source has.
  public var channelCount: Int?
  /// Bits per sample: 8, 16, 24 or 32 for PCM (32 or 64 for floats), 16 or 24 for FLAC and ALAC. Default: 16, and 32
  /// for floats. Other formats ignore this hint.
  public var bitDepth: Int?
  /// Whether PCM samples are floating-point numbers.
  public var isFloat = false
  /// Whether PCM samples are big-endian. CAF only.
  public var isBigEndian = false
  /// Whether the samples of each channel are contiguous. No supported container allows that: `invalidArgument`.
  public var isNonInterleaved = false
  /// The quality of AAC and Opus; nil: the encoder's choice. Other formats ignore this hint.
  public var quality: Quality?
  /// Bits per second of AAC and Opus; nil: as `quality` defines. Other formats ignore this hint.
  public var bitRate: Int?

  /// Default settings: the codec of the file's extension, with the source's sample rate and channels.
  public init() {}

  /// Settings for one file and one source, with all defaults resolved.
  struct Resolved: Sendable, Hashable {
    var container: WritableContainer
    var format: Format
    var output: AudioOutputSettings
  }

  /// Resolves the settings for a file name and the format of a source.
  ///
  /// - Throws: `invalidArgument` for settings that conflict with each other or the container; `unsupportedAudioFormat`
  ///   for a format without an encoder.
  func resolve(fileName: [UInt8], source: AudioFormat) throws(MediaError) -> Resolved {
    let fileExtension = String(
      decoding: fileName.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).dropFirst().last ?? [],
      as: UTF8.self)
    let namedContainer = container ?? WritableContainer(fileExtension: fileExtension)
    let format: Format =
      if let requested = self.format { requested } else { try Self.format(namedContainer, fileExtension) }
    guard let supported = Self.containers[format] else {
      throw MediaError(
        .unsupportedAudioFormat, "this build has no encoder for \(format.rawValue)", operation: "prepareToRecord")
    }
    if namedContainer == nil, Self.unwritableExtensions.contains(fileExtension.lowercased()) {
      throw invalidArgument(
        "\(format.rawValue) needs the container \(supported.map(\.rawValue).joined(separator: " or "))"
          + " (got .\(fileExtension))")
    }
    let container = namedContainer ?? supported[0]
    guard supported.contains(container) else {
      throw invalidArgument(
        "\(format.rawValue) needs the container \(supported.map(\.rawValue).joined(separator: " or "))"
          + " (got \(container.rawValue))")
    }
    var output = AudioOutputSettings(try codec(format, container))
    (output.sampleRateHz, output.channelCount) = (sampleRateHz, channelCount)
    if format == .flac || format == .alac { output.bitsPerSample = bitDepth ?? 16 }
    if format == .aac || format == .opus {
      output.bitRate = bitRate ?? defaultBitRate(format, channelCount: channelCount ?? source.channelCount)
    }
    let channelLimit = [Format.ima4: 2, .flac: 8, .alac: 8][format]
    if let channelLimit, (channelCount ?? source.channelCount) > channelLimit {
      throw invalidArgument("\(format.rawValue) allows at most \(channelLimit) channels")
    }
    return Resolved(container: container, format: format, output: output)
  }

  // MARK: - Internals

  /// Containers by format. A name without a known extension gets the first one.
  private static let containers: [Format: [WritableContainer]] = [
    .pcm: [.wav, .caf], .flac: [.flac], .alac: [.m4a], .aac: [.m4a], .opus: [.ogg], .ima4: [.caf],
    .ulaw: [.wav, .caf], .alaw: [.wav, .caf],
  ]

  /// Extensions of other audio formats. Such a name is rejected, because the file's content would not match it. A name
  /// with any other extension gets the default container.
  private static let unwritableExtensions: Set<String> = [
    "aif", "aiff", "aifc", "aac", "adts", "amr", "awb", "3gp", "3g2", "ac3", "eac3", "ec3", "dts", "au", "snd", "wma",
    "asf",
    "ape", "wv", "tta", "mpc", "mp2", "mpa", "m4b", "m4r", "m4p", "w64", "rf64", "bwf", "spx", "ra", "dsf", "dff",
    "tak",
    "avi", "flv", "ts",
  ]

  private static func format(_ container: WritableContainer?, _ fileExtension: String) throws(MediaError) -> Format {
    switch container {
    case .wav, .caf: return .pcm
    case .flac: return .flac
    case .m4a: return .aac
    case .ogg: return .opus
    default:
      throw MediaError(
        .invalidArgument,
        "the format is missing, and the file extension is not wav, caf, flac, m4a, ogg or opus"
          + " (got '\(fileExtension.prefix(16))')",
        operation: "prepareToRecord")
    }
  }

  private func invalidArgument(_ message: String) -> MediaError {
    MediaError(.invalidArgument, message, operation: "prepareToRecord")
  }

  private func codec(
    _ format: Format, _ container: WritableContainer
  ) throws(MediaError) -> AudioOutputSettings.Codec {
    guard format == .pcm || !isFloat && !isBigEndian && !isNonInterleaved else {
      throw invalidArgument("float, endianness and interleaving apply to pcm only (got \(format.rawValue))")
    }
    switch format {
    case .pcm: return .pcm(try encoding(container))
    case .flac: return .flac
    case .alac: return .alac
    case .aac: return .aac
    case .opus: return .opus
    case .ima4: return .ima4
    case .ulaw: return .muLaw
    case .alaw: return .aLaw
    case .ilbc, .amr: throw MediaError(.unsupportedAudioFormat, "this build has no encoder for \(format.rawValue)")
    }
  }

  private func encoding(_ container: WritableContainer) throws(MediaError) -> PCMEncoding {
    guard !isNonInterleaved else { throw invalidArgument("\(container.rawValue) supports interleaved samples only") }
    guard !isBigEndian || container == .caf else { throw invalidArgument("wav supports little-endian samples only") }
    let bits = bitDepth ?? (isFloat ? 32 : 16)
    guard (isFloat ? [32, 64] : [8, 16, 24, 32]).contains(bits) else {
      throw invalidArgument(
        "bit depth must be \(isFloat ? "32 or 64 for floats" : "8, 16, 24 or 32") (got \(bits))")
    }
    // 8-bit samples in WAV are unsigned.
    let kind: PCMEncoding.Kind = isFloat ? .float : bits == 8 && container == .wav ? .unsignedInteger : .signedInteger
    return PCMEncoding(kind, bitsPerSample: bits, isBigEndian: isBigEndian)
  }

  private func defaultBitRate(_ format: Format, channelCount: Int) -> Int? {
    guard let quality else { return nil }
    return (format == .aac ? quality.bitsPerChannel.aac : quality.bitsPerChannel.opus) * max(1, min(channelCount, 64))
  }
}
