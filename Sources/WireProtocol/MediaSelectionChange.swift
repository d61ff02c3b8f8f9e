/// What a player is to want of the tracks of its entries.
public struct MediaSelectionChange: Sendable, Hashable {
  /// Of which one track is presented at a time.
  public enum Group: String, Sendable, Hashable, CaseIterable {
    case audible, legible
  }

  /// What a track may be like.
  public enum Characteristic: String, Sendable, Hashable, CaseIterable {
    case isOriginalContent = "is-original-content"
    case isDubbedTranslation = "is-dubbed-translation"
    case isAuxiliaryContent = "is-auxiliary-content"
    case containsOnlyForcedSubtitles = "contains-only-forced-subtitles"
    case transcribesSpokenDialog = "transcribes-spoken-dialog"
    case describesVideo = "describes-video"
  }

  /// What is wanted of one group.
  public struct Criteria: Sendable, Hashable {
    public var languages: WireList<String>
    public var characteristics: Set<Characteristic>
    public var principal: Set<Characteristic>

    public init(
      languages: WireList<String> = [], characteristics: Set<Characteristic> = [], principal: Set<Characteristic> = []
    ) {
      self.languages = languages
      self.characteristics = characteristics
      self.principal = principal
    }
  }

  /// The group that is meant; nil: none, the criteria are only told.
  public var group: Group?
  /// What is wanted of it from now on; nil with `clears`: nothing; nil without: as before.
  public var criteria: Criteria?
  public var clears: Bool
  /// Whether criteria are followed; nil: as before.
  public var automatic: PlaybackCommand.Switch?

  public init(
    group: Group? = nil, criteria: Criteria? = nil, clears: Bool = false, automatic: PlaybackCommand.Switch? = nil
  ) {
    self.group = group
    self.criteria = criteria
    self.clears = clears
    self.automatic = automatic
  }
}
