import MediaCore

extension CommandTable {
  /// The fields of a row for a track.
  static let trackFields: [FieldSpec] = [
    .track, .trackType, .codec, .playable, .enabled, .default, .start, .duration.nullable, .precise, .protected,
    .format.optional, .sampleFormat.optional, .sampleRate.optional, .channels.optional, .layout.optional,
    .bitsPerSample.optional, .bitRate.optional, .width.optional,
    .height.optional, .codedWidth.optional, .codedHeight.optional, .rotation.optional, .frameRate.optional,
    .language.optional, .title.optional,
    .closedCaptions.optional, .characteristics.optional,
  ]

  /// The description of these fields.
  static let trackDetails = """
    - `format`: the container's name of the codec
    - `sampleFormat`: FFmpeg's name of the decoded format
    - `frameRate`: the frames per second, as a number or a fraction
    - `width`, `height`: the size in square pixels, without rotation
    - `codedWidth`, `codedHeight`: the size before the pixel aspect ratio is applied
    - `rotation`: the clockwise rotation that makes video frames upright: 0, 90, 180 or 270 degrees
    - `closedCaptions`: the captions within the first video frames: `cea608`, `cea708`
    - `enabled`: whether the file presents the track by default
    - `precise`: whether `duration` is exact
    - `protected`: whether the track needs a decryption key
    """

  /// The fields of rows for groups of tracks, and their description.
  private static let selectionFields: [FieldSpec] = [
    .group, .allowsEmptySelection.optional, .options.optional, .track.optional, .language.optional, .title.optional,
    .characteristics.optional,
    .playable.optional,
    .default.optional,
  ]
  private static let selectionDetails = """
    The reply has a row for each group: `audible` (audio) or `legible` (subtitles). It has the number of `options` and \
    `allowsEmptySelection`: whether the group may have no selection.

    A row for each option of the group follows:

    - `track`: the track, as in `item.select`
    - `language`, `title`: its language and title
    - `characteristics`: its characteristics; the first one is `audible` or `legible`
    - `playable`: whether it can be presented
    - `default`: whether it is presented by default
    """

