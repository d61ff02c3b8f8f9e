// What the network did for a resource: AVPlayerItem's access log and error log, as values. Kept by whoever plays it, over all
// the connections that are made for it; bounded.
import MediaCore
import Synchronization

/// What one session with one server came to. As AVPlayerItemAccessLogEvent.
public struct AccessLogEvent: Sendable, Hashable {
  /// Without user name and password.
  public var uri: String
  /// The address that answered; empty before.
  public var serverAddress = ""
  /// How often another address answered than before.
  public var numberOfServerAddressChanges = 0
  /// `file` where there is a known number of bytes, `live` where not; empty before the server answered.
  public var playbackType = ""
  /// From the wish to read to the first byte of the body, in nanoseconds; nil before.
  public var startupNanoseconds: Int64?
  /// Requests to the server.
  public var numberOfMediaRequests = 0
  /// Bytes of bodies, titles included.
  public var numberOfBytesTransferred: Int64 = 0
  /// Nanoseconds in which bytes were asked for or came.
  public var transferNanoseconds: Int64 = 0
  /// Connections that were made anew because one broke.
  public var numberOfReconnects = 0
  /// How often playing stalled, and for how long in all.
  public var numberOfStalls = 0
  public var stallNanoseconds: Int64 = 0
  /// How often another variant was chosen.
  public var numberOfSwitches = 0
  /// Bits a second that the server says it sends; nil when it does not.
  public var indicatedBitrate: Int64?

  public init(uri: String) { self.uri = uri }

  /// Bits a second that came; nil before any did.
  public var observedBitrate: Int64? {
    guard transferNanoseconds > 0, numberOfBytesTransferred > 0 else { return nil }
    return Int64(Double(numberOfBytesTransferred) * 8e9 / Double(transferNanoseconds))
  }
}

/// Something that went wrong, whether or not it was got over. As AVPlayerItemErrorLogEvent.
public struct ErrorLogEvent: Sendable, Hashable {
  /// Without user name and password.
  public var uri: String
  /// The address that answered last; empty when none has.
  public var serverAddress: String
  /// HTTP's status or curl's code; 0 when it was neither.
  public var statusCode: Int
  public var error: MediaError
  /// Whether another attempt was made.
  public var isRetried: Bool

  public init(uri: String, serverAddress: String, statusCode: Int, error: MediaError, isRetried: Bool) {
    self.uri = uri
    self.serverAddress = serverAddress
    self.statusCode = statusCode
    self.error = error
    self.isRetried = isRetried
  }
}

/// What a station says of itself.
public struct StationInfo: Sendable, Hashable {
  public var name: String?
  public var genre: String?
  public var description: String?
  public var url: String?
  /// Kilobits a second.
  public var bitrate: Int64?

  /// What a header says; nil when it says nothing of the kind.
  init?(_ head: ResponseHead) {
    guard head.isStation else { return nil }
    name = head.fields["icy-name"]
    genre = head.fields["icy-genre"]
    description = head.fields["icy-description"]
    url = head.fields["icy-url"]
    bitrate = (head.fields["icy-br"]?.split(separator: ",").first).flatMap { Int64($0) }
  }
}

/// The logs of one resource. Threading: any; nothing blocks for long.
public final class NetworkLog: Sendable {
  /// What observers are told of.
  public enum Entry: Sendable, Hashable {
    case access(AccessLogEvent)
    case error(ErrorLogEvent)
  }

  /// Older entries are dropped.
  public static let maximumEventCount = 64

  /// Names a row of the access log.
  public typealias Session = UInt64

  private struct State {
    var access: [(session: Session, event: AccessLogEvent)] = []
    var sessionCount: Session = 0
    /// The session whose bytes are played.
    var played: Session?
    var errors: [ErrorLogEvent] = []
    var station: StationInfo?
    var observers: [UInt64: @Sendable (Entry) -> Void] = [:]
    /// Entries that nobody was there to be told.
    var untold: [Entry] = []
  }

  private let state = Mutex(State())

  public init() {}

  /// That of everything that is not from a network: nothing is ever in it.
  public static let empty = NetworkLog()

  /// Sessions, in the order in which they were begun: one for each time that somebody opened the resource.
  public var accessEvents: [AccessLogEvent] { state.withLock { $0.access.map(\.event) } }
  public var errorEvents: [ErrorLogEvent] { state.withLock { $0.errors } }
  /// Nil before one is known.
  public var station: StationInfo? { state.withLock { $0.station } }

  /// Sets who is told of new entries under a key of the caller's own, or takes it away: on the thread that makes them; it must not
  /// block. Those that nobody was told are told at once.
  public func observe(key: UInt64, _ observer: (@Sendable (Entry) -> Void)?) {
    let untold = state.withLock { state in
      state.observers[key] = observer
      defer { if observer != nil { state.untold = [] } }
      return observer == nil ? [] : state.untold
    }
    for entry in untold { observer?(entry) }
  }

  /// Playing stalled.
  public func noteStall() { changePlayed { $0.numberOfStalls += 1 } }

  /// A stall is over.
  public func noteStallEnd(nanoseconds: Int64) { changePlayed { $0.stallNanoseconds += max(0, nanoseconds) } }

  /// Begins a row; what is noted for it is noted there, whoever else opens the resource meanwhile.
  public func begin(uri: String) -> Session {
    state.withLock { state in
      state.sessionCount += 1
      Self.append((session: state.sessionCount, event: AccessLogEvent(uri: uri)), to: &state.access)
      return state.sessionCount
    }
  }

  /// Changes a session's row; nothing when that was dropped.
  public func change(_ session: Session, _ body: (inout AccessLogEvent) -> Void) {
    state.withLock { state in
      guard let index = state.access.lastIndex(where: { $0.session == session }) else { return }
      body(&state.access[index].event)
    }
  }

  /// A session's bytes are played: stalls are its.
  public func markPlayed(_ session: Session) { state.withLock { $0.played = session } }

  private func changePlayed(_ body: (inout AccessLogEvent) -> Void) {
    guard let session = state.withLock({ $0.played ?? $0.access.last?.session }) else { return }
    change(session, body)
  }

  func setStation(_ station: StationInfo) { state.withLock { $0.station = station } }

  /// A session is worth telling: its server answered.
  public func tellAccess(_ session: Session) {
    guard let row = state.withLock({ $0.access.last { $0.session == session } }) else { return }
    tell(.access(row.event))
  }

  /// Something went wrong.
  public func append(_ event: ErrorLogEvent) {
    state.withLock { Self.append(event, to: &$0.errors) }
    tell(.error(event))
  }

  private func tell(_ entry: Entry) {
    let observers = state.withLock { state in
      if state.observers.isEmpty { Self.append(entry, to: &state.untold) }
      return Array(state.observers.values)
    }
    for observer in observers { observer(entry) }
  }

  private static func append<Element>(_ element: Element, to list: inout [Element]) {
    list.append(element)
    if list.count > maximumEventCount { list.removeFirst() }
  }
}
