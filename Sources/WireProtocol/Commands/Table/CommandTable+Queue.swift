import MediaCore

extension CommandTable {
  private static let paths = ParameterSpec(
    .paths, .path, .list, "PATH",
    "absolute paths, `file://` URLs (percent-encoded, for paths that are not UTF-8), `http://` and `https://` URLs, or"
      + " `fd:TOKEN` (*Open files*)")
  private static let ids = ParameterSpec(.ids, item, .list, "ID", "the ids of the entries")
  static let wait = ParameterSpec(
    .wait, .word(["ready"]), .option, "ready",
    "reply when all entries are ready to play, or with the error of the first entry that fails")
  private static let precise = ParameterSpec(
    .precise, .flag, .option, "precise",
    "determine exact durations, even if a file must be read completely before it plays")
  /// Options of network requests.
  static let network = [
    ParameterSpec(
      .header, .texts(maximumByteCount: 16_384, separator: .newline), .option, "FIELDS",
      "header fields of requests, each `Name: value`"),
    ParameterSpec(
      .headerFor, .word(["origin", "any"]), .option, "origin|any",
      "the servers that receive `header`: only the URL's scheme, host and port (`origin`; default) or every server (`any`)"
    ),
    ParameterSpec(
      .userAgent, .text(maximumByteCount: 1_024), .option, "TEXT",
      "the User-Agent of requests; default: `Playhead/VERSION`"),
    ParameterSpec(
      .network, .boolean, .option, "true|false",
      "whether network access is allowed; `false`: a file that needs it fails"),
    ParameterSpec(
      .interface, .texts(maximumByteCount: 256, separator: .comma), .option, "NAMES",
      "the network interfaces that may be used; default: all"),
    ParameterSpec(
      .timeout, .duration(positive: true), .option, "TIME",
      "the timeout for connecting (default: 10 s), for the reply (15 s), and between reads (15 s)"
    ),
    ParameterSpec(
      .peakBitRate, .integer(0...1_000_000_000_000), .option, "BPS",
      "the maximum bit rate of a variant of an HLS stream, in bits per second; default: 0, no limit"),
  ]
  /// The version that the queue must have for a request that changes it.
  static let ifVersion = ParameterSpec(
    .ifVersion, .integer(0...Int.max), .option, "VERSION", "only if the queue has this version")

  private static let resume = ParameterSpec(
    .resume, .boolean, .option, "true|false",
    "whether the entries start where playback ended last (*Bookmarks*); default: the daemon's option `state.resume`"
  )
  private static let title = ParameterSpec(
    .title, .text(maximumByteCount: 1_024), .option, "TEXT",
    "the title of the entry, for one path only; it replaces that of the tags")
  private static let list = ParameterSpec(
    .list, .word(["true", "false"]), .option, "true|false",
    "whether the paths are playlists; default: those that end in .m3u, .m3u8 (files only; an .m3u8 URL is an HLS stream), .pls, .xspf or .cue"
  )
  private static let listErrors: [MediaError.Code] = [
    .notAPlaylist, .damagedPlaylist, .playlistLimitExceeded, .playlistCycle, .emptyPlaylist,
  ]
  private static let skippedEntryFields: [FieldSpec] = [.line, .code, .name, .message]

  /// The command. If some of its paths are playlists, it waits until these are read.
  ///
  /// - Throws: `bad-arguments` if the command is part of a queue edit, which cannot contain playlists.
  private static func expanding(_ command: QueueCommand, _ arguments: ParsedArguments) throws(MediaError)
    -> FamilyCommand
  {
    let isListArgument = arguments.text(.list).map { $0 == "true" }
    func isList(_ path: ArraySlice<UInt8>) -> Bool {
      FilePath.isFileOrAddress(path) && isListArgument ?? FilePath.isNamedAsPlaylist(path)
    }
    guard arguments.listContains(isList) else { return .queue(command, player: arguments.player) }
    guard !arguments.isGiven(.title) else { throw arguments.failure("a playlist cannot have a title") }
    if arguments.isPartOfEdit {
      throw arguments.failure(
        "a playlist is not allowed within queue.edit; list=false adds its path as a media file")
    }
    return .queue(
      .expanding(command, lists: arguments.filteredList(isList), isForced: isListArgument == true),
      player: arguments.player)
  }

