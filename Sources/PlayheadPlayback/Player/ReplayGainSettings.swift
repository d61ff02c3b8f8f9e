import Glibc
import PlayheadMediaAssets
import PlayheadMediaCore

/// The loudness tag of a file that determines its gain.
public enum ReplayGainMode: String, Sendable, Hashable, CaseIterable {
  /// The tags have no effect.
  case off
  /// The track gain: all tracks have the same loudness.
  case track
  /// The album gain: tracks of an album keep their relative loudness.
  case album
  /// The album gain for items whose neighbour in the queue is also their neighbour on the album; otherwise the track
  /// gain.
  case auto
}

/// The settings for equal loudness of items (ReplayGain).
///
/// <!-- listing: replay-gain -->
/// ```swift
/// var settings = ReplayGainSettings()
/// settings.mode = .auto
/// settings.fallbackDecibels = -6
/// try await player.setReplayGain(settings)
/// ```
public struct ReplayGainSettings: Sendable, Hashable {
  /// The loudness tag that determines the gain. Default: off.
  public var mode = ReplayGainMode.off
  /// Added to the gain of the tags, in dB: -15 to 15. Default: 0.
  public var preampDecibels = 0.0
  /// The gain of items without loudness tags, in dB: -60 to 15. `preampDecibels` is not added. Default: 0.
  public var fallbackDecibels = 0.0
  /// Whether the gain is reduced so that the peak sample stated by the tags stays within full scale. Default: true.
  public var preventsClipping = true

  /// Creates settings that change nothing.
  public init() {}

  static let preampRange = -15.0...15.0
  static let fallbackRange = -60.0...15.0

  /// Checks the ranges.
  ///
  /// - Throws: `invalidArgument`.
  func check() throws(MediaError) {
    guard Self.preampRange.contains(preampDecibels) else {
      throw MediaError(
        .invalidArgument, "pre-amplification must be between -15 and 15 dB (got \(preampDecibels))",
        operation: "replayGain")
    }
    guard Self.fallbackRange.contains(fallbackDecibels) else {
      throw MediaError(
        .invalidArgument, "gain without tags must be between -60 and 15 dB (got \(fallbackDecibels))",
        operation: "replayGain")
    }
  }
}

/// The gain that is applied to an item.
public struct AppliedGain: Sendable, Hashable {
  /// The origin of the gain.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// The tags of the track, or of the album.
    case track, album
    /// A measured gain of the track or the album (`PlayerItem.measuredReplayGain`), which replaces the tags.
    case scan
    /// The fallback, because the file has no loudness tags.
    case fallback
  }

  /// Replay gain is off: the audio is unchanged.
  public static let none = AppliedGain(linear: 1, source: nil, isLimitedByPeak: false)

  /// The factor of the samples.
  public var linear: Float
  /// The origin of the gain; nil while replay gain is off.
  public var source: Source?
  /// Whether the gain was reduced to avoid clipping of the peak sample.
  public var isLimitedByPeak: Bool

  /// `linear` in dB.
  public var decibels: Double { 20 * log10(Double(linear)) }
}

extension AppliedGain {
  /// The limits of the resulting gain in dB.
  static let range = -60.0...30.0
  /// R128_TRACK_GAIN and R128_ALBUM_GAIN refer to -23 LUFS, ReplayGain to -18.
  private static let r128Offset = 5.0

  /// Computes the gain that results from `settings` and the tags of a file.
  ///
  /// The album gain replaces a missing track gain, and vice versa. Opus tags are relative to the gain of the Opus
  /// header, which the decoder has already applied.
  init(_ settings: ReplayGainSettings, tags: ReplayGain, isOnAlbum: Bool, isMeasured: Bool = false) {
    let track = (tags.r128TrackGainDecibels.map { $0 + Self.r128Offset } ?? tags.trackGainDecibels)
      .map { (gain: $0, peak: tags.trackPeak ?? tags.albumPeak, source: Source.track) }
    let album = (tags.r128AlbumGainDecibels.map { $0 + Self.r128Offset } ?? tags.albumGainDecibels)
      .map { (gain: $0, peak: tags.albumPeak ?? tags.trackPeak, source: Source.album) }
    let selected: (gain: Double, peak: Double?, source: Source)?
    switch settings.mode {
    case .off:
      self = .none
      return
    case .track: selected = track ?? album
    case .album: selected = album ?? track
    case .auto: selected = isOnAlbum ? album ?? track : track ?? album
    }
    let requested = selected.map { $0.gain + settings.preampDecibels } ?? settings.fallbackDecibels
    linear = Float(pow(10, min(max(requested, Self.range.lowerBound), Self.range.upperBound) / 20))
    source = isMeasured && selected != nil ? .scan : selected?.source ?? .fallback
    isLimitedByPeak = false
    guard settings.preventsClipping, let peak = selected?.peak, peak * Double(linear) > 1 else { return }
    linear = Float(1 / peak)
    if Double(linear) * peak > 1 { linear = linear.nextDown }
    isLimitedByPeak = true
  }
}

/// The inputs of an item's gain, except its tags. The decode thread combines the policy with the tags that it reads.
struct GainPolicy: Sendable, Hashable {
  var settings = ReplayGainSettings()
  /// The measured gain, which replaces the tags.
  var measured: ReplayGain?
  /// Whether a neighbour in the queue is the adjacent part of the same file.
  var hasAdjacentPart = false
  /// The album positions of the previous and the next item.
  var previousAlbumPosition: AlbumPosition?
  var nextAlbumPosition: AlbumPosition?

  func gain(for tags: LoudnessTags) -> AppliedGain {
    var isOnAlbum = hasAdjacentPart
    if let position = tags.albumPosition {
      isOnAlbum =
        isOnAlbum || previousAlbumPosition?.isFollowed(by: position) == true
        || nextAlbumPosition.map(position.isFollowed) == true
    }
    return AppliedGain(
      settings, tags: measured ?? tags.replayGain, isOnAlbum: isOnAlbum, isMeasured: measured != nil)
  }
}
