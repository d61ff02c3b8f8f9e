import CPlayheadCurl
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The consecutive requests for one resource. Fetches the bytes that the reader requests, and repeats failed requests
/// that may succeed.
///
/// Threading: confined to the thread of its `HTTPLoop`.
final class HTTPTransfer {
  private enum Phase {
    case idle
    /// Until the request has been sent; curl enforces the timeout.
    case connecting
    case awaitingHead(until: HostTime)
    /// Receiving the body. Fewer than `HTTPOptions.minimumStallByteCount` bytes have arrived since this time.
    case receiving(since: HostTime)
    case waitingToRetry(until: HostTime)
  }

  private let url: HTTPURL
  private let options: HTTPOptions
  private let sharedState: ConditionMutex<HTTPTransferState>
  private let log: NetworkLog
  /// The access log session of the transfer.
  private let logSession: NetworkLog.Session
  private let clock: any NetworkClock
  private let part: HTTPResource.Part

  /// Nil until the loop's thread has begun the transfer.
  private var session: CurlSession?
  private var request: CurlRequest?
  private var phase = Phase.idle
  private var retryPolicy: RetryPolicy
  /// The offset of the current request's first byte, after the bytes of the window.
  private var offset: Int64 = 0
  /// The number of body bytes to discard before the requested ones.
  private var remainingSkipByteCount: Int64 = 0
  private var head = ResponseHead()
  private var icy: ICYParser?
  /// The reason for rejecting the response.
  private var rejection: HTTPFailure?
  /// Whether the resource has no bytes at or after the requested offset.
  private var isPastEnd = false
  /// Whether all requested bytes have arrived.
  private var isComplete = false
  private var hasOpened = false
  private var hasBytes = false
  private let openedAt: HostTime
  private var lastByteAt: HostTime?
  /// The time up to which the transfer time is measured.
  private var measuredAt: HostTime
  /// Whether no byte of the current response's body has arrived.
  private var awaitsBody = false
  private var serverAddress = ""
  private var hasLoggedWrongLength = false
  private var attemptCount = 0
  /// The network interface of the current attempt; nil for any.
  private var interface: String?
  /// The URL of the current request: `url`, or the target of the last redirect.
  private var target: HTTPURL
  /// The number of redirects since the request to `url`.
  private var redirectCount = 0
  /// The `Location` of a redirect response.
  private var location: String?
  private var redirectBodyByteCount: Int64 = 0
  /// The number of body bytes since the time in `Phase.receiving`.
  private var receivedByteCount = 0
  /// The number of bytes appended to the window since the count of attempts restarted.
  private var progressByteCount: Int64 = 0
  /// Whether `networkRules` denied an address of the current request.
  private var hasDeniedAddress = false

  init(
    url: HTTPURL, options: HTTPOptions, sharedState: ConditionMutex<HTTPTransferState>, log: NetworkLog,
    session: NetworkLog.Session, clock: any NetworkClock, part: HTTPResource.Part = HTTPResource.Part()
  ) {
    self.part = part
    self.url = url
    target = url
    self.options = options
    self.sharedState = sharedState
    self.log = log
    self.logSession = session
    self.clock = clock
    retryPolicy = RetryPolicy(options)
    openedAt = clock.now
    measuredAt = openedAt
  }

  // MARK: - Loop

  /// Starts the request for the offset that the reader requested, or continues a paused one. Returns false when the
  /// resource was closed; then the transfer has ended.
  func handleReaderRequests(in session: CurlSession) -> Bool {
    self.session = session
    let (requestedOffset, mayContinue, isClosed) = sharedState.update { state in
      let requestedOffset = state.requestedOffset
      if let requestedOffset {
        state.requestedOffset = nil
        state.restart(at: requestedOffset)
        state.isRunning = true
      }
      let mayContinue = state.isPaused && state.window.appendableByteCount >= Self.maximumChunkByteCount
      if mayContinue { state.isPaused = false }
      return (requestedOffset, mayContinue, state.isClosed)
    }
    if isClosed {
      cancelRequest()
      return false
    }
    if let requestedOffset {
      restartAttempts()
      startRequest(at: requestedOffset)
    } else if mayContinue, let request {
      measuredAt = clock.now
      receivedByteCount = 0
      phase = .receiving(since: measuredAt)
      request.resume()
    }
    return true
  }

  /// Restarts the count of attempts after progress, or for another offset.
  private func restartAttempts() {
    retryPolicy.reset()
    progressByteCount = 0
  }

