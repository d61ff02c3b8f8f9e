import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Rate changes mixed with all other operations.
@Suite struct RandomRateTests {
  private func frames(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 48_000) }

  /// Items and loops have lengths and positions of whole rounds of the circle, so that the circle continues at every
  /// transition.
  @Test(arguments: 1...UInt64(Effort.rounds(4)))
  func currentTimeMatchesTheHeardAudioAfterRandomOperations(_ seed: UInt64) async throws {
    let rig = try await Rig(streamMilliseconds: 1_000)
    let items = [try rig.circle(frames: 96_000), try rig.circle(frames: 20_000), try rig.circle(frames: 1_000)]
    try await rig.run { player in
      try player.append(items)
      try player.setRepeatMode(.all)
      player.play()
    }
    await rig.settle()
    var random = SeededGenerator(seed: seed)
    var (worst, measured) = (0.0, 0)
    let steps = Effort.rounds(250)
    for _ in 0..<steps {
      try await act(rig, &random)
      if Int.random(in: 0..<4, using: &random) == 0 { continue }
      await rig.advance(milliseconds: Int64.random(in: 1...90, using: &random))
      let (state, time) = await rig.run { ($0.state, $0.currentTime()) }
      let line = zip(rig.heard.left, rig.heard.right).suffix(250).map { Circle.position(left: $0.0, right: $0.1) }
      rig.heard.removeAll(butLast: 250)
      guard state.timebaseRate != 0, let first = line.first, let last = line.last, line.count == 250 else { continue }
      // A jump or a cross-fade in the interval prevents the comparison.
      guard abs(Circle.difference(last, first + 249 * state.timebaseRate)) < 0.1 else { continue }
      measured += 1
      let deviation = abs(Circle.difference(time.seconds * 48_000, last + state.timebaseRate))
      worst = max(worst, deviation / max(1, state.timebaseRate))
    }
    #expect(measured > steps / 5)
    // Between two frames of the output an item counts from the later one: the error is at most one frame.
    #expect(worst < 1)
    // It continues to play.
    try await rig.run { player in
      try player.setRate(1)
      try player.setLoop(nil)
    }
    await rig.advance(milliseconds: 1_000)
    #expect(await rig.run { $0.state.timebaseRate } == 1)
  }

  private func act(_ rig: Rig, _ random: inout SeededGenerator) async throws {
    switch Int.random(in: 0..<10, using: &random) {
    case 0...4:
      let rate = Double(Int.random(in: 250_000...3_000_000, using: &random)) / 1_000_000
      try await rig.run { try $0.setRate(rate) }
    case 5: await rig.run { $0.state.rate == 0 ? $0.play() : $0.pause() }
    case 6:
      let target = frames(Int64.random(in: 0..<20_000, using: &random))
      try await rig.run { try $0.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    case 7:
      let start = Int64.random(in: 0..<10, using: &random)
      let end = start + Int64.random(in: 1...8, using: &random)
      let range = TimeRange(start: frames(start * 1_000), end: frames(end * 1_000))
      // The shortest item is shorter than most ranges, and the current one may not be open yet. Both are errors.
      let error = await rig.error { try $0.setLoop(range) }
      #expect([nil, .invalidTime, .invalidState].contains(error))
    case 8: _ = await rig.error { try $0.setLoop(nil) }
    default: await rig.run { $0.advanceToNextItem() }
    }
  }
}
