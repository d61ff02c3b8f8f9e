import MediaCore

/// A device, or what stands for one, that pulls sound from a `RenderCore`.
///
/// Life: `open` → `start` → any number of `commandsPosted` → `close`. The sink calls the core from one thread at a time
/// (its *side*): renders ahead by its latency, publishes what is heard to `core.clock`, and releases what it will never
/// ask for again. When commands are waiting it makes them heard as soon as it can: it rewinds the core to just after
/// the device's read position, renders again and overwrites what is queued. It stops the device (no wakeups at all) when
/// the core is not active and `core.lastAudibleFrame` has been heard.
public protocol AudioSink: AnyObject, Sendable {
  /// What it is, for people and for `output.status`: `pulse:NAME`, `null`, `wav:PATH`, `pipe:PATH`, `virtual`.
  var label: String { get }

  /// The device that the sound goes to, as its sound server names it; nil before `open`, and without a sound server.
  var deviceName: String? { get }

  /// Has `handler` called with what the device does by itself and the sink outlives. Before `start`; from any thread; it
  /// must not block.
  func observeDevice(_ handler: @escaping @Sendable (DeviceNotice) -> Void)

  /// Opens the device and tells the format that it will run at. Blocks, at most for the sink's own time-out: not on the
  /// control loop. Afterwards the device is there and idle.
  func open() throws(MediaError) -> AudioFormat

  /// Begins to serve `core`. Once, after `open`.
  ///
  /// `wakeControl` is called from the sink's side after rendering, whenever `core.takeWakeRequest()` says that events
  /// wait, and when the clock begins to run; it must not block. `onFailure` is called at most once, from any thread, when the device is gone; after it
  /// only `close` remains.
  func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void,
    onFailure: @escaping @Sendable (MediaError) -> Void)

  /// Commands wait in the core. Any thread; never blocks.
  func commandsPosted()

  /// How much of what the clock says is heard may never be when the stream ends now, in ns. Any thread.
  var doubtNanoseconds: Int64 { get }

  /// How long before a frame is heard its commands have to be posted while the device runs, in ns. Default: 0. Any thread.
  var commandLeadNanoseconds: Int64 { get }

  /// Ends the sink. Blocks until none of its callbacks runs; not from the sink's own side. Idempotent.
  func close()
}

extension AudioSink {
  public var deviceName: String? { nil }
  public var doubtNanoseconds: Int64 { 0 }
  public var commandLeadNanoseconds: Int64 { 0 }

  /// A sink whose device does nothing by itself.
  public func observeDevice(_ handler: @escaping @Sendable (DeviceNotice) -> Void) {}
}

/// What happens to a sink's device without ending the sink.
public enum DeviceNotice: Sendable, Hashable {
  /// The sound goes to the device of this name from now on: somebody moved the stream.
  case moved(to: String)
  /// The device takes no audio: its server hangs or asks for no more samples, or the device is suspended. Nothing is
  /// lost; the clock stands.
  case stoppedAnswering
  /// It takes sound again, from where it was.
  case answersAgain
}
