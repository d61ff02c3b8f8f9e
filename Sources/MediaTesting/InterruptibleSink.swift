import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A sink without a device. A test interrupts it like PulseAudio's `module-role-cork`. Threading: any thread.
public final class InterruptibleSink: SharedDeviceSink {
  private let sink = TimedSink.null(format: AudioFormat(sampleRateHz: 48_000, channelCount: 2))
  private let handler = ConditionMutex<(@Sendable (SharingNotice) -> Void)?>(nil)

  public init() {}

  /// Reports the start or end of an interruption to the output.
  public func notice(_ notice: SharingNotice) { handler.withState { $0 }?(notice) }

  // MARK: - SharedDeviceSink

  public var label: String { sink.label }

  public func open() throws(MediaError) -> AudioFormat { try sink.open() }

  public func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
  ) { sink.start(core: core, wakeControl: wakeControl, onFailure: onFailure) }

  public func commandsPosted() { sink.commandsPosted() }

  public func close() { sink.close() }

  public func prepare(role: StreamRole, onSharing: @escaping @Sendable (SharingNotice) -> Void) {
    handler.update { $0 = onSharing }
  }

  public func setRole(_ role: StreamRole) {}

  public func endInterruption(overrulesServer: Bool) {}
}
