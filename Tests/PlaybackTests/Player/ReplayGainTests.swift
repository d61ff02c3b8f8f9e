import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Replay gain, as heard.
@Suite struct ReplayGainTests {
  private static func settings(_ mode: ReplayGainMode, fallback: Double = 0) -> ReplayGainSettings {
    var settings = ReplayGainSettings()
    settings.mode = mode
    settings.fallbackDecibels = fallback
    return settings
  }

  /// An item at 0.25 of full scale: a gain of 12 dB is nearly full scale.
  private func item(_ rig: Rig, frames: Int, _ tags: [String: String], rate: Int = 48_000) throws -> PlayerItem {
    try rig.tagged(try rig.level(0.25, frames: frames, rate: rate), tags)
  }

  private func linear(_ decibels: Double) -> Double { pow(10, decibels / 20) }

  /// Segments of equal samples: their gains relative to 0.25 in dB, to a hundredth, and their lengths.
  private func segments(_ samples: [Float]) -> [(decibels: Double, count: Int)] {
    var segments: [(value: Float, count: Int)] = []
    for sample in samples {
      if segments.last?.value == sample {
        segments[segments.count - 1].count += 1
      } else {
        segments.append((sample, 1))
      }
    }
    return segments.map { ((20 * log10(Double($0.value) / 0.25) * 100).rounded() / 100, $0.count) }
  }

  @Test func gainOfEachItemBeginsOnItsFirstSample() async throws {
    let rig = try await Rig()
    let items = [
      try item(rig, frames: 9_601, ["REPLAYGAIN_TRACK_GAIN": "-6.00 dB"]),
      try item(rig, frames: 4_799, ["REPLAYGAIN_TRACK_GAIN": "+3 dB"]),
      try item(rig, frames: 1_000, [:]),
      try item(rig, frames: 9_600, ["REPLAYGAIN_TRACK_GAIN": "-6 dB"]),
    ]
    try await rig.run {
      try $0.setReplayGain(Self.settings(.track, fallback: -1))
      try $0.append(items)
      $0.play()
    }
    await rig.advance(milliseconds: 520)
    let heard = segments(rig.heard.left)
    #expect(heard.map(\.decibels) == [-6, 3, -1, -6], "\(heard)")
    #expect(heard.map(\.count) == [9_601, 4_799, 1_000, 9_560], "\(heard)")
  }

  @Test func gainBeginsOnTheFirstFrameAcrossSampleRates() async throws {
    let rig = try await Rig()
    let items = [
      try item(rig, frames: 4_410, ["REPLAYGAIN_TRACK_GAIN": "0 dB"], rate: 44_100),
      try item(rig, frames: 9_600, ["REPLAYGAIN_TRACK_GAIN": "-12 dB"]),
    ]
    try await rig.run {
      try $0.setReplayGain(Self.settings(.track))
      try $0.append(items)
      $0.play()
    }
    await rig.advance(milliseconds: 200)
    let samples = rig.heard.left
    // The ringing of the resampler before the end belongs to the first item; the second one is exact from its first
    // frame.
    #expect(segments(Array(samples[4_800..<9_000])).map(\.decibels) == [-12])
    #expect(samples[4_700] > 0.2)
  }

  @Test func changeOfModeAppliesToDecodedAudioWithA5MillisecondRamp() async throws {
    let rig = try await Rig()
    let items = [
      try item(rig, frames: 24_000, ["REPLAYGAIN_TRACK_GAIN": "-6 dB", "REPLAYGAIN_ALBUM_GAIN": "-2 dB"]),
      try item(rig, frames: 24_000, ["REPLAYGAIN_TRACK_GAIN": "1 dB", "REPLAYGAIN_ALBUM_GAIN": "-3 dB"]),
    ]
    try await rig.run {
      try $0.append(items)
      $0.play()
    }
    await rig.advance(milliseconds: 100)
    #expect(segments(rig.heard.left).map(\.decibels) == [0])
    rig.heard.removeAll()
    try await rig.run { try $0.setReplayGain(Self.settings(.track)) }
    await rig.advance(milliseconds: 200)
    var samples = rig.heard.left
    for index in 0..<240 {
      let gain = 1 + (linear(-6) - 1) * Double(index) / 240
      #expect(abs(Double(samples[index]) - 0.25 * gain) < 1e-6, "frame \(index)")
    }
    #expect(segments(Array(samples[240...])).map(\.decibels) == [-6])
    rig.heard.removeAll()
    try await rig.run { try $0.setReplayGain(Self.settings(.album)) }
    await rig.advance(milliseconds: 400)
    samples = Array(rig.heard.left[240...])
    let heard = segments(samples)
    #expect(heard.map(\.decibels) == [-2, -3], "\(heard)")
    #expect(heard.first?.count == 24_000 - 14_400 - 240)
  }

