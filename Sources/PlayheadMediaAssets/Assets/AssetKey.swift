import PlayheadMediaCore

/// The name of a value of an asset that can be loaded.
package enum AssetKey: String, Sendable, Hashable, CaseIterable {
  /// Values that opening the file determines.
  case tracks, duration, playable, readable, composable, hasProtectedContent, chapters, preferredRate, preferredVolume
  /// Whether the duration is exact.
  case providesPreciseDuration
  /// Values of the tags.
  case metadata, commonMetadata, availableMetadataFormats

  /// The part of the file that contains the value.
  var part: AssetPart {
    switch self {
    case .metadata, .commonMetadata, .availableMetadataFormats: .metadata
    default: .properties
    }
  }
}

/// A part of a file's information that is loaded as a whole.
enum AssetPart: Sendable, Hashable, CaseIterable {
  /// The format, the tracks and other properties.
  case properties
  /// The tags with their artwork.
  case metadata
}

/// The loaded values of an asset.
package struct AssetValues: Sendable, Hashable {
  /// The properties; nil if no key needed them.
  package internal(set) var properties: AssetProperties?
  /// The tags; nil if no key needed them.
  package internal(set) var metadata: AssetMetadata?
}

/// The loading status of a value of an asset. Corresponds to `AVAsyncProperty.Status`.
public enum AssetValueStatus<Value> {
  /// The value has not been requested.
  case unknown
  /// The value is being loaded.
  case loading
  /// The value is known.
  case loaded(Value)
  /// Loading failed, with this error.
  case failed(MediaError)
  /// Loading was cancelled. A new request loads the value again.
  case cancelled

  /// The wire name: `unknown`, `loading`, `loaded`, `failed`, `cancelled`.
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .loading: "loading"
    case .loaded: "loaded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }

  /// The value, once loaded.
  public var value: Value? { if case .loaded(let value) = self { value } else { nil } }
}

extension AssetValueStatus: Sendable where Value: Sendable {}
extension AssetValueStatus: Equatable where Value: Equatable {}

extension AssetValueStatus {
  /// Transforms the value, if it is loaded.
  func map<Result>(_ transform: (Value) -> Result) -> AssetValueStatus<Result> {
    switch self {
    case .unknown: .unknown
    case .loading: .loading
    case .loaded(let value): .loaded(transform(value))
    case .failed(let error): .failed(error)
    case .cancelled: .cancelled
    }
  }
}

/// A value of an asset that is loaded on request: `try await asset.load(.duration, .tracks)`. Corresponds to
/// `AVAsyncProperty`.
public struct AssetProperty<Value: Sendable>: Sendable {
  /// The key that the value belongs to.
  package let key: AssetKey
  /// Reads the value from the loaded parts; nil if its part is not loaded.
  let read: @Sendable (AssetValues) -> Value?

  init(_ key: AssetKey, _ read: @escaping @Sendable (AssetProperties) -> Value) {
    self.key = key
    self.read = { $0.properties.map(read) }
  }

  init(_ key: AssetKey, ofMetadata read: @escaping @Sendable (AssetMetadata) -> Value) {
    self.key = key
    self.read = { $0.metadata.map(read) }
  }
}

extension AssetProperty where Value == [AssetTrack] {
  /// The tracks, as the container describes them.
  public static var tracks: Self { Self(.tracks) { $0.tracks } }
}

extension AssetProperty where Value == MediaTime {
  /// The duration; indefinite if unknown.
  public static var duration: Self { Self(.duration) { $0.duration } }
}

extension AssetProperty where Value == [MetadataItem] {
  /// All tags of the file; see ``AssetMetadata``.
  public static var metadata: Self { Self(.metadata, ofMetadata: { $0.items }) }
  /// The tags with a common key.
  public static var commonMetadata: Self { Self(.commonMetadata, ofMetadata: { $0.commonMetadata }) }
}

extension AssetProperty where Value == AssetMetadata {
  /// All of the tags: items, artwork, ReplayGain values and warnings.
  public static var assetMetadata: Self { Self(.metadata, ofMetadata: { $0 }) }
}

extension AssetProperty where Value == [Artwork] {
  /// The images of the tags.
  public static var artwork: Self { Self(.metadata, ofMetadata: { $0.artwork }) }
}

extension AssetProperty where Value == [AssetMetadata.Warning] {
  /// The parts of the tags that could not be read.
  public static var metadataWarnings: Self { Self(.metadata, ofMetadata: { $0.warnings }) }
}

extension AssetProperty where Value == [MetadataKeySpace] {
  /// The formats of the file's tags.
  public static var availableMetadataFormats: Self {
    Self(.availableMetadataFormats, ofMetadata: { $0.availableMetadataFormats })
  }
}

extension AssetProperty where Value == [AssetChapter] {
  /// The chapters, in order; empty if the file has none.
  public static var chapters: Self { Self(.chapters) { $0.chapters } }
}

extension AssetProperty where Value == Double {
  /// The playback rate that the file requests; default: 1.
  public static var preferredRate: Self { Self(.preferredRate) { $0.preferredRate } }
}

extension AssetProperty where Value == Float {
  /// The volume that the file requests; default: 1.
  public static var preferredVolume: Self { Self(.preferredVolume) { $0.preferredVolume } }
}

extension AssetProperty where Value == Bool {
  /// Whether the asset can be played: see ``AssetProperties/isPlayable``.
  public static var isPlayable: Self { Self(.playable) { $0.isPlayable } }
  /// Whether the audio samples can be read.
  public static var isReadable: Self { Self(.readable) { $0.isReadable } }
  /// Whether the tracks can be inserted into a composition.
  public static var isComposable: Self { Self(.composable) { $0.isComposable } }
  /// Whether at least one track requires a decryption key.
  public static var hasProtectedContent: Self { Self(.hasProtectedContent) { $0.hasProtectedContent } }
  /// Whether the duration is exact and not an estimate.
  public static var providesPreciseDuration: Self { Self(.providesPreciseDuration) { $0.providesPreciseDuration } }
}
