import PlayheadMediaCore

@testable import PlayheadPlayerModel

/// The decode thread and the mixer of a player without samples: runs the actions of a `PlayerStateMachine`, and checks
/// that they fit together.
struct SimulatedPlayback {
  typealias Machine = PlayerStateMachine

  /// A pass in a stream of the mixer.
  struct DecodedPass {
    var id: PassID
    var pass: Pass
    var isComplete = false
    var hasError = false
    /// The time at which the following pass begins in a cross-fade; nil: none does.
    var overlapTime: MediaTime?
  }

  /// The stream that the decode thread extends.
  struct Thread {
    var generation: UInt64
    var begunCount = 1
    var plan = Machine.Plan()

    /// The next pass. The thread may have begun passes since the plan was made.
    var next: Pass? {
      let index = begunCount - plan.begunCount
      return plan.passes.indices.contains(index) ? plan.passes[index] : nil
    }
  }

  // MARK: - State

  var passes: [DecodedPass] = []
  /// The request whose first samples are being decoded.
  var preparing: (generation: UInt64, request: Machine.DecodeRequest)?
  var thread: Thread?
  /// The stream to which the mixer has not switched yet.
  var uncommitted: (generation: UInt64, request: Machine.DecodeRequest)?
  /// Whether the mixer renders the player.
  var isRunning = false
  /// Whether the stream was cut after the last pass.
  var isCut = false
  var decodedRate = PlaybackRate.normal
  /// Whether the audio has another pitch algorithm than the player.
  var hasOldPitch = false
  var newestGeneration: UInt64 = 0
  var pendingSeeks: Set<UInt64> = []
  /// The events and completions of the last actions.
  var events: [Machine.Action] = []
  /// The time at which a pass is split.
  var splitTime = MediaTime.zero
  /// The time from which the last actions requested another stream; nil: they requested none.
  var replacementTime: MediaTime?
  /// Whether the last actions completed the present stream.
  var hasCompleted = false
  /// The contradictions in the actions so far.
  var faults: [String] = []

  /// Whether the request in preparation replaces the audio.
  var isReplacing: Bool { preparing.map { $0.request.spliceAfter == nil || passes.isEmpty } ?? false }

  /// Whether nothing is decoded.
  var isIdle: Bool { preparing == nil && passes.isEmpty && thread?.next == nil }

  /// The order of playback: of the decoded passes, the request in preparation and the plan.
  func steps(plan: Machine.Plan) -> [ReferencePlayer.Step] {
    var steps: [ReferencePlayer.Step] = []
    var former: Pass?
    for pass in passes.map(\.pass) + [preparing?.request.pass].compactMap(\.self) + plan.passes {
      if let former, pass.continues(former) {
        // The rest of a pass that was split.
      } else {
        steps.append(pass.isSilence ? .silence(pass.itemID) : .item(pass.itemID))
      }
      former = pass
    }
    return steps
  }

  func audio(targetRate: PlaybackRate) -> ReferencePlayer.Audio {
    ReferencePlayer.Audio(
      items: passes.map(\.pass.itemID), isLastComplete: passes.last?.isComplete ?? true,
      requested: preparing?.request.itemID, isReplacement: isReplacing,
      isContinuation: preparing?.request.isContinuation ?? false,
      planned: preparing == nil ? thread?.next?.itemID : nil, isReverse: decodedRate.isReverse,
      hasOldRate: (decodedRate != targetRate || hasOldPitch) && !isIdle)
  }

  // MARK: - Actions

  /// Runs the actions of an input of `machine`.
  mutating func run(_ actions: [Machine.Action], _ machine: Machine, isSplit: Bool = false) {
    (events, replacementTime, hasCompleted) = ([], nil, false)
    for action in actions { run(action, machine, isSplit: isSplit) }
  }

  private mutating func check(_ condition: Bool, _ fault: String) {
    if !condition { faults.append(fault) }
  }

