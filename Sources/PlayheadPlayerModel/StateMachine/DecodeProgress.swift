import DequeModule
import PlayheadMediaCore

/// The audio that a player has requested from the decode thread, and the passes that the thread has delivered. A pure
/// value.
///
/// The decode thread works on one *generation* at a time: a sequence of passes from a start position, in a separate
/// stream. A seek, or a change of the following passes, makes a new generation. The generation is *committed* when its
/// first samples are decoded. A committed generation either replaces the current stream at once, or follows as a
/// *splice* at the end of a pass that is still heard.
package struct DecodeProgress: Sendable {
  package typealias DecodeRequest = PlayerStateMachine.DecodeRequest
  package typealias DecodedPass = PlayerStateMachine.DecodedPass
  package typealias Plan = PlayerStateMachine.Plan

  /// The state of the decode thread.
  package enum Stage: Sendable, Hashable {
    /// Nothing is decoded. `deferred` is a request for the time when decoding is possible: a seek before the item was
    /// ready, or the position at the loss of a device.
    case idle(deferred: DecodeRequest?)
    /// The first samples of a request are being decoded.
    case preparing(DecodeRequest)
    /// Passes are being decoded. The planned ones follow.
    case active(Plan)
    /// The stream was cut after the last decoded pass: following passes need a new generation.
    case cut
  }

  // MARK: - State

  package private(set) var stage = Stage.idle(deferred: nil)
  package private(set) var generation: UInt64 = 0
  /// The rate at which the current generation is decoded.
  package private(set) var decodedRate = PlaybackRate.normal
  /// Whether the decoded audio uses another pitch algorithm than the requested one.
  package private(set) var isPitchStale = false
  /// The passes of the current stream that have not been heard to their end, in order. The first one is current. Empty
  /// while idle, and while a request is in preparation that follows no pass.
  package private(set) var passes = Deque<DecodedPass>()
  /// Whether the last of `passes` is completely in the stream, so that a plan can no longer change its end.
  package private(set) var isLastPassComplete = false
  /// The number of passes of the current generation that have begun.
  package private(set) var begunCount = 0
  /// A generation that replaces the current stream, until the mixer has switched to it.
  package private(set) var uncommitted: (generation: UInt64, request: DecodeRequest)?
  /// Whether the decode thread has paused, because the requested amount is decoded ahead.
  package private(set) var isPaused = false

  init() {}

  // MARK: - Derived state

  /// Whether passes are decoded, and no request is in preparation.
  package var isActive: Bool {
    switch stage {
    case .active, .cut: true
    case .idle, .preparing: false
    }
  }

  var isIdle: Bool { if case .idle = stage { true } else { false } }

  var isCut: Bool { stage == .cut }

  /// The request of the generation in preparation.
  package var requestInPreparation: DecodeRequest? {
    if case .preparing(let request) = stage { request } else { nil }
  }

  /// The request in preparation, if it replaces the current stream at once.
  var replacementInPreparation: DecodeRequest? {
    requestInPreparation.flatMap { $0.spliceAfter == nil ? $0 : nil }
  }

  package var deferredRequest: DecodeRequest? {
    if case .idle(let deferred) = stage { deferred } else { nil }
  }

  /// The passes that follow the decoded ones.
  package var plan: Plan { if case .active(let plan) = stage { plan } else { Plan() } }

  /// Whether the mixer has a stream of the current item, also while a following one is being prepared.
  package var hasStream: Bool { isActive || requestInPreparation?.spliceAfter != nil }

  /// The request of audio that replaces the current stream, and to which the mixer has not switched yet.
  var unheardRequest: DecodeRequest? { replacementInPreparation ?? uncommitted?.request }

  /// The pending request for another position than the one that is heard.
  package var pendingRequest: DecodeRequest? { unheardRequest ?? deferredRequest }

  /// Whether a plan can still change the end of the last pass.
  var canMoveLastEnd: Bool { if case .active = stage { !isLastPassComplete } else { false } }

  /// Whether audio of the item is decoded or in preparation; nil: of any item.
  func includes(_ id: PlayerItemID?) -> Bool {
    id == nil || passes.contains { $0.pass.itemID == id } || requestInPreparation?.itemID == id
  }

  // MARK: - Requests

  /// Starts a generation. Returns the request with its rate.
  mutating func begin(_ request: DecodeRequest, at targetRate: PlaybackRate) -> DecodeRequest {
    var request = request
    generation += 1
    // The following item keeps the direction of the current one until the direction is changed.
    let changesDirection = targetRate.isReverse != decodedRate.isReverse
    if !changesDirection || request.spliceAfter == nil || request.isContinuation { decodedRate = targetRate }
    request.rate = decodedRate
    if request.spliceAfter == nil || request.isContinuation { isPitchStale = false }
    if request.spliceAfter == nil {
      passes = []
      uncommitted = nil
      isPaused = false
    }
    stage = .preparing(request)
    return request
  }

  /// Drops all audio. Decoding can begin again with the deferred request.
  mutating func stop(deferring request: DecodeRequest?) {
    generation += 1
    passes = []
    uncommitted = nil
    isPaused = false
    stage = .idle(deferred: request)
  }

  /// Stores a request while nothing can be decoded.
  mutating func deferRequest(_ request: DecodeRequest?) {
    uncommitted = nil
    stage = .idle(deferred: request)
  }

  /// Drops the deferred request, unless it is one of the item. Returns whether there is no request of the item.
  mutating func dropDeferredRequest(exceptOf id: PlayerItemID?) -> Bool {
    guard isIdle, deferredRequest?.itemID != id else { return false }
    stage = .idle(deferred: nil)
    return true
  }

  /// Sets the passes that follow the decoded ones. Only while they can follow in the same stream.
  mutating func setPlan(_ plan: Plan) {
    if case .active = stage { stage = .active(plan) }
  }

  /// Moves the end of the last pass, which a plan can still change.
  mutating func moveLastEnd(to end: MediaTime?) { passes[passes.count - 1].pass.end = end }

  /// Removes the passes after the one at `index`, which is then complete.
  mutating func truncate(after index: Int) {
    passes.removeLast(passes.count - index - 1)
    isLastPassComplete = true
  }

  /// Ends the pass at `index` at a time, and removes the passes after it.
  mutating func end(_ index: Int, at time: MediaTime) {
    truncate(after: index)
    passes[index].pass.end = time
    passes[index].overlap = nil
  }

  /// Prevents the decode thread from adding audio to the current stream, because that audio would follow the cut.
  mutating func cut() {
    generation += 1
    stage = .cut
  }

  /// Marks the decoded audio as decoded with another pitch algorithm than the requested one.
  mutating func pitchChanged() { isPitchStale = true }

  // MARK: - The decode thread

  /// Handles the first samples of a generation. Returns its request; nil if another generation has been requested.
  mutating func prepared(generation: UInt64) -> DecodeRequest? {
    guard generation == self.generation, case .preparing(let request) = stage else { return nil }
    stage = .active(Plan())
    begunCount = 0
    appendPass(request.pass, isReverse: request.rate.isReverse)
    if request.spliceAfter == nil { uncommitted = (generation, request) }
    return request
  }

  /// Handles the start of the next pass.
  ///
  /// - Parameter overlapTime: The time of the last pass at which the next one begins; nil: at its end.
  mutating func began(_ pass: Pass, overlapTime: MediaTime? = nil) {
    if let time = overlapTime, let crossfade = pass.crossfade, !passes.isEmpty {
      passes[passes.count - 1].overlap = PlayerStateMachine.PassOverlap(time: time, crossfade: crossfade)
    }
    appendPass(pass, isReverse: decodedRate.isReverse)
    guard case .active(var plan) = stage else { return }
    // Release the second reference to the plan, which would cause a copy.
    stage = .cut
    if plan.passes.first == pass { plan.passes.removeFirst() }
    plan.begunCount = begunCount
    plan.currentEnd = pass.end
    stage = .active(plan)
  }

  private mutating func appendPass(_ pass: Pass, isReverse: Bool) {
    let id = PassID(generation: generation, index: begunCount)
    passes.append(DecodedPass(id: id, pass: pass, isReverse: isReverse))
    begunCount += 1
    isLastPassComplete = false
  }

  /// Handles the end of decoding of a pass, at `end`. Returns its item; nil if the pass was removed.
  mutating func ended(_ id: PassID, end: MediaTime?) -> PlayerItemID? {
    guard let index = passes.firstIndex(where: { $0.id == id }) else { return nil }
    passes[index].pass.end = end
    if index == passes.count - 1 { isLastPassComplete = true }
    return passes[index].pass.itemID
  }

  /// Handles the last pass, in which the decode thread was already past the planned end. Returns false if it was
  /// removed.
  mutating func overran(_ id: PassID) -> Bool {
    guard passes.last?.id == id else { return false }
    moveLastEnd(to: nil)
    isLastPassComplete = true
    if case .active(var plan) = stage {
      plan.currentEnd = nil
      stage = .active(plan)
    }
    return true
  }

  /// Handles the continuation of the last pass, which did not have to be cut where it overran.
  mutating func continued(_ id: PassID) {
    if case .active = stage, passes.last?.id == id { isLastPassComplete = false }
  }

  /// Handles a pause or the resumption of the decode thread.
  mutating func paused(_ isPaused: Bool) { self.isPaused = isPaused }

  // MARK: - Mixer

  /// Handles the switch of the mixer to a stream. Returns its request; nil if another one replaces it.
  mutating func committed(generation: UInt64) -> DecodeRequest? {
    // A later generation may have been requested since, which follows this one.
    guard let committed = uncommitted, committed.generation == generation else { return nil }
    uncommitted = nil
    return committed.request
  }

  /// Handles the end of the first pass, which has been heard.
  mutating func firstPassHeard() { passes.removeFirst() }

  /// Handles the end of the last pass, which has been heard before the following audio was planned. A request in
  /// preparation then follows no pass. Without one, decoding can begin again with the deferred request.
  mutating func lastPassHeard(deferring request: DecodeRequest?) {
    guard case .preparing(var next) = stage else {
      stage = .idle(deferred: request)
      return
    }
    next.spliceAfter = nil
    stage = .preparing(next)
  }
}
