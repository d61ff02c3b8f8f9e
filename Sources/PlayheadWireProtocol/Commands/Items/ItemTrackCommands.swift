import PlayheadMediaCore

/// The presented tracks of an item.
package struct PresentedTracks: ReplyFields {
  /// The number of the audio track. Nil: none.
  package var audio: Int?
  /// The number of the subtitle track. Nil: none.
  package var subtitles: Int?

  package init(audio: Int?, subtitles: Int?) { (self.audio, self.subtitles) = (audio, subtitles) }

  package static let fields: [Field<Self>] = [
    Field(nullable: .audio) { $0.audio }, Field(nullable: .subtitles) { $0.subtitles },
  ]
}

/// `item.tracks`: lists the tracks of an entry.
package enum ItemTracksCommand: ImmediateCommand {
  package typealias Parameters = EntryAndPlayer

  package struct Row: ReplyFields {
    package var track: TrackRow
    package var isSelected: Bool

    package init(track: TrackRow, isSelected: Bool) { (self.track, self.isSelected) = (track, isSelected) }

    package static let fields: [Field<Self>] =
      TrackRow.fields.map { $0.within { $0.track } } + [Field(.selected) { $0.isSelected }]
  }

  package struct Reply: ReplyRows {
    package var item: UInt64
    package var presented: PresentedTracks
    package var rows: [Row]

    package init(item: UInt64, presented: PresentedTracks, rows: [Row]) {
      (self.item, self.presented, self.rows) = (item, presented, rows)
    }

    package static let fields: [Field<Self>] =
      [Field(.item) { $0.item }, Field(.count) { $0.rows.count }]
      + PresentedTracks.fields.map { $0.within { $0.presented } }
  }

  package static let name: CommandName = "item.tracks"

  package static let definition = CommandDefinition<Self>(
    .items, "List the tracks of an entry, and which are presented.",
    details: "The entry must be ready.\n\n\(TrackRow.details)", right: .read,
    errors: [.invalidState, .noSuchItem, .noSuchPlayer] + CommandTable.mediaErrors,
    example: [
      "> item.tracks 2",
      "< | track=0 type=audio codec=flac playable=true enabled=true default=true start=0 duration=10 precise=true protected=false sampleFormat=s16"
        + " sampleRate=48000 channels=2 layout=stereo language=eng selected=true",
      "< | track=1 type=audio codec=flac playable=true enabled=true default=false start=0 duration=10 precise=true protected=false sampleFormat=s16"
        + " sampleRate=48000 channels=2 layout=stereo language=ger selected=false",
      "< ok item=2 count=2 audio=0 subtitles=none",
    ])
}

/// `item.selection`: lists the groups of tracks of an entry.
package enum ItemSelectionCommand: ImmediateCommand {
  package typealias Parameters = EntryAndPlayer

  package struct Row: ReplyFields {
    package var selection: SelectionRow

    package init(_ selection: SelectionRow) { self.selection = selection }

    package static let fields: [Field<Self>] =
      (SelectionRow.fields + [SelectionRow.selectedField]).map { $0.within { $0.selection } }
  }

  package struct Reply: ReplyRows {
    package var item: UInt64
    package var presented: PresentedTracks
    package var rows: [Row]

    package init(item: UInt64, presented: PresentedTracks, rows: [Row]) {
      (self.item, self.presented, self.rows) = (item, presented, rows)
    }

    package static let fields: [Field<Self>] =
      [Field(.item) { $0.item }] + PresentedTracks.fields.map { $0.within { $0.presented } }
  }

  package static let name: CommandName = "item.selection"

  package static let definition = CommandDefinition<Self>(
    .items, "List the groups of tracks of an entry, and the selection.",
    details: "The entry must be ready.\n\n\(SelectionRow.details)", right: .read,
    errors: [.invalidState, .noSuchItem, .noSuchPlayer] + CommandTable.mediaErrors,
    example: [
      "> item.selection 2", "< | group=audible allowsEmptySelection=false options=2",
      "< | group=audible track=0 language=eng characteristics=audible playable=true default=true selected=false",
      "< | group=audible track=1 language=ger characteristics=audible,is-dubbed-translation playable=true default=false selected=true",
      "< ok item=2 audio=1 subtitles=none",
    ])
}

