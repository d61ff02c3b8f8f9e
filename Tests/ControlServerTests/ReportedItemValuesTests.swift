import Testing

@testable import PlayheadControlServer

@Suite struct ReportedItemValuesTests {
  private func values(_ ids: ClosedRange<UInt64>) -> ReportedItemValues {
    var values = ReportedItemValues()
    for id in ids { _ = values.set(ObservedItem(), of: id) }
    return values
  }

  /// Performs a whole clean-up. Returns the number of slices.
  private func cleanUp(_ values: inout ReportedItemValues, isStale: (UInt64) -> Bool) -> Int {
    var sliceCount = 1
    while !values.cleanUpSlice(isStale: isStale) { sliceCount += 1 }
    return sliceCount
  }

  @Test func formerValuesOfAnEntryAreReturned() {
    var values = ReportedItemValues()
    var item = ObservedItem()
    item.duration = .zero
    let first = values.set(item, of: 7)
    item.providesPreciseDuration = true
    let second = values.set(item, of: 7)
    #expect(first == nil && second?.providesPreciseDuration == false)
    #expect(values.values[7]?.providesPreciseDuration == true)
  }

  @Test func staleValuesAreRemovedInSlices() {
    var values = values(1...1_000)
    let starts = [values.startCleanUp(), values.startCleanUp()]
    #expect(starts == [true, false], "a clean-up is under way")
    #expect(cleanUp(&values) { !$0.isMultiple(of: 10) } == 8)
    #expect(values.values.keys.sorted() == (1...100).map { $0 * 10 })
  }

  @Test func aCleanUpStartsAfterTheNumberOfValuesHasDoubled() {
    var few = values(1...64)
    var values = values(1...200)
    var starts = [few.startCleanUp(), values.startCleanUp()]
    #expect(cleanUp(&values) { $0 > 150 } == 2)
    for id in 201...350 as ClosedRange<UInt64> { _ = values.set(ObservedItem(), of: id) }
    #expect(values.values.count == 300)
    starts.append(values.startCleanUp())
    _ = values.set(ObservedItem(), of: 351)
    starts.append(values.startCleanUp())
    #expect(starts == [false, true, false, true])
  }

  @Test func valuesThatAreAddedDuringACleanUpStay() {
    var values = values(1...300)
    let started = values.startCleanUp()
    let ended = values.cleanUpSlice { _ in true }
    #expect(started && !ended)
    _ = values.set(ObservedItem(), of: 400)
    #expect(cleanUp(&values) { _ in true } == 2)
    #expect(values.values.keys.sorted() == [400])
  }
}