  @Test func volumeAndGainAreMultiplied() async throws {
    let rig = try await Rig()
    let item = try item(rig, frames: 48_000, ["REPLAYGAIN_TRACK_GAIN": "6 dB"])
    try await rig.run {
      try $0.setReplayGain(Self.settings(.track))
      try $0.setVolume(0.5)
      try $0.append([item])
      $0.play()
    }
    await rig.advance(milliseconds: 100)
    #expect(segments(rig.heard.left).map(\.decibels) == [(6 + 20 * log10(0.5)).rounded(toPlaces: 2)])
    #expect(await rig.run { $0.state.volume } == 0.5)
  }

  @Test func autoUsesAlbumGainOnlyForConsecutiveAlbumTracks() async throws {
    let rig = try await Rig()
    func track(_ number: Int, _ album: String) throws -> PlayerItem {
      try item(
        rig, frames: 4_800,
        [
          "ALBUM": album, "ALBUMARTIST": "Nobody", "TRACKNUMBER": "\(number)/9",
          "REPLAYGAIN_TRACK_GAIN": "-\(number) dB", "REPLAYGAIN_ALBUM_GAIN": "-9 dB",
        ])
    }
    let items = [try track(4, "One"), try track(5, "One"), try track(2, "Two"), try track(7, "One")]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    try await rig.run { try $0.setReplayGain(Self.settings(.auto)) }
    func sources() async throws -> [AppliedGain.Source?] {
      try await rig.run { player in try items.map { try player.appliedGain(of: $0.id)?.source } }
    }
    #expect(try await sources() == [.album, .album, .track, .track])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 400)
    let heard = segments(rig.heard.left)
    #expect(heard.map(\.decibels) == [-9, -2, -7], "\(heard)")
    #expect(heard.map(\.count) == [9_600, 4_800, 4_800])
  }

  @Test func autoSwitchesToAlbumGainWhenTheNextTrackIsQueued() async throws {
    let rig = try await Rig()
    func track(_ number: Int) throws -> PlayerItem {
      try item(
        rig, frames: 48_000,
        [
          "ALBUM": "One", "TRACKNUMBER": "\(number)", "REPLAYGAIN_TRACK_GAIN": "-\(number) dB",
          "REPLAYGAIN_ALBUM_GAIN": "-9 dB",
        ])
    }
    let (first, second) = (try track(1), try track(2))
    try await rig.run {
      try $0.setReplayGain(Self.settings(.auto))
      try $0.append([first])
      $0.play()
    }
    await rig.advance(milliseconds: 100)
    #expect(segments(rig.heard.left).map(\.decibels) == [-1])
    // The next track of the album enters the queue: both are played as parts of the album, and the audible gain
    // changes.
    try await rig.run { try $0.append([second]) }
    await rig.settle()
    rig.heard.removeAll()
    await rig.advance(milliseconds: 1_500)
    #expect(Set(segments(Array(rig.heard.left[240...])).map(\.decibels)) == [-9])
  }

