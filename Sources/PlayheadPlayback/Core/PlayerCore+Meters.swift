import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The meter observers of a player.
///
/// The mixer measures windows of 10 ms. An observation combines the windows since the previous observation. It is sent
/// when the output frame at its end is heard. When the player becomes silent, one observation reports silence; no
/// others follow until audio is heard again.
struct MeterTable {
  typealias Handler = @Sendable (MeterObservation) -> Void

  struct Observer {
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

  var observers: [Observer] = []
  /// The value of `isMeteringEnabled`, and the result of `updateMeters`.
  var isEnabled = false
  var levels: MeterLevels?

  var isInUse: Bool { isEnabled || !observers.isEmpty }
}

extension PlayerCore {
  /// The number of windows that `updateMeters` measures: 50 ms.
  private static let snapshotWindows: Int64 = 5

  // MARK: - Requests

  func setMeteringEnabled(_ isEnabled: Bool) {
    meters.isEnabled = isEnabled
    if !isEnabled { meters.levels = nil }
    applyMetering()
  }

  /// Measures the last 50 ms that were heard. `averagePower` and `peakPower` return the result until the next call.
  func updateMeters() {
    guard meters.isEnabled, let core = output.core, let inputIndex else {
      meters.levels = nil
      return
    }
    let frame = output.heardFrame
    let end = frame / Int64(core.meterWindowFrameCount)
    meters.levels = levels(windows: max(0, end - Self.snapshotWindows)..<end, heardBefore: frame, core, inputIndex)
  }

  func power(
    _ values: KeyPath<MeterLevels, [Float]>, forChannel channel: Int, operation: String
  ) throws(MediaError) -> Float {
    let channelCount = output.format?.channelCount ?? meters.levels?.peakPower.count ?? 1
    guard channel >= 0, channel < channelCount else {
      throw MediaError(
        .invalidArgument, "channel must be between 0 and \(channelCount - 1) (got \(channel))",
        operation: operation)
    }
    guard let levels = meters.levels?[keyPath: values], channel < levels.count else { return MeterLevels.silence }
    return levels[channel]
  }

  func addMeterObserver(
    rate: Double, _ handler: @escaping MeterTable.Handler
  ) throws(MediaError) -> ObserverToken {
    guard rate >= 1, rate <= 100 else {
      throw MediaError(
        .invalidArgument, "meter rate must be between 1 and 100 per second (got \(rate))", operation: "addMeterObserver"
      )
    }
    let token = engine.makeToken()
    let windowsPerObservation = 100 / rate
    meters.observers.append(
      .init(token: token, windowsPerObservation: windowsPerObservation, handler: handler, reportedWindow: heardWindow))
    applyMetering()
    scheduleNextMilestone()
    return token
  }

  func removeMeterObserver(_ token: ObserverToken) throws(MediaError) {
    guard let index = meters.observers.firstIndex(where: { $0.token == token }) else {
      throw MediaError(.noSuchObserver, "unknown meter observer \(token)", operation: "removeMeterObserver")
    }
    meters.observers.remove(at: index)
    applyMetering()
  }

  /// The index of the window that is heard.
  private var heardWindow: Int64 {
    guard let core = output.core else { return 0 }
    return output.heardFrame / Int64(core.meterWindowFrameCount)
  }

  /// Enables or disables measuring in the mixer.
  private func applyMetering() {
    guard isMetered != meters.isInUse, let core = output.core, let inputIndex else { return }
    isMetered = meters.isInUse
    core.setMetering(isMetered, input: inputIndex)
    output.postCommands()
  }

  /// Resets the windows, because a new device counts its frames from 0.
  func resetMeterWindows() {
    for index in meters.observers.indices { meters.observers[index].reportedWindow = 0 }
    isMetered = false
    applyMetering()
  }

  // MARK: - Observations

  /// Returns the next observation: its output frame, and the end of its windows; nil for silence.
  func nextMeterMilestone() -> (frame: Int64, token: ObserverToken, window: Int64?)? {
    guard !meters.observers.isEmpty, let core = output.core else { return nil }
    let length = Int64(core.meterWindowFrameCount)
    var next: (frame: Int64, token: ObserverToken, window: Int64?)?
    for observer in meters.observers {
      guard let candidate = milestone(of: observer, windowFrames: length) else { continue }
      if candidate.frame < next?.frame ?? .max { next = (candidate.frame, observer.token, candidate.window) }
    }
    return next
  }

  private func milestone(
    of observer: MeterTable.Observer, windowFrames length: Int64
  ) -> (frame: Int64, window: Int64?)? {
    let reported = observer.reportedWindow * length
    var lastEnd: Int64?
    for run in timeline.runs where !run.isPositionOnly {
      let end = run.end?.frame ?? .max
      lastEnd = end
      guard end > max(reported, run.outputFrame) else { continue }
      let boundary = observer.nextBoundary(after: max(reported, run.outputFrame) / length)
      // If the run ends before the next observation is due, only silence is reported, unless another run follows.
      if boundary * length <= end { return (boundary * length, boundary) }
    }
    guard let lastEnd, lastEnd < .max, !observer.isSilent, machine.timeControlStatus != .playing else { return nil }
    return (lastEnd, nil)
  }

  /// Sends an observation that ends at window `window`; nil: silence.
  func reportMeter(_ token: ObserverToken, window: Int64?, atFrame frame: Int64) {
    guard let index = meters.observers.firstIndex(where: { $0.token == token }), let core = output.core,
      let inputIndex
    else { return }
    let observer = meters.observers[index]
    var levels = MeterLevels.silent(channelCount: core.format.channelCount)
    if let window {
      meters.observers[index].reportedWindow = window
      meters.observers[index].isSilent = false
      // At most the windows of one observation, because earlier windows are outdated.
      let first = max(observer.reportedWindow, window - Int64(observer.windowsPerObservation.rounded(.up)))
      guard let measured = self.levels(windows: first..<window, heardBefore: nil, core, inputIndex) else { return }
      levels = measured
    } else {
      meters.observers[index].isSilent = true
    }
    let position = timeline.position(atOutputFrame: frame)
    let observation = MeterObservation(
      itemID: position?.itemID, time: position?.time ?? .zero, levels: levels, lateNanoseconds: 0)
    enqueue(.meter(token, observer.handler, observation), heardAt: output.hostTime(ofFrame: frame))
  }

  /// Returns the combined levels of the windows; nil if no window is known.
  ///
  /// - Parameter frame: If the player is silent at this frame, the result is silence.
  private func levels(
    windows: Range<Int64>, heardBefore frame: Int64?, _ core: RenderCore, _ inputIndex: Int
  ) -> MeterLevels? {
    let channelCount = core.format.channelCount
    if let frame, let run = timeline.run(at: frame), let end = run.end?.frame, end <= frame {
      return .silent(channelCount: channelCount)
    }
    var peaks = [Float](repeating: 0, count: channelCount)
    var sums = [Double](repeating: 0, count: channelCount)
    var count = 0
    for number in windows {
      guard let window = core.meterWindow(number, input: inputIndex) else { continue }
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
