import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadRealtimeAudio
import PlayheadWireProtocol

extension ObserveCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (server, client) = (context.server, context.client)
    let target = try server.registry.player(arguments.player)
    let id = try client.newSubscriptionID()
    let observation = Observation(arguments.keys, id: id, form: context.form, on: target, client: client)
    client.subscribe(id, .values, to: target, form: context.form) { observation.stop() }
    // The initial values come after the reply.
    client.afterReply { observation.start() }
    return Reply(id: id, lastEvent: server.log.lastNumber)
  }
}

extension UnobserveCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.client.subscriptions.end(arguments.id, .values)
    return Reply()
  }
}

extension TickCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (client, form, interval) = (context.client, context.form, arguments.interval)
    let target = try context.server.registry.player(arguments.player)
    let cost = Subscriptions.Cost(eventsPerSecond: 1 / max(interval.seconds, 0.001))
    let id = try client.newSubscriptionID(cost)
    let token = try target.player.tryOnLoop { player throws(MediaError) in
      try player.addPeriodicTimeObserver(forInterval: interval) { [weak client] observation in
        client?.send(observation, id, target, form: form)
      }
    }
    return client.addTimeSubscription(id, cost, target, token, form: form)
  }
}

extension AtCommand: SlicedHandler {
  static func isLarge(_ arguments: Arguments<Self>, _ context: RequestContext) -> Bool {
    arguments.times.count > BoundaryTimes.sliceLength
  }

  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    return try observe(
      BoundaryTimes(Array(arguments.times)), arguments, of: target, item: try target.itemID(ifGiven: arguments.item),
      context)
  }

  /// Decodes and sorts the times in several loop iterations.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let server = context.server
    let target = try server.registry.player(arguments.player)
    let item = try target.itemID(ifGiven: arguments.item)
    // Checks the limits before the times are decoded. `observe` checks them again.
    _ = try context.client.newSubscriptionID(Subscriptions.Cost(timeCount: arguments.times.count))
    var (iterator, ordered) = (arguments.times.makeIterator(), BoundaryTimes())
    func processSlice() {
      guard !request.isDone else { return }
      var slice: [MediaTime] = []
      while slice.count < BoundaryTimes.sliceLength, let time = iterator.next() { slice.append(time) }
      ordered.add(slice)
      if slice.isEmpty, ordered.order() {
        do throws(MediaError) {
          guard !target.isClosed else { throw server.registry.noSuchPlayerError(target.name) }
          return request.finish(try observe(ordered, arguments, of: target, item: item, context))
        } catch {
          return request.fail(error)
        }
      }
      let continuation = ControlLoopClosure { processSlice() }
      server.loop.execute { continuation.body() }
    }
    processSlice()
  }

  private static func observe(
    _ times: BoundaryTimes, _ arguments: Arguments<Self>, of target: NamedPlayer, item: PlayerItem.ID?,
    _ context: RequestContext
  ) throws(MediaError) -> Reply {
    let (client, form) = (context.client, context.form)
    // The requested times, including duplicates.
    let cost = Subscriptions.Cost(timeCount: arguments.times.count)
    let id = try client.newSubscriptionID(cost)
    let token = try target.player.tryOnLoop { player throws(MediaError) in
      try player.addBoundaryTimeObserver(
        forTimes: times, itemID: item, includesSeeks: arguments.seeks,
        onEnd: { [weak client] in client?.itemRemoved(item, id, target, form: form) },
        using: { [weak client] in client?.send($0, id, target, form: form) })
    }
    return client.addTimeSubscription(id, cost, target, token, form: form)
  }
}

extension AtChaptersCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (client, form) = (context.client, context.form)
    let target = try context.server.registry.player(arguments.player)
    let item = try target.itemID(ifGiven: arguments.item)
    let id = try client.newSubscriptionID()
    let token = try target.player.tryOnLoop { player throws(MediaError) in
      try player.addChapterTimeObserver(
        itemID: item, includesSeeks: arguments.seeks,
        onEnd: { [weak client] in client?.itemRemoved(item, id, target, form: form) },
        using: { [weak client] in client?.send($0, id, target, form: form) })
    }
    return client.addTimeSubscription(id, Subscriptions.Cost(), target, token, form: form)
  }
}

extension UntickCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.client.subscriptions.end(arguments.id, .times)
    return Reply()
  }
}

extension MeterCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let (client, form, rate) = (context.client, context.form, arguments.rate)
    let target = try context.server.registry.player(arguments.player)
    let cost = Subscriptions.Cost(eventsPerSecond: rate)
    let id = try client.newSubscriptionID(cost)
    let token = try target.player.tryOnLoop { player throws(MediaError) in
      try player.addMeterObserver(rate: rate) { [weak client] observation in
        client?.send(MeterEvent(observation, id, target), form: form)
      }
    }
    client.subscribe(id, .meters, cost, to: target, form: form) {
      target.player.onLoop { try? $0.removeMeterObserver(token) }
    }
    return Reply(id: id)
  }
}

extension UnmeterCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.client.subscriptions.end(arguments.id, .meters)
    return Reply()
  }
}

extension WaitCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let target = try context.server.registry.player(arguments.player)
    var conditions: [WaitCondition] = []
    for condition in arguments.conditions { conditions.append(try resolved(condition, target)) }
    try WaitRunner(conditions, on: target, loop: context.server.loop, request: request)
      .start(timeout: arguments.timeout)
  }

  /// Returns the condition with an id instead of the position of an entry.
  private static func resolved(
    _ condition: WaitCondition, _ target: NamedPlayer
  ) throws(MediaError) -> WaitCondition {
    guard case .entry(let entry) = condition else { return condition }
    return .currentItem(Int(clamping: try target.itemID(entry)))
  }
}

