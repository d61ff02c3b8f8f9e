import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Items that end before their audio does. A test named `statement` and a number checks a statement of AVFoundation's
/// documentation.
@Suite struct ItemEndTests {
  private static func frame(_ frame: Int64) -> MediaTime { MediaTime(frame: frame, rate: 48_000) }

  /// A rig with items of 2 s, the first of which ends after `frame` frames.
  private func rig(_ count: Int, endingAt frame: Int64?) async throws -> (Rig, [PlayerItem]) {
    let rig = try await Rig()
    let items = try (1...count).map { try rig.wav(file: $0, frames: 96_000) }
    try items[0].setForwardPlaybackEndTime(frame.map(Self.frame))
    try await rig.run { try $0.append(items) }
    await rig.settle()
    return (rig, items)
  }

  private func lines(_ rig: Rig, _ word: String) -> [String] {
    rig.dump.split(separator: "\n").map(String.init).filter { $0.hasPrefix(word) }
  }

  @Test func statement19_forwardPlaybackEndTimeIsReportedOnceAndKeepsTheDuration() async throws {
    let (rig, items) = try await rig(1, endingAt: 24_001)
    try await rig.run { player in
      try player.setActionAtItemEnd(.pause)
      player.play()
    }
    await rig.advance(milliseconds: 3_000)
    #expect(lines(rig, "event playedToEnd") == ["event playedToEnd item 1 at \(Self.frame(24_001).decimalDescription)"])
    #expect(items[0].duration == Self.frame(96_000))
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(await rig.run { $0.currentTime() } == Self.frame(24_001))
    #expect(rig.heard.runs.map(\.count) == [24_001])
  }

