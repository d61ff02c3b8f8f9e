import LibAV

/// What a track is like, beyond its type. As AVMediaCharacteristic.
public enum MediaCharacteristic: String, Sendable, Hashable, Codable, CaseIterable {
  /// It can be heard; it can be read.
  case audible, legible
  /// It is in the language in which the work was made; it is a translation of that.
  case isOriginalContent = "is-original-content"
  case isDubbedTranslation = "is-dubbed-translation"
  /// It comments the work, and is not the work itself.
  case isAuxiliaryContent = "is-auxiliary-content"
  /// It is shown even to who wants no subtitles.
  case containsOnlyForcedSubtitles = "contains-only-forced-subtitles"
  /// For those who do not hear the dialogue, or not see the picture.
  case transcribesSpokenDialog = "transcribes-spoken-dialog"
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

/// One of the tracks of which one is presented at a time. As AVMediaSelectionOption.
public struct MediaSelectionOption: Sendable, Hashable {
  public let trackID: AssetTrack.ID
  public let mediaType: AssetTrack.MediaType
  /// As the file has it, mostly ISO 639-2.
  public let languageCode: String?
  /// A name for people.
  public let title: String?
  public let characteristics: Set<MediaCharacteristic>
  /// Whether it can be presented.
  public let isPlayable: Bool

  init(_ track: AssetTrack) {
    trackID = track.id
    mediaType = track.mediaType
    languageCode = track.languageCode
    title = track.title
    isPlayable = track.mediaType == .audio ? track.isAudible : track.isDecodable && !track.isProtected
    characteristics = track.characteristics.union([track.mediaType == .audio ? .audible : .legible])
  }

  /// Whether it is in a language, which may be given as ISO 639-1, ISO 639-2 (either kind) or BCP 47.
  public func isInLanguage(_ code: String) -> Bool {
    languageCode.map { LanguageCode.matches($0, wanted: code) } ?? false
  }
}

/// What is wanted of a selection, without naming a track. As AVPlayerMediaSelectionCriteria.
public struct MediaSelectionCriteria: Sendable, Hashable {
  /// The best first. Empty: any.
  public var preferredLanguages: [String]
  /// Where an item's option is chosen (`option(matching:)`), one without all of these is not. Among the criteria of a player the
  /// options with most of them are preferred to others in the same language.
  public var preferredCharacteristics: Set<MediaCharacteristic>
  /// What an option has to have before its language counts.
  public var principalCharacteristics: Set<MediaCharacteristic>

  public init(
    preferredLanguages: [String] = [], preferredCharacteristics: Set<MediaCharacteristic> = [],
    principalCharacteristics: Set<MediaCharacteristic> = []
  ) {
    self.preferredLanguages = preferredLanguages
    self.preferredCharacteristics = preferredCharacteristics
    self.principalCharacteristics = principalCharacteristics
  }

  /// Whether nothing is wanted.
  public var isEmpty: Bool { self == MediaSelectionCriteria() }
}

/// Tracks of an asset of which one is presented at a time. As AVMediaSelectionGroup.
public struct MediaSelectionGroup: Sendable, Hashable {
  /// `audible` or `legible`.
  public let characteristic: MediaCharacteristic
  public let options: [MediaSelectionOption]
  /// What is presented when nothing is asked for; nil: nothing.
  public let defaultOption: MediaSelectionOption?
  /// Whether nothing of it may be presented: subtitles, and sound where there is video. What has only sound is heard.
  public let allowsEmptySelection: Bool

  /// The option of a track.
  public func option(trackID: AssetTrack.ID) -> MediaSelectionOption? { options.first { $0.trackID == trackID } }

  /// The best option by these criteria: in the first of the languages that there is, of those the default one or else the
  /// first; nil when there is none that can be presented.
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

  /// What a player with these criteria presents when nothing was chosen: of the options with all principal characteristics
  /// those in the first of the languages that there is, of these those with most of the preferred characteristics; of these the
  /// default one, or else the first. Where none has the principal ones, or is in one of the languages, the default one.
  public func preferredOption(by criteria: MediaSelectionCriteria) -> MediaSelectionOption? {
    guard !criteria.isEmpty else { return defaultOption }
    let essential = options.filter {
      $0.isPlayable && $0.characteristics.isSuperset(of: criteria.principalCharacteristics)
    }
    let spoken =
      criteria.preferredLanguages.isEmpty
      ? essential
      : criteria.preferredLanguages.lazy.map { code in essential.filter { $0.isInLanguage(code) } }.first {
        !$0.isEmpty
      } ?? []
    func count(_ option: MediaSelectionOption) -> Int {
      option.characteristics.intersection(criteria.preferredCharacteristics).count
    }
    let most = spoken.map(count).max() ?? 0
    // Who prefers only what no option has is not answered with any.
    let isAnswered = !criteria.preferredLanguages.isEmpty || !criteria.principalCharacteristics.isEmpty || most > 0
    let best = isAnswered ? spoken.filter { count($0) == most } : []
    if let defaultOption, best.isEmpty || best.contains(defaultOption) { return defaultOption }
    return best.first
  }

  /// Those in one of the languages, in the languages' order; with no language all, in their own.
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
  /// The tracks to choose from; nil when there is none of the kind. `audible` and `legible` have groups.
  public func mediaSelectionGroup(for characteristic: MediaCharacteristic) -> MediaSelectionGroup? {
    guard characteristic == .audible || characteristic == .legible else { return nil }
    let isSound = characteristic == .audible
    let options = tracks.filter { $0.mediaType == (isSound ? .audio : .subtitle) }.map(MediaSelectionOption.init)
    guard !options.isEmpty else { return nil }
    // Subtitles are shown to who asks for them, and where the file forces them.
    let chosen =
      isSound
      ? options.first { $0.trackID == audioTrackID }
      : options.first { $0.isPlayable && $0.characteristics.contains(.containsOnlyForcedSubtitles) }
    return MediaSelectionGroup(
      characteristic: characteristic, options: options, defaultOption: chosen,
      allowsEmptySelection: !isSound || hasVideo)
  }

  /// All groups that there are, sound first.
  public var mediaSelectionGroups: [MediaSelectionGroup] {
    [.audible, .legible].compactMap { mediaSelectionGroup(for: $0) }
  }
}
