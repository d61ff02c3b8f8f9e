import MediaCore

extension CommandTable {
  private static let characteristicNames = MediaSelectionChange.Characteristic.allCases.map(\.rawValue)

  /// The command for the track selection criteria of a player.
  static let mediaSelection: [CommandSpec] = [
    CommandSpec(
      .mediaSelection, .playback, "Sets which of several tracks entries present by themselves, or gives it.",
      details:
        "For all entries of which nothing was chosen (`item.select`), now and later; what is heard changes as with"
        + " `item.select`. Chosen is, of the tracks with all `principal` characteristics, one in the first of the languages that"
        + " there is, of these one with most of the `characteristics`, and then the one that the file would have. Where there is none,"
        + " it is what the file would have. A row for each group of which something is wanted; what is said of one takes"
        + " the place of what was said of it before. The characteristics are \(characteristicNames.map { "`\($0)`" }.joined(separator: ", ")).",
      parameters: [
        ParameterSpec(
          .group, .word(MediaSelectionChange.Group.allCases.map(\.rawValue)), .optional, "audible|legible",
          "sound, or subtitles"),
        ParameterSpec(
          .language, .texts(maximumByteCount: 1_024, separator: .comma), .option, "LANG,...",
          "languages, the most wanted first (ISO 639-1, 639-2 or BCP 47)"),
        ParameterSpec(
          .characteristics, .texts(maximumByteCount: 256, separator: .comma), .option, "NAME,...",
          "what a track should be like"),
        ParameterSpec(
          .principal, .texts(maximumByteCount: 256, separator: .comma), .option, "NAME,...",
          "what it has to be like, before its language counts"),
        ParameterSpec(.clear, .flag, .option, "clear", "want nothing of the group any more"),
        ParameterSpec(
          .automatic, .toggle, .option, "on|off|toggle", "whether that is followed; `on` from the start"), player,
      ],
      asks: true, reply: ["automatic"], rows: ["group", "languages", "characteristics", "principal"],
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

extension Arguments {
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
    if change.clears, change.criteria != nil { throw failure("clear wants nothing of the group, and nothing else") }
    guard change.group != nil || (change.criteria == nil && !change.clears) else {
      throw failure("say of which group: audible, or legible")
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
        throw failure("\(name.rawValue) cannot be \(Excerpt.quoted(element)); it takes \(known)")
      }
      found.insert(characteristic)
    }
    return found
  }
}
