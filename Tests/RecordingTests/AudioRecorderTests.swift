import Foundation
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadRecording

/// AVAudioRecorder's semantics, with a source that the test controls.
@Suite struct AudioRecorderTests {
  /// The second call comes while the first preparation runs.
  @Test func everyPreparationThatWaitsGetsItsError() throws {
    let folder = try TemporaryDirectory("recorder")
    let isOpeningAllowed = ConditionMutex(false)
    let recorder = AudioRecorder(location: RecordingLocation(path: folder.file("memo.wav"))) {
      isOpeningAllowed.wait { $0 ? () : nil }
      return ManualSource(
        format: AudioFormat(sampleRateHz: 48_000, channelCount: 2),
        openingError: MediaError(.sourceUnavailable, "no source"))
    }
    let codes = ConditionMutex([MediaError.Code?]())
    for _ in 0..<2 {
      recorder.prepareToRecord { result in
        codes.update { codes in
          do throws(MediaError) {
            try result.get()
            codes.append(nil)
          } catch { codes.append(error.code) }
        }
      }
    }
    #expect(codes.withState { $0.isEmpty })
    isOpeningAllowed.update { $0 = true }
    let all = codes.wait { $0.count == 2 ? $0 : nil }
    #expect(all == [.sourceUnavailable, .sourceUnavailable])
  }

