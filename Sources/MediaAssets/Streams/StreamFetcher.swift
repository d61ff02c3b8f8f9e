// Where the parts of an HLS stream come from: an HTTP server, or files beside a playlist that is one.
import Glibc
import LibAV
import MediaCore
import NetworkIO
import Playlists
import RealtimeAudio

/// Opens the parts of one stream. Threading: any; what blocks gives up when the interrupt that it got is used.
struct StreamFetcher: Sendable {
  let options: HTTPOptions
  /// The origin that header fields were given for; nil for a playlist in a local file, which has none.
  var origin: HTTPOrigin?
  let log: NetworkLog
  /// Its row of the access log; nil: what is fetched is not noted there.
  var session: NetworkLog.Session?
  let clock: any NetworkClock
  /// Where segments are parsed.
  var isolation = Asset.Isolation.none
  /// Whether a player plays what is read, so that the isolation `worker` decodes in this process.
  var isPlayback = false

  /// A whole playlist or key comes within this time, or not at all.
  static let wholeNanoseconds: Int64 = 60_000_000_000

  /// The bytes of a place, or some of them, with places as in the whole. Nothing is asked for yet.
  func source(_ place: PlaylistPlace, bytes range: HLSByteRange? = nil) throws(MediaError) -> any ByteSource {
    switch place {
    case .url(let text):
      let url = try HTTPURL(text)
      return HTTPResource(
        partOfSession: url, bytes: range.map { $0.start..<$0.end }, options: options.inherited(from: origin, by: url),
        log: log, session: session ?? 0, clock: clock)
    case .file(let path): return FilePart(path: path, range: range)
    }
  }

  /// Changes its row of the access log.
  func note(_ body: (inout AccessLogEvent) -> Void) {
    if let session { log.change(session, body) }
  }

  /// What is fetched is played: stalls are noted in its row.
  func markPlayed() {
    if let session { log.markPlayed(session) }
  }

  /// Notes an error.
  func note(_ error: MediaError, _ place: PlaylistPlace, isRetried: Bool) {
    log.append(
      ErrorLogEvent(uri: place.displayText, serverAddress: "", statusCode: 0, error: error, isRetried: isRetried))
  }

  /// The same for a reader with another log, in a row of its own; of local files nothing is noted.
  func begun(in log: NetworkLog, name: String) -> StreamFetcher {
    session == nil || log === self.log
      ? self
      : StreamFetcher(
        options: options, origin: origin, log: log, session: log.begin(uri: name), clock: clock, isolation: isolation,
        isPlayback: isPlayback)
  }

  /// All bytes of a place, and where they were found after redirects.
  ///
  /// Errors: those of the place; `streamLimitExceeded` when there are more than `limit`, `networkTimedOut` when they take too long.
  func load(
    _ place: PlaylistPlace, bytes range: HLSByteRange? = nil, limit: Int, interrupt: Interrupt
  ) throws(MediaError) -> (bytes: [UInt8], place: PlaylistPlace) {
    let source = try source(place, bytes: range)
    interrupt.attach(source)
    defer { interrupt.detach(source) }
    try source.open()
    let bytes = try readAll(source, bytes: range, limit: limit, place: place)
    let effective = (source as? HTTPResource)?.effectiveURL.map { PlaylistPlace.url($0) }
    return (bytes, effective ?? place)
  }

  /// What is left of a source that is open, from the beginning or the range's on; nanoseconds nil: however long it takes.
  func readAll(
    _ source: any ByteSource, bytes range: HLSByteRange? = nil, limit: Int, place: PlaylistPlace,
    within nanoseconds: Int64? = Self.wholeNanoseconds
  ) throws(MediaError) -> [UInt8] {
    let deadline = nanoseconds.map { clock.now.advanced(byNanoseconds: $0) }
    return try source.readAll(in: (range?.start ?? 0)..<(range?.end ?? .max)) { byteCount throws(MediaError) in
      if byteCount > limit {
        throw MediaError(.streamLimitExceeded, "more than \(limit) bytes: \(place.displayText)", operation: "hls")
      }
      if let deadline, clock.now >= deadline {
        throw MediaError(.networkTimedOut, "it does not come to an end: \(place.displayText)", operation: "hls")
      }
    }
  }
}

/// A regular file, or part of one, as a byte source. Threading: as `ByteSource`.
final class FilePart: ByteSource, @unchecked Sendable {
  // `@unchecked Sendable`: `file` is used by one reader at a time; the interrupt by any.
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
    guard let file else { throw MediaError(.invalidState, "the file is read before it was opened", operation: "hls") }
    let left = range.map { max(0, $0.end - offset) } ?? .max
    let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(Int64(buffer.count), left))])
    do throws(AVFailure) { return try file.read(into: wanted, at: offset) } catch {
      throw MediaError(error, path: String(decoding: path, as: UTF8.self))
    }
  }

  func cancel() { interrupt.cancel() }
  func resume() { interrupt.reset() }
}
