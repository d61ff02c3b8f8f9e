import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

/// A started sink with its core and its callbacks.
class SinkRig<Sink: AudioSink> {
  let core: RenderCore
  let sink: Sink
  let wakeCount = ConditionMutex(0)
  let failures = ConditionMutex<[MediaError]>([])
  /// The streams, which the engine must keep alive: the sink's side retains none.
  private var streams: [RenderStream] = []

  /// Opens and starts the sink.
  init(_ sink: Sink) throws {
    self.sink = sink
    core = RenderCore(format: try sink.open())
    sink.start(
      core: core, wakeControl: { [wakeCount] in wakeCount.update { $0 += 1 } },
      onFailure: { [failures] error in failures.update { $0.append(error) } })
  }

  deinit { sink.close() }

  /// Posts commands for the next render.
  func post(_ body: (RenderCore) -> Void) {
    body(core)
    core.postCommands()
    sink.commandsPosted()
  }

  /// Attaches an input that plays `stream` from its start.
  func play(_ stream: RenderStream) throws -> Int {
    streams.append(stream)
    let input = try #require(core.attachInput())
    post {
      $0.setStream(stream, fromFrame: 0, input: input)
      $0.setRunning(true, input: input)
    }
    return input
  }
}
