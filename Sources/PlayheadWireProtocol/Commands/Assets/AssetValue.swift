import PlayheadMediaCore

/// The values of an asset that can be loaded.
package enum AssetValueKey: String, Sendable, Hashable, CaseIterable {
  case tracks, duration, playable, readable, composable, hasProtectedContent, chapters, preferredRate, preferredVolume
  case providesPreciseDuration
  case metadata, commonMetadata, availableMetadataFormats
}

extension AssetValueKey: WireListElement {
  package static func unpacked(_ bytes: ArraySlice<UInt8>) -> AssetValueKey {
    guard let key = AssetValueKey(rawValue: String(decoding: bytes, as: UTF8.self)) else {
      preconditionFailure("not a key of an asset value")
    }
    return key
  }
}

/// A loaded value of an asset. Its type depends on the key.
package enum AssetValue: Sendable, Hashable {
  /// The number of tracks, chapters or tags.
  case count(Int)
  case duration(MediaTime)
  case condition(Bool)
  case rate(Double)
  /// 1: unchanged samples.
  case volume(Float)
  /// The key spaces of the tags.
  case formats([String])

  var fieldValue: FieldValue {
    switch self {
    case .count(let count): .int(count)
    case .duration(let duration): .time(duration)
    case .condition(let isTrue): .bool(isTrue)
    case .rate(let rate): .float(rate)
    case .volume(let volume): .float(volume)
    case .formats(let formats): .strings(formats)
    }
  }
}

/// The loading status of an asset or of one of its values.
package enum AssetLoadingStatus: String, Sendable, Hashable, CaseIterable {
  /// No request has loaded the value.
  case unknown
  case loading, loaded, failed, cancelled
}

/// The loading status of one value of an asset, as a row of a reply.
package struct AssetValueRow: ReplyFields {
  package var key: AssetValueKey
  package var status: AssetLoadingStatus
  /// Nil unless the value is loaded.
  package var value: AssetValue?
  /// Nil unless the value cannot be loaded.
  package var error: MediaError?

  package init(key: AssetValueKey, status: AssetLoadingStatus, value: AssetValue?, error: MediaError?) {
    (self.key, self.status, self.value, self.error) = (key, status, value, error)
  }

  package static let fields: [Field<Self>] = [
    Field(.keyOfAssetValue) { $0.key }, Field(.valueStatus) { $0.status }, Field(optional: .value) { $0.value },
    Field(optional: .error) { $0.error?.code.name }, Field(optional: .message) { $0.error?.message },
  ]
}
