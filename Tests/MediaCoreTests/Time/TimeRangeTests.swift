import PlayheadMediaCore
import Testing

/// The range from `start` to `end` in whole seconds.
private func range(_ start: Int64, _ end: Int64, epoch: Int64 = 0) -> TimeRange {
  TimeRange(start: MediaTime(start, 1, epoch: epoch), duration: MediaTime(end - start, 1))
}

struct TimeRangeTests {
  static let allOfTime = TimeRange(start: .negativeInfinity, duration: .positiveInfinity)
  static let endless = TimeRange(start: MediaTime(2, 1), duration: .positiveInfinity)
  static let live = TimeRange(start: MediaTime(2, 1), duration: .indefinite)

  @Test func validityEmptinessAndIndefiniteness() {
    let table: [(TimeRange, isValid: Bool, isEmpty: Bool, isIndefinite: Bool)] = [
      (range(1, 3), true, false, false), (.zero, true, true, false), (range(3, 3), true, true, false),
      (.invalid, false, false, false), (range(3, 1), false, false, false),
      (TimeRange(start: .invalid, duration: .zero), false, false, false),
      (TimeRange(start: .zero, duration: .invalid), false, false, false),
      (TimeRange(start: .zero, duration: MediaTime(1, 1, epoch: 1)), false, false, false),
      (TimeRange(start: .zero, duration: .negativeInfinity), false, false, false),
      (range(1, 3, epoch: 5), true, false, false),
      (Self.endless, true, false, false), (Self.allOfTime, true, false, false), (Self.live, true, false, true),
      (TimeRange(start: .indefinite, duration: .zero), true, true, true),
      (TimeRange(start: .indefinite, duration: .invalid), false, false, false),
    ]
    for (range, isValid, isEmpty, isIndefinite) in table {
      #expect(range.isValid == isValid, "\(range)")
      #expect(range.isEmpty == isEmpty, "\(range)")
      #expect(range.isIndefinite == isIndefinite, "\(range)")
    }
  }

  @Test func endIsStartPlusDuration() {
    #expect(range(1, 3).end == MediaTime(3, 1))
    #expect(range(1, 3, epoch: 5).end == MediaTime(3, 1, epoch: 5))
    #expect(TimeRange(start: MediaTime(1, 2), duration: MediaTime(1, 3)).end.isIdentical(to: MediaTime(5, 6)))
    #expect(Self.endless.end == .positiveInfinity)
    #expect(Self.allOfTime.end == .positiveInfinity)
    #expect(Self.live.end == .indefinite)
    #expect(TimeRange.invalid.end == .invalid)
  }

