import MediaCore

/// What can be loaded of an asset, by name.
public enum AssetKey: String, Sendable, Hashable, CaseIterable {
  case tracks, duration, playable, readable, composable, hasProtectedContent, chapters, preferredRate, preferredVolume
  case providesPreciseDuration
  case metadata, commonMetadata, availableMetadataFormats

  /// What is read of the file for it.
  var part: AssetPart {
    switch self {
    case .metadata, .commonMetadata, .availableMetadataFormats: .metadata
    default: .properties
    }
  }
}

/// What is read of a file at one go.
enum AssetPart: Sendable, Hashable, CaseIterable {
  /// What it is, and its tracks.
  case properties
  /// Its tags, pictures and all.
  case metadata
}

/// What was loaded of an asset.
public struct AssetValues: Sendable, Hashable {
  /// Nil when no key needed it.
  public internal(set) var properties: AssetProperties?
  /// Nil when no key needed it.
  public internal(set) var metadata: AssetMetadata?
}

/// How far one of an asset's values is. As AVAsyncProperty.Status.
public enum AssetValueStatus<Value> {
  /// Nobody has asked for it.
  case unknown
  case loading
  case loaded(Value)
  case failed(MediaError)
  /// Its loading was cancelled; asking for it again loads it.
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
  /// The same of something that follows from the value.
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

/// A value of an asset's that is loaded when it is asked for: `try await asset.load(.duration, .tracks)`. As AVAsyncProperty.
public struct AssetProperty<Value: Sendable>: Sendable {
  public let key: AssetKey
  /// The value in what was loaded; nil when its part was not.
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
  public static var tracks: Self { Self(.tracks) { $0.tracks } }
}

extension AssetProperty where Value == MediaTime {
  /// Indefinite where the file does not say.
  public static var duration: Self { Self(.duration) { $0.duration } }
}

extension AssetProperty where Value == [MetadataItem] {
  /// All tags of the file; see `AssetMetadata`.
  public static var metadata: Self { Self(.metadata, ofMetadata: { $0.items }) }
  /// Those with a common key.
  public static var commonMetadata: Self { Self(.commonMetadata, ofMetadata: { $0.commonMetadata }) }
}

extension AssetProperty where Value == AssetMetadata {
  /// All of the tags: items, artwork, ReplayGain values and the warnings of reading them.
  public static var assetMetadata: Self { Self(.metadata, ofMetadata: { $0 }) }
}

extension AssetProperty where Value == [Artwork] {
  public static var artwork: Self { Self(.metadata, ofMetadata: { $0.artwork }) }
}

extension AssetProperty where Value == [AssetMetadata.Warning] {
  /// The parts of the tags that could not be read.
  public static var metadataWarnings: Self { Self(.metadata, ofMetadata: { $0.warnings }) }
}

extension AssetProperty where Value == [MetadataKeySpace] {
  public static var availableMetadataFormats: Self {
    Self(.availableMetadataFormats, ofMetadata: { $0.availableMetadataFormats })
  }
}

extension AssetProperty where Value == [AssetChapter] {
  public static var chapters: Self { Self(.chapters) { $0.chapters } }
}

extension AssetProperty where Value == Double {
  public static var preferredRate: Self { Self(.preferredRate) { $0.preferredRate } }
}

extension AssetProperty where Value == Float {
  public static var preferredVolume: Self { Self(.preferredVolume) { $0.preferredVolume } }
}

extension AssetProperty where Value == Bool {
  public static var isPlayable: Self { Self(.playable) { $0.isPlayable } }
  public static var isReadable: Self { Self(.readable) { $0.isReadable } }
  public static var isComposable: Self { Self(.composable) { $0.isComposable } }
  public static var hasProtectedContent: Self { Self(.hasProtectedContent) { $0.hasProtectedContent } }
  public static var providesPreciseDuration: Self { Self(.providesPreciseDuration) { $0.providesPreciseDuration } }
}
