/// Options for opening a URL.
///
/// <!-- listing: http-options -->
/// ```swift
/// var options = HTTPOptions()
/// options.headers = [HTTPOptions.Header(name: "Authorization", value: "Bearer x")]
/// options.connectTimeout = .seconds(5)
/// options.networkRules = try NetworkRules(allow: ["radio.example"], deny: [])
/// let asset = Asset(url: try HTTPURL("https://radio.example/live"), options: options)
/// let item = PlayerItem(asset: asset)
/// ```
public struct HTTPOptions: Sendable, Hashable {
  /// A header field of a request.
  public struct Header: Sendable, Hashable {
    /// The name of the field, such as `Authorization`.
    public let name: String
    /// The value of the field.
    public let value: String

    /// Creates a field. Opening a URL checks it.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The servers that header fields are sent to.
  public enum HeaderScope: String, Sendable, Hashable {
    /// The origin (scheme, host and port) of the URL that the fields were given for.
    case origin
    /// Every server that a redirect, a playlist or a stream names. Excludes `http` servers reached from an `https`
    /// URL.
    case any
  }

  /// Header fields of each request to the servers of `headerScope`. They replace the fields that are sent by default.
  /// Opening rejects `Range`, `Host` and fields about the connection.
  public var headers: [Header] {
    get { storedHeaders }
    set {
      // Not in an observer: an assignment in an initializer of an extension calls no observer.
      storedHeaders = newValue
      headerByteCount = newValue.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
  }
  private var storedHeaders: [Header] = []
  /// The number of bytes of `headers`. Counted once, because many queue entries may share thousands of fields.
  public private(set) var headerByteCount = 0
  /// The servers that `headers` are sent to.
  public var headerScope = HeaderScope.origin
  /// The user agent; nil for the default, `Playhead/VERSION`.
  public var userAgent: String?
  /// Whether the network may be used. If false, opening fails with `networkNotAllowed` before name resolution.
  /// Default: true.
  public var isNetworkAllowed = true
  /// Whether a policy, such as that of the daemon, forbids the network.
  /// True overrides `isNetworkAllowed`. Default: false.
  public var isNetworkForbidden = false
  /// The servers that may be reached. Opening other servers fails with `addressNotAllowed`.
  public var networkRules = NetworkRules()
  /// The names of permitted network interfaces (`eth0`), in the order of attempts; empty for all.
  public var interfaces: [String] = []
  /// A file with trusted CA certificates (PEM); nil for the system's.
  public var certificateAuthorityFile: String?
  /// Whether HTTP/2 may be used with servers that offer it over TLS. Default: true.
  public var allowsHTTP2 = true

  /// The URL of the proxy; nil for the proxy of the environment (`https_proxy`), if any.
  var proxy: String?

  /// The timeout for a connection, including name resolution and the TLS handshake. Default: 10 s.
  public var connectTimeout = Duration.seconds(10)
  /// The timeout from sending the request to the end of the response header. Default: 15 s.
  public var firstByteTimeout = Duration.seconds(15)
  /// The time within which `minimumStallByteCount` bytes of the body must arrive, while bytes are needed.
  /// Default: 15 s.
  public var stallTimeout = Duration.seconds(15)
  /// The delay before each further attempt, when one has failed and another may succeed. The read fails when all
  /// delays are used. The count restarts whenever `attemptByteCount` further bytes have arrived.
  public var reconnectDelays: [Duration] = [0.5, 1, 2, 4, 8].map { .seconds($0) }
  /// The maximum delay that a server's `Retry-After` can cause. Default: 30 s.
  public var maximumRetryAfter = Duration.seconds(30)

  /// The maximum bit rate of an HLS variant, in bits per second. The best variant within the limit is played. Nil or
  /// 0: no limit.
  public var preferredPeakBitRate: Int64?

  /// Creates the default options.
  public init() {}

  /// The number of bytes to read ahead of the requested ones.
  package static let aheadByteCount = 4 << 20
  /// The number of retained bytes before the requested ones.
  package static let retainedByteCount = 1 << 20
  /// A forward jump of at most this many bytes continues the running transfer instead of starting a new request.
  static let maximumForwardJumpByteCount: Int64 = 256 << 10
  /// The maximum number of bytes to read and discard to reach an offset on a server without ranges.
  static let maximumSkipByteCount: Int64 = 16 << 20
  /// The number of body bytes that must arrive within `stallTimeout`.
  package static let minimumStallByteCount = 512
  /// The number of received bytes after which the count of failed attempts restarts.
  package static let attemptByteCount: Int64 = 4_096
  static let maximumRedirectCount = 10
  /// The maximum number of body bytes of a redirect that are read to keep the connection reusable.
  static let redirectBodyByteCount: Int64 = 64 << 10
  /// The maximum number of bytes of a response header.
  static let maximumHeaderByteCount = 256 << 10
  /// The maximum number of bytes of all custom header fields together.
  public static let maximumRequestHeaderByteCount = 16 << 10
}

extension Duration {
  /// The duration in nanoseconds; saturates.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? (seconds < 0 ? .min : .max) : whole &+ attoseconds / 1_000_000_000
  }
}
