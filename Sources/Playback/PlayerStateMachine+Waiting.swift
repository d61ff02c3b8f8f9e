import MediaCore

/// Waiting, stalling and going on: what a player does while the sound that it should play is not there.
///
/// The mixer runs out of samples some time before that is heard (`untoldStall`). From then on (`isStarved`) the runner
/// holds the stream there, so that what trickles in is not heard in shreds, until as much is decoded that playing will not
/// stall again at once. If that is before the place is heard, nothing has happened; otherwise it is a stall: a player that
/// waits by itself (`automaticallyWaits`) waits, one that does not pauses.
extension PlayerStateMachine {
  /// What is decoded ahead, as AVPlayerItem's three flags have it. Of the current item.
  struct Buffer: Sendable, Hashable {
    var isLikelyToKeepUp = false
    var isFull = false
    var isEmpty = true
  }

  /// Whether samples of the current item have been decoded that have not been heard.
  private var hasSamples: Bool {
    guard decoding != .idle, !isDry, let current = entries.first, let first = decoded.first else { return false }
    return first.pass.itemID == current.id
  }

  var buffer: Buffer {
    let hasSamples = hasSamples
    return Buffer(
      isLikelyToKeepUp: hasSamples && !isStarved, isFull: isBufferFull && hasSamples, isEmpty: !hasSamples)
  }

  // MARK: - Asking

  /// Sets the rate of a player whose stream may have run dry (`isBufferEmpty`). With `immediately` what little there is
  /// is played, and a player that does not wait by itself stays paused when there is nothing.
  mutating func setRate(_ newRate: Double, isBufferEmpty: Bool, immediately: Bool = false) -> [Action] {
    guard newRate != 0 else { return setRate(0) }
    guard isBufferEmpty, !entries.isEmpty, !hasPassedEnd else {
      if immediately { goOn() }
      return setRate(newRate)
    }
    if immediately, !automaticallyWaits { return setRate(0) }
    guard rate == 0, decoding == .active, !decoded.isEmpty else { return setRate(newRate) }
    let actions = setRate(newRate)
    // It has not been playing: this is no stall to be told.
    isSounding = false
    // One that does not wait by itself sounds with the first sample that comes.
    isStarved = automaticallyWaits
    untoldStall = nil
    isDry = true
    return actions
  }

  mutating func setAutomaticallyWaits(_ waits: Bool) -> [Action] {
    automaticallyWaits = waits
    if !waits { goOn() }
    return []
  }

  /// What has been decoded behind a stall is heard.
  private mutating func goOn() {
    guard isStarved else { return }
    isStarved = false
    untoldStall = nil
    isSounding = rate != 0
  }

  // MARK: - The decode thread

  /// As much is decoded behind the place where samples ran out that playing can go on.
  mutating func keepsUp(generation: UInt64) -> [Action] {
    guard generation == self.generation, decoding == .active else { return [] }
    endStarvation()
    return []
  }

  /// What is there is enough to go on with.
  mutating func endStarvation() {
    isDry = false
    goOn()
  }

  /// The decode thread rests: it has decoded as far ahead as it is to, or everything.
  mutating func rested(generation: UInt64) -> [Action] {
    guard generation == self.generation, decoding == .active else { return [] }
    isBufferFull = true
    return keepsUp(generation: generation)
  }

  /// The decode thread goes on.
  mutating func roomAppeared() -> [Action] {
    isBufferFull = false
    return []
  }

  // MARK: - The render side

  mutating func soundBegan() -> [Action] {
    // What was rendered before the mixer was told to hold does not count.
    guard !isStarved else { return [] }
    isSounding = rate != 0
    isDry = false
    isStartHeld = false
    return []
  }

  /// The mixer ran out of samples, which will be heard. Should they come before that, nothing has happened.
  mutating func starved() -> [Action] {
    guard rate != 0, !isStarved else { return [] }
    if case .preparing(let next) = decoding, next.isContinuation {
      // What is to go on with it at another rate is so late that all there was has been played.
      untoldStall = next.itemID
      return []
    }
    guard decoding == .active else { return [] }
    isDry = true
    // Where what has been decoded is there to its end, the next item is still being opened: that is no stall.
    guard let last = decoded.last, !isLastEnded else { return [] }
    // Nor where nothing has sounded yet, and what comes is not held back.
    guard isSounding || automaticallyWaits else { return [] }
    isStarved = true
    // What ran out may be an item that follows the one that is still heard.
    untoldStall = last.pass.itemID
    return []
  }

  /// The place where samples ran out has been heard.
  mutating func stallHeard() -> [Action] {
    defer { untoldStall = nil }
    guard let id = untoldStall, isStarved || preparedStart?.isContinuation == true else { return [] }
    isSounding = false
    guard !automaticallyWaits else { return [.emit(.stalled(id))] }
    return [.emit(.stalled(id))] + setRate(0)
  }
}
