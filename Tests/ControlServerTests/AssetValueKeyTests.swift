import MediaAssets
import Testing
import WireProtocol

@Suite struct AssetValueKeyTests {
  @Test func theWireHasEveryKey() {
    #expect(AssetValueKey.allCases.map(\.rawValue) == AssetKey.allCases.map(\.rawValue))
  }
}
