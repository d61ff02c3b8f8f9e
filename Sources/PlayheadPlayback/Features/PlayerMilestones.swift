import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The timer of a player's milestones: events of its features that are due when an output frame is heard.
///
/// One timer is set to the next milestone, so the loop does not poll.
final class PlayerMilestones: PlayerFeature {
  /// The maximum time until the timer fires: 10 s, in which a clock drift of 50 ppm amounts to half a millisecond.
  private static let longestTimerNanoseconds: Int64 = 10_000_000_000

  /// The delay before the loop reads a clock again that is stopped although it should run.
  private static let clockRetryNanoseconds: Int64 = 10_000_000

  private unowned let player: PlayerCore
  private var timer: (any ControlTimer)?
  /// The output frame up to which all events have been reported to observers.
  private(set) var processedFrame: Int64 = -1
  private var isScheduling = false
  /// Whether only a part of a batch of simultaneous render events has been handled.
  private var isHandlingEvents = false
  private(set) lazy var itemTime = ItemMilestones(player)

  init(_ player: PlayerCore) { self.player = player }

  // MARK: - Changes of the output

  func outputDidStart(_ core: RenderCore, input: Int) { processedFrame = -1 }

  func outputWillStop() { timer?.cancel() }

  func playerDidClose() { timer?.cancel() }

  func stateDidPublish() { schedule() }

  /// Called before each event of a batch. Milestones are handled after the last one.
  func willHandleEvent() { isHandlingEvents = true }

  /// Called after the last event of a batch, and if no more follow because the output stops.
  func eventsEnded() { isHandlingEvents = false }

  /// Handles a jump that is heard from `frame` on.
  func jumped(at frame: Int64) { processedFrame = frame - 1 }

  // MARK: - The next milestone

  /// The output frame up to which milestones are due. For a paused player it includes the end of its last run.
  var heardLimit: Int64 {
    let heard = player.output.heardFrame
    if player.machine.rate == 0, let end = player.timeline.runs.last?.end { return max(heard, end.frame) }
    // A stopped clock has reached the end of a run, but not the start of the next one.
    return !player.output.isClockRunning && player.timeline.isAudible(at: heard) ? heard - 1 : heard
  }

  /// Handles all milestones that have been heard, and sets the timer to the next one.
  func schedule() {
    // A handler may call this method: the loop below handles the new milestones.
    guard !isScheduling, !isHandlingEvents else { return }
    timer?.cancel()
    timer = nil
    guard !player.isClosed, player.inputIndex != nil else { return }
    isScheduling = true
    defer { isScheduling = false }
    player.readSegments()
    while let (frame, feature) = next {
      guard frame <= heardLimit else {
        setTimer(atFrame: frame)
        break
      }
      // The clock counts frames whose events are not delivered yet and can change this milestone: the audio after a
      // jump may have begun. `didHandleEvents` follows.
      if player.output.hasPendingEvents { break }
      processedFrame = max(processedFrame, frame)
      if let time = feature.earliestMilestoneTime, time > player.engine.loop.now {
        setTimer(at: time)
        break
      }
      feature.milestoneHeard(at: frame)
    }
    // The run that contains an unreported end must stay, because the end's output frame is computed from it.
    let pendingFrame = player.chain.ends.first.flatMap {
      player.timeline.outputFrame(streamID: $0.streamID, streamFrame: $0.streamFrame)
    }
    player.timeline.removeRuns(before: min(player.output.heardFrame, pendingFrame.map { $0 - 1 } ?? .max))
  }

  private var next: (frame: Int64, feature: any PlayerFeature)? {
    var next: (frame: Int64, feature: any PlayerFeature)?
    for feature in player.features {
      if let frame = feature.findNextMilestone(), frame < next?.frame ?? .max { next = (frame, feature) }
    }
    return next
  }

  private func setTimer(atFrame frame: Int64) {
    guard let time = player.output.hostTime(ofFrame: frame) else { return }
    // The clocks of the device and of the host drift, so the time of a distant frame is computed again before it is
    // due.
    let now = player.engine.loop.now
    let latest = now.advanced(byNanoseconds: Self.longestTimerNanoseconds)
    // If the frame is overdue, the device has stalled. Reading its clock again without a delay would occupy the loop.
    let earliest =
      player.engine.isVirtual ? time : now.advanced(byNanoseconds: time <= now ? Self.clockRetryNanoseconds : 0)
    setTimer(at: max(earliest, min(time, latest)))
  }

  private func setTimer(at time: HostTime) {
    timer = player.engine.loop.schedule(at: time) { [weak player] in
      guard let player else { return }
      player.milestones.schedule()
    }
  }
}
