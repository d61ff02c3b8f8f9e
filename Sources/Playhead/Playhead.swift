/// The complete Playhead library: the module that a program imports to play media.
import PlayheadControlLoop
@_exported import PlayheadControlLoop
@_exported import PlayheadEffects
@_exported import PlayheadLoudness
@_exported import PlayheadMediaAssets
@_exported import PlayheadMediaCore
@_exported import PlayheadNetworkIO
@_exported import PlayheadPlayback
@_exported import PlayheadPlayerModel
@_exported import PlayheadPlaylists
@_exported import PlayheadPulseIO
@_exported import PlayheadRealtimeAudio
@_exported import PlayheadRecording
@_exported import PlayheadWaveforms

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
