/// The fades of a switch between two streams: one fades out while the next one fades in. Both fades begin at the same
/// output frame.
package struct SwitchFade: Sendable, Hashable, BitwiseCopyable {
  /// The length of the fade-out in output frames, 0 or more. With 0 the outgoing stream ends at once.
  package let outFrameCount: Int64
  /// The length of the fade-in in output frames, 0 or more. With 0 the incoming stream begins with its full gain.
  package let inFrameCount: Int64
  /// The curve of both gains.
  package let curve: RampCurve

  /// No fade: the switch is a cut.
  package static var none: SwitchFade {
    @_noAllocation get { SwitchFade(outFrameCount: 0, inFrameCount: 0) }
  }

  /// Creates fades with separate lengths. Negative lengths count as 0.
  @_noAllocation
  package init(outFrameCount: Int64, inFrameCount: Int64, curve: RampCurve = .linear) {
    (self.outFrameCount, self.inFrameCount) = (max(0, outFrameCount), max(0, inFrameCount))
    self.curve = curve
  }

  /// Creates fades that have the same length.
  package init(frameCount: Int64, curve: RampCurve = .linear) {
    self.init(outFrameCount: frameCount, inFrameCount: frameCount, curve: curve)
  }

  /// Whether the switch is a cut.
  var isNone: Bool {
    @_noAllocation get { outFrameCount == 0 && inFrameCount == 0 }
  }
}
