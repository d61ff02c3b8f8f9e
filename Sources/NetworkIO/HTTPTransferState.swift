import MediaCore

/// The state that a resource's reader and its transfer share, under one lock.
struct HTTPTransferState {
  /// What the first answer said.
  struct Facts: Sendable, Hashable {
    /// Nil: it goes on until it ends.
    var byteCount: Int64?
    /// The server gives ranges.
    var hasRanges = false
    /// A station: it does not end, and there is only now.
    var isLive = false
    var mediaType: String?
    var strongETag: String?
    /// Where it was found after all redirects.
    var effectiveURL: String?
    /// What a station says of itself.
    var stationFields: [StationField] = []
  }

  let window: ByteWindow
  var facts: Facts?
  /// The offset of the next request; the transfer takes it.
  var order: Int64?
  /// A transfer goes on behind the window's end, or a new attempt is waited for.
  var isRunning = false
  /// The body has no room in the window.
  var isPaused = false
  /// The window's end is the resource's.
  var isAtEnd = false
  /// Why the last transfer gave up.
  var failure: MediaError?
  /// What came, and how fast.
  var measure = TransferMeasure()
  /// Its row of the access log, once it is being opened.
  var session: NetworkLog.Session?
  var isCancelled = false
  var isClosed = false
  var isStarted = false
  /// Said and not taken, in order.
  var titles: [StreamTitle] = []
  /// The transfer of the HTTP loop, once it is started.
  var transfer: HTTPLoop.TransferID?

  static let maximumTitleCount = 64

  init(window: ByteWindow) { self.window = window }

  /// Bytes at any place can be read.
  var isSeekable: Bool {
    guard let facts, !facts.isLive else { return false }
    return facts.hasRanges || facts.byteCount.map { $0 <= HTTPOptions.skipByteCount } ?? false
  }

  /// Forgets what was read, for a transfer from `offset` on.
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
