import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio

/// Reads a playlist and the playlists that it names. Can be cancelled while it blocks, for example on a slow server.
///
/// Threading: used for one `Playlist` at a time, on a thread that may block. `cancel` is safe on any
/// thread and does not block.
package final class PlaylistReading: Sendable {
  /// The time limit for a playlist and all playlists that it names together, in ns: 60 s.
  package static let timeLimitNanoseconds: Int64 = 60_000_000_000

  let interrupt = Interrupt()
  private let options: HTTPOptions

  /// - Parameter options: the options of HTTP requests. Header fields are sent only to the servers that
  ///   `HTTPOptions.headerScope` allows.
  package init(options: HTTPOptions = HTTPOptions()) { self.options = options }

  /// Makes running and later reads throw `cancelled`.
  package func cancel() { interrupt.cancel() }

  /// Returns the bytes of a playlist.
  ///
  /// - Parameter origin: the origin for which header fields were given.
  /// - Throws: the errors of files or of `HTTPResource`; `playlistLimitExceeded` for more than `byteLimit` bytes;
  ///   `networkTimedOut` after the deadline.
  fileprivate func data(
    of location: PlaylistLocation, from origin: HTTPOrigin?, byteLimit: Int, until deadline: HostTime
  ) throws(MediaError) -> PlaylistData {
    switch location {
    case .file(let path): return try PlaylistData(path: path, byteLimit: byteLimit, interrupt: interrupt)
    case .url(let text):
      return PlaylistData(bytes: try fetch(HTTPURL(text), from: origin, byteLimit: byteLimit, until: deadline))
    }
  }

  private func fetch(
    _ url: HTTPURL, from origin: HTTPOrigin?, byteLimit: Int, until deadline: HostTime
  ) throws(MediaError) -> [UInt8] {
    try checkTime(deadline, url)
    let resource = HTTPResource(url: url, options: options.inherited(from: origin, by: url))
    let source: FileSource
    do throws(AVFailure) {
      try FileSource.open(resource, interrupt: interrupt)
      source = try FileSource(opened: resource, hint: "", interrupt: interrupt)
    } catch {
      throw MediaError(error, path: url.redacted)
    }
    let tooLong = MediaError(.playlistLimitExceeded, "a playlist must have at most \(byteLimit) bytes: \(url)")
    if let byteCount = resource.byteCount, byteCount > byteLimit { throw tooLong }
    // The source connects the interrupt to the resource, so it must live until the read ends.
    defer { withExtendedLifetime(source) {} }
    return try resource.readAll(in: 0..<(.max)) { byteCount throws(MediaError) in
      if byteCount > byteLimit { throw tooLong }
      try checkTime(deadline, url)
    }
  }

  private func checkTime(_ deadline: HostTime, _ url: HTTPURL) throws(MediaError) {
    if HostTime.now < deadline { return }
    throw MediaError(
      .networkTimedOut,
      "loading the playlists exceeded \(Self.timeLimitNanoseconds / 1_000_000_000) s in total: \(url)",
      operation: "list")
  }
}

extension PlaylistLocation {
  /// The origin of a URL; nil for a file, and for text that is no URL.
  package var origin: HTTPOrigin? {
    guard case .url(let text) = self else { return nil }
    return (try? HTTPURL(text))?.origin
  }
}

extension Playlist {
  /// Reads the playlist at a location and the playlists that it names: see `init(expanding:assumed:reader:)`. Blocks.
  ///
  /// - Only regular files are read.
  /// - Playlists from servers cannot name local files: such entries are left out with `notAllowed`.
  /// - The limits of all playlists together are 64 MiB and 60 s.
  ///
  /// - Throws: `fileNotFound`, `notAFile`, `permissionDenied`, `readFailed`; the errors of requests; the errors
  ///   of playlists; `cancelled`.
  public init(at location: PlaylistLocation, assumed: PlaylistFormat? = nil) throws(MediaError) {
    try self.init(at: location, assumed: assumed, reading: PlaylistReading())
  }

  /// Reads a playlist with options of its requests, and within limits.
  package init(at location: PlaylistLocation, assumed: PlaylistFormat? = nil, reading: PlaylistReading)
    throws(MediaError)
  {
    var usage = PlaylistUsage()
    try self.init(at: location, assumed: assumed, usage: &usage, reading: reading)
  }

  /// Reads one of several playlists that share their limits in `usage`.
  package init(
    at location: PlaylistLocation, assumed: PlaylistFormat? = nil, usage: inout PlaylistUsage, reading: PlaylistReading
  ) throws(MediaError) {
    let deadline = HostTime.now.advanced(byNanoseconds: PlaylistReading.timeLimitNanoseconds)
    let origin = location.origin
    try self.init(expanding: location, assumed: assumed, usage: &usage) {
      (location, byteLimit) throws(MediaError) -> PlaylistData in
      try reading.data(of: location, from: origin, byteLimit: byteLimit, until: deadline)
    }
  }

  /// Reads the playlist in a file.
  public init(contentsOf path: String, assumed: PlaylistFormat? = nil) throws(MediaError) {
    try self.init(at: .file(Array(path.utf8)), assumed: assumed)
  }
}

extension PlaylistData {
  /// Reads the bytes of a regular file. Throws `playlistLimitExceeded` for more than `byteLimit` bytes.
  fileprivate init(path: [UInt8], byteLimit: Int, interrupt: Interrupt) throws(MediaError) {
    let name = String(decoding: path, as: UTF8.self)
    do throws(AVFailure) {
      let source = try FileSource(path: path, interrupt: interrupt)
      let byteCount = Int(clamping: source.byteCount ?? 0)
      if byteCount <= byteLimit {
        var bytes = [UInt8](repeating: 0, count: byteCount)
        let result = bytes.withUnsafeMutableBytes { buffer in
          Result { () throws(AVFailure) in try source.read(into: buffer, at: 0) }
        }
        bytes.removeLast(byteCount - (try result.get()))
        let identity = try source.identity()
        self.init(bytes: bytes, identity: identity.map { [$0.device, $0.inode] })
        return
      }
    } catch {
      throw MediaError(error, path: name)
    }
    throw MediaError(.playlistLimitExceeded, "a playlist must have at most \(byteLimit) bytes: \(name)")
  }
}
