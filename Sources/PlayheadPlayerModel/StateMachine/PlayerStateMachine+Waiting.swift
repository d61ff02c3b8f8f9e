import PlayheadMediaCore

/// Waiting, stalls and resumption: the behaviour of a player whose audio is not available.
///
/// If the samples after an underrun are released before it is heard (`Buffering`), nothing is reported. Otherwise it is
/// a stall: the player waits (`automaticallyWaits`) or pauses.
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
    guard !buffering.isDrained, let current = entries.first else { return false }
    return decodedPasses.first?.pass.itemID == current.id
  }

  package var bufferState: BufferState {
    let hasSamples = hasSamples
    return BufferState(
      isLikelyToKeepUp: hasSamples && !buffering.isRebuffering, isFull: progress.isPaused && hasSamples,
      isEmpty: !hasSamples)
  }

  // MARK: - Requests

  /// Sets the rate of a player whose buffer may be empty (`isBufferEmpty`).
  ///
  /// - Parameter immediately: Whether to play the few samples that exist. Without any, a player that does not wait
  ///   automatically stays paused.
  package mutating func setRate(_ newRate: Double, isBufferEmpty: Bool, immediately: Bool = false) -> [Action] {
    guard newRate != 0 else { return pause() }
    guard isBufferEmpty, !entries.isEmpty, !heardEnd.isPassed else {
      if immediately { buffering.release() }
      return setRate(newRate)
    }
    if immediately, !intent.automaticallyWaits { return pause() }
    guard rate == 0, progress.isActive, !decodedPasses.isEmpty else { return setRate(newRate) }
    let actions = setRate(newRate)
    buffering.playDrained(withholds: intent.automaticallyWaits)
    return actions
  }

  /// Sets whether stalls end automatically. If not, audio that is withheld after an underrun is released at once.
  package mutating func setAutomaticallyWaits(_ waits: Bool) -> [Action] {
    intent.setAutomaticallyWaits(waits)
    if !waits { buffering.release() }
    return []
  }

  // MARK: - The decode thread

  /// Handles a report of the decode thread: enough audio is decoded after the underrun to resume playback.
  package mutating func becameLikelyToKeepUp(generation: UInt64) -> [Action] {
    if generation == self.generation, progress.isActive { buffering.refilled() }
    return []
  }

  /// Handles a pause of the decode thread, which has decoded the requested amount or everything.
  package mutating func decodingPaused(generation: UInt64) -> [Action] {
    guard generation == self.generation, progress.isActive else { return [] }
    progress.paused(true)
    return becameLikelyToKeepUp(generation: generation)
  }

  /// Handles the resumption of the decode thread.
  package mutating func decodingResumed() -> [Action] {
    progress.paused(false)
    return []
  }

  // MARK: - Mixer

  /// Handles the start of audio in the mixer.
  package mutating func audioStarted() -> [Action] {
    // Audio that was rendered before the samples were withheld does not count.
    guard !buffering.isRebuffering else { return [] }
    buffering.audioStarted(isPlaying: rate != 0)
    intent.setWaitingForStartTime(false)
    return []
  }

  /// Handles an underrun of the mixer, which is not heard yet. Samples that arrive in time prevent a stall.
  package mutating func underrunOccurred() -> [Action] {
    guard rate != 0, !buffering.isRebuffering else { return [] }
    if let next = requestInPreparation, next.isContinuation {
      // The continuation at another rate is late: all current audio has been rendered.
      buffering.continuationWasLate(of: next.itemID)
    } else if progress.isActive {
      // If all passes are decoded to their end, the next item is still being opened. That is no stall. Otherwise the
      // underrun may be in an item after the audible one.
      let id = progress.isLastPassComplete ? nil : decodedPasses.last?.pass.itemID
      buffering.underrunOccurred(in: id, withholds: intent.automaticallyWaits)
    }
    return []
  }

  /// Handles the moment at which the pending underrun is heard.
  package mutating func stallHeard() -> [Action] {
    let isAwaitingContinuation = requestInPreparation?.isContinuation == true
    guard let id = buffering.stallHeard(isAwaitingContinuation: isAwaitingContinuation) else { return [] }
    return [.emit(.stalled(id))] + (intent.automaticallyWaits ? [] : pause())
  }
}
