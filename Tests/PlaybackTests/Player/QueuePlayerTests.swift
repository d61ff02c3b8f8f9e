import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// A queue player with real files: the behaviour of AVQueuePlayer and the additional features, as heard.
@Suite struct QueuePlayerTests {
  /// Creates a rig whose queue has items with these frame counts; the first has played for 0.1 s.
  private func playing(_ frames: Int...) async throws -> (Rig, [PlayerItem]) {
    let rig = try await Rig()
    var items: [PlayerItem] = []
    for (index, frames) in frames.enumerated() { items.append(try rig.wav(file: index + 1, frames: frames)) }
    let all = items
    try await rig.run { try $0.append(all) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    return (rig, items)
  }

  private func heard(_ rig: Rig) -> [String] { rig.heard.runs.map { "\($0.file): \($0.firstIndex)+\($0.count)" } }

  private func expectNoGap(_ rig: Rig, sourceLocation: SourceLocation = #_sourceLocation) {
    let runs = rig.heard.runs
    for (run, next) in zip(runs, runs.dropFirst()) {
      #expect(run.endPosition == next.position, "silence in between", sourceLocation: sourceLocation)
    }
  }

  private func ids(_ rig: Rig) async -> [PlayerItem.ID] { await rig.run { $0.items().map(\.id) } }

  @Test func failedEditKeepsTheHistory() async throws {
    let (rig, items) = try await playing(48_000, 48_000)
    await rig.run { $0.advanceToNextItem() }
    let other = try rig.wav(file: 3, frames: 4_800)
    await rig.run { player in
      // An invalid index, and an item that is in the queue already.
      expectError(.invalidArgument) { try player.edit([.insert([items[0]], at: .index(99))]) }
      expectError(.itemInUse) { try player.append([items[0], other, items[1]]) }
      #expect(player.history().map(\.id) == [items[0].id])
      #expect(throws: Never.self) { try player.jump(to: items[0].id) }
    }
    #expect(await ids(rig).first == items[0].id)
    #expect(!other.isClaimed)
  }

  @Test func playersAreCreatedWithItemsOrURLs() async throws {
    let rig = try await Rig()
    let (one, two) = (try rig.wav(file: 1, frames: 4_800), try rig.wav(file: 2, frames: 4_800))
    let player = try await Player(engine: rig.engine, name: "one", playerItem: one)
    #expect(await player.currentItem === one)
    await expectError(.itemInUse) {
      try await QueuePlayer(engine: rig.engine, name: "two", items: [two, one])
    }
    #expect(!two.isClaimed, "refused as a whole")
    let queue = try await QueuePlayer(engine: rig.engine, name: "three", items: [two])
    #expect(await queue.items().map(\.id) == [two.id])
    let named = try await Player(engine: rig.engine, name: "four", url: "file:///nowhere/at%20all.flac")
    #expect(await named.currentItem?.asset.displayPath == "/nowhere/at all.flac")
    await expectError(.unsupportedLocation) {
      try await Player(engine: rig.engine, name: "five", url: "gopher://nowhere/")
    }
  }

  // MARK: - AVFoundation's statements

  @Test func statement9_playOnAnEmptyPlayerWaitsUntilAnItemIsInserted() async throws {
    let rig = try await Rig()
    await rig.run { $0.play() }
    var state = await rig.run { $0.state }
    #expect(state.timeControlStatus == .waiting)
    #expect(state.reasonForWaitingToPlay == .noItemToPlay)
    let item = try rig.wav(file: 1, frames: 4_800)
    try await rig.run { try $0.insert([item], after: nil) }
    await rig.advance(milliseconds: 300)
    #expect(heard(rig) == ["1: 0+4800"])
    state = await rig.run { $0.state }
    #expect(state.reasonForWaitingToPlay == .noItemToPlay)
    #expect(state.rate == 1)
  }

  @Test func statement20_queueIsEmptyAfterTheLastItem() async throws {
    let (rig, items) = try await playing(4_800, 4_800)
    await rig.advance(milliseconds: 500)
    #expect(await ids(rig) == [])
    #expect(await rig.run { $0.currentItem } == nil)
    #expect(await rig.run { $0.state.rate } == 1)
    #expect(await rig.run { $0.history().map(\.id) } == items.map(\.id))
    #expect(items.allSatisfy { !$0.isClaimed }, "free for other queues")
  }

  @Test func statement26_queuedItemCannotBeInsertedAndRemovalOfTheCurrentAdvances() async throws {
    let (rig, items) = try await playing(48_000, 4_800)
    let third = try rig.wav(file: 3, frames: 4_800)
    #expect(await rig.run { $0.canInsert(items[0], after: nil) } == false)
    #expect(await rig.run { $0.canInsert(items[1], after: items[0]) } == false)
    #expect(await rig.run { $0.canInsert(third, after: items[1]) })
    #expect(await rig.run { $0.canInsert(rig.item("/x"), after: third) } == false)
    await expectError(.itemInUse) { try await rig.run { try $0.append([third, items[1]]) } }
    #expect(await ids(rig) == items.map(\.id))
    #expect(!third.isClaimed)
    try await rig.run { try $0.insert([third], after: nil) }
    #expect(await ids(rig) == (items + [third]).map(\.id))
    try await rig.run { try $0.remove([items[0].id]) }
    #expect(await rig.run { $0.state.currentItemID } == items[1].id)
    #expect(await rig.run { $0.history().isEmpty }, "a removed item is not in the history")
    await rig.advance(milliseconds: 500)
    #expect(rig.heard.runs.map(\.file) == [1, 2, 3])
    #expect(Array(heard(rig).suffix(2)) == ["2: 0+4800", "3: 0+4800"])
  }

  @Test func sameAssetCanBeQueuedTwice() async throws {
    let rig = try await Rig()
    let first = try rig.wav(file: 1, frames: 4_800)
    let second = PlayerItem(asset: first.asset, id: 77)
    try await rig.run { player in
      try player.append([first, second])
      player.play()
    }
    await rig.advance(milliseconds: 400)
    #expect(heard(rig) == ["1: 0+4800", "1: 0+4800"])
    expectNoGap(rig)
  }

  // MARK: - Edits of items that are already decoded

  @Test func movedItemsPlayInTheirNewOrderWithoutAGap() async throws {
    let (rig, items) = try await playing(24_000, 4_801, 4_802, 4_803)
    try await rig.run { try $0.move(items[3].id, to: .index(1)) }
    await rig.advance(milliseconds: 50)
    try await rig.run { try $0.move(items[1].id, to: .end) }
    await rig.advance(milliseconds: 1_000)
    #expect(heard(rig) == ["1: 0+24000", "4: 0+4803", "3: 0+4802", "2: 0+4801"])
    expectNoGap(rig)
  }

  @Test func replacementPlaysInsteadOfTheReplacedItem() async throws {
    let (rig, items) = try await playing(24_000, 4_801, 4_802)
    let new = try rig.wav(file: 9, frames: 4_807)
    try await rig.run { try $0.replace(items[1].id, with: new) }
    await rig.advance(milliseconds: 1_000)
    #expect(heard(rig) == ["1: 0+24000", "9: 0+4807", "3: 0+4802"])
    expectNoGap(rig)
  }

  @Test func shuffledQueuePlaysInItsOrderWithoutAGap() async throws {
    let (rig, _) = try await playing(24_000, 4_801, 4_802, 4_803, 4_804, 4_805)
    #expect(await rig.run { $0.shuffle(seed: 42) } == 42)
    #expect(await rig.run { $0.state.shuffleSeed } == 42)
    await rig.advance(milliseconds: 20)
    let order = await ids(rig).map { Int($0) }
    #expect(order != [1, 2, 3, 4, 5, 6])
    await rig.advance(milliseconds: 1_200)
    #expect(rig.heard.runs.map(\.file) == order)
    #expect(rig.heard.runs.dropFirst().allSatisfy { $0.firstIndex == 0 && $0.count == 4_799 + $0.file })
    expectNoGap(rig)
  }

  @Test func shuffledRoundsPlayWithoutAGap() async throws {
    let (rig, _) = try await playing(9_600, 4_801, 4_802, 4_803)
    try await rig.run { player in
      try player.setRepeatMode(.all)
      player.shuffle(seed: 3)
    }
    await rig.advance(milliseconds: 2_400)
    let runs = rig.heard.runs.dropLast()
    let files = runs.map(\.file)
    #expect(files.count >= 16)
    #expect(Set(files.prefix(4)) == [1, 2, 3, 4])
    #expect(Set(files[4..<8]) == [1, 2, 3, 4])
    #expect(zip(files, files.dropFirst()).allSatisfy { $0 != $1 })
    #expect(runs.allSatisfy { $0.count == ($0.file == 1 ? 9_600 : 4_799 + $0.file) })
    expectNoGap(rig)
    #expect(!rig.dump.contains("inserted 1"))
  }

  @Test func editThatLeavesTheCurrentItemInPlaceIsInaudible() async throws {
    let (rig, items) = try await playing(24_000, 4_801, 4_802)
    try await rig.run { player in
      try player.edit([.move(items[0].id, to: .end), .move(items[0].id, to: .index(0)), .remove([items[1].id])])
    }
    await rig.advance(milliseconds: 1_000)
    #expect(heard(rig) == ["1: 0+24000", "3: 0+4802"])
    expectNoGap(rig)
  }

  // MARK: - Going back

  @Test func goToPreviousItemReturnsAndContinuesWithTheQueue() async throws {
    let (rig, items) = try await playing(9_600, 24_000, 4_802)
    await rig.advance(milliseconds: 200)
    #expect(await rig.run { $0.state.currentItemID } == items[1].id)
    try await rig.run { try $0.goToPreviousItem() }
    #expect(await ids(rig) == items.map(\.id))
    await rig.advance(milliseconds: 1_000)
    #expect(rig.heard.runs.map(\.file) == [1, 2, 1, 2, 3])
    #expect(Array(heard(rig).suffix(3)) == ["1: 0+9600", "2: 0+24000", "3: 0+4802"])
    #expect(await rig.run { $0.history().map(\.id) } == items.map(\.id))
    // Also after the end.
    try await rig.run { try $0.goToPreviousItem() }
    #expect(await ids(rig) == [items[2].id])
    await rig.advance(milliseconds: 300)
    #expect(heard(rig).last == "3: 0+4802")
  }

  @Test func goToPreviousItemRestartsAfterTheTimeLimit() async throws {
    let (rig, items) = try await playing(9_600, 96_000)
    await rig.advance(milliseconds: 300)
    let limit = MediaTime(value: 100, timescale: 1_000)
    try await rig.run { try $0.goToPreviousItem(restartingAfter: limit) }
    #expect(await rig.run { $0.state.currentItemID } == items[1].id)
    await rig.advance(milliseconds: 50)
    #expect(rig.heard.runs.last?.firstIndex == 0)
    try await rig.run { try $0.goToPreviousItem(restartingAfter: limit) }
    #expect(await rig.run { $0.state.currentItemID } == items[0].id)
  }

  @Test func goToPreviousItemWithoutHistoryIsAnErrorOrWraps() async throws {
    let (rig, items) = try await playing(24_000, 24_000, 24_000)
    let error = await rig.run { player -> MediaError.Code? in
      do throws(MediaError) { try player.goToPreviousItem() } catch { return error.code }
      return nil
    }
    #expect(error == .noSuchItem)
    #expect(await ids(rig) == items.map(\.id))
    try await rig.run { player in
      try player.setRepeatMode(.all)
      try player.goToPreviousItem()
    }
    #expect(await ids(rig) == [items[2], items[0], items[1]].map(\.id))
  }

  @Test func goToPreviousItemSkipsItemsOfAnotherQueue() async throws {
    let (rig, items) = try await playing(4_800, 4_800, 48_000)
    await rig.advance(milliseconds: 200)
    let other = QueuePlayer(engine: rig.engine, name: "other")
    try await other.append([items[1]])
    try await rig.run { try $0.goToPreviousItem() }
    #expect(await ids(rig) == [items[0].id, items[2].id])
    let code = await rig.run { player -> MediaError.Code? in
      do throws(MediaError) { try player.jump(to: items[1].id) } catch { return error.code }
      return nil
    }
    #expect(code == .noSuchItem)
  }

  @Test func failedGoToPreviousItemKeepsTheHistory() async throws {
    let (rig, items) = try await playing(4_800, 4_800, 48_000)
    await rig.advance(milliseconds: 200)
    let other = QueuePlayer(engine: rig.engine, name: "other")
    try await other.append([items[0], items[1]])
    let code = await rig.run { player -> MediaError.Code? in
      do throws(MediaError) { try player.goToPreviousItem() } catch { return error.code }
      return nil
    }
    #expect(code == .noSuchItem)
    #expect(await rig.run { $0.history().map(\.id) } == [items[0].id, items[1].id])
    #expect(await ids(rig) == [items[2].id])
    await other.close()
    try await rig.run { try $0.goToPreviousItem() }
    #expect(await ids(rig) == [items[1].id, items[2].id])
  }

  @Test func jumpMovesThroughHistoryAndQueue() async throws {
    let (rig, items) = try await playing(24_000, 4_801, 4_802, 4_803)
    try await rig.run { try $0.jump(to: items[2].id) }
    #expect(await ids(rig) == [items[2], items[3]].map(\.id))
    #expect(await rig.run { $0.history().map(\.id) } == [items[0], items[1]].map(\.id))
    await rig.advance(milliseconds: 30)
    try await rig.run { try $0.jump(to: items[0].id) }
    #expect(await ids(rig) == items.map(\.id))
    try await rig.run { try $0.jump(toIndex: 1) }
    await rig.advance(milliseconds: 800)
    #expect(Array(heard(rig).suffix(3)) == ["2: 0+4801", "3: 0+4802", "4: 0+4803"])
  }

  @Test func invalidJumpsAndEditsAreErrorsThatChangeNothing() async throws {
    let (rig, items) = try await playing(24_000, 4_801)
    let before = await rig.run { $0.state }
    func code(_ body: @Sendable (isolated QueuePlayer) throws(MediaError) -> Void) async -> MediaError.Code? {
      await rig.run { player in
        do throws(MediaError) { try body(player) } catch { return error.code }
        return nil
      }
    }
    let (id, version) = (items[0].id, before.queueVersion)
    #expect(await code { player throws(MediaError) in try player.jump(to: 999) } == .noSuchItem)
    #expect(await code { player throws(MediaError) in try player.jump(toIndex: 2) } == .invalidArgument)
    #expect(await code { player throws(MediaError) in try player.jump(toIndex: -1) } == .invalidArgument)
    #expect(await code { player throws(MediaError) in try player.move(id, to: .index(2)) } == .invalidArgument)
    #expect(await code { player throws(MediaError) in try player.move(999, to: .end) } == .noSuchItem)
    #expect(
      await code { player throws(MediaError) in try player.edit([.removeAll], ifVersion: version - 1) }
        == .versionMismatch)
    #expect(await code { player throws(MediaError) in try player.remove([id, id]) } == .invalidArgument)
    let new = rig.item("/new.wav")
    #expect(
      await code { player throws(MediaError) in try player.edit([.append([new]), .remove([999])]) } == .noSuchItem)
    #expect(!new.isClaimed)
    #expect(
      await code { player throws(MediaError) in try player.edit([.append([new]), .append([new])]) } == .itemInUse)
    #expect(!new.isClaimed)
    #expect(await rig.run { $0.state } == before)
    #expect(await code { player throws(MediaError) in try player.edit([.append([new])], ifVersion: version) } == nil)
  }

  // MARK: - Failures and length

  @Test(.timeLimit(.minutes(1))) func repeatedQueueOfFailingItemsStops() async throws {
    let rig = try await Rig()
    let items = (0..<40).map { rig.item("/nonexistent/\($0).wav") }
    try await rig.run { player in
      try player.append(items)
      try player.setRepeatMode(.all)
      player.play()
    }
    await rig.advance(milliseconds: 1_000)
    #expect(await rig.run { $0.state.reasonForWaitingToPlay } == .currentItemFailed)
    #expect(await rig.run { $0.itemCount } == 1)
    #expect(rig.dump.split(separator: "\n").count { $0.hasPrefix("event itemSkipped") } == 39)
  }

  @Test func stopPolicyPausesAtEachFailedItem() async throws {
    let rig = try await Rig()
    let items = [
      try rig.wav(file: 1, frames: 4_800), rig.item("/nonexistent.wav"), try rig.wav(file: 2, frames: 4_800),
    ]
    try await rig.run { player in
      player.setItemFailurePolicy(.stop)
      try player.append(items)
      player.play()
    }
    await rig.advance(milliseconds: 500)
    var state = await rig.run { $0.state }
    #expect(state.rate == 0)
    #expect(state.currentItemID == items[1].id)
    #expect(state.itemStatus.error?.code == .fileNotFound)
    #expect(heard(rig) == ["1: 0+4800"])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    state = await rig.run { $0.state }
    #expect(heard(rig) == ["1: 0+4800", "2: 0+4800"])
    #expect(rig.dump.contains("event itemSkipped 2: fileNotFound") || rig.dump.contains("event itemSkipped 2: 2001"))
  }

  /// Counted in ids and chunks that were visited or changed, independent of time.
  @Test func costOfAppendAndLookupDoesNotGrowWithTheQueue() async throws {
    let (rig, items) = try await playing(480_000)
    let many = (0..<100_000).map { rig.item("/nonexistent/\($0).wav") }
    let costs = try await rig.run { player in
      var costs: [(append: Int, lookup: Int)] = []
      for new in [0..<500, 500..<99_500, 99_500..<100_000] {
        let start = player.control.core.machine.entries.order.steps.count
        try player.append(Array(many[new]))
        let appended = player.control.core.machine.entries.order.steps.count
        #expect(player.state.itemCount == new.upperBound + 1)
        #expect(player.items(in: 0..<1).map(\.id) == [items[0].id] && player.currentItem?.id == items[0].id)
        costs.append((appended - start, player.control.core.machine.entries.order.steps.count - appended))
      }
      return costs
    }
    print("work to append 500 to a short queue, to a long one, and to look up: \(costs)")
    #expect(costs[0].lookup > 0 && costs.allSatisfy { $0.lookup == costs[0].lookup })
    #expect(costs[0].append >= 500 && Double(costs[2].append) <= 1.5 * Double(costs[0].append))
  }

  /// All items except the first eight stay unopened, and playback continues during edits of 100,000 entries.
  @Test func queueOfAHundredThousandItemsIsEditedWhilePlaying() async throws {
    let (rig, items) = try await playing(48_000, 4_801)
    let many = (0..<100_000).map { rig.item("/nonexistent/\($0).wav") }
    try await rig.run { player in
      for start in stride(from: 0, to: many.count, by: 10_000) {
        try player.append(Array(many[start..<start + 10_000]))
      }
      for item in many.suffix(200) { try player.move(item.id, to: .next) }
      try player.move(items[1].id, to: .index(50_000))
      #expect(player.index(of: items[1].id) == 50_000)
      player.shuffle(seed: 1)
      player.endShuffle()
      #expect(player.index(of: items[1].id) == 50_000)
      try player.remove(many.map(\.id))
    }
    #expect(await ids(rig) == items.map(\.id))
    await rig.advance(milliseconds: 1_200)
    #expect(heard(rig) == ["1: 0+48000", "2: 0+4801"])
    expectNoGap(rig)
  }
}
