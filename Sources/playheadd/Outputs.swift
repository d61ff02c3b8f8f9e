import ControlServer
import MediaCore
import Playback
import PulseIO
import RealtimeAudio

/// Makes of `--output` what the engine plays on.
enum Outputs {
  /// Outputs in real time.
  static func timed(_ spec: OutputSpec, pulseServer: String?) -> OutputConfiguration {
    let format = spec.format
    let null: @Sendable () -> any AudioSink = { TimedSink.null(format: format) }
    switch spec.kind {
    case .auto:
      return OutputConfiguration(
        makeSink: pulse(spec, server: pulseServer, sink: nil), makeFallback: null,
        awaitDevice: watcher(pulseServer))
    case .pulse(let sink):
      return OutputConfiguration(
        makeSink: pulse(spec, server: pulseServer, sink: sink), awaitDevice: watcher(pulseServer))
    case .null: return OutputConfiguration(makeSink: null)
    case .wav(let path), .pipe(let path):
      let (container, encoding) = (container(spec), encoding(spec))
      return OutputConfiguration(makeSink: {
        TimedSink.file(path: path, container: container, encoding: encoding, format: format)
      })
    }
  }

  /// Outputs whose time passes by `clock.advance`; `spec` is one of those that allow it.
  static func virtual(_ spec: OutputSpec, clock: VirtualControlLoop) -> OutputConfiguration {
    let (format, container, encoding) = (spec.format, container(spec), encoding(spec))
    let (label, path): (String, String?) =
      switch spec.kind {
      case .wav(let path): ("wav:\(path)", path)
      case .pipe(let path): ("pipe:\(path)", path)
      case .auto, .null, .pulse: ("null", nil)
      }
    return OutputConfiguration(makeSink: {
      let writer = path.map { SampleFileWriter(path: $0, container: container, encoding: encoding) }
      let sink = VirtualSink(label: label, format: format, writer: writer, now: { clock.now })
      clock.execute { clock.attach(sink) }
      return sink
    })
  }

  private static func pulse(
    _ spec: OutputSpec, server: String?, sink: String?
  ) -> @Sendable () -> any AudioSink {
    let configuration = PulseSink.Configuration(
      server: server, sinkName: sink, sampleRateHz: spec.sampleRateHz, channelCount: spec.channelCount)
    return { PulseSink(configuration) }
  }

  /// Waits for a server to appear; nil when that cannot be seen: then there is nothing to wait for.
  private static func watcher(
    _ server: String?
  ) -> (@Sendable (@escaping @Sendable () -> Void) -> (@Sendable () -> Void)?)? {
    guard PulseServerWatcher.canWatch(server: server) else { return nil }
    return { onAppearance in
      guard let watcher = try? PulseServerWatcher(server: server, onAppearance: onAppearance) else { return nil }
      return { watcher.cancel() }
    }
  }

  private static func container(_ spec: OutputSpec) -> SampleFileWriter.Container {
    if case .pipe = spec.kind { .pipe } else { .wav }
  }

  private static func encoding(_ spec: OutputSpec) -> SampleEncoding {
    switch spec.encoding {
    case .s16: .s16
    case .s24: .s24
    case .f32: .f32
    }
  }
}
