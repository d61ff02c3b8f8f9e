import PlayheadControlLoop
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The latency of a player's starts and seeks.
final class StartLatency: PlayerFeature {
  private unowned let player: PlayerCore
  /// The timing of the last start or seek.
  private(set) var trace: StartTrace?

  init(_ player: PlayerCore) { self.player = player }

  /// The latency of the last start or seek, by phase; nil before the first one.
  var report: StartReport? { trace?.report }

  /// Begins the trace of a generation that is requested.
  func makeTrace(of request: PlayerStateMachine.DecodeRequest) -> StartTrace {
    return StartTrace(
      kind: request.spliceAfter != nil ? .splice : request.seek != nil ? .seek : .start, itemID: request.itemID,
      requested: request.time,
      requestedAt: request.seek.flatMap { player.seeks.requestTime(of: $0) } ?? player.engine.loop.now)
  }

  /// Records that the mixer has a generation whose first frame is at item time `reached`.
  func committed(_ generation: PlayerCore.Generation, at reached: MediaTime?) {
    var trace = generation.trace
    trace.commit = (player.engine.loop.now, reached ?? trace.preparation?.time ?? trace.requested)
    trace.streamID = generation.stream.id
    if player.chain.sounding?.number == generation.number {
      player.chain.update(generation.number) { $0.trace = trace }
    }
    self.trace = trace
  }

  /// Records a start from audio that is already decoded.
  func resumed() {
    guard let sounding = player.chain.sounding, let position = player.position,
      player.machine.requestInPreparation == nil, sounding.trace.commit != nil
    else { return }
    let now = player.engine.loop.now
    trace = StartTrace(
      kind: .start, itemID: position.itemID, requested: position.time, requestedAt: now, commit: (now, position.time),
      streamID: sounding.stream.id)
  }

  /// Records the output frame at which the last requested stream begins.
  func runBegan(_ event: RenderEvent) {
    guard let trace, trace.kind != .splice, trace.streamID == event.streamID, trace.firstFrame == nil,
      trace.commit != nil
    else { return }
    self.trace?.firstFrame = event.outputFrame
    clockMayHaveChanged()
  }

  /// Records when the first frame is heard, if the clock can convert it now.
  func clockMayHaveChanged() {
    guard let trace, trace.heardAt == nil, let frame = trace.firstFrame else { return }
    self.trace?.heardAt = player.output.hostTime(ofFrame: frame)
  }
}
