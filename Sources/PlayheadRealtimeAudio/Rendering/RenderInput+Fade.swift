/// Cross-fades: the audio of a stream after the input has switched to another one.
///
/// A fade maps frames of the outgoing stream to output frames, with a gain. The newest fade also has the gain of the
/// current stream. Like runs, fades are kept until they have been heard, so that rendering again gives the same result.
///
/// Up to sixteen fades overlap. A switch within an earlier fade begins at that fade's current gain, so that the sum
/// never jumps.
extension RenderInput {
  /// A stream that is fading out.
  struct Fade: BitwiseCopyable {
    /// The outgoing stream, and its frame at `outgoing.startFrame`.
    var stream: Stream
    var streamFrame: Int64
    /// The gain of the outgoing stream over output frames, and the gain of its successor.
    var outgoing: GainRamp
    var incoming: GainRamp

    /// The first frame at which both gains are constant.
    var endFrame: Int64 {
      @_noAllocation get { max(outgoing.endFrame, incoming.endFrame) }
    }
  }

  static let fadeCapacity = 16

  /// The cross-fade gain of the current stream.
  var incomingFade: GainRamp {
    @_noAllocation get { fadeCount > 0 ? fades[fadeCount &- 1].incoming : GainRamp() }
  }

  /// Fades the current stream out from `outputFrame` on, and its successor in. If the oldest fade had to be dropped to
  /// make room, returns the first frame to which a rewind is still possible; otherwise nil.
  @_noAllocation
  mutating func startFade(
    _ switchFade: SwitchFade, at outputFrame: Int64, from streamFrame: Int64, events: borrowing RenderEventQueue,
    index: Int32
  ) -> Int64? {
    guard let stream else { return nil }
    var rewindLimit: Int64?
    let gain = incomingFade.value(atFrame: outputFrame)
    if fadeCount == Self.fadeCapacity {
      rewindLimit = fades[0].endFrame
      dropOldestFade(events: events, index: index)
    }
    (fades + fadeCount).initialize(
      to: Fade(
        stream: stream, streamFrame: streamFrame,
        outgoing: GainRamp(
          start: gain, target: 0, startFrame: outputFrame, frameCount: switchFade.outFrameCount,
          curve: switchFade.curve),
        incoming: GainRamp(
          start: 0, target: 1, startFrame: outputFrame, frameCount: switchFade.inFrameCount, curve: switchFade.curve)))
    fadeCount &+= 1
    retain(stream)
    return rewindLimit
  }

  /// Mixes the outgoing streams into a block of `frameCount` frames that begins at `outputFrame`. The first `filled`
  /// frames of the block contain audio of any input, the first `renderedCount` frames contain audio of this input.
  /// Returns the frame of the block at which the input becomes silent.
  @_noAllocation
  func mixFades(
    into output: UnsafeMutablePointer<Float>, frameCount: Int, filled: Int, renderedCount: Int, channelCount: Int,
    sides: PanSides, at outputFrame: Int64
  ) -> Int {
    var end = renderedCount
    for index in 0..<fadeCount {
      let fade = fades + index
      let stream = fade.pointee.stream
      let start = fade.pointee.outgoing.startFrame
      let written = min(stream.pointee.ring.writtenFrame, stream.pointee.end)
      // The output frames `frame..<limit` are mixed.
      var frame = max(start, outputFrame)
      let audioEnd = start &+ max(0, written &- fade.pointee.streamFrame)
      let limit = min(min(fade.pointee.outgoing.endFrame, audioEnd), outputFrame &+ Int64(frameCount))
      while frame < limit {
        let position = fade.pointee.streamFrame &+ (frame &- start)
        let gainRange = stream.pointee.gains.gainRange(atFrame: position)
        let region = stream.pointee.ring.readableRegion(
          from: position, atMost: Int(min(limit &- frame, gainRange.endFrame &- position)))
        let offset = Int(frame &- outputFrame)
        mix(
          region.samples, frameCount: region.count, filled: max(0, max(filled, end) &- offset),
          channelCount: channelCount, itemGain: gainRange.gain, fade: fade.pointee.outgoing, sides: sides,
          into: output + offset &* channelCount, at: frame)
        frame &+= Int64(region.count)
        end = max(end, offset &+ region.count)
      }
    }
    return end
  }

  /// Returns the first frame of `stream` that a fade may still need once `heardFrame` has been heard; `Int64.max` when
  /// no fade needs it.
  @_noAllocation
  func firstFadingFrame(of stream: Stream, heardFrame: Int64) -> Int64 {
    var first = Int64.max
    for index in 0..<fadeCount where (fades + index).pointee.stream == stream {
      let fade = fades + index
      if fade.pointee.outgoing.endFrame <= heardFrame { continue }
      first = min(
        first, fade.pointee.streamFrame &+ max(0, heardFrame &- fade.pointee.outgoing.startFrame))
    }
    return first
  }

  /// Drops the fades that begin after `frame`, because a rewind undoes their switches.
  @_noAllocation
  mutating func dropFades(startingAfter frame: Int64, events: borrowing RenderEventQueue, index: Int32) {
    while fadeCount > 0, fades[fadeCount &- 1].outgoing.startFrame > frame {
      fadeCount &-= 1
      release(fades[fadeCount].stream, events: events, index: index)
    }
  }

  /// Drops the fades that have been heard to their end.
  @_noAllocation
  mutating func dropFades(endingBefore frame: Int64, events: borrowing RenderEventQueue, index: Int32) {
    while fadeCount > 0, fades[0].endFrame <= frame { dropOldestFade(events: events, index: index) }
  }

  @_noAllocation
  mutating func dropAllFades(events: borrowing RenderEventQueue, index: Int32) {
    while fadeCount > 0 { dropOldestFade(events: events, index: index) }
  }

  @_noAllocation
  private mutating func dropOldestFade(events: borrowing RenderEventQueue, index: Int32) {
    let stream = fades[0].stream
    fadeCount &-= 1
    for slot in 0..<fadeCount { fades[slot] = fades[slot &+ 1] }
    release(stream, events: events, index: index)
  }
}
