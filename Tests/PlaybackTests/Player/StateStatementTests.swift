import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Statements about states, items and the queue; see `SeekStatementTests`.
@Suite struct StateStatementTests {
  /// Creates a player without a queue on the rig's output.
  private func player(_ rig: Rig) async -> Player { Player(engine: rig.engine, name: "other") }

  @Test("statement 13: reasonForWaitingToPlay is nil in paused and playing, and not nil in waiting")
  func reasonForWaitingIsSetOnlyWhileWaiting() async throws {
    let rig = try await Rig()
    let seen = Mutex<Set<TimeControlStatus>>([])
    let wrong = Mutex<[PlayerState]>([])
    await rig.run { player in
      _ = player.addStateObserver { change in
        let (status, reason) = (change.new.timeControlStatus, change.new.reasonForWaitingToPlay)
        _ = seen.withLock { $0.insert(status) }
        if (status == .waiting) != (reason != nil) { wrong.withLock { $0.append(change.new) } }
      }
      player.play()
    }
    let items = [
      try rig.wav(file: 1, frames: 9_600), rig.item("/nonexistent/a.flac"), try rig.wav(file: 2, frames: 9_600),
    ]
    try await rig.run { try $0.append(items) }
    await rig.advance(milliseconds: 100)
    try await rig.run { player in
      player.pause()
      try player.seek(to: .zero) { _ in }
      player.play()
    }
    await rig.advance(milliseconds: 1_000)
    await rig.run { player in
      player.pause()
      player.play()
      player.removeAllItems()
      player.pause()
    }
    #expect(wrong.withLock { $0 } == [])
    #expect(seen.withLock { $0 } == Set(TimeControlStatus.allCases))
  }

  @Test func closeWhilePlayingReportsOneChangeWithItsCause() async throws {
    let rig = try await Rig()
    let player = await player(rig)
    try await player.replaceCurrentItem(with: try rig.wav(file: 1, frames: 48_000))
    await rig.settle()
    await player.play()
    await rig.advance(milliseconds: 100)
    let reports = Mutex<[String]>([])
    _ = await player.addStateObserver { change in
      let item = change.new.currentItemID.map { "\($0)" } ?? "-"
      reports.withLock { $0.append("\(change.new.timeControlStatus) \(change.new.rate) \(item) by \(change.cause)") }
    }
    await player.close()
    #expect(reports.withLock { $0 } == ["paused 0.0 - by closed"])
  }

