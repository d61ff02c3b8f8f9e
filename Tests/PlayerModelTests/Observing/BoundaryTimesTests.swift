import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

@Suite struct BoundaryTimesTests {
  private func ordered(_ times: [MediaTime], stepLimit: Int = 100) -> (times: BoundaryTimes, turnCount: Int) {
    var boundaries = BoundaryTimes()
    for start in stride(from: 0, to: times.count, by: BoundaryTimes.sliceLength) {
      boundaries.add(Array(times[start...].prefix(BoundaryTimes.sliceLength)))
    }
    var turnCount = 1
    while !boundaries.order(stepLimit) { turnCount += 1 }
    return (boundaries, turnCount)
  }

  @Test(arguments: [0, 1, 2, 255, 256, 257, 1_000, 20_000]) func timesAreOrderedWithoutDuplicates(_ count: Int) {
    var generator = SplitMix64(state: UInt64(count))
    let times = (0..<count).map { _ in
      MediaTime(value: Int64(generator.draw(below: 5_000)), timescale: Int32(1 + generator.draw(below: 1_000)))
    }
    var expected: [MediaTime] = []
    for time in times.sorted() where time != expected.last { expected.append(time) }
    let (boundaries, turnCount) = ordered(times)
    #expect(boundaries.ordered == expected)
    #expect(BoundaryTimes(times).ordered == expected)
    // A step moves one time, and each doubling of the list length moves every time once.
    #expect(turnCount <= 1 + boundaries.steps.count / 100 + 1)
    #expect(boundaries.steps.count <= count * 8)
  }

  @Test func ascendingTimesNeedNoOrdering() {
    let times = (0..<20_000).map { MediaTime(value: Int64($0), timescale: 10) }
    let (boundaries, turnCount) = ordered(times)
    #expect(boundaries.ordered == times && boundaries.steps.count == 0 && turnCount == 1)
  }
}
