import Foundation
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// A looped item or part of an item, like AVPlayerLooper.
@Suite struct PlayerLooperTests {
  private func frames(_ first: Int64, _ last: Int64) -> TimeRange {
    TimeRange(start: MediaTime(value: first, timescale: 48_000), end: MediaTime(value: last, timescale: 48_000))
  }

  /// The heard audio as frame ranges of files. Ranges without a missing or repeated frame in between are joined.
  private func heard(_ rig: Rig) -> [String] {
    var joined: [(file: Int, first: Int, end: Int)] = []
    var position: Int?
    for run in rig.heard.runs {
      if let position, position != run.position { joined.append((0, position, run.position)) }
      position = run.endPosition
      if let last = joined.last, last.file == run.file, last.end == run.firstIndex {
        joined[joined.count - 1].end = run.endIndex
      } else {
        joined.append((run.file, run.firstIndex, run.endIndex))
      }
    }
    return joined.map { "\($0.file)[\($0.first)..<\($0.end)]" }
  }

  @Test func statement27_loopCountStartsAt0AndBecomes1AtTheStartOfPass2() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 9_600)
    let looper = try PlayerLooper(player: rig.player, item: item)
    let counts = Mutex<[Int]>([])
    _ = looper.addStateObserver { state in counts.withLock { $0.append(state.loopCount) } }
    await rig.settle()
    #expect(looper.status == .ready && looper.loopCount == 0)
    await rig.player.play()
    await rig.advance(milliseconds: 199)
    #expect(looper.loopCount == 0)
    await rig.advance(milliseconds: 2)
    #expect(looper.loopCount == 1)
    await rig.advance(milliseconds: 200)
    #expect(looper.loopCount == 2)
    #expect(counts.withLock { $0 }.suffix(2) == [1, 2])
  }

  @Test func statement27_disableLoopingFinishesThePassAndPerformsTheOriginalAction() async throws {
    let rig = try await Rig()
    let (item, next) = (try rig.wav(file: 1, frames: 9_600), try rig.wav(file: 2, frames: 4_800))
    try await rig.player.append([next])
    let looper = try PlayerLooper(player: rig.player, item: item)
    await rig.settle()
    await rig.player.play()
    await rig.advance(milliseconds: 450)
    // The third pass is being heard, and later ones are already decoded.
    looper.disableLooping()
    await rig.advance(milliseconds: 500)
    #expect(looper.status == .cancelled && looper.loopCount == 2)
    #expect(heard(rig) == ["1[0..<9600]", "1[0..<9600]", "1[0..<9600]", "2[0..<4800]"])
  }

  @Test(arguments: [ActionAtItemEnd.pause, .none], [false, true])
  func statement27_disableLoopingPerformsTheActionThatWasSet(_ action: ActionAtItemEnd, _ isPart: Bool) async throws {
    let rig = try await Rig()
    let (item, next) = (try rig.wav(file: 1, frames: 9_600), try rig.wav(file: 2, frames: 4_800))
    try await rig.run { player in
      try player.append([next])
      try player.setActionAtItemEnd(action)
    }
    let looper = try PlayerLooper(player: rig.player, item: item, timeRange: isPart ? frames(0, 9_600) : nil)
    await rig.settle()
    await rig.player.play()
    await rig.advance(milliseconds: 250)
    #expect(looper.loopCount == 1)
    looper.disableLooping()
    await rig.advance(milliseconds: 400)
    #expect(heard(rig) == ["1[0..<9600]", "1[0..<9600]"])
    let state = await rig.player.state
    #expect(state.currentItemID == item.id && state.actionAtItemEnd == action)
    #expect(state.rate == (action == .pause ? 0 : 1) && state.isAtItemEnd == (action == .pause))
    // With `none` the time continues after the end.
    #expect(
      await rig.player.currentTime()
        == (action == .pause ? MediaTime(value: 200, timescale: 1_000) : MediaTime(value: 450, timescale: 1_000)))
  }

  enum Ending: String, CaseIterable { case repeatOff, repeatAll, loopOff, otherLoop, lastPass, afterTheRange }

  @Test(arguments: Ending.allCases)
  func statusBecomesCancelledWhenTheLoopEnds(_ ending: Ending) async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 48_000)
    let isWhole = ending == .repeatOff || ending == .repeatAll
    try await rig.run { try $0.setActionAtItemEnd(.pause) }
    let looper = try PlayerLooper(player: rig.player, item: item, timeRange: isWhole ? nil : frames(0, 12_000))
    let statuses = Mutex<[PlayerLooper.Status]>([])
    _ = looper.addStateObserver { state in statuses.withLock { $0.append(state.status) } }
    await rig.settle()
    await rig.player.play()
    await rig.advance(milliseconds: 300)
    #expect(looper.status == .ready)
    try await rig.run { player in
      switch ending {
      case .repeatOff: try player.setRepeatMode(.off)
      case .repeatAll: try player.setRepeatMode(.all)
      case .loopOff: try player.setLoop(nil)
      case .otherLoop: try player.setLoop(frames(24_000, 36_000))
      case .lastPass: try player.finishLoop()
      case .afterTheRange: try player.seek(to: MediaTime(value: 1, timescale: 2)) { _ in }
      }
    }
    await rig.advance(milliseconds: 1_000)
    #expect(looper.status == .cancelled)
    #expect(statuses.withLock { $0 }.filter { $0 == .cancelled }.count == 1)
    // The new setting stays.
    #expect(await rig.player.state.repeatMode == (ending == .repeatAll ? .all : .off))
    if ending == .otherLoop { #expect(await rig.player.state.loop?.range == frames(24_000, 36_000)) }
  }

  @Test func loopedRangeStartsAtItsBeginningAndEndsTheItem() async throws {
    let rig = try await Rig()
    let (item, next) = (try rig.wav(file: 1, frames: 48_000), try rig.wav(file: 2, frames: 4_800))
    try await rig.player.append([next])
    let looper = try PlayerLooper(player: rig.player, item: item, timeRange: frames(12_000, 24_000))
    await rig.settle()
    #expect(await rig.player.currentTime() == MediaTime(value: 1, timescale: 4))
    await rig.player.play()
    await rig.advance(milliseconds: 600)
    #expect(looper.loopCount == 2)
    let ended = Mutex<[PlayerItem.ID]>([])
    await rig.run { player in
      _ = player.addEventObserver { event in
        if case .playedToEnd(let id, _) = event { ended.withLock { $0.append(id) } }
      }
    }
    looper.disableLooping()
    #expect(await rig.player.state.loop?.isFinishing == true)
    await rig.advance(milliseconds: 600)
    #expect(heard(rig) == ["1[12000..<24000]", "1[12000..<24000]", "1[12000..<24000]", "2[0..<4800]"])
    #expect(ended.withLock { $0 } == [item.id, next.id])
  }

  @Test func countIsTheNumberOfRepeats() async throws {
    let rig = try await Rig()
    let (whole, part) = (try rig.wav(file: 1, frames: 9_600), try rig.wav(file: 2, frames: 24_000))
    let first = try PlayerLooper(player: rig.player, item: whole, count: 2)
    await rig.settle()
    await rig.player.play()
    await rig.advance(milliseconds: 700)
    #expect(first.status == .cancelled && first.loopCount == 2)
    #expect(heard(rig) == ["1[0..<9600]", "1[0..<9600]", "1[0..<9600]"])
    rig.heard.removeAll()
    let second = try PlayerLooper(player: rig.player, item: part, timeRange: frames(0, 4_800), count: 1)
    await rig.advance(milliseconds: 800)
    #expect(second.status == .cancelled && second.loopCount == 1)
    #expect(heard(rig) == ["2[0..<4800]", "2[0..<24000]"])
  }

  /// The device buffers more than all passes together, and the file is shorter than the handling of any request.
  @Test func noPassIsDecodedAfterTheLastCountedPass() async throws {
    let rig = try await Rig(lookAheadFrames: 96_000)
    let (item, next) = (try rig.wav(file: 1, frames: 960), try rig.wav(file: 2, frames: 4_800))
    try await rig.player.append([next])
    try await rig.player.setRepeatMode(.all)
    let looper = try PlayerLooper(player: rig.player, item: item, count: 3)
    await rig.settle()
    // The audio decoded before playback: four passes, and then the next item.
    let order = await rig.run { player in
      let machine = player.control.core.machine
      return machine.decodedPasses.map(\.pass.itemID) + machine.plan.passes.map(\.itemID)
    }
    #expect(Array(order.prefix(6)) == [1, 1, 1, 1, 2, 1].map { $0 == 1 ? item.id : next.id })
    await rig.player.play()
    await rig.advance(milliseconds: 70)
    #expect(looper.loopCount == 3 && looper.status == .cancelled)
    #expect(await rig.player.state.repeatMode == .all)
    await rig.advance(milliseconds: 100)
    try await rig.run { try $0.remove([item.id]) }
    await rig.advance(milliseconds: 200)
    let parts = heard(rig)
    print("heard: \(parts)")
    #expect(parts.prefix(5) == ["1[0..<960]", "1[0..<960]", "1[0..<960]", "1[0..<960]", "2[0..<4800]"])
    #expect(rig.heard.runs.filter { $0.file == 1 }.reduce(0) { $0 + $1.count } == 4 * 960)
  }

  /// Twenty passes of a tone at rate 2: exactly 2 s of audio, as loud at the loop points as elsewhere.
  @Test(arguments: [AudioTimePitchAlgorithm.timeDomain, .spectral].filter(\.isAvailable), [false, true])
  func loopPointsOfPitchPreservingPassesAreInaudible(
    _ algorithm: AudioTimePitchAlgorithm, isPart: Bool
  ) async throws {
    let rig = try await Rig()
    let path = rig.files.file("tone.wav")
    // The tone's period is 100 frames.
    try TimeCode.writeWAV(path: path, frameCount: isPart ? 19_200 : 9_600) { index in
      let value = Int16(16_384 * sin(2 * Double.pi * Double(index % 100) / 100))
      return StereoFrame(left: value, right: value)
    }
    let item = rig.item(path)
    try item.setAudioTimePitchAlgorithm(algorithm)
    if isPart { try item.setForwardPlaybackEndTime(frames(0, 14_400).end) }
    let looper = try PlayerLooper(
      player: rig.player, item: item, timeRange: isPart ? frames(4_800, 14_400) : nil, count: 19)
    await rig.settle()
    try await rig.run { try $0.setRate(2) }
    await rig.advance(milliseconds: 3_000)
    #expect(looper.loopCount == 19 && looper.status == .cancelled)
    let heard = rig.heard.left
    let end = heard.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    var (least, most) = (Float(1), Float(0))
    // The stretcher fades at the very beginning and end.
    for first in stride(from: 1_000, to: 95_000, by: 100) {
      let peak = heard[first..<(first + 200)].lazy.map(abs).max() ?? 0
      (least, most) = (min(least, peak), max(most, peak))
    }
    print("\(algorithm), \(isPart ? "loop" : "repeat"): 20 passes are heard to frame \(end); peaks \(least) to \(most)")
    #expect(end > 95_900 && end <= 96_000)
    #expect(least > 0.4 && most < 0.6)
  }

  @Test func disableLoopingOfAShortItemEndsWithTheCurrentPass() async throws {
    let rig = try await Rig(lookAheadFrames: 96_000)
    let (item, next) = (try rig.wav(file: 1, frames: 960), try rig.wav(file: 2, frames: 4_800))
    try await rig.player.append([next])
    let looper = try PlayerLooper(player: rig.player, item: item)
    await rig.settle()
    await rig.player.play()
    await rig.advance(milliseconds: 50)
    looper.disableLooping()
    await rig.advance(milliseconds: 300)
    #expect(heard(rig) == ["1[0..<960]", "1[0..<960]", "1[0..<960]", "2[0..<4800]"])
    #expect(looper.loopCount == 2)
  }

  @Test func countedRepeatsEndWhenTheItemIsSkippedOrTheModeIsSet() async throws {
    let rig = try await Rig()
    let (item, next) = (try rig.wav(file: 1, frames: 9_600), try rig.wav(file: 2, frames: 4_800))
    try await rig.player.append([next])
    try await rig.player.setRepeatMode(.all)
    let looper = try PlayerLooper(player: rig.player, item: item, count: 5)
    await rig.settle()
    await rig.player.play()
    await rig.advance(milliseconds: 250)
    await rig.player.advanceToNextItem()
    #expect(await rig.player.state.repeatMode == .all)
    await rig.settle()
    #expect(looper.status == .cancelled)
    let second = try PlayerLooper(player: rig.player, item: next, count: 2)
    await rig.settle()
    try await rig.player.setRepeatMode(.off)
    await rig.advance(milliseconds: 500)
    #expect(await rig.player.state.repeatMode == .off && second.status == .cancelled)
    #expect(heard(rig) == ["1[0..<9600]", "1[0..<2400]", "2[0..<4800]"])
  }

  @Test func invalidRangesCountsAndItemsThrowOrFail() async throws {
    let rig = try await Rig()
    func code(_ range: TimeRange?, count: Int? = nil) throws -> MediaError.Code? {
      let item = try rig.wav(file: 1, frames: 48_000)
      do throws(MediaError) {
        _ = try PlayerLooper(player: rig.player, item: item, timeRange: range, count: count)
        return nil
      } catch { return error.code }
    }
    #expect(try code(frames(100, 100)) == .invalidTime)
    #expect(try code(frames(200, 100)) == .invalidTime)
    #expect(try code(TimeRange(start: .indefinite, end: MediaTime(value: 1, timescale: 1))) == .invalidTime)
    #expect(try code(TimeRange(start: .zero, end: .positiveInfinity)) == .invalidTime)
    #expect(try code(nil, count: 0) == .invalidArgument)
    #expect(await rig.player.itemCount == 0)
    // Errors that only appear when the item is open.
    func failure(_ item: PlayerItem, _ range: TimeRange?) async throws -> MediaError.Code? {
      let looper = try PlayerLooper(player: rig.player, item: item, timeRange: range)
      await rig.settle()
      guard case .failed(let error) = looper.status else { return nil }
      #expect(looper.loopCount == 0)
      return error.code
    }
    #expect(try await failure(try rig.wav(file: 1, frames: 48_000), frames(24_000, 48_001)) == .invalidTime)
    #expect(try await failure(rig.item("/nowhere.wav"), nil) == .fileNotFound)
    let nothing = try rig.wav(file: 4, frames: 0)
    #expect(try await failure(nothing, nil) == .invalidTime, "\(nothing.status) \(nothing.duration)")
    let elsewhere = try rig.wav(file: 3, frames: 4_800)
    let other = QueuePlayer(engine: rig.engine, name: "other")
    try await other.append([elsewhere])
    #expect(try await failure(elsewhere, nil) == .itemInUse)
    #expect(await rig.player.state.loop == nil)
    #expect(await rig.player.state.repeatMode == .off)
  }

  @Test func disableLoopingRestoresTheRepeatMode() async throws {
    let rig = try await Rig()
    let (item, next) = (try rig.wav(file: 1, frames: 9_600), try rig.wav(file: 2, frames: 4_800))
    try await rig.player.append([next])
    try await rig.player.setRepeatMode(.all)
    let looper = try PlayerLooper(player: rig.player, item: item)
    await rig.settle()
    #expect(await rig.player.state.repeatMode == .one)
    await rig.player.play()
    await rig.advance(milliseconds: 250)
    looper.disableLooping()
    await rig.advance(milliseconds: 350)
    #expect(await rig.player.state.repeatMode == .all)
    #expect(heard(rig).prefix(3) == ["1[0..<9600]", "1[0..<9600]", "2[0..<4800]"])
  }

  @Test(arguments: [false, true]) func releasedLooperFinishesTheCurrentPass(isPart: Bool) async throws {
    let rig = try await Rig()
    let (item, next) = (try rig.wav(file: 1, frames: 9_600), try rig.wav(file: 2, frames: 4_800))
    try await rig.player.append([next])
    var looper: PlayerLooper? = try PlayerLooper(
      player: rig.player, item: item, timeRange: isPart ? frames(0, 9_600) : nil)
    await rig.settle()
    #expect(looper?.status == .ready)
    await rig.player.play()
    await rig.advance(milliseconds: 250)
    looper = nil
    await rig.advance(milliseconds: 500)
    #expect(heard(rig) == ["1[0..<9600]", "1[0..<9600]", "2[0..<4800]"])
    #expect(await rig.player.state.repeatMode == .off)
  }

  @Test func loopingEndsWhenTheItemIsSkipped() async throws {
    let rig = try await Rig()
    let (item, next) = (try rig.wav(file: 1, frames: 9_600), try rig.wav(file: 2, frames: 4_800))
    try await rig.player.append([next])
    let looper = try PlayerLooper(player: rig.player, item: item)
    await rig.settle()
    await rig.player.advanceToNextItem()
    await rig.settle()
    #expect(looper.status == .cancelled)
    #expect(await rig.player.state.repeatMode == .off)
  }
}
