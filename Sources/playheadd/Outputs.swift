import Logging
import PlayheadControlLoop
import PlayheadControlServer
import PlayheadDaemonConfiguration
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPulseIO
import PlayheadRealtimeAudio

/// Creates the configuration of the engine's output from the options.
enum Outputs {
  /// The output in real time.
  static func realTime(_ options: DaemonOptions, _ spec: OutputSpec) -> OutputConfiguration {
    let format = spec.format
    let null: @Sendable () -> any AudioSink = { TimedSink.null(format: format) }
    switch spec.kind {
    case .auto: return devices(spec, options, .serverDefault, fallback: null, silence: null)
    case .pulse(let sink):
      return devices(spec, options, sink.map { .device($0) } ?? .serverDefault, fallback: nil, silence: null)
    case .null: return OutputConfiguration(makeSink: null)
    case .wav(let path), .pipe(let path):
      let (container, encoding) = (container(spec), encoding(spec))
      return OutputConfiguration(makeSink: {
        TimedSink.file(path: path, container: container, encoding: encoding, format: format)
      })
    }
  }

  /// The output whose time advances with the virtual clock `clock`. `spec.allowsVirtualClock` must be true.
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

  /// The output to the devices of a sound server. Only a server with a Unix socket can be monitored. The loss of other
  /// servers' devices is not detected.
  private static func devices(
    _ spec: OutputSpec, _ options: DaemonOptions, _ target: OutputSelection.Target,
    fallback: (@Sendable () -> any AudioSink)?, silence: @escaping @Sendable () -> any AudioSink
  ) -> OutputConfiguration {
    let (server, latency) = (options.pulseServer, options.outputLatency)
    var configuration = OutputConfiguration(
      selection: OutputSelection(target, preferred: options.preferredOutputs, lostPolicy: options.lostDevice),
      makeSink: { name in
        var pulse = PulseSink.Configuration(
          server: server, sinkName: name, sampleRateHz: spec.sampleRateHz, channelCount: spec.channelCount)
        pulse.latencyMilliseconds = latency
        return PulseSink(pulse, logger: Logger(label: "playhead.pulse"))
      },
      makeFallback: fallback, makeSilence: silence, makeMonitor: { try? PulseDeviceMonitor(server: server) })
    if !PulseDeviceMonitor.canWatch(server: server) { configuration.makeMonitor = nil }
    return configuration
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
