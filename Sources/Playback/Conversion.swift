import MediaAssets
import MediaCore

/// How a pass goes through the converter of a stream at the rate 1: what another stream has to know to go on with it as if it
/// had not been interrupted.
struct Conversion: Sendable, Hashable {
  /// So many are remembered: more than a stream has passes that may still be cut.
  static let limit = 1_024

  let itemID: PlayerItem.ID
  let passIndex: Int
  let source: AudioFormat
  /// The stream's frame from which on this holds.
  let streamFrame: Int64
  /// Before this frame of the converter's input other passes went in; 0 where what is before it is the item's own.
  let firstFrame: Int64
  /// Which of the converter's input frames the item's frame 0 is, or would have been: passes before it may share the converter.
  let offset: Int64
  /// Which of the stream's frames the converter's output frame 0 is, or would have been.
  let firstStreamFrame: Int64

  /// A conversion from a frame of its stream on.
  struct Rest: Sendable, Hashable {
    let conversion: Conversion
    let streamFrame: Int64

    /// The first frame that comes out, and from where what goes in has to be the same for it, in the converter's own counts;
    /// nil when that is not this pass alone.
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
