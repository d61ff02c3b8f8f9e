/// The audio of a player in the mixer: whether it is rendered, and the underruns. A pure value.
///
/// The mixer reports an underrun some time before it is heard. From then on, new samples are withheld, so that they are
/// not heard in fragments. They are released when enough of them are decoded.
package struct Buffering: Sendable, Hashable {
  package typealias ItemID = PlayerItemID

  package enum State: Sendable, Hashable {
    /// Samples are rendered as soon as they are decoded.
    case flowing(Flow)
    /// A continuation is late: the mixer has rendered all audio before it. The stall of the item is not heard yet.
    case late(ItemID, Flow)
    /// New samples are withheld after an underrun in the item, which is not heard yet.
    case underrun(ItemID, isRendering: Bool)
    /// New samples are withheld, and nothing is heard.
    case stalled
  }

  /// The samples that are not withheld.
  package struct Flow: Sendable, Hashable {
    /// Whether the mixer renders audio of this player.
    var isRendering = false
    /// Whether an underrun occurred, and no samples are known to have arrived since.
    var isDrained = false
  }

  package private(set) var state = State.flowing(Flow())

  init() {}

  // MARK: - Derived state

  private var flow: Flow {
    get {
      switch state {
      case .flowing(let flow), .late(_, let flow): flow
      case .underrun(_, let isRendering): Flow(isRendering: isRendering, isDrained: true)
      case .stalled: Flow(isDrained: true)
      }
    }
    set {
      switch state {
      case .flowing: state = .flowing(newValue)
      case .late(let id, _): state = .late(id, newValue)
      case .underrun(let id, _): state = .underrun(id, isRendering: newValue.isRendering)
      case .stalled: break
      }
    }
  }

  /// Whether the mixer renders audio of this player.
  package var isRendering: Bool { flow.isRendering }

  /// Whether an underrun occurred, and no samples are known to have arrived since.
  package var isDrained: Bool { flow.isDrained }

  /// Whether new samples are not played until enough are decoded.
  package var isRebuffering: Bool {
    switch state {
    case .flowing, .late: false
    case .underrun, .stalled: true
    }
  }

  /// The item of an underrun that has not been heard yet.
  package var pendingStall: ItemID? {
    switch state {
    case .late(let id, _), .underrun(let id, _): id
    case .flowing, .stalled: nil
    }
  }

  // MARK: - Requests

  /// Handles the request to pause, or the removal of all audio.
  mutating func pause() { state = .flowing(Flow(isDrained: isDrained)) }

  /// Handles the request to play audio that is already decoded.
  mutating func playDecoded() { flow.isRendering = true }

  /// Handles the request to play while all decoded audio has been heard. This is no stall to report.
  ///
  /// - Parameter withholds: Whether enough samples must be decoded first. If false, playback starts with the first one.
  mutating func playDrained(withholds: Bool) { state = withholds ? .stalled : .flowing(Flow(isDrained: true)) }

  /// Releases the withheld samples, however few.
  mutating func release() {
    if isRebuffering { state = .flowing(Flow(isRendering: true, isDrained: true)) }
  }

  /// Handles a new stream that replaces the current one: it has no underrun yet.
  mutating func streamRequested() { state = .flowing(Flow(isRendering: isRendering)) }

  // MARK: - The decode thread

  /// Handles the first samples of the requested stream, with which a late continuation has arrived.
  mutating func streamPrepared() {
    if case .late(_, let flow) = state { state = .flowing(flow) }
  }

  /// Handles enough samples to resume playback.
  mutating func refilled() {
    release()
    flow.isDrained = false
  }

  // MARK: - Mixer

  /// Handles the start of audio while no samples are withheld.
  mutating func audioStarted(isPlaying: Bool) {
    flow = Flow(isRendering: isPlaying)
  }

  /// Handles an underrun before a continuation of the item.
  mutating func continuationWasLate(of id: ItemID) { state = .late(id, flow) }

  /// Handles an underrun.
  ///
  /// - Parameters:
  ///   - id: The item that stalls when the underrun is heard; nil if all its samples were rendered.
  ///   - withholds: Whether samples are withheld even if nothing has been heard yet.
  mutating func underrunOccurred(in id: ItemID?, withholds: Bool) {
    flow.isDrained = true
    if let id, isRendering || withholds { state = .underrun(id, isRendering: isRendering) }
  }

  /// Handles the moment at which the pending underrun is heard. Returns the item that stalls; nil if samples have
  /// arrived in time.
  ///
  /// - Parameter isAwaitingContinuation: Whether a continuation is still in preparation.
  mutating func stallHeard(isAwaitingContinuation: Bool) -> ItemID? {
    switch state {
    case .flowing, .stalled: return nil
    case .underrun(let id, _):
      state = .stalled
      return id
    case .late(let id, let flow):
      state = .flowing(isAwaitingContinuation ? Flow(isDrained: flow.isDrained) : flow)
      return isAwaitingContinuation ? id : nil
    }
  }

  /// Handles the end of all decoded audio, which has been heard.
  mutating func audioEnded() { flow.isRendering = false }
}
