import CPulse
import Glibc
import MediaCore
import RealtimeAudio

// Follows a sound server that may come and go, and what devices it has. Owns one libpulse loop, whose thread sleeps until
// the server says that something changed, or the kernel that something appeared beside the server's socket. It never waits
// for an answer: a server that hangs is heard of when it goes on. No timer runs, with one exception: between bind(2) and
// listen(2) a server that starts refuses connections, and is asked again for half a second.

/// Reports what a sound server has, through libpulse.
///
/// Threading: `AudioDeviceMonitor`'s; reports come from libpulse's thread, `playhead-pulse`.
public final class PulseDeviceMonitor: AudioDeviceMonitor, @unchecked Sendable {
  // `@unchecked Sendable`: everything that changes is protected by the loop's lock.
  private static let refusalRetryMicroseconds: UInt64 = 20_000
  private static let refusalRetryLimit = 25

  private let path: String
  private let server: String
  private let mainloop: PulseMainloop
  private let folder: FolderWatch
  private var folderEvent: OpaquePointer?
  private var retryEvent: OpaquePointer?
  private var endEvent: OpaquePointer?
  private var context: OpaquePointer?
  /// Whether the present connection was good for something.
  private var hasBeenReady = false
  private var refusalCount = 0
  private var onReport: ((AudioDevices?) -> Void)?
  /// What was reported last; nil before the first report.
  private var reported: AudioDevices??
  /// The next answer is reported, whatever it is.
  private var isForced = false
  /// What the server has told so far of the answer under way; nil while nothing is asked.
  private var gathering: AudioDevices?
  /// Something changed since it was asked.
  private var isStale = false
  private var isCancelled = false

  /// Whether `server` (nil: the user's default) is where its appearance can be seen: on a Unix socket whose path is known.
  public static func canWatch(server: String?) -> Bool { PulseServerAddress.socketPath(server: server) != nil }

  /// Prepares to follow `server` (nil: the user's default, as libpulse finds it). Its socket and the folders that it lies
  /// in need not exist; it is never started.
  ///
  /// Errors: `outputUnavailable` when the server is not on a Unix socket, or the system has no descriptor or thread left.
  public init(server: String? = nil) throws(MediaError) {
    guard let path = PulseServerAddress.socketPath(server: server) else {
      throw MediaError(.outputUnavailable, "the sound server has no socket that could be watched")
    }
    self.path = path
    self.server = server ?? "unix:\(path)"
    folder = FolderWatch(path: path)
    guard folder.descriptor >= 0 else {
      throw MediaError(.outputUnavailable, "nothing can be watched: no file descriptor is left")
    }
    do { mainloop = try PulseMainloop() } catch {
      throw error.mediaError(.outputUnavailable, "the sound server cannot be watched")
    }
  }

  deinit { cancel() }

  // MARK: - AudioDeviceMonitor

  public func start(_ onReport: @escaping @Sendable (AudioDevices?) -> Void) {
    mainloop.withLock {
      precondition(self.onReport == nil, "a monitor starts once")
      self.onReport = onReport
      folderEvent = api.pointee.io_new(
        api, folder.descriptor, PA_IO_EVENT_INPUT, { _, _, _, _, own in PulseDeviceMonitor.from(own)?.folderChanged() },
        own)
      connect()
    }
  }

  public func check() {
    mainloop.withLock {
      guard !isCancelled else { return }
      isForced = true
      if context == nil { connect() } else { ask() }
    }
  }

  public func cancel() {
    let isFirst = mainloop.withLock {
      defer { isCancelled = true }
      return !isCancelled
    }
    guard isFirst else { return }
    mainloop.stop()
    // The loop's thread has ended: nothing can run beside this.
    if let folderEvent { api.pointee.io_free(folderEvent) }
    if let retryEvent { api.pointee.time_free(retryEvent) }
    if let endEvent { api.pointee.defer_free(endEvent) }
    dropContext()
    onReport = nil
  }

  // MARK: - The connection. All below with the loop's lock held.

  private var api: UnsafeMutablePointer<pa_mainloop_api> { mainloop.api }
  private var own: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private static func from(_ pointer: UnsafeMutableRawPointer?) -> PulseDeviceMonitor? {
    pointer.map { Unmanaged<PulseDeviceMonitor>.fromOpaque($0).takeUnretainedValue() }
  }

  private func folderChanged() {
    refusalCount = 0
    // While there is a connection there is nothing to look for; what happened is taken in nevertheless.
    if context == nil { connect() } else { _ = folder.prepare() }
  }

  private func connect() {
    guard context == nil else { return }
    // First the watch, then the look: what appears in between is seen.
    guard folder.prepare(), access(path, F_OK) == 0, let made = makeContext() else { return report(nil) }
    context = made
    pa_context_set_state_callback(made, { _, own in PulseDeviceMonitor.from(own)?.stateChanged() }, own)
    if pa_context_connect(made, server, PA_CONTEXT_NOAUTOSPAWN, nil) < 0 { connectionEnded() }
  }

