import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio
import Testing

@testable import PlayheadPlayback

/// The streams of a player as a pure value, without mixer and clock.
@Suite struct StreamChainTests {
  private var chain = StreamChain()

  private static func generation(_ number: UInt64, isContinuation: Bool = false) -> StreamChain.Generation {
    StreamChain.Generation(
      number: number, stream: RenderStream(capacityFrames: 16, channelCount: 1), isContinuation: isContinuation,
      trace: StartTrace(kind: .start, itemID: number, requested: .zero, requestedAt: HostTime(nanoseconds: 0)))
  }

  private static func pass(_ generation: UInt64, _ index: Int = 0) -> PassID {
    PassID(generation: generation, index: index)
  }

  /// Appends the end of a pass in the stream of its generation.
  private mutating func addEnd(_ pass: PassID, at frame: Int64) throws {
    let stream = try #require(chain.stream(of: pass.generation))
    chain.append(
      StreamChain.ItemEnd(streamID: stream.id, streamFrame: frame, passID: pass, itemID: pass.generation))
  }

  /// A chain in which generation 1 is heard, with the ends of two passes.
  private mutating func startFirst() throws {
    _ = chain.prepare(Self.generation(1))
    _ = chain.commit(1)
    try addEnd(Self.pass(1, 0), at: 100)
    try addEnd(Self.pass(1, 1), at: 200)
  }

  /// Prepares a generation that follows the end of a pass. Returns how it starts.
  private mutating func splice(_ number: UInt64, after pass: PassID) -> StreamChain.Start? {
    _ = chain.prepare(Self.generation(number))
    return chain.splice(number, after: pass)
  }

  private var positions: [UInt64?] {
    [chain.outgoing?.number, chain.sounding?.number] + chain.queued.map(\.generation.number)
      + [chain.preparing?.number]
  }

  // MARK: - Preparing and starting

  @Test mutating func preparationReplacesTheFormerOne() throws {
    _ = chain.prepare(Self.generation(1))
    let former = try #require(chain.stream(of: 1))
    let replaced = chain.prepare(Self.generation(2))
    #expect(replaced === former)
    let (committed, spliced) = (chain.commit(1), chain.splice(1, after: Self.pass(1)))
    #expect(committed == nil && spliced == nil)
    #expect(positions == [nil, nil, 2])
  }

  @Test mutating func commitReplacesAllStreamsAndTheirEnds() throws {
    try startFirst()
    _ = splice(2, after: Self.pass(1, 1))
    try addEnd(Self.pass(2), at: 50)
    let third = splice(3, after: Self.pass(2))
    #expect(third == nil)
    let queued = try #require(chain.stream(of: 3))
    _ = chain.prepare(Self.generation(4))
    let result = chain.commit(4)
    let (committed, unused) = try #require(result)
    #expect(committed.number == 4 && unused.count == 1 && unused[0] === queued)
    #expect(positions == [nil, 4, nil] && chain.ends.isEmpty)
  }

  @Test mutating func spliceSchedulesTheFirstStreamAndQueuesFurtherOnes() throws {
    try startFirst()
    guard case .atEnd(let next, let end, let former)? = splice(2, after: Self.pass(1, 1)) else {
      Issue.record("not scheduled")
      return
    }
    #expect(next.number == 2 && end.streamFrame == 200 && former.number == 1)
    try addEnd(Self.pass(2), at: 50)
    let third = splice(3, after: Self.pass(2))
    #expect(third == nil)
    #expect(positions == [1, 2, 3, nil])
    // The switch is still ahead: one of the two ends in the first stream was heard.
    chain.popHeardEnd()
    let early = chain.startQueued()
    #expect(early == nil)
    #expect(chain.reportedEnd?.streamFrame == 100)
    chain.popHeardEnd()
    guard case .atEnd(let queued, let second, _)? = chain.startQueued() else {
      Issue.record("not scheduled")
      return
    }
    #expect(queued.number == 3 && second.streamFrame == 50)
    let further = chain.startQueued()
    #expect(further == nil && positions == [2, 3, nil])
  }

  @Test mutating func spliceAfterAnUnknownEndStartsAtOnce() throws {
    try startFirst()
    guard case .now(let next)? = splice(2, after: Self.pass(1, 7)) else {
      Issue.record("not started")
      return
    }
    #expect(next.number == 2 && positions == [nil, 2, nil] && chain.ends.isEmpty)
  }

