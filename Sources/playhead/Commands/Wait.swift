// `playhead wait` with conditions on values that the daemon does not evaluate.
import Glibc
import MediaCore
import WireProtocol

struct Wait {
  private let options: Invocation.WaitOptions
  private let deadline: ContinuousClock.Instant?
  private let encoder: RequestEncoder
  private let path: String

  /// Waits until all conditions are true. Prints nothing. Returns the exit status.
  ///
  /// - Throws: `ErrorReply`, also at the end of the timeout, or `Unreachable`.
  static func run(_ options: Invocation.WaitOptions, _ encoder: RequestEncoder, _ path: String) throws -> Int32 {
    guard !options.conditions.isEmpty else { return PlayheadClient.Status.done }
    let deadline = options.timeout.flatMap { Invocation.deadline(in: $0) }
    try Wait(options: options, deadline: deadline, encoder: encoder, path: path).run()
    return PlayheadClient.Status.done
  }

  private init(
    options: Invocation.WaitOptions, deadline: ContinuousClock.Instant?, encoder: RequestEncoder, path: String
  ) {
    (self.options, self.deadline, self.encoder, self.path) = (options, deadline, encoder, path)
  }

  /// Evaluates the conditions after each change. The requests for the values use another connection.
  private func run() throws {
    var connection = try DaemonConnection(path: path)
    let client = JSONClient(try DaemonConnection(path: path)) { [encoder] in try encoder.json($0, id: 1) }
    let player = options.player.map { [Array("player=".utf8) + $0] } ?? []
    try connection.send(
      encoder.words([Array("observe".utf8)] + Invocation.WatchOptions.defaultKeys + player))
    while true {
      if try Watch.readEvents(&connection), try areConditionsTrue(client, player) { return }
      try waitForBytes(connection.descriptor)
      guard try connection.receive() else { throw Unreachable(message: "the daemon at \(path) disconnected") }
    }
  }

  /// Whether all conditions are true. First waits for the conditions that the daemon evaluates.
  private func areConditionsTrue(_ client: JSONClient, _ player: [[UInt8]]) throws -> Bool {
    if !options.daemonConditions.isEmpty {
      let timeout = deadline.map { [Array("timeout=\(milliseconds(until: $0))ms".utf8)] } ?? []
      _ = try client.request([Array("wait".utf8)] + options.daemonConditions + timeout + player)
    }
    let values = try Get.values(options.conditions.map(\.name), player: options.player, client)
    return options.conditions.allSatisfy { $0.isTrue(for: values[$0.name] ?? .null) }
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
