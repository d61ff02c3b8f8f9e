import PlayheadMediaCore
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// The thousandth observer costs as much as the first: counted, not timed.
@Suite struct ObserverCostTests {
  private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  private static let tick = MediaTime(value: 1, timescale: 100)
  private static let hour = MediaTime(value: 3_600, timescale: 1)

  /// A table at the beginning of an item with `due` observers of this interval, and `waiting` others that are not due
  /// for an hour.
  private func table(due: Int, waiting: Int) -> TimeObserverTable {
    var table = TimeObserverTable()
    for number in 0..<due { table.addPeriodic(ObserverToken(number + 1), interval: Self.tick) { _ in } }
    for number in 0..<waiting {
      let token = ObserverToken(due + number + 1)
      switch number % 3 {
      case 0: table.addPeriodic(token, interval: Self.hour) { _ in }
      case 1: table.addBoundary(token, times: [Self.hour, Self.hour + Self.tick], itemID: nil) { _ in }
      default: table.addBoundary(token, times: [Self.hour], itemID: 1, includesSeeks: true) { _ in }
      }
    }
    table.visit(1, at: .zero, includesPeriodic: false)
    return table
  }

  /// Returns the steps and calls of playback through a hundred ticks.
  private func playing(_ table: TimeObserverTable) -> (steps: Int, calls: Int) {
    var (table, calls) = (table, 0)
    let before = table.steps.count
    for _ in 0..<100 {
      guard let time = table.nextTime() else { break }
      calls += table.popCalls(through: time).count
    }
    return (table.steps.count - before, calls)
  }

  /// Each call removes one time from the heap and inserts the next one.
  @Test(arguments: [0, 1, 999, 9_999]) func observersThatAreNotDueCostNothing(_ waiting: Int) {
    let cost = playing(table(due: 1, waiting: waiting))
    #expect(cost.calls == 100 && cost.steps == 200)
  }

  @Test(arguments: [1, 2, 1_000]) func costPerCallIsIndependentOfTheObserverCount(_ due: Int) {
    let cost = playing(table(due: due, waiting: 0))
    #expect(cost.calls == 100 * due && cost.steps == 2 * cost.calls)
  }

  @Test(arguments: [0, 999]) func addingAnObserverCostsOneStepAtAnyCount(_ present: Int) {
    var table = table(due: present, waiting: 0)
    let before = table.steps.count
    table.addPeriodic(5_000, interval: Self.tick) { _ in }
    #expect(table.steps.count - before == 1)
  }

  /// Times of removed observers are removed in batches, whose cost is shared by all of them.
  @Test(arguments: [0, 999]) func addingAndRemovingCostsAtMostThreeSteps(_ present: Int) {
    var table = table(due: present, waiting: 0)
    let before = table.steps.count
    for number in 0..<10_000 {
      table.addPeriodic(ObserverToken(5_000 + number), interval: Self.tick) { _ in }
      let isRemoved = table.remove(ObserverToken(5_000 + number))
      #expect(isRemoved)
    }
    #expect(table.steps.count - before <= 30_000)
    #expect(table.dueCount <= 2 * present + 65)
  }

  /// A player wakes as often for a thousand observers as for one if they have the same times or are not due yet.
  @Test func playerWakesAsOftenForAThousandObserversAsForOne() async throws {
    let alone = try await wakeups(due: 1, waiting: 0)
    #expect(alone.calls == 20 && alone.timers >= 19)
    let among = try await wakeups(due: 1, waiting: 999)
    #expect(among.calls == 20 && among.timers == alone.timers)
    let together = try await wakeups(due: 1_000, waiting: 0)
    #expect(together.calls == 20_000 && together.timers == alone.timers)
    print("timers in 0.96 s at 20 Hz | 1 observer \(alone.timers) | 1,000 \(together.timers)")
  }

  /// Returns the number of timers that a player sets, and of calls that it makes, during 0.96 s of playback.
  private func wakeups(due: Int, waiting: Int) async throws -> (timers: Int, calls: Int) {
    let rig = try await BusyRig()
    try await rig.load()
    let calls = Counter()
    try await rig.run { player in
      for _ in 0..<due {
        _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 20)) { _ in calls.add() }
      }
      for _ in 0..<waiting { _ = try player.addPeriodicTimeObserver(forInterval: Self.hour) { _ in } }
      player.play()
    }
    await rig.wait { $0.timeControlStatus == .playing }
    let before = rig.loop.scheduledCount
    await rig.loop.advance(milliseconds: 960)
    return (rig.loop.scheduledCount - before, calls.value)
  }
}