  @Test func pauseAndRecordContinueTheSameFile() throws {
    let rig = try RecorderRig()
    try rig.recorder.prepareToRecord()
    #expect(rig.recorder.status.state == .prepared)
    #expect(!rig.source.isRunning)
    // Audio before `record` is discarded.
    rig.deliver(0..<100)
    try rig.recorder.record()
    #expect(rig.recorder.isRecording)
    rig.deliver(100..<48_100)
    rig.waitUntilRecorded(48_000)
    #expect(rig.recorder.currentTime == MediaTime(value: 48_000, timescale: 48_000))
    try rig.recorder.pause()
    #expect(rig.recorder.status.state == .paused && !rig.source.isRunning)
    rig.deliver(50_000..<51_000)
    try rig.recorder.record()
    rig.deliver(60_000..<70_001)
    let outcome = try rig.recorder.stop()
    #expect(rig.recorder.currentTime == .zero)
    #expect(rig.recorder.status.state == .stopped && rig.source.isClosed)
    #expect(outcome.error == nil && outcome.lostFrameCount == 0)
    #expect(outcome.duration == MediaTime(value: 58_001, timescale: 48_000))
    #expect(outcome.byteCount == Int64(try Data(contentsOf: URL(fileURLWithPath: rig.path)).count))
    let runs = try Decoded.runs(rig.path)
    #expect(
      runs == [
        TimeCode.Run(file: 1, firstIndex: 100, count: 48_000, position: 0),
        TimeCode.Run(file: 1, firstIndex: 60_000, count: 10_001, position: 48_000),
      ])
    #expect(access(rig.path + ".recording", F_OK) != 0)
    let states = rig.events.withState { events in
      events.compactMap { event -> AudioRecorder.State? in
        guard case .state(let state) = event else { return nil }
        return state
      }
    }
    #expect(states == [.preparing, .prepared, .recording, .paused, .recording, .stopping, .stopped])
  }

  @Test func recordPreparesTheFileAndRecordsWhenItReturns() throws {
    let rig = try RecorderRig()
    try rig.recorder.record(forDuration: MediaTime(value: 60, timescale: 1))
    #expect(rig.recorder.isRecording)
    rig.deliver(0..<4_800)
    try rig.recorder.pause()
    try rig.recorder.record()
    #expect(rig.recorder.isRecording)
    #expect(try rig.recorder.stop().duration == MediaTime(value: 1, timescale: 10))
  }

  /// The source runs when `record` returns, although the observer of the recorder's state still blocks.
  @Test func sourceRunsWhenRecordReturns() throws {
    let isDelivered = ConditionMutex(false)
    let rig = try RecorderRig {
      $0.onEvent = { event in
        if event == .state(.recording) { _ = isDelivered.wait { $0 ? true : nil } }
      }
    }
    try rig.recorder.record()
    rig.deliver(0..<4_800)
    isDelivered.update { $0 = true }
    #expect(try rig.recorder.stop().duration == MediaTime(value: 1, timescale: 10))
  }

  @Test func recordFailsWithTheErrorOfThePreparation() throws {
    let rig = try RecorderRig(openingError: MediaError(.sourceUnavailable, "no microphone"))
    expectError(.sourceUnavailable) { try rig.recorder.record() }
    #expect(rig.recorder.status.state == .stopped)
  }

  @Test func callsInTheWrongStateAreErrors() throws {
    let rig = try RecorderRig()
    expectError(.invalidState) { try rig.recorder.pause() }
    expectError(.invalidState) { try rig.recorder.stop() }
    expectError(.invalidState) { try rig.recorder.deleteRecording() }
    try rig.begin()
    expectError(.invalidState) { try rig.recorder.record() }
    expectError(.invalidTime) { try rig.recorder.record(forDuration: .zero) }
    expectError(.invalidTime) { try rig.recorder.record(atHostTime: HostTime(nanoseconds: 1)) }
    rig.deliver(0..<1_000)
    expectError(.invalidState) { try rig.recorder.deleteRecording() }
    try rig.recorder.stop()
    // A second call returns the same outcome.
    #expect(try rig.recorder.stop().duration == MediaTime(value: 1_000, timescale: 48_000))
    // A second recording does not replace it.
    expectError(.fileExists) { try rig.recorder.prepareToRecord() }
    expectError(.fileExists) { try rig.recorder.record() }
    #expect(rig.recorder.status.state == .stopped)
    #expect(try rig.recorder.stop().duration == MediaTime(value: 1_000, timescale: 48_000))
    #expect(try Decoded.frames(rig.path).count == 1_000)
  }

  @Test func deleteRemovesTheFileOnce() throws {
    let rig = try RecorderRig()
    try rig.begin()
    rig.deliver(0..<1_000)
    try rig.recorder.stop()
    #expect(access(rig.path, F_OK) == 0)
    try rig.recorder.deleteRecording()
    #expect(access(rig.path, F_OK) != 0)
    expectError(.fileNotFound) { try rig.recorder.deleteRecording() }
    // The name is free afterwards.
    try rig.recorder.prepareToRecord()
    try rig.recorder.stop()
  }

  @Test func replacedFileStaysUntilTheRecordingIsComplete() throws {
    let folder = try TemporaryDirectory("recorder")
    try Data("before".utf8).write(to: URL(fileURLWithPath: folder.file("memo.wav")))
    let rig = try RecorderRig(in: folder, replaces: true)
    try rig.begin()
    rig.deliver(0..<1_000)
    #expect(try Data(contentsOf: URL(fileURLWithPath: rig.path)) == Data("before".utf8))
    try rig.recorder.stop()
    #expect(try Decoded.frames(rig.path).count == 1_000)
  }

  @Test func recordingWithADurationEndsAtTheExactFrame() throws {
    let rig = try RecorderRig(rate: 44_100)
    try rig.recorder.record(forDuration: MediaTime(value: 1, timescale: 3))
    while !rig.source.isRunning { sched_yield() }
    rig.deliver(0..<20_000)
    _ = rig.events.wait { events in events.contains { if case .finished = $0 { true } else { false } } ? true : nil }
    let outcome = try #require(rig.recorder.status.outcome)
    #expect(outcome.error == nil)
    #expect(outcome.duration == MediaTime(value: 14_700, timescale: 44_100))
    #expect(try Decoded.runs(rig.path) == [TimeCode.Run(file: 1, firstIndex: 0, count: 14_700, position: 0)])
  }

  @Test func recordingAtAHostTimeBeginsAtTheExactFrame() throws {
    let rig = try RecorderRig()
    try rig.recorder.prepareToRecord()
    let start = HostTime.now.advanced(byNanoseconds: 3_600_000_000_000)
    try rig.recorder.record(atHostTime: start)
    // Chunks of 1000 frames; the start time is 10.5 frames after the start of the second chunk.
    for chunk in 0..<3 {
      let nanoseconds = Int64((Double(chunk - 1) * 1_000 - 10.5) * 1e9 / 48_000)
      rig.source.deliver(
        (0..<1_000).flatMap { RecorderRig.samples(1, chunk * 1_000 + $0) },
        hostTime: start.advanced(byNanoseconds: nanoseconds))
    }
    try rig.recorder.stop()
    #expect(try Decoded.runs(rig.path) == [TimeCode.Run(file: 1, firstIndex: 1_011, count: 1_989, position: 0)])
  }

  @Test func framesLostByTheSourceBecomeSilenceAndAreCounted() throws {
    let rig = try RecorderRig()
    try rig.begin()
    rig.deliver(0..<5_000)
    rig.source.recordLoss(frameCount: 700)
    rig.deliver(5_700..<8_000)
    let outcome = try rig.recorder.stop()
    #expect(outcome.lostFrameCount == 700)
    #expect(outcome.duration == MediaTime(value: 8_000, timescale: 48_000))
    #expect(
      try Decoded.runs(rig.path) == [
        TimeCode.Run(file: 1, firstIndex: 0, count: 5_000, position: 0),
        TimeCode.Run(file: 1, firstIndex: 5_700, count: 2_300, position: 5_700),
      ])
    let lost = AudioRecorder.Event.lost(frameCount: 700, at: MediaTime(value: 5_000, timescale: 48_000))
    #expect(rig.events.withState { $0.contains(lost) })
  }

  @Test func framesLostAtTheEndBecomeSilenceAndAreCounted() throws {
    let rig = try RecorderRig()
    try rig.begin()
    rig.deliver(0..<5_000)
    rig.source.recordLoss(frameCount: 700)
    let outcome = try rig.recorder.stop()
    #expect(outcome.lostFrameCount == 700)
    #expect(outcome.duration == MediaTime(value: 5_700, timescale: 48_000))
    #expect(try Decoded.frames(rig.path).count == 5_700)
    let lost = AudioRecorder.Event.lost(frameCount: 700, at: MediaTime(value: 5_000, timescale: 48_000))
    #expect(rig.events.withState { $0.contains(lost) })
  }

  @Test func sourceFailureKeepsTheRecordedAudio() throws {
    let rig = try RecorderRig("memo.flac")
    try rig.begin()
    rig.deliver(0..<30_000)
    rig.source.fail(MediaError(.sourceLost, "it was pulled out"))
    _ = rig.events.wait { events in events.contains { if case .finished = $0 { true } else { false } } ? true : nil }
    let outcome = try #require(rig.recorder.status.outcome)
    #expect(outcome.error?.code == .sourceLost)
    #expect(try Decoded.runs(rig.path) == [TimeCode.Run(file: 1, firstIndex: 0, count: 30_000, position: 0)])
    // Later calls return the same.
    #expect(try rig.recorder.stop() == outcome)
  }

  @Test func releasedRecorderLeavesACompleteFile() throws {
    let folder = try TemporaryDirectory("recorder")
    var rig: RecorderRig? = try RecorderRig(in: folder)
    try rig?.begin()
    rig?.deliver(0..<10_000)
    let events = rig?.events
    rig = nil
    _ = events?.wait { events in events.contains { if case .finished = $0 { true } else { false } } ? true : nil }
    #expect(try Decoded.frames(folder.file("memo.wav")).count == 10_000)
  }

  @Test func recordingBeginsOnlyAboveTheStartLevel() throws {
    let rig = try RecorderRig(channels: 1) { $0.startLevel = -20 }
    try rig.begin()
    // -40 dBFS, then -10.
    rig.source.deliver([Float](repeating: 0.01, count: 48_000))
    rig.source.deliver([Float](repeating: 0.32, count: 4_800))
    let outcome = try rig.recorder.stop()
    // The quarter of a second before it is kept.
    #expect(outcome.duration == MediaTime(value: 12_000 + 4_800, timescale: 48_000))
    #expect(outcome.skippedFrameCount == 36_000)
    let frames = try Decoded.frames(rig.path)
    #expect(frames.prefix { $0.left < 1_000 }.count == 12_000)
  }

  @Test func longSilenceIsShortened() throws {
    let rig = try RecorderRig(channels: 1) { ($0.silenceLevel, $0.longestSilence) = (-50, 0.6) }
    try rig.begin()
    rig.source.deliver([Float](repeating: 0.5, count: 4_800))
    rig.source.deliver([Float](repeating: 0.001, count: 96_000))
    rig.source.deliver([Float](repeating: 0.5, count: 4_800))
    // At the end, only the first part of the silence is kept.
    rig.source.deliver([Float](repeating: 0.001, count: 96_000))
    let outcome = try rig.recorder.stop()
    #expect(outcome.duration == MediaTime(value: 4_800 + 28_800 + 4_800 + 16_800, timescale: 48_000))
    #expect(outcome.skippedFrameCount == 192_000 - 28_800 - 16_800)
  }

  @Test func overrunIsCountedAndLaterAudioKeepsItsTime() throws {
    let rig = try RecorderRig()
    try rig.recorder.prepareToRecord()
    // A slow writer: the recorder's thread blocks in a closure.
    let blocking = ConditionMutex((isBlocked: false, isFree: false))
    _ = try rig.recorder.addMeterObserver(rate: 100) { _, _ in
      blocking.update { $0.isBlocked = true }
      _ = blocking.wait { $0.isFree ? true : nil }
    }
    try rig.recorder.record()
    rig.deliver(0..<2_400)
    _ = blocking.wait { $0.isBlocked ? true : nil }
    // Much more than the queue's capacity.
    rig.deliver(2_400..<480_000)
    blocking.update { $0.isFree = true }
    while rig.recorder.currentTime.value < 48_000 { sched_yield() }
    rig.deliver(480_000..<490_000)
    let outcome = try rig.recorder.stop()
    #expect(outcome.lostFrameCount > 200_000)
    #expect(outcome.duration == MediaTime(value: 490_000, timescale: 48_000))
    // All captured frames are at their positions.
    let runs = try Decoded.runs(rig.path)
    #expect(runs.count >= 2 && runs.allSatisfy { $0.firstIndex == $0.position })
    #expect(runs.last?.endIndex == 490_000)
  }
}
