import MediaCore

extension CommandTable {
  private static let paths = ParameterSpec(
    .paths, .path, .list, "PATH",
    "absolute paths, `file://` URLs (percent-encoded: for paths that are not UTF-8), `http://` and `https://` URLs, or `fd:TOKEN`"
      + " (*Open files*)")
  private static let ids = ParameterSpec(.ids, item, .list, "ID", "ids of entries")
  private static let wait = ParameterSpec(
    .wait, .word(["ready"]), .option, "ready",
    "answer when all are ready to play, or with the error of the first that fails")
  private static let precise = ParameterSpec(
    .precise, .flag, .option, "precise",
    "find out exactly how long they are, even if all of a file has to be read for that before it plays")
  /// Options of network requests.
  static let network = [
    ParameterSpec(
      .header, .texts(maximumByteCount: 16_384, separator: .newline), .option, "FIELDS",
      "header fields of requests, each `Name: value`"),
    ParameterSpec(
      .headerFor, .word(["origin", "any"]), .option, "origin|any",
      "the servers that get `header`: those of the address's origin (scheme, host, port; the default), or any"),
    ParameterSpec(
      .userAgent, .text(maximumByteCount: 1_024), .option, "TEXT",
      "what servers are told who asks; `Playhead/VERSION` unless said"),
    ParameterSpec(
      .network, .boolean, .option, "true|false", "`false`: nothing is asked of the network; what would be, fails"),
    ParameterSpec(
      .interface, .texts(maximumByteCount: 256, separator: .comma), .option, "NAMES",
      "network interfaces that may be used; default: all"),
    ParameterSpec(
      .timeout, .duration(positive: true), .option, "TIME",
      "how long a server may take to be reached (10 s unless said), to answer (15 s), and to send something more (15 s)"
    ),
    ParameterSpec(
      .peakBitRate, .integer(0...1_000_000_000_000), .option, "BITS",
      "bits a second that the variant of an HLS stream has at most; 0, as it is unless said: the best of all is heard"),
  ]
  /// The version that the queue must have for a request that changes it.
  static let ifVersion = ParameterSpec(
    .ifVersion, .integer(0...Int.max), .option, "VERSION", "do it only if the queue has this version")

  private static let resume = ParameterSpec(
    .resume, .boolean, .option, "true|false",
    "whether they begin where they were left (*Bookmarks*); unless said as the daemon's option `state.resume` says, which is `false`"
  )
  private static let list = ParameterSpec(
    .list, .word(["true", "false"]), .option, "true|false",
    "whether the paths are lists of media; unless said those are that end in .m3u, .m3u8 (addresses: not), .pls, .xspf or .cue"
  )
  private static let listErrors: [MediaError.Code] = [
    .notAPlaylist, .damagedPlaylist, .playlistLimitExceeded, .playlistCycle, .emptyPlaylist,
  ]
  private static let leftOut: [FieldSpec] = ["line", "code", "name", "message"]

  /// The command. If some of its paths are playlists, it waits until these are read.
  ///
  /// - Throws: `bad-arguments` for a playlist within an edit, where none can be read.
  private static func expanding(_ command: QueueCommand, _ arguments: Arguments) throws(MediaError) -> Command {
    let said = arguments.text(.list).map { $0 == "true" }
    func isList(_ path: ArraySlice<UInt8>) -> Bool {
      FilePath.isFileOrAddress(path) && said ?? FilePath.isNamedAsPlaylist(path)
    }
    guard arguments.listContains(isList) else { return .queue(command, player: arguments.player) }
    if arguments.isPartOfEdit {
      throw arguments.failure("a list is read by a command of its own; list=false takes its name for that of a file")
    }
    return .queue(
      .expanding(command, lists: arguments.chosen(isList), isForced: said == true), player: arguments.player)
  }

  /// The errors of an edit that is collected between `queue.begin` and `queue.commit`.
  private static let gatherErrors: [MediaError.Code] = [.invalidArgument, .editTooLarge]

  private static let loadErrors: [MediaError.Code] =
    [.noSuchPlayer, .queueTooLong, .unsupportedPlace, .invalidState, .noSuchDescriptor, .onlyInOrder] + gatherErrors
    + mediaErrors

  /// The reply fields of an edit: with new entries, and while the edit is only collected.
  private static let addedReply: [FieldSpec] = ["[items]", "[version]", "[pending]"]
  private static let listReply: [FieldSpec] = addedReply + ["[skipped]"]
  private static let editReply: [FieldSpec] = ["[version]", "[pending]"]

