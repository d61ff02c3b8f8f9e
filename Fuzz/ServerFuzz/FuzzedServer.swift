import ControlServer
import MediaCore
import Playback
import RealtimeAudio

/// A server in this process, with everything behind it that a daemon has but a device: time passes by `clock.advance` only.
///
/// It lives as long as the process: each input is a connection of its own.
final class FuzzedServer {
  let path: String
  private let server: ControlServer
  private let engine: PlaybackEngine

  /// Listens in `folder`. Nothing is saved, written on a peer's word or asked of the network.
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
    var configuration = ControlServer.Configuration(place: SocketPlace(asked: path), version: "0")
    configuration.policy.isNetworkAllowed = false
    server = ControlServer(configuration: configuration, engine: engine, loop: loop)
    try server.start()
    let engine = engine
    clock.execute { engine.open() }
  }
}
