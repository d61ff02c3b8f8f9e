import Synchronization

/// What the engine tells the render side. Plain data; `RenderCore.post` carries it across.
struct RenderCommand: BitwiseCopyable {
  enum Kind: BitwiseCopyable {
    case attach, detach, setRunning, setStream, scheduleStream, setVolume, setMute, setPan, setLevel, setMeter
  }

  var kind: Kind
  var inputIndex: Int
  var flag = false
  var stream: UnsafeMutablePointer<RenderStream.Storage>?
  /// Where reading of `stream` begins.
  var streamFrame: Int64 = 0
  /// `setStream`: the output frame that frame 0 of `stream` belongs to; `Int64.min`: reading begins at `streamFrame`.
  var anchorFrame: Int64 = .min
  /// `scheduleStream`: the frame of the present stream at which `stream` takes over.
  var atStreamFrame: Int64 = 0
  /// `setStream`, `scheduleStream`: over how many frames the stream before and this one are faded across each other.
  var fadeFrameCount: Int64 = 0
  /// `setLevel`: the stream, by its number, for it may be gone; and the item in it.
  var streamID: UInt64 = 0
  var itemID: UInt64 = 0
  /// `setVolume`, `setMute` and `setLevel`: the gain. `setPan`: the left side's.
  var gain: Float = 1
  /// `setPan`: the right side's gain.
  var rightGain: Float = 1
  var rampFrameCount: Int64 = 0
  var curve = RampCurve.linear
  /// `setRunning`: the output frame from which on the input may sound.
  var beginFrame: Int64 = .min
  /// `setMeter`: where the input's sound is measured; nil ends it.
  var meter: UnsafeMutablePointer<InputMeter.Storage>?
}

/// What commands that wait make of the sound that the device has not read yet.
public enum PendingEffect: BitwiseCopyable, Sendable {
  /// Something of it goes on, or nothing is asked: what is changed has to be rendered anew from a frame that is known.
  case mixes
  /// None of it is heard, and something else is: where exactly it begins does not matter to what was before.
  case replaces
  /// All that sounds is to stop where it is.
  case silences
}

/// What the render side tells the engine. Plain data, in the order in which it happened.
///
/// Output frames are absolute numbers on the output's clock. `rewound` to a frame makes void what rendering brought from
/// that frame on; it will be said again. A run that went past the frame goes on without another word; one that ended at
/// or before it stays ended. What a command did at the frame itself (`stopped`, `streamSet`, `scheduleMissed`) stays.
public struct RenderEvent: BitwiseCopyable, Sendable {
  public enum Kind: BitwiseCopyable, Sendable {
    /// From `outputFrame` on, `inputIndex` sounds stream `streamID` from its frame `streamFrame`.
    case runBegan
    /// The input fell silent at `outputFrame`, before frame `streamFrame`: nothing was written in time.
    case starved
    /// The input fell silent at `outputFrame`: the stream ended at `streamFrame`.
    case ended
    /// The input fell silent at `outputFrame`, before frame `streamFrame`: it was stopped, or its stream replaced.
    case stopped
    /// `setStream` was applied at `outputFrame`.
    case streamSet
    /// `scheduleStream` came too late: the frame had been rendered already. Nothing was changed.
    case scheduleMissed
    /// Rendering starts again at `outputFrame`, for all inputs.
    case rewound
    /// The stream `streamID` is not used by the render side any more.
    case streamRetired
    /// Half of the ring of `streamID` is free; its decode thread had asked.
    case roomInStream
  }

  public var kind: Kind
  /// The input concerned; -1 where all are.
  public var inputIndex: Int32
  public var streamID: UInt64
  public var outputFrame: Int64
  public var streamFrame: Int64

  @_noAllocation
  init(kind: Kind, inputIndex: Int32 = -1, streamID: UInt64 = 0, outputFrame: Int64 = 0, streamFrame: Int64 = 0) {
    self.kind = kind
    self.inputIndex = inputIndex
    self.streamID = streamID
    self.outputFrame = outputFrame
    self.streamFrame = streamFrame
  }
}

/// The queue's render-side end, which the compiler proves free of allocation.
extension DescriptorQueue where Element == RenderCommand {
  /// The oldest command, removed; nil when there is none.
  @_noAllocation
  borrowing func take() -> RenderCommand? {
    let slot = positions.slotToRead()
    if slot < 0 { return nil }
    let command = storage[slot]
    positions.didRead()
    return command
  }

  /// The command `offset` behind the oldest, which stays; nil when there is none.
  @_noAllocation
  borrowing func peek(_ offset: Int) -> RenderCommand? {
    let slot = positions.slotToRead(offset: offset)
    return slot < 0 ? nil : storage[slot]
  }
}

/// The way of events from the render side to the engine, which counts what found no room.
struct RenderEventQueue: ~Copyable {
  let queue = DescriptorQueue<RenderEvent>(capacity: 4_096)
  /// Events of any kind that were lost; a lost `streamRetired` or `roomInStream` matters like the others.
  let lostCount = Atomic<Int>(0)

  /// Adds an event that the engine reads once it is published, or counts it as lost.
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

  /// Lets the engine read what was posted, all at once: it never sees a stream set without the sound that begins with it.
  @_noAllocation
  borrowing func publish() { queue.positions.publish() }
}
