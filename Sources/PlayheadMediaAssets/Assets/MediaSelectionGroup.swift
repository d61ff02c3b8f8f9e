import PlayheadLibAV

/// A characteristic of a track beyond its type. Corresponds to `AVMediaCharacteristic`.
public enum MediaCharacteristic: String, Sendable, Hashable, Codable, CaseIterable {
  /// The track has audio, or text.
  case audible, legible
  /// The track is in the work's original language, or is a translation.
  case isOriginalContent = "is-original-content"
  /// The track is a translation of the work.
  case isDubbedTranslation = "is-dubbed-translation"
  /// The track is a commentary on the work.
  case isAuxiliaryContent = "is-auxiliary-content"
  /// The subtitles are shown even if subtitles are disabled.
  case containsOnlyForcedSubtitles = "contains-only-forced-subtitles"
  /// The track serves deaf or blind users: it transcribes the dialogue, or describes the video.
  case transcribesSpokenDialog = "transcribes-spoken-dialog"
  /// The track describes the video.
  case describesVideo = "describes-video"

  init(_ role: StreamInfo.Role) {
    self =
      switch role {
      case .dub: .isDubbedTranslation
      case .original: .isOriginalContent
      case .comment: .isAuxiliaryContent
      case .forced: .containsOnlyForcedSubtitles
      case .hearingImpaired, .captions: .transcribesSpokenDialog
      case .visualImpaired, .descriptions: .describesVideo
      }
  }
}

/// A track in a group of which one is presented at a time. Corresponds to `AVMediaSelectionOption`.
public struct MediaSelectionOption: Sendable, Hashable {
  /// The track of the option.
  public let trackID: AssetTrack.ID
  /// The kind of the track's media.
  public let mediaType: AssetTrack.MediaType
  /// The language as in the file, usually an ISO 639-2 code.
  public let languageCode: String?
  /// The title for display.
  public let title: String?
  /// The purpose of the track, as far as the file states it.
  public let characteristics: Set<MediaCharacteristic>
  /// Whether the track can be presented.
  public let isPlayable: Bool

  init(_ track: AssetTrack) {
    trackID = track.id
    mediaType = track.mediaType
    languageCode = track.languageCode
    title = track.title
    isPlayable = track.mediaType == .audio ? track.isAudible : track.isDecodable && !track.isProtected
    characteristics = track.characteristics.union([track.mediaType == .audio ? .audible : .legible])
  }

  /// Whether the option is in a language, given as ISO 639-1, ISO 639-2 (both forms) or BCP 47.
  public func isInLanguage(_ code: String) -> Bool {
    languageCode.map { LanguageCode.matches($0, code) } ?? false
  }
}

/// Criteria for an automatic selection. Corresponds to `AVPlayerMediaSelectionCriteria`.
public struct MediaSelectionCriteria: Sendable, Hashable {
  /// The preferred languages, best first. Empty: any.
  public var preferredLanguages: [String]
  /// The preferred characteristics. ``MediaSelectionGroup/option(matching:)`` excludes options that lack any of them.
  ///
  /// ``MediaSelectionGroup/preferredOption(by:)``, which a player uses, prefers the options with most of them within
  /// one language.
  public var preferredCharacteristics: Set<MediaCharacteristic>
  /// The characteristics that an option must have before its language is considered.
  public var principalCharacteristics: Set<MediaCharacteristic>

  /// Creates criteria. By default each option matches.
  public init(
    preferredLanguages: [String] = [], preferredCharacteristics: Set<MediaCharacteristic> = [],
    principalCharacteristics: Set<MediaCharacteristic> = []
  ) {
    self.preferredLanguages = preferredLanguages
    self.preferredCharacteristics = preferredCharacteristics
    self.principalCharacteristics = principalCharacteristics
  }

  /// Whether there are no criteria.
  public var isEmpty: Bool { self == MediaSelectionCriteria() }
}

/// Tracks of an asset of which one is presented at a time. Corresponds to `AVMediaSelectionGroup`.
public struct MediaSelectionGroup: Sendable, Hashable {
  /// The characteristic of the group: `audible` or `legible`.
  public let characteristic: MediaCharacteristic
  /// The options, in the order of the tracks.
  public let options: [MediaSelectionOption]
  /// The option that is presented by default; nil: none.
  public let defaultOption: MediaSelectionOption?
  /// Whether the selection may be empty. True for subtitles, and for audio if the asset has video.
  public let allowsEmptySelection: Bool

