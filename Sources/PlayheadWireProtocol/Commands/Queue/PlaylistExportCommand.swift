import PlayheadMediaCore

/// `playlist.export`: shows the queue as the lines of a playlist.
package enum PlaylistExportCommand: ImmediateCommand {
  /// The playlist formats that can be written.
  package enum Format: String, Sendable, Hashable, CaseIterable {
    case m3u8
    case pls
    case xspf
    case cue
  }

  package struct Parameters: ParameterList {
    package let format: Parameter<Format>
    /// The folder of the future playlist file. Nil: the playlist contains absolute paths.
    package let base: Parameter<FilePath?>
    package let offset: Parameter<Int>
    package let limit: Parameter<Int>
    package let player: Parameter<String>

    package init(_ list: inout ParameterListBuilder) {
      let count = WireLimits.standard.listCount
      format = list.option(
        .format, .word, "m3u8|pls|xspf|cue", default: .m3u8, "the format; default: `m3u8`")
      base = list.option(
        "base", .localPath, "DIR", "the folder of the playlist; locations below it become relative")
      offset = list.option(
        .offset, .integer(0...Int.max), "N", default: 0, "the number of entries to skip; default: 0")
      limit = list.option(
        .limit, .integer(1...count), "N", default: count, "the maximum number of entries; default: \(count)")
      player = list.player()
    }
  }

  /// A line of the playlist.
  package struct Row: ReplyFields {
    package var text: String

    package init(text: String) { self.text = text }

    package static let fields: [Field<Self>] = [Field(.text) { $0.text }]
  }

  package struct Reply: ReplyRows {
    /// The number of all entries of the queue.
    package var count: Int
    package var version: UInt64
    /// The offset of the next part of the playlist. Nil after the last part.
    package var next: Int?
    /// The number of entries of this part that were left out.
    package var skipped: Int
    package var rows: [Row]

    package init(count: Int, version: UInt64, next: Int?, skipped: Int, rows: [Row]) {
      (self.count, self.version, self.next) = (count, version, next)
      (self.skipped, self.rows) = (skipped, rows)
    }

    package static let fields: [Field<Self>] = [
      Field(.countOfEntries) { $0.count }, Field(.version) { $0.version }, Field(nullable: .next) { $0.next },
      Field(optional: .skippedEntries) { $0.skipped > 0 ? $0.skipped : nil },
    ]
  }

  package static let name: CommandName = "playlist.export"

  package static let definition = CommandDefinition<Self>(
    .queue, "Show the queue as the lines of a playlist.",
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
    right: .read, errors: [.invalidArgument, .emptyPlaylist, .noSuchPlayer],
    example: [
      "> playlist.export base=/music", "< | text=#EXTM3U", "< | text=#EXTINF:183.2,",
      "< | text=\"one more.flac\"",
      "< | text=two.flac", "< ok count=2 version=1 next=none",
    ])
}
