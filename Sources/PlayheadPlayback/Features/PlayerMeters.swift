import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The meters of a player: measured levels on request, and observers of levels.
///
/// The mixer measures windows of 10 ms. An observation combines the windows since the previous observation. It is sent
/// when the output frame at its end is heard. When the player becomes silent, one observation reports silence; no
/// others follow until audio is heard again.
final class PlayerMeters: PlayerFeature {
  typealias Handler = @Sendable (MeterObservation) -> Void

  private struct Observer {
    var token: ObserverToken
    /// The number of windows in an observation, which may be fractional.
    var windowsPerObservation: Double
    var handler: Handler
    /// The window after the last reported one.
    var reportedWindow: Int64
    /// Whether the last observation reported silence.
    var isSilent = true

    /// Returns the end of the next observation that ends after `window`.
    func nextBoundary(after window: Int64) -> Int64 {
      var number = (Double(window) / windowsPerObservation).rounded(.down)
      var boundary = Int64((number * windowsPerObservation).rounded(.down))
      while boundary <= window {
        number += 1
        boundary = Int64((number * windowsPerObservation).rounded(.down))
      }
      return boundary
    }
  }

  private unowned let player: PlayerCore
  private var observers: [Observer] = []
  /// The next observation: its output frame, the index of its observer, and the end of its windows, nil for silence.
  private var next: (frame: Int64, index: Int, window: Int64?)?
  /// The value of `isMeteringEnabled`.
  private(set) var isEnabled = false
  /// The result of the last `measure`.
  private var levels: MeterLevels?
  /// Whether the mixer measures this player.
  private(set) var isMeasured = false

  init(_ player: PlayerCore) { self.player = player }

  /// The number of windows that `measure` combines: 50 ms.
  private static let snapshotWindows: Int64 = 5

  // MARK: - Requests

  func setEnabled(_ isEnabled: Bool) {
    self.isEnabled = isEnabled
    if !isEnabled { levels = nil }
    applyMetering()
  }

  /// Measures the last 50 ms that were heard. `averagePower` and `peakPower` return the result until the next call.
  func measure() {
    guard isEnabled, let (core, input) = player.mixerInput else {
      levels = nil
      return
    }
    let frame = player.output.heardFrame
    let end = frame / Int64(core.meterWindowFrameCount)
    levels = levels(windows: max(0, end - Self.snapshotWindows)..<end, heardBefore: frame, core, input)
  }

  func power(
    _ values: KeyPath<MeterLevels, [Float]>, forChannel channel: Int, operation: String
  ) throws(MediaError) -> Float {
    let channelCount = player.output.format?.channelCount ?? levels?.peakPower.count ?? 1
    guard channel >= 0, channel < channelCount else {
      throw MediaError(
        .invalidArgument, "channel must be between 0 and \(channelCount - 1) (got \(channel))",
        operation: operation)
    }
    guard let levels = levels?[keyPath: values], channel < levels.count else { return MeterLevels.silence }
    return levels[channel]
  }

  func addObserver(rate: Double, _ handler: @escaping Handler) throws(MediaError) -> ObserverToken {
    guard rate >= 1, rate <= 100 else {
      throw MediaError(
        .invalidArgument, "meter rate must be between 1 and 100 per second (got \(rate))", operation: "addMeterObserver"
      )
    }
    let token = player.engine.makeToken()
    let windowsPerObservation = 100 / rate
    observers.append(
      .init(token: token, windowsPerObservation: windowsPerObservation, handler: handler, reportedWindow: heardWindow))
    applyMetering()
    player.milestones.schedule()
    return token
  }

  func removeObserver(_ token: ObserverToken) throws(MediaError) {
    guard let index = observers.firstIndex(where: { $0.token == token }) else {
      throw MediaError(.noSuchObserver, "unknown meter observer \(token)", operation: "removeMeterObserver")
    }
    observers.remove(at: index)
    applyMetering()
  }

  /// The index of the window that is heard.
  private var heardWindow: Int64 {
    guard let core = player.output.core else { return 0 }
    return player.output.heardFrame / Int64(core.meterWindowFrameCount)
  }

  /// Enables or disables measuring in the mixer.
  func applyMetering() {
    let isInUse = isEnabled || !observers.isEmpty || player.silence.needsMeasurement
    guard isMeasured != isInUse, let (core, input) = player.mixerInput else { return }
    isMeasured = isInUse
    core.setMetering(isInUse, input: input)
    player.output.postCommands()
  }

