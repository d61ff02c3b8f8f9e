import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The devices on which an engine plays, and its behaviour without one.
///
/// <!-- listing: output-configuration -->
/// ```swift
/// let configuration = OutputConfiguration.automatic(selection: OutputSelection(preferred: ["alsa_output.usb"]))
/// ```
public struct OutputConfiguration: Sendable {
  /// Creates the sink for the device with this name; nil means the default device. Called again for every attempt.
  public var makeSink: @Sendable (_ device: String?) -> any AudioSink
  /// Creates the sink that plays until the first device is available. If nil, players wait.
  public var makeFallback: (@Sendable () -> any AudioSink)?
  /// Creates the sink for `LostDevicePolicy.null` and ``OutputSelection/Target/silence``. If nil, neither is available.
  public var makeSilence: (@Sendable () -> any AudioSink)?
  /// Creates the monitor of available devices. If it is nil or returns nil, there is a single output, which cannot be
  /// recovered when it is lost.
  public var makeMonitor: (@Sendable () -> (any AudioDeviceMonitor)?)?
  /// The initial selection.
  public var selection: OutputSelection

  /// Creates a configuration for an output with several devices, which can appear and disappear.
  public init(
    selection: OutputSelection = OutputSelection(), makeSink: @escaping @Sendable (_ device: String?) -> any AudioSink,
    makeFallback: (@Sendable () -> any AudioSink)? = nil, makeSilence: (@Sendable () -> any AudioSink)? = nil,
    makeMonitor: @escaping @Sendable () -> (any AudioDeviceMonitor)?
  ) {
    self.selection = selection
    self.makeSink = makeSink
    self.makeFallback = makeFallback
    self.makeSilence = makeSilence
    self.makeMonitor = makeMonitor
  }

  /// Creates a configuration for a single output.
  public init(makeSink: @escaping @Sendable () -> any AudioSink) {
    self.init(makeSink: { _ in makeSink() }, makeMonitor: { nil })
    makeMonitor = nil
  }

  /// Whether playback can recover when the device is unavailable: by a fallback, or by waiting for a device. Without
  /// both, a failed open of the output is final.
  public var canRecover: Bool { makeFallback != nil || makeMonitor != nil }
}

/// The current state of an engine's output.
public struct OutputState: Sendable, Hashable {
  /// Whether audio can be heard.
  public enum Status: String, Sendable, Hashable {
    /// The device is being opened for the first time.
    case opening
    /// The device plays, or is ready to play.
    case ready
    /// The device accepts no audio. The server hangs or requests no samples (PipeWire without links), or the device is
    /// suspended. Players wait with ``WaitingReason/outputUnavailable``, their clocks stop, and no sample is lost.
    case unresponsive
    /// The fallback plays until the device appears; `error` states the reason.
    case fallback
    /// Nothing plays and players wait; `error` states the reason.
    case lost
    /// The engine was closed.
    case closed
  }

  /// Whether audio can be heard.
  public var status = Status.opening
  /// As `AudioSink.label`; empty while no sink is open.
  public var label = ""
  /// The format of the output; nil while no sink is open.
  public var format: AudioFormat?
  /// The reason of the status `fallback` or `lost`; nil while the selected device is used.
  public var error: MediaError?
}

/// An event of an output, for `PlaybackEngine.addRouteObserver`.
public enum OutputEvent: Sendable, Hashable {
  /// The current devices of the sound server; nil if no server is available.
  case devices(AudioDevices?)
  /// The route of the audio changed.
  case route(RouteChange)
  /// The selection of the output changed.
  case selection(OutputSelection)
}

/// A user of an output. Its methods are called on the control loop.
protocol OutputClient: AnyObject {
  func outputDidStart()
  func outputWillStop()
  /// Pauses the client, because the device disappeared or was unplugged and playback must not continue on another
  /// device.
  func outputRouteWasLost()
  /// The device accepts no audio (`isStalled`), or accepts it again. No sample is lost.
  func outputDidStall(_ isStalled: Bool)
  func handle(_ event: RenderEvent)
  /// All pending events have been handled.
  func didHandleEvents()
}
