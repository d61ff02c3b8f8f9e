/// Cross-fades: what is heard of a stream after another one has taken over.
///
/// A fade says which frames of the outgoing stream stand at which output frames, and how loud; the newest one says how
/// loud the present stream is, too. Like runs they are kept until they have been heard, so that all is the same when it
/// is rendered again. Up to sixteen overlap: a stream that takes over within the fade before it begins its own where it
/// stands, so that the sum never jumps.
extension RenderInput {
  /// A stream on its way out.
  struct Fade: BitwiseCopyable {
    /// The outgoing stream, and its frame at `outgoing.startFrame`.
    var stream: Stream
    var streamFrame: Int64
    /// The stream's gain over output frames, and that of the one which took over.
    var outgoing: GainRamp
    var incoming: GainRamp
  }

  static let fadeCapacity = 16

  /// How loud the present stream is, for a cross-fade's part.
  var incomingFade: GainRamp {
    @_noAllocation get { fadeCount > 0 ? fades[fadeCount &- 1].incoming : GainRamp() }
  }

  /// Lets the present stream fade out from `outputFrame` on, and whatever comes next fade in. Nil, or the frame before
  /// which nothing can be rendered again any more, because the oldest fade had to be forgotten to make room.
  @_noAllocation
  mutating func beginFade(
    at outputFrame: Int64, from streamFrame: Int64, frameCount: Int64, events: borrowing RenderEventQueue, index: Int32
  ) -> Int64? {
    guard let stream else { return nil }
    var forgotten: Int64?
    let gain = incomingFade.value(atFrame: outputFrame)
    if fadeCount == Self.fadeCapacity {
      forgotten = fades[0].outgoing.endFrame
      dropOldestFade(events: events, index: index)
    }
    (fades + fadeCount).initialize(
      to: Fade(
        stream: stream, streamFrame: streamFrame,
        outgoing: GainRamp(start: gain, target: 0, startFrame: outputFrame, frameCount: frameCount),
        incoming: GainRamp(start: 0, target: 1, startFrame: outputFrame, frameCount: frameCount)))
    fadeCount &+= 1
    retain(stream)
    return forgotten
  }

  /// Mixes what is fading out into a block of `frameCount` frames from `outputFrame` on, whose first `filled` frames hold
  /// sound of any input, and its first `sounded` this one's. Answers the frame at which the input falls silent.
  @_noAllocation
  func mixFades(
    into output: UnsafeMutablePointer<Float>, frameCount: Int, filled: Int, sounded: Int, channelCount: Int,
    sides: PanSides, at outputFrame: Int64
  ) -> Int {
    var end = sounded
    for index in 0..<fadeCount {
      let fade = fades + index
      let stream = fade.pointee.stream
      let start = fade.pointee.outgoing.startFrame
      let written = min(stream.pointee.ring.writtenFrame, stream.pointee.end)
      // Output frames from `frame` on, before `limit`.
      var frame = max(start, outputFrame)
      let soundEnd = start &+ max(0, written &- fade.pointee.streamFrame)
      let limit = min(min(fade.pointee.outgoing.endFrame, soundEnd), outputFrame &+ Int64(frameCount))
      while frame < limit {
        let position = fade.pointee.streamFrame &+ (frame &- start)
        let level = stream.pointee.levels.reach(atFrame: position)
        let region = stream.pointee.ring.readableRegion(
          from: position, atMost: Int(min(limit &- frame, level.endFrame &- position)))
        let offset = Int(frame &- outputFrame)
        mix(
          region.samples, frameCount: region.count, filled: max(0, max(filled, end) &- offset),
          channelCount: channelCount, level: level.gain, fade: fade.pointee.outgoing, sides: sides,
          into: output + offset &* channelCount, at: frame)
        frame &+= Int64(region.count)
        end = max(end, offset &+ region.count)
      }
    }
    return end
  }

  /// The first frame of `stream` that a fade may still need when `heardFrame` has been heard; `Int64.max` when none does.
  @_noAllocation
  func firstFadingFrame(of stream: Stream, heardFrame: Int64) -> Int64 {
    var first = Int64.max
    for index in 0..<fadeCount where (fades + index).pointee.stream == stream {
      let fade = fades + index
      first = min(
        first, fade.pointee.streamFrame &+ max(0, heardFrame &- fade.pointee.outgoing.startFrame))
    }
    return first
  }

  /// Take-overs after `frame` have not happened.
  @_noAllocation
  mutating func takeBackFades(after frame: Int64, events: borrowing RenderEventQueue, index: Int32) {
    while fadeCount > 0, fades[fadeCount &- 1].outgoing.startFrame > frame {
      fadeCount &-= 1
      release(fades[fadeCount].stream, events: events, index: index)
    }
  }

  /// What has been heard to its end will not be asked for again.
  @_noAllocation
  mutating func dropFades(endingBefore frame: Int64, events: borrowing RenderEventQueue, index: Int32) {
    while fadeCount > 0, fades[0].outgoing.endFrame <= frame { dropOldestFade(events: events, index: index) }
  }

  @_noAllocation
  mutating func dropAllFades(events: borrowing RenderEventQueue, index: Int32) {
    while fadeCount > 0 { dropOldestFade(events: events, index: index) }
  }

  @_noAllocation
  private mutating func dropOldestFade(events: borrowing RenderEventQueue, index: Int32) {
    let stream = fades[0].stream
    fadeCount &-= 1
    for place in 0..<fadeCount { fades[place] = fades[place &+ 1] }
    release(stream, events: events, index: index)
  }
}
