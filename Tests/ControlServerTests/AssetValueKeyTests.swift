import MediaAssets
import Testing
import WireProtocol

@Suite struct AssetValueKeyTests {
  @Test func protocolHasEveryAssetKey() {
    #expect(AssetValueKey.allCases.map(\.rawValue) == AssetKey.allCases.map(\.rawValue))
  }

  @Test func protocolHasEveryCharacteristicAndGroup() {
    let names =
      MediaSelectionChange.Group.allCases.map(\.rawValue) + MediaSelectionChange.Characteristic.allCases.map(\.rawValue)
    #expect(names == MediaCharacteristic.allCases.map(\.rawValue))
  }
}
