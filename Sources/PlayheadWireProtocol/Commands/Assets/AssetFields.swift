import PlayheadMediaCore

/// The fields of the replies of the commands about assets.
extension FieldKey<Int> {
  static var asset: Self { Self("asset", "the number of the asset, valid on this connection") }
}

extension FieldKey<AssetValueKey> {
  static var keyOfAssetValue: Self { Self("key", "the key of the value") }
}

extension FieldKey<AssetLoadingStatus> {
  static var valueStatus: Self { Self("status", "the loading status; `unknown` before the value is requested") }
}

extension FieldKey<AssetValue> {
  static var value: Self { Self(FieldSpec.value) { $0.fieldValue } }
}