extension ClockAdvanceCommand: WaitingHandler {
  /// The latest time of the virtual clock: 100 years.
  private static let latestNanoseconds: Int64 = 3_155_760_000_000_000_000

  /// Replies with the new time when its timers have run.
  ///
  /// Durations are summed exactly before the conversion to nanoseconds, so that rounding errors do not accumulate.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let server = context.server
    guard let clock = server.loop as? VirtualControlLoop else {
      throw MediaError(.notVirtualClock, "the clock is not virtual; start playheadd with --clock virtual")
    }
    let requested = server.virtualTime.requested + arguments.duration
    guard let nanoseconds = requested.wholeNanoseconds, nanoseconds <= latestNanoseconds else {
      throw MediaError(.invalidTime, "the target time of the clock is out of range")
    }
    let increment = nanoseconds - server.virtualTime.nanoseconds
    server.virtualTime = (requested, nanoseconds)
    clock.advance(byNanoseconds: increment) {
      // The events of the advance are already in the output, because handlers send them with direct calls.
      request.finish(Reply(now: HostTime(nanoseconds: nanoseconds)))
    }
  }
}

extension ExplainCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let target = try context.server.registry.player(arguments.player)
    guard let report = target.player.onLoop({ $0.lastStartReport }) else {
      throw MediaError(.invalidState, "the player \(target.name) has not started playback yet")
    }
    func microseconds(_ nanoseconds: Int64) -> Int64 { nanoseconds / 1_000 }
    return Reply(
      player: target.name, kind: report.kind.rawValue, item: report.itemID, requested: report.requested,
      reached: report.reached, wait: microseconds(report.waitNanoseconds),
      open: microseconds(report.openNanoseconds), index: microseconds(report.indexNanoseconds),
      demux: microseconds(report.demuxNanoseconds), decode: microseconds(report.decodeNanoseconds),
      resample: microseconds(report.resampleNanoseconds), commit: microseconds(report.commitNanoseconds),
      device: report.deviceNanoseconds.map(microseconds), total: microseconds(report.totalNanoseconds))
  }
}

/// Subscriptions.
extension Client {
  /// The id for a new subscription. `subscribe` adds the subscription.
  ///
  /// - Throws: `too-many-subscriptions`.
  func newSubscriptionID(_ cost: Subscriptions.Cost = Subscriptions.Cost()) throws(MediaError) -> Int {
    try subscriptions.newID(cost, limits: server.limits, mayControl: mayControl) {
      var (all, watching) = (Subscriptions.Cost(), Subscriptions.Cost())
      for client in server.connections.values.map(\.client) where client !== self {
        all = all + client.subscriptions.cost
        if !client.mayControl { watching = watching + client.subscriptions.cost }
      }
      return (all, watching)
    }
  }

  /// Whether the client has the right `control`.
  private var mayControl: Bool { peer?.rights.contains(.control) == true }

  /// Ends a subscription to times of `item`, which has left the queue.
  fileprivate func itemRemoved(_ item: PlayerItem.ID?, _ id: Int, _ target: NamedPlayer, form: WireForm) {
    end(
      id, .init(subscription: id, player: target.name, item: item, cause: .itemRemoved),
      form: form)
  }

  /// Adds a time observer as a subscription.
  fileprivate func addTimeSubscription(
    _ id: Int, _ cost: Subscriptions.Cost, _ target: NamedPlayer, _ token: ObserverToken, form: WireForm
  ) -> SubscriptionReply {
    subscribe(id, .times, cost, to: target, form: form) { target.player.onLoop { try? $0.removeTimeObserver(token) } }
    return SubscriptionReply(id: id)
  }

  /// Adds a subscription until a command, the connection or the player ends it.
  fileprivate func subscribe(
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
  private func end(_ id: Int, _ removed: RemovedEvent, form: WireForm) {
    subscriptions.end(id)
    send(removed, form: form)
  }
}

extension Client {
  /// Sends the event of an observation.
  fileprivate func send(_ observation: TimeObservation, _ id: Int, _ target: NamedPlayer, form: WireForm) {
    func tick(_ reason: TickEvent.Reason) {
      send(
        TickEvent(
          subscription: id,
          position: PlayerPosition(player: target.name, item: observation.itemID, time: observation.time),
          rate: observation.rate, reason: reason, lateNanoseconds: observation.lateNanoseconds,
          hostTime: observation.hostTime), form: form)
    }
    func boundary(_ kind: BoundaryEvent.Kind) {
      send(
        BoundaryEvent(
          subscription: id,
          position: ItemPosition(player: target.name, item: observation.itemID, time: observation.time), kind: kind,
          chapter: observation.chapter.map { .init(number: $0.number, title: $0.chapter.title) },
          lateNanoseconds: observation.lateNanoseconds), form: form)
    }
    switch observation.reason {
    case .periodic: tick(.periodic)
    case .jump: tick(.jump)
    case .start: tick(.start)
    case .stop: tick(.stop)
    case .crossed: boundary(.crossed)
    case .skipped: boundary(.skipped(isBackward: observation.isBackward))
    }
  }
}

extension MeterEvent {
  fileprivate init(_ observation: MeterObservation, _ id: Int, _ target: NamedPlayer) {
    self.init(
      subscription: id,
      position: PlayerPosition(player: target.name, item: observation.itemID, time: observation.time),
      levels: LevelValues(observation.levels), lateNanoseconds: observation.lateNanoseconds)
  }
}
