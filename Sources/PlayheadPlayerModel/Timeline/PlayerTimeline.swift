import DequeModule
import PlayheadMediaCore

/// The positions of a player over time: which time of which item is at which frame of the output.
///
/// The timeline is built from two kinds of facts, `Run` and `Segment`. A run comes from the mixer: from this output
/// frame, that stream is rendered from that stream frame. A segment comes from the decode thread: from this frame of
/// the stream, the audio is of that item from that time.
///
/// All queries are computed from these facts, exactly and in integers: for example the position heard, the output frame
/// of a time, or the next change of item.
///
/// A pure value; no clock, no I/O.
package struct PlayerTimeline {
  /// The reason why a run ended.
  package enum RunEnd: Sendable, Hashable { case underrun, ended, stopped }

  /// A range of output frames in which one stream is rendered without interruption.
  package struct Run: Sendable, Hashable {
    package var outputFrame: Int64
    package var streamID: UInt64
    package var streamFrame: Int64
    /// The output frame after the run's last one, and the reason; nil while the run continues.
    package var end: (frame: Int64, reason: RunEnd)?
    /// Whether the run only states the position of the player after a jump, and nothing is rendered.
    package var isPositionOnly = false

    package static func == (left: Run, right: Run) -> Bool {
      left.outputFrame == right.outputFrame && left.streamID == right.streamID
        && left.streamFrame == right.streamFrame && left.end?.frame == right.end?.frame
        && left.end?.reason == right.end?.reason
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(outputFrame) }
  }

  /// The start of a range of stream frames that belongs to one item. The range ends where the next segment starts.
  package struct Segment: Sendable, Hashable {
    package var streamFrame: Int64
    package var itemID: PlayerItemID
    /// The index of the pass in its stream.
    package var passIndex = 0
    /// The item's time at `streamFrame`.
    package var time: MediaTime
    /// The rate at which the item's time advances, relative to the frames.
    package var rate = PlaybackRate.normal

    package init(
      streamFrame: Int64, itemID: PlayerItemID, passIndex: Int = 0, time: MediaTime,
      rate: PlaybackRate = PlaybackRate.normal
    ) {
      self.streamFrame = streamFrame
      self.itemID = itemID
      self.passIndex = passIndex
      self.time = time
      self.rate = rate
    }
  }

  /// A position in an item.
  package struct Position: Sendable, Hashable {
    package var itemID: PlayerItemID
    package var time: MediaTime

    package init(itemID: PlayerItemID, time: MediaTime) {
      self.itemID = itemID
      self.time = time
    }
  }

  /// The sample rate of the output, and so of every stream, in Hz.
  package let sampleRateHz: Int
  package private(set) var runs = Deque<Run>()
  private(set) var segments: [UInt64: Deque<Segment>] = [:]
  /// Streams that are not rendered any more but still have a run.
  private var retired: Set<UInt64> = []

  package init(sampleRateHz: Int) { self.sampleRateHz = sampleRateHz }

  // MARK: - Facts

  package mutating func add(_ segment: Segment, streamID: UInt64) { segments[streamID, default: []].append(segment) }

  /// Removes facts about frames of `streamID` from `frame`, which will not be rendered.
  package mutating func truncate(streamID: UInt64, at frame: Int64) {
    while let last = segments[streamID]?.last, last.streamFrame >= frame { segments[streamID]?.removeLast() }
  }

  /// Removes all segments of a stream.
  package mutating func removeStream(_ streamID: UInt64) {
    segments[streamID] = nil
    retired.remove(streamID)
  }

  /// Marks a stream as rendered completely. Its facts are kept while one of its runs is.
  package mutating func retireStream(_ streamID: UInt64) {
    retired.insert(streamID)
    removeRetired(streamID)
  }

  private mutating func removeRetired(_ streamID: UInt64) {
    guard retired.contains(streamID), !runs.contains(where: { $0.streamID == streamID }) else { return }
    removeStream(streamID)
  }

  /// Begins a run: the mixer renders the stream, or with `isPositionOnly` the player is at this frame but is not
  /// rendered.
  package mutating func beginRun(
    outputFrame: Int64, streamID: UInt64, streamFrame: Int64, isPositionOnly: Bool = false
  ) {
    if runs.last?.end == nil, !runs.isEmpty { endRun(outputFrame: outputFrame, reason: .stopped) }
    runs.append(
      Run(
        outputFrame: outputFrame, streamID: streamID, streamFrame: streamFrame,
        end: isPositionOnly ? (outputFrame, .stopped) : nil, isPositionOnly: isPositionOnly))
  }

  /// Ends the last run at `outputFrame`, exclusive. Does nothing if it has already ended, unless it begins there.
  package mutating func endRun(outputFrame: Int64, reason: RunEnd) {
    guard let last = runs.indices.last, runs[last].end == nil || runs[last].outputFrame == outputFrame else { return }
    runs[last].end = (max(outputFrame, runs[last].outputFrame), reason)
  }

  /// Removes facts about output frames from `outputFrame`, which will be rendered again. A run that extended past the
  /// frame continues. The effect of a command at the frame itself is kept.
  package mutating func rewind(to outputFrame: Int64) {
    while let last = runs.last, last.outputFrame >= outputFrame {
      if last.isPositionOnly, last.outputFrame == outputFrame { return }
      runs.removeLast()
    }
    guard let last = runs.indices.last, let end = runs[last].end, end.frame > outputFrame else { return }
    runs[last].end = nil
  }

  /// Removes runs that ended before `outputFrame`. Keeps the run that covers it. If that run begins exactly there,
  /// keeps the run before it, too, because a rewind to `outputFrame` removes the covering one.
  package mutating func removeRuns(before outputFrame: Int64) {
    while runs.count > 1, runs[1].outputFrame < outputFrame { removeRetired(runs.removeFirst().streamID) }
    guard let first = runs.first, var list = segments[first.streamID] else { return }
    let frame = first.streamFrame + max(0, outputFrame - first.outputFrame)
    while list.count > 1, list[1].streamFrame <= frame { list.removeFirst() }
    segments[first.streamID] = list
  }

  // MARK: - Queries

  /// The run that covers `outputFrame` or last ended before it.
  package func run(at outputFrame: Int64) -> Run? { runs.last { $0.outputFrame <= outputFrame } ?? runs.first }

  /// The position of the player when `outputFrame` is heard; after a run its end. Nil if the player had no position
  /// yet.
  package func position(atOutputFrame outputFrame: Int64) -> Position? {
    guard let run = run(at: outputFrame), let frame = streamFrame(of: run, at: outputFrame) else { return nil }
    return position(streamID: run.streamID, streamFrame: frame)
  }

  private func streamFrame(of run: Run, at outputFrame: Int64) -> Int64? {
    let limit = min(outputFrame, run.end?.frame ?? .max)
    return run.streamFrame + max(0, limit - run.outputFrame)
  }

  /// The time of item `id` at the end of its audio, at or before `outputFrame`.
  package func time(of id: PlayerItemID, endingAt outputFrame: Int64) -> MediaTime? {
    for run in runs.reversed() where run.outputFrame < outputFrame {
      let frame = run.streamFrame + (min(outputFrame, run.end?.frame ?? .max) - run.outputFrame)
      guard let segment = segments[run.streamID]?.last(where: { $0.itemID == id && $0.streamFrame < frame }) else {
        continue
      }
      return time(in: segment, at: frame)
    }
    return nil
  }

  /// The time of item `id` when `outputFrame` is heard; if another item begins there, the end time of `id`.
  package func time(of id: PlayerItemID, atOutputFrame outputFrame: Int64) -> MediaTime? {
    for run in runs.reversed() where run.outputFrame <= outputFrame {
      if let frame = streamFrame(of: run, at: outputFrame),
        let time = time(of: id, streamID: run.streamID, endingAt: frame)
      {
        return time
      }
    }
    return nil
  }

  /// The time of item `id` at the frame of a stream before which its audio ends. For an item without audio the time at
  /// that frame.
  package func time(of id: PlayerItemID, streamID: UInt64, endingAt streamFrame: Int64) -> MediaTime? {
    guard let list = segments[streamID] else { return nil }
    let segment =
      list.last { $0.itemID == id && $0.streamFrame < streamFrame }
      ?? list.last { $0.itemID == id && $0.streamFrame == streamFrame }
    return segment.map { time(in: $0, at: streamFrame) }
  }

  /// The frame of the stream at which the pass reaches `time`; nil if the pass begins after `time`.
  package func streamFrame(of time: MediaTime, passIndex: Int, streamID: UInt64) -> Int64? {
    guard
      let segment = segments[streamID]?.last(where: {
        $0.passIndex == passIndex && $0.rate.reaches($0.time, by: time)
      }),
      let offset = (time - segment.time).frameCount(
        rate: sampleRateHz, playbackRate: segment.rate, rounding: .towardPositiveInfinity)
    else { return nil }
    return segment.streamFrame + offset
  }

  /// The next audible position of item `id` in a pass other than `pass`, which ended at `outputFrame`. Nil while the
  /// position is unknown.
  package func audiblePosition(
    of id: PlayerItemID, from outputFrame: Int64, after pass: (streamID: UInt64, index: Int)
  ) -> AudiblePosition? {
    for run in runs where !run.isPositionOnly && run.end?.frame ?? .max > outputFrame {
      let frame = max(run.outputFrame, outputFrame)
      let streamFrame = run.streamFrame + (frame - run.outputFrame)
      guard let segment = segments[run.streamID]?.last(where: { $0.streamFrame <= streamFrame }) else { continue }
      if segment.itemID != id || (run.streamID == pass.streamID && segment.passIndex == pass.index) { continue }
      return AudiblePosition(
        outputFrame: frame, streamID: run.streamID, passIndex: segment.passIndex,
        position: Position(itemID: segment.itemID, time: time(in: segment, at: streamFrame)))
    }
    return nil
  }

  /// A position of an item, and where it is heard.
  package struct AudiblePosition: Sendable, Hashable {
    package var outputFrame: Int64
    package var streamID: UInt64
    package var passIndex: Int
    package var position: Position
  }

  /// The first output frame at `outputFrame` or after it from which the position advances. Nil while it is unknown:
  /// the audio has ended, and no other audio is scheduled.
  package func advancingFrame(from outputFrame: Int64) -> Int64? {
    if let next = runs.first(where: { $0.isAudible && $0.end?.frame ?? .max > outputFrame }) {
      return max(outputFrame, next.outputFrame)
    }
    // The audio after a jump usually begins at the frame of the jump. Its run is reported afterwards.
    return runs.last.flatMap { $0.isPositionOnly ? max(outputFrame, $0.outputFrame) : nil }
  }

  /// The position at a frame of a stream; nil if no segment covers the frame.
  package func position(streamID: UInt64, streamFrame: Int64) -> Position? {
    guard let segment = segments[streamID]?.last(where: { $0.streamFrame <= streamFrame }) else { return nil }
    return Position(itemID: segment.itemID, time: time(in: segment, at: streamFrame))
  }

  /// The time of the segment's item at a frame of the stream.
  package func time(in segment: Segment, at streamFrame: Int64) -> MediaTime {
    MediaTime(
      segment.time, advancedByFrames: streamFrame - segment.streamFrame, rate: sampleRateHz, playbackRate: segment.rate)
  }

  /// The facts about frame `streamFrame` of a stream.
  package func segment(streamID: UInt64, streamFrame: Int64) -> Segment? {
    segments[streamID]?.last { $0.streamFrame <= streamFrame }
  }

  /// The rate at which the item's time advances at frame `streamFrame` of a stream.
  package func rate(streamID: UInt64, streamFrame: Int64) -> PlaybackRate? {
    segment(streamID: streamID, streamFrame: streamFrame)?.rate
  }

  /// The rate at which the item's time advances at `outputFrame`, even if nothing is rendered there.
  package func rate(atOutputFrame outputFrame: Int64) -> PlaybackRate? {
    guard let run = run(at: outputFrame), let frame = streamFrame(of: run, at: outputFrame) else { return nil }
    return rate(streamID: run.streamID, streamFrame: frame)
  }

  /// The output frame at which frame `streamFrame` of a stream is, or would be, heard; nil if no run reaches it. The
  /// end of a run counts as reached.
  package func outputFrame(streamID: UInt64, streamFrame: Int64) -> Int64? {
    for run in runs.reversed() where run.streamID == streamID && run.streamFrame <= streamFrame {
      let frame = run.outputFrame + (streamFrame - run.streamFrame)
      if let end = run.end, frame > end.frame { continue }
      return frame
    }
    return nil
  }
}
