import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayerModel

/// Passages over boundaries, compared with a model that plays frame by frame, forwards and in reverse. Every passage is
/// crossed or skipped, none is lost or reported twice, and their order is that of the audio.
@Suite struct ObserverScheduleTests {
  @Test(arguments: 0..<Effort.rounds(400))
  func everyCrossingIsReportedOnceAndInOrder(seed: Int) {
    var deck = Deck(seed: UInt64(seed))
    for _ in 0..<40 {
      deck.step()
      guard deck.reports != deck.model.reports else { continue }
      let index = zip(deck.reports, deck.model.reports).prefix { $0 == $1 }.count
      let (reports, expected) = (deck.reports.dropFirst(index).prefix(3), deck.model.reports.dropFirst(index).prefix(3))
      Issue.record("seed \(seed): reports \(reports), not \(expected) at the end of: \(deck.script)")
      return
    }
  }

  /// Within one visit to an item without loops, the passages of a boundary alternate between forwards and backwards.
  @Test(arguments: 1_000..<1_200)
  func crossingsOfABoundaryAlternateInDirection(seed: Int) {
    var deck = Deck(seed: UInt64(seed), allowsLoops: false, itemCount: 1)
    for _ in 0..<60 { deck.step() }
    var lastIsForward: [String: Bool] = [:]
    for line in deck.reports where line.hasPrefix("1 ") {
      let words = line.split(separator: " ")
      let isForward = words[1] == "forward" || words[1] == "crossed"
      #expect(lastIsForward[String(words[2])] ?? false != isForward, "seed \(seed): \(line) in \(deck.script)")
      lastIsForward[String(words[2])] = isForward
    }
  }

  /// Multiples of an interval are reported as they are heard, ascending and descending.
  @Test(arguments: 3_000..<3_200)
  func periodicTimesAreMultiplesOfTheIntervalInBothDirections(seed: Int) {
    var deck = Deck(seed: UInt64(seed), allowsLoops: false, itemCount: 1)
    for _ in 0..<60 { deck.step() }
    #expect(deck.ticks == deck.model.ticks, "seed \(seed): \(deck.script)")
  }

  @Test func randomOperationsCoverBothDirections() {
    var (reports, reversals) = ([String: Int](), 0)
    let seeds = Effort.rounds(400)
    for seed in 0..<UInt64(seeds) {
      var deck = Deck(seed: seed)
      for _ in 0..<40 { deck.step() }
      for line in deck.reports { reports[String(line.split(separator: " ")[1]), default: 0] += 1 }
      reversals += deck.reversalCount
    }
    print("observer model | \(reports.sorted { $0.key < $1.key }) | \(reversals) reversals")
    #expect(
      ["crossed", "crossedBack", "forward", "backward"].allSatisfy { reports[$0] ?? 0 > seeds }
        && reversals > seeds)
  }

  @Test func startsAndStopsAlternate() {
    for seed in UInt64(2_000)..<2_100 {
      var deck = Deck(seed: seed)
      for _ in 0..<40 { deck.step() }
      for (first, second) in zip(deck.edges, deck.edges.dropFirst()) {
        #expect(first != second, "seed \(seed): \(deck.edges) in \(deck.script)")
      }
      #expect(deck.edges.first != "stop")
    }
  }
}