  // MARK: - Cuts

  @Test mutating func cutInTheSoundingStreamRemovesLaterEndsAndQueuedStreams() throws {
    try startFirst()
    let stream = try #require(chain.stream(of: 1))
    let result = chain.cut(after: Self.pass(1, 0))
    let cut = try #require(result)
    #expect(cut.ended.count == 1 && cut.ended[0].stream === stream && cut.ended[0].frame == 100)
    #expect(cut.unused.isEmpty && cut.obsoleteSwitch == nil)
    #expect(chain.ends.map(\.streamFrame) == [100])
    let unknown = chain.cut(after: Self.pass(1, 1))
    #expect(unknown == nil)
  }

  @Test mutating func cutBeforeASwitchMakesItObsolete() throws {
    try startFirst()
    _ = splice(2, after: Self.pass(1, 1))
    try addEnd(Self.pass(2), at: 50)
    _ = splice(3, after: Self.pass(2))
    let (first, second, third) = (chain.stream(of: 1), chain.stream(of: 2), chain.stream(of: 3))
    let result = chain.cut(after: Self.pass(1, 0))
    let cut = try #require(result)
    #expect(cut.ended.map(\.frame) == [100, 0])
    #expect(cut.ended[0].stream === first && cut.ended[1].stream === second)
    #expect(cut.unused.count == 1 && cut.unused[0] === third)
    #expect(cut.obsoleteSwitch?.from === first && cut.obsoleteSwitch?.frame == 100)
    chain.cancelSwitch()
    #expect(positions == [nil, 1, nil] && chain.ends.map(\.streamFrame) == [100])
  }

  @Test mutating func cutInAQueuedStreamKeepsEarlierStreams() throws {
    try startFirst()
    _ = splice(2, after: Self.pass(1, 1))
    try addEnd(Self.pass(2), at: 50)
    _ = splice(3, after: Self.pass(2))
    try addEnd(Self.pass(3, 0), at: 30)
    try addEnd(Self.pass(3, 1), at: 60)
    _ = splice(4, after: Self.pass(3, 1))
    let (third, fourth) = (chain.stream(of: 3), chain.stream(of: 4))
    let result = chain.cut(after: Self.pass(3, 0))
    let cut = try #require(result)
    #expect(cut.ended.count == 1 && cut.ended[0].stream === third && cut.ended[0].frame == 30)
    #expect(cut.unused.count == 1 && cut.unused[0] === fourth && cut.obsoleteSwitch == nil)
    #expect(positions == [1, 2, 3, nil] && chain.ends.map(\.streamFrame) == [100, 200, 50, 30])
  }

  @Test mutating func splitEndsThePassEarlierAndKeepsItsAudio() throws {
    try startFirst()
    _ = splice(2, after: Self.pass(1, 1))
    let second = chain.stream(of: 2)
    let result = chain.split(Self.pass(1, 0), of: 1, atFrame: 40)
    let cut = try #require(result)
    #expect(cut.ended.count == 1 && cut.ended[0].stream === second && cut.ended[0].frame == 0)
    #expect(cut.obsoleteSwitch?.frame == 40 && chain.ends.map(\.streamFrame) == [40])
    let unknown = chain.split(Self.pass(9), of: 9, atFrame: 1)
    #expect(unknown == nil)
  }

  @Test mutating func shortenedPassEndsAtTheFrame() throws {
    try startFirst()
    let result = chain.shorten(Self.pass(1, 1), of: 1, atFrame: 150)
    let cut = try #require(result)
    #expect(cut.ended.map(\.frame) == [150] && chain.ends.map(\.streamFrame) == [100, 150])
    let unknown = chain.shorten(Self.pass(9), of: 9, atFrame: 1)
    #expect(unknown == nil)
  }

  // MARK: - Values

  @Test mutating func changesReachAGenerationInEachPosition() throws {
    try startFirst()
    _ = splice(2, after: Self.pass(1, 1))
    _ = splice(3, after: Self.pass(2))
    _ = chain.prepare(Self.generation(4))
    for number in UInt64(1)...4 { chain.update(number) { $0.sourceRateHz = Int(number) } }
    chain.update(5) { _ in Issue.record("there is no such generation") }
    #expect(chain.generations.map(\.sourceRateHz) == [1, 2, 3, 4])
    chain.updateMixed { $0.sourceRateHz = 0 }
    #expect(chain.generations.map(\.sourceRateHz) == [0, 0, 3, 4])
    #expect(chain.newest?.number == 3 && chain.mixed.map(\.number) == [1, 2])
  }

