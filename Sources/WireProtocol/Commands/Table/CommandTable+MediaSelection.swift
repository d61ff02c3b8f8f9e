import MediaCore

extension CommandTable {
  /// The command for the track selection criteria of a player.
  static let mediaSelection: [CommandSpec] = [
    CommandSpec(
      .mediaSelection, .playback, "Set the preferred tracks of all entries, or show them.",
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

        \(MediaSelectionChange.Characteristic.allCases.map { "- `\($0.rawValue)`: \($0.summary)" }.joined(separator: "\n"))
        """,
      parameters: [
        ParameterSpec(
          .group, .word(MediaSelectionChange.Group.allCases.map(\.rawValue)), .optional, "audible|legible",
          "audible (audio) or legible (subtitles)"),
        ParameterSpec(
          .language, .texts(maximumByteCount: 1_024, separator: .comma), .option, "LANG,...",
          "preferred languages in order (ISO 639-1, 639-2 or BCP 47)"),
        ParameterSpec(
          .characteristics, .texts(maximumByteCount: 256, separator: .comma), .option, "NAME,...",
          "preferred characteristics"),
        ParameterSpec(
          .principal, .texts(maximumByteCount: 256, separator: .comma), .option, "NAME,...",
          "required characteristics, which have priority over the language"),
        ParameterSpec(.clear, .flag, .option, "clear", "remove the criteria of the group"),
        ParameterSpec(
          .automatic, .toggle, .option, "on|off|toggle", "whether entries follow the criteria; default: on"), player,
      ],
      readsWithoutValue: true, reply: [.appliesCriteria],
      rows: [.group, .languages, .characteristicsPreferred, .principal],
      errors: [.noSuchPlayer],
      example: [
        "> media-selection audible language=de,en",
        "< | group=audible languages=de,en characteristics=\"\" principal=\"\"", "< ok automatic=true",
      ]
    ) { arguments throws(MediaError) in
      .playback(.mediaSelection(try arguments.mediaSelectionChange()), player: arguments.player)
    }
  ]
}

extension ParsedArguments {
  /// The requested change of the criteria.
  ///
  /// - Throws: `bad-arguments` for options that exclude each other, and for unknown names.
  fileprivate func mediaSelectionChange() throws(MediaError) -> MediaSelectionChange {
    var change = MediaSelectionChange(
      group: text(.group).flatMap(MediaSelectionChange.Group.init), clears: flag(.clear),
      automatic: text(.automatic).flatMap(PlaybackCommand.Switch.init))
    if isGiven(.language) || isGiven(.characteristics) || isGiven(.principal) {
      change.criteria = MediaSelectionChange.Criteria(
        languages: elements(.language), characteristics: try characteristics(.characteristics),
        principal: try characteristics(.principal))
    }
    if change.clears, change.criteria != nil {
      throw failure("clear cannot be combined with language, characteristics and principal")
    }
    guard change.group != nil || (change.criteria == nil && !change.clears) else {
      throw failure("a group is missing: it must be audible or legible")
    }
    return change
  }

  private func characteristics(
    _ name: ParameterName
  ) throws(MediaError) -> Set<MediaSelectionChange.Characteristic> {
    var found: Set<MediaSelectionChange.Characteristic> = []
    try forEachElement(of: text(name) ?? "") { element throws(MediaError) in
      let all = MediaSelectionChange.Characteristic.allCases
      guard let characteristic = all.first(where: { $0.rawValue.utf8.elementsEqual(element) }) else {
        let known = all.map(\.rawValue).joined(separator: ", ")
        throw failure("\(name.rawValue) must be any of \(known) (got \(Excerpt.quoted(element)))")
      }
      found.insert(characteristic)
    }
    return found
  }
}
