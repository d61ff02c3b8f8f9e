/// The complete Playhead library: the module that a program imports to play media.
import ControlLoop
@_exported import ControlLoop
@_exported import Loudness
@_exported import MediaAssets
@_exported import MediaCore
@_exported import NetworkIO
@_exported import Playback
@_exported import PlayerModel
@_exported import Playlists
@_exported import PulseIO
@_exported import RealtimeAudio
@_exported import Recording
@_exported import Waveforms

extension OutputConfiguration {
  /// PulseAudio if available. Until the server first responds, a silent output in real time.
  public static func automatic(
    _ pulse: PulseSink.Configuration = PulseSink.Configuration(), selection: OutputSelection = OutputSelection()
  ) -> OutputConfiguration {
    let makeSilence: @Sendable () -> any AudioSink = {
      TimedSink.null(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2))
    }
    return OutputConfiguration(
      selection: selection,
      makeSink: { name in
        var configuration = pulse
        configuration.sinkName = name ?? pulse.sinkName
        return PulseSink(configuration)
      },
      makeFallback: makeSilence, makeSilence: makeSilence,
      makeMonitor: { try? PulseDeviceMonitor(server: pulse.server) })
  }
}

extension PlaybackEngine {
  /// The default engine of a program, with the automatic output and the shared control loop. Opened on first use.
  public static let shared: PlaybackEngine = {
    let loop = ThreadControlLoop.shared
    let engine = PlaybackEngine(loop: loop, output: .automatic())
    engine.open()
    return engine
  }()
}
