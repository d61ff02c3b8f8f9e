import Glibc
import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Detects silence of a player, on request.
///
/// The mixer measures windows of 10 ms. The monitor inspects the windows that were heard when silence is due at the
/// earliest, and every 2 s, because the mixer retains 5 s. During reported silence it inspects them every 100 ms while
/// the player may be heard. A paused player needs no inspection. Without observers there is neither a measurement nor a
/// timer.
final class PlayerSilenceMonitor: PlayerFeature, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop, on which its timer fires and its handlers are called.
  typealias Handler = @Sendable (PlayerSilence) -> Void

  private struct Observer {
    let token: ObserverToken
    var machine: SilenceStateMachine
    let handler: Handler
  }

  private struct Call {
    let observer: Observer
    let silence: PlayerSilence
  }

  /// The interval of inspections while the player may be heard.
  private static let inspectionNanoseconds: Int64 = 2_000_000_000
  /// The same during reported silence.
  private static let silentInspectionNanoseconds: Int64 = 100_000_000
  /// The time in which audio can be heard after the player has stopped: more than a device buffers.
  private static let deviceNanoseconds: Int64 = 3_000_000_000
  /// The number of windows that the mixer retains.
  private static let windowCapacity: Int64 = 512

  private unowned let player: PlayerCore
  private var observers: [Observer] = []
  /// The observer of `detection`.
  private var detectionToken: ObserverToken?
  /// The value of the player's property.
  private(set) var detection = SilenceDetection.off
  /// The first window that was not inspected.
  private var nextWindow: Int64 = 0
  /// Whether the measurement has just begun, so that the first windows are missing.
  private var isStarting = false
  /// A frame of the device and its instant.
  private var anchor: (frame: Int64, hostTime: HostTime)?
  private var wasRunning = false
  /// Until this instant, audio may be heard.
  private var audibleUntil = HostTime(nanoseconds: 0)
  private var timer: (any ControlTimer)?

  init(_ player: PlayerCore) { self.player = player }

  /// Whether the mixer must measure the player.
  var needsMeasurement: Bool { !observers.isEmpty }

  // MARK: - Requests

  /// Sets the conditions of the event. Silence that was reported does not end then: its end is not reported.
  func setDetection(_ new: SilenceDetection) throws(MediaError) {
    try player.checkOpen("setSilenceDetection")
    guard new != detection else { return }
    let former = detectionToken
    if let duration = new.duration {
      detectionToken = try addObserver(
        lasting: duration, threshold: new.threshold, operation: "setSilenceDetection"
      ) { [weak self] in self?.player.send(.silence($0)) }
    } else {
      _ = try Self.magnitude(new.threshold, operation: "setSilenceDetection")
      detectionToken = nil
    }
    if let former { try removeObserver(former) }
    detection = new
    player.publish(.request)
  }

  func addObserver(
    lasting duration: MediaTime, threshold: Float, operation: String, _ handler: @escaping Handler
  ) throws(MediaError) -> ObserverToken {
    try player.checkOpen(operation)
    let magnitude = try Self.magnitude(threshold, operation: operation)
    guard duration.isNumeric, duration >= MediaTime(value: 1, timescale: 10), duration <= .seconds(86_400),
      let nanoseconds = duration.frameIndex(rate: 1_000_000_000, rounding: .towardPositiveInfinity)
    else {
      throw MediaError(
        .invalidTime, "silence duration must be between 0.1 s and a day (got \(duration.decimalDescription) s)",
        operation: operation)
    }
    inspect()
    let token = player.engine.makeToken()
    let (now, isFirst) = (player.engine.loop.now, observers.isEmpty)
    let frame = player.output.isClockRunning ? player.output.heardFrame : nil
    observers.append(
      Observer(
        token: token,
        machine: SilenceStateMachine(
          threshold: magnitude, durationNanoseconds: nanoseconds, start: .init(hostTime: now, frame: frame)),
        handler: handler))
    if isFirst { start() }
    schedule()
    return token
  }

  func removeObserver(_ token: ObserverToken) throws(MediaError) {
    guard let index = observers.firstIndex(where: { $0.token == token }) else {
      throw MediaError(.noSuchObserver, "unknown silence observer \(token)", operation: "removeSilenceObserver")
    }
    observers.remove(at: index)
    if observers.isEmpty { player.meters.applyMetering() }
    schedule()
  }

  /// The magnitude of a threshold in dBFS; 1 is full scale.
  private static func magnitude(_ threshold: Float, operation: String) throws(MediaError) -> Float {
    guard (-100...0).contains(threshold) else {
      throw MediaError(
        .invalidArgument, "silence threshold must be between -100 and 0 dBFS (got \(threshold))", operation: operation)
    }
    return Float(pow(10, Double(threshold) / 20))
  }

  /// Starts the measurement.
  private func start() {
    wasRunning = player.machine.isRunning
    (anchor, audibleUntil) = (nil, player.engine.loop.now)
    isStarting = !player.meters.isMeasured && player.machine.isRunning
    player.meters.applyMetering()
    guard let core = player.output.core else {
      nextWindow = 0
      return
    }
    nextWindow = player.output.heardFrame / Int64(core.meterWindowFrameCount)
  }

  // MARK: - Inspections

  /// Inspects the windows that were heard since the last inspection, and reports silence that is due.
  private func inspect() {
    guard !observers.isEmpty else { return }
    let now = player.engine.loop.now
    var calls: [Call] = []
    if player.machine.isRunning || wasRunning {
      audibleUntil = now.advanced(byNanoseconds: Self.deviceNanoseconds)
    }
    wasRunning = player.machine.isRunning
    inspectWindows(now, &calls)
    for index in observers.indices {
      if let action = observers[index].machine.silenceLasted(until: now) { calls.append(call(index, action, now)) }
    }
    schedule()
    for call in calls {
      player.calls.add { [self] _ in
        // An earlier handler may have removed the observer.
        guard observers.contains(where: { $0.token == call.observer.token }) else { return }
        call.observer.handler(call.silence)
      }
    }
  }

  private func inspectWindows(_ now: HostTime, _ calls: inout [Call]) {
    guard let (core, input) = player.mixerInput else { return }
    let (length, heard) = (Int64(core.meterWindowFrameCount), player.output.heardFrame)
    if let hostTime = player.output.hostTime(ofFrame: heard) { anchor = (heard, hostTime) }
    let end = heard / length
    guard nextWindow < end else { return }
    func moment(_ frame: Int64) -> SilenceStateMachine.Moment {
      .init(hostTime: min(now, hostTime(ofFrame: frame, sampleRateHz: core.format.sampleRateHz) ?? now), frame: frame)
    }
    for number in max(nextWindow, end - Self.windowCapacity)..<end {
      guard let window = core.meterWindow(number, input: input) else {
        // The audio before the first measured window is unknown.
        if isStarting {
          for index in observers.indices {
            observers[index].machine.audioWasUnknown(until: moment((number + 1) * length))
          }
        }
        continue
      }
      isStarting = false
      let peak = window.peaks.max() ?? 0
      for index in observers.indices where peak >= observers[index].machine.threshold {
        let first = moment(window.frames.lowerBound)
        if let action = observers[index].machine.silenceLasted(until: first.hostTime) {
          calls.append(call(index, action, first.hostTime))
        }
        if let action = observers[index].machine.audioHeard(from: first, to: moment(window.frames.upperBound)) {
          calls.append(call(index, action, first.hostTime))
        }
      }
    }
    nextWindow = end
  }

  private func call(_ index: Int, _ action: SilenceStateMachine.Action, _ now: HostTime) -> Call {
    let silence =
      switch action {
      case .began(let moment):
        PlayerSilence(
          phase: .began, outputFrame: moment.frame, hostTime: moment.hostTime,
          durationNanoseconds: max(0, now.nanoseconds(since: moment.hostTime)))
      case .ended(let moment, let nanoseconds):
        PlayerSilence(
          phase: .ended, outputFrame: moment.frame, hostTime: moment.hostTime, durationNanoseconds: nanoseconds)
      }
    return Call(observer: observers[index], silence: silence)
  }

  /// The instant at which a frame was heard, also after the device has stopped.
  private func hostTime(ofFrame frame: Int64, sampleRateHz: Int) -> HostTime? {
    if let hostTime = player.output.hostTime(ofFrame: frame) { return hostTime }
    return anchor.map { anchor in
      anchor.hostTime.advanced(byNanoseconds: (frame - anchor.frame) * 1_000_000_000 / Int64(sampleRateHz))
    }
  }

  /// Schedules the next inspection.
  private func schedule() {
    timer?.cancel()
    timer = nil
    guard !observers.isEmpty else { return }
    let now = player.engine.loop.now
    var times = observers.compactMap(\.machine.dueTime)
    if player.machine.isRunning || now < audibleUntil {
      let isSilent = observers.contains { $0.machine.dueTime == nil }
      times.append(
        now.advanced(
          byNanoseconds: isSilent ? Self.silentInspectionNanoseconds : Self.inspectionNanoseconds))
    }
    guard let time = times.min() else { return }
    timer = player.engine.loop.schedule(at: time) { [weak self] in self?.inspect() }
  }

  // MARK: - The player

  func stateDidPublish() {
    if !observers.isEmpty, player.machine.isRunning != wasRunning { inspect() }
  }

  func outputDidStart(_ core: RenderCore, input: Int) {
    (nextWindow, anchor, isStarting) = (0, nil, false)
    schedule()
  }

  func outputWillStop() {
    inspect()
    for index in observers.indices { observers[index].machine.deviceStopped() }
  }

  func playerDidClose() {
    timer?.cancel()
    (timer, observers, detectionToken) = (nil, [], nil)
  }
}
