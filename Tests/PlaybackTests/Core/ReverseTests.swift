import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayerModel

/// Rates below zero: the audio and the reports in reverse. Files are time-coded, so that every sample encodes its
/// index.
@Suite struct ReverseTests {
  private func frame(_ frame: Int64) -> MediaTime { MediaTime(value: frame, timescale: 48_000) }

  /// Creates a rig with a ready item of 2 s, at frame `position`.
  private func rig(at position: Int64, frames: Int = 96_000, flac: Bool = false) async throws -> Rig {
    let rig = try await Rig()
    let item = flac ? try rig.flac(file: 1, frames: frames) : try rig.wav(file: 1, frames: frames)
    try await rig.run { player in
      try player.append([item])
      try player.setActionAtItemEnd(.pause)
    }
    await rig.settle()
    try await seek(rig, to: position)
    rig.heard.removeAll()
    return rig
  }

  private func seek(_ rig: Rig, to position: Int64) async throws {
    let time = frame(position)
    try await rig.run { try $0.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
  }

  /// The file indices of the heard samples, in order, without silence. Each sample is decoded separately.
  private func indices(_ rig: Rig, file: Int = 1, upTo count: Int = 96_000) -> [Int] {
    var indexOfFrame: [StereoFrame: Int] = [:]
    for index in 0..<count { indexOfFrame[TimeCode.frame(file: file, index: index)] = index }
    return rig.heard.all.drop { $0.left == 0 && $0.right == 0 }.map { indexOfFrame[$0] ?? -1 }
  }

  private func expectDescending(
    _ indices: some Collection<Int>, from first: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let expected = (0..<indices.count).map { first - 1 - $0 }
    #expect(Array(indices) == expected, sourceLocation: sourceLocation)
  }

  // MARK: - Audio

  @Test(arguments: [false, true])
  func rateMinus1PlaysTheItemReversedBitExact(_ flac: Bool) async throws {
    let rig = try await rig(at: 96_000, flac: flac)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [-1, -1])
    #expect(await rig.run { $0.currentTime() } == frame(72_000))
    await rig.advance(milliseconds: 2_000)
    let heard = indices(rig)
    let played = heard.prefix(96_000)
    #expect(played.count == 96_000)
    expectDescending(played, from: 96_000)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(await rig.run { $0.currentTime() } == .zero)
    #expect(rig.dump.components(separatedBy: "event playedToEnd item 1 at 0").count == 2)
  }

