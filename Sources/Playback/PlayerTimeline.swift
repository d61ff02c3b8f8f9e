import DequeModule
import MediaCore
import RealtimeAudio

/// Where a player was, is and will be: which item's time stands at which frame of the output.
///
/// Two facts make it. *Runs*, from the render side: from this output frame on, that stream sounds from that frame on.
/// *Spans*, from the decode thread: from this frame of the stream on, it is that item from that time on. Everything
/// that is asked (the position heard, the frame at which a time will be heard, the next change of item) is looked up in
/// them, exactly, in integers.
///
/// A pure value; no clock, no I/O.
struct PlayerTimeline {
  /// Why a run is over.
  enum RunEnd: Sendable, Hashable { case starved, ended, stopped }

  struct Run: Sendable, Hashable {
    var outputFrame: Int64
    var streamID: UInt64
    var streamFrame: Int64
    /// The output frame after the run's last one, and why; nil while it goes on.
    var end: (frame: Int64, reason: RunEnd)?
    /// Nothing sounds: the player was put to this place.
    var isStill = false

    static func == (left: Run, right: Run) -> Bool {
      left.outputFrame == right.outputFrame && left.streamID == right.streamID
        && left.streamFrame == right.streamFrame && left.end?.frame == right.end?.frame
        && left.end?.reason == right.end?.reason
    }

    func hash(into hasher: inout Hasher) { hasher.combine(outputFrame) }
  }

  struct Span: Sendable, Hashable {
    var streamFrame: Int64
    var itemID: PlayerItem.ID
    /// Which pass of its stream it belongs to.
    var passIndex = 0
    /// The item's time at `streamFrame`.
    var time: MediaTime
    /// How much faster than the frames it goes on.
    var rate = PlaybackRate.normal
  }

  /// A place in an item.
  struct Position: Sendable, Hashable {
    var itemID: PlayerItem.ID
    var time: MediaTime
  }

  /// Frames per second of the output, and so of every stream.
  let sampleRateHz: Int
  private(set) var runs = Deque<Run>()
  private(set) var spans: [UInt64: Deque<Span>] = [:]
  /// Streams that have been heard to their end, while a run of them is kept.
  private var retired: Set<UInt64> = []

  init(sampleRateHz: Int) { self.sampleRateHz = sampleRateHz }

  // MARK: - Facts

  mutating func add(_ span: Span, streamID: UInt64) { spans[streamID, default: []].append(span) }

  /// Frames of `streamID` from `frame` on will not sound: what was said about them is void.
  mutating func truncate(streamID: UInt64, at frame: Int64) {
    while let last = spans[streamID]?.last, last.streamFrame >= frame { spans[streamID]?.removeLast() }
  }

  mutating func removeStream(_ streamID: UInt64) {
    spans[streamID] = nil
    retired.remove(streamID)
  }

  /// Nothing of the stream is to be heard any more. What has been heard may still be asked for, until it is forgotten.
  mutating func retireStream(_ streamID: UInt64) {
    retired.insert(streamID)
    removeRetired(streamID)
  }

  private mutating func removeRetired(_ streamID: UInt64) {
    guard retired.contains(streamID), !runs.contains(where: { $0.streamID == streamID }) else { return }
    removeStream(streamID)
  }

  /// Sound began; or, with `isStill`, the player stands at this frame without sounding.
  mutating func beginRun(outputFrame: Int64, streamID: UInt64, streamFrame: Int64, isStill: Bool = false) {
    if runs.last?.end == nil, !runs.isEmpty { endRun(outputFrame: outputFrame, reason: .stopped) }
    runs.append(
      Run(
        outputFrame: outputFrame, streamID: streamID, streamFrame: streamFrame,
        end: isStill ? (outputFrame, .stopped) : nil, isStill: isStill))
  }

  mutating func endRun(outputFrame: Int64, reason: RunEnd) {
    guard let last = runs.indices.last, runs[last].end == nil || runs[last].outputFrame == outputFrame else { return }
    runs[last].end = (max(outputFrame, runs[last].outputFrame), reason)
  }

  /// Everything from `outputFrame` on will be rendered again: what was said about it is void. A run that went past the
  /// frame goes on; what a command did at the frame itself stays.
  mutating func rewind(to outputFrame: Int64) {
    while let last = runs.last, last.outputFrame >= outputFrame {
      if last.isStill, last.outputFrame == outputFrame { return }
      runs.removeLast()
    }
    guard let last = runs.indices.last, let end = runs[last].end, end.frame > outputFrame else { return }
    runs[last].end = nil
  }

  /// Runs that ended before `outputFrame` are not asked for any more; the one that covers it is kept, and the one before if
  /// that begins there: a rewind to `outputFrame` makes it void.
  mutating func forget(before outputFrame: Int64) {
    while runs.count > 1, runs[1].outputFrame < outputFrame { removeRetired(runs.removeFirst().streamID) }
    guard let first = runs.first, var list = spans[first.streamID] else { return }
    let frame = first.streamFrame + max(0, outputFrame - first.outputFrame)
    while list.count > 1, list[1].streamFrame <= frame { list.removeFirst() }
    spans[first.streamID] = list
  }

  // MARK: - Questions

  /// The run that covers or last ended before `outputFrame`.
  func run(at outputFrame: Int64) -> Run? { runs.last { $0.outputFrame <= outputFrame } ?? runs.first }

