import CCurl
import MediaCore

/// The `curl_multi` handle of an HTTP loop, and the TLS sessions that its transfers share.
///
/// Threading: confined to the loop's thread, except `multi` for `ccurl_multi_wakeup`.
final class CurlSession {
  let multi: UnsafeMutableRawPointer
  /// The TLS sessions of earlier connections.
  let share: UnsafeMutableRawPointer
  /// The transfers with running requests, by the handles of the requests.
  private var owners: [UnsafeMutableRawPointer: HTTPTransfer] = [:]

  /// - Throws: `networkUnavailable` without libcurl, `mediaLimitExceeded` without memory.
  init() throws(HTTPFailure) {
    if let reason = ccurl_load() {
      throw HTTPFailure(
        .networkUnavailable, "libcurl cannot be loaded", retry: .never, underlying: String(cString: reason))
    }
    guard let share = ccurl_share_tls_sessions() else { throw CurlRequest.outOfMemory }
    guard let multi = ccurl_multi_init(HTTPLoop.idleConnectionCount) else {
      ccurl_share_cleanup(share)
      throw CurlRequest.outOfMemory
    }
    (self.multi, self.share) = (multi, share)
  }

  deinit {
    _ = ccurl_multi_cleanup(multi)
    ccurl_share_cleanup(share)
  }

  func start(_ request: CurlRequest, of transfer: HTTPTransfer) throws(HTTPFailure) {
    guard ccurl_multi_add(multi, request.easy) == CURLM_OK else { throw CurlRequest.outOfMemory }
    owners[request.easy] = transfer
  }

  func stop(_ request: CurlRequest) {
    if owners.removeValue(forKey: request.easy) != nil { _ = ccurl_multi_remove(multi, request.easy) }
  }

  /// Performs pending reads and writes, and reports finished requests to their transfers.
  func perform() {
    var runningCount: Int32 = 0
    _ = ccurl_multi_perform(multi, &runningCount)
    var result = CURLE_OK
    while let easy = ccurl_multi_next_finished(multi, &result) { owners[easy]?.requestFinished(result) }
  }

  /// Waits for activity on a connection, for `ccurl_multi_wakeup`, or for the timeout.
  func poll(milliseconds: Int32) { _ = ccurl_multi_poll(multi, milliseconds) }
}