  /// The largest chunk that curl delivers in one call (CURL_MAX_WRITE_SIZE).
  private static let maximumChunkByteCount = 16_384

  /// The time until `checkDeadline` has work to do.
  var sleepMilliseconds: Int32 {
    guard let (deadline, isRetryDelay) = deadline else { return .max }
    return clock.milliseconds(until: deadline, isRetryDelay: isRetryDelay)
  }

  private var deadline: (HostTime, isRetryDelay: Bool)? {
    switch phase {
    case .idle, .connecting: nil
    case .awaitingHead(let deadline): (deadline, false)
    case .receiving(let since):
      sharedState.withState { $0.isPaused }
        ? nil : (since.advanced(byNanoseconds: options.stallTimeout.nanoseconds), false)
    case .waitingToRetry(let deadline): (deadline, true)
    }
  }

  /// Ends a request that exceeds its timeout, and begins a delayed attempt that is due.
  func checkDeadline() {
    guard let (deadline, isRetryDelay) = deadline, deadline <= clock.now else { return }
    if isRetryDelay { return startRequest(at: offset) }
    let isHead = if case .awaitingHead = phase { true } else { false }
    handleFailure(
      HTTPFailure(
        .networkTimedOut,
        isHead ? "the server does not respond: \(url)" : "the server sends too slowly or has stopped sending: \(url)",
        retry: .whenOpened))
  }

  // MARK: - Requests

  private func startRequest(at offset: Int64) {
    cancelRequest()
    self.offset = offset
    measuredAt = clock.now
    awaitsBody = true
    head = ResponseHead()
    icy = nil
    rejection = nil
    isPastEnd = false
    isComplete = false
    remainingSkipByteCount = 0
    target = url
    redirectCount = 0
    interface = options.interfaces.isEmpty ? nil : options.interfaces[attemptCount % options.interfaces.count]
    attemptCount &+= 1
    sendRequest(from: offset)
  }

  /// Sends the request for the bytes from `offset` on to `target`.
  private func sendRequest(from offset: Int64, usesNewConnection: Bool = false) {
    location = nil
    redirectBodyByteCount = 0
    hasDeniedAddress = false
    guard options.networkRules.allows(host: target.host) else { return handleFailure(Self.addressNotAllowed(url)) }
    let info = sharedState.withState { $0.resourceInfo }
    do throws(HTTPFailure) {
      let request = try CurlRequest(
        url: target, options: options.inherited(from: url.origin, by: target),
        bytes: info?.isLive == true ? nil : requestedRange(from: offset), interface: interface, share: session?.share,
        usesNewConnection: usesNewConnection, owner: self)
      self.request = request
      phase = .connecting
      log.change(logSession) { $0.numberOfMediaRequests += 1 }
      try session?.start(request, of: self)
    } catch {
      handleFailure(error)
    }
  }

  private func requestedRange(from offset: Int64) -> String {
    guard let end = part.bytes?.upperBound, end > offset else { return "\(offset)-" }
    return "\(offset)-\(end - 1)"
  }

  private func cancelRequest() {
    if let request { session?.stop(request) }
    request = nil
    phase = .idle
  }

  /// Handles the end of the request, successful or not.
  func requestFinished(_ result: CURLcode) {
    guard let request else { return }
    let failure = rejection ?? request.failure(result, url: url)
    updateServerAddress(request)
    if isPastEnd { return finish(at: offset) }
    if isComplete, let end = part.bytes?.upperBound { return self.finish(at: end) }
    if let rejection { return handleFailure(rejection) }
    if let location { return followRedirect(location) }
    if result != CURLE_OK, case .awaitingHead = phase, request.usedEarlierConnection {
      // An earlier response on this connection may have been longer than its Content-Length. Its rest then arrived
      // in place of this response.
      cancelRequest()
      head = ResponseHead()
      return self.sendRequest(from: offset, usesNewConnection: true)
    }
    if result != CURLE_OK, let failure {
      // The error does not reveal whether another address of the host responded.
      if hasDeniedAddress, case .connecting = phase { return handleFailure(Self.addressNotAllowed(url)) }
      return handleFailure(failure)
    }
    let (info, end) = sharedState.withState { ($0.resourceInfo, $0.window.end) }
    if let byteCount = info?.byteCount {
      if end >= byteCount { return self.finish(at: byteCount) }
      // Some servers deliver only a part of the requested range.
      if end > offset { return startRequest(at: end) }
      return handleFailure(
        HTTPFailure(.connectionLost, "the server sent fewer bytes than it declared: \(url)", retry: .whenOpened))
    }
    if info?.isLive == true {
      return handleFailure(HTTPFailure(.connectionLost, "the station ended the stream: \(url)", retry: .whenOpened))
    }
    if remainingSkipByteCount > 0 {
      return handleFailure(
        HTTPFailure(.connectionLost, "the server sent fewer bytes than before: \(url)", retry: .whenOpened))
    }
    self.finish(at: end)
  }

