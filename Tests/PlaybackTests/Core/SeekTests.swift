import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Seeks of a whole player: files, decode thread, mixer.
@Suite struct SeekTests {
  private func frames(_ count: Int64) -> MediaTime { MediaTime(value: count, timescale: 48_000) }

  /// Creates a rig with an item of 2 s that is ready.
  private func rig() async throws -> Rig {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 96_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    return rig
  }

  /// Seeks exactly to each time, all chasing, before anything else happens, and logs the results.
  private func chase(_ rig: Rig, to times: [MediaTime], _ name: String) async throws {
    try await rig.run { player in
      for (number, time) in times.enumerated() {
        try player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero, mode: .chase) { result in
          rig.log("\(name).\(number) \(Rig.text(result))")
        }
      }
      rig.log("asked")
    }
  }

  @Test func chasingSeeksAreHeardWhileDragging() async throws {
    let rig = try await rig()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    for step in 1...3 {
      try await chase(rig, to: (0..<3).map { frames(Int64(step * 20_000 + $0 * 1_000)) }, "seek \(step)")
      await rig.advance(milliseconds: 50)
    }
    try expectGolden(rig.dump, "seek-chase")
  }

  @Test func seeksToInfinityLandAtTheEndAndTheBeginning() async throws {
    let rig = try await rig()
    for time in [MediaTime.positiveInfinity, .negativeInfinity] {
      let result = try await rig.player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
      #expect(result.finished && result.isExact && !result.isClamped)
      #expect(result.time == (time.isPositiveInfinity ? frames(96_000) : .zero))
    }
  }

  @Test(
    "statement 5: a seek to an invalid or indefinite time is an error that leaves position and rate as they are",
    arguments: [MediaTime.invalid, .indefinite])
  func seekToAnInvalidTimeIsAnErrorThatChangesNothing(_ time: MediaTime) async throws {
    let rig = try await rig()
    let before = try await rig.player.seek(to: frames(7), toleranceBefore: .zero, toleranceAfter: .zero)
    #expect(before.time == frames(7))
    // Until all effects of the seek are logged.
    await rig.settle()
    let dump = rig.dump
    await rig.run { player in
      expectError(.invalidTime) { try player.seek(to: time) { _ in rig.log("completed") } }
      for tolerance in [time, MediaTime(value: -1, timescale: 1), .negativeInfinity] {
        expectError(.invalidTime) {
          try player.seek(to: .zero, toleranceBefore: tolerance, toleranceAfter: .zero) { _ in rig.log("completed") }
        }
        expectError(.invalidTime) {
          try player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: tolerance) { _ in rig.log("completed") }
        }
      }
      #expect(player.currentTime() == MediaTime(value: 7, timescale: 48_000))
    }
    await rig.settle()
    #expect(rig.dump == dump)
  }

  @Test func exactSeekAtAnotherSampleRateLandsOnTheContainingFrame() async throws {
    let rig = try await Rig()
    let path = rig.files.file("other.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 88_200, sampleRateHz: 44_100)
    let item = rig.item(path)
    try await rig.run { try $0.append([item]) }
    for frame in [Int64(1), 44_101, 12_345] {
      let time = MediaTime(value: frame * 3 + 1, timescale: 44_100 * 3)
      let result = try await rig.player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
      #expect(result.isExact && result.requested == time)
      #expect(abs((result.time - time).seconds) < 1 / 44_100)
    }
  }

  @Test func closeCompletesSeeksUnfinishedAndEndsTheStreams() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 48_000)
    let states = await rig.run { $0.states() }
    let events = await rig.run { $0.events() }
    try await rig.run { player in
      try player.append([item])
      try player.seek(to: .zero) { rig.log("first \(Rig.text($0))") }
      try player.seek(to: .zero, mode: .chase) { rig.log("second \(Rig.text($0))") }
      player.close()
      player.close()
      expectError(.invalidState) { try player.append([item]) }
    }
    for await _ in states {}
    for await _ in events {}
    let lines = rig.dump.split(separator: "\n").filter { $0.contains("closed") && !$0.hasSuffix("(closed)") }
    #expect(lines.map { $0.prefix(6) } == ["first ", "second"])
  }

  @Test("statement 7: cancelPendingSeeks completes the seeks unfinished, at the old position or the target of a seek")
  func cancelPendingSeeksCompletesAllUnfinished() async throws {
    let rig = try await rig()
    try await rig.run { player in
      for (name, mode) in [("first", SeekMode.replace), ("second", .chase)] {
        try player.seek(to: frames(48_000), toleranceBefore: .zero, toleranceAfter: .zero, mode: mode) {
          rig.log("\(name) \(Rig.text($0))")
        }
      }
      player.cancelPendingSeeks()
    }
    await rig.settle()
    #expect(await [.zero, frames(48_000)].contains(rig.run { $0.currentTime() }))
    let lines = rig.dump.split(separator: "\n").filter { $0.contains("cancelled") }
    #expect(lines.map { $0.prefix(6) } == ["first ", "second"])
  }

  @Test func lastStartReportDescribesStartAndSeek() async throws {
    let rig = try await rig()
    let start = try #require(await rig.run { $0.lastStartReport })
    #expect(start.kind == .start && start.itemID == 1 && start.deviceNanoseconds == nil)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.lastStartReport }?.deviceNanoseconds == 0)
    _ = try await rig.player.seek(to: frames(5), toleranceBefore: .zero, toleranceAfter: .zero)
    let seek = try #require(await rig.run { $0.lastStartReport })
    #expect(seek.kind == .seek && seek.reached == frames(5))
  }
}
