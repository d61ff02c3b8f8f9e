import PlayheadMediaCore

/// `bookmark.add`: sets a bookmark in the current entry.
package enum BookmarkAddCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: the time heard.
    package let time: Parameter<MediaTime?>
    package let name: Parameter<String?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      time = list.optional("time", .time, "TIME", "the time of the bookmark; default: the time heard")
      name = list.bookmarkName()
      player = list.player()
    }
  }

  package struct Reply: ReplyFields {
    package var bookmark: UInt64
    package var item: UInt64
    package var time: MediaTime
    /// Nil for a bookmark without a name.
    package var name: String?

    package init(bookmark: UInt64, item: UInt64, time: MediaTime, name: String?) {
      (self.bookmark, self.item, self.time, self.name) = (bookmark, item, time, name)
    }

    package static let fields: [Field<Self>] = [
      Field(.bookmark) { $0.bookmark }, Field(.item) { $0.item }, Field(.time) { $0.time }, Field(.pts) { $0.time },
      Field(optional: .name) { $0.name },
    ]
  }

  package static let name: CommandName = "bookmark.add"

  package static let definition = CommandDefinition<Self>(
    .state, "Set a bookmark in the current entry.",
    details:
      "The default position is the time heard. The bookmark belongs to the file or URL, not to the entry:"
      + " `bookmark.go` works whenever that file is current again. A bookmark with the same name in the same file is"
      + " moved to the new position.",
    errors: [
      .noCurrentItem, .invalidState, .invalidTime, .rangesNotSupported, .tooManyBookmarks, .noSuchPlayer,
    ] + CommandTable.stateErrors,
    example: [
      "> bookmark.add 1:02:03 name=\"chapter of the whale\"",
      "< ok bookmark=4 item=2 time=3723 pts=3723/1 name=\"chapter of the whale\"",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    try arguments.checkBookmarkName(arguments.name)
  }
}

/// `bookmark.go`: seeks to a bookmark of the current entry.
package enum BookmarkGoCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    package let bookmark: Parameter<Int?>
    package let name: Parameter<String?>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      bookmark = list.optional("bookmark", .integer(1...Int.max), "BOOKMARK", "the number of the bookmark")
      name = list.bookmarkName()
      player = list.player()
    }
  }

  package typealias Reply = SeekReply

  package static let name: CommandName = "bookmark.go"

  package static let definition = CommandDefinition<Self>(
    .state, "Seek to a bookmark of the current entry.",
    details:
      "The bookmark is selected by its number or its name. The default is the automatic bookmark: the position at"
      + " which playback of the entry ended last. The seek is exact. The reply is that of `seek`.",
    errors: [
      .noSuchBookmark, .noCurrentItem, .invalidArgument, .rangesNotSupported, .onlyInOrder, .noSuchPlayer,
    ] + CommandTable.stateErrors,
    example: [
      "> bookmark.go 4",
      "< ok finished=true item=2 time=3723 pts=3723/1 requested=3723 before=0 after=0 exact=true clamped=false us=2310 hostTime=5012.25",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    try arguments.checkBookmarkName(arguments.name)
    guard arguments.bookmark == nil || arguments.name == nil else {
      throw arguments.failure("a bookmark must be given by its number or its name, not both")
    }
  }
}

/// `bookmark.list`: lists bookmarks.
package enum BookmarkListCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: the bookmarks of all files.
    package let item: Parameter<EntryReference?>
    package let offset: Parameter<Int>
    package let limit: Parameter<Int>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      item = list.option("item", .entry, "ID", "only the bookmarks of this entry's file")
      offset = list.option(
        "offset", .integer(0...Int.max), "N", default: 0, "the number of bookmarks to skip; default: 0")
      limit = list.option(
        "limit", .integer(1...WireLimits.standard.listCount), "N", default: WireLimits.standard.listCount,
        "the maximum number of rows; default: \(WireLimits.standard.listCount)")
      player = list.player()
    }
  }

  package struct Row: ReplyFields {
    package var bookmark: UInt64
    /// Nil if it is unknown.
    package var path: FilePath?
    /// The part of the file. Nil: the whole file.
    package var part: TimeRange?
    package var time: MediaTime
    package var automatic: Bool
    /// In seconds since 1970.
    package var saved: Int64
    /// Nil for a bookmark without a name.
    package var name: String?

    package init(
      bookmark: UInt64, path: FilePath?, part: TimeRange?, time: MediaTime, automatic: Bool, saved: Int64, name: String?
    ) {
      (self.bookmark, self.path, self.part, self.time) = (bookmark, path, part, time)
      (self.automatic, self.saved, self.name) = (automatic, saved, name)
    }

    package static let fields: [Field<Self>] = [
      Field(.bookmark) { $0.bookmark }, Field(nullable: .path) { $0.path }, Field(optional: .part) { $0.part },
      Field(.time) { $0.time }, Field(.automatic) { $0.automatic }, Field(.saved) { $0.saved },
      Field(optional: .name) { $0.name },
    ]
  }

  package struct Reply: ReplyRows {
    /// The number of all bookmarks.
    package var count: Int
    /// The offset of the next part of the list. Nil after the last part.
    package var next: Int?
    package var rows: [Row]

    package init(count: Int, next: Int?, rows: [Row]) { (self.count, self.next, self.rows) = (count, next, rows) }

    package static let fields: [Field<Self>] = [Field(.count) { $0.count }, Field(nullable: .next) { $0.next }]
  }

  package static let name: CommandName = "bookmark.list"

  package static let definition = CommandDefinition<Self>(
    .state, "List bookmarks.",
    details: """
      The rows are sorted by number.

      - `automatic` is true for a bookmark that was set when playback left an item.
      - `saved` is the time at which the bookmark was saved, in seconds since 1970.
      - `count` is the number of all bookmarks.
      - `next` is the `offset` of the next part of the list, or `none` after the last part.
      """,
    right: .read, errors: [.noSuchItem, .noSuchPlayer] + CommandTable.stateErrors,
    example: [
      "> bookmark.list", "< | bookmark=3 path=/books/moby.m4b time=3661.5 automatic=true saved=1795370400",
      "< | bookmark=4 path=/books/moby.m4b time=3723 automatic=false saved=1795370460 name=\"chapter of the whale\"",
      "< ok count=2 next=none",
    ])
}

/// `bookmark.remove`: removes a bookmark.
package enum BookmarkRemoveCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let bookmark: Parameter<Int>

    package init(_ list: inout ParameterListBuilder) {
      bookmark = list.required("bookmark", .integer(1...Int.max), "BOOKMARK", "the number of the bookmark")
    }
  }

  package static let name: CommandName = "bookmark.remove"

  package static let definition = CommandDefinition<Self>(
    .state, "Remove a bookmark.", errors: [.noSuchBookmark] + CommandTable.stateErrors,
    example: ["> bookmark.remove 4", "< ok"])
}

extension ParameterListBuilder {
  fileprivate mutating func bookmarkName() -> Parameter<String?> {
    option("name", .text(maximumByteCount: 255), "NAME", "the name of the bookmark")
  }
}

extension Arguments {
  /// - Throws: `bad-arguments` for an empty name and for a name that contains NUL.
  fileprivate func checkBookmarkName(_ name: String?) throws(MediaError) {
    guard let name else { return }
    guard !name.isEmpty, !name.utf8.contains(0) else { throw failure("a name must not be empty or contain NUL") }
  }
}
