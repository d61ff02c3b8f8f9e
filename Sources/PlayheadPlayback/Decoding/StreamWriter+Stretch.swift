import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadTimeStretch

/// Time stretching: passes at a rate other than 1 that keep their pitch.
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

  /// Starts the stream at the first output frame whose item time is not before the requested time. The stretcher
  /// processes preceding audio as history and does not output it.
  ///
  /// - Returns: The item time of the stream's first frame.
  func startStretching(
    _ item: ItemDecoder, at request: PlayerStateMachine.DecodeRequest, _ algorithm: TimeStretchAlgorithm
  ) throws(MediaError) -> MediaTime {
    let itemSampleRateHz = item.format.sampleRateHz
    let stage = try makeStage(from: item.format, algorithm)
    var target = request.time
    if request.toleranceBefore > .zero || request.toleranceAfter > .zero || !target.isNumeric {
      target = try item.seek(to: target, before: request.toleranceBefore, after: request.toleranceAfter)
    }
    let firstItemFrame = max(
      0, target.frameIndex(rate: itemSampleRateHz, rounding: .towardNegativeInfinity) ?? item.position)
    let historyStartFrame = stage.historyStart(before: firstItemFrame)
    if historyStartFrame != item.position {
      _ = try item.seek(to: MediaTime(frame: historyStartFrame, rate: itemSampleRateHz), before: .zero, after: .zero)
    }
    try readHistory(of: item)
    // If the seek stops after the requested time, the stream starts at the first frame that the decoder reads. If the
    // requested time is after the item's end, the decoder reads no frame, and the pass ends at once.
    let firstOutputFrame = max(
      max(0, target.frameIndex(rate: format.sampleRateHz, rounding: .towardPositiveInfinity) ?? 0),
      StretchStage.outputFrame(at: item.position, from: item.format, to: format))
    try stage.start(
      readingFrom: item.position, firstItemFrame: firstItemFrame, firstOutputFrame: firstOutputFrame)
    startStretched(with: stage, firstOutputFrame: firstOutputFrame, readingFrom: item.position)
    return MediaTime(frame: firstOutputFrame, rate: format.sampleRateHz)
  }
}
