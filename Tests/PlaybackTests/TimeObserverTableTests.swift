import MediaCore
import Testing

@testable import Playback

@Suite struct TimeObserverTableTests {
  private func milliseconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1_000) }

  /// The next times, as milliseconds, until `count` have been taken.
  private func next(_ table: inout TimeObserverTable, _ count: Int) -> [Double] {
    var times: [Double] = []
    while times.count < count, let time = table.nextTime() {
      for _ in table.popDue(at: time) { times.append(time.seconds * 1_000) }
    }
    return times
  }

  @Test func periodicTimesAreMultiplesOfTheInterval() {
    var table = TimeObserverTable()
    table.addPeriodic(1, interval: milliseconds(250)) { _ in }
    #expect(table.nextTime() == nil, "without an item nothing is due")
    table.aim(itemID: 1, at: milliseconds(333), inclusive: .all)
    #expect(next(&table, 3) == [500, 750, 1_000])
    table.aim(itemID: 1, at: milliseconds(500), inclusive: .all)
    #expect(next(&table, 2) == [500, 750])
    table.aim(itemID: 1, at: milliseconds(500), inclusive: .boundaries)
    #expect(next(&table, 1) == [750])
  }

  @Test func anIntervalOfAThirdNeverDrifts() {
    var table = TimeObserverTable()
    table.addPeriodic(1, interval: MediaTime(value: 1, timescale: 3)) { _ in }
    table.aim(itemID: 1, at: .zero, inclusive: .none)
    for multiple in Int64(1)...3_000 {
      #expect(table.nextTime() == MediaTime(value: multiple, timescale: 3))
      #expect(table.popDue(at: MediaTime(value: multiple, timescale: 3)).count == 1)
    }
  }

  @Test func boundariesAreSortedAndEachIsDueOnce() {
    var table = TimeObserverTable()
    table.addBoundary(1, times: [milliseconds(30), milliseconds(10), milliseconds(30)], itemID: nil) { _ in }
    table.aim(itemID: 1, at: .zero, inclusive: .boundaries)
    #expect(next(&table, 5) == [10, 30])
  }

  @Test func aBoundaryAtTheAimIsDueOnlyInclusively() {
    var table = TimeObserverTable()
    table.addBoundary(1, times: [.zero], itemID: nil) { _ in }
    table.aim(itemID: 1, at: .zero, inclusive: .none)
    #expect(table.nextTime() == nil)
    table.aim(itemID: 1, at: .zero, inclusive: .boundaries)
    #expect(table.nextTime() == .zero)
  }

  @Test func aBoundaryOfAnotherItemIsNotDue() {
    var table = TimeObserverTable()
    table.addBoundary(1, times: [milliseconds(5)], itemID: 2) { _ in }
    table.aim(itemID: 1, at: .zero, inclusive: .all)
    #expect(table.nextTime() == nil)
    table.aim(itemID: 2, at: .zero, inclusive: .all)
    #expect(table.nextTime() == milliseconds(5))
  }

  @Test func aRemovedObserverIsNotDueAndIsUnknownThen() {
    var table = TimeObserverTable()
    table.addPeriodic(1, interval: milliseconds(10)) { _ in }
    table.aim(itemID: 1, at: .zero, inclusive: .none)
    let removed = table.remove(1)
    #expect(removed)
    #expect(table.nextTime() == nil)
    let removedAgain = table.remove(1)
    #expect(!removedAgain)
  }

  @Test func observersOfOneTimeAreCalledInTheOrderOfTheirAdding() {
    var table = TimeObserverTable()
    for token in UInt64(1)...5 { table.addPeriodic(token, interval: milliseconds(10)) { _ in } }
    table.addBoundary(6, times: [milliseconds(10)], itemID: nil) { _ in }
    table.aim(itemID: 1, at: .zero, inclusive: .none)
    #expect(table.popDue(at: milliseconds(10)).map(\.reason) == Array(repeating: .periodic, count: 5) + [.boundary])
  }
}