/// Changes of the timeline other than by playback or seeks.
@Suite struct ObserverScheduleTimelineTests {
  private func milliseconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1_000) }

  /// A schedule landed in item 1 at time 0, with a tick every 10 ms and cues at these times.
  private func schedule(cues: [Int64]) -> ObserverSchedule {
    var schedule = ObserverSchedule()
    schedule.table.addPeriodic(1, interval: milliseconds(10)) { _ in }
    schedule.table.addBoundary(2, times: cues.map(milliseconds), itemID: nil, includesSeeks: true) { _ in }
    schedule.startStream(at: .init(itemID: 1, time: .zero), at: 0)
    return schedule
  }

  /// The calls up to a frame, each with its frame.
  private func reports(
    _ schedule: inout ObserverSchedule, _ timeline: PlayerTimeline, through frame: Int64
  ) -> [String] {
    var lines: [String] = []
    while let next = schedule.next(in: timeline, itemID: 1, isPlaying: true), next.frame <= frame {
      for call in schedule.handle(next.milestone, at: next.frame) {
        lines.append("\(next.frame) \(call.reason) \(call.time.convertScale(1_000).value)")
      }
    }
    return lines
  }

  @Test func boundariesInAGapOfTheFileAreCrossedAfterIt() {
    var timeline = PlayerTimeline(sampleRateHz: 1_000)
    timeline.add(.init(streamFrame: 0, itemID: 1, time: .zero), streamID: 1)
    timeline.add(.init(streamFrame: 15, itemID: 1, time: milliseconds(40)), streamID: 1)
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    var schedule = schedule(cues: [14, 15, 16, 39, 40, 41])
    #expect(
      reports(&schedule, timeline, through: 30) == [
        "0 start 0", "10 periodic 10", "14 crossed 14", "15 crossed 15", "15 crossed 16", "15 periodic 20",
        "15 crossed 39", "15 crossed 40", "16 crossed 41", "25 periodic 50",
      ])
  }

  @Test func replacedOutputCrossesNoBoundaryAgain() {
    var timeline = PlayerTimeline(sampleRateHz: 1_000)
    timeline.add(.init(streamFrame: 0, itemID: 1, time: .zero), streamID: 1)
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    var schedule = schedule(cues: [0, 20, 21])
    #expect(
      reports(&schedule, timeline, through: 20) == [
        "0 start 0", "0 crossed 0", "10 periodic 10", "20 periodic 20", "20 crossed 20",
      ])
    let stop = schedule.interrupt(at: timeline.position(atOutputFrame: 20))
    #expect(stop.map { "\($0.reason) \($0.time.seconds)" } == ["stop 0.02"])
    #expect(schedule.interrupt(at: nil).isEmpty, "it has stopped")
    #expect(schedule.next(in: timeline, itemID: 1, isPlaying: true) == nil)

    // The new device has another sample rate; its nearest frame before the position is slightly earlier.
    timeline = PlayerTimeline(sampleRateHz: 300)
    let position = MediaTime(value: 5, timescale: 300)
    timeline.add(.init(streamFrame: 0, itemID: 1, time: position), streamID: 2)
    timeline.beginRun(outputFrame: 3, streamID: 2, streamFrame: 0, isPositionOnly: true)
    schedule.startStream(at: .init(itemID: 1, time: position), at: 3)
    timeline.beginRun(outputFrame: 3, streamID: 2, streamFrame: 0)
    #expect(reports(&schedule, timeline, through: 8) == ["3 start 17", "5 crossed 21", "7 periodic 30"])
  }

  @Test func loopOfOneFrameCrossesItsBoundaryInEachPass() {
    var timeline = PlayerTimeline(sampleRateHz: 1_000)
    for frame in Int64(0)..<4 {
      timeline.add(.init(streamFrame: frame, itemID: 1, time: milliseconds(5)), streamID: 1)
    }
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    var schedule = schedule(cues: [5, 6])
    _ = schedule.jump(to: .init(itemID: 1, time: milliseconds(5)), at: 0)
    #expect(
      reports(&schedule, timeline, through: 3).filter { $0.contains("crossed") } == [
        "0 crossed 5", "1 crossed 6", "1 crossed 5", "2 crossed 6", "2 crossed 5", "3 crossed 6", "3 crossed 5",
      ])
  }

  @Test func itemWithoutFramesCrossesItsBoundary() {
    var timeline = PlayerTimeline(sampleRateHz: 1_000)
    timeline.add(.init(streamFrame: 0, itemID: 2, time: .zero), streamID: 1)
    timeline.add(.init(streamFrame: 5, itemID: 1, time: .zero), streamID: 1)
    timeline.add(.init(streamFrame: 5, itemID: 3, time: .zero), streamID: 1)
    timeline.beginRun(outputFrame: 0, streamID: 1, streamFrame: 0)
    var schedule = ObserverSchedule()
    schedule.table.addBoundary(2, times: [.zero], itemID: 1) { _ in }
    schedule.startStream(at: .init(itemID: 2, time: .zero), at: 0)
    #expect(reports(&schedule, timeline, through: 9) == ["5 crossed 0"])
  }
}

