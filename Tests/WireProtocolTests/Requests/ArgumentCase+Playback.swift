import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let playback: [Self] = starts + seeks + rates + volumes + settings + loops + effects + selections

  private static let starts: [Self] = [
    Self("play", PlayCommand.self) {
      $0.from == nil && $0.to == nil && $0.item == nil && $0.player == .one("main")
    },
    Self("play player=*", PlayCommand.self) { $0.player == .all && !$0.isReadWithoutValue },
    Self("play from=1 to=+0.5 player=b", PlayCommand.self) {
      try $0.from == .absolute(seconds("1")) && $0.to == .relative(seconds("0.5")) && $0.player == .one("b")
    },
    Self("play to=end item=3", PlayCommand.self) { $0.from == nil && $0.to == .end && $0.item == 3 },
    Self("play-immediately", PlayImmediatelyCommand.self) { $0.rate == nil && $0.player == "main" },
    Self("play-immediately -1.5", PlayImmediatelyCommand.self) { $0.rate == -1.5 },
    Self("pause player=b.2", PauseCommand.self) { $0.player == .one("b.2") },
    Self("pause player=*", PauseCommand.self) { $0.player == .all },
    Self("toggle", ToggleCommand.self) { $0.player == "main" },
    Self("stop", StopCommand.self) { $0.player == .one("main") },
    Self("preroll", PrerollCommand.self) { $0.rate == nil },
    Self("preroll 2", PrerollCommand.self) { $0.rate == 2 },
    Self("preroll.cancel player=b", PrerollCancelCommand.self) { $0.player == "b" },
    Self("auto-wait", AutoWaitCommand.self) { $0.state == nil },
    Self("auto-wait off", AutoWaitCommand.self) { $0.state == .off },
    Self("status player=\"x\"", StatusCommand.self) { $0.player == "x" },
  ]

  private static func seek(
    _ line: String, to target: String, before: MediaTime = .zero, after: MediaTime = .zero, isChase: Bool = false,
    item: EntryReference? = nil
  ) -> Self {
    Self(line, SeekCommand.self) {
      try $0.seek()
        == SeekRequest(
          target: .time(TimeExpression(parsing: target)), toleranceBefore: before, toleranceAfter: after,
          isChase: isChase, item: item) && $0.player == "main"
    }
  }

  private static let seeks: [Self] = [
    seek("seek 83.5", to: "83.5"), seek("seek -5", to: "-5"), seek("seek 50%", to: "50%"), seek("seek end", to: "end"),
    seek("seek 1:02:03.25 item=3", to: "1:02:03.25", item: 3),
    seek("seek 441000/44100 before=0.5 after=0", to: "441000/44100", before: MediaTime(value: 1, timescale: 2)),
    seek("seek fast 10", to: "10", before: .positiveInfinity, after: .positiveInfinity),
    seek("seek 10 fast", to: "10", before: .positiveInfinity, after: .positiveInfinity),
    seek("seek 10 fast=false", to: "10"), seek("seek 10 after=inf", to: "10", after: .positiveInfinity),
    seek("seek +5 chase", to: "+5", isChase: true), seek("seek chase=false 5", to: "5"),
    seek("seek 10 chase fast", to: "10", before: .positiveInfinity, after: .positiveInfinity, isChase: true),
    Self("seek date=1970-01-01T00:00:02Z chase", SeekCommand.self) {
      try $0.seek() == SeekRequest(target: .date(2_000_000_000), isChase: true)
    },
    Self("seek.cancel", SeekCancelCommand.self) { $0.player == "main" },
    Self("step -5", StepCommand.self) { $0.count == -5 && $0.player == "main" },
    Self("next-chapter", NextChapterCommand.self) { $0.player == "main" },
    Self("previous-chapter player=b", PreviousChapterCommand.self) { $0.player == "b" },
  ]

  private static let rates: [Self] = [
    Self("rate", RateCommand.self) { $0.rate == nil && $0.player == .one("main") && $0.isReadWithoutValue },
    Self("rate player=*", RateCommand.self) { $0.rate == nil && $0.player == .all && $0.isReadWithoutValue },
    Self("rate -1.5", RateCommand.self) { $0.rate == -1.5 && !$0.isReadWithoutValue },
    Self("default-rate", DefaultRateCommand.self) { $0.rate == nil },
    Self("default-rate 1.5", DefaultRateCommand.self) { $0.rate == 1.5 },
    Self("rate-at -0.5 +2 from=1.5", RateAtCommand.self) {
      try $0.rate == -0.5 && $0.time == .after(seconds("2")) && $0.from == seconds("1.5")
    },
    Self("rate-at 1 12.5", RateAtCommand.self) { try $0.time == .instant(seconds("12.5")) },
    Self("rate-at 1 18:00", RateAtCommand.self) { try $0.time == .date(DateExpression(parsing: "18:00")) },
    Self("rate-at 0 now", RateAtCommand.self) { $0.rate == 0 && $0.time == .now && $0.from == nil },
    Self("pitch", PitchCommand.self) { $0.algorithm == nil && $0.player == "main" },
    Self("pitch spectral player=two", PitchCommand.self) { $0.algorithm == .spectral && $0.player == "two" },
  ]

  private static let volumes: [Self] = [
    Self("volume", VolumeCommand.self) { $0.volume == nil && $0.player == .one("main") },
    Self("volume .25", VolumeCommand.self) { $0.volume == .absolute(0.25) },
    Self("volume 1e0 player=*", VolumeCommand.self) { $0.volume == .absolute(1) && $0.player == .all },
    Self("mute", MuteCommand.self) { $0.state == nil }, Self("mute toggle", MuteCommand.self) { $0.state == .toggle },
    Self("pan", PanCommand.self) { $0.pan == nil }, Self("pan -0.5", PanCommand.self) { $0.pan == -0.5 },
    Self("crossfade", CrossfadeCommand.self) { $0.duration == nil && $0.curve == nil && $0.player == "main" },
    Self("crossfade 2.5 curve=s-curve fade-out=1 fade-in=0 player=b", CrossfadeCommand.self) {
      try $0.duration == seconds("2.5") && $0.curve == .sCurve && $0.fadeOut == seconds("1") && $0.fadeIn == .zero
        && $0.player == "b"
    },
    Self("crossfade none", CrossfadeCommand.self) { $0.duration == .invalid },
    Self("silence", SilenceCommand.self) { $0.duration == nil && $0.threshold == nil && $0.player == "main" },
    Self("silence 2.5 threshold=-50 player=b", SilenceCommand.self) {
      try $0.duration == seconds("2.5") && $0.threshold == -50 && $0.player == "b"
    },
    Self("silence none", SilenceCommand.self) { $0.duration == .invalid && $0.threshold == nil },
    Self("fade 0 2.5", FadeCommand.self) {
      try $0.volume == .absolute(0) && $0.duration == seconds("2.5") && $0.curve == .linear && $0.then == .none
        && !$0.wait
    },
    Self("fade 0.5 250ms equal-power player=b", FadeCommand.self) {
      try $0.volume == .absolute(0.5) && $0.duration == seconds("0.25") && $0.curve == .equalPower
        && $0.player == .one("b")
    },
    Self("fade 0 1 then=pause wait", FadeCommand.self) {
      try $0.volume == .absolute(0) && $0.duration == seconds("1") && $0.curve == .linear && $0.then == .pause
        && $0.wait
    },
    Self("replay-gain", ReplayGainCommand.self) {
      $0.mode == nil && $0.preAmp == nil && $0.fallback == nil && $0.protect == nil
    },
    Self("replay-gain auto pre-amp=-1.5 fallback=-6 protect=off player=two", ReplayGainCommand.self) {
      $0.mode == .auto && $0.preAmp == -1.5 && $0.fallback == -6 && $0.protect == false && $0.player == "two"
    },
  ]

  private static let settings: [Self] = [
    Self("end-action", EndActionCommand.self) { $0.action == nil },
    Self("end-action stop", EndActionCommand.self) { $0.action == .stop },
    Self("end-action none", EndActionCommand.self) { $0.action == EndActionCommand.Action.none },
    Self("repeat", RepeatCommand.self) { $0.mode == nil }, Self("repeat all", RepeatCommand.self) { $0.mode == .all },
    Self("repeat off player=x", RepeatCommand.self) { $0.mode == .off && $0.player == "x" },
  ]

  private static let loops: [Self] = [
    Self("loop", LoopCommand.self) { try $0.loop() == .show && $0.item == nil },
    Self("loop last", LoopCommand.self) { try $0.loop() == .last },
    Self("loop off item=3", LoopCommand.self) { try $0.loop() == .off && $0.item == 3 },
    Self("loop 1:10 end count=3", LoopCommand.self) {
      try $0.loop() == .range(start: .absolute(seconds("70")), end: .end, count: 3)
    },
  ]

  private static let effects: [Self] = [
    Self("channel-mix", ChannelMixCommand.self) { try $0.requestedMix() == nil && $0.isReadWithoutValue },
    Self("channel-mix swap player=b", ChannelMixCommand.self) {
      try $0.requestedMix() == .swap && $0.player == "b" && !$0.isReadWithoutValue
    },
    Self("channel-mix 0.5,+0.5/0,-1e0", ChannelMixCommand.self) {
      try $0.requestedMix() == .matrix([[0.5, 0.5], [0, -1]])
    },
    Self("channel-mix -1", ChannelMixCommand.self) { try $0.requestedMix() == .matrix([[-1]]) },
    Self("equalizer", EqualizerCommand.self) { try $0.equalizerChange() == .none && $0.isReadWithoutValue },
    Self("equalizer off", EqualizerCommand.self) { try $0.equalizerChange() == .off && !$0.isReadWithoutValue },
    Self("equalizer pre-amp=-2", EqualizerCommand.self) {
      try $0.equalizerChange() == .preAmp(-2) && !$0.isReadWithoutValue
    },
    Self("equalizer peak:1000:-3:1.4 pre-amp=-2 low-shelf:120:+4 high-pass:30 low-pass:1e4:2", EqualizerCommand.self) {
      let q = 0.5.squareRoot()
      return try $0.equalizerChange()
        == .replace(
          RequestedEqualizer(
            bands: [
              .init(.peak, frequency: 1_000, gain: -3, q: 1.4), .init(.lowShelf, frequency: 120, gain: 4, q: q),
              .init(.highPass, frequency: 30, gain: 0, q: q), .init(.lowPass, frequency: 10_000, gain: 0, q: 2),
            ], preAmp: -2))
    },
    Self("compressor", CompressorCommand.self) { $0.state == nil && $0.threshold == nil && $0.isReadWithoutValue },
    Self("compressor on threshold=-20 ratio=4 knee=6 attack=10ms release=0.2 make-up=3", CompressorCommand.self) {
      try $0.state == true && $0.threshold == -20 && $0.ratio == 4 && $0.knee == 6 && $0.attack == seconds("0.01")
        && $0.release == seconds("0.2") && $0.makeUp == 3
    },
    Self("compressor off player=two", CompressorCommand.self) { $0.state == false && $0.player == "two" },
    Self("limiter", LimiterCommand.self) { $0.state == nil && $0.ceiling == nil && $0.isReadWithoutValue },
    Self("limiter ceiling=-1 release=0.1 look-ahead=5ms", LimiterCommand.self) {
      try $0.state == nil && $0.ceiling == -1 && $0.release == seconds("0.1") && $0.lookAhead == seconds("0.005")
    },
    Self("limiter off", LimiterCommand.self) { $0.state == false },
  ]

  private static let selections: [Self] = [
    Self("media-selection", MediaSelectionCommand.self) {
      try $0.group == nil && $0.criteria() == nil && !$0.clear && $0.automatic == nil
    },
    Self(
      "media-selection audible language=de,en characteristics=describes-video principal=is-original-content"
        + " automatic=on",
      MediaSelectionCommand.self
    ) {
      try $0.group == .audible && $0.automatic == .on
        && $0.criteria()
          == MediaSelectionRequest(
            languages: ["de", "en"], characteristics: [.describesVideo], principal: [.isOriginalContent])
    },
    Self("media-selection legible language=", MediaSelectionCommand.self) {
      try $0.group == .legible && $0.criteria() == MediaSelectionRequest()
    },
    // A combining character after a comma is a part of the next text.
    Self("media-selection legible language=de,\u{301}x", MediaSelectionCommand.self) {
      $0.language == ["de", "\u{301}x"]
    },
    Self("media-selection legible clear player=b", MediaSelectionCommand.self) {
      try $0.group == .legible && $0.criteria() == nil && $0.clear && $0.player == "b"
    },
  ]
}