  /// Repeats the request at the URL of a redirect.
  private func followRedirect(_ location: String) {
    do throws(HTTPFailure) {
      target = try redirectTarget(location)
      redirectCount += 1
      cancelRequest()
      sendRequest(from: offset)
    } catch {
      handleFailure(error)
    }
  }

  private func redirectTarget(_ location: String) throws(HTTPFailure) -> HTTPURL {
    guard redirectCount < HTTPOptions.maximumRedirectCount else {
      throw HTTPFailure(
        .tooManyRedirects, "the server redirects more than \(HTTPOptions.maximumRedirectCount) times: \(url)",
        retry: .never, statusCode: head.status)
    }
    guard let text = ccurl_resolve(target.text, location) else {
      throw HTTPFailure(
        .badHTTPResponse, "the redirect has no address: \(url)", retry: .never, statusCode: head.status)
    }
    defer { curl_free(text) }
    let next: HTTPURL
    do throws(MediaError) { next = try HTTPURL(String(cString: text)) } catch {
      throw HTTPFailure(
        error.code == .unsupportedLocation ? .unsupportedLocation : .badHTTPResponse,
        "the server redirects to an address that cannot be opened: \(url)", retry: .never, statusCode: head.status,
        underlying: error.message)
    }
    guard !target.origin.isSecure || next.origin.isSecure else {
      throw HTTPFailure(
        .insecureRedirect, "the server redirects from https to http: \(url)", retry: .never, statusCode: head.status)
    }
    return next.withCredentials(of: target)
  }

  /// Ends the transfer at the end of the resource, which has `byteCount` bytes.
  private func finish(at byteCount: Int64) {
    cancelRequest()
    sharedState.update { state in
      state.isRunning = false
      state.isAtEnd = true
      if state.resourceInfo?.byteCount == nil { state.resourceInfo?.byteCount = byteCount }
    }
  }

  /// Schedules another attempt, or gives up.
  private func handleFailure(_ failure: HTTPFailure) {
    if let request { updateServerAddress(request) }
    cancelRequest()
    let delay = failure.mayRetry(hasOpened: hasOpened) ? retryPolicy.nextDelay(retryAfter: failure.retryAfter) : nil
    log.append(
      ErrorLogEvent(
        uri: url.redacted, serverAddress: serverAddress, statusCode: failure.statusCode, error: failure.error,
        isRetried: delay != nil))
    guard let delay else { return fail(failure) }
    if hasOpened { log.change(logSession) { $0.numberOfReconnects += 1 } }
    // Continue at the first missing byte; a station continues live.
    offset = sharedState.withState { $0.window.end }
    phase = .waitingToRetry(until: clock.now.advanced(byNanoseconds: delay.nanoseconds))
  }

  /// Ends the transfer with an error.
  func fail(_ failure: HTTPFailure) {
    phase = .idle
    sharedState.update { state in
      state.isRunning = false
      state.failure = failure.error
    }
  }

  private func updateServerAddress(_ request: CurlRequest) {
    guard let address = request.serverAddress, !address.isEmpty, address != serverAddress else { return }
    let isChange = !serverAddress.isEmpty
    serverAddress = address
    log.change(logSession) { event in
      event.serverAddress = address
      if isChange { event.numberOfServerAddressChanges += 1 }
    }
  }

  // MARK: - Callbacks of curl, from within `curl_multi_perform`

  /// Whether a connection to an address of the server is permitted.
  func mayConnect(to address: UnsafePointer<sockaddr>) -> Bool {
    let isAllowed = IPAddress(address).map { options.networkRules.allows($0, host: target.host) } ?? false
    if !isAllowed { hasDeniedAddress = true }
    return isAllowed
  }

  private static func addressNotAllowed(_ url: HTTPURL) -> HTTPFailure {
    HTTPFailure(.addressNotAllowed, "the network rules do not allow the server's address: \(url)", retry: .never)
  }

