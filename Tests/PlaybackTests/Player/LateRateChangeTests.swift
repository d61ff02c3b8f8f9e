import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Rate changes whose audio is decoded later than 60 ms after the request.
@Suite struct LateRateChangeTests {
  /// Creates a rig that plays a circle, with the decode thread at rest.
  private func rig() async throws -> SlowRig {
    let rig = try await SlowRig()
    let item = try rig.circle(frames: 960_000)
    try await rig.run { player in
      try player.setAudioTimePitchAlgorithm(.varispeed)
      try player.append([item])
    }
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 200)
    return rig
  }

  private func positions(_ rig: SlowRig) -> [Double] {
    rig.heard.positions
  }

  private func steps(_ positions: some Collection<Double>) -> [Double] {
    zip(positions.dropFirst(), positions).map { Circle.difference($0, $1) }
  }

  /// The distance of the current time from the sample that is heard next, in frames.
  private func deviation(_ rig: SlowRig) async -> Double {
    let (time, rate) = await rig.run { ($0.currentTime(), $0.state.timebaseRate) }
    guard let last = positions(rig).last else { return .infinity }
    return abs(Circle.difference(time.seconds * 48_000, last + rate))
  }

  @Test(arguments: [2, 0.5] as [Double])
  func rateChangeIsHeardOnceDecodedWithoutAClickOrLostTime(_ rate: Double) async throws {
    let rig = try await rig()
    rig.gate.open(upTo: 0)
    try await rig.run { try $0.setRate(rate) }
    try await rig.block()
    for _ in 0..<5 {
      await rig.advance(milliseconds: 100)
      // The state reports this: the rate is the requested one, and time passes as before.
      let state = await rig.state
      #expect(state.rate == rate && state.timebaseRate == 1 && state.timeControlStatus == .playing)
    }
    #expect(await rig.time == MediaTime(value: 7, timescale: 10))
    // Half a second of output after the 700 ms.
    rig.gate.open(upTo: 33_600 + Int64(24_000 * rate))
    try await rig.block()
    await rig.advance(milliseconds: 200)
    #expect(await rig.state.timebaseRate == rate)
    let heard = positions(rig)
    #expect(heard.count == 43_200)
    let all = steps(heard)
    let (slow, fast) = (min(1, rate), max(1, rate))
    // Each step between samples equals that of the old or the new rate; in a cross-fade it is between them.
    let smallest = all.min() ?? 0
    let largest = all.max() ?? 0
    print("late change to \(rate): steps from \(smallest) to \(largest)")
    #expect(smallest > slow - 0.6 && largest < fast + 1.1)
    let change = try #require(all.firstIndex { abs($0 - 1) > 0.2 })
    #expect((33_600..<38_500).contains(change), "\(change)")
    #expect(all[..<change].allSatisfy { abs($0 - 1) < 0.2 })
    #expect(all[(change + 480)...].allSatisfy { abs($0 - rate) < 0.01 })
    #expect(await deviation(rig) < 0.05)
    #expect(rig.events == [])
  }

  /// The first audio of the new rate is decoded, but it ends less than a device buffer after the present position, or
  /// before it.
  @Test(arguments: [(2, 400), (0.5, 140), (2, 500), (0.5, 500)] as [(Double, Int64)])
  func lateAudioIsHeardOnceItReachesBeyondThePresentPosition(_ rate: Double, _ delayMilliseconds: Int64) async throws {
    let rig = try await rig()
    rig.gate.open(upTo: 0)
    try await rig.run { try $0.setRate(rate) }
    try await rig.block()
    await rig.advance(milliseconds: delayMilliseconds)
    // The new rate was scheduled at 260 ms. Its first 229 ms are decoded, or a little more. In the first case they end
    // about 60 ms after the present position, in the second about 70 ms after it, in the others before it.
    rig.gate.open(upTo: 12_480 + Int64(11_000 * rate))
    try await rig.block()
    for _ in 0..<5 {
      await rig.advance(milliseconds: 100)
      let state = await rig.state
      #expect(state.timebaseRate == 1 && state.timeControlStatus == .playing)
    }
    #expect(rig.events == [])
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 300)
    #expect(await rig.state.timebaseRate == rate)
    let heard = positions(rig)
    // 200 ms before the request, and 500 ms before the gate opens.
    let opening = 48 * (200 + Int(delayMilliseconds) + 500)
    #expect(heard.count == opening + 14_400)
    let all = steps(heard)
    let change = try #require(all.firstIndex { abs($0 - 1) > 0.2 })
    print("late change to \(rate) after \(delayMilliseconds) ms: heard \(change - opening) frames after the gate opens")
    #expect((opening..<opening + 4_900).contains(change), "\(change)")
    #expect(all.allSatisfy { $0 > min(1, rate) - 0.6 && $0 < max(1, rate) + 1.1 })
    #expect(all[(change + 480)...].allSatisfy { abs($0 - rate) < 0.01 })
    #expect(await deviation(rig) < 0.05)
    #expect(rig.events == [])
  }

  /// The decoded audio ends soon, and the mixer has already rendered its end.
  @Test func rateChangeBeforeItsAudioIsDecodedIsCrossFadedAtOnce() async throws {
    let rig = try await rig()
    rig.gate.open(upTo: 0)
    var isLate = false
    // The decoded audio lasts less than 6 s.
    for _ in 0..<600 where !isLate {
      await rig.advance(milliseconds: 10)
      isLate = await rig.run { player in
        let core = player.control.core
        if case .late = core.rateChangePlan(at: core.nextRateChangeFrame()) { return true }
        return false
      }
    }
    #expect(isLate)
    rig.gate.open()
    try await rig.run { try $0.setRate(2) }
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 300)
    #expect(await rig.state.timebaseRate == 2)
    let all = steps(positions(rig))
    #expect(all.allSatisfy { $0 > 0.4 && $0 < 3.1 }, "\(all.min() ?? 0) to \(all.max() ?? 0)")
    #expect(await deviation(rig) < 0.05)
    #expect(rig.events == [])
  }

  /// So late that all audio of the old rate has been heard.
  @Test func rateChangeDecodedAfterAnUnderrunStallsWithoutLosingSamples() async throws {
    let rig = try await rig()
    rig.gate.open(upTo: 0)
    try await rig.run { try $0.setRate(2) }
    try await rig.block()
    await rig.advance(milliseconds: 10_000)
    #expect(rig.events.count == 1 && rig.events.first?.hasPrefix("stalled item 1 at ") == true, "\(rig.events)")
    let stalled = await rig.state
    #expect(stalled.timeControlStatus == .waiting && stalled.reasonForWaitingToPlay != nil)
    #expect(stalled.rate == 2 && stalled.timebaseRate == 0)
    let stallTime = await rig.time
    let before = positions(rig).filter { $0 != .infinity }
    #expect(abs(Circle.difference(stallTime.seconds * 48_000, (before.last ?? 0) + 1)) < 0.05)
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 300)
    let state = await rig.state
    #expect(state.timeControlStatus == .playing && state.timebaseRate == 2)
    let heard = positions(rig).filter { $0 != .infinity }
    let all = steps(heard)
    #expect(
      all.allSatisfy { $0 > 0.4 && $0 < 3.1 },
      "\(all.enumerated().filter { $0.element < 0.4 || $0.element > 3.1 }.prefix(9)) of \(all.count), heard \(before.count) before"
    )
    #expect(await deviation(rig) < 0.05)
    #expect(rig.events.count == 1, "\(rig.events)")
  }
}
