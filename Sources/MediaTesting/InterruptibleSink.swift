import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A sink without a device. A test interrupts it like PulseAudio's `module-role-cork`. Threading: any thread.
package final class InterruptibleSink: SharedDeviceSink {
  private let sink = TimedSink.null(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2))
  private let handler = ConditionMutex<(@Sendable (SharingNotice) -> Void)?>(nil)

  package init() {}

  /// Reports the start or end of an interruption to the output.
  package func notice(_ notice: SharingNotice) { handler.withState { $0 }?(notice) }

  // MARK: - SharedDeviceSink

  package var label: String { sink.label }

  package func open() throws(MediaError) -> AudioFormat { try sink.open() }

  package func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
  ) { sink.start(core: core, wakeControl: wakeControl, onFailure: onFailure) }

  package func commandsPosted() { sink.commandsPosted() }

  package func close() { sink.close() }

  package func prepare(role: StreamRole, onSharing: @escaping @Sendable (SharingNotice) -> Void) {
    handler.update { $0 = onSharing }
  }

  package func setRole(_ role: StreamRole) {}

  package func endInterruption(overrulesServer: Bool) {}
}
