import PlayheadPlayback
import PlayheadRealtimeAudio
import Synchronization

/// The sinks of an output whose device is lost: each time that the engine opens the output, it gets the next sink.
final class SinkSequence: Sendable {
  private let remaining: Mutex<[VirtualSink]>
  private let latestSink = Mutex<VirtualSink?>(nil)

  init(_ sinks: [VirtualSink]) { remaining = Mutex(sinks) }

  /// The sink that the engine got last; nil before the first one.
  var latest: VirtualSink? { latestSink.withLock { $0 } }

  /// An output with these sinks, and a device that is always available.
  var configuration: OutputConfiguration {
    OutputConfiguration(
      makeSink: { [self] _ in
        let sink = remaining.withLock { $0.removeFirst() }
        latestSink.withLock { $0 = sink }
        return sink
      },
      makeMonitor: { ReadyMonitor() })
  }
}
