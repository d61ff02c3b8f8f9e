import Synchronization

/// A command from the engine to the sink's side. Plain data; `RenderCore.stage` enqueues it.
struct RenderCommand: BitwiseCopyable {
  enum Kind: BitwiseCopyable {
    case attach, detach, setRunning, setStream, scheduleStream, setGain, setMuted, setPan, setItemGain, setMetering
  }

  var kind: Kind
  var inputIndex: Int
  /// `setRunning`: whether the input runs. `setGain`: whether the input stops at the end of the ramp.
  var flag = false
  var stream: UnsafeMutablePointer<RenderStream.Storage>?
  /// The frame of `stream` at which reading begins.
  var streamFrame: Int64 = 0
  /// `setStream`: the output frame to which frame 0 of `stream` belongs; with `Int64.min`, reading begins at
  /// `streamFrame`.
  var anchorFrame: Int64 = .min
  /// `scheduleStream`: the frame of the current stream at which the input switches to `stream`.
  var atStreamFrame: Int64 = 0
  /// `setStream`, `scheduleStream`: the cross-fade from the previous stream.
  var switchFade = SwitchFade.none
  /// `setItemGain`: the ID of the stream, which may no longer exist, and of the item in it.
  var streamID: UInt64 = 0
  var itemID: UInt64 = 0
  /// `setGain`, `setMuted` and `setItemGain`: the gain. `setPan`: the left side's gain.
  var gain: Float = 1
  /// `setPan`: the right side's gain.
  var rightGain: Float = 1
  var rampFrameCount: Int64 = 0
  var curve = RampCurve.linear
  /// `setGain`: the ID that `RenderEvent.rampBegan` reports; 0: no report.
  var rampID: UInt64 = 0
  /// `setRunning`: the first output frame at which the input may play.
  var startFrame: Int64 = .min
  /// `setMetering`: the meter of the input; nil stops the measurement.
  var meter: UnsafeMutablePointer<InputMeter.Storage>?
}

/// The effect of pending commands on the audio that the device has not read yet.
public enum PendingEffect: BitwiseCopyable, Sendable {
  /// Some of the audio continues, or nothing changes. The change must be rendered at an exact frame.
  case mixes
  /// Other audio replaces all of the audio. The change need not be rendered at an exact frame.
  case replaces
  /// All audio stops at its current position.
  case silences
}

/// An event from the sink's side to the engine. Plain data, in order of occurrence.
///
/// Output frames are absolute numbers on the output's clock. The event `rewound` invalidates the rendering events from
/// its frame on; rendering reports them again.
/// - A run that extends beyond the frame continues without another event.
/// - A run that ended at or before the frame stays ended.
/// - The effects of a command at the frame itself (`stopped`, `streamSet`, `scheduleMissed`, `rampBegan`) stay.
package struct RenderEvent: BitwiseCopyable, Sendable {
  /// What happened.
  package enum Kind: BitwiseCopyable, Sendable {
    /// From `outputFrame` on, `inputIndex` plays stream `streamID` from its frame `streamFrame`.
    case runBegan
    /// The input underran at `outputFrame`: frame `streamFrame` was not written in time.
    case underrun
    /// The input became silent at `outputFrame`: the stream ended at `streamFrame`.
    case ended
    /// The input became silent at `outputFrame`, before frame `streamFrame`: it was stopped, its stream was replaced,
    /// or a ramp that stops the input ended.
    case stopped
    /// `setStream` was applied at `outputFrame`.
    case streamSet
    /// `scheduleStream` came too late: the frame had been rendered already. Nothing changed.
    case scheduleMissed
    /// Rendering restarts at `outputFrame`, for all inputs.
    case rewound
    /// The sink's side no longer uses stream `streamID`.
    case streamRetired
    /// Half of the ring of `streamID` is free, as its decode thread requested.
    case spaceAvailable
    /// `setGain` was applied at `outputFrame`: the ramp with the ID `streamID` begins there.
    case rampBegan
  }

  /// What happened.
  package var kind: Kind
  /// The affected input; -1 for all inputs.
  package var inputIndex: Int32
  /// The ID of the stream; for `rampBegan` that of the ramp.
  package var streamID: UInt64
  /// The output frame at which it happened.
  package var outputFrame: Int64
  /// The frame of the stream at which it happened.
  package var streamFrame: Int64

  @_noAllocation
  init(kind: Kind, inputIndex: Int32 = -1, streamID: UInt64 = 0, outputFrame: Int64 = 0, streamFrame: Int64 = 0) {
    self.kind = kind
    self.inputIndex = inputIndex
    self.streamID = streamID
    self.outputFrame = outputFrame
    self.streamFrame = streamFrame
  }
}

/// The sink's side of the command queue, which the compiler proves free of allocation.
extension DescriptorQueue where Element == RenderCommand {
  /// Removes and returns the oldest command; nil when the queue is empty.
  @_noAllocation
  borrowing func popCommand() -> RenderCommand? {
    let slot = positions.slotToRead()
    if slot < 0 { return nil }
    let command = storage[slot]
    positions.didRead()
    return command
  }

  /// Returns the command `offset` after the oldest without removing it; nil when there is none.
  @_noAllocation
  borrowing func peek(_ offset: Int) -> RenderCommand? {
    let slot = positions.slotToRead(offset: offset)
    return slot < 0 ? nil : storage[slot]
  }
}

/// The queue of events from the sink's side to the engine. Counts the events that do not fit.
struct RenderEventQueue: ~Copyable {
  let queue = DescriptorQueue<RenderEvent>(capacity: 4_096)
  /// The number of lost events of any kind: a lost `streamRetired` or `spaceAvailable` is as serious as any other.
  let lostCount = Atomic<Int>(0)

  /// Adds an event, which the engine can read after `publish`, or counts it as lost.
  @_noAllocation
  borrowing func post(_ event: RenderEvent) {
    let slot = queue.positions.slotToWrite()
    if slot < 0 {
      _ = lostCount.wrappingAdd(1, ordering: .relaxed)
      return
    }
    (queue.storage + slot).initialize(to: event)
    queue.positions.didWrite()
  }

  /// Publishes all posted events at once, so that the engine never reads `streamSet` without the `runBegan` after it.
  @_noAllocation
  borrowing func publish() { queue.positions.publish() }
}
