import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback

/// Rates of a player, as heard. Items circle, so that each sample encodes its position at any rate and gain.
@Suite struct RateTests {
  private static let outputRate = 48_000.0

  /// Creates a rig that plays a circle of `frames` frames.
  private func rig(frames: Int, sampleRateHz: Int = 48_000, playing: Bool = true) async throws -> Rig {
    let rig = try await Rig()
    let item = try rig.circle(frames: frames, rate: sampleRateHz)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    if playing { await rig.run { $0.play() } }
    return rig
  }

  /// The heard positions in the item's frames, modulo whole rounds, without silence at the beginning.
  private func positions(_ rig: Rig) -> [Double] {
    rig.heard.positionsAfterSilence
  }

  // MARK: - Varispeed

  @Test(arguments: [0.03125, 0.5, 0.75, 1.1, 1.234567, 2, 3.7, 32])
  func heardPositionAdvancesByTheRate(_ rate: Double) async throws {
    let frames = 1_000_000
    for sampleRateHz in [44_100, 48_000] {
      let rig = try await rig(frames: frames, sampleRateHz: sampleRateHz, playing: false)
      try await rig.run { player in
        try player.seek(to: MediaTime(value: 1, timescale: 4), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
      }
      await rig.settle()
      rig.heard.removeAll()
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: 500)
      let step = rate * Double(sampleRateHz) / Self.outputRate
      let heard = positions(rig)
      #expect(heard.count > 20_000)
      let first = try #require(heard.first)
      // The first frame of the output at or after the requested time, and from there on by the rate.
      let late = Circle.difference(first, Double(sampleRateHz) / 4)
      #expect(late > -0.01 && late < step + 0.01)
      let worst = heard.indices.map { abs(Circle.difference(heard[$0], first + Double($0) * step)) }.max() ?? 1
      #expect(worst < 0.01, "at \(sampleRateHz) Hz")
      #expect(await deviation(rig, sampleRateHz: sampleRateHz) < 0.02)
    }
  }

  /// The distance of the current time from the sample that is heard next, in frames of the item.
  private func deviation(_ rig: Rig, sampleRateHz: Int = 48_000) async -> Double {
    let (time, rate) = await rig.run { ($0.currentTime(), $0.state.timebaseRate) }
    guard let left = rig.heard.left.last, let right = rig.heard.right.last else { return .infinity }
    let next = Circle.position(left: left, right: right) + rate * Double(sampleRateHz) / Self.outputRate
    return abs(Circle.difference(time.seconds * Double(sampleRateHz), next))
  }

