import Glibc
import PlayheadMediaCore
import PlayheadPulseIO
import PlayheadRealtimeAudio
import RigSupport
import Testing

@Suite("Opening a PulseSink", .serialized)
struct PulseSinkOpeningTests {
  @Test("uses the format of the device, and reports its name")
  func usesTheFormatOfTheDeviceAndReportsItsName() throws {
    let server = try PulseServer(sampleRateHz: 44_100)
    let sink = PulseSink(.init(server: server.address))
    #expect(sink.label == "pulse")
    #expect(try sink.open() == AudioFormat(sampleRateHz: 44_100, channelCount: 2))
    #expect(sink.label == "pulse:rig")
    #expect(sink.statistics.bufferFrameCount > 0)
    sink.close()
    sink.close()
  }

  @Test("a requested rate and channel count replace those of the device")
  func requestedRateAndChannelCountReplaceThoseOfTheDevice() throws {
    let server = try PulseServer()
    let sink = PulseSink(
      .init(server: server.address, sinkName: "rig", sampleRateHz: 96_000, channelCount: 6))
    #expect(try sink.open() == AudioFormat(sampleRateHz: 96_000, channelCount: 6))
    sink.close()
  }

  @Test("opening fails without a server, and leaves no connection and starts no server")
  func openingFailsWithoutAServerAndLeavesNothing() throws {
    let folder = try TemporaryDirectory()
    let sink = PulseSink(.init(server: "unix:\(folder.file("nothing"))"))
    // Other suites that run at the same time have a few connections, too.
    let attemptCount = 40
    let before = threadCount(named: "playhead-pulse")
    for _ in 0..<attemptCount {
      let error = expectError(.outputUnavailable) { try sink.open() }
      #expect(error?.message == "no sound server is available")
    }
    #expect(threadCount(named: "playhead-pulse") - before < attemptCount / 2)
    #expect(access(folder.file("nothing"), F_OK) != 0)
    #expect(sink.label == "pulse" && sink.statistics.bufferFrameCount == 0)
    sink.close()
    expectError(.invalidState) { try sink.open() }
  }

  @Test("an unknown device is an error that contains its name")
  func unknownDeviceIsAnErrorThatContainsItsName() throws {
    let server = try PulseServer()
    let sink = PulseSink(.init(server: server.address, sinkName: "attic"))
    let error = expectError(.outputUnavailable) { try sink.open() }
    #expect(error?.message.contains("attic") == true)
  }

  @Test("a format that PulseAudio does not support is a configuration error")
  func unsupportedFormatIsAConfigurationError() throws {
    let server = try PulseServer()
    for (rate, channels) in [(768_000, 2), (48_000, 64)] {
      let sink = PulseSink(
        .init(server: server.address, sampleRateHz: rate, channelCount: channels))
      expectError(.outputConfiguration) { try sink.open() }
    }
  }

  @Test("a second open is an error, and close leaves no stream")
  func secondOpenIsAnErrorAndCloseLeavesNoStream() throws {
    let server = try PulseServer()
    func expectStreams(_ count: Int) throws {
      let list = "pactl --server '\(server.address)' list short sink-inputs"
      #expect(throws: Never.self) { try ChildProcess.run(["sh", "-c", "test \"$(\(list) | wc -l)\" = \(count)"]) }
    }
    let sink = PulseSink(.init(server: server.address))
    _ = try sink.open()
    expectError(.invalidState) { try sink.open() }
    try expectStreams(1)
    sink.close()
    expectError(.invalidState) { try sink.open() }
    try expectStreams(0)
  }

  @Test("a sink that failed to open can be opened once its device exists")
  func sinkThatFailedToOpenCanBeOpenedOnceItsDeviceExists() throws {
    let server = try PulseServer()
    let sink = PulseSink(.init(server: server.address, sinkName: "attic"))
    expectError(.outputUnavailable) { try sink.open() }
    _ = try server.addSink("attic")
    #expect(try sink.open().channelCount == 2)
    sink.close()
  }
}
