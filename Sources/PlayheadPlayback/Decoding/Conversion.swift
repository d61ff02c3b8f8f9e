import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The state of a stream's converter for one pass at rate 1. Another stream needs this state to continue the pass with
/// identical samples.
struct Conversion: Sendable, Hashable {
  /// The maximum number of conversions that a stream keeps: more than it has passes that can still be cut.
  static let limit = 1_024

  let itemID: PlayerItem.ID
  let passIndex: Int
  let source: AudioFormat
  /// The stream frame from which this conversion applies.
  let streamFrame: Int64
  /// The converter's first input frame of this pass: earlier frames belong to other passes, or precede missing frames.
  /// 0 if the converter began with this item.
  let firstFrame: Int64
  /// The converter's input frame that corresponds to frame 0 of the item. Not 0 if earlier passes share the converter.
  let offset: Int64
  /// The stream frame that corresponds to output frame 0 of the converter.
  let firstStreamFrame: Int64

  /// The point at which another stream continues a conversion.
  struct Continuation: Sendable, Hashable {
    let conversion: Conversion
    let streamFrame: Int64

    /// Returns the first output frame of the continuation, and the first input frame that its filter needs (`history`),
    /// both in the converter's frame counts. Nil if no filter is needed, or if the history begins in another pass.
    func historyStart(to format: AudioFormat) -> (history: Int64, firstOutputFrame: Int64)? {
      let (from, to) = (conversion.source.sampleRateHz, format.sampleRateHz)
      guard from != to else { return nil }
      let first = streamFrame - conversion.firstStreamFrame
      guard first > 0 else { return nil }
      let input = FrameRatio(from: to, to: from, playbackRate: .normal).outputFrame(ofInputFrame: first) - 1
      let history = AudioConverter.historyStart(
        before: max(0, input), from: conversion.source, to: format)
      return history >= conversion.firstFrame ? (history, first) : nil
    }
  }
}
