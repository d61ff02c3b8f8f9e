import MediaCore
import RealtimeAudio

/// Names an observer until it is removed; unique within an engine.
public typealias ObserverToken = UInt64

/// Which device an engine plays on, and what to do without it.
public struct OutputConfiguration: Sendable {
  /// Makes the sink of a device of this name, of the default one for nil. Called anew for every attempt.
  public var makeSink: @Sendable (_ device: String?) -> any AudioSink
  /// What plays until the first device is there; nil: players wait.
  public var makeFallback: (@Sendable () -> any AudioSink)?
  /// What `LostDevicePolicy.null` and `OutputSelection.Target.silence` play on; nil: they cannot be had.
  public var makeSilence: (@Sendable () -> any AudioSink)?
  /// Makes who knows what devices there are. nil, or an answer of nil: there is one output, and when it is lost it never returns.
  public var makeMonitor: (@Sendable () -> (any AudioDeviceMonitor)?)?
  /// What is to be played on at first.
  public var selection: OutputSelection

  /// An output that is one of many devices, which come and go.
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

  /// An output of which there is one.
  public init(makeSink: @escaping @Sendable () -> any AudioSink) {
    self.init(makeSink: { _ in makeSink() }, makeMonitor: { nil })
    makeMonitor = nil
  }

  /// Whether players can hope for anything when the device cannot be had: a fallback, or a device to wait for. Without it
  /// an output that does not open never will.
  public var canRecover: Bool { makeFallback != nil || makeMonitor != nil }
}

/// What an engine plays on at the moment.
public struct OutputState: Sendable, Hashable {
  public enum Status: String, Sendable, Hashable {
    /// The device is being opened for the first time.
    case opening
    case ready
    /// The device takes no audio: its server hangs or asks for no more samples (PipeWire without links), or the device is
    /// suspended. Players wait with `WaitingReason.outputUnavailable`, their clocks stand, and no sample is lost.
    case unresponsive
    /// The fallback plays, until the device appears; `error` says why.
    case fallback
    /// Nothing plays; players wait. `error` says why.
    case lost
    case closed
  }

  public var status = Status.opening
  /// As `AudioSink.label`; empty while nothing is open.
  public var label = ""
  public var format: AudioFormat?
  public var error: MediaError?
}

/// What happens around an output, for `PlaybackEngine.observeRoutes`.
public enum OutputEvent: Sendable, Hashable {
  /// The sound server has these devices now; nil: none answers.
  case devices(AudioDevices?)
  /// Sound takes another way.
  case route(RouteChange)
  /// Something else is to be played on.
  case selection(OutputSelection)
}

/// Who plays on an output. Called on the control loop.
protocol OutputClient: AnyObject {
  func outputDidStart()
  func outputWillStop()
  /// What it played on is gone, or unplugged: it is to pause rather than to be heard out of something else.
  func outputRouteWasLost()
  /// The device takes no sound (`isStalled`), or takes it again; nothing was lost.
  func outputDidStall(_ isStalled: Bool)
  func handle(_ event: RenderEvent)
  /// All events that waited have been handled.
  func didHandleEvents()
}
