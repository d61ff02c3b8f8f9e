import MediaTesting
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadRecording
import PlayheadWireProtocol
import RigSupport
import Testing

@testable import PlayheadControlServer

@Suite struct RecorderRegistryTests {
  @Test func limitIsReportedIfNoRecorderIsStopped() throws {
    let registry = RecorderRegistry()
    let path = Array("/a.wav".utf8)
    let file = try #require(FilePath(bytes: path))
    let format = AudioFormat(sampleRateHz: 48_000, channelCount: 1)
    func makeRecorder(_ number: Int) -> AudioRecorder {
      AudioRecorder(location: RecordingLocation(path: "/a.wav")) { ManualSource(format: format) }
    }
    for _ in 0..<RecorderRegistry.limit { _ = try registry.add(file, makeRecorder) }
    let error = expectError(.tooManyRecorders) { try registry.add(file, makeRecorder) }
    #expect(error?.message == "the limit of \(RecorderRegistry.limit) recorders is reached, and none is stopped")
  }
}
