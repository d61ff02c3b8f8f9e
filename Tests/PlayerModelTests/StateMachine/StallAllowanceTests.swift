import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

@Suite struct StallAllowanceTests {
  private func at(_ seconds: Int64) -> HostTime { HostTime(nanoseconds: seconds * 1_000_000_000) }

  @Test func stallsShareAnAllowanceThatRecoversBetweenThem() {
    var allowance = StallAllowance()
    #expect(allowance.begin(1, at: at(0)) == at(600))
    allowance.end(afterNanoseconds: 400_000_000_000, at: at(400))
    // 200 s remain, and 50 s are added for the time between the stalls.
    #expect(allowance.begin(1, at: at(450)) == at(700))
    allowance.end(afterNanoseconds: 100_000_000_000, at: at(550))
    #expect(allowance.begin(1, at: at(10_000)) == at(10_600), "never more than all of it")
    allowance.end(afterNanoseconds: 700_000_000_000, at: at(10_700))
    #expect(allowance.begin(1, at: at(10_700)) == at(10_700))
    #expect(allowance.begin(2, at: at(10_701)) == at(11_301), "another item has a separate allowance")
  }
}
