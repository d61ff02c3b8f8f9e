import CCurl
import Glibc
import MediaCore

/// The failure of a request. All curl codes and HTTP statuses are converted to errors with public numbers here.
struct HTTPFailure: Error, Sendable, Hashable {
  /// Whether another attempt may succeed.
  enum Retry: Sendable, Hashable {
    case never
    /// Retry only when the resource has been opened before. An address that never responded is more likely wrong than
    /// busy.
    case whenOpened
    case always
  }

  var error: MediaError
  var retry: Retry
  /// The retry delay that the server requests.
  var retryAfter: Duration?
  /// The HTTP status of the response, or the curl code.
  var statusCode: Int

  init(
    _ code: MediaError.Code, _ message: String, retry: Retry, statusCode: Int = 0, underlying: String? = nil,
    retryAfter: Duration? = nil
  ) {
    error = MediaError(code, message, operation: "http", underlying: underlying)
    self.retry = retry
    self.retryAfter = retryAfter
    self.statusCode = statusCode
  }

  /// Creates the failure for an unsuccessful HTTP response.
  init(status: Int, head: ResponseHead, url: HTTPURL) {
    let (code, words, retry): (MediaError.Code, String, Retry) =
      switch status {
      case 401: (.httpUnauthorized, "the server wants a name and a password for", .never)
      case 403: (.httpForbidden, "the server refuses", .never)
      case 404: (.httpNotFound, "the server does not have", .never)
      case 410: (.httpGone, "the server does not have any more", .never)
      case 416: (.httpRangeNotSatisfiable, "the server does not have that part of", .never)
      case 408, 429: (.httpRefused, "the server does not give now", .always)
      case 400..<500: (.httpRefused, "the server does not give", .never)
      case 500..<600: (.httpServerError, "the server failed with", .always)
      default: (.badHTTPResponse, "the server answers strangely to a request for", .never)
      }
    self.init(
      code, "\(words) \(url)", retry: retry, statusCode: status, underlying: "HTTP status \(status)",
      retryAfter: head.retryAfter)
  }

  /// Creates the failure for a transfer that curl could not start or complete.
  init(curl code: CURLcode, systemError: Int, text: String, url: HTTPURL) {
    let (number, words, retry) = Self.meaning(of: code, systemError: systemError)
    let reason = text.isEmpty ? String(cString: ccurl_easy_strerror(code)) : text
    self.init(
      number, "\(words): \(url)", retry: retry, statusCode: Int(code.rawValue),
      underlying: "\(reason) (curl \(code.rawValue))")
  }

  private static func meaning(of code: CURLcode, systemError: Int) -> (MediaError.Code, String, Retry) {
    switch code {
    case CURLE_URL_MALFORMAT: (.invalidArgument, "not a URL", .never)
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      (.hostNotFound, "there is no such host, or no name server answers", .whenOpened)
    case CURLE_COULDNT_CONNECT:
      systemError == ENETUNREACH || systemError == EHOSTUNREACH || systemError == ENETDOWN
        ? (.networkUnavailable, "no network leads to the server", .whenOpened)
        : (.connectionRefused, "no connection to the server", .whenOpened)
    case CURLE_INTERFACE_FAILED:
      (.networkUnavailable, "the network interface is not there or leads nowhere", .whenOpened)
    case CURLE_OPERATION_TIMEDOUT: (.networkTimedOut, "the server cannot be reached in time", .whenOpened)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CRL_BADFILE:
      (.tlsFailed, "no trusted connection to the server", .never)
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2,
      CURLE_HTTP2_STREAM, CURLE_SSL_SHUTDOWN_FAILED:
      (.connectionLost, "the connection to the server broke", .whenOpened)
    case CURLE_OUT_OF_MEMORY: (.mediaLimitExceeded, "no memory for a transfer", .never)
    default: (.badHTTPResponse, "the server's answer makes no sense", .never)
    }
  }

  /// Whether another attempt is permitted.
  func mayRetry(hasOpened: Bool) -> Bool {
    switch retry {
    case .never: false
    case .whenOpened: hasOpened
    case .always: true
    }
  }
}
