import MediaTesting
import PlayheadMediaCore

@testable import PlayheadPlayerModel

/// A machine, its simulated surroundings and the model, which all get the same random inputs.
struct RandomPlayer {
  typealias ID = PlayerItemID
  typealias Machine = PlayerStateMachine

  var machine = Machine(canAdvance: true)
  var model = ReferencePlayer()
  var simulation = SimulatedPlayback()
  var random: SeededGenerator
  var nextID: ID = 1
  var nextToken: UInt64 = 1
  /// The inputs so far.
  private(set) var inputs: [String] = []
  /// The first difference between machine and model.
  private(set) var fault: String?
  /// Whether rates other than 1 occur.
  let changesRate: Bool

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    changesRate = seed.isMultiple(of: 2)
    guard seed % 4 == 1 else { return }
    let ids = newItems(3)
    model.queue = ids
    machine.restore(
      ids.map { QueueEntry(id: $0) }, history: [], version: 7, shuffle: nil, loop: nil, at: time(12))
    machine.deferOpening()
    simulation.run(machine.reconcile(), machine)
  }

  // MARK: - Random values

  func time(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  /// Returns another time with each call.
  mutating func randomTime() -> MediaTime {
    MediaTime(value: Int64.random(in: 0...90, using: &random) * 1_000 + Int64(inputs.count), timescale: 1_000)
  }

  /// Returns a time in the first pass, which is heard, or in the requested one.
  mutating func heardTime() -> MediaTime {
    let requested = simulation.isReplacing ? simulation.preparing?.request.pass : nil
    guard let pass = requested ?? simulation.passes.first?.pass else { return randomTime() }
    let isReverse = simulation.decodedRate.isReverse
    let start = pass.start.isNumeric ? pass.start : time(100)
    let distance = MediaTime(value: Int64.random(in: 1...4_000, using: &random), timescale: 1_000)
    let heard = isReverse ? start - distance : start + distance
    let isInside = heard >= .zero && pass.end.map { isReverse ? heard > $0 : heard < $0 } ?? true
    return isInside ? heard : start
  }

  mutating func newItems(_ count: Int) -> [ID] {
    defer { nextID += ID(count) }
    let ids = Array(nextID..<nextID + ID(count))
    for id in ids { model.items[id] = ReferencePlayer.Item() }
    return ids
  }

  var audio: ReferencePlayer.Audio { simulation.audio(targetRate: machine.targetRate) }

  // MARK: - Inputs

  /// Makes a random input.
  mutating func makeInput() {
    if chance(62) {
      makeReport()
    } else {
      makeRequest()
      if machine.needsRateChange, chance(80) { changeRate() }
    }
  }

  /// Runs an input of the machine, then that of the model, and compares them. The model gets the audio before and after
  /// the input.
  mutating func input(
    _ name: String, isRequest: Bool = false, isSplit: Bool = false,
    endsPass heard: SimulatedPlayback.DecodedPass? = nil, _ change: (inout Machine) -> [Machine.Action],
    model changeModel: (inout ReferencePlayer, ReferencePlayer.Audio, ReferencePlayer.Audio) -> Void
  ) {
    inputs.append(name)
    let before = audio
    var actions = change(&machine)
    if isRequest { actions += machine.allowOpening() }
    simulation.run(actions, machine, isSplit: isSplit)
    model.events = []
    let after = audio
    changeModel(&model, before, after)
    if simulation.hasCompleted { model.streamCompleted() }
    if let time = simulation.replacementTime {
      model.replacementRequested(from: time, isReverse: simulation.decodedRate.isReverse)
    }
    // A paused item ends again when playback resumes at its end.
    if let heard, model.rate == 0, model.endedItem == heard.pass.itemID { simulation.passes.insert(heard, at: 0) }
    compare()
  }

  mutating func request(
    _ name: String, _ change: (inout Machine) -> [Machine.Action],
    model changeModel: (inout ReferencePlayer, ReferencePlayer.Audio) -> Void
  ) {
    input(name, isRequest: true, change) { model, before, _ in changeModel(&model, before) }
  }

  mutating func edit(_ name: String, _ change: QueueModel.Change, model changeModel: (inout [ID]) -> Void) {
    request(name) { machine in
      (try? machine.edit([change])) ?? []
    } model: { model, audio in
      let former = model.queue
      changeModel(&model.queue)
      // A move without an effect is no change.
      if model.queue == former { return }
      for id in former where !model.queue.contains(id) { model.history.removeAll { $0 == id } }
      model.settle(audio)
    }
  }

  // MARK: - Reports

  mutating func makeReport() {
    if model.output == .unavailable, chance(30) { return makeOutputReady() }
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<55: decode()
    case 55..<92: render()
    case 92..<96:
      if let id = machine.itemsToLoad.randomElement(using: &random) { open(id) }
    case 96..<98: retry()
    default: makeLateReport()
    }
  }

  /// Opens an item that is not open.
  mutating func open(_ id: ID) {
    if chance(12) {
      fail(id)
    } else {
      let hasDuration = chance(80)
      input("itemLoaded(\(id), hasDuration: \(hasDuration))") {
        $0.itemLoaded(id, duration: hasDuration ? MediaTime(value: 100, timescale: 1) : .indefinite)
      } model: { model, _, _ in
        model.loaded(id, hasDuration: hasDuration)
      }
    }
  }

  mutating func fail(_ id: ID) {
    input("itemFailed(\(id))") {
      $0.itemFailed(id, ReferencePlayer.error)
    } model: { model, before, _ in
      model.failed(id, before)
    }
  }

  mutating func retry() {
    let ids = machine.itemsToRetry
    guard !ids.isEmpty else { return }
    input("retry(\(ids))") {
      $0.retry(ids)
    } model: { model, before, _ in
      model.retry(ids, before)
    }
  }

  /// Reports of a generation that has been replaced.
  mutating func makeLateReport() {
    guard simulation.newestGeneration > 1 else { return }
    let old = simulation.newestGeneration - 1
    let isCurrent = machine.generation == old || simulation.uncommitted?.generation == old
    guard !isCurrent, !simulation.passes.contains(where: { $0.id.generation == old }) else { return }
    let id = PassID(generation: old, index: 0)
    input("late reports of \(old)") { machine in
      machine.prepared(generation: old) + machine.committed(generation: old)
        + machine.ended(id, end: nil, isTooShort: true) + machine.becameLikelyToKeepUp(generation: old)
        + machine.endHeard(id, error: nil) + machine.overran(id)
    } model: { _, _, _ in
    }
  }

  /// Makes a report of the decode thread.
  mutating func decode() {
    if let (generation, request) = simulation.preparing {
      if model.items[request.itemID]?.isOpen == false { return open(request.itemID) }
      if chance(2) { return fail(request.itemID) }
      let replaces = simulation.isReplacing
      let isNewPass = request.seek != nil || request.jumpCause == .repeat || request.jumpCause == .restart
      input("prepared(\(generation))") {
        $0.prepared(generation: generation)
      } model: { model, _, _ in
        model.prepared(replaces: replaces, isSilence: request.isSilence, isNewPass: isNewPass)
      }
      if simulation.thread?.generation == machine.generation { simulation.thread?.plan = machine.plan }
    } else if let thread = simulation.thread {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        input("likelyToKeepUp") {
          $0.becameLikelyToKeepUp(generation: thread.generation)
        } model: { model, _, _ in
          model.streamCompleted()
        }
      case 1:
        input("decodingPaused") {
          $0.decodingPaused(generation: thread.generation)
        } model: { model, _, _ in
          model.streamCompleted()
        }
      default:
        if let last = simulation.passes.last, !last.isComplete { endPass(last) } else { beginPass(thread) }
      }
    }
  }

  mutating func endPass(_ last: SimulatedPlayback.DecodedPass) {
    guard !last.pass.isSilence else { return }
    let (isTooShort, hasError) = (chance(3), chance(5))
    let index = simulation.passes.count - 1
    simulation.passes[index].isComplete = true
    simulation.passes[index].hasError = hasError
    let end = simulation.thread?.plan.currentEnd
    simulation.passes[index].pass.end = end
    input("ended(\(last.id), isTooShort: \(isTooShort), hasError: \(hasError))") {
      $0.ended(last.id, end: end, isTooShort: isTooShort, hasFailedBeforeEnd: hasError)
    } model: { model, before, _ in
      if isTooShort { model.items[last.pass.itemID]?.isTooShort = true }
      model.items[last.pass.itemID]?.isDamaged = hasError
      model.settle(before)
    }
  }

  mutating func beginPass(_ thread: SimulatedPlayback.Thread) {
    guard let next = thread.next else { return }
    if model.items[next.itemID]?.isOpen == false { return open(next.itemID) }
    let id = PassID(generation: thread.generation, index: thread.begunCount)
    var overlapTime: MediaTime?
    if next.crossfade != nil, let last = simulation.passes.last, !last.hasError, !last.pass.isSilence, chance(70) {
      let start = last.pass.start.isNumeric ? last.pass.start : time(100)
      let length = MediaTime(value: Int64.random(in: 1...4_000, using: &random), timescale: 1_000)
      overlapTime = simulation.decodedRate.isReverse ? start - length : start + length
      simulation.passes[simulation.passes.count - 1].overlapTime = overlapTime
    }
    simulation.thread?.begunCount += 1
    simulation.passes.append(SimulatedPlayback.DecodedPass(id: id, pass: next))
    input("began(\(id), item \(next.itemID), overlapTime: \(overlapTime.map { "\($0)" } ?? "none"))") {
      $0.began(next, generation: thread.generation, overlapTime: overlapTime)
    } model: { model, before, _ in
      model.settle(before)
    }
  }

  /// Makes a report of the mixer.
  mutating func render() {
    if let (generation, committed) = simulation.uncommitted {
      simulation.uncommitted = nil
      input("committed(\(generation))") {
        $0.committed(generation: generation)
      } model: { model, _, _ in
        model.committed(committed.seek)
      }
      return
    }
    guard simulation.isRunning, model.rate != 0, !simulation.passes.isEmpty || simulation.thread != nil else { return }
    if model.pendingStall != nil, chance(50) {
      return input("stallHeard") {
        $0.stallHeard()
      } model: { model, before, _ in
        model.stallHeard(before)
      }
    }
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<3 where !simulation.passes.isEmpty:
      input("audioStarted") {
        $0.audioStarted()
      } model: { model, _, _ in
        model.audioStarted()
      }
    case 3:
      input("underrunOccurred") {
        $0.underrunOccurred()
      } model: { model, before, _ in
        model.underrun(before)
      }
    case 4:
      input("decodingResumed") {
        $0.decodingResumed()
      } model: { _, _, _ in
      }
    default: hearEnd()
    }
  }

  mutating func hearEnd() {
    guard let first = simulation.passes.first, first.isComplete, model.isRendering, !simulation.isReplacing else {
      return
    }
    let following =
      simulation.passes.count > 1
      ? simulation.passes[1].pass : simulation.preparing?.request.pass ?? simulation.thread?.next
    let continues = following?.continues(first.pass) ?? false
    let mayRetry = first.hasError && chance(50)
    let before = audio
    simulation.passes.removeFirst()
    input(
      "endHeard(\(first.id), error: \(first.hasError), mayRetry: \(mayRetry), continues: \(continues))",
      endsPass: first
    ) { machine in
      machine.endHeard(
        first.id, error: first.hasError ? ReferencePlayer.error : nil,
        retryTime: mayRetry ? MediaTime(value: 50, timescale: 1) : nil)
    } model: { model, _, _ in
      model.endHeard(
        at: first.pass.end, continues: continues, hasError: first.hasError, mayRetry: mayRetry, before)
    }
  }

  // MARK: - Comparison

  mutating func compare() {
    guard fault == nil else { return }
    var differences: [String] = simulation.faults
    func expect<T: Equatable>(_ name: String, _ actual: T, _ expected: T) {
      if actual != expected { differences.append("\(name) is \(actual), expected \(expected)") }
    }
    expect("status", machine.timeControlStatus, model.status)
    expect("reason", machine.reasonForWaitingToPlay, model.reason)
    expect("rate", machine.rate, model.rate)
    expect("queue", Array(machine.entries.order), model.queue)
    expect("history", Array(machine.queue.history.ids), model.history)
    expect(
      "seeks", [machine.seeks.current, machine.seeks.waiting].compactMap { $0?.token },
      [model.seek, model.nextSeek].compactMap { $0?.token })
    expect("pending seeks", simulation.pendingSeeks.count, [model.seek, model.nextSeek].compactMap(\.self).count)
    expect("isRunning", machine.isRunning, model.rate != 0 && model.sessionReason == nil)
    expect("repeatMode", machine.repeatMode, model.repeatMode)
    expect("loop", machine.loop?.itemID, model.loop?.itemID)
    expect("loop returns", machine.loop?.remaining, model.loop?.remaining)
    if model.output != .unavailable { expect("loop is armed", machine.loop?.isArmed, model.loop?.isArmed) }
    expect("range", machine.intent.rangeEnd?.time, model.range?.end)
    expect("hasPassedEnd", machine.hasPassedEnd, model.isPastEnd)
    expect("endedItemID", machine.endedItemID, model.endedItem)
    expect("hasError", machine.error != nil, model.hasError)
    expect("pendingStall", machine.buffering.pendingStall, model.pendingStall)
    expect("isBufferEmpty", machine.bufferState.isEmpty, model.isBufferEmpty(audio))
    expect("events", simulation.events, model.events)
    expect("passes", machine.decodedPasses.map(\.id), simulation.passes.map(\.id))
    switch machine.progress.stage {
    case .idle: expect("passes while idle", machine.decodedPasses.count, 0)
    case .preparing(let request): expect("splice", request.spliceAfter, machine.decodedPasses.last?.id)
    case .cut: expect("completeness of a cut stream", machine.progress.isLastPassComplete, true)
    case .active: break
    }
    expect("needsRateChange", machine.needsRateChange, audio.hasOldRate)
    if model.rate == 0 { expect("buffering while paused", machine.isRebuffering, false) }
    if !simulation.isIdle, !simulation.isReplacing, simulation.uncommitted == nil {
      expect("pendingRequest", machine.pendingRequest, nil)
    }
    if !simulation.passes.isEmpty, !simulation.isReplacing, !model.isOrderLate {
      // An endless order is planned in part.
      let actual = simulation.steps(plan: machine.plan)
      let expected = model.upcoming(actual.count + 1, isReverse: simulation.decodedRate.isReverse)
      let isWhole = simulation.preparing != nil || actual.count > 16
      expect("order", actual[...], expected.prefix(isWhole ? actual.count : .max))
    }
    fault = differences.isEmpty ? nil : differences.joined(separator: "; ")
  }
}
