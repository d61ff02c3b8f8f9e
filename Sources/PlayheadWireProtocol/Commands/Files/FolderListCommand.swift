import PlayheadMediaCore

/// `folder.list`: lists the files and folders in a folder.
package enum FolderListCommand: WaitingCommand {
  package struct Parameters: ParameterList {
    /// Nil: the folders below which files may be read.
    package let path: Parameter<FilePath?>
    /// The last path of the previous part. Nil: the first part.
    package let after: Parameter<FilePath?>
    package let limit: Parameter<Int>

    package init(_ list: inout ParameterListBuilder) {
      let count = WireLimits.standard.listCount
      path = list.optional(.path, .localPath, "DIR", "the path of the folder")
      after = list.option(
        .after, .localPath, "PATH", "the `next` of the previous part: only what comes after it is listed")
      limit = list.option(
        .limit, .integer(1...count), "N", default: count, "the maximum number of rows; default: \(count)")
    }
  }

  /// A file or a folder.
  package struct Row: ReplyFields {
    package var isFolder: Bool
    package var path: FilePath

    package init(isFolder: Bool, path: FilePath) { (self.isFolder, self.path) = (isFolder, path) }

    package static let fields: [Field<Self>] = [
      Field(.entryKind) { $0.isFolder ? "folder" : "file" }, Field(.entryPath) { $0.path },
    ]
  }

  package struct Reply: ReplyRows {
    package var rows: [Row]
    /// The `after` of the next part. Nil after the last part.
    package var next: FilePath?

    package init(rows: [Row], next: FilePath?) { (self.rows, self.next) = (rows, next) }

    package static let fields: [Field<Self>] = [Field(nullable: .nextPath) { $0.next }]
  }

  package static let name: CommandName = "folder.list"

  package static let definition = CommandDefinition<Self>(
    .assets, "List the files and folders in a folder.",
    details: """
      Without a path, the rows are the folders of `--read-root`, or `/` if all files may be read.

      - The rows are sorted by the bytes of their names.
      - Names that begin with a dot are omitted, as are links to files that may not be read, and everything that is \
      neither a file nor a folder.
      - The files are not opened. Some may not be media files.
      - `next` is the `after` of the next part of the list, or `none` after the last part. A part of long \
      paths may have fewer rows than `limit`, although another part follows.
      """,
    errors: [.fileNotFound, .permissionDenied, .readFailed, .outsideRoots],
    example: [
      "> folder.list /music limit=2", "< | kind=folder path=/music/live", "< | kind=file path=/music/one.flac",
      "< ok next=/music/one.flac", "> folder.list /music after=/music/one.flac",
      "< | kind=file path=/music/two.flac", "< ok next=none",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    if let path = arguments.path, !path.isPathOfFolder {
      throw arguments.failure("the path of a folder may have at most \(FilePath.maximumByteCount - 256) bytes")
    }
    guard arguments.after == nil || arguments.nameAfter != nil else {
      throw arguments.failure("after must be the path of a file in the folder")
    }
  }
}

extension Arguments<FolderListCommand> {
  /// The name in the folder after which the list begins. Nil: it begins with the first name.
  package var nameAfter: [UInt8]? { self.path.flatMap { self.after?.name(in: $0) } }
}
