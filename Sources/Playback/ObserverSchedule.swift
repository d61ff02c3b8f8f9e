import MediaCore

/// When time observers are to be told what: the table's item times, looked up in the timeline's output frames.
///
/// `next` answers what is heard next that anybody may want to know; once that frame has been heard the milestone is given
/// to `pass`, which answers whom to call. Jumps are not heard but carried out: `jump` and `land` tell of them.
///
/// A pure value; no clock, no I/O.
struct ObserverSchedule {
  enum Milestone: Hashable {
    /// The current item begins to be heard, behind another one.
    case visit(PlayerTimeline.Position, isReverse: Bool)
    /// Sound begins.
    case start(PlayerTimeline.Position)
    /// An observer's time is reached, and the item's time is this then.
    case times(MediaTime)
    /// Sound ceases.
    case stop(PlayerTimeline.Position)
    /// The current item goes on from a time that was passed, without a jump.
    case loop(MediaTime, isReverse: Bool)
    /// The current item goes on the other way.
    case turn(MediaTime, isReverse: Bool)

    /// The order of what is heard at one frame. The end of an item comes between `stop` and `loop`.
    var rank: Int {
      switch self {
      case .visit: 0
      case .start: 1
      case .times: 2
      case .stop: 3
      case .loop, .turn: Self.endRank + 1
      }
    }

    static let endRank = 4
  }

  /// No frame is at or after this one: nothing is heard until a stream is set.
  private static let never = Int64.max

  var table = TimeObserverTable()
  /// A start was told, and no stop since.
  private(set) var isSounding = false
  /// Where the present pass begins; what is over there belongs to earlier ones.
  private var passFrame = Self.never
  /// Where the last start or stop was told.
  private var edgeFrame = Self.never

  // MARK: - What is heard

  /// What comes next; `itemID` is the current item, `isPlaying` whether the rate is not 0.
  mutating func next(
    in timeline: PlayerTimeline, itemID: PlayerItem.ID?, isPlaying: Bool
  ) -> (frame: Int64, milestone: Milestone)? {
    guard passFrame != Self.never else { return nil }
    var next: (frame: Int64, milestone: Milestone)?
    func offer(_ frame: Int64, _ milestone: Milestone) {
      if let next, (next.frame, next.milestone.rank) <= (frame, milestone.rank) { return }
      next = (frame, milestone)
    }
    if let edge = nextEdge(in: timeline, isPlaying: isPlaying) { offer(edge.frame, edge.milestone) }
    guard let itemID else { return next }
    guard let place = table.place, place.itemID == itemID else {
      if let piece = timeline.pieces(from: passFrame).first(where: { $0.itemID == itemID }) {
        offer(
          piece.outputFrame, .visit(.init(itemID: itemID, time: piece.time), isReverse: piece.rate.isReverse))
      }
      return next
    }
    // Most of the time there is a time to come and no loop: one look at the pass tells both.
    let pass = timeline.pass(of: itemID, from: passFrame)
    if let time = table.nextTime(), let reached = pass.frame(reaching: time) {
      offer(reached.frame, .times(reached.time))
    }
    if let loop = pass.loop {
      let isReverse = loop.rate.isReverse
      offer(
        loop.outputFrame,
        isReverse == pass.isReverse ? .loop(loop.time, isReverse: isReverse) : .turn(loop.time, isReverse: isReverse))
    }
    return next
  }

  private func nextEdge(in timeline: PlayerTimeline, isPlaying: Bool) -> (frame: Int64, milestone: Milestone)? {
    guard isSounding else {
      // Whose start is told is the item that the table is in; another one is visited first.
      guard let frame = timeline.soundBegins(from: edgeFrame),
        let position = timeline.position(atOutputFrame: frame), position.itemID == table.place?.itemID
      else { return nil }
      return (frame, .start(position))
    }
    guard let end = timeline.soundCeases(after: edgeFrame) else { return nil }
    // A jump has moved the player from the end of what was heard to another position.
    if end.isAtJump, !isPlaying, let place = table.place {
      return (end.frame, .stop(.init(itemID: place.itemID, time: place.time)))
    }
    let position =
      table.place.flatMap { place in
        timeline.time(of: place.itemID, endingAt: end.frame).map { .init(itemID: place.itemID, time: $0) }
      } ?? timeline.position(atOutputFrame: end.frame)
    guard let position else { return nil }
    // Who plays and jumps sounds on in the very next frame, if at all.
    return (end.isAtJump && isPlaying ? end.frame + 1 : end.frame, .stop(position))
  }

  /// The milestone's frame has been heard: answers who is to be called, in order.
  mutating func pass(_ milestone: Milestone, at frame: Int64) -> [TimeObserverTable.Call] {
    switch milestone {
    case .visit(let position, let isReverse):
      passFrame = frame
      table.visit(position.itemID, at: position.time, includesPeriodic: isSounding, isReverse: isReverse)
      return []
    case .start(let position):
      isSounding = true
      edgeFrame = frame
      return table.periodicCalls(.start, at: position.time)
    case .times(let time): return table.take(through: time)
    case .stop(let position):
      isSounding = false
      edgeFrame = frame
      return table.periodicCalls(.stop, at: position.time)
    case .loop(let time, let isReverse):
      passFrame = frame
      if let place = table.place {
        table.visit(place.itemID, at: time, includesPeriodic: true, isReverse: isReverse)
      }
      return []
    case .turn(let time, let isReverse):
      passFrame = frame
      table.turn(at: time, isReverse: isReverse)
      return []
    }
  }

  /// The item's sound has been heard to its end: what lies between there and its duration, the duration itself included,
  /// is reached. Backwards that is its beginning.
  mutating func end(of itemID: PlayerItem.ID, duration: MediaTime) -> [TimeObserverTable.Call] {
    guard let place = table.place, place.itemID == itemID else { return [] }
    if place.isReverse { return table.take(through: .zero) }
    return duration.isNumeric ? table.take(through: duration) : []
  }

  // MARK: - What is carried out

  /// At `frame` a seek puts the player to `target`; everything that was heard before has been passed. Answers who is to be
  /// called for what it skips.
  mutating func jump(
    to target: PlayerTimeline.Position, at frame: Int64, isReverse: Bool = false
  ) -> [TimeObserverTable.Call] {
    begin(at: frame)
    return table.jump(in: target.itemID, to: target.time, isReverse: isReverse)
  }

  /// At `frame` a stream is set that begins at `position`: a new item, or the same one where it was interrupted.
  mutating func land(at position: PlayerTimeline.Position, at frame: Int64, isReverse: Bool = false) {
    if table.place?.itemID != position.itemID {
      table.visit(position.itemID, at: position.time, includesPeriodic: isSounding, isReverse: isReverse)
    } else {
      table.turn(at: position.time, isReverse: isReverse)
    }
    begin(at: frame)
  }

  private mutating func begin(at frame: Int64) {
    passFrame = frame
    if !isSounding { edgeFrame = frame }
  }

  /// There is no stream any more; `position` is where the player was heard last. Answers who is to be called.
  mutating func interrupt(at position: PlayerTimeline.Position?) -> [TimeObserverTable.Call] {
    passFrame = Self.never
    edgeFrame = Self.never
    guard isSounding else { return [] }
    isSounding = false
    return position.map { table.periodicCalls(.stop, at: $0.time) } ?? []
  }
}
