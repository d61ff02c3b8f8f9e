import MediaCore

extension CommandTable {
  /// The command that lists folders.
  static let folders: [CommandSpec] = [
    CommandSpec(
      .folderList, .assets, "List the files and folders in a folder.",
      details: """
        Without a path, the rows are the folders of `--read-root`, or `/` if all files may be read.

        - The rows are sorted by the bytes of their names.
        - Names that begin with a dot are omitted, as are links to files that may not be read, and everything that is \
        neither a file nor a folder.
        - The files are not opened. Some may not be media files.
        - `next` is the `after` of the next part of the list, or `none` after the last part. A part of long \
        paths may have fewer rows than `limit`, although another part follows.
        """,
      parameters: [
        ParameterSpec(.path, .localPath, .optional, "DIR", "the path of the folder"),
        ParameterSpec(
          .after, .localPath, .option, "PATH", "the `next` of the previous part: only what comes after it is listed"),
        ParameterSpec(
          .limit, .integer(1...WireLimits.standard.listCount), .option, "N",
          "the maximum number of rows; default: \(WireLimits.standard.listCount)"),
      ],
      waiting: .always, reply: [.nextPath.nullable], rows: [.entryKind, .entryPath],
      errors: [.fileNotFound, .permissionDenied, .readFailed, .outsideRoots],
      example: [
        "> folder.list /music limit=2", "< | kind=folder path=/music/live", "< | kind=file path=/music/one.flac",
        "< ok next=/music/one.flac", "> folder.list /music after=/music/one.flac",
        "< | kind=file path=/music/two.flac", "< ok next=none",
      ]
    ) { arguments throws(MediaError) in
      let path = arguments.path(.path)
      if let path, !path.isPathOfFolder {
        throw arguments.failure("the path of a folder may have at most \(FilePath.maximumByteCount - 256) bytes")
      }
      var after: [UInt8]?
      if let previous = arguments.path(.after) {
        guard let path, let name = previous.name(in: path) else {
          throw arguments.failure("after must be the path of a file in the folder")
        }
        after = name
      }
      return .asset(
        .folder(FolderQuery(path, after: after, limit: arguments.integer(.limit) ?? WireLimits.standard.listCount)))
    }
  ]
}
