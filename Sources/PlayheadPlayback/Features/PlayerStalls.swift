import PlayheadControlLoop
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The underruns of a player's streams, and the stalls that they cause.
///
/// After an underrun that is a stall, the samples that follow are withheld from the mixer until enough of them are
/// decoded. The network log records the stall, and an item that stalls for too long fails.
final class PlayerStalls: PlayerFeature {
  /// The amount of audio that must be decoded after an underrun before playback resumes: 500 ms.
  private static let resumptionMilliseconds = 500

  private unowned let player: PlayerCore
  /// The position of the last underrun: the stream and its frame.
  private(set) var underrun: (streamID: UInt64, frame: Int64)?
  /// The stream whose samples are withheld after an underrun.
  private var withheldStream: RenderStream?
  /// The stalled item, and the instant at which the stall began; nil without a stall.
  private var current: (itemID: PlayerItem.ID, beganAt: HostTime)?
  private var allowance = StallAllowance()
  /// Fails an item that stalls for too long.
  private var timer: (any ControlTimer)?

  init(_ player: PlayerCore) { self.player = player }

  // MARK: - Underruns

  func outputWillStop() {
    underrun = nil
    withheldStream = nil
  }

  /// Handles an underrun of the mixer.
  func underrunOccurred(_ event: RenderEvent) {
    underrun = (event.streamID, event.streamFrame)
    // The last frames of the outgoing stream are not written yet (`finishedStream`). The stream that follows it has
    // not stalled.
    if player.chain.outgoing?.stream.id == event.streamID { return }
    player.run(player.machine.underrunOccurred(), cause: .stalled)
    awaitSamples()
  }

  /// Withholds new samples of a stream after an underrun while the machine waits, and releases them when the wait ends.
  /// Returns whether commands must be posted to the mixer.
  func prepareCommands() -> Bool {
    guard player.machine.isRebuffering else {
      guard let withheld = withheldStream else { return false }
      withheldStream = nil
      withheld.mask(from: nil)
      return player.machine.rate != 0
    }
    guard withheldStream == nil, let stream = player.chain.sounding?.stream else { return false }
    let frame = underrun.flatMap { $0.streamID == stream.id ? $0.frame : nil } ?? stream.writtenFrame
    withheldStream = stream
    stream.mask(from: frame)
    player.pipeline.requestReport(reaching: resumptionFrame(after: frame))
    return false
  }

  /// The frame that must be decoded before playback resumes after an underrun at `frame`.
  private func resumptionFrame(after frame: Int64) -> Int64 {
    frame + Int64(player.timeline.sampleRateHz * Self.resumptionMilliseconds / 1_000)
  }

  /// Handles an underrun that is no stall. Renders again at once if samples have already arrived. Otherwise requests a
  /// report when 100 ms of the next item are decoded, about as much as a device reads at once.
  private func awaitSamples() {
    endSilence()
    guard player.machine.rate != 0, !player.machine.isRebuffering, player.machine.progress.isLastPassComplete,
      let underrun, let stream = player.chain.sounding?.stream, stream.id == underrun.streamID,
      stream.writtenFrame <= underrun.frame
    else { return }
    player.pipeline.requestReport(reaching: underrun.frame + Int64(player.timeline.sampleRateHz / 10))
  }

  /// Renders again the audio that the mixer replaced by silence, if its samples have arrived.
  ///
  /// The samples may have arrived before the player handled the underrun. In that case the decode thread sends no
  /// further report while it is idle or waits for a file.
  func endSilence() {
    guard player.machine.rate != 0, player.timeline.runs.last?.end?.reason == .underrun, let underrun,
      let sounding = player.chain.sounding, sounding.stream.id == underrun.streamID
    else { return }
    let writtenFrame = sounding.stream.writtenFrame
    if !player.machine.isRebuffering {
      if writtenFrame > underrun.frame { player.output.postCommands() }
    } else if writtenFrame >= resumptionFrame(after: underrun.frame) {
      player.run(player.machine.becameLikelyToKeepUp(generation: sounding.number), cause: .buffered)
    }
  }

  // MARK: - Stalls

  /// The frame of an underrun that is a stall once it is heard.
  func findNextMilestone() -> Int64? {
    guard player.machine.buffering.pendingStall != nil, let end = player.timeline.runs.last?.end,
      end.reason == .underrun
    else { return nil }
    return end.frame
  }

  func milestoneHeard(at frame: Int64) { player.run(player.machine.stallHeard(), cause: .stalled) }

  /// Records a stall. A network item fails if it stalls for too long.
  func begin(of id: PlayerItem.ID) {
    current = (id, player.engine.loop.now)
    player.items[id]?.networkLog.recordStall()
    timer?.cancel()
    timer = nil
    guard let item = player.items[id], item.asset.mayUseNetwork else { return }
    let end = allowance.begin(id, at: player.engine.loop.now)
    timer = player.engine.loop.schedule(at: end) { [weak player] in
      guard let player else { return }
      player.stalls.failStalledItem(id)
    }
  }

  /// Fails an item that has stalled for too long.
  private func failStalledItem(_ id: PlayerItem.ID) {
    timer = nil
    guard !player.isClosed, player.machine.isRebuffering, current?.itemID == id, let item = player.items[id] else {
      return
    }
    let minutes = StallAllowance.nanoseconds / 60_000_000_000
    player.itemFailed(
      id,
      MediaError(
        .networkTimedOut, "stalled for \(minutes) minutes longer than it played: \(item.asset.displayPath)",
        operation: "playback"))
  }

  /// Records the end of the current stall once the player no longer waits for samples.
  func update() {
    guard let (id, beganAt) = current, !player.machine.isRebuffering else { return }
    current = nil
    timer?.cancel()
    timer = nil
    let duration = player.engine.loop.now.nanoseconds(since: beganAt)
    allowance.end(afterNanoseconds: duration, at: player.engine.loop.now)
    player.items[id]?.networkLog.recordStallEnd(nanoseconds: duration)
  }

  func playerDidClose() { timer?.cancel() }
}
