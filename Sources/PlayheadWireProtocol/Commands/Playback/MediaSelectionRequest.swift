import PlayheadMediaCore

extension MediaSelectionCommand {
  /// A group of tracks of which one is selected at a time.
  package enum Group: String, Sendable, Hashable, CaseIterable {
    case audible, legible
  }
}

/// The requested criteria for the automatic selection of tracks of one group (`media-selection`).
package struct MediaSelectionRequest: Sendable, Hashable {
  /// A characteristic of a track.
  package enum Characteristic: String, Sendable, Hashable, CaseIterable {
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

  package var languages: [String]
  package var characteristics: Set<Characteristic>
  package var principal: Set<Characteristic>

  package init(
    languages: [String] = [], characteristics: Set<Characteristic> = [], principal: Set<Characteristic> = []
  ) {
    self.languages = languages
    self.characteristics = characteristics
    self.principal = principal
  }
}

extension MediaSelectionRequest {
  /// The options of `media-selection` that request these criteria.
  var options: [StructuredValue.Option] {
    func names(_ set: Set<Characteristic>) -> [String] { set.map(\.rawValue).sorted() }
    let all = [("language", languages), ("characteristics", names(characteristics)), ("principal", names(principal))]
    return all.filter { !$0.1.isEmpty }.map { .init(name: $0.0, value: .strings($0.1)) }
  }
}

extension Arguments<MediaSelectionCommand> {
  /// The new criteria of the group. Nil: unchanged, or none with `clear`.
  ///
  /// - Throws: `bad-arguments` for an unknown characteristic.
  package func criteria() throws(MediaError) -> MediaSelectionRequest? {
    let (language, characteristics, principal) = (self.language, self.characteristics, self.principal)
    guard language != nil || characteristics != nil || principal != nil else { return nil }
    return MediaSelectionRequest(
      languages: language ?? [], characteristics: try set(of: characteristics ?? [], "characteristics"),
      principal: try set(of: principal ?? [], "principal"))
  }

  private func set(
    of names: [String], _ parameter: String
  ) throws(MediaError) -> Set<MediaSelectionRequest.Characteristic> {
    var found: Set<MediaSelectionRequest.Characteristic> = []
    for name in names {
      let all = MediaSelectionRequest.Characteristic.allCases
      guard let characteristic = all.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) else {
        let known = all.map(\.rawValue).joined(separator: ", ")
        throw failure("\(parameter) must be any of \(known) (got \(Excerpt.quoted(name)))")
      }
      found.insert(characteristic)
    }
    return found
  }
}