/// A player's timeline and observers with random operations, at 1,000 frames per second.
private struct Deck {
  /// A range of a stream: an item from frame `from` to `to`.
  struct Segment {
    var item: UInt64
    var from: Int64
    var to: Int64
    /// Whether the item ends after it.
    var isEnd: Bool

    var isReverse: Bool { to < from }
    var count: Int64 { abs(to - from) }
    func time(_ offset: Int64) -> Int64 { isReverse ? from - offset : from + offset }
  }

  private var random: SplitMix
  private var timeline = PlayerTimeline(sampleRateHz: 1_000)
  private var schedule = ObserverSchedule()
  private let durations: [Int64]
  private let allowsLoops: Bool
  private var current = 0
  private var heard: Int64 = 0
  private var isPlaying = false
  private var hasRun = false
  private var streamID: UInt64 = 0
  private var streamFrame: Int64 = 0
  private var streamEnd: Int64 = 0
  private var ends: [(streamFrame: Int64, item: UInt64)] = []
  private var isEnded = false
  private var isReverse = false
  private var segments: [Segment] = []

  var model: Model
  private(set) var reports: [String] = []
  private(set) var ticks: [String] = []
  private(set) var edges: [String] = []
  private(set) var script = ""
  private(set) var reversalCount = 0

  init(seed: UInt64, allowsLoops: Bool = true, itemCount: Int = 3) {
    var random = SplitMix(state: seed)
    durations = (0..<itemCount).map { _ in random.next(in: 1...120) }
    self.allowsLoops = allowsLoops
    self.random = random
    model = Model(durations: durations)
    for token in UInt64(1)...4 {
      // In half frames; also at the edges of items and after them.
      var times: [Int64] = [0, durations[0] * 2, (durations.last ?? 0) * 2 + 2]
      for _ in 0..<6 { times.append(self.random.next(in: 0...240)) }
      let item: UInt64? = token == 4 ? 1 : nil
      let includesSeeks = token != 2
      schedule.table.addBoundary(
        token, times: times.map { MediaTime(value: $0, timescale: 2_000) }, itemID: item, includesSeeks: includesSeeks
      ) { _ in }
      model.add(token, times: Array(Set(times)), item: item, includesSeeks: includesSeeks)
    }
    schedule.table.addPeriodic(9, interval: MediaTime(value: 7, timescale: 1_000)) { _ in }
    setStream(at: 0, isSeek: false)
  }

  private var currentID: UInt64 { UInt64(current + 1) }

  // MARK: - Operations

  mutating func step() {
    switch random.next(in: 0...12) {
    case 0...3:
      let count = random.next(in: 1...60)
      script += "hear \(count); "
      hear(count)
      poll()
    case 4:
      // Frames that are heard before the pause takes effect.
      let margin = random.next(in: 0...5)
      script += "pause +\(margin); "
      stopRun(after: margin, .stopped)
      isPlaying = false
      poll()
    case 5:
      script += "play; "
      if !hasRun { heard += random.next(in: 0...3) }
      poll()
      isPlaying = true
      beginRunIfPossible()
      poll()
    case 6:
      guard isPlaying, hasRun else { return }
      let margin = random.next(in: 0...5)
      script += "underrun +\(margin); "
      stopRun(after: margin, .underrun)
      heard += random.next(in: 0...9)
      poll()
      beginRunIfPossible()
      poll()
    case 7...9:
      let target = random.next(in: 0...durations[current])
      let margin = random.next(in: 0...5)
      script += "seek \(target) +\(margin); "
      seek(to: target, margin: margin)
      poll()
    case 10...11: reverse(after: random.next(in: 1...30))
    default: reverseImmediately(margin: random.next(in: 0...5))
    }
  }

