import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A resource of an HTTP server with file-like reading: from any offset, blocking until the bytes have arrived.
///
/// A transfer on the process's HTTP thread fills a window of bounded size around the offset of the last read.
///
/// Threading: as ``ByteSource``. Releasing the resource ends its transfer asynchronously.
package final class HTTPResource: ByteSource {
  private typealias State = HTTPTransferState

  private let url: HTTPURL
  private let options: HTTPOptions
  private let sharedState: ConditionMutex<HTTPTransferState>
  private let log: NetworkLog
  private let clock: any NetworkClock
  private let part: Part
  private let loop: HTTPLoop

  /// The requested part of a resource and its log session.
  struct Part: Sendable, Hashable {
    /// The byte range; nil for the whole resource.
    var bytes: Range<Int64>?
    /// The log session of another resource that this one is part of; nil for a separate session.
    var session: NetworkLog.Session?
  }

  /// Creates a resource. No network access happens before `open`.
  package convenience init(
    url: HTTPURL, options: HTTPOptions = HTTPOptions(), log: NetworkLog = NetworkLog(),
    clock: any NetworkClock = SystemNetworkClock()
  ) {
    self.init(url: url, options: options, log: log, clock: clock, part: Part())
  }

  /// Creates a resource, or a byte range of one, that belongs to an existing log session. Only the bytes of the range
  /// are requested. Read offsets are offsets in the whole resource.
  package convenience init(
    partOfSession url: HTTPURL, bytes: Range<Int64>? = nil, options: HTTPOptions, log: NetworkLog,
    session: NetworkLog.Session, clock: any NetworkClock
  ) {
    self.init(url: url, options: options, log: log, clock: clock, part: Part(bytes: bytes, session: session))
  }

  init(
    url: HTTPURL, options: HTTPOptions, log: NetworkLog, clock: any NetworkClock, part: Part, loop: HTTPLoop = .shared
  ) {
    self.part = part
    self.loop = loop
    self.url = url
    self.options = options
    self.log = log
    self.clock = clock
    sharedState = ConditionMutex(
      State(
        window: ByteWindow(
          retainedByteCount: HTTPOptions.retainedByteCount, aheadByteCount: HTTPOptions.aheadByteCount)))
  }

  deinit { change { $0.isClosed = true } }

  // MARK: - Opening

  /// Requests the first bytes from the server and waits for the response.
  ///
  /// - Throws: `networkNotAllowed`, `hostNotFound`, `connectionRefused`, `networkUnavailable`, `tlsFailed`,
  ///   `networkTimedOut`, `tooManyRedirects`, `unsupportedLocation`, `httpNotFound` and related HTTP errors,
  ///   `badHTTPResponse`; `cancelled`.
  package func open() throws(MediaError) {
    try start()
    let result = sharedState.wait { state -> Result<Void, MediaError>? in
      if state.isCancelled { return .failure(Self.cancelled) }
      if state.resourceInfo != nil { return .success(()) }
      return state.failure.map { .failure($0) }
    }
    try result?.get()
  }

  /// Requests the first bytes from the server without waiting for the response. Does nothing if already started.
  ///
  /// - Throws: `networkNotAllowed`, `invalidArgument`.
  package func start() throws(MediaError) {
    guard !sharedState.withState({ $0.isStarted }) else { return }
    guard options.isNetworkAllowed, !options.isNetworkForbidden else {
      throw MediaError(.networkNotAllowed, "network access is disabled: \(url)", operation: "http")
    }
    try checkHeaders()
    let session = part.session ?? log.startSession(uri: url.redacted)
    let first = part.bytes?.lowerBound ?? 0
    let (url, options, sharedState, log, clock, part) = (url, options, sharedState, log, clock, part)
    sharedState.update { state in
      state.session = session
      state.requestedOffset = first
      state.isStarted = true
      state.transfer = loop.add {
        HTTPTransfer(
          url: url, options: options, sharedState: sharedState, log: log, session: session, clock: clock, part: part)
      }
    }
    clock.onAdvance { [loop] in loop.wake() }
  }

  /// Checks that field names and values conform to RFC 9110. Line ends are rejected, because they would insert other
  /// fields.
  private func checkHeaders() throws(MediaError) {
    var byteCount = 0
    let forbidden: Set = [
      "range", "host", "connection", "content-length", "transfer-encoding", "icy-metadata", "upgrade",
    ]
    for (index, header) in options.headers.enumerated() {
      byteCount += header.name.utf8.count + header.value.utf8.count + 4
      let isToken =
        !header.name.isEmpty
        && header.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
      guard isToken else {
        // The text before a colon may be a secret.
        throw MediaError(.invalidArgument, "header field \(index + 1) has an invalid name", operation: "http")
      }
      guard !header.value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw MediaError(.invalidArgument, "invalid value of the header field \(header.name)", operation: "http")
      }
      guard !forbidden.contains(header.name.lowercased()) else {
        throw MediaError(.invalidArgument, "the header field \(header.name) cannot be set", operation: "http")
      }
    }
    if let agent = options.userAgent, agent.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw MediaError(.invalidArgument, "invalid user agent: \(agent)", operation: "http")
    }
    guard byteCount <= HTTPOptions.maximumRequestHeaderByteCount else {
      throw MediaError(
        .invalidArgument,
        "header fields must have at most \(HTTPOptions.maximumRequestHeaderByteCount) bytes (got \(byteCount))",
        operation: "http")
    }
  }

  private static let cancelled = MediaError(.cancelled, "the operation was cancelled", operation: "http")

  // MARK: - Properties

  package var byteCount: Int64? { sharedState.withState { $0.resourceInfo?.byteCount } }
  package var isSeekable: Bool { sharedState.withState { $0.isSeekable } }
  /// The URL after all redirects; nil before the resource is open.
  package var effectiveURL: String? { sharedState.withState { $0.resourceInfo?.effectiveURL } }
  package var mediaType: String? { sharedState.withState { $0.resourceInfo?.mediaType } }
  /// The fields with which a station describes itself. Empty before the resource is open, and for resources that are
  /// not stations.
  package var stationFields: [StationField] { sharedState.withState { $0.resourceInfo?.stationFields ?? [] } }

  package var availableByteRange: Range<Int64>? {
    sharedState.withState { state in
      let window = state.window
      return window.byteCount > 0 ? window.start..<window.end : nil
    }
  }

  /// The number of received bytes and the transfer times.
  package var statistics: TransferStatistics { sharedState.withState { $0.statistics } }

  /// The number of buffered bytes; never more than `aheadByteCount` plus `retainedByteCount`.
  var bufferedByteCount: Int { sharedState.withState { $0.window.byteCount } }

  /// The session in the access log; nil before the start.
  package var session: NetworkLog.Session? { sharedState.withState { $0.session } }

  /// Marks this resource as the one that is played. Stalls are counted in its access log event.
  package func markPlayed() {
    if let session = sharedState.withState({ $0.session }) { log.markPlayed(session) }
  }

  package func popTitles(before offset: Int64) -> [StreamTitle] {
    sharedState.withState { state in
      let count = state.titles.prefix { $0.offset < offset }.count
      defer { state.titles.removeFirst(count) }
      return Array(state.titles.prefix(count))
    }
  }

  // MARK: - Reading

  package func cancel() { sharedState.update { $0.isCancelled = true } }
  package func resume() { sharedState.update { $0.isCancelled = false } }

  /// Reads bytes, as ``ByteSource/read(into:at:)``.
  ///
  /// - Throws: the errors of `open`, when the transfer gave up after an interruption. `rangesNotSupported` when the
  ///   server delivers the resource only from the start. `resourceChanged`; `connectionLost`.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    guard offset >= 0 else {
      throw MediaError(.invalidArgument, "the offset must not be negative (got \(offset))", operation: "http")
    }
    guard !buffer.isEmpty else { return 0 }
    var hasRequested = false
    let result = sharedState.wait { state -> Result<Int, MediaError>? in
      if state.isCancelled { return .failure(Self.cancelled) }
      if let byteCount = state.resourceInfo?.byteCount, offset >= byteCount { return .success(0) }
      let count = state.window.read(into: buffer, at: offset)
      if count > 0 {
        resumeIfPaused(&state)
        return .success(count)
      }
      if state.requestedOffset != nil { return nil }
      let end = state.window.end
      if state.isAtEnd, offset >= end { return .success(0) }
      if let failure = state.failure, hasRequested || offset >= end { return .failure(failure) }
      if state.isRunning, offset >= end, offset - end <= Self.maximumForwardJump(state) {
        state.window.prepareToRead(at: offset)
        resumeIfPaused(&state)
        return nil
      }
      do throws(MediaError) { try requestTransfer(from: offset, of: &state) } catch { return .failure(error) }
      hasRequested = true
      return nil
    }
    return try result?.get() ?? 0
  }

  /// The maximum forward jump for which a running transfer is continued.
  private static func maximumForwardJump(_ state: State) -> Int64 {
    state.resourceInfo?.hasRanges == true ? HTTPOptions.maximumForwardJumpByteCount : HTTPOptions.maximumSkipByteCount
  }

  /// Resumes a paused transfer when the window has room.
  private func resumeIfPaused(_ state: inout State) {
    // Wakes the thread only when the freed room is worth it, not after every read.
    guard state.isPaused, Int64(state.window.appendableByteCount) >= state.window.aheadLimit / 4 else { return }
    wake(state)
  }

  private func requestTransfer(from offset: Int64, of state: inout State) throws(MediaError) {
    guard let info = state.resourceInfo else {
      throw MediaError(.invalidState, "the resource must be opened before it is read", operation: "http")
    }
    guard info.hasRanges || state.isSeekable && offset <= HTTPOptions.maximumSkipByteCount else {
      throw MediaError(
        .rangesNotSupported,
        "the server cannot deliver \(url) from byte \(offset) on, because it does not support ranges",
        operation: "http")
    }
    state.requestedOffset = offset
    state.failure = nil
    wake(state)
  }

  private func wake(_ state: State) {
    if let transfer = state.transfer { loop.wake(transfer) }
  }

  private func change(_ body: (inout State) -> Void) {
    sharedState.update { state in
      body(&state)
      wake(state)
    }
  }
}
