import PlayheadMediaCore

/// Waiting, stalls and resumption: the behaviour of a player whose audio is not available.
///
/// The mixer reports an underrun some time before it is heard (`pendingStall`). From then on (`isRebuffering`)
/// `PlayerCore` withholds the samples after the underrun, so that they are not heard in fragments. It releases them
/// when enough samples are decoded to avoid another stall soon. If that happens before the underrun is heard, nothing
/// is reported. Otherwise it is a stall: the player waits (`automaticallyWaits`) or pauses.
extension PlayerStateMachine {
  /// The buffer state of the current item, like AVPlayerItem's three flags.
  package struct BufferState: Sendable, Hashable {
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
    guard decoding != .idle, !isBufferDrained, let current = entries.first, let first = decodedPasses.first else {
      return false
    }
    return first.pass.itemID == current.id
  }

  package var bufferState: BufferState {
    let hasSamples = hasSamples
    return BufferState(
      isLikelyToKeepUp: hasSamples && !isRebuffering, isFull: isBufferFull && hasSamples, isEmpty: !hasSamples)
  }

  // MARK: - Requests

  /// Sets the rate of a player whose buffer may be empty (`isBufferEmpty`).
  ///
  /// - Parameter immediately: Whether to play the few samples that exist. Without any, a player that does not wait
  ///   automatically stays paused.
  package mutating func setRate(_ newRate: Double, isBufferEmpty: Bool, immediately: Bool = false) -> [Action] {
    guard newRate != 0 else { return setRate(0) }
    guard isBufferEmpty, !entries.isEmpty, !hasPassedEnd else {
      if immediately { resumeAfterUnderrun() }
      return setRate(newRate)
    }
    if immediately, !automaticallyWaits { return setRate(0) }
    guard rate == 0, decoding == .active, !decodedPasses.isEmpty else { return setRate(newRate) }
    let actions = setRate(newRate)
    // The player was paused, so this is no stall to report.
    isRendering = false
    // Without automatic waiting playback starts with the first sample.
    isRebuffering = automaticallyWaits
    pendingStall = nil
    isBufferDrained = true
    return actions
  }

  /// Sets whether stalls end automatically. If not, audio that is withheld after an underrun is released at once.
  package mutating func setAutomaticallyWaits(_ waits: Bool) -> [Action] {
    automaticallyWaits = waits
    if !waits { resumeAfterUnderrun() }
    return []
  }

  /// Releases the audio that is decoded after an underrun.
  private mutating func resumeAfterUnderrun() {
    guard isRebuffering else { return }
    isRebuffering = false
    pendingStall = nil
    isRendering = rate != 0
  }

  // MARK: - The decode thread

  /// Handles a report of the decode thread: enough audio is decoded after the underrun to resume playback.
  package mutating func becameLikelyToKeepUp(generation: UInt64) -> [Action] {
    guard generation == self.generation, decoding == .active else { return [] }
    endUnderrun()
    return []
  }

  /// Ends an underrun: enough audio is available.
  mutating func endUnderrun() {
    isBufferDrained = false
    resumeAfterUnderrun()
  }

  /// Handles a pause of the decode thread, which has decoded the requested amount or everything.
  package mutating func decodingPaused(generation: UInt64) -> [Action] {
    guard generation == self.generation, decoding == .active else { return [] }
    isBufferFull = true
    return becameLikelyToKeepUp(generation: generation)
  }

  /// Handles the resumption of the decode thread.
  package mutating func decodingResumed() -> [Action] {
    isBufferFull = false
    return []
  }

  // MARK: - Mixer

  /// Handles the start of audio in the mixer.
  package mutating func audioStarted() -> [Action] {
    // Audio that was rendered before the samples were withheld does not count.
    guard !isRebuffering else { return [] }
    isRendering = rate != 0
    isBufferDrained = false
    isWaitingForStartTime = false
    return []
  }

  /// Handles an underrun of the mixer, which is not heard yet. Samples that arrive in time prevent a stall.
  package mutating func underrunOccurred() -> [Action] {
    guard rate != 0, !isRebuffering else { return [] }
    if case .preparing(let next) = decoding, next.isContinuation {
      // The continuation at another rate is late: all current audio has been rendered.
      pendingStall = next.itemID
      return []
    }
    guard decoding == .active else { return [] }
    isBufferDrained = true
    // All passes are decoded to their end: the next item is still being opened. That is no stall.
    guard let last = decodedPasses.last, !isLastPassComplete else { return [] }
    // Nor is it a stall if nothing has been heard yet and samples are not withheld.
    guard isRendering || automaticallyWaits else { return [] }
    isRebuffering = true
    // The underrun may be in an item after the audible one.
    pendingStall = last.pass.itemID
    return []
  }

  /// Handles the moment at which the pending underrun is heard.
  package mutating func stallHeard() -> [Action] {
    defer { pendingStall = nil }
    guard let id = pendingStall, isRebuffering || requestInPreparation?.isContinuation == true else { return [] }
    isRendering = false
    guard !automaticallyWaits else { return [.emit(.stalled(id))] }
    return [.emit(.stalled(id))] + setRate(0)
  }
}
