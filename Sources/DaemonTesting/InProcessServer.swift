import Logging
import PlayheadControlLoop
import PlayheadControlServer
import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import RigSupport

/// A control server in the test's process, for tests of requests and replies. It runs the same server as `playheadd`,
/// on the virtual clock and without sandbox, worker processes and saved state.
package final class InProcessServer: TestServer {
  /// Sets up the log, once per process. Logs errors only, like `TestDaemon`.
  private static let logging: Void = LoggingSystem.bootstrap { label in
    var handler = StreamLogHandler.standardError(label: label)
    handler.logLevel = .error
    return handler
  }

  private let server: ControlServer
  private let engine: PlaybackEngine
  private var isFinished = false

  /// Starts a server whose clients may write files into its folder.
  ///
  /// - Parameter output: The name of a WAV file in the server's folder for the played audio. Nil: no file.
  package init(output: String? = nil) throws {
    Self.logging
    let folder = try TemporaryDirectory("server")
    let path = output.map(folder.file)
    let loop = ThreadControlLoop()
    let clock = VirtualControlLoop(base: loop)
    let configuration = OutputConfiguration(makeSink: {
      let sink = VirtualSink(
        label: path.map { "wav:\($0)" } ?? "null", format: AudioFormat(sampleRateHz: 48_000, channelCount: 2),
        writer: path.map { SampleFileWriter(path: $0, container: .wav, encoding: .s16) }, now: { clock.now })
      clock.execute { clock.attach(sink) }
      return sink
    })
    engine = PlaybackEngine(loop: clock, output: configuration)
    var settings = ControlServer.Configuration(
      socketFile: SocketFile(requestedPath: folder.file("control.sock")), version: ProductVersion.text)
    settings.policy.writableRoots = try FileRoots(folders: [folder.path])
    server = ControlServer(configuration: settings, engine: engine, loop: loop)
    super.init(folder: folder, socket: folder.file("control.sock"))
    try server.start()
    let opened = ConditionMutex<MediaError??>(nil)
    clock.execute { [engine] in engine.open { error in opened.update { $0 = .some(error) } } }
    if let error = opened.wait({ $0 }) ?? nil { throw error }
  }

  /// Starts a server that writes the played audio to `out.wav` in its folder.
  package static func recording() throws -> InProcessServer { try InProcessServer(output: "out.wav") }

  deinit { end() }

  override package func finish() throws { end() }

  private func end() {
    guard !isFinished else { return }
    isFinished = true
    server.stop()
    let closed = ConditionMutex(false)
    engine.loop.execute { [engine] in engine.close { closed.update { $0 = true } } }
    _ = closed.wait { $0 ? true : nil }
  }
}
