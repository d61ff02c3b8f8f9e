import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWireProtocol

extension FolderListCommand: WaitingHandler {
  /// Lists on another thread, because a file system may block.
  static func start(
    _ arguments: Arguments<Self>, _ context: RequestContext, _ request: WaitingRequest<Self>
  ) throws(MediaError) {
    let (loop, limits) = (context.server.loop, context.server.limits)
    NamedThread.detached(name: "list-folder") {
      let result = Result { () throws(MediaError) in
        guard let folder = arguments.path else { return EncodedReply<Self>(roots()) }
        return EncodedReply<Self>(
          try listing(
            of: folder, after: arguments.nameAfter, limit: min(arguments.limit, limits.listCount),
            byteLimit: limits.outputByteCount / 2))
      }
      loop.execute { request.finish(with: result) }
    }
  }

  /// The folders below which files may be read.
  private static func roots() -> Reply {
    let folders = ReadableFiles.roots.folders ?? [[UInt8(ascii: "/")]]
    return Reply(
      rows: folders.compactMap(FilePath.init(bytes:)).map { Row(isFolder: true, path: $0) }, next: nil)
  }

  /// A part of a folder: at most `limit` rows, and at most about `byteLimit` bytes, but at least one row.
  private static func listing(
    of folder: FilePath, after name: [UInt8]?, limit: Int, byteLimit: Int
  ) throws(MediaError) -> Reply {
    let listing = try FolderListing(of: folder.bytes, after: name, limit: limit, in: ReadableFiles.roots)
    var rows: [Row] = []
    var next = listing.next
    var byteCount = 0
    for (index, entry) in listing.entries.enumerated() {
      byteCount += (folder.bytes.count + entry.name.count) * QueueListing.bytesPerTextByte + QueueListing.bytesPerRow
      if byteCount > byteLimit, index > 0 {
        next = listing.entries[index - 1].name
        break
      }
      rows.append(Row(isFolder: entry.isFolder, path: folder.appending(entry.name)))
    }
    return Reply(rows: rows, next: next.map { folder.appending($0) })
  }
}
