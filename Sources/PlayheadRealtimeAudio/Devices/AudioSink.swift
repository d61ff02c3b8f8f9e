import PlayheadMediaCore

/// A device, or a substitute for a device, that pulls audio from a `RenderCore`.
///
/// Lifecycle: `open` → `start` → any number of `commandsPosted` → `close`.
///
/// The sink calls the core from one thread at a time: code that runs there is on the *sink's side*. The sink does the
/// following:
/// - renders ahead by its latency,
/// - publishes the heard frame to `core.clock`,
/// - releases the frames that it will never request again.
///
/// When commands are pending, the sink makes them audible as soon as possible: it rewinds the core to just after the
/// device's read position, renders again and overwrites the buffered audio. The sink stops the device (no wakeups at
/// all) when the core is not active and `core.lastAudibleFrame` has been heard.
public protocol AudioSink: AnyObject, Sendable {
  /// The sink's text form, for users and for `output.status`: `pulse:NAME`, `null`, `wav:PATH`, `pipe:PATH`, `virtual`.
  var label: String { get }

  /// The device that plays the audio, as its sound server names it; nil before `open`, and without a sound server.
  var deviceName: String? { get }

  /// Registers `handler` for device events that do not end the sink. Call it before `start`. `handler` is called from
  /// any thread and must not block.
  func observeDevice(_ handler: @escaping @Sendable (DeviceNotice) -> Void)

  /// Opens the device and returns the format at which it will run. Afterwards the device is idle.
  ///
  /// Blocks, at most for the sink's timeout: do not call it on the control loop.
  func open() throws(MediaError) -> AudioFormat

  /// Begins to serve `core`. Call it once, after `open`.
  ///
  /// - Parameters:
  ///   - core: The mixer, whose audio the sink plays.
  ///   - wakeControl: Called from the sink's side after rendering, whenever `core.consumeWakeRequest()` returns true,
  ///     and when the clock begins to run. The closure must not block.
  ///   - onFailure: Called at most once, from any thread, when the device is lost. Afterwards only `close` may be
  ///     called.
  func start(
    core: RenderCore, wakeControl: @escaping @Sendable () -> Void,
    onFailure: @escaping @Sendable (MediaError) -> Void)

  /// Notifies the sink that commands are pending in the core. Any thread; never blocks.
  func commandsPosted()

  /// The maximum duration of audio that counts as heard, but is lost if the stream ends now, in ns. Default: 0. Any
  /// thread.
  var possibleLossNanoseconds: Int64 { get }

  /// The minimum time between posting a command and hearing the frame at which it applies, while the device runs, in
  /// ns. Default: 0. Any thread.
  var commandLeadNanoseconds: Int64 { get }

  /// Ends the sink. Blocks until none of its callbacks runs; not from the sink's side. Idempotent.
  func close()
}

extension AudioSink {
  public var deviceName: String? { nil }
  public var possibleLossNanoseconds: Int64 { 0 }
  public var commandLeadNanoseconds: Int64 { 0 }

  /// Does nothing: the device of this sink has no events.
  public func observeDevice(_ handler: @escaping @Sendable (DeviceNotice) -> Void) {}
}

/// An event of a sink's device that does not end the sink.
public enum DeviceNotice: Sendable, Hashable {
  /// Another program moved the stream: the audio now goes to the device of this name.
  case moved(to: String)
  /// The device consumes no audio: its server hangs or requests no samples, or the device is suspended. No audio is
  /// lost, and the clock is paused.
  case stalled
  /// The device consumes audio again, from the frame at which it stopped.
  case resumed
}
