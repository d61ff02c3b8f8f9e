import LibAV
import MediaCore
import Playlists

extension Playlist {
  /// Reads the list in a file, and those that it names: see `init(expanding:assumed:reader:)`. Only regular files are read,
  /// and at most 64 MiB. Blocks.
  ///
  /// Errors: `fileNotFound`, `notAFile`, `permissionDenied`, `readFailed`; those of lists.
  public init(contentsOf path: [UInt8], assumed: PlaylistFormat? = nil) throws(MediaError) {
    let interrupt = Interrupt()
    try self.init(expanding: .file(path), assumed: assumed) { (place, byteLimit) throws(MediaError) -> PlaylistData in
      guard case .file(let path) = place else {
        throw MediaError(.unsupportedPlace, "only lists in files are read, not \(place.displayText)")
      }
      return try PlaylistData(path: path, byteLimit: byteLimit, interrupt: interrupt)
    }
  }
}

extension PlaylistData {
  /// The bytes of a regular file. Errors: `playlistLimitExceeded` when there are more than `byteLimit`.
  fileprivate init(path: [UInt8], byteLimit: Int, interrupt: Interrupt) throws(MediaError) {
    let name = String(decoding: path, as: UTF8.self)
    do throws(AVFailure) {
      let source = try FileSource(path: path, interrupt: interrupt)
      let wanted = Int(clamping: source.byteCount ?? 0)
      if wanted <= byteLimit {
        var bytes = [UInt8](repeating: 0, count: wanted)
        let result = bytes.withUnsafeMutableBytes { buffer in
          Result { () throws(AVFailure) in try source.read(into: buffer, at: 0) }
        }
        bytes.removeLast(wanted - (try result.get()))
        let identity = try source.identity()
        self.init(bytes: bytes, identity: identity.map { [$0.device, $0.inode] })
        return
      }
    } catch {
      throw MediaError(error, path: name)
    }
    throw MediaError(.playlistLimitExceeded, "a list has at most \(byteLimit) bytes: \(name)")
  }
}
