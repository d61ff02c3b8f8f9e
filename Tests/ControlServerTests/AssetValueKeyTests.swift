import MediaAssets
import Testing
import WireProtocol

@Suite struct AssetValueKeyTests {
  @Test func theWireHasEveryKey() {
    #expect(AssetValueKey.allCases.map(\.rawValue) == AssetKey.allCases.map(\.rawValue))
  }

  @Test func theWireHasEveryCharacteristicAndGroup() {
    let names =
      MediaSelectionChange.Group.allCases.map(\.rawValue) + MediaSelectionChange.Characteristic.allCases.map(\.rawValue)
    #expect(names == MediaCharacteristic.allCases.map(\.rawValue))
  }
}
