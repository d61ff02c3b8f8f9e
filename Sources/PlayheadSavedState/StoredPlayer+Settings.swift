import PlayheadMediaCore

extension StoredPlayer {
  /// The saved settings of a player: a JSON object in the database. Values that the object lacks are nil.
  ///
  /// This module knows no players: enumerations are saved as their raw values.
  package struct Settings: Codable, Sendable, Hashable {
    package var volume: Float?
    package var isMuted: Bool?
    package var pan: Float?
    package var rate: Double?
    package var defaultRate: Double?
    package var rateForNextPlay: Double?
    package var repeatMode: String?
    package var actionAtItemEnd: String?
    package var itemFailurePolicy: String?
    package var automaticallyWaitsToMinimizeStalling: Bool?
    package var audioTimePitchAlgorithm: String?
    package var replayGain: ReplayGain?
    /// The duration after which silence is reported; nil: never.
    package var silenceDuration: MediaTime?
    /// In dBFS.
    package var silenceThreshold: Float?
    package var appliesMediaSelectionCriteriaAutomatically: Bool?
    /// By the characteristic of the group.
    package var mediaSelectionCriteria: [String: MediaSelectionCriteria]?
    package var queueVersion: UInt64?
    package var shuffle: Shuffle?
    package var loop: Loop?
    package var crossfade: Crossfade?
    package var effects: Effects?

    package init() {}
  }

  /// The effects of a player. Nil values are off.
  package struct Effects: Codable, Sendable, Hashable {
    package var channelMix: ChannelMix?
    package var equalizer: Equalizer?
    package var compressor: Compressor?
    package var limiter: Limiter?

    package init() {}

    /// How channels are mixed.
    package struct ChannelMix: Codable, Sendable, Hashable {
      /// The name of a mix that needs no gains.
      package var name: String?
      /// The gain of each input (column) in each output (row).
      package var matrix: [[Double]]?

      package init(name: String?, matrix: [[Double]]?) { (self.name, self.matrix) = (name, matrix) }
    }

    /// A parametric equalizer.
    package struct Equalizer: Codable, Sendable, Hashable {
      package var bands: [Band]
      package var outputGainDecibels: Double

      package init(bands: [Band], outputGainDecibels: Double) {
        (self.bands, self.outputGainDecibels) = (bands, outputGainDecibels)
      }
    }

    /// A band of an equalizer.
    package struct Band: Codable, Sendable, Hashable {
      package var kind: String
      package var frequencyHz: Double
      package var gainDecibels: Double
      package var qFactor: Double

      package init(kind: String, frequencyHz: Double, gainDecibels: Double, qFactor: Double) {
        (self.kind, self.frequencyHz) = (kind, frequencyHz)
        (self.gainDecibels, self.qFactor) = (gainDecibels, qFactor)
      }
    }

    /// A compressor.
    package struct Compressor: Codable, Sendable, Hashable {
      package var thresholdDecibels: Double
      package var ratio: Double
      package var kneeDecibels: Double
      package var attack: MediaTime
      package var release: MediaTime
      package var makeUpGainDecibels: Double

      package init(
        thresholdDecibels: Double, ratio: Double, kneeDecibels: Double, attack: MediaTime, release: MediaTime,
        makeUpGainDecibels: Double
      ) {
        (self.thresholdDecibels, self.ratio, self.kneeDecibels) = (thresholdDecibels, ratio, kneeDecibels)
        (self.attack, self.release, self.makeUpGainDecibels) = (attack, release, makeUpGainDecibels)
      }
    }

    /// A peak limiter.
    package struct Limiter: Codable, Sendable, Hashable {
      package var ceilingDecibels: Double
      package var lookAhead: MediaTime
      package var release: MediaTime

      package init(ceilingDecibels: Double, lookAhead: MediaTime, release: MediaTime) {
        (self.ceilingDecibels, self.lookAhead, self.release) = (ceilingDecibels, lookAhead, release)
      }
    }
  }

  /// The cross-fade between items.
  package struct Crossfade: Codable, Sendable, Hashable {
    package var duration: MediaTime
    package var fadeOutDuration: MediaTime?
    package var fadeInDuration: MediaTime?
    package var curve: String

    package init(duration: MediaTime, fadeOutDuration: MediaTime?, fadeInDuration: MediaTime?, curve: String) {
      self.duration = duration
      self.fadeOutDuration = fadeOutDuration
      self.fadeInDuration = fadeInDuration
      self.curve = curve
    }
  }

  /// The use of loudness tags.
  package struct ReplayGain: Codable, Sendable, Hashable {
    package var mode: String?
    package var preampDecibels: Double?
    package var fallbackDecibels: Double?
    package var preventsClipping: Bool?

    package init() {}
  }

  /// The criteria by which tracks of one group are selected.
  package struct MediaSelectionCriteria: Codable, Sendable, Hashable {
    package var preferredLanguages: [String]
    package var preferredCharacteristics: [String]
    package var principalCharacteristics: [String]

    package init(
      preferredLanguages: [String], preferredCharacteristics: [String], principalCharacteristics: [String]
    ) {
      self.preferredLanguages = preferredLanguages
      self.preferredCharacteristics = preferredCharacteristics
      self.principalCharacteristics = principalCharacteristics
    }
  }

  /// The state of a shuffled queue. ``StoredPlayer/original`` has its unshuffled order.
  package struct Shuffle: Codable, Sendable, Hashable {
    package var seed: UInt64
    package var round: UInt64
    package var remainingCount: Int
    package var generatorState: UInt64

    package init(seed: UInt64, round: UInt64, remainingCount: Int, generatorState: UInt64) {
      self.seed = seed
      self.round = round
      self.remainingCount = remainingCount
      self.generatorState = generatorState
    }
  }

  /// The loop of the current entry.
  package struct Loop: Codable, Sendable, Hashable {
    package var range: TimeRange
    /// The number of repetitions that remain; nil for no limit.
    package var remainingCount: Int?
    package var loopCount: Int
    package var isArmed: Bool
    package var isFinishing: Bool

    package init(range: TimeRange, remainingCount: Int?, loopCount: Int, isArmed: Bool, isFinishing: Bool) {
      self.range = range
      self.remainingCount = remainingCount
      self.loopCount = loopCount
      self.isArmed = isArmed
      self.isFinishing = isFinishing
    }
  }
}
