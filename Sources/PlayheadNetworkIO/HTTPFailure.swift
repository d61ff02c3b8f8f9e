import CPlayheadCurl
import Glibc
import PlayheadMediaCore

/// The failure of a request. All curl codes and HTTP statuses are converted to errors with public numbers here.
struct HTTPFailure: Error, Sendable, Hashable {
  /// Whether another attempt may succeed.
  enum Retry: Sendable, Hashable {
    case never
    /// Retry only when the resource has been opened before. A URL that never responded is more likely wrong than
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
    let (code, description, retry): (MediaError.Code, String, Retry) =
      switch status {
      case 401: (.httpUnauthorized, "the server requires a user name and a password for", .never)
      case 403: (.httpForbidden, "the server denies access to", .never)
      case 404: (.httpNotFound, "the server does not have", .never)
      case 410: (.httpGone, "the server no longer has", .never)
      case 416: (.httpRangeNotSatisfiable, "the server does not have the requested range of", .never)
      case 408, 429: (.httpRefused, "the server temporarily refuses", .always)
      case 400..<500: (.httpRefused, "the server refuses", .never)
      case 500..<600: (.httpServerError, "the server failed to deliver", .always)
      default: (.badHTTPResponse, "the server sent an unexpected response for", .never)
      }
    self.init(
      code, "\(description) \(url)", retry: retry, statusCode: status, underlying: "HTTP status \(status)",
      retryAfter: head.retryAfter)
  }

  /// Creates the failure for a transfer that curl could not start or complete.
  init(curl code: CURLcode, systemError: Int, text: String, url: HTTPURL) {
    let (errorCode, description, retry) = Self.meaning(of: code, systemError: systemError)
    let reason = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
    self.init(
      errorCode, "\(description): \(url)", retry: retry, statusCode: Int(code.rawValue),
      underlying: "\(reason) (curl \(code.rawValue))")
  }

  private static func meaning(of code: CURLcode, systemError: Int) -> (MediaError.Code, String, Retry) {
    switch code {
    case CURLE_URL_MALFORMAT: (.invalidArgument, "not a URL", .never)
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      (.hostNotFound, "the host name cannot be resolved", .whenOpened)
    case CURLE_COULDNT_CONNECT:
      systemError == ENETUNREACH || systemError == EHOSTUNREACH || systemError == ENETDOWN
        ? (.networkUnavailable, "no route to the server", .whenOpened)
        : (.connectionRefused, "cannot connect to the server", .whenOpened)
    case CURLE_INTERFACE_FAILED:
      (.networkUnavailable, "the network interface is not available", .whenOpened)
    case CURLE_OPERATION_TIMEDOUT: (.networkTimedOut, "the connection to the server timed out", .whenOpened)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_CRL_BADFILE:
      (.tlsFailed, "cannot establish a trusted connection to the server", .never)
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2,
      CURLE_HTTP2_STREAM, CURLE_SSL_SHUTDOWN_FAILED:
      (.connectionLost, "the connection to the server was lost", .whenOpened)
    case CURLE_OUT_OF_MEMORY: (.mediaLimitExceeded, "not enough memory for a transfer", .never)
    default: (.badHTTPResponse, "the server sent an invalid response", .never)
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