  /// Commands that edit or list one player's queue.
  static let queue: [CommandSpec] = [
    CommandSpec(
      .load, .queue, "Replaces the queue.",
      details: "The rate stays: what is paused stays paused. What was played before is forgotten. A file that cannot"
        + " be played is an entry whose status is"
        + " `failed`; with `wait=ready` it is this request's error. A duration is an estimate where the file does not"
        + " say it"
        + " exactly (`providesPreciseDuration=false`: MP3 without a header, ADTS, Matroska, ...), and is corrected"
        + " when the end"
        + " of the sound has been read; with `precise` it is counted first. Lists of media are read: see there.",
      parameters: [paths, wait, precise, resume, list, ifVersion, player] + network, waiting: .untilReady,
      reply: listReply,
      rows: leftOut,
      errors: [.versionMismatch] + loadErrors + listErrors,
      example: ["> load \"/music/one more.flac\" /music/two.flac", "< ok items=1,2 version=1"]
    ) { arguments throws(MediaError) in
      try expanding(
        .load(
          arguments.list(.paths), waitUntilReady: arguments.text(.wait) != nil, precise: arguments.flag(.precise),
          ifVersion: arguments.integer(.ifVersion), network: try arguments.networkOptions(),
          resumes: arguments.boolean(.resume)), arguments)
    },
    CommandSpec(
      .append, .queue, "Adds entries at the end of the queue.",
      details: "Answers at once with the new entries' ids; a file that is missing shows as an entry that fails. With"
        + " `wait=ready` it answers when all are ready, or with the first one's error.",
      parameters: [paths, wait, precise, resume, list, ifVersion, player] + network, waiting: .untilReady,
      reply: listReply,
      rows: leftOut,
      errors: [.versionMismatch] + loadErrors + listErrors,
      example: ["> append /music/three.flac", "< ok items=3 version=2"]
    ) { arguments throws(MediaError) in
      try expanding(
        .append(
          arguments.list(.paths), waitUntilReady: arguments.text(.wait) != nil,
          ifVersion: arguments.integer(.ifVersion), precise: arguments.flag(.precise),
          network: try arguments.networkOptions(), resumes: arguments.boolean(.resume)), arguments)
    },
    CommandSpec(
      .insert, .queue, "Adds entries behind the current one, or where it is said.",
      details: "Before the current entry, the first of them becomes current.",
      parameters: [
        paths, ParameterSpec(.after, item, .option, "ID", "behind this entry"),
        ParameterSpec(.before, item, .option, "ID", "before this entry"), wait, precise, resume, list,
        ifVersion, player,
      ] + network,
      waiting: .untilReady, reply: listReply, rows: leftOut,
      errors: [.noSuchItem, .versionMismatch] + loadErrors + listErrors,
      example: ["> insert /music/four.flac after=2", "< ok items=4 version=3"]
    ) { arguments throws(MediaError) in
      let place = try place(arguments, otherwise: .next)
      return try expanding(
        .insert(
          arguments.list(.paths), at: place, waitUntilReady: arguments.text(.wait) != nil,
          ifVersion: arguments.integer(.ifVersion), precise: arguments.flag(.precise),
          network: try arguments.networkOptions(), resumes: arguments.boolean(.resume)), arguments)
    },
    CommandSpec(
      .remove, .queue, "Takes entries out of the queue.",
      details: "All of them or, when one is not there or named twice, none. Removing the current one goes on to the"
        + " next.",
      parameters: [ids, ifVersion, player], reply: editReply,
      errors: [.noSuchItem, .versionMismatch, .noSuchPlayer] + gatherErrors,
      example: ["> remove 4", "< ok version=4"]
    ) { arguments throws(MediaError) in
      .queue(.remove(arguments.list(.ids), ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .move, .queue, "Moves an entry.",
      details: "`to` is the place that it has afterwards: 0 makes it current, and it begins anew; what was current is"
        + " the next"
        + " then. Moving the current one away makes the next current. In a shuffled queue this changes the shuffled"
        + " order only.",
      parameters: [
        ParameterSpec(.id, item, .required, "ID", "the entry"),
        ParameterSpec(.to, .integer(0...Int.max), .option, "INDEX", "to this place; 0 is the current entry's"),
        ParameterSpec(.after, item, .option, "ID", "behind this entry"),
        ParameterSpec(.before, item, .option, "ID", "before this entry"), ifVersion, player,
      ],
      reply: editReply, errors: [.noSuchItem, .versionMismatch, .noSuchPlayer] + gatherErrors,
      example: ["> move 4 to=1", "< ok version=4"]
    ) { arguments throws(MediaError) in
      let place: QueueCommand.QueuePlace
      switch (arguments.integer(.to), arguments.integer(.after), arguments.integer(.before)) {
      case (let index?, nil, nil): place = .index(index)
      case (nil, let id?, nil): place = .after(item: id)
      case (nil, nil, let id?): place = .before(item: id)
      default: throw arguments.failure("one of to, after and before is to be said")
      }
      return .queue(
        .move(
          item: try arguments.required(.id, arguments.integer(.id)), to: place, ifVersion: arguments.integer(.ifVersion)
        ),
        player: arguments.player)
    },
    CommandSpec(
      .replace, .queue, "Puts another file in an entry's place.",
      details: "The new entry has an id of its own. In the current entry's place it plays from its beginning.",
      parameters: [
        ParameterSpec(.id, item, .required, "ID", "the entry"),
        ParameterSpec(
          .path, .path, .required, "PATH", "an absolute path, a `file://`, `http://` or `https://` URL, or `fd:TOKEN`"),
        precise, ifVersion, player,
      ] + network,
      reply: addedReply, errors: [.noSuchItem, .versionMismatch, .noSuchPlayer, .unsupportedPlace] + gatherErrors,
      example: ["> replace 4 /music/five.flac", "< ok items=5 version=5"]
    ) { arguments throws(MediaError) in
      .queue(
        .replace(
          item: try arguments.required(.id, arguments.integer(.id)),
          try arguments.required(.path, arguments.path(.path)), ifVersion: arguments.integer(.ifVersion),
          precise: arguments.flag(.precise), network: try arguments.networkOptions()),
        player: arguments.player)
    },
    CommandSpec(
      .clear, .queue, "Empties the queue.",
      details: "What plays ends; the rate stays. What was played before is forgotten.",
      parameters: [ifVersion, player],
      reply: editReply, errors: [.versionMismatch, .noSuchPlayer] + gatherErrors,
      example: ["> clear", "< ok version=5"]
    ) { arguments throws(MediaError) in
      .queue(.clear(ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .playlistExport, .queue, "Gives the queue as the lines of a list of media.",
      details:
        "A row for each line, of a part of the queue if it is long: `next` is the `offset` of the first entry that is not among"
        + " them, or `none`; the first part has the list's beginning and the last one its end. If `version` is another with the next"
        + " part, the queue has changed in between. What has no name that leads to it, such as `fd:TOKEN`, is left out: `skipped`"
        + " says of how many entries of the part that is so, and a queue of nothing else is `empty-playlist`. The daemon writes no"
        + " files: `playhead save FILE` does. Parts of files can be said by `cue` only.",
      parameters: [
        ParameterSpec(
          .format, .word(QueueCommand.PlaylistForm.allCases.map(\.rawValue)), .option, "m3u8|pls|xspf|cue",
          "the kind of list; `m3u8` unless said"),
        ParameterSpec(
          .base, .localPath, .option, "DIR",
          "the folder in which the list will lie: what is in it is named relative to it"),
        ParameterSpec(
          .offset, .integer(0...Int.max), .option, "N", "entries to leave out at the beginning; 0 unless said"),
        ParameterSpec(
          .limit, .integer(1...WireLimits.standard.listCount), .option, "N",
          "entries at most; \(WireLimits.standard.listCount) unless said"), player,
      ],
      right: .read, reply: ["count", "version", "next?", "[skipped]"], rows: ["text"],
      errors: [.invalidArgument, .emptyPlaylist, .noSuchPlayer],
      example: [
        "> playlist.export base=/music", "< | text=#EXTM3U", "< | text=#EXTINF:183.2,",
        "< | text=\"one more.flac\"",
        "< | text=two.flac", "< ok count=2 version=1 next=none",
      ]
    ) { arguments throws(MediaError) in
      .queue(
        .export(
          arguments.text(.format).flatMap { QueueCommand.PlaylistForm(rawValue: $0) } ?? .m3u8,
          base: arguments.path(.base), offset: arguments.integer(.offset) ?? 0,
          limit: arguments.integer(.limit) ?? WireLimits.standard.listCount), player: arguments.player)
    },
    CommandSpec(
      .list, .queue, "Lists the queue, a row for each entry.",
      details:
        "A part of it, if it is long: `count` is the length of all of it, and `next` the `offset` of the first entry"
        + " that"
        + " is not among the rows, or `none`. A part is \(WireLimits.standard.listCount) entries, or fewer when their"
        + " paths are"
        + " long. If `version` is another with the next part, the queue has changed in between.",
      parameters: [
        ParameterSpec(
          .offset, .integer(0...Int.max), .option, "N", "entries to leave out at the beginning; 0 unless said"),
        ParameterSpec(
          .limit, .integer(0...WireLimits.standard.listCount), .option, "N",
          "entries at most; \(WireLimits.standard.listCount) unless said"), player,
      ],
      right: .read, reply: ["count", "version", "next?"],
      rows: ["item", "index", "path?", "status", "duration?", "current", "[title]", "[artist]", "[range]", "[error]"],
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

  /// Commands about one queue entry.
  static let items: [CommandSpec] = [
    CommandSpec(
      .itemStatus, .items, "Gives what is known of one entry.",
      details:
        "`loadedTimeRanges` is what of it is decoded and has not been heard, and of an entry from a network also what of it is in memory;"
        + " `seekableTimeRanges` is where can be sought: ranges"
        + " `START-END` in seconds with commas between them, or `none`. `live` is whether it is a live HLS stream: then `liveEdge`"
        + " is the end of what is there, and `date` when what is heard now was recorded, where the stream says that. The three flags of the buffer are those of the current"
        + " entry. Where the entry is not ready nothing `can` be done with it. `pitch` is what it is played with, `ownPitch` what"
        + " `item.pitch` set for it, or `none`. `gain` is what `replay-gain` makes of its tags, in dB, `gainSource` where that comes from"
        + " (`track`, `album`, `scan`, `fallback`; `none` while it is off), and `gainLimited` whether it is less than that for the sake of the"
        + " greatest sample; all three are `none` while its tags are not known. Of a station there are `streamTitle` and `streamUrl`, as its last"
        + " `stream-title` said them, while it is the current entry.",
      parameters: [ParameterSpec(.id, item, .required, "ID", "the entry"), player],
      right: .read,
      reply: [
        "item", "path?", "status", "duration?", "providesPreciseDuration", "current", "forwardPlaybackEndTime?",
        "reversePlaybackEndTime?", "preferredForwardBufferDuration", "canPlayFastForward", "canPlaySlowForward",
        "canPlayReverse", "canPlaySlowReverse", "canPlayFastReverse", "canStepForward", "canStepBackward",
        "seekableTimeRanges?", "loadedTimeRanges?", "isPlaybackLikelyToKeepUp", "isPlaybackBufferFull",
        "isPlaybackBufferEmpty", "live", "[liveEdge]", "[date]", "pitch", "ownPitch?", "gain?", "gainSource?",
        "gainLimited?",
        "[title]", "[artist]", "[range]", "[streamTitle]", "[streamUrl]", "[error]", "[message]",
      ],
      errors: [.noSuchItem, .noSuchPlayer],
      example: [
        "> item.status 2",
        "< ok item=2 path=/music/two.flac status=failed duration=indefinite providesPreciseDuration=false current=false"
          + " forwardPlaybackEndTime=none reversePlaybackEndTime=none preferredForwardBufferDuration=0"
          + " canPlayFastForward=false canPlaySlowForward=false canPlayReverse=false canPlaySlowReverse=false"
          + " canPlayFastReverse=false canStepForward=false canStepBackward=false seekableTimeRanges=none"
          + " loadedTimeRanges=none isPlaybackLikelyToKeepUp=false isPlaybackBufferFull=false isPlaybackBufferEmpty=true live=false"
          + " pitch=timeDomain ownPitch=none gain=none gainSource=none gainLimited=none error=file-not-found message=\"no such file\"",
      ]
    ) { arguments throws(MediaError) in
      .item(.status(item: try arguments.required(.id, arguments.integer(.id))), player: arguments.player)
    },
    CommandSpec(
      .itemPitch, .items, "Sets what becomes of an entry's pitch at other rates than 1, or gives it.",
      details: "As `pitch`, for this entry; with `player` it is played with its player's again.",
      parameters: [
        ParameterSpec(.id, item, .required, "ID", "the entry"),
        ParameterSpec(
          .algorithm, .word(PlaybackCommand.PitchAlgorithm.allCases.map(\.rawValue) + ["player"]), .optional,
          "timeDomain|spectral|varispeed|player", "`player` from the start"), player,
      ],
      asks: true, reply: ["item", "pitch"], errors: [.unsupportedRate, .noSuchItem, .noSuchPlayer],
      example: ["> item.pitch 2 varispeed", "< ok item=2 pitch=varispeed"]
    ) { arguments throws(MediaError) in
      .item(
        .pitch(
          item: try arguments.required(.id, arguments.integer(.id)), arguments.text(.algorithm).flatMap(pitchChange)),
        player: arguments.player)
    },
    CommandSpec(
      .itemCopy, .items, "Puts a copy of an entry into the queue.",
      details:
        "The same file with all that was set of the entry: where it ends, volume, pitch, tracks, buffer. Behind the entry unless said."
        + " What the entry has come to is not copied: a copy begins as a new entry does.",
      parameters: [
        ParameterSpec(.id, item, .required, "ID", "the entry"),
        ParameterSpec(.after, item, .option, "ID", "behind this entry"),
        ParameterSpec(.before, item, .option, "ID", "before this entry"), ifVersion, player,
      ],
      reply: ["items", "version"],
      errors: [.invalidArgument, .noSuchItem, .versionMismatch, .queueTooLong, .noSuchPlayer],
      example: ["> item.copy 2", "< ok items=5 version=6"]
    ) { arguments throws(MediaError) in
      let id = try arguments.required(.id, arguments.integer(.id))
      let place = try place(arguments, otherwise: .after(item: id))
      return .item(.copy(item: id, to: place, ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .itemEndTime, .items, "Sets where forward and backward playback of an entry end, or gives it.",
      details:
        "An end like the entry's own: it is exact, `played-to-end` is told, and `end-action`, `repeat` and what follows apply."
        + " The duration stays what it is, and seeks go behind it; playback that is behind it is at the end at once."
        + " `reverse` is for negative rates, `forward` for positive ones. `none` takes an end away.",
      parameters: [
        ParameterSpec(.id, item, .required, "ID", "the entry"),
        ParameterSpec(.forward, .timeOrNone, .option, "TIME", "where forward playback ends"),
        ParameterSpec(.reverse, .timeOrNone, .option, "TIME", "where backward playback ends"), player,
      ],
      asks: true, reply: ["item", "forwardPlaybackEndTime?", "reversePlaybackEndTime?"],
      errors: [.invalidTime, .noSuchItem, .noSuchPlayer],
      example: [
        "> item.end-time 2 forward=1:30", "< ok item=2 forwardPlaybackEndTime=90 reversePlaybackEndTime=none",
      ]
    ) { arguments throws(MediaError) in
      .item(
        .endTime(
          item: try arguments.required(.id, arguments.integer(.id)), forward: arguments.time(.forward),
          reverse: arguments.time(.reverse)),
        player: arguments.player)
    },
    CommandSpec(
      .itemBuffer, .items, "Sets how far ahead an entry is decoded while it is the current one, or gives it.",
      details:
        "0 is as far as there is memory: 4.5 s, or up to twice as much by the output's rate. More than 4.5 s counts as 0, and"
        + " it is never less than a quarter of a second more than half of that memory, which is more than 2 s.",
      parameters: [
        ParameterSpec(.id, item, .required, "ID", "the entry"),
        ParameterSpec(.duration, .duration(positive: false), .optional, "DURATION", "how far"), player,
      ],
      asks: true, reply: ["item", "preferredForwardBufferDuration"],
      errors: [.invalidTime, .noSuchItem, .noSuchPlayer],
      example: ["> item.buffer 2 3", "< ok item=2 preferredForwardBufferDuration=3"]
    ) { arguments throws(MediaError) in
      .item(
        .buffer(item: try arguments.required(.id, arguments.integer(.id)), arguments.time(.duration)),
        player: arguments.player)
    },
    CommandSpec(
      .itemLog, .items, "Gives what the network did for an entry, and what went wrong.",
      details:
        "As AVPlayerItem's access log and error log. A row of kind `access` for each time that the entry was"
        + " opened to be played: its address without user name and password, the server's address, `file`, `vod` (HLS) or `live`, how"
        + " long it took until the first byte came, requests, bytes, bits a second, connections that were made anew,"
        + " stalls and how long they lasted. A row of kind `error` for each thing that went wrong, with the HTTP status"
        + " or curl's code (0 for neither), whether it was tried again, and the error. The newest 64 of each kind. Of a station"
        + " what it says of itself.",
      parameters: [ParameterSpec(.id, item, .required, "ID", "the entry"), player],
      right: .read,
      reply: [
        "item", "count", "[stationName]", "[stationGenre]", "[stationDescription]", "[stationUrl]", "[stationBitrate]",
      ],
      rows: [
        "kind", "uri", "address", "[type]", "[startup]", "[requests]", "[bytes]", "[observedBitrate]",
        "[indicatedBitrate]",
        "[reconnects]", "[addressChanges]", "[switches]", "[stalls]", "[stallDuration]", "[status]", "[retried]",
        "[code]",
        "[name]", "[message]",
      ],
      errors: [.noSuchItem, .noSuchPlayer],
      example: [
        "> item.log 2",
        "< | kind=access uri=http://radio.example/live address=192.0.2.7 type=live startup=0.25 requests=1 bytes=81920"
          + " observedBitrate=131072 indicatedBitrate=128000 reconnects=0 addressChanges=0 switches=0 stalls=0"
          + " stallDuration=0",
        "< ok item=2 count=1 stationName=Example stationBitrate=128000",
      ]
    ) { arguments throws(MediaError) in
      .item(.log(item: try arguments.required(.id, arguments.integer(.id))), player: arguments.player)
    },
    CommandSpec(
      .itemVolume, .items, "Sets how loud an entry is at which of its times, and lists it.",
      details:
        "With a volume, adds a point, from which on it holds, or with `to` and `over` a ramp, whose end holds from"
        + " there on;"
        + " what begins at the same time is replaced. Before the first of them the volume is 1. It is multiplied with"
        + " the"
        + " player's. `clear` forgets what there was. A row for each point and ramp.",
      parameters: [
        ParameterSpec(.id, item, .required, "ID", "the entry"),
        ParameterSpec(.volume, .number(0...1, exceptZero: false), .optional, "VOLUME", "the volume at that time"),
        ParameterSpec(.at, .time, .option, "TIME", "the entry's time; its beginning unless said"),
        ParameterSpec(.to, .number(0...1, exceptZero: false), .option, "VOLUME", "where a ramp ends"),
        ParameterSpec(.over, .duration(positive: true), .option, "TIME", "how long a ramp lasts"),
        ParameterSpec(.clear, .flag, .option, "clear", "forget what there was, first"), player,
      ],
      asks: true, reply: ["item", "count"], rows: ["at", "volume", "[to]", "[over]"],
      errors: [.invalidTime, .invalidArgument, .noSuchItem, .noSuchPlayer],
      example: [
        "> item.volume 2 0.5 at=4 to=0.2 over=5", "< | at=4 volume=0.5 to=0.2 over=5", "< ok item=2 count=1",
      ]
    ) { arguments throws(MediaError) in
      .item(
        .volume(
          item: try arguments.required(.id, arguments.integer(.id)),
          ItemCommand.MixChange(clears: arguments.flag(.clear), step: try mixStep(arguments))),
        player: arguments.player)
    },
  ]

  /// The position of new entries.
  private static func place(
    _ arguments: Arguments, otherwise: QueueCommand.QueuePlace
  ) throws(MediaError) -> QueueCommand.QueuePlace {
    switch (arguments.integer(.after), arguments.integer(.before)) {
    case (nil, nil): return otherwise
    case (let id?, nil): return .after(item: id)
    case (nil, let id?): return .before(item: id)
    case (_?, _?): throw arguments.failure("after and before exclude each other")
    }
  }

  private static func pitchChange(_ word: String) -> ItemCommand.PitchChange? {
    PlaybackCommand.PitchAlgorithm(rawValue: word).map { .own($0) } ?? (word == "player" ? .player : nil)
  }

  private static func mixStep(_ arguments: Arguments) throws(MediaError) -> ItemCommand.MixStep? {
    let (target, duration) = (arguments.number(.to), arguments.time(.over))
    guard let volume = arguments.number(.volume) else {
      guard target == nil, duration == nil, arguments.time(.at) == nil else {
        throw arguments.failure("at, to and over stand with a volume")
      }
      return nil
    }
    guard (target == nil) == (duration == nil) else { throw arguments.failure("a ramp needs both to and over") }
    return ItemCommand.MixStep(
      volume: volume, time: arguments.time(.at) ?? .zero,
      ramp: target.flatMap { target in duration.map { .init(volume: target, duration: $0) } })
  }
}