/// `item.chapters`: lists the chapters of an entry.
package enum ItemChaptersCommand: ImmediateCommand {
  package struct Parameters: EntryParameters {
    package let id: Parameter<EntryReference>
    /// In order of preference. Empty: the first title of the file.
    package let languages: Parameter<[String]>
    package let offset: Parameter<Int>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      languages = list.chapterLanguages()
      offset = list.rowOffset()
      player = list.player()
    }
  }

  package struct Reply: ReplyRows {
    package var item: UInt64
    package var chapters: ChapterList

    package init(item: UInt64, chapters: ChapterList) { (self.item, self.chapters) = (item, chapters) }

    package var rows: [ChapterList.Row] { chapters.rows }

    package static let fields: [Field<Self>] =
      [Field(.item) { $0.item }] + ChapterList.fields.map { $0.within { $0.chapters } }
  }

  package static let name: CommandName = "item.chapters"

  package static let definition = CommandDefinition<Self>(
    .items, "List the chapters of an entry.",
    details:
      "The entry must be ready. \(ChapterList.details)\n\nTimes and numbers are those of `status`,"
      + " `chapter-changed` and `next-chapter`. For an entry that is a part of a file, the list has the chapters within"
      + " the part, and times count from its start.",
    right: .read, errors: [.invalidState, .noSuchItem, .noSuchPlayer] + CommandTable.mediaErrors,
    example: [
      "> item.chapters 2", "< | chapter=1 start=0 end=83.5 title=Prelude",
      "< | chapter=2 start=83.5 end=183.2 title=Fugue", "< ok item=2 count=2 next=none",
    ])
}

/// `item.select`: selects tracks of an entry.
package enum ItemSelectCommand: ImmediateCommand {
  package struct Parameters: EntryParameters {
    package let id: Parameter<EntryReference>
    /// Nil: unchanged.
    package let audio: Parameter<TrackChoice?>
    /// Nil: unchanged.
    package let subtitles: Parameter<TrackChoice?>
    /// The audio track and the subtitles as one value.
    package let selection: Parameter<TrackSelection?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      id = list.entry()
      audio = list.option("audio", .track, "TRACK", "the audio track")
      subtitles = list.option("subtitles", .track, "TRACK", "the subtitles")
      selection = list.option(
        "selection", .selection, "GROUP=TRACK,...", "the tracks by group, instead of `audio` and `subtitles`")
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var item: UInt64
    package var presented: PresentedTracks

    package init(item: UInt64, presented: PresentedTracks) { (self.item, self.presented) = (item, presented) }

    package static let fields: [Field<Self>] =
      [Field(.item) { $0.item }] + PresentedTracks.fields.map { $0.within { $0.presented } }
  }

  package static let name: CommandName = "item.select"

  package static let definition = CommandDefinition<Self>(
    .items, "Select tracks of an entry, or show the selection.",
    details: """
      - A number selects that track.
      - A language (ISO 639-1, 639-2 or BCP 47) selects the best track in that language.
      - `auto` selects the default of the file.
      - `none` selects nothing. For audio, this is possible only if there is video.
      - `selection` has the groups of `item.currentMediaSelection`: `audible` (audio) and `legible` (subtitles).

      A change of the audio track is heard as a crossfade of 5 ms, at the same time of the entry. It is possible at \
      any rate, and also while paused or seeking. Subtitles can be selected, but are not displayed.
      """,
    readsWithoutValue: true,
    errors: [.noSuchTrack, .invalidState, .noSuchItem, .noSuchPlayer] + CommandTable.mediaErrors,
    example: ["> item.select 2 audio=de", "< ok item=2 audio=1 subtitles=none"])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) { _ = try arguments.requestedTracks() }
}

extension Arguments<ItemSelectCommand> {
  /// The tracks to select. Nil: only show the selection.
  ///
  /// - Throws: `bad-arguments` for `selection` together with `audio` or `subtitles`.
  package func requestedTracks() throws(MediaError) -> TrackSelection? {
    guard let selection = self.selection else {
      let selection = TrackSelection(audible: self.audio, legible: self.subtitles)
      return selection == TrackSelection() ? nil : selection
    }
    if let name = firstGiven(["audio", "subtitles"]) {
      throw failure("selection cannot be combined with \(name.rawValue)")
    }
    return selection
  }
}