  private mutating func run(_ action: Machine.Action, _ machine: Machine, isSplit: Bool) {
    switch action {
    case .prepare(let generation, let request):
      check(generation > newestGeneration, "generation \(generation) after \(newestGeneration)")
      newestGeneration = generation
      if let id = request.spliceAfter {
        check(passes.last?.id == id, "a generation follows \(id), which is not the last pass")
        followOverlap(with: request)
        if !isCut, !isSplit { hasCompleted = true }
      } else {
        passes = []
        uncommitted = nil
        replacementTime = request.time
      }
      if request.spliceAfter == nil || request.isContinuation { hasOldPitch = false }
      preparing = (generation, request)
      (thread, isCut, decodedRate) = (nil, false, request.rate)
    case .commit(let generation), .splice(let generation, _):
      guard let prepared = preparing, prepared.generation == generation else {
        return faults.append("generation \(generation) is not in preparation")
      }
      preparing = nil
      if case .splice(_, let id) = action {
        check(passes.last?.id == id, "a splice after \(id), which is not the last pass")
      } else {
        check(passes.isEmpty, "a generation replaces passes")
        uncommitted = prepared
        isRunning = machine.isRunning
      }
      passes.append(DecodedPass(id: PassID(generation: generation, index: 0), pass: prepared.request.pass))
      thread = Thread(generation: generation)
    case .truncate(let id): endStream(after: id, at: nil)
    case .shorten(let id, let time): endStream(after: id, at: time)
    case .split(let id, _):
      endStream(after: id, at: splitTime)
      hasCompleted = false
    case .dropStream:
      let (seeks, faults, events) = (pendingSeeks, faults, events)
      let (generation, rate, pitch) = (newestGeneration, decodedRate, hasOldPitch)
      self = SimulatedPlayback()
      (pendingSeeks, self.faults, self.events, newestGeneration) = (seeks, faults, events, generation)
      (decodedRate, hasOldPitch) = (rate, pitch)
    case .setPlan(let plan):
      if machine.generation == thread?.generation {
        thread?.plan = plan
      } else {
        (preparing, thread, isCut, hasCompleted) = (nil, nil, true, true)
        for index in passes.indices { passes[index].isComplete = true }
      }
    case .setRunning(let isRunning):
      check(isRunning == machine.isRunning || machine.intent.sessionWaitingReason != nil, "setRunning(\(isRunning))")
      self.isRunning = machine.isRunning
    case .completeSeek(let token, _):
      check(pendingSeeks.remove(token) != nil, "seek \(token) completes twice")
      events.append(action)
    case .completeRange, .emit: events.append(action)
    }
  }

  /// Checks what follows a pass whose end is not in its stream, because it overlapped another pass.
  private mutating func followOverlap(with request: Machine.DecodeRequest) {
    guard let index = passes.indices.last, let overlapTime = passes[index].overlapTime else {
      return check(request.overlap == nil, "an overlap with a pass that is complete")
    }
    if let overlap = request.overlap {
      check(request.crossfade != nil, "an overlap without a cross-fade")
      check(
        overlap
          == Overlap(itemID: passes[index].pass.itemID, time: overlapTime, end: passes[index].pass.end),
        "another overlap")
    } else {
      check(
        request.itemID == passes[index].pass.itemID && request.time == overlapTime && request.crossfade == nil,
        "the rest of the pass does not follow")
      (passes[index].pass.end, passes[index].overlapTime) = (overlapTime, nil)
    }
  }

  private mutating func endStream(after id: PassID, at time: MediaTime?) {
    guard let index = passes.firstIndex(where: { $0.id == id }) else {
      return faults.append("there is no pass \(id) to end")
    }
    passes.removeSubrange((index + 1)...)
    passes[index].isComplete = true
    hasCompleted = true
    if let time { (passes[index].pass.end, passes[index].hasError, passes[index].overlapTime) = (time, false, nil) }
  }

  /// The output is lost: nothing is decoded or rendered.
  mutating func outputWasLost() {
    (passes, preparing, thread, uncommitted) = ([], nil, nil, nil)
    (isRunning, isCut) = (false, false)
  }
}