  @Test func reverseFromTheBeginningEndsAtOnce() async throws {
    let rig = try await rig(at: 0)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 200)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(rig.heard.runs.isEmpty)
    #expect(rig.dump.contains("event playedToEnd item 1 at 0"))
    // Forwards it is heard from there.
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    #expect(rig.heard.runs.first?.firstIndex == 0)
  }

  @Test func reversalWhilePlayingContinuesFromTheHeardFrame() async throws {
    let rig = try await rig(at: 0)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 700)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [-1, -1])
    try await rig.run { try $0.setRate(1) }
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [1, 1])
    let heard = indices(rig)
    #expect(heard.count == 81_600)
    // Samples of a cross-fade cannot be decoded; each other sample is one frame from the previous one.
    let reversals = heard.indices.dropFirst().filter {
      heard[$0] != heard[$0 - 1] + 1 && heard[$0] != heard[$0 - 1] - 1
    }
    #expect(reversals.count < 700)
    let top = try #require(heard.max())
    let firstDown = try #require(heard.indices.dropFirst().first { heard[$0] >= 0 && heard[$0] == heard[$0 - 1] - 1 })
    let lastUp = try #require(heard[..<firstDown].lastIndex { $0 >= 0 && $0 < top - 240 })
    // Up to the change of direction by one, and from there down by one, as far as the number of frames in between.
    #expect(heard[lastUp] == lastUp)
    let reversalFrame = (heard[firstDown] + 1 + firstDown + 1) / 2
    #expect(heard[firstDown] == 2 * reversalFrame - 1 - firstDown)
    #expect(reversalFrame <= 700 * 48 + 80 * 48)
    let time = await rig.run { $0.currentTime() }
    #expect(abs(time.seconds * 48_000 - Double(try #require(heard.last)) - 1) <= 1)
  }

  @Test func pauseAndSeekWorkInReverse() async throws {
    let rig = try await rig(at: 48_000)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 200)
    expectDescending(indices(rig), from: 48_000)
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 100)
    let time = await rig.run { $0.currentTime() }
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 100)
    expectDescending(indices(rig), from: Int(time.value * 48_000 / Int64(time.timescale)))
    try await seek(rig, to: 80_000)
    rig.heard.removeAll()
    await rig.advance(milliseconds: 300)
    let heard = indices(rig)
    #expect(heard.first ?? 0 > 79_990 - 4_800)
    expectDescending(heard, from: (heard.first ?? 0) + 1)
  }

  @Test(arguments: [(100, 0), (0, 100), (50, 50), (0, 0), (3, 3)] as [(Int64, Int64)])
  func reverseSeekLandsWithinItsTolerancesAndReportsTheTime(_ before: Int64, _ after: Int64) async throws {
    let rig = try await rig(at: 20_000, flac: true)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 50)
    rig.heard.removeAll()
    let results = Mutex<[SeekResult]>([])
    let target = frame(70_000)
    try await rig.run {
      try $0.seek(
        to: target, toleranceBefore: MediaTime(value: before, timescale: 1_000),
        toleranceAfter: MediaTime(value: after, timescale: 1_000)
      ) { result in results.withLock { $0.append(result) } }
    }
    await rig.advance(milliseconds: 300)
    let result = try #require(results.withLock { $0.first })
    let reached = try #require(result.time.frameIndex(rate: 48_000, rounding: .halfAwayFromZero))
    #expect(reached >= 70_000 - before * 48 && reached <= 70_000 + after * 48)
    #expect(result.isExact == (reached == 70_000))
    print("reverse seek | -\(before) +\(after) ms | landed \(reached - 70_000) frames beside")
    // The device continued to play during the seek; the audio after it matches the reported time.
    let heard = indices(rig).drop { $0 < 60_000 }
    expectDescending(heard, from: Int(reached))
    #expect(heard.count > 9_000)
  }

  @Test(arguments: [-0.5, -2, -3.7, -1.0 / 32, -32])
  func otherNegativeRatesPlayAtTheirMagnitude(_ rate: Double) async throws {
    let rig = try await Rig()
    let item = try rig.circle(frames: 1_000_000)
    try await rig.run { player in
      try player.append([item])
      try player.setAudioTimePitchAlgorithm(.varispeed)
    }
    await rig.settle()
    try await seek(rig, to: 900_000)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(rate) }
    await rig.advance(milliseconds: 500)
    let positions = rig.heard.positionsAfterSilence
    #expect(positions.count > 20_000)
    let steps = zip(positions.dropFirst(), positions).map { Circle.difference($0, $1) }
    let worst = steps.reduce(0) { max($0, abs($1 - rate)) }
    print("reverse rates | \(rate) | \(positions.count) frames | step within \(worst)")
    #expect(worst < 0.02 * max(1, -rate))
    let time = await rig.run { $0.currentTime() }
    let expected = 900_000 + 24_000 * rate
    #expect(abs(time.seconds * 48_000 - expected) < 4 * max(1, -rate))
  }

  // MARK: - Transitions

  @Test func loopPlaysFromItsEndToItsStart() async throws {
    let rig = try await rig(at: 40_000)
    let range = TimeRange(start: frame(20_000), end: frame(30_000))
    try await rig.run { player in
      try player.setRate(-1)
      try player.setLoop(range, count: 2)
    }
    await rig.advance(milliseconds: 1_500)
    let expected =
      Array((20_000..<40_000).reversed()) + Array((20_000..<30_000).reversed())
      + Array((0..<30_000).reversed())
    #expect(Array(indices(rig).prefix(60_000)) == expected)
  }

  @Test func statement19_reversePlaybackEndsAtTheReverseEndTime() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 48_000)
    try item.setReversePlaybackEndTime(frame(12_000))
    try await rig.run { player in
      try player.append([item])
      try player.setActionAtItemEnd(.pause)
    }
    await rig.settle()
    try await seek(rig, to: 24_000)
    rig.heard.removeAll()
    #expect(await rig.run { _ in item.canPlayReverse && item.canPlaySlowReverse && item.canPlayFastReverse })
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 500)
    #expect(Array(indices(rig, upTo: 48_000).prefix(12_000)) == Array((12_000..<24_000).reversed()))
    #expect(await rig.run { $0.currentTime() } == frame(12_000))
    #expect(rig.dump.components(separatedBy: "event playedToEnd item 1 at 0.25").count == 2)
  }

  @Test func statement19_reversePlaybackIgnoresTheForwardEndTime() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 48_000)
    try item.setForwardPlaybackEndTime(frame(12_000))
    try item.setReversePlaybackEndTime(frame(6_000))
    try await rig.run { player in
      try player.append([item])
      try player.setActionAtItemEnd(.pause)
    }
    await rig.settle()
    // From after the forward end, and across it.
    try await seek(rig, to: 24_000)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 500)
    #expect(indices(rig, upTo: 48_000) == Array((6_000..<24_000).reversed()))
    #expect(rig.dump.components(separatedBy: "event playedToEnd").count == 2)
    #expect(rig.dump.contains("event playedToEnd item 1 at 0.125"))
    #expect(item.duration == frame(48_000))
    #expect(await rig.run { $0.state.itemDuration } == frame(48_000))
  }

  @Test func repeatOneInReverseRestartsAtTheEndWithoutAGap() async throws {
    let rig = try await rig(at: 10_000, frames: 24_000)
    try await rig.run { player in
      try player.setRepeatMode(.one)
      try player.setRate(-1)
    }
    await rig.advance(milliseconds: 1_000)
    let round = Array((0..<24_000).reversed())
    #expect(indices(rig, upTo: 24_000) == Array((Array((0..<10_000).reversed()) + round + round).prefix(48_000)))
  }

  @Test func actionNoneContinuesBelowZeroInSilence() async throws {
    let rig = try await rig(at: 4_800)
    try await rig.run { player in
      try player.setActionAtItemEnd(.none)
      try player.setRate(-1)
    }
    await rig.advance(milliseconds: 600)
    #expect(await rig.run { $0.currentTime() } == frame(-24_000))
    #expect(await rig.run { $0.state.rate } == -1)
    #expect(rig.dump.components(separatedBy: "event playedToEnd").count == 2)
    try await rig.run { try $0.setRate(1) }
    await rig.advance(milliseconds: 100)
    #expect(rig.heard.runs.last?.firstIndex == 0)
  }

  @Test func audioMixAppliesAtItsTimesInReverse() async throws {
    let rig = try await Rig()
    let item = try rig.circle(frames: 96_000)
    var mix = AudioMix()
    try mix.setVolumeRamp(
      fromStartVolume: 0, toEndVolume: 1, timeRange: TimeRange(start: frame(24_000), end: frame(72_000)))
    item.audioMix = mix
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    try await seek(rig, to: 72_000)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 1_000)
    let (left, right) = (rig.heard.left, rig.heard.right)
    let first = try #require(left.firstIndex { $0 != 0 })
    for index in stride(from: first, to: left.count, by: 480) {
      let volume = Double(left[index] * left[index] + right[index] * right[index]).squareRoot() / 0.8
      #expect(abs(volume - (1 - Double(index - first + 1) / 48_000)) < 1e-4)
    }
  }

  // MARK: - Observers

  @Test func periodicTimesDescendAndBoundariesAreCrossedAgain() async throws {
    let rig = try await rig(at: 0)
    let boundaries = [frame(12_000), frame(24_000)]
    try await rig.run { player in
      _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 10)) {
        [log = rig.log] observation in
        log("tick \(observation.reason.rawValue) \(observation.time.decimalDescription) \(observation.rate)")
      }
      _ = try player.addBoundaryTimeObserver(forTimes: boundaries) { [log = rig.log] observation in
        log("cue \(observation.reason.rawValue) \(observation.time.decimalDescription)")
      }
      player.play()
    }
    await rig.advance(milliseconds: 560)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 1_000)
    let lines = rig.dump.split(separator: "\n").map(String.init)
    #expect(
      lines.filter { $0.hasPrefix("tick periodic") } == [
        "tick periodic 0.1 1.0", "tick periodic 0.2 1.0", "tick periodic 0.3 1.0", "tick periodic 0.4 1.0",
        "tick periodic 0.5 1.0", "tick periodic 0.6 1.0", "tick periodic 0.6 -1.0", "tick periodic 0.5 -1.0",
        "tick periodic 0.4 -1.0", "tick periodic 0.3 -1.0", "tick periodic 0.2 -1.0", "tick periodic 0.1 -1.0",
        "tick periodic 0 -1.0",
      ])
    #expect(
      lines.filter { $0.hasPrefix("cue") } == [
        "cue crossed 0.25", "cue crossed 0.5", "cue crossed 0.5", "cue crossed 0.25",
      ])
  }
}
