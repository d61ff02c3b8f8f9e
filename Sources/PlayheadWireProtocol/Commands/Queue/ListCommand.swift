import PlayheadMediaCore

/// `list`: lists the queue.
package enum ListCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    package let offset: Parameter<Int>
    package let limit: Parameter<Int>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      let count = WireLimits.standard.listCount
      offset = list.option(
        .offset, .integer(0...Int.max), "N", default: 0, "the number of entries to skip; default: 0")
      limit = list.option(
        .limit, .integer(0...count), "N", default: count, "the maximum number of entries; default: \(count)")
      player = list.player()
    }
  }

  package struct Row: ReplyFields {
    package var item: UInt64
    /// 0 is the current entry.
    package var index: Int
    /// Nil if it is unknown.
    package var path: FilePath?
    /// `unknown`, `readyToPlay` or `failed`.
    package var status: String
    package var duration: MediaTime
    /// Nil if it is unknown, as are the artist and the album.
    package var title: String?
    package var artist: String?
    package var album: String?
    /// The part of the file. Nil: the whole file.
    package var range: TimeRange?
    /// The error of a failed entry. Nil for another status.
    package var error: MediaError?

    package init(
      item: UInt64, index: Int, path: FilePath?, status: String, duration: MediaTime, title: String?,
      artist: String?, album: String?, range: TimeRange?, error: MediaError?
    ) {
      (self.item, self.index, self.path, self.status, self.duration) = (item, index, path, status, duration)
      (self.title, self.artist, self.album, self.range, self.error) = (title, artist, album, range, error)
    }

    package static let fields: [Field<Self>] = [
      Field(.item) { $0.item }, Field(.index) { $0.index }, Field(nullable: .path) { $0.path },
      Field(.statusOfEntry) { $0.status }, Field(nullable: .duration) { $0.duration },
      Field(.current) { $0.index == 0 }, Field(optional: .title) { $0.title }, Field(optional: .artist) { $0.artist },
      Field(optional: .album) { $0.album }, Field(optional: .range) { $0.range },
      Field(optional: .error) { $0.error?.code.name },
    ]
  }

  package struct Reply: ReplyRows {
    /// The number of all entries of the queue.
    package var count: Int
    package var version: UInt64
    /// The offset of the next part of the list. Nil after the last part.
    package var next: Int?
    package var rows: [Row]

    package init(count: Int, version: UInt64, next: Int?, rows: [Row]) {
      (self.count, self.version, self.next, self.rows) = (count, version, next, rows)
    }

    package static let fields: [Field<Self>] = [
      Field(.countOfEntries) { $0.count }, Field(.version) { $0.version }, Field(nullable: .next) { $0.next },
    ]
  }

  package static let name: CommandName = "list"

  package static let definition = CommandDefinition<Self>(
    .queue, "List the queue.",
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
    right: .read, errors: [.noSuchPlayer],
    example: [
      "> list", "< | item=1 index=0 path=\"/music/one more.flac\" status=readyToPlay duration=183.2 current=true",
      "< | item=2 index=1 path=/music/two.flac status=failed duration=indefinite current=false error=file-not-found",
      "< ok count=2 version=1 next=none",
    ])
}
