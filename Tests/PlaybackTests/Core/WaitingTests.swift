import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// The behaviour of a player while its samples are late. Named after AVFoundation's statements.
@Suite struct WaitingTests {
  /// Creates a player of an item of 5 s, of which a little more than a second can be read.
  private func limitedRig() async throws -> SlowRig {
    let rig = try await SlowRig()
    rig.gate.open(upTo: 48_000)
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    return rig
  }

  /// The readable part of `limitedRig`: whole chunks.
  private let readable = MediaTime(frame: 49_152, rate: 48_000)
  private static let stall = "stalled item 1 at 1.024"

  @Test func statement8_playWithInsufficientBufferWaitsWithTheRateSetAndTimeStopped() async throws {
    let rig = try await SlowRig()
    rig.gate.close()
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    await rig.run { $0.play() }
    for _ in 0..<3 {
      let state = await rig.state
      #expect(state.rate == 1 && state.timebaseRate == 0)
      #expect(state.timeControlStatus == .waiting)
      #expect(state.reasonForWaitingToPlay == .evaluatingBufferingRate)
      #expect(await rig.time == .zero)
      await rig.advance(milliseconds: 500)
    }
    #expect(rig.events == [])
    rig.gate.open()
    await rig.wait { $0.timeControlStatus == .playing }
  }