  /// Commands about groups of tracks of which one is selected at a time.
  static let selections: [CommandSpec] = [
    CommandSpec(
      .itemSelection, .items, "List the groups of tracks of an entry, and the selection.",
      details: "The entry must be ready.\n\n\(selectionDetails)",
      parameters: [ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"), player],
      right: .read, reply: [.item, .audio.nullable, .subtitles.nullable], rows: selectionFields + [.selected.optional],
      errors: [.invalidState, .noSuchItem, .noSuchPlayer] + mediaErrors,
      example: [
        "> item.selection 2", "< | group=audible allowsEmptySelection=false options=2",
        "< | group=audible track=0 language=eng characteristics=audible playable=true default=true selected=false",
        "< | group=audible track=1 language=ger characteristics=audible,is-dubbed-translation playable=true default=false selected=true",
        "< ok item=2 audio=1 subtitles=none",
      ]
    ) { arguments throws(MediaError) in
      .item(.selection(item: arguments.entry), player: arguments.player)
    },
    CommandSpec(
      .assetSelection, .assets, "List the groups of tracks of a loaded asset.",
      details: selectionDetails, parameters: [asset], reply: [.asset, .countOfGroups], rows: selectionFields,
      errors: [.noSuchAsset, .invalidState] + assetErrors,
      example: [
        "> asset.selection 1", "< | group=audible allowsEmptySelection=false options=1",
        "< | group=audible track=0 language=eng characteristics=audible playable=true default=true",
        "< ok asset=1 count=1",
      ]
    ) { arguments throws(MediaError) in
      .asset(.selection(asset: try arguments.required(.id, arguments.integer(.id))))
    },
  ]

  /// The description of chapters, and the parameter for a part of their list.
  static let chapterDetails =
    "Chapters are in order and do not overlap. `fault` and `message` describe corrected errors of the file"
    + " (`irregular-chapters`). Chapters of Matroska may have titles in several languages: `languages` lists them, and"
    + " `language` selects one. The default is the first title of the file."
  static let chapterOffset = ParameterSpec(
    .offset, .integer(0...Int.max), .option, "N",
    "the number of rows to skip: the `next` of the previous part of the list; default: 0")
  static let chapterLanguage = ParameterSpec(
    .language, .texts(maximumByteCount: 1_024, separator: .comma), .option, "LANG,...",
    "the languages of the titles, in order of preference (BCP 47)")
  static let chapterReply: [FieldSpec] = [.count, .next.nullable, .fault.optional, .message.optional]
  static let chapterFields: [FieldSpec] = [
    .chapter, .start, .end, .title.optional, .language.optional, .languages.optional,
  ]

  /// Commands about an entry's tracks and chapters.
  static let tracks: [CommandSpec] = [
    CommandSpec(
      .itemTracks, .items, "List the tracks of an entry, and which are presented.",
      details: "The entry must be ready.\n\n\(trackDetails)",
      parameters: [ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"), player],
      right: .read, reply: [.item, .count, .audio.nullable, .subtitles.nullable], rows: trackFields + [.selected],
      errors: [.invalidState, .noSuchItem, .noSuchPlayer] + mediaErrors,
      example: [
        "> item.tracks 2",
        "< | track=0 type=audio codec=flac playable=true enabled=true default=true start=0 duration=10 precise=true protected=false sampleFormat=s16"
          + " sampleRate=48000 channels=2 layout=stereo language=eng selected=true",
        "< | track=1 type=audio codec=flac playable=true enabled=true default=false start=0 duration=10 precise=true protected=false sampleFormat=s16"
          + " sampleRate=48000 channels=2 layout=stereo language=ger selected=false",
        "< ok item=2 count=2 audio=0 subtitles=none",
      ]
    ) { arguments throws(MediaError) in
      .item(.tracks(item: arguments.entry), player: arguments.player)
    },
    CommandSpec(
      .itemChapters, .items, "List the chapters of an entry.",
      details:
        "The entry must be ready. \(chapterDetails)\n\nTimes and numbers are those of `status`, `chapter-changed` and"
        + " `next-chapter`. For an entry that is a part of a file, the list has the chapters within the part, and times"
        + " count from its start.",
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"), chapterLanguage,
        chapterOffset, player,
      ],
      right: .read, reply: [.item] + chapterReply, rows: chapterFields,
      errors: [.invalidState, .noSuchItem, .noSuchPlayer] + mediaErrors,
      example: [
        "> item.chapters 2", "< | chapter=1 start=0 end=83.5 title=Prelude",
        "< | chapter=2 start=83.5 end=183.2 title=Fugue", "< ok item=2 count=2 next=none",
      ]
    ) { arguments throws(MediaError) in
      .item(
        .chapters(
          item: arguments.entry, offset: arguments.integer(.offset) ?? 0,
          languages: arguments.elements(.language)),
        player: arguments.player)
    },
    CommandSpec(
      .itemSelect, .items, "Select tracks of an entry, or show the selection.",
      details: """
        - A number selects that track.
        - A language (ISO 639-1, 639-2 or BCP 47) selects the best track in that language.
        - `auto` selects the default of the file.
        - `none` selects nothing. For audio, this is possible only if there is video.

        A change of the audio track is heard as a crossfade of 5 ms, at the same time of the entry. It is possible at \
        any rate, and also while paused or seeking. Subtitles can be selected, but are not displayed.
        """,
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"),
        ParameterSpec(.audio, .track, .option, "TRACK", "the audio track"),
        ParameterSpec(.subtitles, .track, .option, "TRACK", "the subtitles"), player,
      ],
      readsWithoutValue: true, reply: [.item, .audio.nullable, .subtitles.nullable],
      errors: [.noSuchTrack, .invalidState, .noSuchItem, .noSuchPlayer] + mediaErrors,
      example: ["> item.select 2 audio=de", "< ok item=2 audio=1 subtitles=none"]
    ) { arguments throws(MediaError) in
      let (audio, subtitles) = (arguments.track(.audio), arguments.track(.subtitles))
      return .item(
        .select(
          item: arguments.entry, audio: audio, subtitles: subtitles),
        player: arguments.player)
    },
  ]

  /// Commands that navigate by the current item's chapters.
  static let chapters: [CommandSpec] = [
    chapter(
      .nextChapter, isNext: true, "Seek to the start of the next chapter of the current item.",
      "The position is the target of the newest seek, or the time heard.", "time=83.5 pts=4008000/48000 requested=83.5"
    ),
    chapter(
      .previousChapter, isNext: false, "Seek to the start of the current or the previous chapter.",
      "In the first 3 s of a chapter, the target is the start of the previous chapter. Otherwise, and in the first"
        + " chapter, it is the start of the current chapter. The position is the target of the newest seek, or the time"
        + " heard.",
      "time=0 pts=0/48000 requested=0"),
  ]

  private static func chapter(
    _ name: CommandName, isNext: Bool, _ summary: String, _ details: String, _ position: String
  ) -> CommandSpec {
    CommandSpec(
      name, .playback, summary, details: "\(details) The seek is exact, and the reply is that of `seek`.",
      parameters: [player],
      waiting: .always,
      reply: SeekReply.fields.map(\.spec),
      errors: [.noSuchChapter, .invalidState, .noCurrentItem, .noSuchPlayer] + streamErrors + mediaErrors,
      example: [
        "> @3 \(name.rawValue)",
        "< @3 ok finished=true item=1 \(position) before=0 after=0 exact=true clamped=false us=2950 hostTime=5012.25",
      ]
    ) { arguments throws(MediaError) in .playback(.chapter(isNext: isNext), player: arguments.player) }
  }
}
