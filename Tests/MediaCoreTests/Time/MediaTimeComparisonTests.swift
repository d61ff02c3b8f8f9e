import PlayheadMediaCore
import Testing

struct MediaTimeComparisonTests {
  @Test func everyKindHasItsPositionInTheOrder() {
    for (i, left) in ascendingKinds.enumerated() {
      for (j, right) in ascendingKinds.enumerated() {
        #expect((left < right) == (i < j), "\(left) < \(right)")
        #expect((left == right) == (i == j), "\(left) == \(right)")
        #expect((left > right) == (i > j), "\(left) > \(right)")
        #expect((left <= right) == (i <= j), "\(left) <= \(right)")
      }
    }
    var generator = SeededGenerator(seed: 2)
    #expect(ascendingKinds.shuffled(using: &generator).sorted() == ascendingKinds)
    #expect(min(MediaTime.invalid, .positiveInfinity) == .positiveInfinity)
    #expect(max(MediaTime(1, 2), MediaTime(2, 3)) == MediaTime(2, 3))
  }

  @Test("statement 48: indefinite < +inf; invalid equals itself and comes after everything")
  func invalidEqualsItselfAndIsOrderedLast() {
    #expect(MediaTime.indefinite < .positiveInfinity)
    #expect(MediaTime.invalid == .invalid)
    for time in ascendingKinds.dropLast() { #expect(time < .invalid) }
  }

  @Test func equalInstantsAreEqualInAnyTimescale() {
    let same: [[MediaTime]] = [
      [MediaTime(1, 2), MediaTime(2, 4), MediaTime(22_050, 44_100), .rounded(1, 2), MediaTime(1 << 29, 1 << 30)],
      [.zero, MediaTime(0, 600), MediaTime(0, .max), .rounded(0, 7)],
      [MediaTime(-1, 3), MediaTime(-200, 600)],
      [MediaTime(.min, 2), MediaTime(.min / 2, 1)],
      [.invalid, MediaTime(1, 0)],
      [MediaTime(1, 2, epoch: 5), MediaTime(2, 4, epoch: 5)],
    ]
    for (i, group) in same.enumerated() {
      #expect(Set(group).count == 1)
      for (j, other) in same.enumerated() where i != j {
        #expect(Set(group).isDisjoint(with: other))
      }
    }
    #expect(MediaTime(1, 2) != MediaTime(1, 2, epoch: 1))
    #expect(MediaTime(1, 2) != MediaTime(-1, 2))
  }

  @Test func largestValuesAreComparedExactly() {
    #expect(MediaTime(.max, .max) < MediaTime(.max, .max - 1))
    #expect(MediaTime(.min, .max) > MediaTime(.min, .max - 1))
    #expect(MediaTime(.max - 1, .max) < MediaTime(.max, .max))
    #expect(MediaTime(.max, 2) < MediaTime(.max / 2 + 1, 1))
  }

  @Test func orderEqualityAndHashAgreeWithUnlimitedArithmetic() {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<600 {
      let left = generator.time()
      // Every third pair is the same instant in another timescale, if it has one.
      let right = generator.next() % 3 == 0 ? left.convertScale(generator.timescale()) : generator.time()
      guard right.isNumeric else { continue }
      let order = BigRational(left).compare(to: BigRational(right))
      #expect((left < right) == (order < 0), "\(left) < \(right)")
      #expect((left > right) == (order > 0), "\(left) > \(right)")
      #expect((left == right) == (order == 0), "\(left) == \(right)")
      if order == 0 { #expect(left.hashValue == right.hashValue, "\(left) and \(right)") }
    }
  }
}
