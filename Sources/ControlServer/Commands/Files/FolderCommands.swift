import FileAccess
import MediaCore
import RealtimeAudio
import WireProtocol

extension Connection {
  /// Lists files and folders on another thread, because a file system may block. Then replies.
  func start(_ query: FolderQuery, _ request: AnyWaitingRequest) {
    let byteLimit = server.limits.outputByteCount / 2
    let limit = min(query.limit, server.limits.listCount)
    NamedThread.detached(name: "list-folder") { [loop = server.loop] in
      let result = Result { () throws(MediaError) in
        guard let folder = query.path else { return Self.roots() }
        return try Self.listing(of: folder, after: query.after, limit: limit, byteLimit: byteLimit)
      }
      loop.execute {
        switch result {
        case .success(let reply): request.finish(reply)
        case .failure(let error): request.fail(error)
        }
      }
    }
  }

  /// The folders below which files may be read.
  private static func roots() -> Reply {
    let folders = ReadableFiles.roots.folders ?? [[UInt8(ascii: "/")]]
    return .ok(
      ["next": FieldValue.none],
      rows: folders.compactMap(FilePath.init(bytes:)).map { ["kind": "folder", "path": .path($0)] })
  }

  /// A part of a folder: at most `limit` rows, and at most about `byteLimit` bytes, but at least one row.
  private static func listing(
    of folder: FilePath, after name: [UInt8]?, limit: Int, byteLimit: Int
  ) throws(MediaError) -> Reply {
    let listing = try FolderListing(of: folder.bytes, after: name, limit: limit, in: ReadableFiles.roots)
    var rows: [Fields] = []
    var next = listing.next
    var byteCount = 0
    for (index, entry) in listing.entries.enumerated() {
      byteCount += (folder.bytes.count + entry.name.count) * QueueListing.bytesPerTextByte + QueueListing.bytesPerRow
      if byteCount > byteLimit, index > 0 {
        next = listing.entries[index - 1].name
        break
      }
      rows.append(["kind": entry.isFolder ? "folder" : "file", "path": .path(folder.appending(entry.name))])
    }
    return .ok(["next": next.map { .path(folder.appending($0)) } ?? FieldValue.none], rows: rows)
  }
}