  /// The title of the only entry.
  ///
  /// - Throws: `bad-arguments` for an empty title, or for several paths.
  private static func title(_ arguments: ParsedArguments) throws(MediaError) -> String? {
    guard let title = arguments.text(.title) else { return nil }
    guard !title.isEmpty else { throw arguments.failure("title must not be empty") }
    let count = arguments.list(.paths, of: FilePath.self).count
    guard count == 1 else { throw arguments.failure("title needs exactly one path (got \(count))") }
    return title
  }

  /// The errors of an edit that is collected between `queue.begin` and `queue.commit`.
  private static let editErrors: [MediaError.Code] = [.invalidArgument, .editTooLarge]

  private static let loadErrors: [MediaError.Code] =
    [.noSuchPlayer, .queueTooLong, .unsupportedLocation, .invalidState, .waitEnded, .noSuchDescriptor, .onlyInOrder]
    + editErrors
    + mediaErrors

  /// The reply fields of an edit: with new entries, and while the edit is only collected.
  private static let addedReply: [FieldSpec] = [.items.optional, .version.optional, .pending.optional]
  private static let listReply: [FieldSpec] = addedReply + [.skippedEntries.optional]
  private static let editReply: [FieldSpec] = [.version.optional, .pending.optional]

  /// Commands that edit or list one player's queue.
  static let queue: [CommandSpec] = [
    CommandSpec(
      .load, .queue, "Replace the queue.",
      details: """
        The history is cleared. A paused player stays paused. Playlists are expanded (*Playlists*).

        A file that cannot be played becomes an entry with the status `failed`. With `wait=ready`, the request fails \
        instead, with the error of the file.

        The duration is an estimate if the file does not state it exactly, as MP3 without a header, ADTS or Matroska \
        (`providesPreciseDuration=false`). It is corrected when the end has been read. `precise` determines the exact \
        duration first.
        """,
      parameters: [paths, wait, precise, resume, title, list, ifVersion, player] + network, waiting: .untilReady,
      reply: listReply,
      rows: skippedEntryFields,
      errors: [.versionMismatch] + loadErrors + listErrors,
      example: ["> load \"/music/one more.flac\" /music/two.flac", "< ok items=1,2 version=1"]
    ) { arguments throws(MediaError) in
      try expanding(
        .load(
          arguments.list(.paths), waitUntilReady: arguments.text(.wait) != nil, precise: arguments.flag(.precise),
          ifVersion: arguments.integer(.ifVersion), network: try arguments.networkOptions(),
          resumes: arguments.boolean(.resume), title: try title(arguments)), arguments)
    },
    CommandSpec(
      .append, .queue, "Append entries to the queue.",
      details: "The reply has the ids of the new entries. It does not wait for files to open, but it waits until"
        + " playlists are read. A missing file becomes a failed entry. Each skipped playlist entry is a row. With"
        + " `wait=ready` the reply comes when all entries are ready, or has the error of the first that fails.",
      parameters: [paths, wait, precise, resume, title, list, ifVersion, player] + network, waiting: .untilReady,
      reply: listReply,
      rows: skippedEntryFields,
      errors: [.versionMismatch] + loadErrors + listErrors,
      example: ["> append /music/three.flac", "< ok items=3 version=2"]
    ) { arguments throws(MediaError) in
      try expanding(
        .append(
          arguments.list(.paths), waitUntilReady: arguments.text(.wait) != nil,
          ifVersion: arguments.integer(.ifVersion), precise: arguments.flag(.precise),
          network: try arguments.networkOptions(), resumes: arguments.boolean(.resume), title: try title(arguments)),
        arguments)
    },
    CommandSpec(
      .insert, .queue, "Insert entries after the current one, or elsewhere.",
      details: "If entries are inserted before the current one, the first of them becomes the current entry.",
      parameters: [
        paths, ParameterSpec(.after, item, .option, "ID", "after this entry"),
        ParameterSpec(.before, item, .option, "ID", "before this entry"), wait, precise, resume, title,
        list, ifVersion, player,
      ] + network,
      waiting: .untilReady, reply: listReply, rows: skippedEntryFields,
      errors: [.noSuchItem, .versionMismatch] + loadErrors + listErrors,
      example: ["> insert /music/four.flac after=2", "< ok items=4 version=3"]
    ) { arguments throws(MediaError) in
      let position = try insertionPosition(arguments, otherwise: .next)
      return try expanding(
        .insert(
          arguments.list(.paths), at: position, waitUntilReady: arguments.text(.wait) != nil,
          ifVersion: arguments.integer(.ifVersion), precise: arguments.flag(.precise),
          network: try arguments.networkOptions(), resumes: arguments.boolean(.resume), title: try title(arguments)),
        arguments)
    },
    CommandSpec(
      .remove, .queue, "Remove entries from the queue.",
      details:
        "All entries are removed, or none: an id that is unknown or given twice is an error. If the current entry"
        + " is removed, the next entry plays.",
      parameters: [ids, ifVersion, player], reply: editReply,
      errors: [.noSuchItem, .versionMismatch, .noSuchPlayer] + editErrors,
      example: ["> remove 4", "< ok version=4"]
    ) { arguments throws(MediaError) in
      .queue(.remove(arguments.list(.ids), ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .move, .queue, "Move an entry.",
      details: """
        - `to` is the new position, counted from the current entry (0).
        - An entry that is moved to 0 becomes current and plays from its start. The former current entry becomes the \
        next one.
        - If the current entry is moved away, the next entry becomes current.
        - In a shuffled queue only the shuffled order changes.
        """,
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"),
        ParameterSpec(.to, .integer(0...Int.max), .option, "INDEX", "the new position; 0 is that of the current entry"),
        ParameterSpec(.after, item, .option, "ID", "after this entry"),
        ParameterSpec(.before, item, .option, "ID", "before this entry"), ifVersion, player,
      ],
      reply: editReply, errors: [.noSuchItem, .versionMismatch, .noSuchPlayer] + editErrors,
      example: ["> move 4 to=1", "< ok version=4"]
    ) { arguments throws(MediaError) in
      let position: QueueCommand.QueuePosition
      switch (arguments.integer(.to), arguments.entry(.after), arguments.entry(.before)) {
      case (let index?, nil, nil): position = .index(index)
      case (nil, let id?, nil): position = .after(item: id)
      case (nil, nil, let id?): position = .before(item: id)
      default: throw arguments.failure("exactly one of to, after and before is required")
      }
      return .queue(
        .move(
          item: arguments.entry, to: position,
          ifVersion: arguments.integer(.ifVersion)),
        player: arguments.player)
    },
    CommandSpec(
      .replace, .queue, "Replace an entry by another file.",
      details: "The new entry has a new id. If it replaces the current entry, it plays from its start.",
      parameters: [
        ParameterSpec(.id, item, .required, "ID", "the entry"),
        ParameterSpec(
          .path, .path, .required, "PATH", "an absolute path, a `file://`, `http://` or `https://` URL, or `fd:TOKEN`"),
        precise, ifVersion, player,
      ] + network,
      reply: addedReply, errors: [.noSuchItem, .versionMismatch, .noSuchPlayer, .unsupportedLocation] + editErrors,
      example: ["> replace 4 /music/five.flac", "< ok items=5 version=5"]
    ) { arguments throws(MediaError) in
      .queue(
        .replace(
          item: arguments.entry,
          try arguments.required(.path, arguments.path(.path)), ifVersion: arguments.integer(.ifVersion),
          precise: arguments.flag(.precise), network: try arguments.networkOptions()),
        player: arguments.player)
    },
    CommandSpec(
      .clear, .queue, "Clear the queue.",
      details: "Playback ends, and the rate stays. The history is cleared.",
      parameters: [ifVersion, player],
      reply: editReply, errors: [.versionMismatch, .noSuchPlayer] + editErrors,
      example: ["> clear", "< ok version=5"]
    ) { arguments throws(MediaError) in
      .queue(.clear(ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .playlistExport, .queue, "Show the queue as the lines of a playlist.",
      details: """
        The reply has the lines of a part of the playlist. The first part has the start of the playlist, and the last \
        part its end.

        - `next` is the `offset` of the next part, or `none` after the last part.
        - If `version` differs between parts, the queue has changed.
        - Entries without a location, such as `fd:TOKEN`, are left out. `skipped` is their number. If there are no \
        other entries, the error is `empty-playlist`.
        - Only `cue` can represent parts of files.

        The daemon writes no playlists. `playhead save FILE` writes them.
        """,
      parameters: [
        ParameterSpec(
          .format, .word(QueueCommand.PlaylistFormat.allCases.map(\.rawValue)), .option, "m3u8|pls|xspf|cue",
          "the format; default: `m3u8`"),
        ParameterSpec(
          .base, .localPath, .option, "DIR",
          "the folder of the playlist; locations below it become relative"),
        ParameterSpec(
          .offset, .integer(0...Int.max), .option, "N", "the number of entries to skip; default: 0"),
        ParameterSpec(
          .limit, .integer(1...WireLimits.standard.listCount), .option, "N",
          "the maximum number of entries; default: \(WireLimits.standard.listCount)"), player,
      ],
      right: .read, reply: [.countOfEntries, .version, .next.nullable, .skippedEntries.optional], rows: [.text],
      errors: [.invalidArgument, .emptyPlaylist, .noSuchPlayer],
      example: [
        "> playlist.export base=/music", "< | text=#EXTM3U", "< | text=#EXTINF:183.2,",
        "< | text=\"one more.flac\"",
        "< | text=two.flac", "< ok count=2 version=1 next=none",
      ]
    ) { arguments throws(MediaError) in
      .queue(
        .export(
          arguments.text(.format).flatMap { QueueCommand.PlaylistFormat(rawValue: $0) } ?? .m3u8,
          base: arguments.path(.base), offset: arguments.integer(.offset) ?? 0,
          limit: arguments.integer(.limit) ?? WireLimits.standard.listCount), player: arguments.player)
    },
    CommandSpec(
      .list, .queue, "List the queue.",
      details: """
        The reply has a row for each entry of a part of the queue.

        - `count` is the number of entries in the queue.
        - `next` is the `offset` of the next part, or `none` after the last part.
        - A part has \(WireLimits.standard.listCount) entries, or fewer if their paths are long.
        - If `version` differs between parts, the queue has changed.
        - `title`, `artist` and `album` are those of the tags, which are known once the entry is opened. Without a \
        title in the tags, `title` is that of the playlist (`EXTINF`). An unknown one is absent. The option `title` \
        of `load`, `append` and `insert` replaces the title.
        """,
      parameters: [
        ParameterSpec(
          .offset, .integer(0...Int.max), .option, "N", "the number of entries to skip; default: 0"),
        ParameterSpec(
          .limit, .integer(0...WireLimits.standard.listCount), .option, "N",
          "the maximum number of entries; default: \(WireLimits.standard.listCount)"), player,
      ],
      right: .read, reply: [.countOfEntries, .version, .next.nullable],
      rows: [
        .item, .index, .path.nullable, .statusOfEntry, .duration.nullable, .current, .title.optional, .artist.optional,
        .album.optional,
        .range.optional, .error.optional,
      ],
      errors: [.noSuchPlayer],
      example: [
        "> list", "< | item=1 index=0 path=\"/music/one more.flac\" status=readyToPlay duration=183.2 current=true",
        "< | item=2 index=1 path=/music/two.flac status=failed duration=indefinite current=false error=file-not-found",
        "< ok count=2 version=1 next=none",
      ]
    ) { arguments throws(MediaError) in
      .queue(
        .list(
          offset: arguments.integer(.offset) ?? 0, limit: arguments.integer(.limit) ?? WireLimits.standard.listCount),
        player: arguments.player)
    },
  ]

  /// The position of new entries.
  private static func insertionPosition(
    _ arguments: ParsedArguments, otherwise: QueueCommand.QueuePosition
  ) throws(MediaError) -> QueueCommand.QueuePosition {
    switch (arguments.entry(.after), arguments.entry(.before)) {
    case (nil, nil): return otherwise
    case (let id?, nil): return .after(item: id)
    case (nil, let id?): return .before(item: id)
    case (_?, _?): throw arguments.failure("after and before exclude each other")
    }
  }
}