  /// Restarts the windows, because a new device counts its frames from 0.
  func outputDidStart(_ core: RenderCore, input: Int) {
    for index in observers.indices { observers[index].reportedWindow = 0 }
    isMeasured = false
    applyMetering()
  }

  func playerDidClose() {
    observers = []
    isEnabled = false
    levels = nil
  }

  // MARK: - Observations

  func milestoneHeard(at frame: Int64) {
    guard let next else { return }
    report(to: next.index, window: next.window, atFrame: frame)
  }

  func findNextMilestone() -> Int64? {
    next = nil
    guard !observers.isEmpty, let core = player.output.core else { return nil }
    let length = Int64(core.meterWindowFrameCount)
    for (index, observer) in observers.enumerated() {
      guard let candidate = milestone(of: observer, windowFrames: length) else { continue }
      if candidate.frame < next?.frame ?? .max { next = (candidate.frame, index, candidate.window) }
    }
    return next?.frame
  }

  private func milestone(of observer: Observer, windowFrames length: Int64) -> (frame: Int64, window: Int64?)? {
    let reported = observer.reportedWindow * length
    var lastEnd: Int64?
    for run in player.timeline.runs where !run.isPositionOnly {
      let end = run.end?.frame ?? .max
      lastEnd = end
      guard end > max(reported, run.outputFrame) else { continue }
      let boundary = observer.nextBoundary(after: max(reported, run.outputFrame) / length)
      // If the run ends before the next observation is due, only silence is reported, unless another run follows.
      if boundary * length <= end { return (boundary * length, boundary) }
    }
    guard let lastEnd, lastEnd < .max, !observer.isSilent, player.machine.timeControlStatus != .playing else {
      return nil
    }
    return (lastEnd, nil)
  }

  /// Sends an observation that ends at window `window`; nil: silence.
  private func report(to index: Int, window: Int64?, atFrame frame: Int64) {
    guard let (core, input) = player.mixerInput else { return }
    let observer = observers[index]
    var levels = MeterLevels.silent(channelCount: core.format.channelCount)
    if let window {
      observers[index].reportedWindow = window
      observers[index].isSilent = false
      // At most the windows of one observation, because earlier windows are outdated.
      let first = max(observer.reportedWindow, window - Int64(observer.windowsPerObservation.rounded(.up)))
      guard let measured = self.levels(windows: first..<window, heardBefore: nil, core, input) else { return }
      levels = measured
    } else {
      observers[index].isSilent = true
    }
    let position = player.timeline.position(atOutputFrame: frame)
    var observation = MeterObservation(
      itemID: position?.itemID, time: position?.time ?? .zero, levels: levels, lateNanoseconds: 0)
    player.calls.add(heardAt: player.output.hostTime(ofFrame: frame)) { [self] lateNanoseconds in
      guard observers.contains(where: { $0.token == observer.token }) else { return }
      observation.lateNanoseconds = lateNanoseconds
      observer.handler(observation)
    }
  }

  /// Returns the combined levels of the windows; nil if no window is known.
  ///
  /// - Parameter frame: If the player is silent at this frame, the result is silence.
  private func levels(
    windows: Range<Int64>, heardBefore frame: Int64?, _ core: RenderCore, _ input: Int
  ) -> MeterLevels? {
    let channelCount = core.format.channelCount
    if let frame, let run = player.timeline.run(at: frame), let end = run.end?.frame, end <= frame {
      return .silent(channelCount: channelCount)
    }
    var peaks = [Float](repeating: 0, count: channelCount)
    var sums = [Double](repeating: 0, count: channelCount)
    var count = 0
    for number in windows {
      guard let window = core.meterWindow(number, input: input) else { continue }
      count += 1
      for channel in 0..<channelCount {
        peaks[channel] = max(peaks[channel], window.peaks[channel])
        sums[channel] += Double(window.meanSquares[channel])
      }
    }
    guard count > 0 else { return nil }
    return MeterLevels(
      averagePower: sums.map { MeterLevels.decibels(($0 / Double(count)).squareRoot()) },
      peakPower: peaks.map { MeterLevels.decibels(Double($0)) })
  }
}
