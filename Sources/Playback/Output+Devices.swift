import MediaCore
import RealtimeAudio

/// Which device the output plays on: opening, losing, choosing another one, and the route that comes of it.
///
/// What there is comes from the monitor, what happens to the stream from the sink; `DeviceChooser` says what is best of that and
/// `RouteTracker` what it means. While one device is being opened the old one plays on.
extension Output {
  /// A report of a device that went away may come so much later than the device stopped, and the clock ran on.
  private static let reportNanoseconds: Int64 = 25_000_000
  /// An attempt that failed after so long got no answer; one that was refused fails at once.
  private static let silenceNanoseconds: Int64 = 1_000_000_000

  // MARK: - Opening

  /// Opens the device, or what stands in for it, on a worker; and begins to follow what devices there are.
  func open() {
    if let made = configuration.makeMonitor?() {
      monitor = made
      made.start { [loop] devices in loop.execute { self.reported(devices) } }
    }
    if let choice = monitor == nil ? .device(nil) : chooser.firstChoice { start(choice) }
  }

  /// Begins to open what was chosen. An attempt under way is given up.
  func start(_ choice: DeviceChooser.Choice, isChosen: Bool = false) {
    let sink: any AudioSink
    switch choice {
    case .nothing: return
    case .silence:
      guard let makeSilence = configuration.makeSilence else { return }
      sink = makeSilence()
    case .device(let name): sink = configuration.makeSink(name)
    }
    attempt = (choice, isChosen, loop.now)
    sessionCount += 1
    let number = sessionCount
    openingCount += 1
    let role = role()
    (sink as? any SharedDeviceSink)?.prepare(role: role) { [weak self] notice in
      guard let self else { return }
      loop.execute { if self.session?.number == number { self.onSharing(notice) } }
    }
    NamedThread.detached(name: "open-output") { [loop] in
      let result = Result { () throws(MediaError) in try sink.open() }
      loop.execute {
        self.openingCount -= 1
        switch result {
        case .success(let format): self.opened(sink, format: format, number: number, role)
        case .failure(let error): self.openFailed(error, number: number)
        }
        self.onOpened()
      }
    }
  }

  private func opened(_ sink: any AudioSink, format: AudioFormat, number: UInt64, _ openedRole: StreamRole) {
    guard number == sessionCount, let attempt, state.status != .closed else { return dispose(of: sink) }
    // It went away, and nothing was there to take its place, between the choice and now.
    if monitor != nil, attempt.choice == .device(nil), chooser.refusesDefault(sink.deviceName) {
      dispose(of: sink)
      return openFailed(MediaError(.outputUnavailable, "the sound server has no device"), number: number)
    }
    self.attempt = nil
    retry.timer?.cancel()
    retry = Retry()
    begin(sink, format: format, number: number, for: attempt.choice)
    // It may have become another one while the device was being opened.
    if role() != openedRole { setRole(role(), makesNewStream: false) }
    state = OutputState(status: .ready, label: sink.label, format: format)
    if let name = sink.deviceName {
      chooser.deviceWasOpened(name)
      tell(tracker.playing(on: name, isChosen: attempt.isChosen))
    } else if attempt.choice == .silence {
      tracker.lost(.override)
      tell(tracker.nothingPlays())
    }
    for client in clients.values { client.outputDidStart() }
  }

  private func openFailed(_ error: MediaError, number: UInt64) {
    guard number == sessionCount, let attempt, state.status != .closed else { return }
    self.attempt = nil
    // What plays plays on.
    if session == nil { nothingPlays(because: error) }
    follow(after: attempt.choice, wasSilent: loop.now.nanoseconds(since: attempt.beginning) >= Self.silenceNanoseconds)
  }

  /// There is no device: the fallback plays, or players wait.
  private func nothingPlays(because error: MediaError) {
    tell(tracker.nothingPlays())
    let makeStandIn = chooser.hasHadDevice && monitor != nil ? nil : configuration.makeFallback
    if let make = makeStandIn ?? (chooser.selection.lostPolicy == .null ? configuration.makeSilence : nil) {
      let sink = make()
      do throws(MediaError) {
        let format = try sink.open()
        logger.warning("playing on the fallback output", metadata: ["output": "\(sink.label)", "error": "\(error)"])
        sessionCount += 1
        begin(sink, format: format, number: sessionCount, for: .nothing)
        state = OutputState(status: .fallback, label: sink.label, format: format, error: error)
        for client in clients.values { client.outputDidStart() }
        return
      } catch { logger.error("no fallback output", metadata: ["error": "\(error)"]) }
    }
    if configuration.canRecover {
      logger.warning("no output", metadata: ["error": "\(error)"])
    } else if state.status != .opening {
      // (That it could not even be opened is for who opened it to say.)
      logger.error("no output any more", metadata: ["error": "\(error)"])
    }
    state = OutputState(status: .lost, error: error)
  }

  // MARK: - Losing

  func sinkFailed(_ number: UInt64, _ error: MediaError) {
    guard session?.number == number else { return }
    lose(error)
  }

