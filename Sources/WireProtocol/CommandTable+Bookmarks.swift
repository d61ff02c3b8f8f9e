import MediaCore

extension CommandTable {
  private static let bookmark = ParameterSpec(
    .bookmark, .integer(1...Int.max), .required, "BOOKMARK", "the bookmark's number")
  private static let bookmarkName = ParameterSpec(
    .name, .text(maximumByteCount: 255), .option, "NAME", "what it is called")

  /// Commands about bookmarks.
  static let bookmarks: [CommandSpec] = [
    CommandSpec(
      .bookmarkAdd, .state, "Puts a bookmark in the current entry.",
      details:
        "Where it is heard, or at a time. It is in the file or at the address, not in the entry: whenever that is the current entry again,"
        + " `bookmark.go` goes there. One of the same name in the same file is moved.",
      parameters: [
        ParameterSpec(.time, .time, .optional, "TIME", "where; unless said where the entry is heard"), bookmarkName,
        player,
      ],
      reply: ["bookmark", "item", "time", "pts", "[name]"],
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
      .bookmarkGo, .state, "Goes to a bookmark of the current entry.",
      details:
        "The one with the number, or with the name; without either where the entry was left. As `seek`: exactly there, and the same is answered.",
      parameters: [
        ParameterSpec(.bookmark, .integer(1...Int.max), .optional, "BOOKMARK", "the bookmark's number"), bookmarkName,
        player,
      ],
      waiting: .always,
      reply: [
        "finished", "item", "time", "pts", "requested", "before?", "after?", "exact", "clamped", "us", "[reason]",
      ],
      errors: [
        .noSuchBookmark, .noCurrentItem, .invalidArgument, .rangesNotSupported, .onlyInOrder, .noSuchPlayer,
      ] + stateErrors,
      example: [
        "> bookmark.go 4",
        "< ok finished=true item=2 time=3723 pts=3723/1 requested=3723 before=0 after=0 exact=true clamped=false us=2310",
      ]
    ) { arguments throws(MediaError) in
      let target: StateCommand.BookmarkTarget
      switch (arguments.integer(.bookmark), try name(arguments)) {
      case (nil, nil): target = .left
      case (let number?, nil): target = .number(number)
      case (nil, let name?): target = .name(name)
      case (_?, _?): throw arguments.failure("a number and a name exclude each other")
      }
      return .state(.goToBookmark(target, player: arguments.player))
    },
    CommandSpec(
      .bookmarkList, .state, "Lists bookmarks, a row for each.",
      details:
        "By their numbers. `automatic` are those that were left where an entry was left. `count` is how many there are, and `next` the"
        + " `offset` of the first that is not among the rows, or `none`. `saved` is when, in seconds since 1970.",
      parameters: [
        ParameterSpec(.item, item, .option, "ID", "those of this entry's file only"),
        ParameterSpec(
          .offset, .integer(0...Int.max), .option, "N", "bookmarks to leave out at the beginning; 0 unless said"),
        ParameterSpec(
          .limit, .integer(1...WireLimits.standard.listCount), .option, "N",
          "bookmarks at most; \(WireLimits.standard.listCount) unless said"), player,
      ],
      right: .read, reply: ["count", "next?"],
      rows: ["bookmark", "path", "[part]", "time", "automatic", "saved", "[name]"],
      errors: [.noSuchItem, .noSuchPlayer] + stateErrors,
      example: [
        "> bookmark.list", "< | bookmark=3 path=/books/moby.m4b time=3661.5 automatic=true saved=1795370400",
        "< | bookmark=4 path=/books/moby.m4b time=3723 automatic=false saved=1795370460 name=\"chapter of the whale\"",
        "< ok count=2 next=none",
      ]
    ) { arguments throws(MediaError) in
      .state(
        .bookmarks(
          item: arguments.integer(.item), offset: arguments.integer(.offset) ?? 0,
          limit: arguments.integer(.limit) ?? WireLimits.standard.listCount, player: arguments.player))
    },
    CommandSpec(
      .bookmarkRemove, .state, "Removes a bookmark.", parameters: [bookmark],
      errors: [.noSuchBookmark] + stateErrors, example: ["> bookmark.remove 4", "< ok"]
    ) { arguments throws(MediaError) in
      .state(.removeBookmark(try arguments.required(.bookmark, arguments.integer(.bookmark))))
    },
  ]

  /// The name of a bookmark.
  ///
  /// - Throws: `bad-arguments` for an empty name and for a name that contains NUL.
  private static func name(_ arguments: Arguments) throws(MediaError) -> String? {
    guard let name = arguments.text(.name) else { return nil }
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw arguments.failure("a name is a text without NUL, and not empty")
    }
    return name
  }
}