  /// Where the player is when `outputFrame` is heard: the end of a run that is over; nil when it never was anywhere.
  func position(atOutputFrame outputFrame: Int64) -> Position? {
    guard let run = run(at: outputFrame), let frame = streamFrame(of: run, at: outputFrame) else { return nil }
    return position(streamID: run.streamID, streamFrame: frame)
  }

  private func streamFrame(of run: Run, at outputFrame: Int64) -> Int64? {
    let limit = min(outputFrame, run.end?.frame ?? .max)
    return run.streamFrame + max(0, limit - run.outputFrame)
  }

  /// The time that item `id` has reached where its sound ends, at `outputFrame` or before.
  func time(of id: PlayerItem.ID, endingAt outputFrame: Int64) -> MediaTime? {
    for run in runs.reversed() where run.outputFrame < outputFrame {
      let frame = run.streamFrame + (min(outputFrame, run.end?.frame ?? .max) - run.outputFrame)
      guard let span = spans[run.streamID]?.last(where: { $0.itemID == id && $0.streamFrame < frame }) else {
        continue
      }
      return time(in: span, at: frame)
    }
    return nil
  }

  /// The time of item `id` where `outputFrame` is heard; where another item follows there, the time at which it ends.
  func time(of id: PlayerItem.ID, atOutputFrame outputFrame: Int64) -> MediaTime? {
    for run in runs.reversed() where run.outputFrame <= outputFrame {
      if let frame = streamFrame(of: run, at: outputFrame),
        let time = time(of: id, streamID: run.streamID, endingAt: frame)
      {
        return time
      }
    }
    return nil
  }

  /// The time of item `id` at the frame of a stream in front of which its sound ends; where it has none, the time at which
  /// it stands there.
  func time(of id: PlayerItem.ID, streamID: UInt64, endingAt streamFrame: Int64) -> MediaTime? {
    guard let list = spans[streamID] else { return nil }
    let span =
      list.last { $0.itemID == id && $0.streamFrame < streamFrame }
      ?? list.last { $0.itemID == id && $0.streamFrame == streamFrame }
    return span.map { time(in: $0, at: streamFrame) }
  }

  /// The frame of the stream at which the pass has reached `time`; nil when it begins later.
  func streamFrame(of time: MediaTime, passIndex: Int, streamID: UInt64) -> Int64? {
    guard let span = spans[streamID]?.last(where: { $0.passIndex == passIndex && $0.rate.reaches($0.time, by: time) }),
      let offset = (time - span.time).frameCount(
        rate: sampleRateHz, playbackRate: span.rate, rounding: .towardPositiveInfinity)
    else { return nil }
    return span.streamFrame + offset
  }

  /// Where item `id` sounds at or after `outputFrame`, at which a pass of a stream ended, in another pass; nil while that
  /// is not known.
  func sound(of id: PlayerItem.ID, from outputFrame: Int64, after pass: (streamID: UInt64, index: Int)) -> Sound? {
    for run in runs where !run.isStill && run.end?.frame ?? .max > outputFrame {
      let frame = max(run.outputFrame, outputFrame)
      let streamFrame = run.streamFrame + (frame - run.outputFrame)
      guard let span = spans[run.streamID]?.last(where: { $0.streamFrame <= streamFrame }) else { continue }
      if span.itemID != id || (run.streamID == pass.streamID && span.passIndex == pass.index) { continue }
      return Sound(
        outputFrame: frame, streamID: run.streamID, passIndex: span.passIndex,
        position: Position(itemID: span.itemID, time: time(in: span, at: streamFrame)))
    }
    return nil
  }

  struct Sound: Sendable, Hashable {
    var outputFrame: Int64
    var streamID: UInt64
    var passIndex: Int
    var position: Position
  }

  func position(streamID: UInt64, streamFrame: Int64) -> Position? {
    guard let span = spans[streamID]?.last(where: { $0.streamFrame <= streamFrame }) else { return nil }
    return Position(itemID: span.itemID, time: time(in: span, at: streamFrame))
  }

  func time(in span: Span, at streamFrame: Int64) -> MediaTime {
    MediaTime(
      span.time, advancedByFrames: streamFrame - span.streamFrame, rate: sampleRateHz, playbackRate: span.rate)
  }

  /// What frame `streamFrame` of a stream is.
  func span(streamID: UInt64, streamFrame: Int64) -> Span? {
    spans[streamID]?.last { $0.streamFrame <= streamFrame }
  }

  /// How fast the item's time goes on in frame `streamFrame` of a stream.
  func rate(streamID: UInt64, streamFrame: Int64) -> PlaybackRate? {
    span(streamID: streamID, streamFrame: streamFrame)?.rate
  }

  /// How fast the item's time goes on where `outputFrame` is heard, or would if anything sounded there.
  func rate(atOutputFrame outputFrame: Int64) -> PlaybackRate? {
    guard let run = run(at: outputFrame), let frame = streamFrame(of: run, at: outputFrame) else { return nil }
    return rate(streamID: run.streamID, streamFrame: frame)
  }

  /// The output frame at which frame `streamFrame` of a stream is, or would be, heard; nil when no run reaches it. The
  /// end of a run counts as reached.
  func outputFrame(streamID: UInt64, streamFrame: Int64) -> Int64? {
    for run in runs.reversed() where run.streamID == streamID && run.streamFrame <= streamFrame {
      let frame = run.outputFrame + (streamFrame - run.streamFrame)
      if let end = run.end, frame > end.frame { continue }
      return frame
    }
    return nil
  }
}
