import MediaCore

extension CommandTable {
  private static let bookmark = ParameterSpec(
    .bookmark, .integer(1...Int.max), .required, "BOOKMARK", "the number of the bookmark")
  private static let bookmarkName = ParameterSpec(
    .name, .text(maximumByteCount: 255), .option, "NAME", "the name of the bookmark")

  /// Commands about bookmarks.
  static let bookmarks: [CommandSpec] = [
    CommandSpec(
      .bookmarkAdd, .state, "Set a bookmark in the current entry.",
      details:
        "The default position is the time heard. The bookmark belongs to the file or URL, not to the entry:"
        + " `bookmark.go` works whenever that file is current again. A bookmark with the same name in the same file is"
        + " moved to the new position.",
      parameters: [
        ParameterSpec(.time, .time, .optional, "TIME", "the time of the bookmark; default: the time heard"),
        bookmarkName,
        player,
      ],
      reply: [.bookmark, .item, .time, .pts, .name.optional],
      errors: [
        .noCurrentItem, .invalidState, .invalidTime, .rangesNotSupported, .tooManyBookmarks, .noSuchPlayer,
      ] + stateErrors,
      example: [
        "> bookmark.add 1:02:03 name=\"chapter of the whale\"",
        "< ok bookmark=4 item=2 time=3723 pts=3723/1 name=\"chapter of the whale\"",
      ]
    ) { arguments throws(MediaError) in
      .state(
        .addBookmark(at: arguments.time(.time), name: try name(arguments) ?? "", player: arguments.player))
    },
    CommandSpec(
      .bookmarkGo, .state, "Seek to a bookmark of the current entry.",
      details:
        "The bookmark is selected by its number or its name. The default is the automatic bookmark: the position at"
        + " which playback of the entry ended last. The seek is exact. The reply is that of `seek`.",
      parameters: [
        ParameterSpec(.bookmark, .integer(1...Int.max), .optional, "BOOKMARK", "the number of the bookmark"),
        bookmarkName,
        player,
      ],
      waiting: .always,
      reply: [
        .finished, .item, .time, .pts, .requested, .before.nullable, .after.nullable, .exact, .clamped, .us,
        .hostTime.nullable, .seekReason.optional,
      ],
      errors: [
        .noSuchBookmark, .noCurrentItem, .invalidArgument, .rangesNotSupported, .onlyInOrder, .noSuchPlayer,
      ] + stateErrors,
      example: [
        "> bookmark.go 4",
        "< ok finished=true item=2 time=3723 pts=3723/1 requested=3723 before=0 after=0 exact=true clamped=false us=2310 hostTime=5012.25",
      ]
    ) { arguments throws(MediaError) in
      let target: StateCommand.BookmarkTarget
      switch (arguments.integer(.bookmark), try name(arguments)) {
      case (nil, nil): target = .automatic
      case (let number?, nil): target = .number(number)
      case (nil, let name?): target = .name(name)
      case (_?, _?): throw arguments.failure("a bookmark must be given by its number or its name, not both")
      }
      return .state(.goToBookmark(target, player: arguments.player))
    },
    CommandSpec(
      .bookmarkList, .state, "List bookmarks.",
      details: """
        The rows are sorted by number.

        - `automatic` is true for a bookmark that was set when playback left an item.
        - `saved` is the time at which the bookmark was saved, in seconds since 1970.
        - `count` is the number of all bookmarks.
        - `next` is the `offset` of the next part of the list, or `none` after the last part.
        """,
      parameters: [
        ParameterSpec(.item, item, .option, "ID", "only the bookmarks of this entry's file"),
        ParameterSpec(
          .offset, .integer(0...Int.max), .option, "N", "the number of bookmarks to skip; default: 0"),
        ParameterSpec(
          .limit, .integer(1...WireLimits.standard.listCount), .option, "N",
          "the maximum number of rows; default: \(WireLimits.standard.listCount)"), player,
      ],
      right: .read, reply: [.count, .next.nullable],
      rows: [.bookmark, .path, .part.optional, .time, .automatic, .saved, .name.optional],
      errors: [.noSuchItem, .noSuchPlayer] + stateErrors,
      example: [
        "> bookmark.list", "< | bookmark=3 path=/books/moby.m4b time=3661.5 automatic=true saved=1795370400",
        "< | bookmark=4 path=/books/moby.m4b time=3723 automatic=false saved=1795370460 name=\"chapter of the whale\"",
        "< ok count=2 next=none",
      ]
    ) { arguments throws(MediaError) in
      .state(
        .bookmarks(
          item: arguments.entry(.item), offset: arguments.integer(.offset) ?? 0,
          limit: arguments.integer(.limit) ?? WireLimits.standard.listCount, player: arguments.player))
    },
    CommandSpec(
      .bookmarkRemove, .state, "Remove a bookmark.", parameters: [bookmark],
      errors: [.noSuchBookmark] + stateErrors, example: ["> bookmark.remove 4", "< ok"]
    ) { arguments throws(MediaError) in
      .state(.removeBookmark(try arguments.required(.bookmark, arguments.integer(.bookmark))))
    },
  ]

  /// The name of a bookmark.
  ///
  /// - Throws: `bad-arguments` for an empty name and for a name that contains NUL.
  private static func name(_ arguments: ParsedArguments) throws(MediaError) -> String? {
    guard let name = arguments.text(.name) else { return nil }
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw arguments.failure("a name must not be empty or contain NUL")
    }
    return name
  }
}
