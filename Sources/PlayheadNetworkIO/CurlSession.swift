import CPlayheadCurl
import PlayheadMediaCore

/// The `curl_multi` handle of an HTTP loop, and the TLS sessions that its transfers share.
///
/// Threading: confined to the loop's thread, except `multi` for `curl_multi_wakeup`.
final class CurlSession {
  let multi: UnsafeMutableRawPointer
  /// The TLS sessions of earlier connections.
  let share: UnsafeMutableRawPointer
  /// The transfers with running requests, by the handles of the requests.
  private var owners: [UnsafeMutableRawPointer: HTTPTransfer] = [:]

  /// - Throws: `networkUnavailable` if libcurl cannot start, `mediaLimitExceeded` without memory.
  init() throws(HTTPFailure) {
    let code = ccurl_initialize()
    guard code == CURLE_OK else {
      throw HTTPFailure(
        .networkUnavailable, "libcurl cannot start", retry: .never,
        underlying: String(cString: curl_easy_strerror(code)))
    }
    guard let share = ccurl_share_tls_sessions() else { throw CurlRequest.outOfMemory }
    guard let multi = ccurl_multi_init(HTTPLoop.idleConnectionCount) else {
      curl_share_cleanup(share)
      throw CurlRequest.outOfMemory
    }
    (self.multi, self.share) = (multi, share)
  }

  deinit {
    _ = curl_multi_cleanup(multi)
    curl_share_cleanup(share)
  }

  func start(_ request: CurlRequest, of transfer: HTTPTransfer) throws(HTTPFailure) {
    guard curl_multi_add_handle(multi, request.easy) == CURLM_OK else { throw CurlRequest.outOfMemory }
    owners[request.easy] = transfer
  }

  func stop(_ request: CurlRequest) {
    if owners.removeValue(forKey: request.easy) != nil { _ = curl_multi_remove_handle(multi, request.easy) }
  }

  /// Performs pending reads and writes, and reports finished requests to their transfers.
  func perform() {
    var runningCount: Int32 = 0
    _ = curl_multi_perform(multi, &runningCount)
    var result = CURLE_OK
    while let easy = ccurl_multi_next_finished(multi, &result) { owners[easy]?.requestFinished(result) }
  }

  /// Waits for activity on a connection, for `curl_multi_wakeup`, or for the timeout.
  func poll(milliseconds: Int32) { _ = curl_multi_poll(multi, nil, 0, milliseconds, nil) }
}
