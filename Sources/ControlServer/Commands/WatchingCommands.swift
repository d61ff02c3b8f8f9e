import ControlLoop
import MediaCore
import Playback
import PlayerModel
import RealtimeAudio
import WireProtocol

/// Commands that observe events or wait for them.
extension Connection {
  /// Runs the commands that reply immediately. Nil means `ok` without fields.
  func run(_ command: WatchingCommand, form: WireForm) throws(MediaError) -> Reply? {
    switch command {
    case .observe(let keys, let player):
      let target = try server.registry.player(player)
      let id = try newSubscriptionID()
      let observation = Observation(keys, id: id, form: form, on: target, connection: self)
      subscribe(id, .values, to: target, form: form) { observation.stop() }
      // The initial values come after the reply.
      postReplyAction = .send { observation.start() }
      return .ok(["id": .int(id), "seq": .int(server.log.lastNumber)])
    case .unobserve(let id):
      try subscriptions.end(id, .values)
      return nil
    case .tick(let interval, let player):
      let target = try server.registry.player(player)
      let cost = Subscriptions.Cost(eventsPerSecond: 1 / max(interval.seconds, 0.001))
      let id = try newSubscriptionID(cost)
      let token = try target.player.tryOnLoop { player throws(MediaError) in
        try player.addPeriodicTimeObserver(forInterval: interval) { [weak self] observation in
          self?.send(Self.event(observation, id, target), form: form)
        }
      }
      return addTimeSubscription(id, cost, target, token, form: form)
    case .at(let times, let item, let includesSeeks, let player):
      let target = try server.registry.player(player)
      return try observeTimes(
        BoundaryTimes(Array(times)), count: times.count, of: target, item: try target.itemID(ifGiven: item),
        includesSeeks: includesSeeks, form: form)
    case .atChapters(let item, let includesSeeks, let player):
      let target = try server.registry.player(player)
      let item = try target.itemID(ifGiven: item)
      let id = try newSubscriptionID()
      let token = try target.player.tryOnLoop { player throws(MediaError) in
        try player.addChapterTimeObserver(
          itemID: item, includesSeeks: includesSeeks,
          onEnd: { [weak self] in self?.itemRemoved(item, id, target, form: form) },
          using: { [weak self] in self?.send(Self.event($0, id, target), form: form) })
      }
      return addTimeSubscription(id, Subscriptions.Cost(), target, token, form: form)
    case .untick(let id):
      try subscriptions.end(id, .times)
      return nil
    case .meter(let rate, let player):
      let target = try server.registry.player(player)
      let cost = Subscriptions.Cost(eventsPerSecond: rate)
      let id = try newSubscriptionID(cost)
      let token = try target.player.tryOnLoop { player throws(MediaError) in
        try player.addMeterObserver(rate: rate) { [weak self] observation in
          self?.send(.meter(Self.meter(observation, id, target)), form: form)
        }
      }
      subscribe(id, .meters, cost, to: target, form: form) {
        target.player.onLoop { try? $0.removeMeterObserver(token) }
      }
      return .ok(["id": .int(id)])
    case .unmeter(let id):
      try subscriptions.end(id, .meters)
      return nil
    case .events(let query): return try events(query)
    case .explain(let player): return try explain(try server.registry.player(player))
    case .wait, .clockAdvance: preconditionFailure("the handler of immediate commands got one that waits")
    }
  }

  /// Adds a subscription to boundary times. `count` is the number of requested times, including duplicates.
  private func observeTimes(
    _ times: BoundaryTimes, count: Int, of target: NamedPlayer, item: PlayerItem.ID?, includesSeeks: Bool,
    form: WireForm
  ) throws(MediaError) -> Reply {
    let cost = Subscriptions.Cost(timeCount: count)
    let id = try newSubscriptionID(cost)
    let token = try target.player.tryOnLoop { player throws(MediaError) in
      try player.addBoundaryTimeObserver(
        forTimes: times, itemID: item, includesSeeks: includesSeeks,
        onEnd: { [weak self] in self?.itemRemoved(item, id, target, form: form) },
        using: { [weak self] in self?.send(Self.event($0, id, target), form: form) })
    }
    return addTimeSubscription(id, cost, target, token, form: form)
  }

