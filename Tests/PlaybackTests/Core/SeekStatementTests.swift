import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback

// AVFoundation's behaviour as numbered statements, each a test with its number. The tests use the whole player: files,
// decode thread, mixer and clock. Some statements are tested next to their subject: search for `statement` to find all.

/// Seeks.
@Suite struct SeekStatementTests {
  private func frames(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 48_000) }

  /// Creates a rig whose first item has 10 s.
  private func rig(flac: Bool = false) async throws -> Rig {
    let rig = try await Rig()
    let items = [
      flac ? try rig.flac(file: 1, frames: 480_000) : try rig.wav(file: 1, frames: 480_000),
      try rig.wav(file: 2, frames: 48_000),
    ]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    return rig
  }

  /// The logged lines that begin with `name`, in order.
  private func lines(_ rig: Rig, _ name: String) -> [String] {
    rig.dump.split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
  }

  @Test(
    "statement 2: the handler of a superseded seek runs within the superseding call, before the newer seek finishes")
  func supersededSeekCompletesWithinTheSupersedingCall() async throws {
    let rig = try await rig()
    try await rig.run { player in
      try player.seek(to: frames(48_000), toleranceBefore: .zero, toleranceAfter: .zero) { result in
        let time = rig.player.assumeIsolated { $0.currentTime() }
        rig.log("seek 1 \(Rig.text(result)), player at \(time.fractionDescription)")
      }
      rig.log("seek 2 asked")
      try player.seek(to: frames(96_000), toleranceBefore: .zero, toleranceAfter: .zero) { result in
        rig.log("seek 2 \(Rig.text(result))")
      }
      rig.log("seek 2 returned")
    }
    await rig.settle()
    #expect(
      lines(rig, "seek") == [
        "seek 2 asked", "seek 1 superseded at 0/48000 asked 48000/48000, player at 0/48000", "seek 2 returned",
        "seek 2 finished at 96000/48000 asked 96000/48000 exact",
      ])
  }

  @Test("statement 3: a seek overtaken by the next item completes exactly once, and that item begins at its start")
  func seekOvertakenByTheNextItemCompletesOnce() async throws {
    let rig = try await rig()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    rig.heard.removeAll()
    try await rig.run { player in
      try player.seek(to: frames(479_000), toleranceBefore: .zero, toleranceAfter: .zero) {
        rig.log("seek \($0.unfinishedReason?.rawValue ?? "finished") item \($0.itemID)")
      }
      player.advanceToNextItem()
      rig.log("seek: next")
    }
    await rig.advance(milliseconds: 500)
    #expect(lines(rig, "seek") == ["seek itemChanged item 1", "seek: next"])
    #expect(await rig.run { $0.currentTime() } == frames(24_000))
    #expect(rig.heard.runs.map(\.file) == [2] && rig.heard.runs.first?.firstIndex == 0)
  }

  @Test("statement 3: a seek just before the end stays in the current item, and its result is heard")
  func seekBeforeTheEndStaysInItsItem() async throws {
    let rig = try await rig()
    _ = try await rig.player.seek(to: frames(475_200), toleranceBefore: .zero, toleranceAfter: .zero)
    await rig.run { $0.play() }
    // The device has all of the item and the beginning of the next.
    await rig.advance(milliseconds: 90)
    rig.heard.removeAll()
    try await rig.run { player in
      try player.seek(to: frames(470_400), toleranceBefore: .zero, toleranceAfter: .zero) {
        rig.log("seek \(Rig.text($0)) item \($0.itemID)")
      }
    }
    await rig.advance(milliseconds: 300)
    #expect(lines(rig, "seek") == ["seek finished at 470400/48000 asked 470400/48000 exact item 1"])
    #expect(
      rig.heard.runs.map { "\($0.file) \($0.firstIndex) \($0.count)" } == ["1 470400 9600", "2 0 4800"])
  }

  @Test("statement 4: zero tolerance lands in the sample that contains the time; the default reports where it lands")
  func zeroToleranceIsExactAndTheDefaultReportsWhereItLands() async throws {
    let rig = try await rig(flac: true)
    for (third, frame) in [(1_000_001, 333_333), (30_000, 10_000), (1_439_999, 479_999)] as [(Int64, Int64)] {
      let time = MediaTime(value: third, timescale: 144_000)
      let result = try await rig.player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
      #expect(result.time == frames(frame) && result.isExact && result.requested == time)
    }
    let requested = frames(123_457)
    let near = try await rig.player.seek(to: requested)
    #expect(near.finished && near.time != requested && !near.isExact)
    #expect(await rig.run { $0.currentTime() } == near.time)
    rig.heard.removeAll()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 10)
    let first = try #require(rig.heard.runs.first?.firstIndex)
    #expect(frames(Int64(first)) == near.time, "playback starts at the reported time")
  }

  @Test("statement 6: seeking while paused moves currentTime, fires periodic observers, and stays paused")
  func seekWhilePausedMovesTheTimeAndStaysPaused() async throws {
    let rig = try await rig()
    let reports = Mutex<[String]>([])
    try await rig.run { player in
      _ = try player.addPeriodicTimeObserver(forInterval: frames(48_000)) { tick in
        reports.withLock { $0.append("\(tick.reason) \(tick.time.fractionDescription) rate \(tick.rate)") }
      }
    }
    for frame in [72_001, 5] as [Int64] {
      try await rig.run { try $0.seek(to: frames(frame), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
      await rig.settle()
      #expect(await rig.run { $0.currentTime() } == frames(frame))
    }
    await rig.advance(milliseconds: 2_000)
    #expect(reports.withLock { $0 } == ["jump 72001/48000 rate 0.0", "jump 5/48000 rate 0.0"])
    let state = await rig.run { $0.state }
    #expect(state.timeControlStatus == .paused && state.rate == 0)
    #expect(await rig.run { $0.currentTime() } == frames(5) && rig.heard.runs.isEmpty)
  }
}
