import PlayheadMediaCore

/// The curve of a fade.
public enum FadeCurve: String, Sendable, Hashable, CaseIterable {
  /// The gain changes linearly.
  case linear
  /// A quarter of a sine: in a cross-fade, the power of two different items stays constant.
  case equalPower = "equal-power"
  /// Half a cosine: the gain changes slowly at both ends. In a cross-fade, the sum of both gains is constant.
  case sCurve = "s-curve"
}

/// A transition in which the end of an item and the beginning of the next one are heard at once.
///
/// All durations are times of the output: at rate 2, a cross-fade of 5 s overlaps 10 s of each item.
public struct Crossfade: Sendable, Hashable {
  /// The longest overlap, in seconds.
  public static let longestDuration = MediaTime(value: 30, timescale: 1)

  /// The time in which both items are heard, above 0 and at most 30 s. It is at most half of what is played of each
  /// item, for example after a seek, and shorter if less of the first item is left when the next one is added to the
  /// queue. Its frames need memory: up to 8 MB for 10 s of stereo at 48 kHz.
  public var duration: MediaTime
  /// The length of the fade-out at the end of the overlap, at most `duration`; nil: the whole overlap.
  public var fadeOutDuration: MediaTime?
  /// The length of the fade-in at the beginning of the overlap, at most `duration`; nil: the whole overlap.
  public var fadeInDuration: MediaTime?
  /// The curve of both fades. Default: `equalPower`.
  public var curve: FadeCurve

  /// Creates a cross-fade. ``validate()`` checks its durations.
  public init(
    duration: MediaTime, fadeOutDuration: MediaTime? = nil, fadeInDuration: MediaTime? = nil,
    curve: FadeCurve = .equalPower
  ) {
    self.duration = duration
    self.fadeOutDuration = fadeOutDuration
    self.fadeInDuration = fadeInDuration
    self.curve = curve
  }

  /// Checks the durations.
  ///
  /// - Throws: `invalidTime` if the overlap is not above 0 and at most 30 s, or if a fade is not between 0 and the
  ///   overlap.
  public func validate() throws(MediaError) {
    guard duration.isNumeric, duration > .zero, duration <= Self.longestDuration else {
      throw MediaError(
        .invalidTime, "a cross-fade must last more than 0 s and at most 30 s (got \(duration.decimalDescription))",
        operation: "crossfade")
    }
    for (name, fade) in [("fade-out", fadeOutDuration), ("fade-in", fadeInDuration)] {
      guard let fade else { continue }
      guard fade.isNumeric, fade >= .zero, fade <= duration else {
        throw MediaError(
          .invalidTime,
          "the \(name) must be between 0 s and the \(duration.decimalDescription) s of the cross-fade "
            + "(got \(fade.decimalDescription))",
          operation: "crossfade")
      }
    }
  }

  /// The overlap in output frames, rounded up.
  package func frameCount(rate: Int) -> Int64 {
    duration.frameIndex(rate: rate, rounding: .towardPositiveInfinity) ?? 0
  }
}

/// The beginning of a cross-fade in decoded audio.
package struct Overlap: Sendable, Hashable {
  /// The item that ends.
  package var itemID: PlayerItemID
  /// The time of that item at which the overlap begins.
  package var time: MediaTime
  /// The time at which that item ends; nil: its own end.
  package var end: MediaTime?

  package init(itemID: PlayerItemID, time: MediaTime, end: MediaTime?) {
    self.itemID = itemID
    self.time = time
    self.end = end
  }
}
