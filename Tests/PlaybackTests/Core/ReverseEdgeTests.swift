import Foundation
import MediaTesting
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayerModel

/// Changes of direction near the ends of items: no sample is lost or heard twice, the time is exact, and every end is
/// reported once.
@Suite struct ReverseEdgeTests {
  /// The heard frame indices of a time-coded file, in order.
  private struct Walk {
    /// A stretch in one direction: the first and the last frame.
    struct Leg: Equatable {
      var first: Int
      var last: Int
      init(_ first: Int, _ last: Int) { (self.first, self.last) = (first, last) }
    }

    var legs: [Leg] = []
    /// Positions at which neither the next frame nor a change of direction was heard. At a change of direction the same
    /// frame is heard again.
    var breaks: [String] = []
    /// The frame heard last; 0 if none was.
    var lastFrame: Int { legs.last?.last ?? 0 }
    var lastPosition: Double { Double(lastFrame) }

    /// Silence between two legs is ignored.
    init(_ frames: [StereoFrame]) {
      var direction = 0
      for (index, frame) in frames.enumerated() where frame != .silence {
        guard let (file, position) = TimeCode.decode(frame), file == 1 else {
          breaks.append("no frame of the file at \(index)")
          continue
        }
        guard let leg = legs.last, index > 0, frames[index - 1] != .silence else {
          legs.append(Leg(position, position))
          direction = 0
          continue
        }
        let step = position - leg.last
        switch step {
        case 0 where direction != 0:
          legs.append(Leg(position, position))
          direction = -direction
        case _ where direction == 0 ? abs(step) == 1 : step == direction:
          legs[legs.count - 1].last = position
          direction = step
        default:
          breaks.append("from \(leg.last) to \(position)")
          legs.append(Leg(position, position))
          direction = 0
        }
      }
    }
  }

  private func frame(_ frame: Int64) -> MediaTime { MediaTime(value: frame, timescale: 48_000) }

  private func walk(_ rig: Rig) -> Walk { Walk(rig.heard.all) }

  private func seek(_ rig: Rig, to position: Int64) async throws {
    let time = frame(position)
    try await rig.run { try $0.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
  }

  /// The `playedToEnd` events of an item.
  private func ends(_ rig: Rig) -> [String] {
    rig.dump.split(separator: "\n").map(String.init).filter { $0.hasPrefix("event playedToEnd") }
  }

  private func position(_ rig: Rig) async -> Double { await rig.run { $0.currentTime() }.seconds * 48_000 }

  /// Creates a rig with items of 20,000 frames, the first one current and ready.
  private func rig(
    items count: Int = 1, action: ActionAtItemEnd = .pause, forward: Int64? = nil, reverse: Int64? = nil
  ) async throws -> Rig {
    let rig = try await Rig()
    let items = try (1...count).map { try rig.wav(file: $0, frames: 20_000) }
    try items[0].setForwardPlaybackEndTime(forward.map { frame($0) })
    try items[0].setReversePlaybackEndTime(reverse.map { frame($0) })
    try await rig.run { player in
      try player.append(items)
      try player.setActionAtItemEnd(action)
    }
    await rig.settle()
    return rig
  }

  /// Plays from a frame, reverses after 100 ms, and lets some time pass. Earlier audio is dropped.
  private func playAndReverse(_ rig: Rig, from frame: Int64, milliseconds: Int64) async throws {
    try await seek(rig, to: frame)
    rig.heard.removeAll()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: milliseconds)
  }

  // MARK: - Reversed before an end

  private static let distances: [Int64] = [
    1, 2, 48, 100, 240, 480, 1_000, 2_000, 2_880, 2_881, 3_000, 3_120, 3_360, 4_800,
  ]