  /// What is played on is gone: the device (`deviceLost`), or its server with it.
  private func lose(_ error: MediaError, doubtNanoseconds: Int64 = 0) {
    guard let session else { return }
    logger.warning("output lost", metadata: ["error": "\(error)"])
    if error.code == .deviceLost {
      tracker.lost(.oldDeviceUnavailable)
      let name = session.sink.deviceName
      chooser.deviceWasLost(name)
      if chooser.selection.lostPolicy == .pause, !AudioDevice.isStandIn(name) { pauseClients() }
    } else {
      tracker.lost(.noSuitableRoute)
      chooser.serverWasLost()
      // What was reported of the server that is gone holds no longer, and what was reported of the next one may have come before
      // this.
      monitor?.check()
    }
    endSession(doubtNanoseconds: doubtNanoseconds)
    follow()
    guard attempt == nil else {
      state = OutputState(status: .lost, error: error)
      return
    }
    nothingPlays(because: error)
  }

  private func pauseClients() { for client in clients.values { client.outputRouteWasLost() } }

  func noticed(_ notice: DeviceNotice, _ number: UInt64) {
    guard let session, session.number == number else { return }
    switch notice {
    case .moved(let name):
      logger.info("the sound server moved the output", metadata: ["device": "\(name)"])
      state.label = session.sink.label
      tell(tracker.playing(on: name))
    case .stoppedAnswering:
      logger.warning("the output takes no sound", metadata: ["output": "\(session.sink.label)"])
      state.status = .unresponsive
      for client in clients.values { client.outputDidStall(true) }
    case .answersAgain:
      logger.info("the output takes sound again", metadata: ["output": "\(session.sink.label)"])
      state.status = .ready
      for client in clients.values { client.outputDidStall(false) }
    }
  }

  // MARK: - Choosing

  /// What to play on from now on. Where it is there it is opened while what plays plays on.
  ///
  /// Errors: `outputConfiguration` where there is no choice, `noSuchDevice`, `outputUnavailable` when a device is named and no
  /// sound server answers. Then nothing changes.
  func select(_ selection: OutputSelection) throws(MediaError) {
    guard configuration.makeMonitor != nil else {
      throw MediaError(
        .outputConfiguration, "this output is no device of a sound server: there is nothing to choose from")
    }
    if case .device(let name) = selection.target, selection.target != chooser.selection.target {
      guard let devices = chooser.devices else { throw MediaError(.outputUnavailable, "no sound server answers") }
      guard devices.output(name) != nil else {
        throw MediaError(.noSuchDevice, "there is no output device called '\(name)'")
      }
    }
    let old = chooser.selection
    chooser.select(selection)
    if selection != old { onEvent(.selection(selection)) }
    let choice = chooser.choice
    var isMoved = false
    if case .device(let name?) = choice { isMoved = session?.sink.deviceName != name }
    let isOther = selection.target != old.target || selection.preferred != old.preferred || isMoved
    let isThere = state.status == .ready && session?.choice == choice && !isMoved
    retry.hurry()
    if isOther, !isThere, attempt?.choice != choice { return start(choice, isChosen: true) }
    follow()
  }

  /// The sound server has these devices now.
  private func reported(_ devices: AudioDevices?) {
    guard state.status != .closed else { return }
    let name = session?.sink.deviceName
    let hasVanished =
      name != nil && devices != nil && tracker.devices?.output(name) != nil && devices?.output(name) == nil
    let isNew = chooser.devices != devices
    chooser.devices = devices
    let change = tracker.devicesChanged(devices)
    if isNew {
      onEvent(.devices(devices))
      retry.hurry()
    }
    if hasVanished {
      let error = MediaError(.deviceLost, "the device '\(name ?? "")' went away")
      return lose(error, doubtNanoseconds: isVirtual ? 0 : Self.reportNanoseconds)
    }
    tell(change)
    if let change, change.isLossOfOutput, chooser.selection.lostPolicy != .move { pauseClients() }
    follow()
  }

  /// Goes to what is best now, if that is something else. `failed`: what has just been tried in vain, and whether because
  /// nobody answered.
  private func follow(after failed: DeviceChooser.Choice? = nil, wasSilent: Bool = false) {
    guard monitor != nil, state.status != .closed else { return }
    let choice = chooser.choice
    let isPlaying = state.status == .ready || state.status == .unresponsive
    guard choice != .nothing, attempt?.choice != choice,
      session.map({ !isPlaying || chooser.mustLeave($0.choice) }) ?? true
    else { return }
    guard choice == failed else { return start(choice) }
    // The device is there and cannot be had. A server that did not answer is heard of when it does; when one that refused will
    // not any more nobody says.
    if wasSilent, let monitor { return monitor.check() }
    retry.timer?.cancel()
    let time = loop.now.advanced(byNanoseconds: retry.takeNanoseconds())
    retry.timer = loop.schedule(at: time) { [weak self] in self?.follow() }
  }

  /// Time passes only when it is told to, and nothing comes late.
  var isVirtual: Bool { loop is VirtualControlLoop }

  /// Where a change of route is to be told.
  private func tell(_ change: RouteChange?) {
    guard let change else { return }
    logger.info(
      "another route",
      metadata: [
        "reason": "\(change.reason.rawValue)", "output": "\(change.current.output?.label ?? "none")",
        "input": "\(change.current.input?.label ?? "none")",
      ])
    onEvent(.route(change))
  }
}
