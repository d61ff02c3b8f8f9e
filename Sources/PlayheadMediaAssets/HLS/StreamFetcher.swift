// Provides the parts of an HLS stream: from an HTTP server, or from local files next to a local playlist.
import Glibc
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio

/// Opens the parts of one stream. Threading: any thread. Blocking calls return when their interrupt is cancelled.
struct StreamFetcher: Sendable {
  let options: HTTPOptions
  /// The origin to which custom header fields may be sent; nil for a playlist in a local file.
  var origin: HTTPOrigin?
  let log: NetworkLog
  /// The ID of the entry in the access log; nil if transfers are not logged.
  var session: NetworkLog.Session?
  let clock: any NetworkClock
  /// The process in which segments are parsed.
  var isolation = Asset.Isolation.none
  /// Whether a player plays the audio. If so, the isolation `worker` decodes in this process.
  var isPlayback = false

  /// Time limit for loading an entire playlist or key.
  static let loadTimeLimitNanoseconds: Int64 = 60_000_000_000

  /// Returns a source of a location's bytes, or of a range of them. Offsets count from the location's first byte. Sends
  /// no request.
  func source(_ location: PlaylistLocation, bytes range: HLSByteRange? = nil) throws(MediaError) -> any ByteSource {
    switch location {
    case .url(let text):
      let url = try HTTPURL(text)
      return HTTPResource(
        partOfSession: url, bytes: range.map { $0.start..<$0.end }, options: options.inherited(from: origin, by: url),
        log: log, session: session ?? 0, clock: clock)
    case .file(let path): return FilePart(path: path, range: range)
    }
  }

  /// Changes the entry of the access log.
  func updateAccessLog(_ body: (inout AccessLogEvent) -> Void) {
    if let session { log.change(session, body) }
  }

  /// Marks the entry of the access log as played, so that stalls are logged there.
  func markPlayed() {
    if let session { log.markPlayed(session) }
  }

  /// Appends an error to the error log.
  func logError(_ error: MediaError, _ location: PlaylistLocation, isRetried: Bool) {
    log.append(
      ErrorLogEvent(uri: location.displayText, serverAddress: "", statusCode: 0, error: error, isRetried: isRetried))
  }

  /// Returns a fetcher that logs to a new entry of `log`. Returns `self` if it has that log already, and for local
  /// files, which are not logged.
  func logging(to log: NetworkLog, name: String) -> StreamFetcher {
    session == nil || log === self.log
      ? self
      : StreamFetcher(
        options: options, origin: origin, log: log, session: log.startSession(uri: name), clock: clock,
        isolation: isolation, isPlayback: isPlayback)
  }

  /// Loads all bytes of a location. Returns them and the location after redirects.
  ///
  /// - Throws: The errors of the location; `streamLimitExceeded` for more than `limit` bytes; `networkTimedOut` if
  ///   loading takes too long.
  func load(
    _ location: PlaylistLocation, bytes range: HLSByteRange? = nil, limit: Int, interrupt: Interrupt
  ) throws(MediaError) -> (bytes: [UInt8], location: PlaylistLocation) {
    let source = try source(location, bytes: range)
    interrupt.attach(source)
    defer { interrupt.detach(source) }
    try source.open()
    let bytes = try readAll(source, bytes: range, limit: limit, location: location)
    let effective = (source as? HTTPResource)?.effectiveURL.map { PlaylistLocation.url($0) }
    return (bytes, effective ?? location)
  }

  /// Reads the rest of an open source, from its beginning or that of `range`. No time limit if `nanoseconds` is nil.
  func readAll(
    _ source: any ByteSource, bytes range: HLSByteRange? = nil, limit: Int, location: PlaylistLocation,
    within nanoseconds: Int64? = Self.loadTimeLimitNanoseconds
  ) throws(MediaError) -> [UInt8] {
    let deadline = nanoseconds.map { clock.now.advanced(byNanoseconds: $0) }
    return try source.readAll(in: (range?.start ?? 0)..<(range?.end ?? .max)) { byteCount throws(MediaError) in
      if byteCount > limit {
        throw MediaError(
          .streamLimitExceeded, "the response has more than \(limit) bytes: \(location.displayText)", operation: "hls")
      }
      if let deadline, clock.now >= deadline {
        throw MediaError(
          .networkTimedOut, "the transfer exceeded the time limit: \(location.displayText)", operation: "hls")
      }
    }
  }
}

/// A regular file, or a part of one, as a byte source. Threading: as `ByteSource`.
final class FilePart: ByteSource, @unchecked Sendable {
  // `@unchecked Sendable`: `file` is used by one reader at a time. The interrupt may be used on any thread.
  private let path: [UInt8]
  private let range: HLSByteRange?
  private let interrupt = Interrupt()
  private var file: FileSource?

  init(path: [UInt8], range: HLSByteRange?) {
    self.path = path
    self.range = range
  }

  func open() throws(MediaError) {
    do throws(AVFailure) { file = try FileSource(path: path, interrupt: interrupt) } catch {
      throw MediaError(error, path: String(decoding: path, as: UTF8.self))
    }
  }

  var byteCount: Int64? { file?.byteCount }
  var isSeekable: Bool { true }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    guard let file else {
      throw MediaError(.invalidState, "the file must be opened before it is read", operation: "hls")
    }
    let remaining = range.map { max(0, $0.end - offset) } ?? .max
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), remaining))])
    do throws(AVFailure) { return try file.read(into: target, at: offset) } catch {
      throw MediaError(error, path: String(decoding: path, as: UTF8.self))
    }
  }

  func cancel() { interrupt.cancel() }
  func resume() { interrupt.reset() }
}