  @Test func resumeAfterAnHourContinuesWithTheNextSample() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 1)
    let time = await rig.run { $0.currentTime() }
    await rig.advance(milliseconds: 3_600_000)
    #expect(await rig.run { $0.currentTime() } == time)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    let runs = rig.heard.runs
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.endIndex == $1.firstIndex })
    #expect(runs.first?.firstIndex == 0 && runs.last?.endIndex == 48_000)
  }

  @Test func stopReportsOneTimeJumpUnlessAtTheBeginning() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 48_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    let jumps = { rig.dump.split(separator: "\n").filter { $0.hasPrefix("event timeJumped") } }
    await rig.run { $0.stop() }
    await rig.settle()
    #expect(jumps() == [])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    for _ in 0..<2 {
      await rig.run { $0.stop() }
      await rig.settle()
      #expect(jumps() == ["event timeJumped item 1 to 0 by stop"])
    }
    #expect(await rig.run { $0.currentTime() } == .zero)
  }

  @Test("statement 14: replacing the current item with itself changes nothing")
  func replaceCurrentItemWithItselfChangesNothing() async throws {
    let rig = try await Rig()
    let player = await player(rig)
    let (item, next) = (try rig.wav(file: 1, frames: 48_000), try rig.wav(file: 2, frames: 48_000))
    try await player.replaceCurrentItem(with: item)
    await rig.settle()
    await player.play()
    await rig.advance(milliseconds: 300)
    let reports = Mutex<[String]>([])
    _ = await player.addStateObserver { change in reports.withLock { $0.append("\(change.new)") } }
    _ = await player.addEventObserver { event in reports.withLock { $0.append(Rig.text(event)) } }
    try await player.replaceCurrentItem(with: item)
    await rig.advance(milliseconds: 300)
    #expect(reports.withLock { $0 } == [])
    #expect(rig.heard.runs.map { "\($0.firstIndex) \($0.count)" } == ["0 28800"])
    #expect(await player.currentTime() == MediaTime(value: 28_800, timescale: 48_000))
    // Another item is reported, which shows that the observers work.
    try await player.replaceCurrentItem(with: next)
    #expect(!reports.withLock { $0 }.isEmpty)
  }

  @Test("statement 18: advance is an error for a player without a queue")
  func actionAdvanceWithoutAQueueIsAnError() async throws {
    let rig = try await Rig()
    let player = await player(rig)
    let before = await player.state
    #expect(before.actionAtItemEnd == .pause)
    await expectError(.invalidArgument) { try await player.setActionAtItemEnd(.advance) }
    #expect(await player.state == before)
    try await player.setActionAtItemEnd(.none)
    #expect(await player.state.actionAtItemEnd == .none)
    try await rig.run { try $0.setActionAtItemEnd(.advance) }
  }

  @Test(
    "statement 20: after the last queued item there are no items and no current one, and finished items do not return")
  func queueIsEmptyAfterTheLastItem() async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 4_800), try rig.wav(file: 2, frames: 4_800)]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 150)
    #expect(await rig.run { $0.items().map(\.id) } == [items[1].id])
    await rig.advance(milliseconds: 150)
    #expect(await rig.run { $0.items().isEmpty && $0.currentItem == nil })
    for action in [{ $0.pause() }, { $0.play() }, { $0.stop() }, { $0.play() }]
      as [@Sendable (isolated QueuePlayer) -> Void]
    {
      await rig.run(action)
      await rig.advance(milliseconds: 100)
    }
    #expect(await rig.run { $0.items().isEmpty && $0.currentItem == nil })
    #expect(rig.heard.runs.map(\.file) == [1, 2])
  }

  @Test(
    "statement 26: a queued item cannot be inserted, insertion after nil appends, and removing the current item advances"
  )
  func insertRejectsQueuedItemsAndRemovalOfTheCurrentAdvances() async throws {
    let rig = try await Rig()
    let items = try (1...4).map { try rig.wav(file: $0, frames: 48_000) }
    let other = await player(rig)
    try await other.replaceCurrentItem(with: items[3])
    try await rig.run { player in
      try player.append([items[0], items[1]])
      let rejected = [
        player.canInsert(items[0], after: nil), player.canInsert(items[1], after: items[0]),
        // An item of another player.
        player.canInsert(items[3], after: nil),
        // After an item of another queue.
        player.canInsert(items[2], after: items[3]),
      ]
      #expect(rejected == [false, false, false, false])
      let accepted = [player.canInsert(items[2], after: nil), player.canInsert(items[2], after: items[0])]
      #expect(accepted == [true, true])
      let version = player.state.queueVersion
      for item in [items[0], items[3]] {
        expectError(.itemInUse) { try player.insert([items[2], item], after: nil) }
      }
      #expect(player.items().map(\.id) == [1, 2] && player.state.queueVersion == version, "all or none")
      try player.insert([items[2]], after: nil)
      #expect(player.items().map(\.id) == [1, 2, 3])
      player.play()
    }
    await rig.advance(milliseconds: 250)
    rig.heard.removeAll()
    try await rig.run { try $0.remove([1]) }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.items().map(\.id) } == [2, 3])
    #expect(await rig.run { $0.state.rate } == 1 && rig.heard.runs.map(\.file) == [2])
    #expect(rig.heard.runs.first?.firstIndex == 0)
  }
}