  /// Returns the option of a track.
  public func option(trackID: AssetTrack.ID) -> MediaSelectionOption? { options.first { $0.trackID == trackID } }

  /// Returns the best playable option by these criteria; nil if there is none.
  ///
  /// The result is in the first preferred language that has an option. Within that language the default option is
  /// preferred, or else the first.
  public func option(matching criteria: MediaSelectionCriteria) -> MediaSelectionOption? {
    let allowed = options.filter {
      $0.isPlayable && $0.characteristics.isSuperset(of: criteria.preferredCharacteristics)
        && $0.characteristics.isSuperset(of: criteria.principalCharacteristics)
    }
    let best = Self.options(allowed, preferredLanguages: criteria.preferredLanguages)
    guard let first = best.first else { return nil }
    guard let defaultOption, best.contains(defaultOption),
      criteria.preferredLanguages.isEmpty
        || defaultOption.languageCode == first.languageCode
    else { return first }
    return defaultOption
  }

  /// Returns the option that a player with these criteria presents without an explicit selection.
  ///
  /// 1. Only playable options with all principal characteristics are considered.
  /// 2. Of these, those in the first preferred language that has an option.
  /// 3. Of these, those with most of the preferred characteristics.
  /// 4. Of these, the default option, or else the first.
  ///
  /// If no option remains, the result is the default option.
  public func preferredOption(by criteria: MediaSelectionCriteria) -> MediaSelectionOption? {
    guard !criteria.isEmpty else { return defaultOption }
    let candidates = options.filter {
      $0.isPlayable && $0.characteristics.isSuperset(of: criteria.principalCharacteristics)
    }
    let inLanguage =
      criteria.preferredLanguages.isEmpty
      ? candidates
      : criteria.preferredLanguages.lazy.map { code in candidates.filter { $0.isInLanguage(code) } }.first {
        !$0.isEmpty
      } ?? []
    func count(_ option: MediaSelectionOption) -> Int {
      option.characteristics.intersection(criteria.preferredCharacteristics).count
    }
    let bestCount = inLanguage.map(count).max() ?? 0
    // Criteria that consist only of preferred characteristics select nothing if no option has any of them.
    let hasMatch = !criteria.preferredLanguages.isEmpty || !criteria.principalCharacteristics.isEmpty || bestCount > 0
    let best = hasMatch ? inLanguage.filter { count($0) == bestCount } : []
    if let defaultOption, best.isEmpty || best.contains(defaultOption) { return defaultOption }
    return best.first
  }

  /// Returns the options in one of the languages, ordered by language; without languages all options
  /// in their original order.
  public static func options(
    _ options: [MediaSelectionOption], preferredLanguages: [String]
  ) -> [MediaSelectionOption] {
    guard !preferredLanguages.isEmpty else { return options }
    var rest = options
    var sorted: [MediaSelectionOption] = []
    for language in preferredLanguages {
      sorted += rest.filter { $0.isInLanguage(language) }
      rest.removeAll { $0.isInLanguage(language) }
    }
    return sorted
  }
}

extension AssetProperties {
  /// Returns the tracks to select from; nil if there are none of the kind. Only `audible` and `legible` have groups.
  public func mediaSelectionGroup(for characteristic: MediaCharacteristic) -> MediaSelectionGroup? {
    guard characteristic == .audible || characteristic == .legible else { return nil }
    let isAudible = characteristic == .audible
    let options = tracks.filter { $0.mediaType == (isAudible ? .audio : .subtitle) }.map(MediaSelectionOption.init)
    guard !options.isEmpty else { return nil }
    // Subtitles are presented by default only if the file forces them.
    let chosen =
      isAudible
      ? options.first { $0.trackID == audioTrackID }
      : options.first { $0.isPlayable && $0.characteristics.contains(.containsOnlyForcedSubtitles) }
    return MediaSelectionGroup(
      characteristic: characteristic, options: options, defaultOption: chosen,
      allowsEmptySelection: !isAudible || hasVideo)
  }

  /// All groups of the asset, audio first.
  public var mediaSelectionGroups: [MediaSelectionGroup] {
    [.audible, .legible].compactMap { mediaSelectionGroup(for: $0) }
  }
}
