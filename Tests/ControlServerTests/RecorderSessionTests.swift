import MediaTesting
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import PlayheadRecording
import RigSupport
import Testing

/// Recorders that follow an audio session.
@Suite struct RecorderSessionTests {
  private let folder: TemporaryDirectory
  private let sink = InterruptibleSink()
  private let engine: PlaybackEngine
  private let recorder: AudioRecorder
  private let states = ConditionMutex<[AudioRecorder.State]>([])

  init() throws {
    let (sink, states) = (sink, states)
    folder = try TemporaryDirectory("recorder-session")
    engine = PlaybackEngine(
      loop: ThreadControlLoop(name: "recorder"), output: OutputConfiguration(makeSink: { sink }))
    var options = AudioRecorder.Options()
    options.session = engine.session
    options.onEvent = { event in if case .state(let state) = event { states.update { $0.append(state) } } }
    let format = AudioFormat(sampleRateHz: 48_000, channelCount: 1)
    recorder = AudioRecorder(location: RecordingLocation(path: folder.file("a.wav")), options: options) {
      ManualSource(format: format)
    }
  }

  private func open() async {
    await withCheckedContinuation { continuation in engine.open { _ in continuation.resume() } }
  }

  private func wait(for state: AudioRecorder.State) { _ = states.wait { $0.last == state ? true : nil } }

  @Test(.timeLimit(.minutes(2))) func categoryWithoutRecordingForbidsAndStopsRecording() async throws {
    await open()
    expectError(.sessionForbidsRecording) { try recorder.record() }
    #expect(recorder.status.state == .idle)
    try await engine.session.setCategory(.playAndRecord)
    try await recorder.record()
    #expect(recorder.isRecording)
    await expectError(.sessionBusy) { try await engine.session.setActive(false) }
    try await engine.session.setCategory(.playback)
    wait(for: .stopped)
    #expect(recorder.status.outcome?.path != nil)
    await engine.close()
  }

  @Test(.timeLimit(.minutes(2))) func interruptionPausesTheRecorderAndItsEndResumesIt() async throws {
    await open()
    try await engine.session.setCategory(.playAndRecord)
    try await recorder.record()
    sink.notice(.interruptionBegan)
    wait(for: .paused)
    expectError(.sessionInterrupted) { try recorder.record() }
    sink.notice(.interruptionEnded)
    wait(for: .recording)
    // A recorder that the program paused stays paused.
    try recorder.pause()
    sink.notice(.interruptionBegan)
    sink.notice(.interruptionEnded)
    while await engine.session.state.isInterrupted {}
    #expect(recorder.status.state == .paused)
    try await recorder.stop()
    await engine.close()
  }
}
