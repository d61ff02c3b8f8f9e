import CPlayheadPulse

// Determines the effect of a server's role modules on one stream. Everything here runs under the main loop's lock, in
// callbacks of the loop's thread. The watch queries the server only after changes of streams or modules; without such
// modules, only after changes of modules.

/// Watches whether a stream is corked or ducked by `module-role-cork` and `module-role-ducking`.
final class RoleWatch {
  struct State: Equatable {
    var isCorked = false
    var isDucked = false
    /// Whether the server has a module that corks.
    var canCork = false
  }

  private typealias Box = CallbackBox<RoleWatch>

  private let connection: PulseConnection
  private let streamIndex: UInt32
  /// Receives the current state after each change of streams or modules, and once at the start. `hasChanged` is false
  /// if the state is the same as before.
  private let onState: (State, _ hasChanged: Bool) -> Void
  private var state: State?
  /// The pending query. Nil also if the connection is lost, which the stream driver reports.
  private var operation: PulseOperation?
  /// Whether something has changed since the pending query began.
  private var isStale = false
  private var rules: [RoleRules] = []
  private var streams: [RoleRules.Stream] = []
  /// The facilities whose changes the server reports.
  private var watchedFacilities = pa_subscription_mask_t(0)
  private lazy var userdata = connection.mainloop.userdata(for: self)

  init(connection: PulseConnection, streamIndex: UInt32, onState: @escaping (State, _ hasChanged: Bool) -> Void) {
    self.connection = connection
    self.streamIndex = streamIndex
    self.onState = onState
  }

  /// Begins to watch. The owner keeps this object alive until `end`.
  func begin() {
    pa_context_set_subscribe_callback(
      connection.context, { _, _, _, userdata in Box.target(userdata)?.queryModules() }, userdata)
    subscribe()
    queryModules()
  }

  /// Ends the watch; afterwards no callback is called.
  func end() {
    pa_context_set_subscribe_callback(connection.context, nil, nil)
    operation = nil
  }

  private func subscribe() {
    var mask = PA_SUBSCRIPTION_MASK_MODULE.rawValue
    if !rules.isEmpty { mask |= PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue | PA_SUBSCRIPTION_MASK_SOURCE_OUTPUT.rawValue }
    guard watchedFacilities.rawValue != mask else { return }
    watchedFacilities = pa_subscription_mask_t(mask)
    PulseOperation.start(pa_context_subscribe(connection.context, watchedFacilities, nil, nil))
  }

  // MARK: - Queries

  private func queryModules() {
    guard operation == nil else {
      isStale = true
      return
    }
    isStale = false
    rules = []
    streams = []
    operation = PulseOperation(
      pa_context_get_module_info_list(
        connection.context,
        { _, info, endOfList, userdata in Box.target(userdata)?.receiveModule(info, endOfList) }, userdata))
  }

  private func receiveModule(_ info: UnsafePointer<pa_module_info>?, _ endOfList: Int32) {
    if endOfList == 0 {
      guard let info = info?.pointee, let name = info.name else { return }
      let arguments = info.argument.map { String(cString: $0) } ?? ""
      if let found = RoleRules(module: String(cString: name), arguments: arguments) { rules.append(found) }
      return
    }
    operation.take()?.release()
    subscribe()
    guard !rules.isEmpty else { return evaluate() }
    operation = PulseOperation(
      pa_context_get_sink_input_info_list(
        connection.context,
        { _, info, endOfList, userdata in Box.target(userdata)?.receiveSinkInput(info, endOfList) }, userdata))
  }

  private func receiveSinkInput(_ info: UnsafePointer<pa_sink_input_info>?, _ endOfList: Int32) {
    if endOfList == 0 {
      guard let info = info?.pointee else { return }
      streams.append(
        RoleRules.Stream(
          index: info.index, device: info.sink, role: Self.role(info.proplist), isCorked: info.corked != 0,
          isMuted: info.mute != 0))
      return
    }
    operation.take()?.release()
    guard rules.contains(where: \.isGlobal) else { return evaluate() }
    operation = PulseOperation(
      pa_context_get_source_output_info_list(
        connection.context,
        { _, info, endOfList, userdata in Box.target(userdata)?.receiveSourceOutput(info, endOfList) }, userdata))
  }

  private func receiveSourceOutput(_ info: UnsafePointer<pa_source_output_info>?, _ endOfList: Int32) {
    if endOfList == 0 {
      guard let info = info?.pointee else { return }
      streams.append(
        RoleRules.Stream(
          index: info.index, device: info.source, isRecording: true, role: Self.role(info.proplist),
          isCorked: info.corked != 0, isMuted: info.mute != 0))
      return
    }
    operation.take()?.release()
    evaluate()
  }

  private static func role(_ properties: OpaquePointer?) -> String? {
    properties.flatMap { pa_proplist_gets($0, PA_PROP_MEDIA_ROLE) }.map { String(cString: $0) }
  }

  private func evaluate() {
    func isAffected(_ effect: RoleRules.Effect) -> Bool {
      rules.contains { $0.effect == effect && $0.affects(streamIndex, among: streams) }
    }
    // Streams or modules have changed since the query began.
    if isStale { return queryModules() }
    let found = State(
      isCorked: isAffected(.corks), isDucked: isAffected(.ducks), canCork: rules.contains { $0.effect == .corks })
    let hasChanged = found != state
    state = found
    onState(found, hasChanged)
  }
}