  /// Called when a connection to a server or a proxy is ready, before the request is sent. Returns false when the
  /// rules of this transfer deny the address. This happens when the connection was made for a transfer with other
  /// rules.
  func connected(to address: IPAddress?) -> Bool {
    guard let address, options.networkRules.allows(address, host: target.host) else {
      hasDeniedAddress = true
      return false
    }
    phase = .awaitingHead(until: clock.now.advanced(byNanoseconds: options.firstByteTimeout.nanoseconds))
    return true
  }

  /// Processes a line of a header. Returns false to abort the request.
  func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
    // Trailer lines follow the body.
    if case .receiving = phase { return true }
    head.parse(line: line)
    guard head.byteCount <= HTTPOptions.maximumHeaderByteCount else {
      rejection = HTTPFailure(.badHTTPResponse, "the header of the response is too long: \(url)", retry: .never)
      return false
    }
    guard head.isComplete else { return true }
    let isProvisional = head.status < 200
    if isProvisional { return true }
    receivedByteCount = 0
    phase = .receiving(since: clock.now)
    // An empty field contains no URL. Such a response is validated like any other.
    if (300..<400).contains(head.status), let location = head.fields["location"], !location.isEmpty {
      self.location = location
      return true
    }
    validate()
    return rejection == nil && !isPastEnd
  }

  /// Processes a chunk of the body. Returns nil when the window has no room, and false to abort the request.
  func receive(body bytes: UnsafeRawBufferPointer) -> Bool? {
    if rejection != nil || isPastEnd || isComplete { return false }
    if location != nil {
      redirectBodyByteCount += Int64(bytes.count)
      return redirectBodyByteCount <= HTTPOptions.redirectBodyByteCount
    }
    let now = clock.now
    let hasRoom = sharedState.update { state in
      let elapsed = max(0, now.nanoseconds(since: measuredAt))
      state.statistics.nanoseconds += elapsed
      if awaitsBody { state.statistics.waitNanoseconds += elapsed }
      measuredAt = now
      awaitsBody = false
      guard state.window.appendableByteCount >= bytes.count else {
        state.isPaused = true
        return false
      }
      // Log first: a reader of these bytes finds them in the log.
      recordBytes(bytes.count, at: now)
      state.statistics.byteCount += Int64(bytes.count)
      let end = state.window.end
      append(bytes, to: &state)
      // Bytes discarded on the way to the requested offset are sent again with each attempt, so they are not progress.
      progressByteCount += state.window.end - end
      if progressByteCount >= HTTPOptions.attemptByteCount { restartAttempts() }
      return true
    }
    guard hasRoom else { return nil }
    if !hasBytes {
      hasBytes = true
      if part.session == nil { log.reportAccess(logSession) }
    }
    return true
  }

  private func append(_ bytes: UnsafeRawBufferPointer, to state: inout HTTPTransferState) {
    let limit = min(state.resourceInfo?.byteCount ?? .max, part.bytes?.upperBound ?? .max)
    let window = state.window
    defer { isComplete = part.bytes.map { window.end >= $0.upperBound } ?? false }
    func appendAudio(_ audio: UnsafeRawBufferPointer) {
      var audio = audio
      if remainingSkipByteCount > 0 {
        let count = Int(min(remainingSkipByteCount, Int64(audio.count)))
        remainingSkipByteCount -= Int64(count)
        audio = UnsafeRawBufferPointer(rebasing: audio[count...])
      }
      // Discard bytes past the announced length.
      let count = Int(min(Int64(audio.count), max(0, limit - window.end)))
      _ = window.append(UnsafeRawBufferPointer(rebasing: audio[..<count]))
    }
    guard icy != nil else { return appendAudio(bytes) }
    var titles: [StreamTitle] = []
    icy?.parse(bytes, audio: appendAudio) { metadata in
      titles.append(StreamTitle(offset: window.end, title: metadata.title, url: metadata.url))
    }
    for title in titles { state.append(title) }
  }

  private func recordBytes(_ byteCount: Int, at now: HostTime) {
    receivedByteCount += byteCount
    if receivedByteCount >= HTTPOptions.minimumStallByteCount {
      receivedByteCount = 0
      phase = .receiving(since: now)
    }
    let isFirst = !hasBytes
    let elapsed = lastByteAt.map { max(0, now.nanoseconds(since: $0)) } ?? 0
    lastByteAt = now
    let startup = now.nanoseconds(since: openedAt)
    log.change(logSession) { event in
      event.numberOfBytesTransferred += Int64(byteCount)
      // A longer pause was caused by the reader.
      event.transferNanoseconds += isFirst ? startup : min(elapsed, 1_000_000_000)
      if isFirst, event.startupNanoseconds == nil { event.startupNanoseconds = startup }
    }
    if isFirst, let request { updateServerAddress(request) }
  }

  // MARK: - Response validation

  /// Checks that the response matches the request, and records the properties of the resource.
  private func validate() {
    do throws(HTTPFailure) {
      switch head.status {
      case 206: try validatePartial()
      case 200..<300: try validateWhole()
      case 416 where try isOffsetPastEnd(): isPastEnd = true
      default: throw HTTPFailure(status: head.status, head: head, url: url)
      }
    } catch {
      rejection = error
    }
  }

  private func validatePartial() throws(HTTPFailure) {
    guard let range = head.contentRange, let bytes = range.bytes, bytes.lowerBound == offset else {
      throw HTTPFailure(
        .badHTTPResponse, "the server sent a range that was not requested: \(url)", retry: .never,
        underlying: head.fields["content-range"])
    }
    if let length = head.contentLength, length != bytes.upperBound - bytes.lowerBound + 1 {
      logWrongLength("the server declares \(bytes.count) and \(length) bytes for one range")
    }
    try adopt(byteCount: range.total, hasRanges: true)
  }

  private func validateWhole() throws(HTTPFailure) {
    let isLive =
      head.isStation && head.contentLength == nil || sharedState.withState { $0.resourceInfo?.isLive ?? false }
    if !isLive, offset > 0 {
      guard offset <= HTTPOptions.maximumSkipByteCount else {
        throw HTTPFailure(.rangesNotSupported, "the server does not support ranges: \(url)", retry: .never)
      }
      remainingSkipByteCount = offset
    }
    try adopt(byteCount: isLive ? nil : head.contentLength, hasRanges: head.acceptsRanges, isLive: isLive)
    if let interval = head.icyInterval { icy = ICYParser(interval: interval) }
  }

  /// Whether a 416 response is correct because the resource ends at or before the offset.
  private func isOffsetPastEnd() throws(HTTPFailure) -> Bool {
    guard let range = head.contentRange, range.bytes == nil, let total = range.total, total <= offset else {
      return false
    }
    let known = sharedState.withState { $0.resourceInfo?.byteCount }
    if let known, known > total {
      logWrongLength("the server declared \(known) bytes but has \(total)")
    }
    if known == nil { try adopt(byteCount: total, hasRanges: true) }
    return true
  }

  /// Records the properties of the resource from the first response. Checks that a later response has the same ones.
  ///
  /// - Throws: `resourceChanged`.
  private func adopt(byteCount: Int64?, hasRanges: Bool, isLive: Bool = false) throws(HTTPFailure) {
    let (etag, mediaType, effectiveURL) = (head.strongETag, head.mediaType, target.text)
    let stationFields = StationField.fields(of: head)
    // Log before the reader observes that the resource is open.
    if !hasOpened { recordOpening(isLive: byteCount == nil) }
    let known = sharedState.update { state in
      guard let known = state.resourceInfo else {
        state.resourceInfo = HTTPTransferState.ResourceInfo(
          byteCount: byteCount, hasRanges: hasRanges, isLive: isLive, mediaType: mediaType, strongETag: etag,
          effectiveURL: effectiveURL, stationFields: stationFields)
        return HTTPTransferState.ResourceInfo?.none
      }
      return known
    }
    guard let known, !known.isLive else { return }
    let hasOtherLength = byteCount != nil && known.byteCount != nil && byteCount != known.byteCount
    let hasOtherETag = etag != nil && known.strongETag != nil && etag != known.strongETag
    if hasOtherLength || hasOtherETag {
      throw HTTPFailure(.resourceChanged, "the resource changed while it was read: \(url)", retry: .never)
    }
  }

  private func recordOpening(isLive: Bool) {
    hasOpened = true
    if part.session != nil { return }
    let station = StationInfo(head)
    if let station { log.setStation(station) }
    log.change(logSession) { event in
      event.playbackType = isLive ? "live" : "file"
      event.indicatedBitrate = station?.bitrate.flatMap { $0 < 1_000_000 ? $0 * 1_000 : nil }
    }
  }

  /// Logs a wrong length, once per transfer.
  private func logWrongLength(_ text: String) {
    guard !hasLoggedWrongLength else { return }
    hasLoggedWrongLength = true
    log.append(
      ErrorLogEvent(
        uri: url.redacted, serverAddress: serverAddress, statusCode: head.status,
        error: MediaError(.wrongLength, "\(text): \(url)", operation: "http"), isRetried: false))
  }
}
