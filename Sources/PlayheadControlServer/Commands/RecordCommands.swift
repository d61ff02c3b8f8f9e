import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadRecording
import PlayheadWireProtocol

// Other threads prepare and complete the recordings.

/// Makes a value `Sendable`. Safety: the value is used on the control loop only.
private struct ControlLoopValue<Value>: @unchecked Sendable {
  let value: Value
}

extension RecordPrepareCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let server = context.server
    guard let makeSource = server.makeSource else {
      throw MediaError(.sourceUnavailable, "this daemon has no source for recordings")
    }
    try server.engine.session.checkRecording()
    let (loop, recording) = (server.loop, arguments.recording)
    let location = try server.registry.recordingLocation(
      recording.file, replaces: recording.replaces, for: context.client.peer?.userID)
    var options = AudioRecorder.Options(recording)
    options.journal = server.recordingJournal
    let added = try server.recorders.add(recording.file) { [server] number in
      options.onEvent = { [weak server] event in
        loop.execute { [weak server] in server?.recorders.handle(event, ofRecorder: number) }
      }
      return AudioRecorder(location: location, settings: RecordingSettings(recording), options: options) {
        makeSource(recording.source)
      }
    }
    let confined = ControlLoopValue(value: added)
    added.recorder.prepareToRecord { [server] result in
      loop.execute {
        // Removes a recorder that could not be prepared.
        if case .failure = result { server.recorders.remove(confined.value) }
        request.finish(with: result) { _ in
          let status = confined.value.recorder.status
          return Reply(
            recorder: confined.value.number, file: recording.file, source: status.sourceLabel,
            format: status.format?.rawValue,
            sampleRateHz: recording.sampleRateHz ?? status.sourceFormat?.sampleRateHz ?? 0,
            channelCount: recording.channelCount ?? status.sourceFormat?.channelCount ?? 0)
        }
      }
    }
  }
}

extension RecordingSettings {
  fileprivate init(_ recording: RecordingRequest) {
    self.init()
    container = recording.container.flatMap { WritableContainer(rawValue: $0.rawValue) }
    format = recording.format.flatMap { Format(rawValue: $0.rawValue) }
    (sampleRateHz, channelCount) = (recording.sampleRateHz, recording.channelCount)
    bitDepth = recording.bitsPerSample
    (isFloat, isBigEndian) = (recording.isFloat, recording.isBigEndian)
    quality = recording.quality.flatMap { Quality(rawValue: $0.rawValue) }
    bitRate = recording.bitRate
  }
}

extension AudioRecorder.Options {
  fileprivate init(_ recording: RecordingRequest) {
    self.init()
    startLevel = recording.startLevel.map { Float($0) }
    silenceLevel = recording.silenceLevel.map { Float($0) }
    if let longest = recording.longestSilence { longestSilence = longest.seconds }
  }
}

extension RecordStartCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let numbered = try context.server.recorders.recorder(arguments.recorder)
    guard numbered.recorder.status.state != .stopped else {
      throw MediaError(.invalidState, "recorder \(numbered.number) is stopped, and its recording is complete")
    }
    try context.server.engine.session.checkRecording()
    try numbered.recorder.startRecording(
      atHostTime: hostTime(of: arguments.at ?? .now), forDuration: arguments.duration)
    return Reply()
  }

  /// The host time of a start. Nil: now.
  private static func hostTime(of moment: RequestedMoment) -> HostTime? {
    switch moment {
    case .now: nil
    case .after(let delay):
      delay > .zero ? HostTime.now.advanced(byNanoseconds: delay.wholeNanoseconds ?? .max) : nil
    case .instant(let time):
      HostTime(nanoseconds: time.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity) ?? .max)
    case .date, .frame: preconditionFailure("a start time is not a date or a frame")
    }
  }
}

extension RecordPauseCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.server.recorders.recorder(arguments.recorder).recorder.pause()
    return Reply()
  }
}

extension RecordStopCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let numbered = try context.server.recorders.recorder(arguments.recorder)
    // Continues if the connection closes, because the file must be complete.
    try numbered.recorder.stop { [loop = context.server.loop, number = numbered.number, file = numbered.file] result in
      loop.execute { request.finish(with: result) { Reply($0, recorder: number, requestedFile: file) } }
    }
  }
}

extension RecordStopCommand.Reply {
  fileprivate init(_ outcome: AudioRecorder.Outcome, recorder: Int, requestedFile: FilePath) {
    self.init(
      recorder: recorder,
      file: outcome.pathBytes.map { $0 == requestedFile.bytes ? requestedFile : FilePath(bytes: $0) ?? requestedFile },
      duration: outcome.duration.isNumeric ? outcome.duration : nil, size: outcome.byteCount,
      lost: outcome.lostFrameCount, skipped: outcome.skippedFrameCount, error: outcome.error)
  }
}

