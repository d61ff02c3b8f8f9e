import PlayheadMediaAssets
import PlayheadWireProtocol
import Testing

@Suite struct AssetValueKeyTests {
  @Test func protocolHasEveryAssetKey() {
    #expect(AssetValueKey.allCases.map(\.rawValue) == AssetKey.allCases.map(\.rawValue))
  }

  @Test func protocolHasEveryCharacteristicAndGroup() {
    let names =
      MediaSelectionCommand.Group.allCases.map(\.rawValue)
      + MediaSelectionRequest.Characteristic.allCases.map(\.rawValue)
    #expect(names == MediaCharacteristic.allCases.map(\.rawValue))
  }
}
