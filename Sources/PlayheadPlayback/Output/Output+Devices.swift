import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The devices of the output: opening, loss, selection, and the resulting route.
///
/// The monitor reports the available devices, and the sink reports events of the stream. `DeviceChooser` determines the
/// best device, and `RouteTracker` the route change. While a device is being opened, the old one continues to play.
extension Output {
  /// The maximum delay between the stop of a lost device and its report. The output clock still advances in this time.
  private static let reportNanoseconds: Int64 = 25_000_000
  /// An attempt that fails after more than this time got no reply from the server. A refused attempt fails sooner.
  private static let noReplyNanoseconds: Int64 = 1_000_000_000

  // MARK: - Opening

  /// Opens the device, or its replacement, on a worker, and starts the monitor of devices.
  func open() {
    if let newMonitor = configuration.makeMonitor?() {
      monitor = newMonitor
      newMonitor.start { [loop] devices in loop.execute { self.handleDevices(devices) } }
    }
    if let choice = monitor == nil ? .device(nil) : chooser.firstChoice { start(choice) }
  }

  /// Begins to open a choice. A pending attempt is abandoned.
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
    lastSessionNumber += 1
    let number = lastSessionNumber
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
        self.onOpeningEnded()
      }
    }
  }

  private func opened(_ sink: any AudioSink, format: AudioFormat, number: UInt64, _ openedRole: StreamRole) {
    guard number == lastSessionNumber, let attempt, state.status != .closed else { return dispose(of: sink) }
    // The device disappeared while it was being opened, and only a placeholder replaced it.
    if monitor != nil, attempt.choice == .device(nil), chooser.refusesDefault(sink.deviceName) {
      dispose(of: sink)
      return openFailed(MediaError(.outputUnavailable, "the sound server has no device"), number: number)
    }
    self.attempt = nil
    retry.timer?.cancel()
    retry = Retry()
    beginSession(on: sink, format: format, number: number, for: attempt.choice)
    // The role may have changed while the device was being opened.
    if role() != openedRole { setRole(role(), makesNewStream: false) }
    state = OutputState(status: .ready, label: sink.label, format: format)
    if let name = sink.deviceName {
      chooser.deviceWasOpened(name)
      report(tracker.playing(on: name, isChosen: attempt.isChosen))
    } else if attempt.choice == .silence {
      tracker.lost(.override)
      report(tracker.noOutputAvailable())
    }
    for client in clients.values { client.outputDidStart() }
  }

  private func openFailed(_ error: MediaError, number: UInt64) {
    guard number == lastSessionNumber, let attempt, state.status != .closed else { return }
    self.attempt = nil
    // The current session continues to play.
    if session == nil { handleMissingDevice(because: error) }
    let duration = loop.now.nanoseconds(since: attempt.startedAt)
    switchToBestDevice(afterFailureOf: attempt.choice, hadNoReply: duration >= Self.noReplyNanoseconds)
  }

  /// Handles the absence of a device: opens the fallback or silence, or makes the players wait.
  private func handleMissingDevice(because error: MediaError) {
    report(tracker.noOutputAvailable())
    let makeStandIn = chooser.hasHadDevice && monitor != nil ? nil : configuration.makeFallback
    if let make = makeStandIn ?? (chooser.selection.lostPolicy == .null ? configuration.makeSilence : nil) {
      let sink = make()
      do throws(MediaError) {
        let format = try sink.open()
        logger.warning("playing on the fallback output", metadata: ["output": "\(sink.label)", "error": "\(error)"])
        lastSessionNumber += 1
        beginSession(on: sink, format: format, number: lastSessionNumber, for: .nothing)
        state = OutputState(status: .fallback, label: sink.label, format: format, error: error)
        for client in clients.values { client.outputDidStart() }
        return
      } catch { logger.error("no fallback output", metadata: ["error": "\(error)"]) }
    }
    if configuration.canRecover {
      logger.warning("no output", metadata: ["error": "\(error)"])
    } else if state.status != .opening {
      // If the output could not be opened at all, the caller of `open` reports the error.
      logger.error("the output was lost", metadata: ["error": "\(error)"])
    }
    state = OutputState(status: .lost, error: error)
  }

  // MARK: - Loss

  func sinkFailed(_ number: UInt64, _ error: MediaError) {
    guard session?.number == number else { return }
    handleLoss(error)
  }

  /// Handles the loss of the device (`deviceLost`), or of its server.
  private func handleLoss(_ error: MediaError, uncertaintyNanoseconds: Int64 = 0) {
    guard let session else { return }
    logger.warning("output lost", metadata: ["error": "\(error)"])
    if error.code == .deviceLost {
      tracker.lost(.oldDeviceUnavailable)
      let name = session.sink.deviceName
      chooser.deviceWasLost(name)
      if chooser.selection.lostPolicy == .pause, !AudioDevice.isPlaceholder(name) { pauseClients() }
    } else {
      tracker.lost(.noSuitableRoute)
      chooser.serverWasLost()
      // The device list of the lost server is invalid, and `serverWasLost` may also have discarded the list of the next
      // server. The monitor therefore reports again.
      monitor?.check()
    }
    endSession(uncertaintyNanoseconds: uncertaintyNanoseconds)
    switchToBestDevice()
    guard attempt == nil else {
      state = OutputState(status: .lost, error: error)
      return
    }
    handleMissingDevice(because: error)
  }

  private func pauseClients() { for client in clients.values { client.outputRouteWasLost() } }

  func handle(_ notice: DeviceNotice, _ number: UInt64) {
    guard let session, session.number == number else { return }
    switch notice {
    case .moved(let name):
      logger.info("the sound server moved the output", metadata: ["device": "\(name)"])
      state.label = session.sink.label
      report(tracker.playing(on: name))
    case .stalled:
      logger.warning("the output accepts no audio", metadata: ["output": "\(session.sink.label)"])
      state.status = .unresponsive
      for client in clients.values { client.outputDidStall(true) }
    case .resumed:
      logger.info("the output accepts audio again", metadata: ["output": "\(session.sink.label)"])
      state.status = .ready
      for client in clients.values { client.outputDidStall(false) }
    }
  }

  // MARK: - Selection

  /// Sets the selection. An available device is opened while the current one continues to play.
  ///
  /// - Throws: then nothing changes.
  ///   - `outputConfiguration` if the output has no selectable devices
  ///   - `noSuchDevice`
  ///   - `outputUnavailable` if a device is named and no sound server is available
  func select(_ selection: OutputSelection) throws(MediaError) {
    guard configuration.makeMonitor != nil else {
      throw MediaError(
        .outputConfiguration, "this output is not on a sound server, so no device can be selected")
    }
    if case .device(let name) = selection.target, selection.target != chooser.selection.target {
      guard let devices = chooser.devices else { throw MediaError(.outputUnavailable, "no sound server is available") }
      guard devices.output(name) != nil else {
        throw MediaError(.noSuchDevice, "unknown output device '\(name)'")
      }
    }
    let old = chooser.selection
    chooser.select(selection)
    if selection != old { onEvent(.selection(selection)) }
    let choice = chooser.choice
    var isMoved = false
    if case .device(let name?) = choice { isMoved = session?.sink.deviceName != name }
    let isDifferent = selection.target != old.target || selection.preferred != old.preferred || isMoved
    let isAlreadyOpen = state.status == .ready && session?.choice == choice && !isMoved
    retry.reset()
    if isDifferent, !isAlreadyOpen, attempt?.choice != choice { return start(choice, isChosen: true) }
    switchToBestDevice()
  }

  /// Handles a report of the sound server's devices.
  private func handleDevices(_ devices: AudioDevices?) {
    guard state.status != .closed else { return }
    let name = session?.sink.deviceName
    let hasVanished =
      name != nil && devices != nil && tracker.devices?.output(name) != nil && devices?.output(name) == nil
    let isNew = chooser.devices != devices
    chooser.devices = devices
    let change = tracker.devicesChanged(devices)
    if isNew {
      onEvent(.devices(devices))
      retry.reset()
    }
    if hasVanished {
      let error = MediaError(.deviceLost, "the device '\(name ?? "")' is no longer available")
      return handleLoss(error, uncertaintyNanoseconds: isVirtual ? 0 : Self.reportNanoseconds)
    }
    report(change)
    if let change, change.isLossOfOutput, chooser.selection.lostPolicy != .move { pauseClients() }
    switchToBestDevice()
  }

  /// Switches to the best device, if it is another one. `failed` is the choice that has just failed, and `hadNoReply`
  /// whether it failed without a reply.
  private func switchToBestDevice(afterFailureOf failed: DeviceChooser.Choice? = nil, hadNoReply: Bool = false) {
    guard monitor != nil, state.status != .closed else { return }
    let choice = chooser.choice
    let isPlaying = state.status == .ready || state.status == .unresponsive
    guard choice != .nothing, attempt?.choice != choice,
      session.map({ !isPlaying || chooser.mustSwitch(from: $0.choice) }) ?? true
    else { return }
    guard choice == failed else { return start(choice) }
    // The device exists but cannot be opened. If the server did not reply, the monitor reports when it replies again.
    // If the server refused, no report follows, so a timer retries.
    if hadNoReply, let monitor { return monitor.check() }
    retry.timer?.cancel()
    let time = loop.now.advanced(byNanoseconds: retry.nextDelayNanoseconds())
    retry.timer = loop.schedule(at: time) { [weak self] in self?.switchToBestDevice() }
  }

  /// Whether time is virtual: then reports are never late.
  var isVirtual: Bool { loop is VirtualControlLoop }

  /// Reports a change of the route, if there is one.
  private func report(_ change: RouteChange?) {
    guard let change else { return }
    logger.info(
      "the route changed",
      metadata: [
        "reason": "\(change.reason.rawValue)", "output": "\(change.current.output?.label ?? "none")",
        "input": "\(change.current.input?.label ?? "none")",
      ])
    onEvent(.route(change))
  }
}
