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

  private let connection: PulseConnection
  private let streamIndex: UInt32
  /// Receives the current state after each change of streams or modules, and once at the start. `hasChanged` is false
  /// if the state is the same as before.
  private let onState: (State, _ hasChanged: Bool) -> Void
  private var state: State?
  private var operation: OpaquePointer?
  /// Whether something has changed since the pending query began.
  private var isStale = false
  private var rules: [RoleRules] = []
  private var streams: [RoleRules.Stream] = []

  private static let moduleMask = PA_SUBSCRIPTION_MASK_MODULE.rawValue
  private static let streamMask =
    PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue | PA_SUBSCRIPTION_MASK_SOURCE_OUTPUT.rawValue

  init(connection: PulseConnection, streamIndex: UInt32, onState: @escaping (State, _ hasChanged: Bool) -> Void) {
    self.connection = connection
    self.streamIndex = streamIndex
    self.onState = onState
  }

  /// Begins to watch. The owner keeps this object alive until `end`.
  func begin() {
    subscribe()
    queryModules()
  }

  /// Ends the watch; afterwards no callback is called.
  func end() {
    connection.unsubscribe(self)
    if let operation {
      // After a cancellation the callback no longer runs.
      pa_operation_cancel(operation)
      pa_operation_unref(operation)
    }
    operation = nil
  }

  private var userdata: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  private static func from(_ pointer: UnsafeMutableRawPointer?) -> RoleWatch? {
    pointer.map { Unmanaged<RoleWatch>.fromOpaque($0).takeUnretainedValue() }
  }

  private func subscribe() {
    let mask = rules.isEmpty ? Self.moduleMask : Self.moduleMask | Self.streamMask
    connection.subscribe(self, to: mask) { [unowned self] _ in queryModules() }
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
    setOperation(
      pa_context_get_module_info_list(
        connection.context,
        { _, info, endOfList, userdata in RoleWatch.from(userdata)?.receiveModule(info, endOfList) }, userdata))
  }

  /// Stores the pending operation. Nil means that the connection is lost, which the stream driver reports.
  private func setOperation(_ operation: OpaquePointer?) { self.operation = operation }

  private func finishOperation() {
    if let operation { pa_operation_unref(operation) }
    operation = nil
  }

  private func receiveModule(_ info: UnsafePointer<pa_module_info>?, _ endOfList: Int32) {
    if endOfList == 0 {
      guard let info = info?.pointee, let name = info.name else { return }
      let arguments = info.argument.map { String(cString: $0) } ?? ""
      if let found = RoleRules(module: String(cString: name), arguments: arguments) { rules.append(found) }
      return
    }
    finishOperation()
    subscribe()
    guard !rules.isEmpty else { return evaluate() }
    setOperation(
      pa_context_get_sink_input_info_list(
        connection.context,
        { _, info, endOfList, userdata in RoleWatch.from(userdata)?.receiveSinkInput(info, endOfList) }, userdata))
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
    finishOperation()
    guard rules.contains(where: \.isGlobal) else { return evaluate() }
    setOperation(
      pa_context_get_source_output_info_list(
        connection.context,
        { _, info, endOfList, userdata in RoleWatch.from(userdata)?.receiveSourceOutput(info, endOfList) }, userdata))
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
    finishOperation()
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