  /// The segment that is heard or was heard last, and the heard part of it.
  private var heardSegment: (segment: Segment, offset: Int64)? {
    var start: Int64 = 0
    var found: (Segment, Int64)?
    for segment in segments {
      if segment.item == currentID, start <= streamFrame {
        found = (segment, min(streamFrame - start, segment.count))
      }
      start += segment.count
    }
    return found
  }

  /// Reverses playback after `frameCount` frames or at the end of the segment.
  private mutating func reverse(after frameCount: Int64) {
    guard isPlaying, hasRun, let (segment, offset) = heardSegment, offset < segment.count else { return }
    let count = min(frameCount, segment.count - offset)
    script += "turn +\(count); "
    ends.removeAll { $0.streamFrame >= streamFrame + count }
    hear(count)
    isReverse.toggle()
    reversalCount += 1
    setStream(at: segment.time(offset + count), isSeek: false, isSpliced: true)
    poll()
  }

  /// Reverses at once, with silence in between, the audio that is heard or paused.
  private mutating func reverseImmediately(margin: Int64) {
    let frame = streamFrame + (hasRun ? margin : 0)
    var start: Int64 = 0
    for segment in segments {
      // Between two passes it is in neither.
      if start > 0, start == frame { return }
      start += segment.count
    }
    if hasRun, frame > streamEnd || ends.contains(where: { $0.streamFrame <= frame }) { return }
    stopRun(after: margin, .stopped)
    settle()
    guard let (segment, offset) = heardSegment, isReverse || segment.time(offset) > 0 else {
      return beginRunIfPossible()
    }
    script += "turn at once +\(margin); "
    isReverse.toggle()
    reversalCount += 1
    setStream(at: segment.time(offset), isSeek: false)
    beginRunIfPossible()
    poll()
  }

  private mutating func beginRunIfPossible() {
    guard isPlaying, !hasRun, streamFrame < streamEnd else { return }
    timeline.beginRun(outputFrame: heard, streamID: streamID, streamFrame: streamFrame)
    hasRun = true
    model.begin()
  }

  /// Plays `count` frames, or as many as there are.
  private mutating func hear(_ count: Int64) {
    for _ in 0..<count {
      guard hasRun else { return }
      heard += 1
      streamFrame += 1
      model.hear()
      if streamFrame == streamEnd {
        timeline.endRun(outputFrame: heard, reason: .ended)
        hasRun = false
        isEnded = true
      }
    }
  }

  private mutating func stopRun(after margin: Int64, _ reason: PlayerTimeline.RunEnd) {
    hear(margin)
    guard hasRun else { return }
    timeline.endRun(outputFrame: heard, reason: reason)
    hasRun = false
  }

  private mutating func seek(to target: Int64, margin: Int64) {
    // Ends that are heard before the jump are reported, and another item is current then.
    if hasRun, ends.contains(where: { $0.streamFrame <= streamFrame + margin }) { return }
    stopRun(after: margin, .stopped)
    settle()
    setStream(at: target, isSeek: true)
    beginRunIfPossible()
  }

