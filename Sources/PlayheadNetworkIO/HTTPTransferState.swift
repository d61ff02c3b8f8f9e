import PlayheadMediaCore

/// The state that a resource's reader and its transfer share, under one lock.
struct HTTPTransferState {
  /// The properties of the resource, from the first response.
  struct ResourceInfo: Sendable, Hashable {
    /// The number of bytes; nil when the server does not announce it.
    var byteCount: Int64?
    /// Whether the server supports ranges.
    var hasRanges = false
    /// Whether the resource is a station: endless, and without access to earlier data.
    var isLive = false
    var mediaType: String?
    var strongETag: String?
    /// The URL after all redirects.
    var effectiveURL: String?
    /// The fields with which a station describes itself.
    var stationFields: [StationField] = []
  }

  let window: ByteWindow
  /// The properties of the resource; nil before it is open.
  var resourceInfo: ResourceInfo?
  /// The offset of the next request; the transfer resets it.
  var requestedOffset: Int64?
  /// Whether the transfer appends bytes to the window, or a new attempt is scheduled.
  var isRunning = false
  /// Whether the transfer is paused because the window is full.
  var isPaused = false
  /// Whether the window's end is the end of the resource.
  var isAtEnd = false
  /// The reason why the last transfer gave up.
  var failure: MediaError?
  /// The number of received bytes and the transfer times.
  var statistics = TransferStatistics()
  /// The session in the access log; nil before the start.
  var session: NetworkLog.Session?
  var isCancelled = false
  var isClosed = false
  var isStarted = false
  /// Pending titles, in order.
  var titles: [StreamTitle] = []
  /// The transfer in the HTTP loop; nil before the start.
  var transfer: HTTPLoop.TransferID?

  static let maximumTitleCount = 64

  init(window: ByteWindow) { self.window = window }

  /// Whether bytes at any offset can be read.
  var isSeekable: Bool {
    guard let info = resourceInfo, !info.isLive else { return false }
    return info.hasRanges || info.byteCount.map { $0 <= HTTPOptions.maximumSkipByteCount } ?? false
  }

  /// Discards the buffered bytes for a transfer from `offset` on.
  mutating func restart(at offset: Int64) {
    window.restart(at: offset)
    isAtEnd = false
    isPaused = false
    failure = nil
  }

  mutating func append(_ title: StreamTitle) {
    titles.append(title)
    if titles.count > Self.maximumTitleCount { titles.removeFirst() }
  }
}