extension RecordDeleteCommand: WaitingHandler {
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let server = context.server
    let numbered = try server.recorders.recorder(arguments.recorder)
    let recorder = numbered.recorder
    guard recorder.status.state == .stopped else {
      throw MediaError(.invalidState, "a recording can be deleted only after it is stopped")
    }
    let reply = Reply(recorder: numbered.number, file: numbered.currentFile)
    let confined = ControlLoopValue(value: numbered)
    NamedThread.detached(name: "playhead-delete") {
      let result = Result { () throws(MediaError) in try recorder.deleteRecording() }
      server.loop.execute {
        if case .success = result { server.recorders.remove(confined.value) }
        request.finish(with: result) { _ in reply }
      }
    }
  }
}

extension RecordStatusCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    RecorderFields(try context.server.recorders.recorder(arguments.recorder))
  }
}

extension RecordListCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    Reply(rows: context.server.recorders.recorders.map(RecorderFields.init))
  }
}

extension RecorderFields {
  fileprivate init(_ numbered: NumberedRecorder) {
    let (status, settings) = (numbered.recorder.status, numbered.recorder.settings)
    self.init(
      recorder: numbered.number, state: status.state.rawValue, file: numbered.currentFile, time: status.currentTime,
      source: status.sourceLabel.isEmpty ? nil : status.sourceLabel, format: status.format?.rawValue,
      sampleRateHz: settings.sampleRateHz ?? status.sourceFormat?.sampleRateHz ?? 0,
      channelCount: settings.channelCount ?? status.sourceFormat?.channelCount ?? 0,
      lost: status.outcome?.lostFrameCount ?? status.lostFrameCount,
      skipped: status.outcome?.skippedFrameCount ?? status.skippedFrameCount,
      isWaitingForLevel: status.isWaitingForLevel, error: status.outcome?.error)
  }
}

extension NumberedRecorder {
  /// The complete file, which may have another name, or else the requested file.
  fileprivate var currentFile: FilePath { recorder.status.outcome?.pathBytes.flatMap { FilePath(bytes: $0) } ?? file }
}

extension RecordWatchCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    let numbered = try context.server.recorders.recorder(arguments.recorder)
    return Reply(id: try context.client.watch(numbered, rate: arguments.rate, form: context.form))
  }
}

extension RecordUnwatchCommand: ImmediateHandler {
  static func run(_ arguments: Arguments<Self>, _ context: RequestContext) throws(MediaError) -> Reply {
    try context.client.subscriptions.end(arguments.id, .recordings)
    return Reply()
  }
}

extension Client {
  /// Subscribes to the events of a recorder, and to `rate` meter events per second if it is not nil. Returns the id of
  /// the subscription.
  fileprivate func watch(
    _ numbered: NumberedRecorder, rate: Double?, form: WireForm
  ) throws(MediaError) -> Int {
    let cost = Subscriptions.Cost(eventsPerSecond: rate ?? 0)
    let id = try newSubscriptionID(cost)
    let number = numbered.number
    let observerID = numbered.addObserver { [weak self] event in
      var event = event
      event.subscription = id
      self?.send(event, form: form)
    } onClose: { [weak self] in
      self?.subscriptions.end(id)
    }
    var meterObserverID: Int?
    if let rate {
      let loop = server.loop
      meterObserverID = try numbered.recorder.addMeterObserver(rate: rate) { [weak self] levels, time in
        loop.execute { [weak self] in
          guard let self, self.subscriptions.contains(id) else { return }
          self.send(
            RecordMeterEvent(subscription: id, recorder: number, time: time, levels: LevelValues(levels)), form: form)
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
    afterReply { [weak self] in
      var event = confined.value.event(
        confined.value.recorder.status.state, error: confined.value.recorder.status.outcome?.error)
      event.subscription = id
      self?.send(event, form: form)
    }
    return id
  }
}

extension LevelValues {
  init(_ levels: MeterLevels) {
    self.init(
      average: levels.averagePower, peak: levels.peakPower,
      averageScale: levels.averagePower.map(MeterLevels.scale), peakScale: levels.peakPower.map(MeterLevels.scale))
  }
}

extension ServerContext {
  /// The journal of unfinished recordings, next to the saved state. Nil if no state is saved.
  var recordingJournal: RecordingJournal? {
    guard let status = stateWriter?.store.status, status.isSaving, !status.folder.isEmpty else { return nil }
    return RecordingJournal(folder: "\(status.folder)/recordings")
  }
}