  @Test func startAndEndMakeARange() {
    #expect(TimeRange(start: MediaTime(1, 2), end: MediaTime(5, 6)).duration == MediaTime(1, 3))
    #expect(TimeRange(start: .zero, end: .zero).isEmpty)
    #expect(TimeRange(start: .zero, end: .positiveInfinity).duration == .positiveInfinity)
    #expect(TimeRange(start: .zero, end: .indefinite).isIndefinite)
    #expect(TimeRange(start: .negativeInfinity, end: .positiveInfinity) == Self.allOfTime)
    #expect(TimeRange(start: .positiveInfinity, end: .positiveInfinity).isEmpty)
    #expect(TimeRange(start: MediaTime(1, 1, epoch: 2), end: MediaTime(3, 1, epoch: 2)) == range(1, 3, epoch: 2))
    let bad: [(MediaTime, MediaTime)] = [
      (MediaTime(3, 1), MediaTime(1, 1)), (.invalid, .zero), (.zero, .invalid), (.positiveInfinity, .zero),
      (.zero, .negativeInfinity), (.negativeInfinity, .zero), (.zero, MediaTime(1, 1, epoch: 1)),
      (MediaTime(1, 1, epoch: 1), MediaTime(1, 1, epoch: 2)),
    ]
    for (start, end) in bad { #expect(!TimeRange(start: start, end: end).isValid, "\(start) to \(end)") }
  }

  @Test func equalityAndHashCompareInstants() {
    let halves = TimeRange(start: MediaTime(2, 2), duration: MediaTime(4, 2))
    #expect(halves == range(1, 3))
    #expect(halves.hashValue == range(1, 3).hashValue)
    #expect(range(1, 3) != range(1, 4))
    #expect(range(1, 3) != range(1, 3, epoch: 1))
    #expect(TimeRange.invalid == .invalid)
  }

  @Test func descriptionsAreHalfOpenIntervals() {
    #expect("\(TimeRange(start: MediaTime(1, 2), duration: MediaTime(1, 1)))" == "[0.5, 1.5)")
    #expect("\(Self.endless)" == "[2, inf)")
    #expect("\(TimeRange.invalid)" == "invalid")
  }

  // MARK: - Contents

  @Test("statement 50: a range contains its start and not its end")
  func rangeContainsItsStartAndNotItsEnd() {
    #expect(range(1, 3).contains(MediaTime(1, 1)))
    #expect(range(1, 3).contains(MediaTime(2_999_999, 1_000_000)))
    #expect(!range(1, 3).contains(MediaTime(3, 1)))
    #expect(!range(1, 3).contains(MediaTime(999_999, 1_000_000)))
  }

  @Test func timesOutsideAreNotContained() {
    #expect(!range(3, 3).contains(MediaTime(3, 1)))
    #expect(!range(1, 3).contains(MediaTime(2, 1, epoch: 1)))
    #expect(range(1, 3, epoch: 1).contains(MediaTime(2, 1, epoch: 1)))
    #expect(!range(1, 3, epoch: 1).contains(MediaTime(2, 1)))
    #expect(Self.endless.contains(MediaTime(.max, 1)))
    #expect(!Self.endless.contains(MediaTime(1, 1)))
    #expect(!Self.endless.contains(MediaTime(5, 1, epoch: 1)))
    #expect(Self.allOfTime.contains(MediaTime(.min, 1, epoch: 9)))
    #expect(Self.live.contains(MediaTime(1_000_000, 1)))
    for time: MediaTime in [.invalid, .indefinite, .positiveInfinity, .negativeInfinity] {
      for whole in [range(1, 3), Self.endless, Self.allOfTime, Self.live] { #expect(!whole.contains(time), "\(whole)") }
    }
    #expect(!TimeRange.invalid.contains(MediaTime.zero))
    #expect(!range(3, 1).contains(MediaTime(2, 1)))
  }

  @Test func noRangeContainsItsEnd() {
    var generator = SeededGenerator(seed: 10)
    for _ in 0..<500 {
      let range = TimeRange(start: generator.time(), duration: generator.time().absoluteValue)
      #expect(!range.contains(range.end), "\(range)")
    }
  }

  @Test func rangeContainsRangesWithinIt() {
    let table: [(TimeRange, TimeRange, Bool)] = [
      (range(0, 10), range(2, 3), true), (range(0, 10), range(0, 10), true), (range(0, 10), range(0, 11), false),
      (range(0, 10), range(-1, 3), false), (range(0, 10), range(10, 10), true), (range(0, 10), range(11, 11), false),
      (range(0, 10), range(10, 11), false), (range(0, 10), range(2, 3, epoch: 1), false),
      (range(0, 10, epoch: 1), range(2, 3, epoch: 1), true), (range(0, 10), .invalid, false),
      (.invalid, range(0, 1), false),
      (Self.endless, range(2, 3), true), (Self.endless, Self.endless, true), (range(0, 10), Self.endless, false),
      (Self.allOfTime, Self.endless, true), (Self.allOfTime, range(0, 1, epoch: 3), true),
      (Self.endless, Self.allOfTime, false),
    ]
    for (outer, inner, expected) in table { #expect(outer.contains(inner) == expected, "\(inner) in \(outer)") }
  }

  // MARK: - Combination

  @Test func unionsAndIntersections() {
    let table: [(TimeRange, TimeRange, union: TimeRange, intersection: TimeRange)] = [
      (range(0, 4), range(2, 6), range(0, 6), range(2, 4)), (range(0, 9), range(2, 6), range(0, 9), range(2, 6)),
      (range(0, 2), range(2, 6), range(0, 6), range(2, 2)), (range(0, 2), range(4, 6), range(0, 6), .zero),
      (range(1, 2), range(1, 2), range(1, 2), range(1, 2)), (.zero, range(4, 6), range(4, 6), .zero),
      (range(5, 5), range(4, 6), range(4, 6), range(5, 5)), (range(5, 5), range(7, 7), range(5, 7), .zero),
      (range(0, 4, epoch: 2), range(2, 6, epoch: 2), range(0, 6, epoch: 2), range(2, 4, epoch: 2)),
      (range(0, 4), range(2, 6, epoch: 1), .invalid, .invalid), (range(0, 4), .invalid, .invalid, .invalid),
      (range(0, 4), range(4, 0), .invalid, .invalid),
      (Self.endless, range(0, 4), TimeRange(start: .zero, duration: .positiveInfinity), range(2, 4)),
      (Self.allOfTime, range(0, 4), Self.allOfTime, range(0, 4)),
      (Self.allOfTime, Self.endless, Self.allOfTime, Self.endless),
      (Self.allOfTime, Self.allOfTime, Self.allOfTime, Self.allOfTime), (Self.live, Self.live, Self.live, Self.live),
    ]
    for (left, right, union, intersection) in table {
      #expect(left.union(right) == union, "\(left) and \(right)")
      #expect(right.union(left) == union, "\(right) and \(left)")
      #expect(left.intersection(right) == intersection, "\(left) and \(right)")
      #expect(right.intersection(left) == intersection, "\(right) and \(left)")
    }
  }

  @Test func unionAndIntersectionContainTheTimesOfTheirOperands() {
    var generator = SeededGenerator(seed: 11)
    for _ in 0..<500 {
      func some(_ generator: inout SeededGenerator) -> MediaTime { MediaTime(Int64(generator.next() % 40), 4) }
      let left = TimeRange(start: some(&generator), duration: some(&generator))
      let right = TimeRange(start: some(&generator), duration: some(&generator))
      let time = some(&generator)
      #expect(left.intersection(right).contains(time) == (left.contains(time) && right.contains(time)))
      if left.contains(time) || right.contains(time) { #expect(left.union(right).contains(time)) }
      #expect(left.union(right).contains(left) || left.isEmpty)
    }
  }
}

struct TimeRangeMappingTests {
  // MARK: - Clamping

  @Test("statement 50: clamping may return the end")
  func clampMayReturnTheEnd() {
    #expect(range(1, 3).clamp(MediaTime(7, 1)) == MediaTime(3, 1))
    #expect(range(1, 3).clamp(MediaTime(3, 1)) == MediaTime(3, 1))
  }

  @Test func clampReturnsTheNearestTimeInTheRange() {
    #expect(range(1, 3).clamp(.zero) == MediaTime(1, 1))
    #expect(range(1, 3).clamp(MediaTime(5, 2)).isIdentical(to: MediaTime(5, 2)))
    #expect(range(1, 3).clamp(.positiveInfinity) == MediaTime(3, 1))
    #expect(range(1, 3).clamp(.negativeInfinity) == MediaTime(1, 1))
    #expect(range(1, 3).clamp(.invalid) == .invalid)
    #expect(range(1, 1).clamp(MediaTime(1, 1)) == .invalid)
    #expect(TimeRange.invalid.clamp(.zero) == .invalid)
    #expect(range(3, 1).clamp(.zero) == .invalid)
    #expect(TimeRangeTests.endless.clamp(MediaTime(.max, 1)) == MediaTime(.max, 1))
    #expect(TimeRangeTests.endless.clamp(.zero) == MediaTime(2, 1))
    #expect(range(1, 3).clamp(MediaTime(0, 1, epoch: 1)) == MediaTime(3, 1))
  }

  // MARK: - Folding

  @Test func foldWrapsTimesIntoTheRange() {
    let table: [(TimeRange, MediaTime, MediaTime)] = [
      (range(0, 10), MediaTime(25, 1), MediaTime(5, 1)), (range(0, 10), MediaTime(10, 1), .zero),
      (range(0, 10), MediaTime(-1, 1), MediaTime(9, 1)), (range(0, 10), MediaTime(-10, 1), .zero),
      (range(5, 8), MediaTime(6, 1), MediaTime(6, 1)), (range(5, 8), MediaTime(8, 1), MediaTime(5, 1)),
      (range(5, 8), MediaTime(0, 1), MediaTime(6, 1)), (range(-3, -1), MediaTime(0, 1), MediaTime(-2, 1)),
      (range(5, 8, epoch: 2), MediaTime(9, 1, epoch: 2), MediaTime(6, 1, epoch: 2)),
      // From 1/3, 2/5 long: -7/11 is -160/165 from the start. Three lengths of 66/165 added give 38/165.
      (TimeRange(start: MediaTime(1, 3), duration: MediaTime(2, 5)), MediaTime(-7, 11), MediaTime(93, 165)),
      (TimeRange(start: MediaTime(1, 3), duration: MediaTime(2, 5)), MediaTime(7, 3), MediaTime(1, 3)),
    ]
    for (range, time, expected) in table {
      let folded = range.fold(time)
      #expect(folded == expected && !folded.hasBeenRounded, "\(time) in \(range): \(folded)")
    }
  }

  @Test func foldOfNonNumericTimesIsInvalid() {
    for time: MediaTime in [.invalid, .indefinite, .positiveInfinity, .negativeInfinity, MediaTime(1, 1, epoch: 1)] {
      #expect(range(0, 10).fold(time) == .invalid)
    }
    for range in [range(1, 1), .invalid, TimeRangeTests.endless, TimeRangeTests.live, TimeRangeTests.allOfTime] {
      #expect(range.fold(MediaTime(7, 1)) == .invalid)
    }
  }

  @Test func foldingAgreesWithUnlimitedArithmetic() {
    var generator = SeededGenerator(seed: 12)
    for _ in 0..<500 {
      let range = TimeRange(start: generator.time(), duration: generator.time().absoluteValue)
      let time = generator.time()
      guard range.isValid, !range.isEmpty, range.end.isNumeric, !range.end.hasBeenRounded else { continue }
      let folded = range.fold(time)
      #expect(range.contains(folded), "\(time) in \(range): \(folded)")
      guard !folded.hasBeenRounded else { continue }
      let turns = (BigRational(folded) - BigRational(time)) / BigRational(range.duration)
      #expect(turns.units(1, .towardZero).isExact, "\(time) in \(range): \(folded)")
    }
  }

  // MARK: - Mapping

  @Test func mapTimeScalesBetweenRanges() {
    let table: [(MediaTime, TimeRange, TimeRange, MediaTime)] = [
      (MediaTime(5, 1), range(0, 10), range(0, 20), MediaTime(10, 1)),
      (MediaTime(0, 1), range(0, 10), range(3, 4), MediaTime(3, 1)),
      (MediaTime(10, 1), range(0, 10), range(3, 4), MediaTime(4, 1)),
      (MediaTime(15, 1), range(0, 10), range(0, 20), MediaTime(30, 1)),
      (MediaTime(-1, 1), range(0, 10), range(0, 20), MediaTime(-2, 1)),
      (MediaTime(1, 1), range(0, 3), range(0, 1), MediaTime(1, 3)),
      (MediaTime(5, 1, epoch: 1), range(0, 10, epoch: 1), range(0, 20, epoch: 2), MediaTime(10, 1, epoch: 2)),
      (
        MediaTime(5, 1), TimeRangeTests.endless, TimeRange(start: MediaTime(7, 1), duration: .positiveInfinity),
        MediaTime(10, 1)
      ),
      (MediaTime(5, 1, epoch: 1), range(0, 10), range(0, 20), .invalid),
      (MediaTime(5, 1), range(5, 5), range(0, 20), .invalid), (MediaTime(5, 1), range(0, 10), range(5, 5), .invalid),
      (MediaTime(5, 1), .invalid, range(0, 20), .invalid), (MediaTime(5, 1), range(0, 10), .invalid, .invalid),
      (MediaTime(5, 1), range(0, 10), TimeRangeTests.endless, .invalid),
      (MediaTime(5, 1), TimeRangeTests.endless, range(0, 10), .invalid),
      (MediaTime(5, 1), range(0, 10), TimeRangeTests.live, .invalid),
      (MediaTime(5, 1), TimeRangeTests.live, TimeRangeTests.live, .invalid),
      (.invalid, range(0, 10), range(0, 20), .invalid), (.positiveInfinity, range(0, 10), range(0, 20), .invalid),
      (.indefinite, range(0, 10), range(0, 20), .invalid),
    ]
    for (time, from, to, expected) in table {
      #expect(from.mapTime(time, to: to) == expected, "\(time) from \(from) to \(to): \(from.mapTime(time, to: to))")
    }
  }

  @Test func mapDurationScalesBetweenRanges() {
    #expect(range(5, 15).mapDuration(MediaTime(5, 1), to: range(0, 20)).isIdentical(to: MediaTime(10, 1)))
    #expect(range(0, 7).mapDuration(MediaTime(300, 600), to: range(0, 7)).isIdentical(to: MediaTime(300, 600)))
    #expect(range(0, 3).mapDuration(MediaTime(-1, 2), to: range(0, 1)).isIdentical(to: MediaTime(-1, 6)))
    #expect(range(0, 3).mapDuration(.rounded(3, 2), to: range(0, 1)).isIdentical(to: .rounded(1, 2)))
    #expect(range(0, 3).mapDuration(MediaTime(1, 1, epoch: 1), to: range(0, 1)) == .invalid)
    #expect(range(0, 3).mapDuration(.positiveInfinity, to: range(0, 1)) == .invalid)
    #expect(range(3, 3).mapDuration(MediaTime(1, 1), to: range(0, 1)) == .invalid)
    #expect(TimeRangeTests.endless.mapDuration(MediaTime(1, 3), to: TimeRangeTests.endless) == MediaTime(1, 3))
    let thirdsAndFifths = TimeRange(start: MediaTime(1, 7), duration: MediaTime(2, 5))
    let elevenths = TimeRange(start: MediaTime(3, 13), duration: MediaTime(7, 11))
    #expect(thirdsAndFifths.mapDuration(MediaTime(1, 3), to: elevenths) == MediaTime(35, 66))
  }

  @Test func mappingAgreesWithUnlimitedArithmetic() {
    var generator = SeededGenerator(seed: 13)
    for _ in 0..<500 {
      let from = TimeRange(start: .zero, duration: generator.time().absoluteValue)
      let to = TimeRange(start: .zero, duration: generator.time().absoluteValue)
      let duration = generator.time()
      guard !from.isEmpty, !to.isEmpty, from.duration.isNumeric, to.duration.isNumeric else { continue }
      guard !from.duration.hasBeenRounded, !to.duration.hasBeenRounded else { continue }
      let exact = BigRational(duration) * BigRational(to.duration) / BigRational(from.duration)
      let mapped = from.mapDuration(duration, to: to)
      guard mapped.isNumeric else {
        #expect(exact.units(1, .halfAwayFromZero).value.int64 == nil)
        continue
      }
      #expect(BigRational(mapped).isEqual(to: exact) != mapped.hasBeenRounded, "\(duration) from \(from) to \(to)")
      #expect(mapped.value == exact.units(Int64(mapped.timescale), .halfAwayFromZero).value.int64)
    }
  }

  @Test func extremeValuesDoNotTrap() {
    var times = ascendingKinds
    for value: Int64 in [.min, .max] {
      for timescale: Int32 in [.max - 1, .max] { times.append(MediaTime(value, timescale)) }
    }
    let ranges = times.flatMap { start in
      [
        MediaTime(.max, 1), MediaTime(.max, .max), MediaTime(.max, .max - 1), .positiveInfinity, .indefinite,
        MediaTime(.min, 1),
      ].map {
        TimeRange(start: start, duration: $0)
      }
    }
    for range in ranges {
      for time in times {
        #expect(range.clamp(time).isValid == (range.isValid && !range.isEmpty && time.isValid))
        _ = range.fold(time)
        _ = range.contains(time)
        _ = TimeRange(start: range.start, end: time)
      }
      for other in ranges {
        _ = range.union(other)
        _ = range.intersection(other)
        _ = range.contains(other)
        _ = range.mapTime(other.start, to: other)
        _ = range.mapDuration(other.duration, to: other)
      }
    }
  }
}
