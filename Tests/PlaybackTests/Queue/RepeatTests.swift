import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// Repeats and loops, as heard and as reported.
@Suite struct RepeatTests {
  private func golden(_ name: String, _ scenario: (Rig) async throws -> Void) async throws {
    let rig = try await Rig()
    try await scenario(rig)
    try expectGolden(rig.dump, name)
  }

  private func frames(_ first: Int64, _ last: Int64) -> TimeRange {
    TimeRange(start: MediaTime(value: first, timescale: 48_000), end: MediaTime(value: last, timescale: 48_000))
  }

  private func time(_ frame: Int64) -> MediaTime { MediaTime(value: frame, timescale: 48_000) }

  /// The heard ranges of one file: each run from its first to its last index.
  private func ranges(_ rig: Rig) -> [ClosedRange<Int>] { rig.heard.runs.map { $0.firstIndex...($0.endIndex - 1) } }

  private func expectNoGap(_ rig: Rig, sourceLocation: SourceLocation = #_sourceLocation) {
    let runs = rig.heard.runs
    for (run, next) in zip(runs, runs.dropFirst()) {
      #expect(run.endPosition == next.position, "silence in between", sourceLocation: sourceLocation)
    }
  }

  @Test func loopedRangeRepeatsWithItsTimes() async throws {
    try await golden("loop-range") { rig in
      let items = [try rig.flac(file: 1, frames: 96_000), try rig.wav(file: 2, frames: 4_800)]
      try await rig.run { player in
        try player.append(items)
        _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 10)) { [log = rig.log] in
          log("tick \(Rig.text($0))")
        }
        _ = try player.addBoundaryTimeObserver(forTimes: [self.time(24_007), self.time(36_000)]) { [log = rig.log] in
          log("cue \(Rig.text($0))")
        }
      }
      await rig.settle()
      try await rig.run { player in
        // Not whole frames: the range is cut to the frames that contain its ends.
        let range = TimeRange(
          start: MediaTime(value: 24_007 * 3 + 1, timescale: 144_000),
          end: MediaTime(value: 36_000 * 3 + 2, timescale: 144_000))
        try player.setLoop(range, count: 2)
        player.play()
      }
      await rig.advance(milliseconds: 2_600)
      #expect(ranges(rig) == [0...35_999, 24_007...35_999, 24_007...95_999, 0...4_799])
      expectNoGap(rig)
    }
  }

  @Test func loopSetAfterItsEndWasDecodedTakesEffect() async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 96_000), try rig.wav(file: 2, frames: 4_800)]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 300)
    // Both files are already in the stream completely.
    try await rig.run { try $0.setLoop(self.frames(20_000, 30_011)) }
    await rig.advance(milliseconds: 900)
    #expect(Array(ranges(rig).prefix(3)) == [0...30_010, 20_000...30_010, 20_000...30_010])
    expectNoGap(rig)
    // The loop ends when later passes are already decoded.
    try await rig.run { try $0.setLoop(nil) }
    let state = await rig.run { $0.state }
    #expect(state.loop == nil)
    await rig.advance(milliseconds: 2_000)
    // Playback continued from the end of the pass that was heard.
    var joined: [ClosedRange<Int>] = []
    for range in ranges(rig).dropFirst(3) {
      if let last = joined.last, last.upperBound + 1 == range.lowerBound {
        joined[joined.count - 1] = last.lowerBound...range.upperBound
      } else {
        joined.append(range)
      }
    }
    #expect(joined.suffix(2) == [20_000...95_999, 0...4_799])
    #expect(joined.dropLast(2).allSatisfy { $0 == 20_000...30_010 })
    expectNoGap(rig)
  }

  @Test func loopRangeChangesWhilePlaying() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    try await rig.run { player in
      try player.setLoop(self.frames(0, 24_000))
      player.play()
    }
    await rig.advance(milliseconds: 600)
    // The second pass is at 0.1 s: sets a shorter end, then a longer one.
    try await rig.run { try $0.setLoop(self.frames(4_800, 12_000)) }
    await rig.advance(milliseconds: 200)
    try await rig.run { try $0.setLoop(self.frames(4_800, 48_000)) }
    await rig.advance(milliseconds: 1_000)
    #expect(ranges(rig).prefix(2) == [0...23_999, 0...11_999])
    let rest = ranges(rig).dropFirst(2)
    #expect(rest.first?.lowerBound == 4_800)
    #expect(rest.contains { $0.upperBound == 47_999 })
    expectNoGap(rig)
  }

  @Test func playbackAfterTheLoopRangeContinuesUntilTheItemEnds() async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 48_000), try rig.wav(file: 2, frames: 4_800)]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    try await rig.run { player in
      try player.setLoop(self.frames(0, 12_000))
      try player.seek(to: self.time(24_000), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
      player.play()
    }
    await rig.advance(milliseconds: 100)
    var state = await rig.run { $0.state }
    #expect(state.loop != nil)
    await rig.advance(milliseconds: 500)
    state = await rig.run { $0.state }
    #expect(state.loop == nil)
    #expect(state.currentItemID == nil)
    #expect(ranges(rig) == [24_000...47_999, 0...4_799])
  }

  @Test func seekBeforeTheEndOfALoopEntersIt() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    try await rig.run { player in
      try player.setLoop(self.frames(24_000, 36_000))
      player.play()
      try player.seek(to: self.time(100_000), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
    }
    await rig.advance(milliseconds: 100)
    try await rig.run { player in
      try player.seek(to: self.time(30_000), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
    }
    await rig.advance(milliseconds: 600)
    #expect(ranges(rig).dropFirst().prefix(3) == [30_000...35_999, 24_000...35_999, 24_000...34_799])
  }

  @Test func repeatOnePlaysTheItemAgain() async throws {
    try await golden("repeat-one") { rig in
      let items = [try rig.wav(file: 1, frames: 24_007), try rig.wav(file: 2, frames: 4_800)]
      try await rig.run { player in
        try player.append(items)
        try player.setRepeatMode(.one)
        _ = try player.addBoundaryTimeObserver(forTimes: [.zero, self.time(24_007)]) { [log = rig.log] in
          log("cue \(Rig.text($0))")
        }
      }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 1_100)
      try await rig.run { try $0.setRepeatMode(.off) }
      await rig.advance(milliseconds: 700)
    }
  }

  @Test func repeatAllWrapsAroundTheQueue() async throws {
    try await golden("repeat-all") { rig in
      let items = [
        try rig.wav(file: 1, frames: 9_601), rig.item("/nonexistent.wav"), try rig.flac(file: 2, frames: 4_803),
        try rig.wav(file: 3, frames: 100),
      ]
      try await rig.run { player in
        try player.append(items)
        try player.setRepeatMode(.all)
      }
      await rig.settle()
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 900)
      await rig.run { $0.advanceToNextItem() }
      await rig.advance(milliseconds: 200)
    }
  }

  @Test func itemThatIsTooShortIsNotRepeated() async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 1), try rig.wav(file: 2, frames: 4_800)]
    try await rig.run { player in
      try player.append(items)
      try player.setRepeatMode(.one)
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_000)
    let passes = rig.heard.runs
    #expect(passes.first?.file == 1)
    #expect(passes.count { $0.file == 1 } <= 1, "\(passes)")
    #expect(passes.count { $0.file == 2 } >= 9)
  }

  @Test func hundredShortFilesPlayWithoutAGap() async throws {
    let rig = try await Rig()
    var items: [PlayerItem] = []
    for number in 0..<100 {
      let path = rig.files.file("\(number).wav")
      try TimeCode.writeWAV(path: path, file: 1, frameCount: 960, sampleRateHz: 48_000, firstIndex: number * 960)
      items.append(rig.item(path))
    }
    let queued = items
    try await rig.run { try $0.append(queued) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 2_100)
    #expect(rig.heard.runs.map(\.count) == [96_000], "\(rig.heard.runs)")
    #expect(rig.dump.split(separator: "\n").count { $0.hasPrefix("event transition") } == 99)
    #expect(!rig.dump.contains("inserted 1"))
  }

  @Test func invalidLoopsAreErrorsThatChangeNothing() async throws {
    let rig = try await Rig()
    await expectError(.noCurrentItem) { try await rig.run { try $0.setLoop(self.frames(0, 4_800)) } }
    let item = try rig.wav(file: 1, frames: 48_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    try await rig.run { try $0.setLoop(self.frames(0, 4_800), count: 3) }
    let set = await rig.run { $0.state }
    func code(_ range: TimeRange?, count: Int? = nil, item: PlayerItem.ID? = nil) async -> MediaError.Code? {
      await rig.run { player in
        do throws(MediaError) { try player.setLoop(range, count: count, itemID: item) } catch { return error.code }
        return nil
      }
    }
    #expect(await code(frames(4_800, 4_800)) == .invalidTime)
    #expect(await code(frames(4_801, 4_800)) == .invalidTime)
    #expect(await code(frames(0, 479)) == .invalidTime)
    #expect(await code(frames(-1, 4_800)) == .invalidTime)
    #expect(await code(frames(0, 48_001)) == .invalidTime)
    #expect(await code(TimeRange(start: .zero, end: .positiveInfinity)) == .invalidTime)
    #expect(await code(frames(0, 4_800), count: 0) == .invalidArgument)
    #expect(await code(frames(0, 4_800), item: 77) == .noSuchItem)
    #expect(await rig.run { $0.state } == set)
    #expect(await code(frames(0, 480)) == nil)
  }

  @Test func timeContinuesInSilenceAfterActionNoneIsSet() async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 24_000), try rig.wav(file: 2, frames: 24_000)]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    // The second file is already decoded.
    try await rig.run { try $0.setActionAtItemEnd(.none) }
    await rig.advance(milliseconds: 900)
    #expect(await rig.run { $0.currentTime() } == time(48_000))
    #expect(await rig.run { $0.state.timeControlStatus } == .playing)
    #expect(ranges(rig) == [0...23_999])
    // Paused there, it is at its end, and plays no remaining silence.
    try await rig.run { try $0.setActionAtItemEnd(.pause) }
    await rig.settle()
    #expect(await rig.run { $0.currentTime() } == time(24_000))
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { $0.currentTime() } == time(24_000))
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(rig.dump.split(separator: "\n").count { $0.hasPrefix("event playedToEnd") } == 1)
  }
}