  @Test(arguments: [1, 4_799, 24_001]) func nextItemStartsExactlyAtTheEndTime(_ frame: Int64) async throws {
    let (rig, _) = try await rig(2, endingAt: frame)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 3_000)
    let runs = rig.heard.runs
    #expect(runs.map(\.file) == [1, 2])
    #expect(runs.map(\.firstIndex) == [0, 0])
    #expect(runs.map(\.count) == [Int(frame), 96_000])
    #expect(runs[1].position == runs[0].position + Int(frame))
    #expect(lines(rig, "event playedToEnd").count == 2)
  }

  /// The end is half a frame after frame 48,000, which is not played.
  @Test(arguments: [false, true]) func endTimeBetweenTwoFramesIsRoundedDown(_ isSetWhilePlaying: Bool)
    async throws
  {
    let (rig, items) = try await rig(2, endingAt: nil)
    let end = MediaTime(value: 96_001, timescale: 96_000)
    if !isSetWhilePlaying { try items[0].setForwardPlaybackEndTime(end) }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 200)
    if isSetWhilePlaying { try items[0].setForwardPlaybackEndTime(end) }
    await rig.advance(milliseconds: 3_000)
    #expect(rig.heard.runs.map(\.count) == [48_000, 96_000])
    #expect(lines(rig, "event playedToEnd").first == "event playedToEnd item 1 at 1")
  }

  @Test func endTimeSetDuringPlaybackAppliesToAudioAlreadyDecoded() async throws {
    let (rig, items) = try await rig(2, endingAt: nil)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 200)
    try items[0].setForwardPlaybackEndTime(Self.frame(48_000))
    await rig.advance(milliseconds: 3_000)
    #expect(rig.heard.runs.map(\.count) == [48_000, 96_000])
    #expect(lines(rig, "event playedToEnd").count == 2)
    #expect(lines(rig, "event timeJumped").isEmpty)
  }

  @Test func endTimeMovedAndRemovedDuringPlaybackLosesNoAudio() async throws {
    let (rig, items) = try await rig(2, endingAt: 48_000)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 300)
    try items[0].setForwardPlaybackEndTime(Self.frame(72_000))
    await rig.advance(milliseconds: 300)
    try items[0].setForwardPlaybackEndTime(nil)
    await rig.advance(milliseconds: 4_000)
    let runs = rig.heard.runs
    #expect(runs.map(\.count) == [96_000, 96_000])
    #expect(runs.map(\.position) == [runs[0].position, runs[0].position + 96_000])
    #expect(lines(rig, "event playedToEnd").count == 2)
  }

  @Test(arguments: [true, false]) func endTimeSetBeforeTheCurrentTimeEndsTheItemAtOnce(_ pauses: Bool) async throws {
    let (rig, items) = try await rig(2, endingAt: nil)
    try await rig.run { player in
      if pauses { try player.setActionAtItemEnd(.pause) }
      player.play()
    }
    await rig.advance(milliseconds: 1_000)
    try items[0].setForwardPlaybackEndTime(Self.frame(24_000))
    await rig.advance(milliseconds: 500)
    #expect(lines(rig, "event playedToEnd").count == 1)
    let state = await rig.run { $0.state }
    #expect(state.currentItemID == (pauses ? 1 : 2))
    #expect(state.rate == (pauses ? 0 : 1))
  }

  @Test func seekPastTheEndTimeLandsThereAndPlayEndsTheItem() async throws {
    let (rig, _) = try await rig(2, endingAt: 24_000)
    try await rig.run { player in
      try player.seek(to: Self.frame(60_000), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
    }
    await rig.settle()
    #expect(await rig.run { $0.currentTime() } == Self.frame(60_000))
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 3_000)
    #expect(rig.heard.runs.map(\.file) == [2])
    #expect(lines(rig, "event playedToEnd item 1").count == 1)
  }

  @Test func repeatedItemEndsEachPassAtTheEndTime() async throws {
    let (rig, _) = try await rig(1, endingAt: 24_000)
    try await rig.run { player in
      try player.setRepeatMode(.one)
      player.play()
    }
    await rig.advance(milliseconds: 1_250)
    try await rig.run { player in
      try player.setRepeatMode(.off)
      try player.setActionAtItemEnd(.pause)
    }
    await rig.advance(milliseconds: 1_000)
    #expect(rig.heard.runs.map(\.count) == [24_000, 24_000, 24_000])
    #expect(lines(rig, "event playedToEnd").count == 3)
  }

  @Test func itemEndsAtTheEndTimeAfterALoopBeforeIt() async throws {
    let (rig, _) = try await rig(1, endingAt: 24_000)
    try await rig.run { player in
      try player.setActionAtItemEnd(.pause)
      try player.setLoop(TimeRange(start: Self.frame(4_800), end: Self.frame(9_600)), count: 2)
      player.play()
    }
    await rig.advance(milliseconds: 3_000)
    let runs = rig.heard.runs
    #expect(runs.map(\.firstIndex) == [0, 4_800, 4_800])
    #expect(runs.map(\.count) == [9_600, 4_800, 19_200])
    #expect(lines(rig, "event playedToEnd").count == 1)
    #expect(lines(rig, "loop").allSatisfy { !$0.hasSuffix("(itemEnded)") })
  }

  @Test func statement19_forwardPlaybackIgnoresReversePlaybackEndTime() async throws {
    let (rig, items) = try await rig(1, endingAt: nil)
    try items[0].setReversePlaybackEndTime(Self.frame(48_000))
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 3_000)
    #expect(rig.heard.runs.map(\.count) == [96_000])
    #expect(lines(rig, "event playedToEnd") == ["event playedToEnd item 1 at 2"])
  }

  @Test func actionNoneContinuesPastTheEndTimeAndPauseReturnsToIt() async throws {
    let (rig, _) = try await rig(1, endingAt: 24_000)
    try await rig.run { player in
      try player.setActionAtItemEnd(.none)
      player.play()
    }
    await rig.advance(milliseconds: 1_000)
    #expect(await rig.run { $0.currentTime() } == Self.frame(48_000))
    try await rig.run { try $0.setActionAtItemEnd(.pause) }
    #expect(await rig.run { $0.state.rate } == 0)
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.currentTime() } == Self.frame(24_000))
    #expect(lines(rig, "event playedToEnd").count == 1)
    #expect(lines(rig, "event timeJumped") == ["event timeJumped item 1 to 0.5 by endAction"])
  }

  @Test func statement17_actionNoneContinuesPastTheDurationAndPauseStopsAtOnce() async throws {
    let (rig, _) = try await rig(1, endingAt: nil)
    try await rig.run { player in
      try player.setActionAtItemEnd(.none)
      player.play()
    }
    await rig.advance(milliseconds: 3_000)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 3, timescale: 1))
    #expect(await rig.run { $0.state.currentItemID } == 1)
    #expect(await rig.run { $0.state.rate } == 1)
    try await rig.run { try $0.setActionAtItemEnd(.pause) }
    #expect(await rig.run { $0.state.rate } == 0)
  }

  @Test(arguments: [ActionAtItemEnd.pause, .advance])
  func seekBackFromPastTheEndPlaysDespiteANewEndAction(_ action: ActionAtItemEnd) async throws {
    let (rig, _) = try await rig(2, endingAt: 24_000)
    try await rig.run { player in
      try player.setActionAtItemEnd(.none)
      player.play()
    }
    await rig.advance(milliseconds: 1_000)
    rig.heard.removeAll()
    let finished = Mutex<Bool?>(nil)
    try await rig.run { player in
      try player.seek(to: Self.frame(12_000), toleranceBefore: .zero, toleranceAfter: .zero) { result in
        finished.withLock { $0 = result.finished }
      }
      try player.setActionAtItemEnd(action)
    }
    await rig.advance(milliseconds: 200)
    #expect(finished.withLock { $0 } == true)
    #expect(rig.heard.runs.map(\.file) == [1] && rig.heard.runs.first?.firstIndex == 12_000)
    #expect(await rig.run { $0.state.rate } == 1)
    await rig.advance(milliseconds: 300)
    #expect(await rig.run { $0.state.currentItemID } == (action == .advance ? 2 : 1))
    #expect(await rig.run { $0.state.rate } == (action == .advance ? 1 : 0))
  }

  @Test func actionAdvanceSetPastTheEndAdvancesAtOnce() async throws {
    let (rig, _) = try await rig(2, endingAt: nil)
    try await rig.run { player in
      try player.setActionAtItemEnd(.none)
      player.play()
    }
    await rig.advance(milliseconds: 3_000)
    try await rig.run { try $0.setActionAtItemEnd(.advance) }
    #expect(await rig.run { $0.state.currentItemID } == 2)
    await rig.advance(milliseconds: 500)
    #expect(rig.heard.runs.map(\.file) == [1, 2])
  }

  @Test(arguments: [MediaTime(value: -1, timescale: 1), .indefinite, .positiveInfinity, .negativeInfinity])
  func invalidEndTimeIsRejectedAndChangesNothing(_ time: MediaTime) throws {
    let item = PlayerItem(asset: Asset(path: "/none"))
    try item.setForwardPlaybackEndTime(Self.frame(7))
    expectError(.invalidTime) { try item.setForwardPlaybackEndTime(time) }
    expectError(.invalidTime) { try item.setReversePlaybackEndTime(time) }
    #expect(item.forwardPlaybackEndTime == Self.frame(7))
    #expect(item.reversePlaybackEndTime == nil)
    try item.setForwardPlaybackEndTime(.invalid)
    #expect(item.forwardPlaybackEndTime == nil)
  }
}
