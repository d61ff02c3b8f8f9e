import PlayheadMediaCore

extension StoredPlayer {
  /// The saved settings of a player: a JSON object in the database. Values that the object lacks are nil.
  ///
  /// This module knows no players: enumerations are saved as their raw values.
  public struct Settings: Codable, Sendable, Hashable {
    public var volume: Float?
    public var isMuted: Bool?
    public var pan: Float?
    public var rate: Double?
    public var defaultRate: Double?
    public var rateForNextPlay: Double?
    public var repeatMode: String?
    public var actionAtItemEnd: String?
    public var itemFailurePolicy: String?
    public var automaticallyWaitsToMinimizeStalling: Bool?
    public var audioTimePitchAlgorithm: String?
    public var replayGain: ReplayGain?
    public var appliesMediaSelectionCriteriaAutomatically: Bool?
    /// By the characteristic of the group.
    public var mediaSelectionCriteria: [String: MediaSelectionCriteria]?
    public var queueVersion: UInt64?
    public var shuffle: Shuffle?
    public var loop: Loop?

    public init() {}
  }

  /// The use of loudness tags.
  public struct ReplayGain: Codable, Sendable, Hashable {
    public var mode: String?
    public var preampDecibels: Double?
    public var fallbackDecibels: Double?
    public var preventsClipping: Bool?

    public init() {}
  }

  /// The criteria by which tracks of one group are selected.
  public struct MediaSelectionCriteria: Codable, Sendable, Hashable {
    public var preferredLanguages: [String]
    public var preferredCharacteristics: [String]
    public var principalCharacteristics: [String]

    public init(
      preferredLanguages: [String], preferredCharacteristics: [String], principalCharacteristics: [String]
    ) {
      self.preferredLanguages = preferredLanguages
      self.preferredCharacteristics = preferredCharacteristics
      self.principalCharacteristics = principalCharacteristics
    }
  }

  /// The state of a shuffled queue. ``StoredPlayer/original`` has its unshuffled order.
  public struct Shuffle: Codable, Sendable, Hashable {
    public var seed: UInt64
    public var round: UInt64
    public var remainingCount: Int
    public var generatorState: UInt64

    public init(seed: UInt64, round: UInt64, remainingCount: Int, generatorState: UInt64) {
      self.seed = seed
      self.round = round
      self.remainingCount = remainingCount
      self.generatorState = generatorState
    }
  }

  /// The loop of the current entry.
  public struct Loop: Codable, Sendable, Hashable {
    public var range: TimeRange
    /// The number of repetitions that remain; nil for no limit.
    public var remainingCount: Int?
    public var loopCount: Int
    public var isArmed: Bool
    public var isFinishing: Bool

    public init(range: TimeRange, remainingCount: Int?, loopCount: Int, isArmed: Bool, isFinishing: Bool) {
      self.range = range
      self.remainingCount = remainingCount
      self.loopCount = loopCount
      self.isArmed = isArmed
      self.isFinishing = isFinishing
    }
  }
}