  /// Sets a new stream from a time of the current item: sometimes a few rounds of a loop, then the queue.
  private mutating func setStream(at time: Int64, isSeek: Bool, isSpliced: Bool = false) {
    var segments: [Segment] = []
    var from = time
    let duration = durations[current]
    if allowsLoops, random.next(in: 0...2) == 0, isReverse ? time > 0 : time < duration {
      let end = isReverse ? random.next(in: 0...time - 1) : random.next(in: time + 1...duration)
      let start = isReverse ? random.next(in: end + 1...duration) : random.next(in: 0...end - 1)
      for _ in 0..<random.next(in: 1...4) {
        segments.append(Segment(item: currentID, from: from, to: end, isEnd: false))
        from = start
      }
    }
    segments.append(Segment(item: currentID, from: from, to: isReverse ? 0 : duration, isEnd: true))
    if !isReverse {
      for index in (current + 1)..<max(current + 1, durations.count) {
        segments.append(Segment(item: UInt64(index + 1), from: 0, to: durations[index], isEnd: true))
      }
    }
    self.segments = segments
    streamID += 1
    streamFrame = 0
    ends = []
    var frame: Int64 = 0
    for segment in segments {
      timeline.add(
        .init(
          streamFrame: frame, itemID: segment.item, time: MediaTime(value: segment.from, timescale: 1_000),
          rate: PlaybackRate(isReverse ? -1 : 1) ?? .normal),
        streamID: streamID)
      frame += segment.count
      if segment.isEnd { ends.append((frame, segment.item)) }
    }
    streamEnd = frame
    isEnded = streamEnd == 0
    hasRun = false
    if isSpliced {
      timeline.beginRun(outputFrame: heard, streamID: streamID, streamFrame: 0)
      hasRun = true
      return model.turn(segments)
    }
    timeline.beginRun(outputFrame: heard, streamID: streamID, streamFrame: 0, isPositionOnly: true)
    let position = PlayerTimeline.Position(itemID: currentID, time: MediaTime(value: time, timescale: 1_000))
    if isSeek {
      record(schedule.jump(to: position, at: heard, isReverse: isReverse))
    } else {
      schedule.startStream(at: position, at: heard, isReverse: isReverse)
    }
    model.setStream(segments, isReverse: isReverse, isSeek: isSeek)
  }

  // MARK: - As in PlayerCore

  private mutating func poll() {
    model.poll(isPlaying: isPlaying)
    while true {
      let next = schedule.next(in: timeline, itemID: currentID, isPlaying: isPlaying)
      if let end = ends.first, let frame = timeline.outputFrame(streamID: streamID, streamFrame: end.streamFrame),
        frame <= heard, isPlaying || frame < timeline.runs.last?.end?.frame ?? .min,
        next.map({ (frame, ObserverSchedule.Milestone.endRank) < ($0.frame, $0.milestone.rank) }) ?? true
      {
        record(schedule.end(of: end.item, duration: MediaTime(value: durations[current], timescale: 1_000)))
        ends.removeFirst()
        // The last item stays current at its end, paused.
        if !isReverse, current + 1 < durations.count { current += 1 } else { isPlaying = false }
        continue
      }
      guard let next, next.frame <= heard else { return }
      pass(next.milestone, at: next.frame)
    }
  }

  private mutating func settle() {
    while let next = schedule.next(in: timeline, itemID: schedule.table.position?.itemID, isPlaying: isPlaying),
      next.frame <= heard
    {
      if case .stop = next.milestone, next.frame == heard { return }
      pass(next.milestone, at: next.frame)
    }
  }

  private mutating func pass(_ milestone: ObserverSchedule.Milestone, at frame: Int64) {
    switch milestone {
    case .start: edges.append("start")
    case .stop: edges.append("stop")
    case .visit, .times, .loop, .directionChange: break
    }
    record(schedule.handle(milestone, at: frame))
  }

  private mutating func record(_ calls: [TimeObserverTable.Call]) {
    let isBack = schedule.table.position?.isReverse ?? false
    for call in calls where call.reason == .periodic {
      ticks.append("\(call.time.convertScale(1_000).value) \(isBack ? "back" : "on")")
    }
    for call in calls where call.token != 9 {
      let kind =
        call.reason == .crossed ? isBack ? "crossedBack" : "crossed" : call.isBackward ? "backward" : "forward"
      reports.append("\(call.token) \(kind) \(call.time.convertScale(2_000).value)")
    }
  }
}

