import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadWireProtocol

@Suite struct WireLimitTests {
  /// If a name set another limit, or a value outside the range were accepted, the limit would be ineffective.
  @Test func limitIsSetByItsNameWithinItsRangeOnly() throws {
    for limit in WireLimit.all {
      #expect(limit.range.contains(WireLimits.standard[limit]), "\(limit.name)")
      var limits = WireLimits.standard
      for value in [limit.range.lowerBound, limit.range.upperBound] {
        try limits.set(limit.name, to: value)
        #expect(limits[limit] == value)
        let others = WireLimit.all.filter { $0.name != limit.name }
        #expect(others.allSatisfy { limits[$0] == WireLimits.standard[$0] }, "\(limit.name)")
      }
      let accepted = limits
      for value in [limit.range.lowerBound - 1, limit.range.upperBound + 1, -1, Int.min, Int.max] {
        let error = #expect(throws: MediaError.self) { try limits.set(limit.name, to: value) }
        #expect(error?.code == .invalidArgument && error?.message.contains(limit.name) == true)
      }
      #expect(limits == accepted)
    }
  }

  @Test func unknownLimitIsRejectedWithASuggestion() {
    var limits = WireLimits.standard
    let error = expectError(.noSuchProperty) { try limits.set("connection", to: 5) }
    #expect(error?.message == "there is no limit 'connection'; did you mean connections?")
    #expect(limits == .standard)
  }
}
