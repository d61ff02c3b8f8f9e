import PlayheadMediaCore

/// A sink without a device that runs in real time: `null`, `wav:` and `pipe:`.
///
/// One thread renders blocks of 20 ms. A block counts as heard from the time at which it is rendered; at its end the
/// thread passes it to the writer. Commands in the middle of a block rewind to the current frame, and the rest of the
/// block is rendered again. While no input is active the thread sleeps without a deadline.
///
/// Threading: that thread is the sink's side; `control` synchronizes it with `commandsPosted` and `close`.
public final class TimedSink: AudioSink, @unchecked Sendable {
  // `@unchecked Sendable`: `thread` is written by `start` and `close`, which the owner calls one after the other.
  private struct Control {
    var hasPendingCommands = false
    var isClosed = false
  }

  public let label: String
  private let format: AudioFormat
  private let makeWriter: (@Sendable (_ shouldStop: @escaping @Sendable () -> Bool) -> any SampleWriter)?
  private let control = ConditionMutex(Control())
  private var writer: (any SampleWriter)?
  private var thread: NamedThread?

  /// Creates a sink that discards the audio.
  public static func null(format: AudioFormat) -> TimedSink {
    TimedSink(label: "null", format: format, makeWriter: nil)
  }

  /// Creates a sink that writes the audio to a file.
  public static func file(
    path: String, container: SampleFileWriter.Container, encoding: SampleEncoding, format: AudioFormat
  ) -> TimedSink {
    TimedSink(label: "\(container == .wav ? "wav" : "pipe"):\(path)", format: format) { shouldStop in
      SampleFileWriter(path: path, container: container, encoding: encoding, shouldStop: shouldStop)
    }
  }

  /// Creates a sink that passes the audio to the writer of `makeWriter`, or discards the audio if nil.
  init(
    label: String, format: AudioFormat,
    makeWriter: (@Sendable (_ shouldStop: @escaping @Sendable () -> Bool) -> any SampleWriter)?
  ) {
    self.label = label
    self.format = format
    self.makeWriter = makeWriter
  }

  public func open() throws(MediaError) -> AudioFormat {
    if let makeWriter {
      let control = control
      let writer = makeWriter { control.withState { $0.isClosed } }
      try writer.begin(format: format)
      self.writer = writer
    }
    return format
  }

  public func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (MediaError) -> Void
  ) {
    let loop = Loop(core: core, writer: writer, wakeControl: wakeControl, onFailure: onFailure, control: control)
    writer = nil
    thread = NamedThread(name: "playhead-\(label.prefix(4))") { loop.run() }
  }

  /// The time that the thread needs to wake up.
  public var commandLeadNanoseconds: Int64 { 5_000_000 }

  public func commandsPosted() { control.update { $0.hasPendingCommands = true } }

  public func close() {
    control.update { $0.isClosed = true }
    thread?.join()
    thread = nil
    // The writer is still here if the sink was opened and never started.
    writer?.finish()
    writer = nil
  }

  // MARK: - Thread

  /// The state that the thread owns.
  private final class Loop: @unchecked Sendable {
    // `@unchecked Sendable`: passed to the thread at its start and used only there.
    let core: RenderCore
    let writer: (any SampleWriter)?
    let wakeControl: @Sendable () -> Void
    let onFailure: @Sendable (MediaError) -> Void
    let control: ConditionMutex<Control>
    let block: UnsafeMutablePointer<Float>
    let blockFrames: Int
    /// The first frame of the current block, and the time at which it began.
    var blockFrame: Int64 = 0
    var blockStart = HostTime(nanoseconds: 0)
    var isRunning = false

    enum Wakeup { case closed, commands, blockEnd }

    init(
      core: RenderCore, writer: (any SampleWriter)?, wakeControl: @escaping @Sendable () -> Void,
      onFailure: @escaping @Sendable (MediaError) -> Void, control: ConditionMutex<Control>
    ) {
      self.core = core
      self.writer = writer
      self.wakeControl = wakeControl
      self.onFailure = onFailure
      self.control = control
      blockFrames = max(1, core.format.sampleRateHz / 50)
      block = .allocate(capacity: blockFrames * core.format.channelCount)
    }

    deinit { block.deallocate() }

    var blockEnd: HostTime {
      blockStart.advanced(byNanoseconds: Int64(blockFrames) * 1_000_000_000 / Int64(core.format.sampleRateHz))
    }

    func run() {
      defer { writer?.finish() }
      while true {
        switch nextWakeup() {
        case .closed: return
        case .commands: isRunning ? renderRestOfBlock() : startClock()
        case .blockEnd:
          if let error = finishBlock() {
            onFailure(error)
            return
          }
        }
        if core.consumeWakeRequest() { wakeControl() }
      }
    }

    private func nextWakeup() -> Wakeup {
      let wakeup = control.wait(until: isRunning ? blockEnd : nil) { control -> Wakeup? in
        if control.isClosed { return .closed }
        if control.hasPendingCommands {
          control.hasPendingCommands = false
          return .commands
        }
        return nil
      }
      return wakeup ?? .blockEnd
    }

    /// Starts the clock if an input is active.
    private func startClock() {
      core.applyCommands()
      guard core.isActive else { return }
      isRunning = true
      blockStart = .now
      startBlock()
      // The engine may wait for the clock to run.
      wakeControl()
    }

    private func startBlock() {
      blockFrame = core.renderedFrame
      core.render(into: block, frameCount: blockFrames)
      core.clock.publish(heardFrame: blockFrame, at: blockStart, isRunning: true)
    }

    private func renderRestOfBlock() {
      let heard = core.clock.snapshot().heardFrame(at: .now)
      let frame = core.rewind(toFrame: heard)
      let rest = Int(blockFrame) + blockFrames - Int(frame)
      core.render(into: block + (blockFrames - rest) * core.format.channelCount, frameCount: rest)
    }

    /// Ends the block: writes it and starts the next, or stops. Returns the writer's error.
    private func finishBlock() -> MediaError? {
      if let writer {
        do throws(MediaError) { try writer.write(block, frameCount: blockFrames) } catch { return error }
      }
      let end = blockFrame + Int64(blockFrames)
      core.release(heardFrame: end)
      if !core.isActive, core.lastAudibleFrame <= end {
        isRunning = false
        core.clock.publish(heardFrame: end, at: blockEnd, isRunning: false)
        // The engine must read the clock once more, because the last frames have been heard.
        wakeControl()
        return nil
      }
      let lateness = HostTime.now.nanoseconds(since: blockEnd)
      // After a suspension of the machine the clock continues from now: audio is heard late, not skipped.
      blockStart = lateness > 200_000_000 ? .now : blockEnd
      startBlock()
      return nil
    }
  }
}