  @Test mutating func startTrimIsReturnedOnceAndEarlierOnesAreDiscarded() throws {
    try startFirst()
    let id = try #require(chain.sounding?.stream.id)
    var trim = EdgeTrim.none
    chain.update(1) { generation in
      for index in 0..<3 {
        generation.startTrims[index] = EdgeTrim(frameCount: Int64(index + 1), source: .lameTag)
      }
    }
    trim = chain.popStartTrim(ofPass: 1, streamID: id)
    #expect(trim.frameCount == 2)
    trim = chain.popStartTrim(ofPass: 1, streamID: id)
    #expect(trim == .none)
    trim = chain.popStartTrim(ofPass: 0, streamID: id)
    #expect(trim == .none)
    trim = chain.popStartTrim(ofPass: 2, streamID: id)
    #expect(trim.frameCount == 3)
  }

  @Test mutating func endOfAPausedItemIsHeardAgain() throws {
    try startFirst()
    chain.beginTransition(to: 5, outputFrame: 7)
    #expect(chain.openTransition == nil)
    chain.popHeardEnd()
    chain.beginTransition(to: 5, outputFrame: 7)
    #expect(chain.openTransition?.end.streamFrame == 100 && chain.openTransition?.toItemID == 5)
    chain.repeatReportedEnd()
    #expect(chain.ends.map(\.streamFrame) == [100, 200])
    let unused = chain.removeAll()
    #expect(unused.isEmpty)
    #expect(chain.ends.isEmpty && chain.openTransition == nil)
    #expect(chain.reportedEnd?.streamFrame == 100)
  }

  // MARK: - Random operations

  /// After any sequence of operations, each stream has one position, a switch has an end at which it occurs, and ends
  /// are only in streams that follow.
  @Test(arguments: 0..<20) mutating func invariantsHoldAfterRandomOperations(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var newest: UInt64 = 0
    for _ in 0..<500 {
      let newestEnd = chain.ends.last
      switch Int.random(in: 0..<9, using: &random) {
      case 0...1:
        newest += 1
        _ = chain.prepare(Self.generation(newest, isContinuation: .random(using: &random)))
      case 2: _ = chain.commit(newest)
      case 3...4: if let newestEnd { _ = chain.splice(newest, after: newestEnd.passID) }
      case 5:
        guard let last = chain.newest else { break }
        let inStream = chain.ends.filter { $0.streamID == last.stream.id }
        try addEnd(
          Self.pass(last.number, (inStream.last?.passID.index ?? -1) + 1),
          at: (inStream.last?.streamFrame ?? 0) + .random(in: 1...100, using: &random))
      case 6:
        if !chain.ends.isEmpty { chain.popHeardEnd() }
        while chain.startQueued() != nil {}
      case 7:
        guard let end = chain.ends.randomElement(using: &random), let cut = chain.cut(after: end.passID) else { break }
        #expect(chain.ends.last?.passID == end.passID)
        // The mixer may be unable to cancel the switch.
        if cut.obsoleteSwitch != nil, .random(using: &random) { chain.cancelSwitch() }
      default:
        guard let end = chain.ends.randomElement(using: &random) else { break }
        let frame = Int64.random(in: 0...end.streamFrame, using: &random)
        if chain.split(end.passID, of: end.itemID, atFrame: frame)?.obsoleteSwitch != nil { chain.cancelSwitch() }
      }
      let streams = chain.generations.map(\.stream.id)
      #expect(Set(streams).count == streams.count, "seed \(seed)")
      #expect(chain.outgoing == nil || chain.sounding != nil, "seed \(seed)")
      #expect(chain.queued.isEmpty || chain.sounding != nil, "seed \(seed)")
      let followingIDs = Set(chain.following.map(\.stream.id))
      #expect(chain.ends.allSatisfy { followingIDs.contains($0.streamID) }, "seed \(seed)")
      if chain.startQueued() != nil { #expect(chain.sounding != nil, "seed \(seed)") }
    }
  }
}
