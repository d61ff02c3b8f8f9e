import Foundation
import Glibc
import PlayheadMediaCore
import PlayheadPulseIO
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadRecording

/// Recording from a private PulseAudio with a microphone whose frames encode their index.
@Suite(.serialized) struct RecorderServerTests {
  private static func recorder(
    _ server: any SoundServer, _ source: String?, _ path: String, settings: RecordingSettings = RecordingSettings(),
    onEvent: (@Sendable (AudioRecorder.Event) -> Void)? = nil
  ) -> AudioRecorder {
    var options = AudioRecorder.Options()
    options.onEvent = onEvent
    let address = server.address
    return AudioRecorder(location: RecordingLocation(path: path), settings: settings, options: options) {
      PulseSource(PulseSource.Configuration(server: address, sourceName: source))
    }
  }

  private static func frameCount(_ recorder: AudioRecorder) -> Int { Int(recorder.currentTime.value) }

  /// PipeWire's pipe source has a clock: it captures silence when its pipe is empty. All written frames are captured,
  /// once.
  private static func expectContinuation(_ runs: [TimeCode.Run], _ location: SourceLocation = #_sourceLocation) {
    #expect(!runs.isEmpty, sourceLocation: location)
    for (run, next) in zip(runs, runs.dropFirst()) {
      #expect(run.endIndex == next.firstIndex, "\(runs)", sourceLocation: location)
    }
  }

  @Test(arguments: ["a.wav", "a.flac"], SoundServerKind.allCases)
  func recordingHasNoMissingAndNoExtraFrames(_ name: String, _ kind: SoundServerKind) throws {
    let server = try kind.start()
    let microphone = try PipeMicrophone(server)
    let folder = try TemporaryDirectory("recorder")
    let recorder = Self.recorder(server, "mic", folder.file(name))
    try recorder.prepareToRecord()
    #expect(recorder.status.sourceLabel == "pulse:mic")
    #expect(recorder.status.sourceFormat == AudioFormat(sampleRateHz: 48_000, channelCount: 2))
    try recorder.record()
    var index = microphone.deliver(from: 0, until: 240_000) { Self.frameCount(recorder) }
    // A pause loses no frame from before or after it.
    try recorder.pause()
    let paused = Self.frameCount(recorder)
    try recorder.record()
    index = microphone.deliver(from: index, until: paused + 240_000) { Self.frameCount(recorder) }
    let outcome = try recorder.stop()
    #expect(outcome.error == nil && outcome.lostFrameCount == 0)
    let runs = try Decoded.runs(folder.file(name))
    #expect(outcome.duration.value >= 480_000)
    switch kind {
    case .pulseAudio:
      // One run before the pause and one after it, each without a gap.
      #expect(runs.count <= 2, "\(runs)")
      #expect(runs.reduce(0) { $0 + $1.count } == Int(outcome.duration.value))
      #expect(index >= 480_000)
    case .pipeWire: Self.expectContinuation(runs)
    }
    print("rig: \(name), \(kind): \(runs.count) runs, 0 missing, 0 extra")
  }

  @Test(arguments: SoundServerKind.allCases) func monitorOfAnOutputCanBeRecorded(_ kind: SoundServerKind) throws {
    let server = try kind.start()
    let folder = try TemporaryDirectory("recorder")
    let recorder = Self.recorder(server, "rig.monitor", folder.file("a.wav"))
    try recorder.record()
    while Self.frameCount(recorder) < 4_800, recorder.status.state != .stopped { sched_yield() }
    let outcome = try recorder.stop()
    #expect(outcome.error == nil)
    let frames = try Decoded.frames(folder.file("a.wav"))
    #expect(frames.count == Int(outcome.duration.value))
    #expect(frames.allSatisfy { $0 == .silence })
  }

  /// Failures of the sound server, and their errors.
  @Test(arguments: ["source vanishes", "server is killed"], SoundServerKind.allCases)
  func lostSourceOrServerKeepsTheRecordedAudio(_ failure: String, _ kind: SoundServerKind) throws {
    let server = try kind.start()
    let microphone = try PipeMicrophone(server)
    let folder = try TemporaryDirectory("recorder")
    let finalOutcome = ConditionMutex<AudioRecorder.Outcome?>(nil)
    let recorder = Self.recorder(server, "mic", folder.file("a.flac")) { event in
      if case .finished(let outcome) = event { finalOutcome.update { $0 = outcome } }
    }
    try recorder.record()
    _ = microphone.deliver(from: 0, until: 48_000) { Self.frameCount(recorder) }
    if failure == "source vanishes" { try microphone.remove() } else { server.kill() }
    let outcome = try #require(finalOutcome.wait { $0 })
    print("rig: \(failure), \(kind): \(outcome.error.map { "\($0.code.rawValue) \($0.message)" } ?? "no error")")
    #expect(outcome.error?.code == .sourceLost)
    #expect(outcome.duration.value >= 48_000)
    let runs = try Decoded.runs(folder.file("a.flac"))
    switch kind {
    case .pulseAudio: #expect(runs.count == 1 && runs.first?.count == Int(outcome.duration.value))
    case .pipeWire: Self.expectContinuation(runs)
    }
    #expect(try recorder.stop().error?.code == .sourceLost)
  }

  @Test func missingSourceIsReportedBeforeAnythingIsWritten() throws {
    let server = try PulseServer()
    let folder = try TemporaryDirectory("recorder")
    for (address, source) in [(server.address, "nowhere"), ("unix:/nonexistent/socket", "mic")] {
      let recorder = AudioRecorder(location: RecordingLocation(path: folder.file("a.wav"))) {
        PulseSource(PulseSource.Configuration(server: address, sourceName: source))
      }
      var error: MediaError?
      do throws(MediaError) { try recorder.prepareToRecord() } catch let caught { error = caught }
      print("rig: no source: \(error.map { "\($0.code.rawValue) \($0.message)" } ?? "none")")
      #expect(error?.code == .sourceUnavailable)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
