/// A change of the criteria for the automatic selection of tracks.
public struct MediaSelectionChange: Sendable, Hashable {
  /// A group of tracks of which one is selected at a time.
  public enum Group: String, Sendable, Hashable, CaseIterable {
    case audible, legible
  }

  /// A characteristic of a track.
  public enum Characteristic: String, Sendable, Hashable, CaseIterable {
    case isOriginalContent = "is-original-content"
    case isDubbedTranslation = "is-dubbed-translation"
    case isAuxiliaryContent = "is-auxiliary-content"
    case containsOnlyForcedSubtitles = "contains-only-forced-subtitles"
    case transcribesSpokenDialog = "transcribes-spoken-dialog"
    case describesVideo = "describes-video"

    /// The description of tracks with the characteristic.
    var summary: String {
      switch self {
      case .isOriginalContent: "the original language"
      case .isDubbedTranslation: "a dubbed translation"
      case .isAuxiliaryContent: "additional content, such as a commentary"
      case .containsOnlyForcedSubtitles:
        "only subtitles that are always necessary, such as those of foreign dialogue"
      case .transcribesSpokenDialog: "a transcription for deaf users"
      case .describesVideo: "a description of the video for blind users"
      }
    }
  }

  /// The criteria for one group.
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

  /// The group. Nil: the criteria are only returned.
  public var group: Group?
  /// The new criteria. Nil with `clears`: no criteria. Nil without `clears`: unchanged.
  public var criteria: Criteria?
  public var clears: Bool
  /// Whether the criteria are applied automatically. Nil: unchanged.
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
