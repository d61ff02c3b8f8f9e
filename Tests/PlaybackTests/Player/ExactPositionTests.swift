import MediaTesting
import Testing

@testable import PlayheadPlayback

/// Positions between frames, added without rounding.
@Suite struct ExactPositionTests {
  @Test func framesOfDifferentSampleRatesAddUpExactly() {
    let rates = [44_100, 48_000, 22_050, 96_000, 8_000, 11_025, 88_200]
    var random = SeededGenerator(seed: 3)
    var position = ExactPosition()
    var counts = [Int: Int64]()
    for _ in 0..<10_000 {
      let (rate, count) = (rates.randomElement(using: &random) ?? 1, Int64.random(in: 0...5_000, using: &random))
      position.advance(by: count, ofRate: rate, inRate: 48_000)
      counts[rate, default: 0] += count
    }
    // Over a common denominator of all rates.
    let common: Int128 = 14_112_000
    let sum = counts.reduce(Int128(0)) { $0 + Int128($1.value) * 48_000 * (common / Int128($1.key)) }
    #expect(Int128(position.frame) == sum / common)
    #expect(Int128(position.numerator) * common == sum % common * Int128(position.denominator))
    #expect(Int128(position.roundedUp) == (sum + common - 1) / common)
  }

  @Test func manyUnrelatedSampleRatesStayWithinOneFrame() {
    var position = ExactPosition()
    var sum = 0.0
    for rate in 40_000..<41_000 {
      position.advance(by: 1_001, ofRate: rate, inRate: 48_000)
      sum += 1_001 * 48_000 / Double(rate)
    }
    #expect(abs(Double(position.roundedUp) - sum) <= 1)
  }

  @Test func negativePositionRoundsDownToItsFrameAndUpToTheNext() {
    var position = ExactPosition(frame: -10)
    position.advance(by: 9, ofRate: 44_100, inRate: 48_000)
    #expect(position.frame == -1)
    #expect(position.roundedUp == 0)
  }
}