  @Test func rateChangeIsHeardWithin80MillisecondsWithoutAClick() async throws {
    let frames = 1_000_000
    let rig = try await rig(frames: frames)
    await rig.advance(milliseconds: 500)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(2) }
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [2, 1])
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [2, 2])
    let heard = positions(rig)
    #expect(heard.count == 24_000)
    let steps = zip(heard.dropFirst(), heard).map { Circle.difference($0, $1) }
    let change = try #require(steps.firstIndex { $0 > 1.5 })
    print("rate change: heard \(Double(change) / 48) ms after the request")
    #expect(change <= 80 * 48)
    // Nothing is missing, repeated or too loud: each step between samples equals that of the old or the new rate.
    // Within the cross-fade the sum turns faster, by at most the difference of the rates.
    #expect(steps.allSatisfy { $0 > 0.9 && $0 < 3.1 })
    let (before, after) = (steps[..<(change - 240)], steps[(change + 240)...])
    #expect(before.allSatisfy { abs($0 - 1) < 0.01 })
    #expect(after.allSatisfy { abs($0 - 2) < 0.01 })
    #expect(await deviation(rig) < 0.05)
  }

  @Test func currentTimeStaysWithinOneSampleAfterAThousandRateChanges() async throws {
    let frames = 2_400_000
    let rig = try await rig(frames: frames)
    await rig.advance(milliseconds: 200)
    var random = SeededGenerator(seed: 7)
    var (worst, measured) = (0.0, 0)
    let changes = Effort.rounds(1_000)
    for change in 0..<changes {
      let rate = Double(Int.random(in: 250_000...2_500_000, using: &random)) / 1_000_000
      try await rig.run { try $0.setRate(rate) }
      // Some follow each other at once, some while the previous one is pending, some after it is heard.
      if change % 3 == 0 { continue }
      await rig.advance(milliseconds: Int64.random(in: 1...80, using: &random))
      let heard = positions(rig)
      let steps = zip(heard.dropFirst(), heard).map { Circle.difference($0, $1) }
      // No click: each step is that of either rate, or in a cross-fade between the two.
      #expect(steps.allSatisfy { $0 > -2.5 && $0 < 6 }, "\(steps.min() ?? 0) to \(steps.max() ?? 0)")
      rig.heard.removeAll(butLast: 250)
      // Within a cross-fade two positions are heard.
      let line = heard.suffix(250)
      guard let first = line.first, let last = line.last, line.count == 250 else { continue }
      let timebaseRate = await rig.run { $0.state.timebaseRate }
      guard abs(Circle.difference(last, first + 249 * timebaseRate)) < 0.1 else { continue }
      measured += 1
      worst = max(worst, await deviation(rig))
    }
    #expect(measured > changes * 2 / 5)
    print("\(changes) rate changes: \(measured) measurements, |currentTime - heard| at most \(worst) samples")
    #expect(worst < 0.01)
  }

  @Test func audioIsBitExactAfterAReturnToRate1() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 3, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    for rate in [1, 1.5, 1] {
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: 300)
    }
    rig.heard.removeAll()
    await rig.advance(milliseconds: 300)
    #expect(rig.heard.runs.count == 1)
    #expect(rig.heard.runs.first?.count == 14_400)
  }

  // MARK: - Effects of time

  @Test func statement21_periodicObserverFollowsItemTime() async throws {
    for (rate, gap) in [(2.0, 0.5), (0.5, 2)] {
      let rig = try await rig(frames: 960_000, playing: false)
      let reported = Mutex<[(time: Double, at: HostTime, rate: Double, late: Int64)]>([])
      let loop = rig.loop
      try await rig.run { player in
        _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 1)) { observation in
          guard observation.reason == .periodic else { return }
          reported.withLock {
            $0.append((observation.time.seconds, loop.now, observation.rate, observation.lateNanoseconds))
          }
        }
        try player.setRate(rate)
      }
      await rig.advance(milliseconds: 6_400)
      let ticks = reported.withLock { $0 }
      let multiples = (1...(rate == 2 ? 12 : 3)).map { Double($0) }
      #expect(ticks.map(\.time) == multiples)
      #expect(ticks.allSatisfy { $0.rate == rate })
      #expect(ticks.allSatisfy { $0.late < 1_000_000 })
      for (next, tick) in zip(ticks.dropFirst(), ticks) {
        let passed = Double(next.at.nanoseconds(since: tick.at)) / 1e9
        #expect(abs(passed - gap) < 0.001)
      }
    }
  }

  @Test func endsAndTransitionsAreReportedAtTheirItemTimesAtAnyRate() async throws {
    let rig = try await Rig()
    let items = [try rig.circle(frames: 48_000), try rig.circle(frames: 44_100, rate: 44_100)]
    let ends = Mutex<[String]>([])
    try await rig.run { player in
      _ = player.addEventObserver { event in
        switch event {
        case .playedToEnd(_, let time): ends.withLock { $0.append("end \(time.decimalDescription)") }
        case .transition(let transition):
          ends.withLock {
            $0.append("transition \(transition.time.decimalDescription) inserted \(transition.insertedFrameCount)")
          }
        default: break
        }
      }
      try player.append(items)
    }
    await rig.settle()
    let loop = TimeRange(start: MediaTime(value: 1, timescale: 10), end: MediaTime(value: 3, timescale: 10))
    try await rig.run { player in
      try player.setLoop(loop, count: 2)
      try player.setRate(2)
    }
    await rig.advance(milliseconds: 3_000)
    // 1 s, twice 0.2 s of it again, and another second: 1.2 s at rate 2.
    let heardCount = positions(rig).prefix { $0 != .infinity }.count
    #expect((57_599...57_601).contains(heardCount))
    let reported = ends.withLock { $0 }
    #expect(
      reported == [
        "transition 0.1 inserted 0", "transition 0.1 inserted 0", "end 1", "transition 0 inserted 0", "end 1",
      ])
  }

  @Test func boundariesFireOnceAcrossRateChanges() async throws {
    let rig = try await rig(frames: 480_000)
    let reported = Mutex<[Double]>([])
    try await rig.run { player in
      _ = try player.addBoundaryTimeObserver(forTimes: (1...40).map { MediaTime(value: $0, timescale: 10) }) {
        crossing in
        reported.withLock { $0.append(crossing.time.seconds) }
      }
    }
    for rate in [2.0, 0.25, 1, 3, 0.5, 1.5] {
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: 450)
    }
    let reached = await rig.run { $0.currentTime().seconds }
    let times = (1...40).map { Double($0) / 10 }.filter { $0 <= reached }
    #expect(reported.withLock { $0 } == times)
  }

  @Test func seekAtAnotherRateLandsWithinASample() async throws {
    let rig = try await rig(frames: 480_000)
    try await rig.run { try $0.setRate(1.7) }
    await rig.advance(milliseconds: 300)
    let target = MediaTime(value: 123_457, timescale: 48_000)
    let result = try await rig.player.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero)
    #expect(result.finished && result.isExact)
    let off = (result.time - target).seconds
    #expect(off >= 0 && off < 1.7 / 48_000)
    await rig.advance(milliseconds: 300)
    #expect(await deviation(rig) < 0.05)
  }

  // MARK: - Rates as state

  @Test func timeOfAnEmptyPlayerWithARateStaysZero() async throws {
    let rig = try await Rig()
    try await rig.run { try $0.setRate(2) }
    await rig.advance(milliseconds: 100)
    let state = await rig.run { $0.state }
    #expect(state.rate == 2 && state.timeControlStatus == .waiting && state.timebaseRate == 0)
    #expect(await rig.run { $0.currentTime() } == .zero)
    let item = try rig.circle(frames: 96_000)
    try await rig.run { try $0.append([item]) }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.state.timebaseRate } == 2)
  }

  @Test func statement12_playReturnsToTheDefaultRate() async throws {
    let rig = try await rig(frames: 960_000, playing: false)
    try await rig.run { try $0.setRate(2) }
    await rig.advance(milliseconds: 200)
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [0, 0])
    let before = await rig.run { $0.currentTime() }
    await rig.run { $0.play() }
    #expect(await rig.run { $0.state.rate } == 1)
    await rig.advance(milliseconds: 200)
    // From the first sample on.
    let after = await rig.run { $0.currentTime() }
    let passed = (after - before).seconds
    #expect(abs(passed - 0.2) < 1.0 / 48_000)
    try await rig.run { player in
      player.pause()
      try player.setDefaultRate(2)
      player.play()
    }
    #expect(await rig.run { [$0.state.rate, $0.state.defaultRate] } == [2, 2])
  }

  @Test func rateForTheNextPlayIsUsedOnceAndStartsNothing() async throws {
    let rig = try await rig(frames: 960_000, playing: false)
    try await rig.run { try $0.setRate(3, startsPlayback: false) }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(await rig.run { $0.currentTime() } == .zero)
    var rates: [Double] = []
    for _ in 0..<2 {
      await rig.run { $0.play() }
      rates.append(await rig.run { $0.state.rate })
      await rig.run { $0.pause() }
    }
    #expect(rates == [3, 1])
  }

  @Test func invalidRatesAreErrorsThatChangeNothing() async throws {
    let rig = try await rig(frames: 480_000)
    try await rig.run { try $0.setRate(1.5) }
    await rig.advance(milliseconds: 200)
    let state = await rig.run { $0.state }
    for rate in [Double.nan, .infinity, -.infinity, 32.001, 0.03, -33, 1e-300, 1e300] {
      #expect(await rig.error { try $0.setRate(rate) } == .unsupportedRate)
      #expect(await rig.error { try $0.setRate(rate, startsPlayback: false) } == .unsupportedRate)
      #expect(await rig.error { try $0.setDefaultRate(rate) } == .unsupportedRate)
    }
    #expect(await rig.error { try $0.setDefaultRate(0) } == .unsupportedRate)
    #expect(await rig.run { $0.state } == state)
  }
}
