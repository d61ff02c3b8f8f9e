import MediaAssets
import MediaCore
import RealtimeAudio
import Recording
import WireProtocol

/// Commands about recordings. Other threads prepare and finalize the recordings.
extension Connection {
  /// Runs the commands that reply immediately. Nil means `ok` without fields.
  func run(_ command: RecordCommand, form: WireForm) throws(MediaError) -> Reply? {
    let recorders = server.recorders
    switch command {
    case .start(let number, let moment, let duration):
      let numbered = try recorders.recorder(number)
      guard numbered.recorder.status.state != .stopped else {
        throw MediaError(.invalidState, "recorder \(numbered.number) is stopped, and its recording is complete")
      }
      try server.engine.session.checkRecording()
      try numbered.recorder.startRecording(atHostTime: Self.hostTime(moment), forDuration: duration)
    case .pause(let number): try recorders.recorder(number).recorder.pause()
    case .status(let number): return .ok(Self.fields(of: try recorders.recorder(number)))
    case .list:
      let rows = recorders.recorders.map(Self.fields)
      return .ok(["count": .int(rows.count)], rows: rows)
    case .watch(let number, let rate): return try watch(try recorders.recorder(number), rate: rate, form: form)
    case .unwatch(let id): try subscriptions.end(id, .recordings)
    case .prepare, .stop, .delete: preconditionFailure("the handler of immediate commands got one that waits")
    }
    return nil
  }

  /// Starts the commands that wait for the source or the file.
  func start(_ command: RecordCommand, _ request: AnyWaitingRequest) throws(MediaError) {
    let loop = server.loop
    switch command {
    case .prepare(let recording): try start(recording, request)
    case .stop(let number):
      let numbered = try server.recorders.recorder(number)
      // Continues if the connection closes, because the file must be complete.
      try numbered.recorder.stop { [number = numbered.number, file = numbered.file] result in
        loop.execute {
          request.finish(with: result) { .ok(Self.fields(of: $0, recorder: number, requestedFile: file)) }
        }
      }
    case .delete(let number):
      let numbered = try server.recorders.recorder(number)
      let (recorder, file) = (numbered.recorder, numbered.file)
      guard recorder.status.state == .stopped else {
        throw MediaError(.invalidState, "a recording can be deleted only after it is stopped")
      }
      let path = recorder.status.outcome?.path.flatMap { FilePath(bytes: $0) } ?? file
      let confined = ControlLoopValue(value: numbered)
      NamedThread.detached(name: "playhead-delete") { [server] in
        let result = Result { () throws(MediaError) in try recorder.deleteRecording() }
        loop.execute {
          request.finish(with: result) { _ in
            server.recorders.remove(confined.value)
            return .ok(["recorder": .int(confined.value.number), "file": .path(path)])
          }
        }
      }
    case .start, .pause, .status, .list, .watch, .unwatch:
      preconditionFailure("the handler of waiting commands got one that does not wait")
    }
  }

  /// Makes a value `Sendable`. Safety: the value is used on the control loop only.
  private struct ControlLoopValue<Value>: @unchecked Sendable {
    let value: Value
  }

  // MARK: - Preparing

  private func start(_ command: RecordCommand.Recording, _ request: AnyWaitingRequest) throws(MediaError) {
    guard let makeSource = server.makeSource else {
      throw MediaError(.sourceUnavailable, "this daemon has no source for recordings")
    }
    try server.engine.session.checkRecording()
    let loop = server.loop
    let location = try server.registry.recordingLocation(
      command.file, replaces: command.replaces, for: peer?.userID)
    var options = Self.options(command)
    options.journal = server.recordingJournal
    let source = command.source
    let added = try server.recorders.add(command.file) { [server] number in
      options.onEvent = { [weak server] event in
        loop.execute { [weak server] in server?.recorders.handle(event, ofRecorder: number) }
      }
      return AudioRecorder(location: location, settings: Self.settings(command), options: options) {
        makeSource(source)
      }
    }
    let confined = ControlLoopValue(value: added)
    added.recorder.prepareToRecord { [server] result in
      loop.execute {
        // Removes a recorder that could not be prepared.
        if case .failure = result { server.recorders.remove(confined.value) }
        request.finish(with: result) { _ in
          let status = confined.value.recorder.status
          return .ok([
            "recorder": .int(confined.value.number), "file": .path(command.file), "source": .string(status.sourceLabel),
            "format": .string(status.format?.rawValue ?? "none"),
            "sampleRate": .int(command.sampleRateHz ?? status.sourceFormat?.sampleRateHz ?? 0),
            "channels": .int(command.channelCount ?? status.sourceFormat?.channelCount ?? 0),
          ])
        }
      }
    }
  }

  private static func settings(_ command: RecordCommand.Recording) -> RecordingSettings {
    var settings = RecordingSettings()
    settings.container = command.container.flatMap { WritableContainer(rawValue: $0.rawValue) }
    settings.format = command.format.flatMap { RecordingSettings.Format(rawValue: $0.rawValue) }
    (settings.sampleRateHz, settings.channelCount) = (command.sampleRateHz, command.channelCount)
    settings.bitDepth = command.bitsPerSample
    (settings.isFloat, settings.isBigEndian) = (command.isFloat, command.isBigEndian)
    settings.quality = command.quality.flatMap { RecordingSettings.Quality(rawValue: $0.rawValue) }
    settings.bitRate = command.bitRate
    return settings
  }

