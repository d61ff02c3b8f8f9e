import PlayheadControlLoop
import PlayheadControlServer
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio

/// A server in this process with all parts of a daemon except a device. Time advances only by `clock.advance`.
///
/// It lives as long as the process. Each input uses a separate connection.
final class FuzzedServer {
  let path: String
  private let server: ControlServer
  private let engine: PlaybackEngine

  /// Accepts connections in `folder`. Saves nothing, writes no files for peers, and uses no network.
  init(folder: String) throws(MediaError) {
    path = "\(folder)/control.sock"
    let loop = ThreadControlLoop()
    let clock = VirtualControlLoop(base: loop)
    let output = OutputConfiguration(makeSink: {
      let format = AudioFormat(sampleRateHz: 8_000, channelCount: 1)
      let sink = VirtualSink(label: "null", format: format, now: { clock.now })
      clock.execute { clock.attach(sink) }
      return sink
    })
    engine = PlaybackEngine(loop: clock, output: output)
    var configuration = ControlServer.Configuration(socketFile: SocketFile(requestedPath: path), version: "0")
    configuration.policy.isNetworkAllowed = false
    server = ControlServer(configuration: configuration, engine: engine, loop: loop)
    try server.start()
    let engine = engine
    clock.execute { engine.open() }
  }
}
