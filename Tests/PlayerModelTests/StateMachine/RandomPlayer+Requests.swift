import PlayheadMediaCore

@testable import PlayheadPlayerModel

/// Requests of a client, with random arguments.
extension RandomPlayer {
  /// Makes a random request of a client.
  mutating func makeRequest() {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<18: play()
    case 18..<25:
      request("pause") {
        $0.setRate(0)
      } model: { model, _ in
        model.pause()
      }
    case 25..<37: seek()
    case 37..<39:
      request("cancelSeeks") {
        $0.cancelSeeks()
      } model: { model, _ in
        model.endSeeks(.cancelled)
      }
    case 39..<64: changeQueue()
    case 64..<72: changeSettings()
    case 72..<75: repeatItems()
    case 75..<77: crossfade()
    case 77..<79: loop()
    case 79..<86: changeOutput()
    case 86..<90:
      let waits = chance(60)
      request("setAutomaticallyWaits(\(waits))") {
        $0.setAutomaticallyWaits(waits)
      } model: { model, _ in
        model.setWaitsAutomatically(waits)
      }
    case 90..<91:
      if simulation.decodedRate.magnitude != .normal, !model.isPastEnd, model.endedItem == nil {
        simulation.hasOldPitch = true
      }
      request("timePitchChanged") { machine in
        machine.timePitchChanged(of: nil)
        return []
      } model: { _, _ in
      }
    case 91..<94:
      let id = chance(50) ? nil : model.queue.randomElement(using: &random)
      let time = heardTime()
      request("redecode(\(id.map { "\($0)" } ?? "all"))") {
        $0.redecode(id, from: time)
      } model: { _, _ in
      }
    case 94..<97:
      let reason = chance(50) ? WaitingReason.interrupted : nil
      input("session(\(reason?.rawValue ?? "none"))") { machine in
        machine.setSessionWaitingReason(reason)
        return machine.rate != 0 ? [.setRunning(machine.isRunning)] : []
      } model: { model, _, _ in
        model.sessionReason = reason
      }
    default:
      let waits = chance(50)
      input("setWaitingForStartTime(\(waits))") { machine in
        machine.setWaitingForStartTime(waits)
        return []
      } model: { model, _, _ in
        model.waitsForStart = waits
      }
    }
  }

  private mutating func crossfade() {
    let crossfade = chance(30) ? nil : Crossfade(duration: time(Int64.random(in: 1...4, using: &random)))
    let time = heardTime()
    request("setCrossfade(\(crossfade.map { "\($0.duration)" } ?? "none"))") {
      $0.setCrossfade(crossfade, heardAt: time)
    } model: { model, before in
      model.settle(before)
    }
  }

  private mutating func play() {
    let rate: Double = changesRate ? [1.0, 2.0, -1.0].randomElement(using: &random) ?? 1 : 1
    let immediately = chance(20)
    let hasAudio = !simulation.isReplacing && !simulation.passes.isEmpty
    let isCurrentFailed = model.current.map { model.items[$0]?.hasFailed ?? false } ?? true
    let isEmpty =
      isCurrentFailed || !hasAudio || model.isDrained && simulation.passes.last?.isComplete == false
    input("play(\(rate), isBufferEmpty: \(isEmpty), immediately: \(immediately))", isRequest: true) {
      $0.setRate(rate, isBufferEmpty: isEmpty, immediately: immediately)
    } model: { model, before, after in
      model.play(at: rate, isBufferEmpty: isEmpty, immediately: immediately, before, after)
    }
    if machine.isChangingDirection { changeRate() }
  }

  /// Closes the player.
  mutating func close() {
    request("close") {
      $0.close()
    } model: { model, audio in
      model.endSeeks(.closed)
      (model.queue, model.history) = ([], [])
      model.settle(audio)
      model.pause()
    }
  }

  mutating func changeRate() {
    let time = heardTime()
    let isReversal = machine.isChangingDirection
    if chance(60), let pass = simulation.passes.first, pass.pass.end == nil, pass.pass.start != time,
      machine.canSplit(pass.id)
    {
      simulation.splitTime = time
      input("split(\(pass.id), \(time))", isSplit: true) {
        $0.splitForRateChange(pass.id, at: time, streamFrame: 1_000)
      } model: { model, _, after in
        if isReversal { model.armLoop(at: time, isReverse: after.isReverse) }
      }
    } else {
      input("changeDecodedRate") {
        $0.changeDecodedRate(from: time)
      } model: { model, before, _ in
        guard isReversal, before.hasOldRate else { return }
        (model.isPastEnd, model.endedItem) = (false, nil)
      }
    }
  }

  private mutating func seek() {
    guard let current = model.current else { return }
    let needsDuration = chance(20)
    let start = randomTime()
    let target: UnresolvedSeekTarget = needsDuration ? .time(.positiveInfinity) : .time(start)
    let isRange = !needsDuration && chance(20) && model.items[current]?.isOpen == true
    let rangeEnd = isRange ? start + time(5) : nil
    let mode: SeekMode = chance(30) && !isRange ? .chase : .replace
    // `PlayerCore` refuses a seek whose target will never be known, and seeks in failed items.
    if let item = model.items[current], item.hasFailed || needsDuration && item.isOpen && !item.hasDuration { return }
    let token = nextToken
    nextToken += 1
    simulation.pendingSeeks.insert(token)
    request(
      "seek(\(token), to: \(needsDuration ? "end" : "time"), \(mode), rangeEnd: \(rangeEnd.map { "\($0)" } ?? "none"))"
    ) {
      $0.seek(token, to: target, mode: mode, rangeEnd: rangeEnd)
    } model: { model, _ in
      let seek = ReferencePlayer.Seek(token: token, itemID: current, needsDuration: needsDuration)
      model.requestSeek(seek, mode, rangeEnd: rangeEnd)
    }
  }

  /// Loops a part of the current item, or changes its loop.
  private mutating func loop() {
    guard let current = model.current, let item = model.items[current], !item.hasFailed, item.isOpen else { return }
    let isReverse = simulation.decodedRate.isReverse
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<2 where model.range != nil:
      request("removeRangeEnd") {
        $0.removeRangeEnd()
      } model: { model, audio in
        model.range = nil
        model.settle(audio)
      }
    case 0..<4 where model.loop != nil:
      request("finishLoop") {
        $0.finishLoop()
      } model: { model, audio in
        model.loop?.isFinishing = true
        model.loop?.remaining = nil
        model.settle(audio)
      }
    case 4..<6:
      request("setLoop(nil)") {
        $0.setLoop(nil, count: nil, heardAt: .zero)
      } model: { model, audio in
        model.loop = nil
        model.settle(audio)
      }
    default:
      let (start, heard) = (randomTime(), heardTime())
      let range = TimeRange(start: start, end: start + time(5))
      let count = chance(50) ? Int.random(in: 1...3, using: &random) : nil
      request("setLoop(\(range), count: \(count ?? 0))") {
        $0.setLoop(range, count: count, heardAt: heard)
      } model: {
        model, audio in
        model.loop = ReferencePlayer.Loop(
          itemID: current, start: range.start, end: range.end, remaining: count, isArmed: false)
        model.armLoop(at: heard, isReverse: isReverse)
        model.settle(audio)
      }
    }
  }

  private mutating func changeQueue() {
    let count = model.queue.count
    let id = model.queue.randomElement(using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<(count < 5 ? 40 : 10):
      let ids = newItems(Int.random(in: 1...2, using: &random))
      let index = Int.random(in: 0...count, using: &random)
      edit("insert(\(ids), at: \(index))", .insert(ids.map { QueueEntry(id: $0) }, at: .index(index))) {
        $0.insert(contentsOf: ids, at: index)
      }
    case 40..<48:
      guard let id else { return }
      edit("remove(\(id))", .remove([id])) { $0.removeAll { $0 == id } }
    case 48..<60:
      guard let id else { return }
      let index = Int.random(in: 0..<count, using: &random)
      edit("move(\(id), to: \(index))", .move(id, to: .index(index))) { queue in
        queue.removeAll { $0 == id }
        queue.insert(id, at: index)
      }
    case 60..<63:
      let ids = newItems(Int.random(in: 0...3, using: &random))
      request("replaceAll(\(ids))") {
        $0.replaceAll(ids.map { QueueEntry(id: $0) })
      } model: { model, audio in
        (model.queue, model.history) = (ids, [])
        model.settle(audio)
      }
    case 63..<78:
      request("advance") {
        $0.advance()
      } model: { model, audio in
        model.advance(audio)
      }
    case 78..<88:
      guard let id else { return }
      request("jump(\(id))") {
        $0.jump(to: id)
      } model: { model, audio in
        model.jump(to: id, audio)
      }
    default: goBack()
    }
  }

  private mutating func goBack() {
    guard let id = model.history.last, model.items[id]?.hasFailed == false else { return }
    if !model.queue.contains(id) { model.items[id] = ReferencePlayer.Item(isOpen: true) }
    let entry = QueueEntry(id: id, status: .readyToPlay, duration: time(100), isDurationPrecise: true)
    request("goBack(\(id))") {
      $0.goBack(over: 1, returning: [entry])
    } model: { model, audio in
      model.goBack(audio)
    }
  }

  private mutating func changeSettings() {
    if chance(60) {
      let action = ActionAtItemEnd.allCases.randomElement(using: &random) ?? .advance
      let isReturning = simulation.isReplacing && simulation.preparing?.request.isSilence == false
      request("setActionAtItemEnd(\(action))") {
        $0.setActionAtItemEnd(action)
      } model: { model, audio in
        model.setAction(action, audio, isReturning: isReturning)
      }
    } else {
      let policy = [ItemFailurePolicy.skip, .stop, .retry].randomElement(using: &random) ?? .skip
      request("setFailurePolicy(\(policy))") {
        $0.setFailurePolicy(policy)
      } model: { model, audio in
        model.policy = policy
        model.settle(audio)
      }
    }
  }

  private mutating func repeatItems() {
    // Plans of repeats are long.
    let mode: RepeatMode = chance(60) ? .off : chance(50) ? .one : .all
    let count = mode == .one && chance(60) ? Int.random(in: 1...3, using: &random) : nil
    let afterwards: RepeatMode = chance(80) ? .off : .all
    request("setRepeatMode(\(mode), count: \(count ?? 0), modeAfterwards: \(afterwards))") {
      $0.setRepeatMode(mode, count: count, modeAfterwards: afterwards)
    } model: { model, audio in
      model.setRepeat(mode, count: count, modeAfterwards: afterwards, audio)
    }
  }

  private mutating func changeOutput() {
    switch model.output {
    case .unavailable: return makeOutputReady()
    case .ready where chance(50), .stalled where chance(50):
      let isStalled = model.output == .ready
      input("outputStalled(\(isStalled))") {
        $0.outputStalled(isStalled)
      } model: { model, _, _ in
        model.output = isStalled ? .stalled : .ready
      }
    case .ready, .stalled:
      let time = heardTime()
      let position = model.queue.isEmpty ? nil : time
      simulation.outputWasLost()
      input("outputWasLost") {
        $0.outputWasLost(at: position)
      } model: { model, _, _ in
        model.outputLost()
      }
    }
  }

  mutating func makeOutputReady() {
    input("outputBecameReady") {
      $0.outputBecameReady()
    } model: { model, before, _ in
      model.output = .ready
      model.settle(before)
    }
  }
}