  @Test func playOnAnEmptyPlayerWaitsForAnItemAndInsertingStartsIt() async throws {
    let rig = try await SlowRig()
    await rig.run { $0.play() }
    #expect(await rig.state.timeControlStatus == .waiting)
    #expect(await rig.state.reasonForWaitingToPlay == .noItemToPlay)
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    await rig.wait { $0.timeControlStatus == .playing }
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 500)
    #expect(await rig.time == MediaTime(value: 1, timescale: 2))
  }

  @Test func statement10_stallIsReportedOnceKeepsTheRateAndEndsByItself() async throws {
    let rig = try await limitedRig()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 2_000)
    let stalled = await rig.state
    #expect(stalled.rate == 1)
    #expect(stalled.timeControlStatus == .waiting)
    #expect(stalled.reasonForWaitingToPlay == .toMinimizeStalls)
    #expect(stalled.isPlaybackBufferEmpty)
    #expect(!stalled.isPlaybackLikelyToKeepUp)
    #expect(await rig.time == readable)
    #expect(rig.events == [Self.stall])
    rig.gate.open()
    await rig.wait { $0.timeControlStatus == .playing }
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 1_000)
    #expect(rig.events == [Self.stall])
    #expect(await rig.time == readable + MediaTime(value: 1, timescale: 1))
    // Every sample is heard once; silence only during the stall.
    let runs = rig.heard.runs
    #expect(runs.map(\.firstIndex) == [0, 49_152])
    #expect(runs.map(\.count) == [49_152, 48_000])
  }

  @Test func samplesDecodedBeforeTheStallIsHeardPreventIt() async throws {
    let rig = try await limitedRig()
    await rig.run { $0.play() }
    // The device has buffered the last of them, and plays for another 24 ms.
    await rig.advance(milliseconds: 1_000)
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 1_000)
    #expect(rig.events == [])
    #expect(rig.heard.runs.map(\.count) == [96_000])
  }

  @Test func smallAmountsOfDataDoNotResumeAStalledPlayer() async throws {
    let rig = try await limitedRig()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 2_000)
    // 100 ms more are not enough to resume.
    rig.gate.open(upTo: 49_152 + 4_800)
    try await rig.block()
    await rig.advance(milliseconds: 500)
    #expect(await rig.state.reasonForWaitingToPlay == .toMinimizeStalls)
    #expect(await rig.time == readable)
    #expect(rig.events == [Self.stall])
  }

  @Test func endTimeWithinTheBufferedAudioEndsTheStall() async throws {
    let rig = try await limitedRig()
    let next = try rig.wav(file: 2, frames: 4_800)
    let item = try #require(await rig.run { $0.currentItem })
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 2_000)
    rig.gate.open(upTo: 49_152 + 4_800)
    try await rig.block()
    #expect(await rig.state.reasonForWaitingToPlay == .toMinimizeStalls)
    // All audio of the item up to its new end is available: no sample is missing any more.
    try item.setForwardPlaybackEndTime(MediaTime(frame: 51_152, rate: 48_000))
    await rig.run { _ in }
    rig.gate.open(upTo: 60_000)
    try await rig.block()
    #expect(await rig.state.timeControlStatus == .playing)
    await rig.advance(milliseconds: 500)
    #expect(rig.events == [Self.stall, "playedToEnd item 1 at 1.065666667"])
    #expect(await rig.state.reasonForWaitingToPlay == .noItemToPlay)
    rig.gate.open()
    try await rig.run { try $0.append([next]) }
    await rig.wait { $0.timeControlStatus == .playing }
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.advance(milliseconds: 500)
    #expect(
      rig.heard.runs.map { [$0.file, $0.firstIndex, $0.count] } == [
        [1, 0, 49_152], [1, 49_152, 2_000], [2, 0, 4_800],
      ])
  }

  @Test func removalOfTheUnderrunningItemPreventsTheStall() async throws {
    let rig = try await SlowRig(lookAheadFrames: 48_000)
    rig.gate.open(upTo: 24_001)
    let items = try [
      rig.wav(file: 1, frames: 24_000), rig.wav(file: 2, frames: 240_000), rig.wav(file: 3, frames: 24_000),
      rig.wav(file: 4, frames: 240_000),
    ]
    try await rig.run { try $0.append(items) }
    try await rig.block()
    await rig.run { $0.play() }
    // The device has buffered the available part of the second one while the first is heard.
    await rig.advance(milliseconds: 450)
    #expect(await !rig.state.isPlaybackLikelyToKeepUp)
    try await rig.run { try $0.remove([items[1].id]) }
    #expect(await rig.state.isPlaybackLikelyToKeepUp)
    // All of the third one is decoded once the decoder reaches the gate in the next item. Without this wait, time would
    // overtake it.
    rig.gate.open(upTo: 48_000)
    try await rig.block()
    await rig.advance(milliseconds: 500)
    #expect(rig.heard.runs.map { [$0.file, $0.firstIndex, $0.count] } == [[1, 0, 24_000], [3, 0, 21_600]])
    #expect(rig.events.filter { $0.hasPrefix("stalled") } == [])
  }

  /// The device has buffered silence after the first item, which is not heard if the second one is opened in time.
  @Test func itemOpenedBeforeItsStartIsHeardFollowsWithoutSilence() async throws {
    let rig = try await SlowRig(lookAheadFrames: 48_000)
    rig.gate.open(upTo: 16_000)
    let items = try [rig.wav(file: 1, frames: 24_000), rig.wav(file: 2, frames: 240_000)]
    try await rig.run { try $0.append(items) }
    try await rig.block(items[0].id)
    rig.gate.openToEnd()
    try await rig.block(items[1].id)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    rig.gate.open(upTo: 96_000)
    try await rig.block(items[1].id)
    await rig.advance(milliseconds: 100)
    await rig.advance(milliseconds: 1_000)
    let runs = rig.heard.runs
    #expect(runs.map { [$0.file, $0.firstIndex, $0.count] } == [[1, 0, 24_000], [2, 0, 33_600]])
    #expect(runs.map(\.position) == [0, 24_000])
    #expect(rig.events.filter { $0.hasPrefix("stalled") } == [])
  }

  @Test func statement10_stallWithoutAutomaticWaitingPausesUntilPlay() async throws {
    let rig = try await limitedRig()
    let causes = Mutex<[ChangeCause]>([])
    await rig.run { player in
      player.setAutomaticallyWaitsToMinimizeStalling(false)
      player.play()
      _ = player.addStateObserver { change in
        if change.old.rate != change.new.rate { causes.withLock { $0.append(change.cause) } }
      }
    }
    await rig.advance(milliseconds: 2_000)
    #expect(await rig.state.rate == 0)
    #expect(await rig.state.timeControlStatus == .paused)
    #expect(await rig.state.reasonForWaitingToPlay == nil)
    #expect(causes.withLock { $0 } == [.stalled])
    #expect(rig.events == [Self.stall])
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    let time = await rig.time
    await rig.advance(milliseconds: 1_000)
    #expect(await rig.state.rate == 0)
    #expect(await rig.time == time)
    // After resuming, no sample is missing.
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_000)
    let runs = rig.heard.runs
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.firstIndex + $0.count == $1.firstIndex })
    #expect(rig.events == [Self.stall])
  }

  @Test func playWithoutAutomaticWaitingStartsWithLittleBufferedAudio() async throws {
    let rig = try await SlowRig()
    rig.gate.open(upTo: 4_096)
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    await rig.run { player in
      player.setAutomaticallyWaitsToMinimizeStalling(false)
      player.play()
    }
    #expect(await rig.state.timeControlStatus == .playing)
    await rig.advance(milliseconds: 50)
    #expect(await rig.time == MediaTime(value: 50, timescale: 1_000))
    #expect(rig.events == [])
    await rig.advance(milliseconds: 450)
    #expect(rig.heard.runs.map(\.count) == [4_096])
    #expect(rig.events == ["stalled item 1 at 0.085333333"])
    #expect(await rig.state.rate == 0)
  }

  @Test func playWithoutAutomaticWaitingStartsWithTheFirstDecodedAudio() async throws {
    let rig = try await SlowRig()
    rig.gate.close()
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    await rig.run { player in
      player.setAutomaticallyWaitsToMinimizeStalling(false)
      player.play()
    }
    await rig.advance(milliseconds: 100)
    #expect(await rig.state.reasonForWaitingToPlay == .evaluatingBufferingRate)
    rig.gate.open(upTo: 4_096)
    await rig.wait { $0.timeControlStatus == .playing }
    await rig.advance(milliseconds: 50)
    #expect(await rig.time == MediaTime(value: 50, timescale: 1_000))
  }

  /// Creates a player that does not wait automatically, and that paused at an underrun.
  private func pausedByAStall() async throws -> SlowRig {
    let rig = try await limitedRig()
    await rig.run { player in
      player.setAutomaticallyWaitsToMinimizeStalling(false)
      player.play()
    }
    await rig.advance(milliseconds: 2_000)
    #expect(await rig.state.rate == 0)
    return rig
  }

  @Test func playWithoutAutomaticWaitingAfterAStallEvaluatesBuffering() async throws {
    let rig = try await pausedByAStall()
    await rig.run { $0.play() }
    for _ in 0..<3 {
      let state = await rig.state
      #expect(state.rate == 1 && state.timebaseRate == 0)
      #expect(state.reasonForWaitingToPlay == .evaluatingBufferingRate)
      #expect(await rig.time == readable)
      await rig.advance(milliseconds: 200)
    }
    #expect(rig.events == [Self.stall])
    // A tenth of a second is enough to resume.
    rig.gate.open(upTo: 49_152 + 4_800)
    try await rig.block()
    // The device has buffered 100 ms of silence.
    await rig.advance(milliseconds: 150)
    #expect(await rig.state.timeControlStatus == .playing)
    #expect(await rig.time > readable)
    await rig.advance(milliseconds: 500)
    #expect(rig.events.count == 2 && rig.events.last?.hasPrefix("stalled item 1 at ") == true)
    #expect(await rig.state.rate == 0)
    let runs = rig.heard.runs
    #expect(runs.map(\.firstIndex) == [0, 49_152] && runs[1].count >= 4_800)
  }

  @Test func statement11_playImmediatelyOnAnEmptyBufferReportsNoStall() async throws {
    let rig = try await SlowRig()
    rig.gate.close()
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    try await rig.run { try $0.playImmediately() }
    #expect(await rig.state.timeControlStatus == .waiting)
    #expect(await rig.state.rate == 1)
    try await rig.run { player in
      player.pause()
      player.setAutomaticallyWaitsToMinimizeStalling(false)
      try player.playImmediately()
    }
    #expect(await rig.state.timeControlStatus == .paused)
    #expect(await rig.state.rate == 0)
    #expect(rig.events == [])
  }

  @Test func playImmediatelyAfterAnUnderrunReportsNoStall() async throws {
    let rig = try await pausedByAStall()
    #expect(await rig.time == readable)
    let events = rig.events
    try await rig.run { try $0.playImmediately() }
    #expect(await rig.state.rate == 0)
    await rig.run { $0.setAutomaticallyWaitsToMinimizeStalling(true) }
    try await rig.run { try $0.playImmediately() }
    await rig.advance(milliseconds: 500)
    #expect(await rig.state.reasonForWaitingToPlay == .toMinimizeStalls)
    #expect(rig.events == events)
    rig.gate.open()
    await rig.wait { $0.timeControlStatus == .playing }
  }

  @Test func playImmediatelyPlaysLittleBufferedAudio() async throws {
    let rig = try await SlowRig()
    // Less than the amount required before a start.
    rig.gate.open(upTo: 4_096)
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    #expect(await rig.state.timeControlStatus == .waiting)
    #expect(rig.heard.runs.isEmpty)
    try await rig.run { try $0.playImmediately() }
    await rig.advance(milliseconds: 500)
    #expect(rig.heard.runs.map(\.count) == [4_096])
    #expect(rig.events == ["stalled item 1 at 0.085333333"])
    rig.gate.open()
    await rig.wait { $0.timeControlStatus == .playing }
  }

  @Test func disablingAutomaticWaitingResumesWithBufferedAudio() async throws {
    let rig = try await limitedRig()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 2_000)
    rig.gate.open(upTo: 49_152 + 4_800)
    try await rig.block()
    await rig.run { $0.setAutomaticallyWaitsToMinimizeStalling(false) }
    #expect(await rig.state.timeControlStatus == .playing)
    await rig.advance(milliseconds: 50)
    #expect(await rig.time == readable + MediaTime(value: 50, timescale: 1_000))
  }

  @Test func reasonForWaitingIsSetOnlyWhileWaiting() async throws {
    let rig = try await SlowRig()
    let mistakes = Mutex(0)
    await rig.run { player in
      _ = player.addStateObserver { change in
        if (change.new.reasonForWaitingToPlay != nil) != (change.new.timeControlStatus == .waiting) {
          mistakes.withLock { $0 += 1 }
        }
      }
    }
    rig.gate.open(upTo: 48_000)
    await rig.run { $0.play() }
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    await rig.advance(milliseconds: 2_000)
    rig.gate.open()
    await rig.wait { $0.timeControlStatus == .playing }
    await rig.run { $0.pause() }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 5_000)
    #expect(mistakes.withLock { $0 } == 0)
  }

  @Test func resumeReportsNoIntermediateWaiting() async throws {
    let rig = try await SlowRig()
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    await rig.wait { $0.isPlaybackBufferFull }
    let statuses = Mutex<[TimeControlStatus]>([])
    await rig.run { player in
      _ = player.addStateObserver { change in
        guard change.old.timeControlStatus != change.new.timeControlStatus else { return }
        statuses.withLock { $0.append(change.new.timeControlStatus) }
      }
    }
    for _ in 0..<3 {
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 100)
      await rig.run { $0.pause() }
    }
    #expect(statuses.withLock { $0 } == [.playing, .paused, .playing, .paused, .playing, .paused])
  }

  /// The rest of the item is shorter than the amount required to resume after a stall.

  @Test func statement30_fullBufferEndsTheStallBelowTheRequiredAmount() async throws {
    let rig = try await SlowRig()
    rig.gate.open(upTo: 48_000)
    let item = try rig.wav(file: 1, frames: 60_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 2_000)
    let stalled = await rig.state
    #expect(stalled.reasonForWaitingToPlay == .toMinimizeStalls)
    #expect(!stalled.isPlaybackLikelyToKeepUp && !stalled.isPlaybackBufferFull)
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    await rig.wait { $0.timeControlStatus == .playing }
    await rig.advance(milliseconds: 1_000)
    let runs = rig.heard.runs
    #expect(runs.map(\.firstIndex) == [0, 49_152] && runs.map(\.count) == [49_152, 60_000 - 49_152])
    #expect(rig.events == [Self.stall, "playedToEnd item 1 at 1.25"])
  }
}