/// The side of the player on which each boundary is, updated frame by frame.
private struct Model {
  private struct Boundary {
    var token: UInt64
    /// In half frames.
    var time: Int64
    var item: UInt64?
    var includesSeeks: Bool
    /// Whether it is on the side of the earlier times.
    var isEarlier = false

    /// Whether that is true after arriving at `position`, where nothing has been heard.
    func isEarlier(_ position: Int64, isReverse: Bool) -> Bool { isReverse ? time <= position : time < position }
  }

  let durations: [Int64]
  private var boundaries: [Boundary] = []
  private var segments: [Deck.Segment] = []
  private var offset: Int64 = 0
  private var isReverse = false
  private(set) var reports: [String] = []
  /// The ticks of an interval of 7 ms.
  private(set) var ticks: [String] = []

  init(durations: [Int64]) { self.durations = durations }

  mutating func add(_ token: UInt64, times: [Int64], item: UInt64?, includesSeeks: Bool) {
    for time in times {
      boundaries.append(Boundary(token: token, time: time, item: item, includesSeeks: includesSeeks))
    }
    boundaries.sort { ($0.time, $0.token) < ($1.time, $1.token) }
  }

  /// In half frames.
  private var time: Int64 { (segments.first?.time(offset) ?? 0) * 2 }

  /// Records the boundaries that are reached as crossed.
  private mutating func cross() {
    let reached = boundaries.indices.filter { index in
      let boundary = boundaries[index]
      return boundary.isEarlier == isReverse && isOfItem(boundary)
        && (isReverse ? boundary.time >= time : boundary.time <= time)
    }
    for index in isReverse ? byTimeDescending(reached) : reached {
      boundaries[index].isEarlier.toggle()
      reports.append("\(boundaries[index].token) \(isReverse ? "crossedBack" : "crossed") \(boundaries[index].time)")
    }
  }

  private func isOfItem(_ boundary: Boundary) -> Bool {
    boundary.item ?? segments.first?.item == segments.first?.item
  }

  mutating func begin() {
    enterIfDue()
    cross()
  }

  mutating func hear() {
    enterIfDue()
    offset += 1
    cross()
    if time % 14 == 0 { ticks.append("\(time / 2) \(isReverse ? "back" : "on")") }
  }

  /// Continues in the other direction from the present position.
  mutating func turn(_ new: [Deck.Segment]) {
    segments = new
    offset = 0
    isReverse.toggle()
    cross()
  }

  /// A playing player between two segments is in the second one.
  mutating func poll(isPlaying: Bool) { if isPlaying { enterIfDue() } }

  private mutating func enterIfDue() {
    while let first = segments.first, offset == first.count {
      cross()
      if segments.count == 1 { return }
      segments.removeFirst()
      offset = 0
      for index in boundaries.indices {
        boundaries[index].isEarlier = boundaries[index].isEarlier(time, isReverse: isReverse)
      }
      cross()
    }
  }

  mutating func setStream(_ new: [Deck.Segment], isReverse: Bool, isSeek: Bool) {
    segments = new
    offset = 0
    self.isReverse = isReverse
    // A change of direction alone does not move the position.
    guard isSeek else { return }
    let indices = boundaries.indices.filter {
      isOfItem(boundaries[$0]) && boundaries[$0].isEarlier(time, isReverse: isReverse) != boundaries[$0].isEarlier
    }
    let isBackward = indices.contains { boundaries[$0].isEarlier }
    for index in isBackward ? byTimeDescending(indices) : indices {
      boundaries[index].isEarlier.toggle()
      guard boundaries[index].includesSeeks else { continue }
      reports.append("\(boundaries[index].token) \(isBackward ? "backward" : "forward") \(boundaries[index].time)")
    }
  }

  private func byTimeDescending(_ indices: [Int]) -> [Int] {
    indices.sorted { (-boundaries[$0].time, boundaries[$0].token) < (-boundaries[$1].time, boundaries[$1].token) }
  }
}

/// SplitMix64 by Sebastiano Vigna: the same numbers for the same seed.
private struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  mutating func next(in range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }
}
