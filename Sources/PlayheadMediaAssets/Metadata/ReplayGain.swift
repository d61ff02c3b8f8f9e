import Glibc

/// The loudness of a track and its album, according to tags. The player decides whether to
/// apply it.
public struct ReplayGain: Sendable, Hashable, Codable {
  /// The gain in dB relative to the ReplayGain reference (89 dB SPL, -18 LUFS). If a file has neither this nor
  /// `R128_TRACK_GAIN`, the gain of iTunes `Sound Check` (`iTunNORM`), whose reference is nearly the same.
  public var trackGainDecibels: Double?
  /// The peak sample; 1 is full scale.
  public var trackPeak: Double?
  /// The gain of the album in dB, with the reference of ``trackGainDecibels``.
  public var albumGainDecibels: Double?
  /// The peak sample of the album; 1 is full scale.
  public var albumPeak: Double?
  /// `R128_TRACK_GAIN` of Opus in dB, relative to -23 LUFS (RFC 7845, section 5.2.1: Q7.8).
  public var r128TrackGainDecibels: Double?
  /// `R128_ALBUM_GAIN` of Opus in dB, relative to -23 LUFS.
  public var r128AlbumGainDecibels: Double?

  /// Creates values that are all unknown.
  public init() {}

  /// Whether no value is known.
  public var isEmpty: Bool { self == ReplayGain() }

  /// Reads the first valid value of each, from items in any key space.
  init(items: [MetadataItem]) {
    for item in items {
      guard let text = item.stringValue else { continue }
      switch Self.name(of: item) {
      case "REPLAYGAIN_TRACK_GAIN": trackGainDecibels = trackGainDecibels ?? Self.decibels(text)
      case "REPLAYGAIN_TRACK_PEAK": trackPeak = trackPeak ?? Self.peak(text)
      case "REPLAYGAIN_ALBUM_GAIN": albumGainDecibels = albumGainDecibels ?? Self.decibels(text)
      case "REPLAYGAIN_ALBUM_PEAK": albumPeak = albumPeak ?? Self.peak(text)
      case "R128_TRACK_GAIN": r128TrackGainDecibels = r128TrackGainDecibels ?? Self.q7dot8(text)
      case "R128_ALBUM_GAIN": r128AlbumGainDecibels = r128AlbumGainDecibels ?? Self.q7dot8(text)
      default: break
      }
    }
    // The RVA2 frame of ID3v2.4 is used if there is no other value.
    for item in items where item.keySpace == .id3 && item.key == "RVA2" {
      guard let text = item.stringValue, let role = item.extraAttributes[.info]?.lowercased() else { continue }
      if role == "track" { trackGainDecibels = trackGainDecibels ?? Self.decibels(text) }
      if role == "album" { albumGainDecibels = albumGainDecibels ?? Self.decibels(text) }
    }
    // `Sound Check` is used if there is no other gain of the track.
    guard trackGainDecibels == nil, r128TrackGainDecibels == nil else { return }
    trackGainDecibels =
      items.lazy.filter { Self.isSoundCheck($0) }.compactMap { item in
        item.stringValue.flatMap(Self.soundCheckDecibels)
      }.first
  }

  /// Returns whether an item is iTunes `Sound Check`: `COMM:iTunNORM`, or `----:com.apple.iTunes:iTunNORM`.
  static func isSoundCheck(_ item: MetadataItem) -> Bool {
    let name = item.keySpace == .id3 && item.key == "COMM" ? item.extraAttributes[.info] ?? "" : Self.name(of: item)
    return name.uppercased() == "ITUNNORM"
  }

  /// Returns the gain of a `Sound Check` value. It consists of numbers of eight hexadecimal digits. The first two are
  /// the power of the left and the right channel in thousandths of the target.
  private static func soundCheckDecibels(_ text: String) -> Double? {
    let numbers = text.split(separator: " ").prefix(2)
    let powers = numbers.compactMap { $0.utf8.count <= 8 ? UInt32($0, radix: 16) : nil }
    guard numbers.count == 2, powers.count == 2, let power = powers.max(), power > 0 else { return nil }
    let gain = -10 * log10(Double(power) / 1_000)
    return abs(gain) <= 100 ? gain : nil
  }

  /// Returns the name of an item, wherever its format stores the name.
  private static func name(of item: MetadataItem) -> String {
    let name: String
    switch (item.keySpace, item.key) {
    case (.id3, "TXXX"): name = item.extraAttributes[.info] ?? ""
    case (.iTunesLong, let key): name = key.split(separator: ".").last.map(String.init) ?? ""
    case (_, let key): name = key
    }
    return name.uppercased()
  }

  /// Parses `-6.54 dB`, `+1,5`, `3`.
  private static func decibels(_ text: String) -> Double? {
    guard let value = number(text), abs(value) <= 100 else { return nil }
    return value
  }

  private static func peak(_ text: String) -> Double? {
    guard let value = number(text), value >= 0, value <= 1_000 else { return nil }
    return value
  }

  private static func q7dot8(_ text: String) -> Double? {
    Int16(text.filter { $0 != " " }).map { Double($0) / 256 }
  }

  /// Returns the number at the beginning of a text.
  private static func number(_ text: String) -> Double? {
    let trimmed = text.drop { $0 == " " }
    let digits = trimmed.prefix { "+-0123456789.,eE".contains($0) }
    return Double(String(digits.map { $0 == "," ? "." : $0 })).flatMap { $0.isFinite ? $0 : nil }
  }
}
