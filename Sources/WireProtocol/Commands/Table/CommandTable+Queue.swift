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

  /// Commands about one queue entry.
  static let items: [CommandSpec] = [
    CommandSpec(
      .itemStatus, .items, "Show the details of an entry.",
      details: """
        - `loadedTimeRanges`: the ranges that are decoded and not heard yet; for an entry from a network also the \
        ranges in memory. The form is `START-END` in seconds, separated by commas, or `none`.
        - `seekableTimeRanges`: the ranges that seeks can reach, in the same form
        - `isPlaybackLikelyToKeepUp`, `isPlaybackBufferFull`, `isPlaybackBufferEmpty`: the state of the buffer, if the \
        entry is current
        - `can...`: the supported directions and rates; false before the entry is ready
        - `live`: whether the entry is a live HLS stream; `liveEdge` is its end
        - `date`: the date of the recording that is heard, if the stream has dates
        - `audioTimePitchAlgorithm`: the pitch algorithm in use
        - `ownAudioTimePitchAlgorithm`: the setting of `item.pitch`, or `none`
        - `gain`: the gain that `replay-gain` derives from the tags, in dB
        - `gainSource`: the origin of the gain: `track` and `album` are tags, `scan` is a measurement, and `fallback` \
        is the gain of entries without tags; `none` while `replay-gain` is off
        - `gainLimited`: whether the peak limits the gain
        - `streamTitle`, `streamUrl`: those of the last `stream-title` event, while a station is the current entry

        `gain`, `gainSource` and `gainLimited` are `none` until the tags are known.
        """,
      parameters: [ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"), player],
      right: .read,
      reply: [
        .item, .path.nullable, .statusOfEntry, .duration.nullable, .providesPreciseDuration, .current,
        .forwardPlaybackEndTime.nullable,
        .reversePlaybackEndTime.nullable, .preferredForwardBufferDuration, .canPlayFastForward, .canPlaySlowForward,
        .canPlayReverse, .canPlaySlowReverse, .canPlayFastReverse, .canStepForward, .canStepBackward,
        .seekableTimeRanges.nullable, .loadedTimeRanges.nullable, .isPlaybackLikelyToKeepUp, .isPlaybackBufferFull,
        .isPlaybackBufferEmpty, .live, .liveEdge.optional, .date.optional, .audioTimePitchAlgorithm,
        .ownAudioTimePitchAlgorithm.nullable, .gain.nullable, .gainSource.nullable,
        .gainLimited.nullable,
        .title.optional, .artist.optional, .album.optional, .range.optional, .streamTitle.optional, .streamUrl.optional,
        .error.optional,
        .message.optional,
      ],
      errors: [.noSuchItem, .noSuchPlayer],
      example: [
        "> item.status 2",
        "< ok item=2 path=/music/two.flac status=failed duration=indefinite providesPreciseDuration=false current=false"
          + " forwardPlaybackEndTime=none reversePlaybackEndTime=none preferredForwardBufferDuration=0"
          + " canPlayFastForward=false canPlaySlowForward=false canPlayReverse=false canPlaySlowReverse=false"
          + " canPlayFastReverse=false canStepForward=false canStepBackward=false seekableTimeRanges=none"
          + " loadedTimeRanges=none isPlaybackLikelyToKeepUp=false isPlaybackBufferFull=false isPlaybackBufferEmpty=true live=false"
          + " audioTimePitchAlgorithm=timeDomain ownAudioTimePitchAlgorithm=none gain=none gainSource=none gainLimited=none error=file-not-found message=\"no such file\"",
      ]
    ) { arguments throws(MediaError) in
      .item(.status(item: arguments.entry), player: arguments.player)
    },
    CommandSpec(
      .itemPitch, .items, "Set how the pitch of an entry follows the rate, or show it.",
      details: "Corresponds to `pitch`, for one entry. With `player`, the entry uses the setting of the player.",
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"),
        ParameterSpec(
          .algorithm, .word(PlaybackCommand.PitchAlgorithm.allCases.map(\.rawValue) + ["player"]), .optional,
          "timeDomain|spectral|varispeed|player", "the algorithm; default: `player`"), player,
      ],
      readsWithoutValue: true, reply: [.item, .audioTimePitchAlgorithm],
      errors: [.unsupportedRate, .noSuchItem, .noSuchPlayer],
      example: ["> item.pitch 2 varispeed", "< ok item=2 audioTimePitchAlgorithm=varispeed"]
    ) { arguments throws(MediaError) in
      .item(
        .pitch(
          item: arguments.entry, arguments.text(.algorithm).flatMap(pitchChange)),
        player: arguments.player)
    },
    CommandSpec(
      .itemCopy, .items, "Insert a copy of an entry into the queue.",
      details:
        "The copy has the same file and settings: end times, volume, pitch, tracks and buffer. Its state is that of"
        + " a new entry. By default, it is inserted after the original entry.",
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"),
        ParameterSpec(.after, item, .option, "ID", "after this entry"),
        ParameterSpec(.before, item, .option, "ID", "before this entry"), ifVersion, player,
      ],
      reply: [.items, .version],
      errors: [.invalidArgument, .invalidState, .noSuchItem, .versionMismatch, .queueTooLong, .noSuchPlayer],
      example: ["> item.copy 2", "< ok items=5 version=6"]
    ) { arguments throws(MediaError) in
      let id = arguments.entry
      let position = try insertionPosition(arguments, otherwise: .after(item: id))
      return .item(.copy(item: id, to: position, ifVersion: arguments.integer(.ifVersion)), player: arguments.player)
    },
    CommandSpec(
      .itemEndTime, .items, "Set where playback of an entry ends, or show it.",
      details: """
        Playback ends exactly at the end time, as at the end of the file: `played-to-end` is sent, and `end-action`, \
        `repeat` and the next entry apply. The duration does not change.

        - `forward` is the end of playback at positive rates.
        - `reverse` is the end of playback at negative rates.
        - `none` removes an end time.

        A seek can go past an end time. Playback from there ends at once.
        """,
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"),
        ParameterSpec(.forward, .timeOrNone, .option, "TIME", "the end of forward playback, or `none`"),
        ParameterSpec(.reverse, .timeOrNone, .option, "TIME", "the end of reverse playback, or `none`"), player,
      ],
      readsWithoutValue: true, reply: [.item, .forwardPlaybackEndTime.nullable, .reversePlaybackEndTime.nullable],
      errors: [.invalidTime, .noSuchItem, .noSuchPlayer],
      example: [
        "> item.end-time 2 forward=1:30", "< ok item=2 forwardPlaybackEndTime=90 reversePlaybackEndTime=none",
      ]
    ) { arguments throws(MediaError) in
      .item(
        .endTime(
          item: arguments.entry, forward: arguments.time(.forward),
          reverse: arguments.time(.reverse)),
        player: arguments.player)
    },
    CommandSpec(
      .itemBuffer, .items, "Set how far ahead an entry is decoded, or show it.",
      details: """
        The setting applies while the entry is current.

        - 0 fills the buffer. Its capacity is 4.5 s to 9 s, depending on the sample rate of the output.
        - 4.5 s or more counts as 0.
        - The effective minimum is half of the capacity plus 0.25 s, which is always more than 2 s.
        """,
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"),
        ParameterSpec(
          .duration, .duration(positive: false), .optional, "DURATION",
          "how far ahead the entry is decoded; 0: as far as memory allows"), player,
      ],
      readsWithoutValue: true, reply: [.item, .preferredForwardBufferDuration],
      errors: [.invalidTime, .noSuchItem, .noSuchPlayer],
      example: ["> item.buffer 2 3", "< ok item=2 preferredForwardBufferDuration=3"]
    ) { arguments throws(MediaError) in
      .item(
        .buffer(item: arguments.entry, arguments.time(.duration)),
        player: arguments.player)
    },
    CommandSpec(
      .itemLog, .items, "Show the network log of an entry.",
      details: """
        Corresponds to AVPlayerItem's access log and error log. For a station, the reply also has its description. The \
        rows have two kinds, of which the newest 64 are retained:

        - `access`: a row for each time that the entry was opened for playback. It has the URL (without user name and \
        password), the address of the server, and the type (`file`, `vod` for HLS, or `live`). It also has the time \
        until the first byte, the numbers of requests, bytes, new connections and stalls, the bit rates, and the \
        duration of the stalls.
        - `error`: a row for each error. It has the HTTP status or curl's code (0 for other errors), and whether the \
        request was repeated.
        """,
      parameters: [ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"), player],
      right: .read,
      reply: [
        .item, .count, .stationName.optional, .stationGenre.optional, .stationDescription.optional,
        .stationUrl.optional, .stationBitrate.optional,
      ],
      rows: [
        .kind, .uri, .address, .resourceType.optional, .startup.optional, .requests.optional,
        .bytesTransferred.optional,
        .observedBitrate.optional,
        .indicatedBitrate.optional,
        .reconnects.optional, .addressChanges.optional, .switches.optional, .stalls.optional, .stallDuration.optional,
        .statusCode.optional, .retried.optional,
        .code.optional,
        .name.optional, .message.optional,
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
      .item(.log(item: arguments.entry), player: arguments.player)
    },
    CommandSpec(
      .itemVolume, .items, "Set the volume of an entry over its time, or list it.",
      details: """
        The volume of an entry consists of points and ramps. It is multiplied by the volume of the player, and is 1 \
        before the first point or ramp.

        - VOLUME adds a point: the volume applies from `at`.
        - VOLUME with `to` and `over` adds a ramp from VOLUME to `to`. After the ramp, the volume stays at `to`.
        - A new point or ramp replaces an existing one with the same start. Ramps must not overlap.
        - `clear` first removes all existing points and ramps.

        The reply has a row for each point and ramp.
        """,
      parameters: [
        ParameterSpec(.id, item, .optional, "ID", "the entry; default: the current one"),
        ParameterSpec(.volume, .number(0...1, exceptZero: false), .optional, "VOLUME", "the volume at that time"),
        ParameterSpec(
          .at, .time, .option, "TIME",
          "the time of the point, or the start of the ramp; default: the start of the entry"),
        ParameterSpec(.to, .number(0...1, exceptZero: false), .option, "VOLUME", "the final volume of a ramp"),
        ParameterSpec(.over, .duration(positive: true), .option, "TIME", "the duration of a ramp"),
        ParameterSpec(.clear, .flag, .option, "clear", "first remove all existing points and ramps"), player,
      ],
      readsWithoutValue: true, reply: [.item, .count], rows: [.at, .volume, .to.optional, .over.optional],
      errors: [.invalidTime, .invalidArgument, .noSuchItem, .noSuchPlayer],
      example: [
        "> item.volume 2 0.5 at=4 to=0.2 over=5", "< | at=4 volume=0.5 to=0.2 over=5", "< ok item=2 count=1",
      ]
    ) { arguments throws(MediaError) in
      .item(
        .volume(
          item: arguments.entry,
          ItemCommand.MixChange(clears: arguments.flag(.clear), step: try mixStep(arguments))),
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

  private static func pitchChange(_ word: String) -> ItemCommand.PitchChange? {
    PlaybackCommand.PitchAlgorithm(rawValue: word).map { .algorithm($0) } ?? (word == "player" ? .player : nil)
  }

  private static func mixStep(_ arguments: ParsedArguments) throws(MediaError) -> ItemCommand.MixStep? {
    let (target, duration) = (arguments.number(.to), arguments.time(.over))
    guard let volume = arguments.number(.volume) else {
      guard target == nil, duration == nil, arguments.time(.at) == nil else {
        throw arguments.failure("at, to and over need a volume")
      }
      return nil
    }
    guard (target == nil) == (duration == nil) else { throw arguments.failure("a ramp needs both to and over") }
    return ItemCommand.MixStep(
      volume: volume, time: arguments.time(.at) ?? .zero,
      ramp: target.flatMap { target in duration.map { .init(volume: target, duration: $0) } })
  }
}