  @Test(arguments: distances, [ActionAtItemEnd.pause, .none])
  func reversalBeforeTheEndDoesNotEndTheItem(_ distance: Int64, _ action: ActionAtItemEnd) async throws {
    let rig = try await rig(action: action)
    try await playAndReverse(rig, from: 20_000 - distance - 4_800, milliseconds: 200)
    let walk = walk(rig)
    let top = min(19_999, 20_000 - distance + 2_879)
    #expect(walk.breaks == [])
    let first = Int(20_000 - distance - 4_800)
    #expect(walk.legs == [.init(first, Int(top)), .init(Int(top), walk.lastFrame)])
    #expect(ends(rig) == [])
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [-1, -1])
    #expect(abs(await position(rig) - walk.lastPosition) < 0.01)
    await rig.advance(milliseconds: 400)
    #expect(ends(rig) == ["event playedToEnd item 1 at 0"])
  }

  @Test(arguments: distances)
  func reversalBeforeTheBeginningDoesNotEndTheItem(_ distance: Int64) async throws {
    let rig = try await rig()
    try await seek(rig, to: distance + 4_800)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 100)
    try await rig.run { try $0.setRate(1) }
    await rig.advance(milliseconds: 200)
    let walk = walk(rig)
    let bottom = Int(max(0, distance - 2_880))
    #expect(walk.breaks == [])
    #expect(walk.legs == [.init(Int(distance) + 4_799, bottom), .init(bottom, walk.lastFrame)])
    #expect(ends(rig) == [])
    #expect(abs(await position(rig) - walk.lastPosition - 1) < 0.01)
    await rig.advance(milliseconds: 600)
    #expect(ends(rig).count == 1)
    #expect(ends(rig).first?.hasPrefix("event playedToEnd item 1 at 0.4166") == true)
  }

  @Test(arguments: distances) func reversalInAQueueStaysInTheHeardItem(_ distance: Int64) async throws {
    let rig = try await rig(items: 2, action: .advance)
    try await playAndReverse(rig, from: 20_000 - distance - 4_800, milliseconds: 200)
    #expect(await rig.run { $0.state.currentItemID } == 1)
    let walk = walk(rig)
    #expect(walk.breaks == [])
    #expect(walk.legs.map(\.first).last == Int(min(19_999, 20_000 - distance + 2_879)))
    #expect(ends(rig) == [])
    // Then it continues into the next item.
    try await rig.run { try $0.setRate(1) }
    await rig.advance(milliseconds: 500)
    #expect(ends(rig).count == 1)
    #expect(await rig.run { $0.state.currentItemID } == 2)
    #expect(rig.heard.runs.last?.file == 2)
  }

  @Test(arguments: distances) func reversalAtTheLoopPointKeepsTheLoop(_ distance: Int64) async throws {
    let rig = try await rig()
    let range = TimeRange(start: frame(5_000), end: frame(15_000))
    try await rig.run { try $0.setLoop(range) }
    try await playAndReverse(rig, from: 15_000 - distance - 4_800, milliseconds: 150)
    let walk = walk(rig)
    #expect(walk.breaks == [])
    let top = Int(min(14_999, 15_000 - distance + 2_879))
    #expect(walk.legs == [.init(Int(15_000 - distance - 4_800), top), .init(top, walk.lastFrame)])
    #expect(await rig.run { $0.state.loop?.loopCount } == 0)
    await rig.advance(milliseconds: 300)
    #expect(await rig.run { $0.state.loop?.loopCount } ?? 0 > 0)
    #expect(ends(rig) == [])
  }

  /// The next pass has a separate stream, which cannot be withdrawn in time: it is heard again after the end.
  @Test(arguments: [100, 1_000, 2_000] as [Int64])
  func reversalAtTheEndOfANewLoopKeepsTheLoop(_ distance: Int64) async throws {
    let rig = try await rig()
    try await seek(rig, to: 15_000 - distance - 4_800)
    rig.heard.removeAll()
    let range = TimeRange(start: frame(5_000), end: frame(15_000))
    try await rig.run { player in
      try player.setLoop(range)
      player.play()
    }
    await rig.advance(milliseconds: 100)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 150)
    let state = await rig.run { $0.state }
    #expect(state.rate == -1 && state.loop?.loopCount == 0)
    let walk = walk(rig)
    // It is faded in across 5 ms, and no sample is omitted.
    #expect(walk.breaks.count <= 241)
    let last = walk.lastFrame
    #expect(walk.legs == [.init(Int(15_000 - distance - 4_800), 14_999), .init(14_759, last)])
    let heardCount = rig.heard.all.count
    #expect(heardCount == Int(distance) + 4_800 + 15_000 - last)
    #expect(abs(await position(rig) - Double(last)) < 0.01)
  }

  /// The end and the start of the loop are the same position then. Boundaries between them have been passed or will be,
  /// and are reported when they are heard again.
  @Test(arguments: [1, -1] as [Double], [1, 3])
  func reversalWhilePausedAtTheLoopPointReportsNoBoundaryEarly(_ rate: Double, _ rounds: Int64) async throws {
    let rig = try await rig()
    let (low, high) = (Int64(4_800), Int64(14_400))
    let range = TimeRange(start: frame(low), end: frame(high))
    try await seek(rig, to: rate > 0 ? low : high)
    let reported = Mutex<[String]>([])
    let times = [2_400, 7_200, 12_000, 16_800].map { frame($0) }
    try await rig.run { player in
      try player.setLoop(range)
      _ = try player.addBoundaryTimeObserver(forTimes: times, includesSeeks: true) { observation in
        let position = Int((observation.time.seconds * 48_000).rounded())
        reported.withLock { $0.append("\(observation.reason) \(position) late \(observation.lateNanoseconds)") }
      }
      try player.setRate(rate)
    }
    await rig.advance(milliseconds: 200 * rounds)
    #expect(reported.withLock { $0 }.count == 2 * Int(rounds))
    await rig.run { $0.pause() }
    await rig.settle()
    reported.withLock { $0 = [] }
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(-rate) }
    await rig.settle()
    #expect(reported.withLock { $0 } == [])
    // It goes back over the audio heard last, and stays in the loop.
    let isBack = rate > 0
    await rig.advance(milliseconds: 20)
    #expect(reported.withLock { $0 } == [])
    #expect(walk(rig).legs == [isBack ? .init(14_399, 13_440) : .init(4_800, 5_759)])
    #expect(abs(await position(rig) - (isBack ? 13_440 : 5_760)) < 0.01)
    await rig.advance(milliseconds: 460)
    let (near, far) = isBack ? (12_000, 7_200) : (7_200, 12_000)
    #expect(reported.withLock { $0 } == [near, far, near, far, near].map { "crossed \($0) late 0" })
    let legs: [Walk.Leg] =
      isBack
      ? [.init(14_399, 4_800), .init(14_399, 4_800), .init(14_399, 10_560)]
      : [.init(4_800, 14_399), .init(4_800, 14_399), .init(4_800, 8_639)]
    #expect(walk(rig).legs == legs)
    #expect(ends(rig) == [])
    #expect(await rig.run { $0.state.loop?.range } == range)
  }

  // MARK: - Reversed at an end, and after one

  @Test func reversalAtEachEndStartsWithTheLastSampleAndEndsAgain() async throws {
    let rig = try await rig()
    for round in 1...3 {
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 600)
      #expect(await rig.run { $0.state.rate } == 0)
      #expect(ends(rig).count == 2 * round - 1)
      try await rig.run { try $0.setRate(-1) }
      await rig.advance(milliseconds: 600)
      #expect(await rig.run { $0.currentTime() } == .zero)
      #expect(ends(rig).count == 2 * round)
    }
    let walk = walk(rig)
    #expect(walk.breaks == [])
    #expect(walk.legs.allSatisfy { abs($0.first - $0.last) == 19_999 })
    #expect(walk.legs.count == 6)
  }

  @Test func itemPausedAtItsEndInAQueuePlaysInReverse() async throws {
    let rig = try await rig(items: 2, action: .advance)
    try await seek(rig, to: 20_000)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 200)
    #expect(await rig.run { $0.state.currentItemID } == 1)
    #expect(walk(rig).legs == [.init(19_999, 10_400)] && walk(rig).breaks == [])
    #expect(ends(rig) == [])
    await rig.advance(milliseconds: 400)
    #expect(walk(rig).legs == [.init(19_999, 0)])
    #expect(ends(rig) == ["event playedToEnd item 1 at 0"])
    #expect(await rig.run { $0.state.rate } == 0)
  }

  @Test(arguments: [10_001, 12_000, 15_000] as [Int64])
  func reversalAfterTheForwardEndTimeEndsTheItem(_ position: Int64) async throws {
    let rig = try await rig(forward: 10_000)
    try await seek(rig, to: position + 4_800)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 20)
    try await rig.run { try $0.setRate(1) }
    await rig.advance(milliseconds: 300)
    // It turns around 60 ms later and is at its end there, unless it has returned into the played range.
    let reversalFrame = position + 4_800 - 960 - 2_880
    #expect(reversalFrame > 10_000)
    #expect(ends(rig) == ["event playedToEnd item 1 at \(frame(reversalFrame).decimalDescription)"])
    #expect(await rig.run { $0.currentTime() } == frame(reversalFrame))
    #expect(await rig.run { $0.state.rate } == 0)
    let walk = walk(rig)
    #expect(walk.legs == [.init(Int(position) + 4_799, Int(reversalFrame))])
    #expect(walk.breaks == [])
  }

  @Test(arguments: [100, 5_000, 9_000] as [Int64])
  func reversalBeforeTheReverseEndTimeEndsTheItem(_ position: Int64) async throws {
    let rig = try await rig(reverse: 14_000)
    try await seek(rig, to: position)
    rig.heard.removeAll()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 20)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 300)
    let reversalFrame = position + 960 + 2_880
    #expect(ends(rig) == ["event playedToEnd item 1 at \(frame(reversalFrame).decimalDescription)"])
    #expect(await rig.run { $0.currentTime() } == frame(reversalFrame))
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(walk(rig).legs == [.init(Int(position), Int(reversalFrame) - 1)])
    // Forwards it continues from there, and ends at its end.
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 600)
    #expect(ends(rig).count == 2)
    let walk = walk(rig)
    #expect(walk.breaks == [] && walk.legs == [.init(Int(position), 19_999)])
  }

  @Test(arguments: distances) func reversalNearAnEndTimeBehavesAsNearTheItemEnd(_ distance: Int64) async throws {
    let rig = try await rig(forward: 14_000, reverse: 3_000)
    try await playAndReverse(rig, from: 14_000 - distance - 4_800, milliseconds: 600)
    let top = Int(min(13_999, 14_000 - distance + 2_879))
    let walk = walk(rig)
    #expect(walk.breaks == [])
    #expect(walk.legs == [.init(Int(14_000 - distance - 4_800), top), .init(top, 3_000)])
    #expect(ends(rig) == ["event playedToEnd item 1 at 0.0625"])
    #expect(await rig.run { $0.currentTime() } == frame(3_000))
  }

  /// The ends are in the opposite order: a change of direction anywhere between them ends the item, once.
  @Test func crossedEndTimesEndTheItemOnceForEachReversal() async throws {
    let rig = try await rig(forward: 8_000, reverse: 12_000)
    try await seek(rig, to: 4_000)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 20)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 200)
    #expect(ends(rig).count == 1)
    #expect(await rig.run { $0.currentTime() } == frame(4_000 + 960 + 2_880))
    try await seek(rig, to: 7_000)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 5)
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 200)
    #expect(ends(rig).count == 2)
    #expect(await rig.run { $0.currentTime() } == frame(8_000))
  }

  @Test func secondReversalBeforeTheFirstIsHeardLosesNothing() async throws {
    let rig = try await rig()
    for position in [1_000, 15_000, 17_500, 18_900] as [Int64] {
      try await seek(rig, to: position)
      rig.heard.removeAll()
      await rig.run { $0.play() }
      for _ in 0..<3 {
        await rig.advance(milliseconds: 7)
        try await rig.run { try $0.setRate(-1) }
        await rig.advance(milliseconds: 7)
        try await rig.run { try $0.setRate(1) }
      }
      await rig.advance(milliseconds: 1_000)
      let walk = walk(rig)
      #expect(walk.breaks == [], "at \(position)")
      #expect(walk.legs.last?.last == 19_999, "at \(position)")
      #expect(await rig.run { $0.state.rate } == 0)
    }
    #expect(ends(rig).count == 4)
  }

  // MARK: - Random changes

  @Test(arguments: 1...UInt64(Effort.rounds(12))) func randomReversalsReportEveryEndOnce(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let isCut = seed.isMultiple(of: 3)
    let (low, high) = isCut ? (4_000, 16_000) : (0, 20_000)
    let rig = try await rig(forward: isCut ? 16_000 : nil, reverse: isCut ? 4_000 : nil)
    try await seek(rig, to: 8_000)
    rig.heard.removeAll()
    let reported = Mutex(0)
    try await rig.run { player in
      _ = player.addEventObserver { if case .playedToEnd = $0 { reported.withLock { $0 += 1 } } }
      try player.setRate(1)
    }
    var (rate, ends, heard) = (1.0, 0, [StereoFrame]())
    for step in 0..<120 {
      await rig.advance(milliseconds: Int64.random(in: 1...130, using: &random))
      let (state, time) = await rig.run { ($0.state, $0.currentTime()) }
      let new = rig.heard.all
      rig.heard.removeAll()
      heard += new
      let position = time.seconds * 48_000
      if state.rate == 0 {
        ends += 1
        #expect(position == Double(rate < 0 ? low : high), "step \(step)")
      }
      #expect(reported.withLock { $0 } == ends, "step \(step)")
      if state.timebaseRate != 0, let last = new.last.flatMap({ TimeCode.decode($0) })?.index {
        // Between the last sample and the next one, in either direction.
        #expect(abs(position - Double(last) - 0.5) < 0.51, "step \(step)")
      }
      if state.rate == 0 || Int.random(in: 0...3, using: &random) == 0 {
        rate = -rate
        let requested = rate
        try await rig.run { try $0.setRate(requested) }
      }
    }
    let walk = Walk(heard)
    #expect(walk.breaks == [])
    #expect(ends > 5 && walk.legs.count > 20, "\(ends) ends, \(walk.legs.count) legs")
    #expect(walk.legs.allSatisfy { min($0.first, $0.last) >= low && max($0.first, $0.last) < high })
  }
}
