import CPlayheadCurl
import Glibc
import PlayheadMediaCore

/// A GET request, as a `curl_easy` handle. Confined to the loop's thread. The owner must outlive the request.
final class CurlRequest {
  let easy: UnsafeMutableRawPointer
  private var headers: UnsafeMutablePointer<curl_slist>?
  /// The buffer in which curl stores its error message.
  private let errorBuffer: UnsafeMutablePointer<CChar>

  static let outOfMemory = HTTPFailure(.mediaLimitExceeded, "not enough memory for a transfer", retry: .never)

  /// - Parameters:
  ///   - bytes: the byte range to request, such as `0-`; nil for the whole resource or live stream.
  ///   - share: the TLS sessions of earlier connections.
  ///   - usesNewConnection: do not reuse the connection of an earlier request.
  ///   - owner: receives the response, from within `curl_multi_perform`.
  init(
    url: HTTPURL, options: HTTPOptions, bytes: String?, interface: String?, share: UnsafeMutableRawPointer?,
    usesNewConnection: Bool, owner: HTTPTransfer
  ) throws(HTTPFailure) {
    guard let easy = curl_easy_init() else { throw Self.outOfMemory }
    self.easy = easy
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.update(repeating: 0, count: Int(CURL_ERROR_SIZE))
    let codes = [
      ccurl_set_error_buffer(easy, errorBuffer),
      set(CURLOPT_URL, url.text),
      set(CURLOPT_PROTOCOLS_STR, "http,https"),
      // The transfer follows redirects itself: curl would send custom header fields to every server on the way.
      set(CURLOPT_FOLLOWLOCATION, 0),
      set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      set(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
      set(CURLOPT_NOSIGNAL, 1),
      // Releasing the handle does not wait for an unresponsive name server.
      set(CURLOPT_QUICK_EXIT, 1),
      set(CURLOPT_HTTP09_ALLOWED, 0),
      // The response of a proxy to CONNECT is not a response of the server.
      set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      options.proxy.map { set(CURLOPT_PROXY, $0) } ?? CURLE_OK,
      set(CURLOPT_TCP_KEEPALIVE, 1),
      set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(options.connectTimeout)),
      set(CURLOPT_USERAGENT, options.userAgent ?? "Playhead/\(ProductVersion.text)"),
      set(
        CURLOPT_HTTP_VERSION,
        options.allowsHTTP2 ? Int(CURL_HTTP_VERSION_2TLS) : Int(CURL_HTTP_VERSION_1_1)),
      interface.map { set(CURLOPT_INTERFACE, "if!\($0)") } ?? CURLE_OK,
      options.certificateAuthorityFile.map { set(CURLOPT_CAINFO, $0) } ?? CURLE_OK,
      bytes.map { set(CURLOPT_RANGE, $0) } ?? CURLE_OK,
      ccurl_set_share(easy, share),
      set(CURLOPT_FRESH_CONNECT, usesNewConnection ? 1 : 0),
      setAliases(),
      setHeaders(options.headers),
      ccurl_set_callbacks(
        easy, Self.bodyCallback, Self.headerCallback, Self.readyCallback, Self.socketCallback,
        Unmanaged.passUnretained(owner).toOpaque()),
    ]
    if let code = codes.first(where: { $0 != CURLE_OK }) {
      throw HTTPFailure(curl: code, systemError: 0, text: errorMessage, url: url)
    }
  }

  deinit {
    curl_easy_cleanup(easy)
    curl_slist_free_all(headers)
    curl_slist_free_all(aliases)
    errorBuffer.deallocate()
  }

  private var aliases: UnsafeMutablePointer<curl_slist>?

  private func set(_ option: CURLoption, _ value: Int) -> CURLcode { ccurl_set_long(easy, option, value) }
  private func set(_ option: CURLoption, _ value: String) -> CURLcode { ccurl_set_string(easy, option, value) }

  /// Old stations send `ICY 200 OK` as the status line.
  private func setAliases() -> CURLcode {
    aliases = curl_slist_append(nil, "ICY 200 OK")
    return ccurl_set_list(easy, CURLOPT_HTTP200ALIASES, aliases)
  }

  private func setHeaders(_ fields: [HTTPOptions.Header]) -> CURLcode {
    headers = curl_slist_append(nil, "Icy-MetaData: 1")
    for field in fields {
      // curl removes a field given as `Name:`, and sends a field given as `Name;` with an empty value.
      let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
      guard let longer = curl_slist_append(headers, line) else { return CURLE_OUT_OF_MEMORY }
      headers = longer
    }
    return ccurl_set_list(easy, CURLOPT_HTTPHEADER, headers)
  }

  private static func milliseconds(_ duration: Duration) -> Int {
    Int(max(1, min(duration.nanoseconds / 1_000_000, 86_400_000)))
  }

  // MARK: - Running

  /// Resumes the transfer when the window has room for the body.
  func resume() { _ = curl_easy_pause(easy, CURLPAUSE_CONT) }

  /// The error message of curl; empty if there is none.
  private var errorMessage: String {
    String(
      decoding: UnsafeBufferPointer(start: errorBuffer, count: Int(CURL_ERROR_SIZE)).prefix { $0 != 0 }
        .map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// The failure for a result of curl; nil for success.
  func failure(_ code: CURLcode, url: HTTPURL) -> HTTPFailure? {
    guard code != CURLE_OK else { return nil }
    var systemError = 0
    _ = ccurl_get_long(easy, CURLINFO_OS_ERRNO, &systemError)
    return HTTPFailure(curl: code, systemError: systemError, text: errorMessage, url: url)
  }

  /// Whether the request used the connection of an earlier request.
  var usedEarlierConnection: Bool {
    var count = 1
    return ccurl_get_long(easy, CURLINFO_NUM_CONNECTS, &count) == CURLE_OK && count == 0
  }

  /// The address of the server that responded.
  var serverAddress: String? {
    var address: UnsafePointer<CChar>?
    guard ccurl_get_string(easy, CURLINFO_PRIMARY_IP, &address) == CURLE_OK else { return nil }
    return address.map { String(cString: $0) }
  }

  // MARK: - Callbacks

  private static func owner(_ context: UnsafeMutableRawPointer) -> HTTPTransfer {
    Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
  }

  private static let bodyCallback: ccurl_data_callback = { data, size, count, context in
    guard let data, let context else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    switch owner(context).receive(body: bytes) {
    case true?: return bytes.count
    case nil: return Int(CURL_WRITEFUNC_PAUSE)
    case false?: return bytes.isEmpty ? 1 : 0
    }
  }

  private static let headerCallback: ccurl_data_callback = { data, size, count, context in
    guard let data, let context else { return 0 }
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    return owner(context).receive(headerLine: bytes) ? bytes.count : 0
  }

  private static let readyCallback: ccurl_ready_callback = { context, address, _, _, _ in
    let address = address.flatMap { IPAddress(host: String(cString: $0)) }
    guard let context, owner(context).connected(to: address) else { return Int32(CURL_PREREQFUNC_ABORT) }
    return Int32(CURL_PREREQFUNC_OK)
  }

  private static let socketCallback: ccurl_socket_callback = { context, _, address in
    guard let context, let address, let destination = ccurl_address(address),
      owner(context).mayConnect(to: destination)
    else { return -1 }
    let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(address.pointee.family, kind, address.pointee.protocol)
  }
}
