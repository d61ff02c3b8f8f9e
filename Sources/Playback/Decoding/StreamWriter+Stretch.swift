import MediaCore
import PlayerModel
import TimeStretch

/// Passes that keep their pitch at a rate other than 1.
extension StreamWriter {
  /// The algorithm that keeps the pitch of `item`; nil if the pitch changes with the rate or the magnitude is 1.
  func stretchAlgorithm(for item: ItemDecoder) -> TimeStretchAlgorithm? {
    playbackRate.magnitude == .normal ? nil : item.timePitchAlgorithm.stretchAlgorithm
  }

  func makeStage(from source: AudioFormat, _ algorithm: TimeStretchAlgorithm) throws(MediaError) -> StretchStage {
    try StretchStage(
      from: source, to: format, algorithm: algorithm,
      rate: StretchRate(playbackRate.magnitude.millionths, over: 1_000_000))
  }

  /// Starts the stream with `item`, at the first frame of the stream's rate at or after the requested time. The stage
  /// gets the preceding audio as history, which is not heard. Returns the time of frame 0.
  func startStretching(
    _ item: ItemDecoder, at request: PlayerStateMachine.DecodeRequest, _ algorithm: TimeStretchAlgorithm
  ) throws(MediaError) -> MediaTime {
    let rate = item.format.sampleRateHz
    let stage = try makeStage(from: item.format, algorithm)
    var target = request.time
    if request.toleranceBefore > .zero || request.toleranceAfter > .zero || !target.isNumeric {
      target = try item.seek(to: target, before: request.toleranceBefore, after: request.toleranceAfter)
    }
    let first = max(0, target.frameIndex(rate: rate, rounding: .towardNegativeInfinity) ?? item.position)
    let history = stage.historyStart(before: first)
    if history != item.position {
      _ = try item.seek(to: MediaTime(frame: history, rate: rate), before: .zero, after: .zero)
    }
    // If the requested time is after the item's end, the pass ends at once.
    let heard = max(
      max(0, target.frameIndex(rate: format.sampleRateHz, rounding: .towardPositiveInfinity) ?? 0),
      StretchStage.outputFrame(at: item.position, from: item.format, to: format))
    try stage.start(readingFrom: item.position, first: first, heardFrom: heard)
    startStretched(with: stage, heardFrom: heard, readingFrom: item.position)
    return MediaTime(frame: heard, rate: format.sampleRateHz)
  }
}