  private func makeContext() -> OpaquePointer? {
    let properties = pa_proplist_new()
    defer { if let properties { pa_proplist_free(properties) } }
    pa_proplist_sets(properties, PA_PROP_APPLICATION_NAME, "Playhead")
    return pa_context_new_with_proplist(api, "Playhead", properties)
  }

  private func stateChanged() {
    guard let context else { return }
    switch pa_context_get_state(context) {
    case PA_CONTEXT_READY:
      hasBeenReady = true
      refusalCount = 0
      pa_context_set_subscribe_callback(context, { _, _, _, own in PulseDeviceMonitor.from(own)?.ask() }, own)
      let mask = PA_SUBSCRIPTION_MASK_SINK.rawValue | PA_SUBSCRIPTION_MASK_SOURCE.rawValue
      let all = pa_subscription_mask_t(mask | PA_SUBSCRIPTION_MASK_SERVER.rawValue)
      if let operation = pa_context_subscribe(context, all, nil, nil) { pa_operation_unref(operation) }
      ask()
    case PA_CONTEXT_FAILED, PA_CONTEXT_TERMINATED: connectionEnded()
    default: break
    }
  }

  /// The context is in the middle of its own call: it goes when that is over.
  private func connectionEnded() {
    gathering = nil
    if endEvent != nil { return }
    endEvent = api.pointee.defer_new(api, { _, _, own in PulseDeviceMonitor.from(own)?.connectionIsOver() }, own)
  }

  private func connectionIsOver() {
    if let endEvent { api.pointee.defer_free(endEvent) }
    endEvent = nil
    guard let context else { return }
    let wasSilent = pa_context_errno(context) == Int32(PA_ERR_TIMEOUT.rawValue)
    let mayBeReplaced = hasBeenReady || wasSilent
    hasBeenReady = false
    dropContext()
    report(nil)
    // One that has ended may have been replaced already; one that refuses may be about to listen.
    guard !mayBeReplaced else { return connect() }
    refusalCount += 1
    guard refusalCount <= Self.refusalRetryLimit, retryEvent == nil else { return }
    var time = timeval()
    pa_gettimeofday(&time)
    pa_timeval_add(&time, Self.refusalRetryMicroseconds)
    retryEvent = api.pointee.time_new(api, &time, { _, _, _, own in PulseDeviceMonitor.from(own)?.retry() }, own)
  }

  private func retry() {
    if let retryEvent { api.pointee.time_free(retryEvent) }
    retryEvent = nil
    connect()
  }

  private func dropContext() {
    guard let context else { return }
    self.context = nil
    gathering = nil
    pa_context_set_state_callback(context, nil, nil)
    pa_context_set_subscribe_callback(context, nil, nil)
    pa_context_disconnect(context)
    pa_context_unref(context)
  }

  // MARK: - Asking

  /// Asks what there is; the answers come in the order of the questions.
  private func ask() {
    guard let context, pa_context_get_state(context) == PA_CONTEXT_READY else { return }
    guard gathering == nil else {
      isStale = true
      return
    }
    isStale = false
    gathering = AudioDevices()
    let operations = [
      pa_context_get_server_info(context, { _, info, own in PulseDeviceMonitor.from(own)?.gather(info?.pointee) }, own),
      pa_context_get_sink_info_list(
        context,
        { _, info, _, own in
          guard let device = info.flatMap({ AudioDevice($0.pointee) }) else { return }
          PulseDeviceMonitor.from(own)?.gathering?.outputs.append(device)
        }, own),
      pa_context_get_source_info_list(
        context,
        { _, info, endOfList, own in
          guard let monitor = PulseDeviceMonitor.from(own) else { return }
          if let device = info.flatMap({ AudioDevice($0.pointee) }) { monitor.gathering?.inputs.append(device) }
          if endOfList != 0 { monitor.gathered(isWhole: endOfList > 0) }
        }, own),
    ]
    for operation in operations { if let operation { pa_operation_unref(operation) } }
    if operations.last == .some(nil) { gathering = nil }
  }

  private func gather(_ info: pa_server_info?) {
    guard let info else { return }
    func text(_ pointer: UnsafePointer<CChar>?) -> String? { pointer.map { String(cString: $0) } }
    gathering?.serverName = text(info.server_name) ?? ""
    gathering?.defaultOutputName = text(info.default_sink_name)
    gathering?.defaultInputName = text(info.default_source_name)
  }

  private func gathered(isWhole: Bool) {
    guard let devices = gathering else { return }
    gathering = nil
    // What went wrong on the way, a question that a hanging server left without answer for half a minute, is asked anew.
    if isStale || !isWhole { return ask() }
    report(devices)
  }

  private func report(_ devices: AudioDevices?) {
    guard !isCancelled, isForced || reported == nil || reported != .some(devices) else { return }
    isForced = false
    reported = .some(devices)
    onReport?(devices)
  }
}
