import MediaAssets
import MediaCore
import PlayerModel

/// The conversion of a pass by the converter of a stream at rate 1. Another stream needs this state to continue the
/// pass without an audible interruption.
struct Conversion: Sendable, Hashable {
  /// The number of conversions that are remembered: more than a stream has passes that may still be cut.
  static let limit = 1_024

  let itemID: PlayerItem.ID
  let passIndex: Int
  let source: AudioFormat
  /// The stream frame from which this conversion applies.
  let streamFrame: Int64
  /// The first input frame of the converter that belongs to the item; other passes are before it. 0 if the audio before
  /// it is also of the item.
  let firstFrame: Int64
  /// The converter's input frame for frame 0 of the item; earlier passes may share the converter.
  let offset: Int64
  /// The stream frame for output frame 0 of the converter.
  let firstStreamFrame: Int64

  /// A conversion from a frame of its stream onwards.
  struct Continuation: Sendable, Hashable {
    let conversion: Conversion
    let streamFrame: Int64

    /// Returns the first output frame, and the input frame from which the input must be identical for it, in the
    /// converter's frame counts. Nil if other passes would be involved.
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
