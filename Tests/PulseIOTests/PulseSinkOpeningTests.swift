import MediaCore
import PulseIO
import RealtimeAudio
import RigSupport
import Testing

@Suite("Opening a PulseSink", .serialized)
struct PulseSinkOpeningTests {
  @Test("runs at the device's own format, and tells the device's name")
  func takesTheFormatOfTheDevice() throws {
    let server = try PulseServer(sampleRateHz: 44_100)
    let sink = PulseSink(.init(server: server.address))
    #expect(sink.label == "pulse")
    #expect(try sink.open() == AudioFormat(sampleRateHz: 44_100, channelCount: 2))
    #expect(sink.label == "pulse:rig")
    #expect(sink.statistics.bufferFrameCount > 0)
    sink.close()
    sink.close()
  }

  @Test("a chosen rate and channel count replace the device's")
  func takesTheFormatAskedFor() throws {
    let server = try PulseServer()
    let sink = PulseSink(
      .init(server: server.address, sinkName: "rig", sampleRateHz: 96_000, channelCount: 6))
    #expect(try sink.open() == AudioFormat(sampleRateHz: 96_000, channelCount: 6))
    sink.close()
  }

  @Test("without a server opening fails, and no server is started")
  func tellsOfNoServer() throws {
    let folder = try TemporaryDirectory()
    let sink = PulseSink(.init(server: "unix:\(folder.file("nothing"))"))
    expectError(.outputUnavailable) { try sink.open() }
    sink.close()
  }

  @Test("a device that the server does not have is an error with its name")
  func tellsOfNoDevice() throws {
    let server = try PulseServer()
    let sink = PulseSink(.init(server: server.address, sinkName: "attic"))
    let error = expectError(.outputUnavailable) { try sink.open() }
    #expect(error?.message.contains("attic") == true)
  }

  @Test("a format that PulseAudio cannot do is a configuration error")
  func refusesImpossibleFormats() throws {
    let server = try PulseServer()
    for (rate, channels) in [(768_000, 2), (48_000, 64)] {
      let sink = PulseSink(
        .init(server: server.address, sampleRateHz: rate, channelCount: channels))
      expectError(.outputConfiguration) { try sink.open() }
    }
  }

  @Test("a second open is an error and leaves one stream, and none is left after close")
  func opensOnce() throws {
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

  @Test("a sink that could not be opened can be opened when its server is there")
  func opensAfterAnError() throws {
    let server = try PulseServer()
    let sink = PulseSink(.init(server: server.address, sinkName: "attic"))
    expectError(.outputUnavailable) { try sink.open() }
    _ = try server.addSink("attic")
    #expect(try sink.open().channelCount == 2)
    sink.close()
  }
}
