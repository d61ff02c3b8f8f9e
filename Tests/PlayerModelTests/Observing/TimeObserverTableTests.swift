import PlayheadMediaCore
import Synchronization
import Testing

@testable import PlayheadPlayerModel

/// The observers that are due, and the boundaries that a jump skips. Times are in milliseconds.
@Suite struct TimeObserverTableTests {
  private func milliseconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1_000) }

  private func text(_ calls: [TimeObserverTable.Call]) -> [String] {
    calls.map { call in
      let direction = call.reason == .skipped ? call.isBackward ? "-" : "+" : ""
      return "\(call.token) \(call.reason) \(call.time.seconds * 1_000)\(direction)"
    }
  }

  /// The next `count` times, in milliseconds.
  private func next(_ table: inout TimeObserverTable, _ count: Int) -> [Double] {
    var times: [Double] = []
    while times.count < count, let time = table.nextTime() {
      times += table.popCalls(through: time).map { $0.time.seconds * 1_000 }
    }
    return times
  }

  /// One observer with these boundaries that includes seeks, and another that does not.
  private func cues(_ times: [Int64]) -> TimeObserverTable {
    var table = TimeObserverTable()
    table.addBoundary(1, times: times.map(milliseconds), itemID: nil, includesSeeks: true) { _ in }
    table.addBoundary(2, times: times.map(milliseconds), itemID: nil) { _ in }
    return table
  }

  // MARK: - Periodic

  @Test func periodicTimesAreMultiplesOfTheInterval() {
    var table = TimeObserverTable()
    table.addPeriodic(1, interval: milliseconds(250)) { _ in }
    #expect(table.nextTime() == nil, "without an item nothing is due")
    table.visit(1, at: milliseconds(333), includesPeriodic: true)
    #expect(next(&table, 3) == [500, 750, 1_000])
    table.visit(1, at: milliseconds(500), includesPeriodic: true)
    #expect(next(&table, 2) == [500, 750])
    table.visit(1, at: milliseconds(500), includesPeriodic: false)
    #expect(next(&table, 1) == [750])
  }

  @Test(
    arguments: [
      MediaTime(value: 1, timescale: 3), MediaTime(value: 1_001, timescale: 30_000),
      MediaTime(value: 1_001, timescale: 24_000), MediaTime(value: 1, timescale: 44_101),
      MediaTime(value: 333_333_333, timescale: 2_000_000_000),
    ])
  func oddIntervalsDoNotDrift(interval: MediaTime) {
    let (value, timescale) = (interval.value, interval.timescale)
    var table = TimeObserverTable()
    table.addPeriodic(1, interval: interval) { _ in }
    table.visit(1, at: .zero, includesPeriodic: false)
    for multiple in Int64(1)...3_000 {
      let time = MediaTime(value: value * multiple, timescale: timescale)
      #expect(table.nextTime() == time)
      #expect(table.popCalls(through: time).map(\.time) == [time])
    }
    // Scheduled again from any position, it is on the same grid.
    table.visit(1, at: MediaTime(value: 1_234_567, timescale: 48_000), includesPeriodic: true)
    let next = table.nextTime() ?? .invalid
    #expect(next.convertScale(timescale).value % value == 0)
    #expect(next >= MediaTime(value: 1_234_567, timescale: 48_000))
  }

  @Test func intervalLongerThanAnyItemIsDueOnce() {
    var table = TimeObserverTable()
    table.addPeriodic(1, interval: MediaTime(value: .max / 2, timescale: 1)) { _ in }
    table.visit(1, at: .zero, includesPeriodic: true)
    #expect(next(&table, 1) == [0])
    #expect(table.nextTime() == MediaTime(value: .max / 2, timescale: 1))
    #expect(table.popCalls(through: MediaTime(value: .max / 2, timescale: 1)).count == 1)
    table.visit(1, at: MediaTime(value: .max - 1, timescale: 1), includesPeriodic: true)
    #expect(table.nextTime() == MediaTime(value: .max - 1, timescale: 1))
    _ = table.popCalls(through: MediaTime(value: .max - 1, timescale: 1))
    #expect(table.nextTime() == nil, "the next multiple exceeds the range of times")
  }

  @Test func ofSeveralOverdueMultiplesOnlyTheFirstIsReported() {
    var table = TimeObserverTable()
    table.addPeriodic(1, interval: milliseconds(10)) { _ in }
    table.visit(1, at: .zero, includesPeriodic: false)
    #expect(text(table.popCalls(through: milliseconds(1_000_005))) == ["1 periodic 10.0"])
    #expect(table.nextTime() == milliseconds(1_000_010))
  }

  // MARK: - Boundaries

  @Test func boundariesAreSortedAndEachIsDueOnce() {
    var table = TimeObserverTable()
    table.addBoundary(1, times: [milliseconds(30), milliseconds(10), milliseconds(30)], itemID: nil) { _ in }
    table.visit(1, at: .zero, includesPeriodic: false)
    #expect(next(&table, 5) == [10, 30])
  }

  @Test func boundaryAtTheCurrentPositionIsDueUntilItIsHeard() {
    var table = TimeObserverTable()
    table.addBoundary(1, times: [.zero], itemID: nil) { _ in }
    table.visit(1, at: .zero, includesPeriodic: false)
    #expect(table.nextTime() == .zero)
    #expect(text(table.popCalls(through: .zero)) == ["1 crossed 0.0"])
    table.addBoundary(2, times: [.zero], itemID: nil) { _ in }
    #expect(table.nextTime() == nil, "it has been heard when the second is added")
  }

  @Test func boundaryOfAnotherItemIsNotDue() {
    var table = TimeObserverTable()
    table.addBoundary(1, times: [milliseconds(5)], itemID: 2, includesSeeks: true) { _ in }
    table.visit(1, at: .zero, includesPeriodic: true)
    #expect(table.nextTime() == nil)
    #expect(table.jump(in: 1, to: milliseconds(9)).isEmpty)
    table.visit(2, at: .zero, includesPeriodic: true)
    #expect(table.nextTime() == milliseconds(5))
  }

  @Test func seekReportsSkippedBoundaries() {
    var table = cues([0, 10, 20, 30])
    table.visit(1, at: .zero, includesPeriodic: false)
    #expect(text(table.jump(in: 1, to: milliseconds(25))) == ["1 skipped 0.0+", "1 skipped 10.0+", "1 skipped 20.0+"])
    #expect(text(table.jump(in: 1, to: milliseconds(5))) == ["1 skipped 20.0-", "1 skipped 10.0-"])
    #expect(next(&table, 2) == [10, 10])
  }

  @Test func seekToABoundaryStopsBeforeIt() {
    var table = cues([10])
    table.visit(1, at: .zero, includesPeriodic: false)
    #expect(table.jump(in: 1, to: milliseconds(10)).isEmpty)
    #expect(table.jump(in: 1, to: milliseconds(10)).isEmpty, "nothing was passed in between")
    #expect(text(table.popCalls(through: milliseconds(10))) == ["1 crossed 10.0", "2 crossed 10.0"])
  }

  @Test func seekFromAnUnheardBoundarySkipsIt() {
    var table = cues([10])
    table.visit(1, at: milliseconds(10), includesPeriodic: false)
    #expect(text(table.jump(in: 1, to: milliseconds(11))) == ["1 skipped 10.0+"])
  }

  @Test func seekFromAHeardBoundarySkipsItOnlyBackward() {
    var table = cues([10])
    table.visit(1, at: .zero, includesPeriodic: false)
    _ = table.popCalls(through: milliseconds(10))
    #expect(table.jump(in: 1, to: milliseconds(50)).isEmpty)
    #expect(text(table.jump(in: 1, to: milliseconds(10))) == ["1 skipped 10.0-"])
    _ = table.popCalls(through: milliseconds(10))
    #expect(
      text(table.jump(in: 1, to: milliseconds(10))) == ["1 skipped 10.0-"], "it is heard again from there")
    #expect(next(&table, 2) == [10, 10])
  }

  @Test func seekInANewItemStartsFromItsBeginning() {
    var table = cues([0, 10])
    table.visit(1, at: milliseconds(99), includesPeriodic: false)
    #expect(text(table.jump(in: 2, to: milliseconds(10))) == ["1 skipped 0.0+"])
    table.leave()
    #expect(table.jump(in: 2, to: .zero).isEmpty)
  }

  // MARK: - Chapters

  /// Chapters that begin at these times.
  private func starts(_ times: [Int64]) -> ChapterStarts {
    ChapterStarts(
      times.map {
        AssetChapter(title: "C\($0)", timeRange: TimeRange(start: milliseconds($0), end: milliseconds($0 + 1)))
      })
  }

  private func chapters(_ calls: [TimeObserverTable.Call]) -> [String] {
    zip(text(calls), calls).map { text, call in
      "\(text)\(call.chapter.map { " \($0.number) of \($0.count) \($0.chapter.title ?? "-")" } ?? "")"
    }
  }

  @Test func chaptersAreThoseOfTheVisitedItem() {
    var table = TimeObserverTable()
    table.addChapters(1, itemID: nil, includesSeeks: true) { _ in }
    table.addBoundary(2, times: [milliseconds(10)], itemID: nil) { _ in }
    table.visit(1, at: .zero, includesPeriodic: false)
    #expect(table.nextTime() == milliseconds(10), "the chapters are unknown")
    table.setChapters(starts([0, 10, 30]), of: 1)
    #expect(chapters(table.popCalls(through: .zero)) == ["1 crossed 0.0 1 of 3 C0"])
    #expect(chapters(table.popCalls(through: milliseconds(10))) == ["1 crossed 10.0 2 of 3 C10", "2 crossed 10.0"])
    _ = table.remove(2)
    // Setting the chapters again does not report them again.
    table.setChapters(starts([0, 10, 30]), of: 1)
    #expect(table.popCalls(through: milliseconds(20)).isEmpty)
    #expect(chapters(table.jump(in: 1, to: milliseconds(5))) == ["1 skipped 10.0- 2 of 3 C10"])
    #expect(
      chapters(table.jump(in: 1, to: milliseconds(40))) == ["1 skipped 10.0+ 2 of 3 C10", "1 skipped 30.0+ 3 of 3 C30"])
    table.changeDirection(at: milliseconds(40), isReverse: true)
    #expect(chapters(table.popCalls(through: milliseconds(30))) == ["1 crossed 30.0 3 of 3 C30"])
    // Another item is the current one, while the player is still in the first.
    table.setChapters(starts([7]), of: 2)
    #expect(chapters(table.popCalls(through: milliseconds(10))) == ["1 crossed 10.0 2 of 3 C10"])
    table.visit(2, at: .zero, includesPeriodic: false)
    #expect(chapters(table.popCalls(through: milliseconds(50))) == ["1 crossed 7.0 1 of 1 C7"])
    table.setChapters(starts([]), of: 3)
    table.visit(3, at: .zero, includesPeriodic: false)
    #expect(table.nextTime() == nil)
    #expect(table.jump(in: 3, to: milliseconds(40)).isEmpty)
  }

  @Test func chaptersWithTheSameStartAreReportedOnce() {
    var table = TimeObserverTable()
    table.setChapters(starts([5, 5, 9]), of: 1)
    table.visit(1, at: .zero, includesPeriodic: false)
    table.addChapters(1, itemID: 1, includesSeeks: false) { _ in }
    table.addChapters(2, itemID: 2, includesSeeks: true) { _ in }
    #expect(
      chapters(table.popCalls(through: milliseconds(20))) == ["1 crossed 5.0 2 of 3 C5", "1 crossed 9.0 3 of 3 C9"])
    #expect(table.jump(in: 1, to: .zero).isEmpty)
    _ = table.removeObservers(boundTo: 1)
    #expect(!table.contains(1) && table.contains(2))
    #expect(table.nextTime() == nil)
  }

  // MARK: - Adding and removing

  @Test func removedObserverIsNotDueAndUnknown() {
    var table = TimeObserverTable()
    table.addPeriodic(1, interval: milliseconds(10)) { _ in }
    table.visit(1, at: .zero, includesPeriodic: false)
    let removed = table.remove(1)
    #expect(removed)
    #expect(table.nextTime() == nil)
    let removedAgain = table.remove(1)
    #expect(!removedAgain)
  }

  @Test func observersOfAnItemEndWithTheItem() {
    let ended = Mutex<[Int]>([])
    func onEnd(_ number: Int) -> TimeObserverTable.EndHandler { { ended.withLock { $0.append(number) } } }
    var table = cues([10])
    table.addBoundary(3, times: [.zero], itemID: 7, onEnd: onEnd(3)) { _ in }
    table.addBoundary(4, times: [.zero], itemID: 8, onEnd: onEnd(4)) { _ in }
    table.addBoundary(5, times: [.zero], itemID: 7, includesSeeks: true, onEnd: onEnd(5)) { _ in }
    for handler in table.removeObservers(boundTo: 7) { handler() }
    #expect(ended.withLock { $0 } == [3, 5])
    #expect(table.removeObservers(boundTo: 7).isEmpty)
    #expect(!table.contains(3))
    for handler in table.removeAll() { handler() }
    #expect(ended.withLock { $0 } == [3, 5, 4])
    #expect(table.isEmpty)
  }

  @Test func timesOfRemovedObserversDoNotAccumulate() {
    var table = TimeObserverTable()
    table.visit(1, at: .zero, includesPeriodic: false)
    for token in UInt64(1)...10_000 {
      table.addPeriodic(token, interval: milliseconds(10)) { _ in }
      _ = table.remove(token)
    }
    #expect(table.dueCount < 100)
  }

  @Test func observersOfOneTimeAreCalledInOrderOfAddition() {
    var table = TimeObserverTable()
    for token in UInt64(1)...5 { table.addPeriodic(token, interval: milliseconds(10)) { _ in } }
    table.addBoundary(6, times: [milliseconds(10)], itemID: nil) { _ in }
    table.visit(1, at: .zero, includesPeriodic: false)
    #expect(
      table.popCalls(through: milliseconds(10)).map(\.reason) == Array(repeating: .periodic, count: 5) + [.crossed])
    #expect(table.periodicCalls(.stop, at: .zero).map(\.token) == [1, 2, 3, 4, 5])
  }

  @Test func removedTimeObserversDoNotAccumulate() {
    var table = TimeObserverTable()
    table.visit(1, at: .zero, includesPeriodic: false)
    for token in UInt64(0)..<100_000 {
      table.addPeriodic(token, interval: MediaTime(value: 1, timescale: 1)) { _ in }
      _ = table.remove(token)
    }
    #expect(table.dueCount < 1_000)
  }
}
