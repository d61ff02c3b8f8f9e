import PlayheadMediaCore

/// `media-selection`: sets or shows the criteria for the automatic selection of tracks.
package enum MediaSelectionCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: the criteria are only returned.
    package let group: Parameter<Group?>
    /// In order of preference.
    package let language: Parameter<[String]?>
    package let characteristics: Parameter<[String]?>
    package let principal: Parameter<[String]?>
    /// Whether the criteria of the group are removed.
    package let clear: Parameter<Bool>
    /// Whether the criteria are applied automatically. Nil: unchanged.
    package let automatic: Parameter<SwitchSetting?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      group = list.optional(.group, .word, "audible|legible", "audible (audio) or legible (subtitles)")
      language = list.option(
        .language, .texts(maximumByteCount: 1_024), "LANG,...",
        "preferred languages in order (ISO 639-1, 639-2 or BCP 47)")
      characteristics = list.option(
        "characteristics", .texts(maximumByteCount: 256), "NAME,...", "preferred characteristics")
      principal = list.option(
        "principal", .texts(maximumByteCount: 256), "NAME,...",
        "required characteristics, which have priority over the language")
      clear = list.flag(.clear, "remove the criteria of the group")
      automatic = list.option(
        "automatic", .toggle, "on|off|toggle", "whether entries follow the criteria; default: on")
      player = list.player()
    }
  }

  /// The criteria of a group.
  package struct Row: ReplyFields {
    package var group: Group
    package var languages: [String]
    package var characteristics: [String]
    package var principal: [String]

    package init(group: Group, languages: [String], characteristics: [String], principal: [String]) {
      (self.group, self.languages) = (group, languages)
      (self.characteristics, self.principal) = (characteristics, principal)
    }

    package static let fields: [Field<Self>] = [
      Field(.group) { $0.group }, Field(.languages) { $0.languages },
      Field(.characteristicsPreferred) { $0.characteristics }, Field(.principal) { $0.principal },
    ]
  }

  package struct Reply: ReplyRows {
    package var isAutomatic: Bool
    package var rows: [Row]

    package init(isAutomatic: Bool, rows: [Row]) { (self.isAutomatic, self.rows) = (isAutomatic, rows) }

    package static let fields: [Field<Self>] = [Field(.appliesCriteria) { $0.isAutomatic }]
  }

  package static let name: CommandName = "media-selection"

  package static let definition = CommandDefinition<Self>(
    .playback, "Set the preferred tracks of all entries, or show them.",
    details: """
      The criteria apply to all current and future entries for which `item.select` has selected nothing. A \
      request replaces the earlier preferences of its group. A change is heard as with `item.select`. The reply has \
      a row for each group with preferences.

      The track is selected in these steps:

      - Only playable tracks with all `principal` characteristics are considered.
      - Of these, the tracks in the first available `language` are considered.
      - Of these, the track with most of the `characteristics` is selected. If several tracks have equally many, the \
      default of the file has priority, and then the first track.
      - If no track matches, the default of the file is selected.

      The characteristics are:

      \(characteristicsList)
      """,
    readsWithoutValue: true, errors: [.noSuchPlayer],
    example: [
      "> media-selection audible language=de,en",
      "< | group=audible languages=de,en characteristics=\"\" principal=\"\"", "< ok automatic=true",
    ])

  private static var characteristicsList: String {
    MediaSelectionRequest.Characteristic.allCases.map { "- `\($0.rawValue)`: \($0.summary)" }.joined(separator: "\n")
  }

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    let hasCriteria = try arguments.criteria() != nil
    let clears = arguments.clear
    guard !clears || !hasCriteria else {
      throw arguments.failure("clear cannot be combined with language, characteristics and principal")
    }
    guard arguments.group != nil || (!hasCriteria && !clears) else {
      throw arguments.failure("a group is missing: it must be audible or legible")
    }
  }
}
