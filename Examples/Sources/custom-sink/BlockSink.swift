import Dispatch
import PlayheadFoundation

/// Passes audio to a closure in real time, in blocks of 10 ms of interleaved samples.
final class BlockSink: AudioSink {
  let label = "blocks"
  let commandLeadNanoseconds: Int64 = 20_000_000
  private let format = AudioFormat(sampleRateHz: 48_000, channelCount: 2)
  private let queue = DispatchQueue(label: "blocks")
  private nonisolated(unsafe) let timer: any DispatchSourceTimer  // Thread-safe, but not declared as such.
  private let write: @Sendable ([Float]) -> Void

  init(write: @escaping @Sendable ([Float]) -> Void) {
    (self.write, timer) = (write, DispatchSource.makeTimerSource(queue: queue))
  }
  func open() -> AudioFormat { format }
  func commandsPosted() {}  // Commands take effect in the next block.
  func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    let block = [Float](repeating: 0, count: format.sampleRateHz / 100 * format.channelCount)
    timer.setEventHandler { [write] in
      core.release(heardFrame: core.renderedFrame)  // The previous block has been heard.
      let frame = core.renderedFrame
      var samples = block
      samples.withUnsafeMutableBufferPointer { core.render(into: $0.baseAddress!, frameCount: $0.count / 2) }
      core.clock.publish(heardFrame: frame, at: .now, isRunning: true)
      write(samples)
      if core.consumeWakeRequest() || frame == 0 { wakeControl() }
    }
    timer.schedule(deadline: .now(), repeating: .milliseconds(10))
    timer.activate()
  }
  func close() { queue.sync { timer.cancel() } }
}
