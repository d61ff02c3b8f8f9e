import LibAV
import MediaCore
import NetworkIO
import Playlists
import RealtimeAudio

/// One reading of lists, which can be given up while it blocks: a server may take its time.
///
/// Threading: used for one `Playlist` at a time, on a thread that may block; `cancel` from any, does not block.
public final class PlaylistReading: Sendable {
  /// How long all lists that one leads to may take together.
  package static let patienceNanoseconds: Int64 = 60_000_000_000

  let interrupt = Interrupt()
  private let options: HTTPOptions

  /// - Parameter options: how servers are asked. Header fields go to the servers that `HTTPOptions.headerScope` allows.
  public init(options: HTTPOptions = HTTPOptions()) { self.options = options }

  /// Makes what runs, and what comes, throw `cancelled`.
  public func cancel() { interrupt.cancel() }

  /// The bytes of a list. Errors: those of files, or of `HTTPResource`; `playlistLimitExceeded` when there are more than
  /// `byteLimit`; `networkTimedOut` behind the deadline.
  ///
  /// - Parameter origin: the origin that header fields were given for.
  fileprivate func data(
    of place: PlaylistPlace, from origin: HTTPOrigin?, byteLimit: Int, until deadline: HostTime
  ) throws(MediaError) -> PlaylistData {
    switch place {
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
    let tooLong = MediaError(.playlistLimitExceeded, "a list has at most \(byteLimit) bytes: \(url)")
    if let byteCount = resource.byteCount, byteCount > byteLimit { throw tooLong }
    // The source has the interrupt end reading.
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
      "lists may take \(Self.patienceNanoseconds / 1_000_000_000) s together, and are not read: \(url)",
      operation: "list")
  }
}

extension PlaylistPlace {
  /// The origin of an address; nil for a file, and for a text that is no address.
  public var origin: HTTPOrigin? {
    guard case .url(let text) = self else { return nil }
    return (try? HTTPURL(text))?.origin
  }
}

extension Playlist {
  /// Reads the list at a place, and those that it names: see `init(expanding:assumed:reader:)`. Of files only regular ones are read.
  /// Lists of servers name no files of this machine: such entries are left out, with `notAllowed`. At most 64 MiB, and for about a
  /// minute. Blocks.
  ///
  /// Errors: `fileNotFound`, `notAFile`, `permissionDenied`, `readFailed`; those of `HTTPResource`; those of lists; `cancelled`.
  public init(
    at place: PlaylistPlace, assumed: PlaylistFormat? = nil, reading: PlaylistReading = PlaylistReading()
  ) throws(MediaError) {
    var usage = PlaylistUsage()
    try self.init(at: place, assumed: assumed, usage: &usage, reading: reading)
  }

  /// The same for one of several lists that are read for one purpose: what they have counts together.
  public init(
    at place: PlaylistPlace, assumed: PlaylistFormat? = nil, usage: inout PlaylistUsage, reading: PlaylistReading
  ) throws(MediaError) {
    let deadline = HostTime.now.advanced(byNanoseconds: PlaylistReading.patienceNanoseconds)
    let origin = place.origin
    try self.init(expanding: place, assumed: assumed, usage: &usage) {
      (place, byteLimit) throws(MediaError) -> PlaylistData in
      try reading.data(of: place, from: origin, byteLimit: byteLimit, until: deadline)
    }
  }

  /// The same for the list in a file.
  public init(contentsOf path: [UInt8], assumed: PlaylistFormat? = nil) throws(MediaError) {
    try self.init(at: .file(path), assumed: assumed)
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
