import MediaCore

/// Waiting, stalls and resumption: the behaviour of a player whose audio is not available.
///
/// The mixer reports an underrun some time before it is heard (`untoldStall`). From then on (`isStarved`) `PlayerCore`
/// holds back the samples after the underrun, so that they are not heard in fragments. The samples are released when
/// enough are decoded that no other stall is expected at once. If that happens before the underrun is heard, nothing is
/// reported. Otherwise it is a stall: the player waits (`automaticallyWaits`) or pauses.
extension PlayerStateMachine {
  /// The buffer state of the current item, like AVPlayerItem's three flags.
  package struct Buffer: Sendable, Hashable {
    package var isLikelyToKeepUp = false
    package var isFull = false
    package var isEmpty = true

    package init(isLikelyToKeepUp: Bool = false, isFull: Bool = false, isEmpty: Bool = true) {
      self.isLikelyToKeepUp = isLikelyToKeepUp
      self.isFull = isFull
      self.isEmpty = isEmpty
    }
  }

  /// Whether the current item has decoded samples that have not been heard.
  private var hasSamples: Bool {
    guard decoding != .idle, !isDry, let current = entries.first, let first = decoded.first else { return false }
    return first.pass.itemID == current.id
  }

  package var buffer: Buffer {
    let hasSamples = hasSamples
    return Buffer(
      isLikelyToKeepUp: hasSamples && !isStarved, isFull: isBufferFull && hasSamples, isEmpty: !hasSamples)
  }

  // MARK: - Requests

  /// Sets the rate of a player whose buffer may be empty (`isBufferEmpty`).
  ///
  /// - Parameter immediately: Whether to play the few samples that exist. Without any, a player that does not wait
  ///   automatically stays paused.
  package mutating func setRate(_ newRate: Double, isBufferEmpty: Bool, immediately: Bool = false) -> [Action] {
    guard newRate != 0 else { return setRate(0) }
    guard isBufferEmpty, !entries.isEmpty, !hasPassedEnd else {
      if immediately { goOn() }
      return setRate(newRate)
    }
    if immediately, !automaticallyWaits { return setRate(0) }
    guard rate == 0, decoding == .active, !decoded.isEmpty else { return setRate(newRate) }
    let actions = setRate(newRate)
    // The player was paused, so this is no stall to report.
    isSounding = false
    // Without automatic waiting playback starts with the first sample.
    isStarved = automaticallyWaits
    untoldStall = nil
    isDry = true
    return actions
  }

  package mutating func setAutomaticallyWaits(_ waits: Bool) -> [Action] {
    automaticallyWaits = waits
    if !waits { goOn() }
    return []
  }

  /// Releases the audio that is decoded after an underrun.
  private mutating func goOn() {
    guard isStarved else { return }
    isStarved = false
    untoldStall = nil
    isSounding = rate != 0
  }

  // MARK: - The decode thread

  /// Enough audio is decoded after the underrun to resume playback.
  package mutating func keepsUp(generation: UInt64) -> [Action] {
    guard generation == self.generation, decoding == .active else { return [] }
    endStarvation()
    return []
  }

  /// Ends an underrun: enough audio is available.
  mutating func endStarvation() {
    isDry = false
    goOn()
  }

  /// The decode thread pauses: it has decoded the requested amount, or everything.
  package mutating func rested(generation: UInt64) -> [Action] {
    guard generation == self.generation, decoding == .active else { return [] }
    isBufferFull = true
    return keepsUp(generation: generation)
  }

  /// The decode thread resumes.
  package mutating func roomAppeared() -> [Action] {
    isBufferFull = false
    return []
  }

  // MARK: - Mixer

  package mutating func soundBegan() -> [Action] {
    // Audio that was rendered before the samples were withheld does not count.
    guard !isStarved else { return [] }
    isSounding = rate != 0
    isDry = false
    isStartHeld = false
    return []
  }

  /// An underrun of the mixer, which is not heard yet. Samples that arrive before that prevent a stall.
  package mutating func starved() -> [Action] {
    guard rate != 0, !isStarved else { return [] }
    if case .preparing(let next) = decoding, next.isContinuation {
      // The continuation at another rate is late: all current audio has been rendered.
      untoldStall = next.itemID
      return []
    }
    guard decoding == .active else { return [] }
    isDry = true
    // All passes are decoded to their end: the next item is still being opened. That is no stall.
    guard let last = decoded.last, !isLastEnded else { return [] }
    // Nor is it a stall if nothing has been heard yet and samples are not withheld.
    guard isSounding || automaticallyWaits else { return [] }
    isStarved = true
    // The underrun may be in an item after the audible one.
    untoldStall = last.pass.itemID
    return []
  }

  /// The underrun is heard now.
  package mutating func stallHeard() -> [Action] {
    defer { untoldStall = nil }
    guard let id = untoldStall, isStarved || requestInPreparation?.isContinuation == true else { return [] }
    isSounding = false
    guard !automaticallyWaits else { return [.emit(.stalled(id))] }
    return [.emit(.stalled(id))] + setRate(0)
  }
}
