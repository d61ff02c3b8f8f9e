import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// The gain that results from settings and tags.
@Suite struct AppliedGainTests {
  private func tags(_ change: (inout ReplayGain) -> Void) -> ReplayGain {
    var tags = ReplayGain()
    change(&tags)
    return tags
  }

  private func settings(_ mode: ReplayGainMode, _ change: (inout ReplayGainSettings) -> Void = { _ in })
    -> ReplayGainSettings
  {
    var settings = ReplayGainSettings()
    settings.mode = mode
    change(&settings)
    return settings
  }

  private func gain(
    _ settings: ReplayGainSettings, _ tags: ReplayGain, isOnAlbum: Bool = false
  ) -> (decibels: Double, source: AppliedGain.Source?, isLimited: Bool) {
    let gain = AppliedGain(settings, tags: tags, isOnAlbum: isOnAlbum)
    return ((gain.decibels * 1_000).rounded() / 1_000, gain.source, gain.isLimitedByPeak)
  }

  private var trackAndAlbumGain: ReplayGain {
    tags {
      $0.trackGainDecibels = -6.5
      $0.albumGainDecibels = -4.25
    }
  }

  @Test func modeOffAppliesNoGain() {
    #expect(AppliedGain(settings(.off), tags: trackAndAlbumGain, isOnAlbum: true) == .none)
    #expect(AppliedGain.none.linear == 1)
  }

  @Test func trackAlbumAndAutoModesSelectTheirGains() {
    #expect(gain(settings(.track), trackAndAlbumGain) == (-6.5, .track, false))
    #expect(gain(settings(.album), trackAndAlbumGain) == (-4.25, .album, false))
    #expect(gain(settings(.auto), trackAndAlbumGain) == (-6.5, .track, false))
    #expect(gain(settings(.auto), trackAndAlbumGain, isOnAlbum: true) == (-4.25, .album, false))
  }

  @Test func missingTrackOrAlbumGainIsReplacedByTheOther() {
    let track = tags { $0.trackGainDecibels = 2 }
    let album = tags { $0.albumGainDecibels = 3 }
    #expect(gain(settings(.album), track) == (2, .track, false))
    #expect(gain(settings(.track), album) == (3, .album, false))
    #expect(gain(settings(.auto), album) == (3, .album, false))
  }

  @Test func opusR128GainsAreConvertedFromMinus23LUFS() {
    let opus = tags {
      $0.r128TrackGainDecibels = -10
      $0.r128AlbumGainDecibels = -8.5
    }
    #expect(gain(settings(.track), opus) == (-5, .track, false))
    #expect(gain(settings(.album), opus) == (-3.5, .album, false))
  }

  @Test func preampAppliesToTagGainsAndFallbackToItemsWithoutTags() {
    let withPreampAndFallback = settings(.track) {
      $0.preampDecibels = 3
      $0.fallbackDecibels = -7
    }
    #expect(gain(withPreampAndFallback, trackAndAlbumGain) == (-3.5, .track, false))
    #expect(gain(withPreampAndFallback, ReplayGain()) == (-7, .fallback, false))
    // A peak without a gain gives no gain.
    #expect(gain(withPreampAndFallback, tags { $0.trackPeak = 1 }) == (-7, .fallback, false))
  }

  @Test(arguments: [1.0, 0.9, 0.999_969, 0.5, 1.25, 3, 0.123_456_789])
  func gainIsLimitedSoThatThePeakStaysWithinFullScale(peak: Double) {
    let loud = tags {
      $0.trackGainDecibels = 24
      $0.trackPeak = peak
    }
    let limited = AppliedGain(settings(.track), tags: loud, isOnAlbum: false)
    #expect(limited.isLimitedByPeak)
    #expect(Double(limited.linear) * peak <= 1)
    #expect(Double(limited.linear) * peak > 0.999_999)
    let unlimited = AppliedGain(settings(.track) { $0.preventsClipping = false }, tags: loud, isOnAlbum: false)
    #expect(!unlimited.isLimitedByPeak)
    #expect(abs(unlimited.decibels - 24) < 1e-4)
  }

  @Test func limitUsesThePeakOfTheSelectedGainOrTheOtherPeak() {
    let loud = tags {
      $0.trackGainDecibels = 6
      $0.albumGainDecibels = 6
      $0.trackPeak = 0.25
      $0.albumPeak = 1
    }
    #expect(gain(settings(.track), loud) == (6, .track, false))
    #expect(gain(settings(.album), loud) == (0, .album, true))
    let trackPeakOnly = tags {
      $0.albumGainDecibels = 6
      $0.trackPeak = 1
    }
    #expect(gain(settings(.album), trackPeakOnly) == (0, .album, true))
  }

  @Test func gainIsClampedToItsRange() {
    #expect(gain(settings(.track), tags { $0.trackGainDecibels = 100 }) == (30, .track, false))
    #expect(gain(settings(.track), tags { $0.trackGainDecibels = -100 }) == (-60, .track, false))
    #expect(
      gain(
        settings(.track),
        tags {
          $0.trackPeak = 0
          $0.trackGainDecibels = 1
        }) == (1, .track, false))
  }

  @Test func preampAndFallbackOutsideTheirRangesAreRejected() {
    for invalid in [-15.5, 16, .nan, .infinity] {
      expectError(.invalidArgument) { try settings(.off) { $0.preampDecibels = invalid }.check() }
    }
    for invalid in [-61, 16, .nan] {
      expectError(.invalidArgument) { try settings(.off) { $0.fallbackDecibels = invalid }.check() }
    }
  }

  // MARK: - Albums

  @Test func nextTrackAndFirstTrackOfTheNextDiscFollow() {
    let second = AlbumPosition(album: "A", artist: "B", track: 2)
    #expect(second.isFollowed(by: AlbumPosition(album: "A", artist: "B", track: 3)))
    #expect(second.isFollowed(by: AlbumPosition(album: "A", artist: "B", disc: 2, track: 1)))
    for other in [
      AlbumPosition(album: "A", artist: "B", track: 1), AlbumPosition(album: "A", artist: "B", track: 2),
      AlbumPosition(album: "A", artist: "B", track: 4), AlbumPosition(album: "C", artist: "B", track: 3),
      AlbumPosition(album: "A", artist: "D", track: 3), AlbumPosition(album: "A", artist: "B", disc: 2, track: 3),
    ] { #expect(!second.isFollowed(by: other)) }
  }

  @Test func autoModeUsesTheAlbumGainNextToEitherAlbumNeighbour() {
    let position = AlbumPosition(album: "A", track: 2)
    var policy = GainPolicy(settings: settings(.auto))
    let levels = LoudnessTags(replayGain: trackAndAlbumGain, albumPosition: position)
    #expect(policy.gain(for: levels).source == .track)
    policy.previousAlbumPosition = AlbumPosition(album: "A", track: 1)
    #expect(policy.gain(for: levels).source == .album)
    policy.previousAlbumPosition = AlbumPosition(album: "A", track: 3)
    #expect(policy.gain(for: levels).source == .track)
    policy.nextAlbumPosition = policy.previousAlbumPosition
    #expect(policy.gain(for: levels).source == .album)
    policy = GainPolicy(settings: settings(.auto), hasAdjacentPart: true)
    #expect(policy.gain(for: LoudnessTags(replayGain: trackAndAlbumGain)).source == .album)
  }
}