  @Test func consecutivePartsOfOneFileUseAlbumGain() async throws {
    let rig = try await Rig()
    let whole = try item(
      rig, frames: 48_000, ["REPLAYGAIN_TRACK_GAIN": "-3 dB", "REPLAYGAIN_ALBUM_GAIN": "-4 dB"])
    func part(_ start: Int64, _ end: Int64) -> PlayerItem {
      PlayerItem(
        asset: whole.asset,
        timeRange: TimeRange(
          start: MediaTime(value: start, timescale: 10), end: MediaTime(value: end, timescale: 10)),
        id: PlayerItem.ID(100 + start))
    }
    let parts = [part(0, 2), part(2, 5), part(7, 9)]
    try await rig.run {
      try $0.setReplayGain(Self.settings(.auto))
      try $0.append(parts)
      $0.play()
    }
    await rig.advance(milliseconds: 700)
    let heard = segments(rig.heard.left)
    #expect(heard.map(\.decibels) == [-4, -3], "\(heard)")
    #expect(heard.map(\.count) == [24_000, 9_600])
  }

  @Test func gainIsTheSameAfterASeekAndInReverse() async throws {
    let rig = try await Rig()
    let items = [
      try item(rig, frames: 48_000, ["REPLAYGAIN_TRACK_GAIN": "-6 dB"]), try item(rig, frames: 4_800, [:]),
    ]
    try await rig.run {
      try $0.setReplayGain(Self.settings(.track))
      try $0.append(items)
      $0.play()
    }
    await rig.advance(milliseconds: 100)
    try await rig.run { try $0.seek(to: .absolute(MediaTime(value: 1, timescale: 2))) { _ in } }
    await rig.advance(milliseconds: 100)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 200)
    #expect(Set(segments(rig.heard.left).filter { $0.count > 300 }.map(\.decibels)) == [-6])
  }

  @Test func gainsReadByTagLibApplyFromTheFirstSample() async throws {
    for isEnabledBefore in [true, false] {
      let rig = try await Rig()
      let item = rig.item(try TaggedAIFF.file(in: rig.files, hundredths: -600))
      try await rig.run {
        if isEnabledBefore { try $0.setReplayGain(Self.settings(.track)) }
        try $0.append([item])
      }
      await rig.settle()
      try await rig.run { try $0.setReplayGain(Self.settings(.track)) }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 100)
      #expect(segments(rig.heard.left).map(\.decibels) == [-6], "\(isEnabledBefore)")
    }
  }

  @Test func appliedGainReportsValueSourceAndLimit() async throws {
    let rig = try await Rig()
    let item = try item(rig, frames: 4_800, ["REPLAYGAIN_TRACK_GAIN": "9 dB", "REPLAYGAIN_TRACK_PEAK": "0.5"])
    try await rig.run {
      try $0.append([item])
      try $0.setReplayGain(Self.settings(.track))
    }
    await rig.settle()
    let gain = try #require(await rig.run { try $0.appliedGain(of: item.id) })
    #expect(gain.linear == 2 && gain.isLimitedByPeak && gain.source == .track)
    #expect(await rig.run { $0.state.replayGain.mode } == .track)
    await expectError(.invalidArgument) {
      try await rig.run { player in
        var bad = player.replayGain
        bad.preampDecibels = 16
        try player.setReplayGain(bad)
      }
    }
    #expect(await rig.run { $0.replayGain } == Self.settings(.track))
    await expectError(.noSuchItem) { try await rig.run { try $0.appliedGain(of: 999) } }
  }
}

extension Rig {
  /// The same audio as FLAC with tags.
  fileprivate func tagged(_ item: PlayerItem, _ tags: [String: String]) throws -> PlayerItem {
    let path = files.file("tagged-\(item.id).flac")
    try Fixtures.ffmpeg(
      ["-nostdin", "-v", "error", "-y", "-i", item.asset.path ?? ""]
        + tags.sorted { $0.key < $1.key }.flatMap { ["-metadata", "\($0.key)=\($0.value)"] } + ["-c:a", "flac", path])
    return self.item(path)
  }
}

extension Double {
  fileprivate func rounded(toPlaces places: Int) -> Double {
    let scale = pow(10, Double(places))
    return (self * scale).rounded() / scale
  }
}
