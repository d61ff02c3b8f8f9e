/// Playhead, whole: what a program imports to play media.
@_exported import Loudness
@_exported import MediaAssets
@_exported import MediaCore
@_exported import NetworkIO
@_exported import Playback
@_exported import Playlists
@_exported import PulseIO
@_exported import RealtimeAudio
@_exported import Recording
@_exported import Waveforms

extension OutputConfiguration {
  /// PulseAudio when it answers; silence at real speed until then.
  public static func automatic(_ pulse: PulseSink.Configuration = PulseSink.Configuration()) -> OutputConfiguration {
    OutputConfiguration(
      makeSink: { PulseSink(pulse) },
      makeFallback: { TimedSink.null(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2)) },
      awaitDevice: { onAppearance in watch(pulse.server, onAppearance) })
  }

  /// Waits for a server to appear; where that cannot be watched there is nothing to wait for.
  private static func watch(_ server: String?, _ onAppearance: @escaping @Sendable () -> Void) -> (
    @Sendable () -> Void
  )? {
    guard let watcher = try? PulseServerWatcher(server: server, onAppearance: onAppearance) else { return nil }
    return { watcher.cancel() }
  }
}

extension PlaybackEngine {
  /// The engine that a program shares unless it makes its own: on the automatic output and the shared control loop.
  public static let shared: PlaybackEngine = {
    let loop = ThreadControlLoop.shared
    let engine = PlaybackEngine(loop: loop, output: .automatic())
    loop.execute { engine.open() }
    return engine
  }()
}
