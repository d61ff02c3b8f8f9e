// `playhead wait` with conditions on values that the daemon does not evaluate.
import Glibc
import PlayheadMediaCore
import PlayheadWireProtocol

struct Wait {
  private var options: Invocation.WaitOptions
  private let deadline: ContinuousClock.Instant?
  private let encoder: RequestEncoder
  private let path: String

  /// Waits until all conditions are true. Prints nothing. Returns the exit status.
  ///
  /// - Throws: `ErrorReply`, also at the end of the timeout, or `Unreachable`.
  static func run(_ options: Invocation.WaitOptions, _ encoder: RequestEncoder, _ path: String) throws -> Int32 {
    guard !options.conditions.isEmpty else { return PlayheadClient.Status.done }
    let deadline = options.timeout.flatMap { Invocation.deadline(in: $0) }
    var wait = Wait(options: options, deadline: deadline, encoder: encoder, path: path)
    try wait.run()
    return PlayheadClient.Status.done
  }

  private init(
    options: Invocation.WaitOptions, deadline: ContinuousClock.Instant?, encoder: RequestEncoder, path: String
  ) {
    (self.options, self.deadline, self.encoder, self.path) = (options, deadline, encoder, path)
  }

  /// Evaluates the conditions after each change. The requests for the values use another connection.
  private mutating func run() throws {
    var connection = try DaemonConnection(path: path)
    let client = JSONClient(try DaemonConnection(path: path)) { [encoder] in try encoder.json($0, id: 1) }
    let player = options.player.map { [Array("player=".utf8) + $0] } ?? []
    // Entries are meant relative to the present queue.
    options.conditions = try options.conditions.map { try $0.resolved(player: player, client) }
    var keys = ObservedValues.keys(for: options.conditions.compactMap(\.key)).map { Array($0.rawValue.utf8) }
    if hasNamedConditions { keys += Invocation.WatchOptions.defaultKeys }
    // The reply to `ping` follows the present values of all keys.
    try connection.send(encoder.words([Array("observe".utf8)] + keys + player))
    try connection.send(encoder.words([Array("ping".utf8)]))
    var observed = ObservedValues()
    var pendingReplyCount = 2
    // Whether the conditions of the daemon were true before the latest `ping`.
    var areOthersTrue = options.daemonConditions.isEmpty
    while true {
      if try readLines(&connection, &observed, &pendingReplyCount), pendingReplyCount == 0 {
        if areOthersTrue, try areConditionsTrue(observed, client) { return }
        if areOthersTrue {
          areOthersTrue = options.daemonConditions.isEmpty
        } else {
          try waitForOthers(client, player)
          // Values may have changed meanwhile: their events precede the reply to this request.
          try connection.send(encoder.words([Array("ping".utf8)]))
          (pendingReplyCount, areOthersTrue) = (1, true)
        }
      }
      try waitForBytes(connection.descriptor)
      guard try connection.receive() else { throw Unreachable(message: "the daemon at \(path) disconnected") }
    }
  }

  /// Whether a condition is about a value of `get`.
  private var hasNamedConditions: Bool { options.conditions.contains { $0.key == nil } }

  /// Reads the received lines. Returns whether values may have changed.
  ///
  /// - Throws: `ErrorReply`, or `Unreachable` if the daemon ends the connection.
  private func readLines(
    _ connection: inout DaemonConnection, _ observed: inout ObservedValues, _ pendingReplyCount: inout Int
  ) throws -> Bool {
    var hasEvents = false
    while let line = connection.nextLine() {
      switch Watch.kind(of: line) {
      case .failure(let error): throw error
      case .other:
        guard case .ok? = try? ServerLine(parsing: line) else { continue }
        pendingReplyCount -= 1
      case .event:
        if case .event(_, let fields)? = try? ServerLine(parsing: line) { observed.update(with: fields) }
      }
      hasEvents = true
    }
    return hasEvents
  }

  /// Waits until the conditions are true that the daemon evaluates.
  private func waitForOthers(_ client: JSONClient, _ player: [[UInt8]]) throws {
    let timeout = deadline.map { [Array("timeout=\(milliseconds(until: $0))ms".utf8)] } ?? []
    _ = try client.request([Array("wait".utf8)] + options.daemonConditions + timeout + player)
  }

  /// Whether all conditions are true that the client evaluates.
  private func areConditionsTrue(_ observed: ObservedValues, _ client: JSONClient) throws -> Bool {
    for condition in options.conditions {
      if let key = condition.key, !condition.isTrue(for: observed.value(of: key)) { return false }
    }
    guard hasNamedConditions else { return true }
    let named = options.conditions.filter { $0.key == nil }
    let values = try Get.values(named.map(\.name), player: options.player, client)
    return named.allSatisfy { $0.isTrue(for: values[$0.name] ?? .null) }
  }

  private func milliseconds(until deadline: ContinuousClock.Instant) -> Int {
    Int((max(0, (deadline - ContinuousClock.now) / .milliseconds(1))).rounded(.up))
  }

  /// Waits for bytes of the daemon.
  ///
  /// - Throws: `ErrorReply` at the deadline.
  private func waitForBytes(_ descriptor: Int32) throws {
    guard let deadline else { return }
    while true {
      let remaining = milliseconds(until: deadline)
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let count = poll(&polled, 1, Int32(min(remaining, 1_000_000)))
      if count > 0 { return }
      if count == 0, remaining == 0 {
        throw ErrorReply(error: MediaError(.timedOut, "not all conditions were true before the timeout"))
      }
    }
  }
}
