// The network activity of a resource, as AVPlayerItem's access log and error log. The player of the resource retains
// the log across all its connections. The size is bounded.
import PlayheadMediaCore
import Synchronization

/// The statistics of one session with a server, as AVPlayerItemAccessLogEvent.
public struct AccessLogEvent: Sendable, Hashable {
  /// The URL without credentials.
  public var uri: String
  /// The IP address of the responding server; empty before the first response.
  public var serverAddress = ""
  /// The number of changes of the server address.
  public var numberOfServerAddressChanges = 0
  /// `file` when the number of bytes is known, `live` otherwise; empty before the first response.
  public var playbackType = ""
  /// The time from the start of opening to the first byte of the body, in nanoseconds; nil before that byte.
  public var startupNanoseconds: Int64?
  /// The number of requests to the server.
  public var numberOfMediaRequests = 0
  /// The number of body bytes, titles included.
  public var numberOfBytesTransferred: Int64 = 0
  /// The time during which bytes were requested or received, in nanoseconds.
  public var transferNanoseconds: Int64 = 0
  /// The number of reconnections after a broken connection.
  public var numberOfReconnects = 0
  /// The number of playback stalls, and their total duration.
  public var numberOfStalls = 0
  /// The total duration of the playback stalls, in nanoseconds.
  public var stallNanoseconds: Int64 = 0
  /// The number of switches to another variant.
  public var numberOfSwitches = 0
  /// The bit rate that the server announces, in bits per second; nil when not announced.
  public var indicatedBitrate: Int64?

  /// Creates an event of a resource without any requests.
  package init(uri: String) { self.uri = uri }

  /// The measured bit rate, in bits per second; nil before any bytes were received.
  public var observedBitrate: Int64? {
    guard transferNanoseconds > 0, numberOfBytesTransferred > 0 else { return nil }
    return Int64(Double(numberOfBytesTransferred) * 8e9 / Double(transferNanoseconds))
  }
}

/// An error, as AVPlayerItemErrorLogEvent. Also recorded when a retry succeeded.
public struct ErrorLogEvent: Sendable, Hashable {
  /// The URL without credentials.
  public var uri: String
  /// The IP address of the last responding server; empty when none responded.
  public var serverAddress: String
  /// The HTTP status or curl code; 0 for other errors.
  public var statusCode: Int
  /// The error.
  public var error: MediaError
  /// Whether another attempt followed.
  public var isRetried: Bool

  /// Creates an event.
  package init(uri: String, serverAddress: String, statusCode: Int, error: MediaError, isRetried: Bool) {
    self.uri = uri
    self.serverAddress = serverAddress
    self.statusCode = statusCode
    self.error = error
    self.isRetried = isRetried
  }
}

/// The description that a station sends about itself.
public struct StationInfo: Sendable, Hashable {
  /// The name of the station; nil when not announced.
  public var name: String?
  /// The genre of the station; nil when not announced.
  public var genre: String?
  /// The description of the station; nil when not announced.
  public var description: String?
  /// The address of the station's website; nil when not announced.
  public var url: String?
  /// The bit rate in kilobits per second.
  public var bitrate: Int64?

  /// Reads the description from a header; nil when the header is not from a station.
  init?(_ head: ResponseHead) {
    guard head.isStation else { return nil }
    name = head.fields["icy-name"]
    genre = head.fields["icy-genre"]
    description = head.fields["icy-description"]
    url = head.fields["icy-url"]
    bitrate = (head.fields["icy-br"]?.split(separator: ",").first).flatMap { Int64($0) }
  }
}

/// The logs of one resource. Threading: any thread; no call blocks for long.
///
/// <!-- listing: network-log -->
/// ```swift
/// for event in item.networkLog.accessEvents { print(event) }
/// ```
public final class NetworkLog: Sendable {
  /// An event for observers.
  package enum Entry: Sendable, Hashable {
    /// An access event was added.
    case access(AccessLogEvent)
    /// An error event was added.
    case error(ErrorLogEvent)
  }