  /// Starts an `at` with many times, which are decoded and sorted in several loop iterations.
  func startAt(
    _ times: WireList<MediaTime>, item: PlayerItem.ID?, includesSeeks: Bool, on target: NamedPlayer,
    _ request: AnyWaitingRequest
  ) throws(MediaError) {
    // Checks the limits before the times are decoded. `observeTimes` checks them again.
    _ = try newSubscriptionID(Subscriptions.Cost(timeCount: times.count))
    var (iterator, ordered) = (times.makeIterator(), BoundaryTimes())
    let form = request.request.address.form
    func processSlice() {
      guard !request.isDone else { return }
      var slice: [MediaTime] = []
      while slice.count < BoundaryTimes.sliceLength, let time = iterator.next() { slice.append(time) }
      ordered.add(slice)
      if slice.isEmpty, ordered.order() {
        do throws(MediaError) {
          guard !target.isClosed else { throw server.registry.noSuchPlayerError(target.name) }
          return request.finish(
            try observeTimes(
              ordered, count: times.count, of: target, item: item, includesSeeks: includesSeeks, form: form))
        } catch {
          return request.fail(error)
        }
      }
      let continuation = ControlLoopClosure { processSlice() }
      server.loop.execute { continuation.body() }
    }
    processSlice()
  }

  /// The id for a new subscription. `subscribe` adds the subscription.
  ///
  /// - Throws: `too-many-subscriptions`.
  func newSubscriptionID(_ cost: Subscriptions.Cost = Subscriptions.Cost()) throws(MediaError) -> Int {
    try subscriptions.newID(cost, limits: server.limits, mayControl: mayControl) {
      var (all, watching) = (Subscriptions.Cost(), Subscriptions.Cost())
      for connection in server.connections.values where connection !== self {
        all = all + connection.subscriptions.cost
        if !connection.mayControl { watching = watching + connection.subscriptions.cost }
      }
      return (all, watching)
    }
  }

  /// Whether the connection has the right `control`.
  private var mayControl: Bool { peer?.rights.contains(.control) == true }

  /// Ends a subscription to times of `item`, which has left the queue.
  private func itemRemoved(_ item: PlayerItem.ID?, _ id: Int, _ target: NamedPlayer, form: WireForm) {
    end(
      id, .init(subscription: id, player: target.name, item: item.map { Int(clamping: $0) }, cause: .itemRemoved),
      form: form)
  }

  /// Adds a time observer as a subscription.
  private func addTimeSubscription(
    _ id: Int, _ cost: Subscriptions.Cost, _ target: NamedPlayer, _ token: ObserverToken, form: WireForm
  ) -> Reply {
    subscribe(id, .times, cost, to: target, form: form) { target.player.onLoop { try? $0.removeTimeObserver(token) } }
    return .ok(["id": .int(id)])
  }

  /// Adds a subscription until a command, the connection or the player ends it.
  private func subscribe(
    _ id: Int, _ kind: Subscriptions.Kind, _ cost: Subscriptions.Cost = Subscriptions.Cost(),
    to target: NamedPlayer, form: WireForm, end: @escaping () -> Void
  ) {
    let closeHandlerID = target.addCloseHandler { [weak self] in
      self?.end(id, .init(subscription: id, player: target.name, item: nil, cause: .playerClosed), form: form)
    }
    subscriptions.add(id, kind, cost) { [weak self] in
      target.removeCloseHandler(closeHandlerID)
      end()
      self?.dropChanges(ofSubscription: id)
    }
  }

