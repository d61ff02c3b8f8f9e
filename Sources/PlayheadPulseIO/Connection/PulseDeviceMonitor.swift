import CPlayheadPulse
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio

// Watches a sound server, which may appear and disappear, and its devices. Owns one libpulse loop. The loop's thread
// sleeps until the server reports a change, or the kernel reports a change in the folder of the server's socket. It
// never waits for a reply: the devices of a hanging server are reported when the server responds again. No timer runs,
// with one exception: between bind(2) and listen(2) a starting server refuses connections, so the monitor retries for
// half a second.

/// Reports the devices of a sound server, through libpulse.
///
/// Threading: as `AudioDeviceMonitor`; reports come from libpulse's thread, `playhead-pulse`.
package final class PulseDeviceMonitor: AudioDeviceMonitor, @unchecked Sendable {
  // `@unchecked Sendable`: all mutable state is protected by the loop's lock.
  private typealias Box = CallbackBox<PulseDeviceMonitor>

  private static let refusalRetryMicroseconds: UInt64 = 20_000
  private static let refusalRetryLimit = 25

  private let path: String
  private let server: String
  private let mainloop: PulseMainloop
  private let folderWatch: FolderWatch
  private var folderEvent: LoopEvent?
  private var retryEvent: LoopEvent?
  private var endEvent: LoopEvent?
  private lazy var userdata = mainloop.userdata(for: self)
  private var context: OpaquePointer?
  /// Whether the current connection has been ready.
  private var hasBeenReady = false
  private var refusalCount = 0
  private var onReport: ((AudioDevices?) -> Void)?
  /// The last report; nil before the first one.
  private var lastReport: AudioDevices??
  /// Whether the next reply is reported even if nothing changed.
  private var isForced = false
  /// The parts of the reply that have arrived; nil while no query is pending.
  private var pendingDevices: AudioDevices?
  /// Whether something changed since the query.
  private var isStale = false
  private var isCancelled = false

  /// Returns whether the appearance of `server` (nil: the user's default) can be watched: it has a Unix socket with a
  /// known path.
  package static func canWatch(server: String?) -> Bool { PulseServerAddress.socketPath(server: server) != nil }

  /// Prepares to watch `server` (nil: the user's default, as libpulse finds it). Its socket and the folders of its path
  /// need not exist. The server is never started.
  ///
  /// - Throws: `outputUnavailable` when the server is not on a Unix socket, or the system has no descriptor or thread
  ///   left.
  package init(server: String? = nil) throws(MediaError) {
    guard let path = PulseServerAddress.socketPath(server: server) else {
      throw MediaError(.outputUnavailable, "the sound server has no Unix socket to watch")
    }
    self.path = path
    self.server = server ?? "unix:\(path)"
    folderWatch = FolderWatch(path: path)
    guard folderWatch.descriptor >= 0 else {
      throw MediaError(.outputUnavailable, "the sound server cannot be watched: no file descriptor is left")
    }
    do { mainloop = try PulseMainloop() } catch {
      throw error.mediaError(.outputUnavailable, "the sound server cannot be watched")
    }
  }

  deinit { cancel() }

  // MARK: - AudioDeviceMonitor

  package func start(_ onReport: @escaping @Sendable (AudioDevices?) -> Void) {
    mainloop.withLock {
      precondition(self.onReport == nil, "a monitor can start only once")
      self.onReport = onReport
      folderEvent = LoopEvent(readable: folderWatch.descriptor, on: mainloop, userdata) { _, _, _, _, userdata in
        Box.target(userdata)?.folderChanged()
      }
      connect()
    }
  }

  package func check() {
    mainloop.withLock {
      guard !isCancelled else { return }
      isForced = true
      if context == nil { connect() } else { queryDevices() }
    }
  }

  package func cancel() {
    let isFirst = mainloop.withLock {
      defer { isCancelled = true }
      return !isCancelled
    }
    guard isFirst else { return }
    mainloop.stop()
    // The loop's thread has ended, so nothing runs concurrently.
    folderEvent = nil
    retryEvent = nil
    endEvent = nil
    dropContext()
    onReport = nil
  }

  // MARK: - Connection (everything below under the loop's lock)

  private func folderChanged() {
    refusalCount = 0
    // A connected monitor does not search for the socket, but must read the events.
    if context == nil { connect() } else { _ = folderWatch.prepare() }
  }

  private func connect() {
    guard context == nil else { return }
    // The watch precedes the check, so that a socket that appears in between is found.
    guard folderWatch.prepare(), access(path, F_OK) == 0, let newContext = makeContext() else { return report(nil) }
    context = newContext
    pa_context_set_state_callback(newContext, { _, userdata in Box.target(userdata)?.stateChanged() }, userdata)
    if pa_context_connect(newContext, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { connectionEnded() }
  }

  private func makeContext() -> OpaquePointer? {
    let properties = pa_proplist_new()
    defer { if let properties { pa_proplist_free(properties) } }
    pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, "Playhead")
    return pa_context_new_with_proplist(mainloop.api, "Playhead", properties)
  }

  private func stateChanged() {
    guard let context else { return }
    switch pa_context_get_state(context) {
    case PA_CONTEXT_READY:
      hasBeenReady = true
      refusalCount = 0
      pa_context_set_subscribe_callback(
        context, { _, _, _, userdata in Box.target(userdata)?.queryDevices() }, userdata)
      let mask = PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SOURCE.rawValue
      let all = pa_subscription_mask_t(mask | PA_SUBSCRIPTION_MASK_SERVER.rawValue)
      PulseOperation.start(pa_context_subscribe(context, all, nil, nil))
      queryDevices()
    case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: connectionEnded()
    default: break
    }
  }

  /// Defers the end of the connection, because this is called from within the context's callback.
  private func connectionEnded() {
    pendingDevices = nil
    guard endEvent == nil else { return }
    endEvent = LoopEvent(deferredOn: mainloop, userdata) { _, _, userdata in Box.target(userdata)?.finishConnection() }
  }

  private func finishConnection() {
    endEvent = nil
    guard let context else { return }
    let hasTimedOut = pa_context_errno(context) == Int32(PA_ERR_TIMEOUT.rawValue)
    let mayBeReplaced = hasBeenReady || hasTimedOut
    hasBeenReady = false
    dropContext()
    report(nil)
    // A server that has ended may already have a successor: connect at once. A server that refuses connections may be
    // about to listen: retry later.
    guard !mayBeReplaced else { return connect() }
    refusalCount += 1
    guard refusalCount <= Self.refusalRetryLimit, retryEvent == nil else { return }
    var time = timeval()
    pa_gettimeofday(&time)
    pa_timeval_add(&time, Self.refusalRetryMicroseconds)
    retryEvent = LoopEvent(at: time, on: mainloop, userdata) { _, _, _, userdata in Box.target(userdata)?.retry() }
  }

  private func retry() {
    retryEvent = nil
    connect()
  }

  private func dropContext() {
    guard let context else { return }
    self.context = nil
    pendingDevices = nil
    pa_context_set_state_callback(context, nil, nil)
    pa_context_set_subscribe_callback(context, nil, nil)
    pa_context_disconnect(context)
    pa_context_unref(context)
  }

  // MARK: - Queries

  /// Queries the devices; the replies come in the order of the requests.
  private func queryDevices() {
    guard let context, pa_context_get_state(context) == PA_CONTEXT_READY else { return }
    guard pendingDevices == nil else {
      isStale = true
      return
    }
    isStale = false
    pendingDevices = AudioDevices()
    PulseOperation.start(
      pa_context_get_server_info(
        context, { _, info, userdata in Box.target(userdata)?.receiveServerInfo(info?.pointee) }, userdata))
    PulseOperation.start(
      pa_context_get_sink_info_list(
        context,
        { _, info, _, userdata in
          guard let device = info.flatMap({ AudioDevice($0.pointee) }) else { return }
          Box.target(userdata)?.pendingDevices?.outputs.append(device)
        }, userdata))
    let isPending = PulseOperation.start(
      pa_context_get_source_info_list(
        context,
        { _, info, endOfList, userdata in
          guard let monitor = Box.target(userdata) else { return }
          if let device = info.flatMap({ AudioDevice($0.pointee) }) { monitor.pendingDevices?.inputs.append(device) }
          if endOfList != 0 { monitor.queryEnded(isWhole: endOfList > 0) }
        }, userdata))
    if !isPending { pendingDevices = nil }
  }

  private func receiveServerInfo(_ info: pa_server_info?) {
    guard let info else { return }
    func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
    pendingDevices?.serverName = text(info.server_name) ?? ""
    pendingDevices?.defaultOutputName = text(info.default_sink_name)
    pendingDevices?.defaultInputName = text(info.default_source_name)
  }

  private func queryEnded(isWhole: Bool) {
    guard let devices = pendingDevices else { return }
    pendingDevices = nil
    // A failed query is repeated, for example after a hanging server did not reply for half a minute.
    if isStale || !isWhole { return queryDevices() }
    report(devices)
  }

  private func report(_ devices: AudioDevices?) {
    guard !isCancelled, isForced || lastReport == nil || lastReport != .some(devices) else { return }
    isForced = false
    lastReport = .some(devices)
    onReport?(devices)
  }
}
