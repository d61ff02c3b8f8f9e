import Glibc
import MediaAssets
import MediaCore

/// Which of a file's gains is applied.
public enum ReplayGainMode: String, Sendable, Hashable, CaseIterable {
  case off
  /// The track's: everything is as loud as everything else.
  case track
  /// The album's: tracks of an album are as loud as they are to each other.
  case album
  /// The album's for items that the queue has next to what precedes or follows them on their album, else the track's.
  case auto
}

/// How a player makes items as loud as each other.
public struct ReplayGainSettings: Sendable, Hashable {
  public var mode = ReplayGainMode.off
  /// Added to what tags say, in dB: -15 to 15.
  public var preampDecibels = 0.0
  /// The gain of items whose tags say nothing, in dB, without `preampDecibels`: -60 to 15.
  public var fallbackDecibels = 0.0
  /// A gain is made so small that the greatest sample which the tags tell of stays within full scale.
  public var preventsClipping = true

  public init() {}

  static let preampRange = -15.0...15.0
  static let fallbackRange = -60.0...15.0

  /// Errors: `invalidArgument`.
  func check() throws(MediaError) {
    guard Self.preampRange.contains(preampDecibels) else {
      throw MediaError(
        .invalidArgument, "a pre-amplification is from -15 to 15 dB, not \(preampDecibels)", operation: "replay-gain")
    }
    guard Self.fallbackRange.contains(fallbackDecibels) else {
      throw MediaError(
        .invalidArgument, "a gain for what has no tags is from -60 to 15 dB, not \(fallbackDecibels)",
        operation: "replay-gain")
    }
  }
}

/// The gain that is applied to an item.
public struct AppliedGain: Sendable, Hashable {
  /// Where it comes from.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    case track, album
    /// Not the tags but what was measured (`PlayerItem.measuredReplayGain`), the track's or the album's.
    case scan
    /// The tags say nothing.
    case fallback
  }

  /// Replay gain is off: the sound is as it was recorded.
  public static let none = AppliedGain(linear: 1, source: nil, isLimitedByPeak: false)

  /// What samples are multiplied with.
  public var linear: Float
  /// Nil while replay gain is off.
  public var source: Source?
  /// Whether it is less than was wanted, for the sake of the greatest sample.
  public var isLimitedByPeak: Bool

  /// `linear` in dB.
  public var decibels: Double { 20 * log10(Double(linear)) }
}

extension AppliedGain {
  /// No gain is beyond these, in dB, whatever tags and settings say together.
  static let range = -60.0...30.0
  /// R128_TRACK_GAIN and R128_ALBUM_GAIN are for -23 LUFS, ReplayGain for -18.
  private static let r128Offset = 5.0

  /// What `settings` make of a file's tags.
  ///
  /// The one of track and album that is not there is the other. Of Opus, whose header has a gain that the decoder has applied,
  /// the tags count from that on.
  init(_ settings: ReplayGainSettings, tags: ReplayGain, isOnAlbum: Bool, isMeasured: Bool = false) {
    let track = (tags.r128TrackGainDecibels.map { $0 + Self.r128Offset } ?? tags.trackGainDecibels)
      .map { (gain: $0, peak: tags.trackPeak ?? tags.albumPeak, source: Source.track) }
    let album = (tags.r128AlbumGainDecibels.map { $0 + Self.r128Offset } ?? tags.albumGainDecibels)
      .map { (gain: $0, peak: tags.albumPeak ?? tags.trackPeak, source: Source.album) }
    let chosen: (gain: Double, peak: Double?, source: Source)?
    switch settings.mode {
    case .off:
      self = .none
      return
    case .track: chosen = track ?? album
    case .album: chosen = album ?? track
    case .auto: chosen = isOnAlbum ? album ?? track : track ?? album
    }
    let wanted = chosen.map { $0.gain + settings.preampDecibels } ?? settings.fallbackDecibels
    linear = Float(pow(10, min(max(wanted, Self.range.lowerBound), Self.range.upperBound) / 20))
    source = isMeasured && chosen != nil ? .scan : chosen?.source ?? .fallback
    isLimitedByPeak = false
    guard settings.preventsClipping, let peak = chosen?.peak, peak * Double(linear) > 1 else { return }
    linear = Float(1 / peak)
    if Double(linear) * peak > 1 { linear = linear.nextDown }
    isLimitedByPeak = true
  }
}

/// All that decides an item's gain, but for its own tags: what the decode thread needs, which reads those.
struct LevelPolicy: Sendable, Hashable {
  var settings = ReplayGainSettings()
  /// What counts instead of the tags.
  var measured: ReplayGain?
  /// Whether a neighbour in the queue is the part of the same file that lies next to it there.
  var isNextToPart = false
  /// What is played before, and behind.
  var before: AlbumPlace?
  var behind: AlbumPlace?

  func gain(for tags: LevelTags) -> AppliedGain {
    var isOnAlbum = isNextToPart
    if let place = tags.albumPlace {
      isOnAlbum = isOnAlbum || before?.isFollowed(by: place) == true || behind.map(place.isFollowed) == true
    }
    return AppliedGain(
      settings, tags: measured ?? tags.replayGain, isOnAlbum: isOnAlbum, isMeasured: measured != nil)
  }
}
