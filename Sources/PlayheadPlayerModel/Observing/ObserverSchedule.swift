import PlayheadMediaCore

/// The schedule of time observers: finds the output frames at which the item times of `table` are heard.
///
/// `next` returns the next milestone that an observer may need. Once its frame has been heard, `handle` returns the
/// calls of observers. A jump has no milestone: the caller reports it with `jump` or `startStream` when it occurs.
///
/// A pure value; no clock, no I/O.
package struct ObserverSchedule {
  /// An event at an output frame that changes the state of observers or calls them.
  package enum Milestone: Hashable {
    /// The current item begins to be heard, after another one.
    case visit(PlayerTimeline.Position, isReverse: Bool)
    /// Audio begins.
    case start(PlayerTimeline.Position)
    /// The time of an observer is reached; the value is the item time at that frame.
    case times(MediaTime)
    /// Audio stops.
    case stop(PlayerTimeline.Position)
    /// The current item continues from a time that was passed already, without a jump.
    case loop(MediaTime, isReverse: Bool)
    /// The current item continues in the other direction.
    case directionChange(MediaTime, isReverse: Bool)

    /// The order of milestones at one frame. The end of an item comes between `stop` and `loop`.
    package var rank: Int {
      switch self {
      case .visit: 0
      case .start: 1
      case .times: 2
      case .stop: 3
      case .loop, .directionChange: Self.endRank + 1
      }
    }

    /// The rank of the end of an item, which is not a milestone.
    package static let endRank = 4
  }

  /// A frame that is never reached: nothing is heard until a stream is set.
  private static let never = Int64.max

  package var table = TimeObserverTable()
  /// Whether the last reported edge of the audio is a start, not a stop.
  package private(set) var isAudible = false
  /// The frame at which the current pass begins. Everything before it belongs to earlier passes.
  private var passFrame = Self.never
  /// The frame from which the next start or stop is searched: that of the last reported one, or of a later jump.
  private var edgeFrame = Self.never

  package init() {}

  // MARK: - Milestones that are heard

  /// Returns the next milestone. `itemID` is the current item; `isPlaying` is whether the rate is not 0.
  package mutating func next(
    in timeline: PlayerTimeline, itemID: PlayerItemID?, isPlaying: Bool
  ) -> (frame: Int64, milestone: Milestone)? {
    guard passFrame != Self.never else { return nil }
    var next: (frame: Int64, milestone: Milestone)?
    func offer(_ frame: Int64, _ milestone: Milestone) {
      if let next, (next.frame, next.milestone.rank) <= (frame, milestone.rank) { return }
      next = (frame, milestone)
    }
    if let edge = nextEdge(in: timeline, isPlaying: isPlaying) { offer(edge.frame, edge.milestone) }
    guard let itemID else { return next }
    guard let current = table.position, current.itemID == itemID else {
      if let range = timeline.audibleRanges(from: passFrame).first(where: { $0.itemID == itemID }) {
        offer(
          range.outputFrame, .visit(.init(itemID: itemID, time: range.time), isReverse: range.rate.isReverse))
      }
      return next
    }
    // Usually there is a pending time and no loop: one lookup of the pass returns both.
    let pass = timeline.pass(of: itemID, from: passFrame)
    if let time = table.nextTime(), let reached = pass.frame(reaching: time) {
      offer(reached.frame, .times(reached.time))
    }
    if let loop = pass.loop {
      let isReverse = loop.rate.isReverse
      offer(
        loop.outputFrame,
        isReverse == pass.isReverse
          ? .loop(loop.time, isReverse: isReverse) : .directionChange(loop.time, isReverse: isReverse))
    }
    return next
  }

  private func nextEdge(in timeline: PlayerTimeline, isPlaying: Bool) -> (frame: Int64, milestone: Milestone)? {
    guard isAudible else {
      // Only a start of the item in the table is reported; another item must be visited first.
      guard let frame = timeline.audioStart(from: edgeFrame),
        let position = timeline.position(atOutputFrame: frame), position.itemID == table.position?.itemID
      else { return nil }
      return (frame, .start(position))
    }
    guard let end = timeline.audioEnd(after: edgeFrame) else { return nil }
    // A jump has moved the player from the end of the heard audio to another position.
    if end.isAtJump, !isPlaying, let current = table.position {
      return (end.frame, .stop(.init(itemID: current.itemID, time: current.time)))
    }
    let position =
      table.position.flatMap { current in
        timeline.time(of: current.itemID, endingAt: end.frame).map { .init(itemID: current.itemID, time: $0) }
      } ?? timeline.position(atOutputFrame: end.frame)
    guard let position else { return nil }
    // After a jump a playing player may continue without a gap, so the stop is due one frame later.
    return (end.isAtJump && isPlaying ? end.frame + 1 : end.frame, .stop(position))
  }

  /// Handles a milestone whose frame has been heard. Returns the calls, in order.
  package mutating func handle(_ milestone: Milestone, at frame: Int64) -> [TimeObserverTable.Call] {
    switch milestone {
    case .visit(let position, let isReverse):
      passFrame = frame
      table.visit(position.itemID, at: position.time, includesPeriodic: isAudible, isReverse: isReverse)
      return []
    case .start(let position):
      isAudible = true
      edgeFrame = frame
      return table.periodicCalls(.start, at: position.time)
    case .times(let time): return table.popCalls(through: time)
    case .stop(let position):
      isAudible = false
      edgeFrame = frame
      return table.periodicCalls(.stop, at: position.time)
    case .loop(let time, let isReverse):
      passFrame = frame
      if let current = table.position {
        table.visit(current.itemID, at: time, includesPeriodic: true, isReverse: isReverse)
      }
      return []
    case .directionChange(let time, let isReverse):
      passFrame = frame
      table.changeDirection(at: time, isReverse: isReverse)
      return []
    }
  }

  /// Handles the end of the item's audio. All times from there to the duration, inclusive, count as reached. In reverse
  /// the end is the item's beginning.
  package mutating func end(of itemID: PlayerItemID, duration: MediaTime) -> [TimeObserverTable.Call] {
    guard let current = table.position, current.itemID == itemID else { return [] }
    if current.isReverse { return table.popCalls(through: .zero) }
    return duration.isNumeric ? table.popCalls(through: duration) : []
  }

  // MARK: - Jumps

  /// Handles a seek that moves the player to `target` at `frame`. All earlier milestones must have been handled.
  /// Returns the calls for the times that the seek skips.
  package mutating func jump(
    to target: PlayerTimeline.Position, at frame: Int64, isReverse: Bool = false
  ) -> [TimeObserverTable.Call] {
    beginPass(at: frame)
    return table.jump(in: target.itemID, to: target.time, isReverse: isReverse)
  }

  /// Handles a stream that is set at `frame` and begins at `position`: a new item, or the same one after an
  /// interruption.
  package mutating func startStream(at position: PlayerTimeline.Position, at frame: Int64, isReverse: Bool = false) {
    if table.position?.itemID != position.itemID {
      table.visit(position.itemID, at: position.time, includesPeriodic: isAudible, isReverse: isReverse)
    } else {
      table.changeDirection(at: position.time, isReverse: isReverse)
    }
    beginPass(at: frame)
  }

  private mutating func beginPass(at frame: Int64) {
    passFrame = frame
    if !isAudible { edgeFrame = frame }
  }

  /// Handles the loss of the stream. `position` is the last position heard. Returns the calls.
  package mutating func interrupt(at position: PlayerTimeline.Position?) -> [TimeObserverTable.Call] {
    passFrame = Self.never
    edgeFrame = Self.never
    guard isAudible else { return [] }
    isAudible = false
    return position.map { table.periodicCalls(.stop, at: $0.time) } ?? []
  }
}