  /// Ends a subscription and reports the cause to the client.
  private func end(_ id: Int, _ removed: Event.Removed, form: WireForm) {
    subscriptions.end(id)
    send(.removed(removed), form: form)
  }

  /// The event for an observation.
  private static func event(_ observation: TimeObservation, _ id: Int, _ target: NamedPlayer) -> Event {
    switch observation.reason {
    case .periodic: tick(observation, .periodic, id, target)
    case .jump: tick(observation, .jump, id, target)
    case .start: tick(observation, .start, id, target)
    case .stop: tick(observation, .stop, id, target)
    case .crossed: boundary(observation, .crossed, id, target)
    case .skipped: boundary(observation, .skipped(isBackward: observation.isBackward), id, target)
    }
  }

  private static func tick(
    _ observation: TimeObservation, _ reason: Event.Tick.Reason, _ id: Int, _ target: NamedPlayer
  ) -> Event {
    .tick(
      Event.Tick(
        subscription: id, position: position(observation, target), rate: observation.rate, reason: reason,
        lateNanoseconds: observation.lateNanoseconds, hostTime: observation.hostTime))
  }

  private static func boundary(
    _ observation: TimeObservation, _ kind: Event.Boundary.Kind, _ id: Int, _ target: NamedPlayer
  ) -> Event {
    .boundary(
      Event.Boundary(
        subscription: id, position: position(observation, target), kind: kind,
        chapter: observation.chapter.map { .init(number: $0.number, title: $0.chapter.title) },
        lateNanoseconds: observation.lateNanoseconds))
  }

  private static func position(_ observation: TimeObservation, _ target: NamedPlayer) -> Event.Position {
    Event.Position(player: target.name, item: Int(clamping: observation.itemID), time: observation.time)
  }

  private static func meter(_ observation: MeterObservation, _ id: Int, _ target: NamedPlayer) -> Event.Meter {
    let position = Event.Position(
      player: target.name, item: observation.itemID.map { Int(clamping: $0) }, time: observation.time)
    return Event.Meter(
      subscription: id, position: position, average: observation.levels.averagePower,
      peak: observation.levels.peakPower, averageScale: observation.levels.averagePower.map(MeterLevels.scale),
      peakScale: observation.levels.peakPower.map(MeterLevels.scale), lateNanoseconds: observation.lateNanoseconds)
  }

  // MARK: - Waiting

  /// Starts a `wait`.
  func start(
    _ conditions: WireList<WaitCondition>, timeout: MediaTime?, on target: NamedPlayer, _ request: AnyWaitingRequest
  ) throws(MediaError) {
    try WaitRunner(conditions, on: target, loop: server.loop, request: request).start(timeout: timeout)
  }

  /// Advances the virtual clock. Replies with the new time when its timers have run.
  ///
  /// Durations are summed exactly before the conversion to nanoseconds, so that rounding errors do not accumulate.
  func startAdvance(by duration: MediaTime, _ request: AnyWaitingRequest) throws(MediaError) {
    guard let clock = server.loop as? VirtualControlLoop else {
      throw MediaError(.notVirtualClock, "the clock is not virtual; start playheadd with --clock virtual")
    }
    let requested = server.virtualTime.requested + duration
    guard let nanoseconds = requested.wholeNanoseconds, nanoseconds <= Self.latestNanoseconds else {
      throw MediaError(.invalidTime, "the target time of the clock is out of range")
    }
    let increment = nanoseconds - server.virtualTime.nanoseconds
    server.virtualTime = (requested, nanoseconds)
    clock.advance(byNanoseconds: increment) {
      // The events of the advance are already in the output, because handlers send them with direct calls.
      request.finish(.ok(["now": .seconds(nanoseconds: nanoseconds)]))
    }
  }

  /// The latest time of the virtual clock: 100 years.
  private static let latestNanoseconds: Int64 = 3_155_760_000_000_000_000
}