  /// The maximum number of events per log; older ones are dropped.
  package static let maximumEventCount = 64

  /// The identifier of an access log event.
  package typealias Session = UInt64

  private struct State {
    var access: [(session: Session, event: AccessLogEvent)] = []
    var sessionCount: Session = 0
    /// The session whose bytes are played.
    var played: Session?
    var errors: [ErrorLogEvent] = []
    var station: StationInfo?
    var observers: [UInt64: @Sendable (Entry) -> Void] = [:]
    /// Entries that are pending because no observer was registered.
    var pendingEntries: [Entry] = []
  }

  private let state = Mutex(State())

  /// Creates an empty log.
  package init() {}

  /// The log for resources that are not from a network; always empty.
  package static let empty = NetworkLog()

  /// The sessions in the order of their start: one for each opening of the resource.
  public var accessEvents: [AccessLogEvent] { state.withLock { $0.access.map(\.event) } }
  /// The newest error events, the oldest first.
  public var errorEvents: [ErrorLogEvent] { state.withLock { $0.errors } }
  /// The description of the station; nil before it is known.
  public var station: StationInfo? { state.withLock { $0.station } }

  /// Registers an observer of new entries under a key chosen by the caller, or removes it when nil. The observer runs
  /// on the thread that appends an entry, and must not block. Pending entries are reported to it immediately.
  package func observe(key: UInt64, _ observer: (@Sendable (Entry) -> Void)?) {
    let pendingEntries = state.withLock { state in
      state.observers[key] = observer
      defer { if observer != nil { state.pendingEntries = [] } }
      return observer == nil ? [] : state.pendingEntries
    }
    for entry in pendingEntries { observer?(entry) }
  }

  /// Counts a playback stall.
  package func recordStall() { changePlayed { $0.numberOfStalls += 1 } }

  /// Adds the duration of a finished stall.
  package func recordStallEnd(nanoseconds: Int64) { changePlayed { $0.stallNanoseconds += max(0, nanoseconds) } }

  /// Begins a session. Later changes apply to this session, even if the resource is opened again meanwhile.
  package func startSession(uri: String) -> Session {
    state.withLock { state in
      state.sessionCount += 1
      Self.append((session: state.sessionCount, event: AccessLogEvent(uri: uri)), to: &state.access)
      return state.sessionCount
    }
  }

  /// Changes the event of a session; does nothing when the event was dropped.
  package func change(_ session: Session, _ body: (inout AccessLogEvent) -> Void) {
    state.withLock { state in
      guard let index = state.access.lastIndex(where: { $0.session == session }) else { return }
      body(&state.access[index].event)
    }
  }

  /// Marks the session that is played. Stalls are counted in its event.
  package func markPlayed(_ session: Session) { state.withLock { $0.played = session } }

  private func changePlayed(_ body: (inout AccessLogEvent) -> Void) {
    guard let session = state.withLock({ $0.played ?? $0.access.last?.session }) else { return }
    change(session, body)
  }

  func setStation(_ station: StationInfo) { state.withLock { $0.station = station } }

  /// Reports a session to the observers, because its server responded.
  package func reportAccess(_ session: Session) {
    guard let access = state.withLock({ $0.access.last { $0.session == session } }) else { return }
    notify(.access(access.event))
  }

  /// Appends an error and reports it to the observers.
  package func append(_ event: ErrorLogEvent) {
    state.withLock { Self.append(event, to: &$0.errors) }
    notify(.error(event))
  }

  private func notify(_ entry: Entry) {
    let observers = state.withLock { state in
      if state.observers.isEmpty { Self.append(entry, to: &state.pendingEntries) }
      return Array(state.observers.values)
    }
    for observer in observers { observer(entry) }
  }

  private static func append<Element>(_ element: Element, to list: inout [Element]) {
    list.append(element)
    if list.count > maximumEventCount { list.removeFirst() }
  }
}