  private static func options(_ command: RecordCommand.Recording) -> AudioRecorder.Options {
    var options = AudioRecorder.Options()
    options.startLevel = command.startLevel.map { Float($0) }
    options.silenceLevel = command.silenceLevel.map { Float($0) }
    if let longest = command.longestSilence { options.longestSilence = longest.seconds }
    return options
  }

  private static func hostTime(_ moment: RecordCommand.StartMoment) -> HostTime? {
    switch moment {
    case .now: nil
    case .after(let delay): HostTime.now.advanced(byNanoseconds: delay.wholeNanoseconds ?? .max)
    case .instant(let time):
      HostTime(nanoseconds: time.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) ?? .max)
    }
  }

  // MARK: - Replies

  private static func fields(
    of outcome: AudioRecorder.Outcome, recorder: Int, requestedFile: FilePath
  ) -> Fields {
    var fields: Fields = ["recorder": .int(recorder)]
    if let path = outcome.path {
      fields.append("file", .path(path == requestedFile.bytes ? requestedFile : FilePath(bytes: path) ?? requestedFile))
    }
    if outcome.duration.isNumeric { fields.append("duration", .time(outcome.duration)) }
    fields.append("size", .integer(outcome.byteCount))
    fields.append("lost", .integer(outcome.lostFrameCount))
    fields.append("skipped", .integer(outcome.skippedFrameCount))
    append(outcome.error, to: &fields)
    return fields
  }

  private static func fields(of numbered: NumberedRecorder) -> Fields {
    let status = numbered.recorder.status
    let path = status.outcome?.path.flatMap { FilePath(bytes: $0) } ?? numbered.file
    var fields: Fields = [
      "recorder": .int(numbered.number), "state": .string(status.state.rawValue), "file": .path(path),
    ]
    fields.append(position: status.currentTime)
    fields.append("source", status.sourceLabel.isEmpty ? .none : .string(status.sourceLabel))
    fields.append("format", status.format.map { .string($0.rawValue) } ?? .none)
    fields.append("sampleRate", .int(numbered.recorder.settings.sampleRateHz ?? status.sourceFormat?.sampleRateHz ?? 0))
    fields.append("channels", .int(numbered.recorder.settings.channelCount ?? status.sourceFormat?.channelCount ?? 0))
    fields.append("lost", .integer(status.outcome?.lostFrameCount ?? status.lostFrameCount))
    fields.append("skipped", .integer(status.outcome?.skippedFrameCount ?? status.skippedFrameCount))
    fields.append("waitingForLevel", .bool(status.isWaitingForLevel))
    append(status.outcome?.error, to: &fields)
    return fields
  }

  private static func append(_ error: MediaError?, to fields: inout Fields) {
    guard let error else { return }
    fields.append("fault", .string(error.code.name))
    fields.append("message", .string(error.message))
  }

  // MARK: - Observing

  private func watch(_ numbered: NumberedRecorder, rate: Double?, form: WireForm) throws(MediaError) -> Reply {
    let cost = Subscriptions.Cost(eventsPerSecond: rate ?? 0)
    let id = try newSubscriptionID(cost)
    let number = numbered.number
    let observerID = numbered.addObserver { [weak self] event in
      var event = event
      event.subscription = id
      self?.send(.recording(event), form: form)
    } onClose: { [weak self] in
      self?.subscriptions.end(id)
    }
    var meterObserverID: Int?
    if let rate {
      let loop = server.loop
      meterObserverID = try numbered.recorder.addMeterObserver(rate: rate) { [weak self] levels, time in
        loop.execute { [weak self] in
          guard let self, self.subscriptions.contains(id) else { return }
          self.send(.recordMeter(Event.RecordMeter(subscription: id, recorder: number, time: time, levels)), form: form)
        }
      }
    }
    let confined = ControlLoopValue(value: numbered)
    subscriptions.add(id, .recordings, cost) { [weak self] in
      confined.value.removeObserver(observerID)
      if let meterObserverID { confined.value.recorder.removeMeterObserver(meterObserverID) }
      self?.dropChanges(ofSubscription: id)
    }
    // The event with the current state comes after the reply.
    postReplyAction = .send { [weak self] in
      var event = confined.value.event(
        confined.value.recorder.status.state, error: confined.value.recorder.status.outcome?.error)
      event.subscription = id
      self?.send(.recording(event), form: form)
    }
    return .ok(["id": .int(id)])
  }
}

extension Event.RecordMeter {
  init(subscription: Int, recorder: Int, time: MediaTime, _ levels: MeterLevels) {
    self.init(
      subscription: subscription, recorder: recorder, time: time, average: levels.averagePower,
      peak: levels.peakPower, averageScale: levels.averagePower.map(MeterLevels.scale),
      peakScale: levels.peakPower.map(MeterLevels.scale))
  }
}

extension ServerContext {
  /// The journal of unfinished recordings, next to the saved state. Nil if no state is saved.
  var recordingJournal: RecordingJournal? {
    guard let status = stateWriter?.store.status, status.isSaving, !status.folder.isEmpty else { return nil }
    return RecordingJournal(folder: "\(status.folder)/recordings")
  }
}
