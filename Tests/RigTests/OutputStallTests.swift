import DaemonTesting
import Glibc
import RigSupport
import Testing

/// PipeWire keeps a stream and replies for it though no device consumes its samples. The player waits meanwhile.
///
/// In real time, because the only sign is a device that consumes no samples while time passes.
@Suite(.serialized) struct OutputStallTests {
  /// Maximum repetition after a stall in frames: 50 ms.
  private static let maximumRepetition = 2_400

  /// Checks that the player waits, and that its clock and ticks are stopped without a device.
  private func expectWaiting(_ rig: OutputRouteTests.Rig) throws {
    try rig.wait("output.state", "unresponsive")
    let status = try rig.client.reply("status")
    #expect(field("timeControlStatus", status) == "waitingToPlayAtSpecifiedRate", "\(status)")
    #expect(field("reasonForWaitingToPlay", status) == "outputUnavailable", "\(status)")
    #expect(field("timebaseRate", status) == "0", "\(status)")
    #expect(field("state", try rig.client.reply("output.status")) == "unresponsive")
    // Neither the condition nor a tick occurs, because the clock is stopped.
    try rig.client.reply("tick 0.05")
    let replyLines = try rig.client.ask("wait status=playing timeout=0.5")
    #expect(replyLines.last.map { field("name", $0) } == "timed-out", "\(replyLines)")
    #expect(!replyLines.contains { $0.hasPrefix("* tick") }, "\(replyLines)")
    #expect(field("time", try rig.client.reply("status")) == field("time", status))
  }

  private func expectContinuation(_ what: String, _ rig: OutputRouteTests.Rig, from heard: Int, stallCount: Int) throws
  {
    try rig.wait("output.state", "ready")
    try rig.server.capture.waitForCode(file: 1, index: heard + 48_000)
    #expect(field("timeControlStatus", try rig.client.reply("status")) == "playing")
    let runs = rig.server.capture.runs()
    let coverage = TimeCode.coverage(of: runs)
    print("\(what): heard up to \(heard), then \(runs): \(coverage)")
    #expect(coverage.missing == 0 && coverage.repeated <= stallCount * Self.maximumRepetition, "\(runs)")
  }

  private func playing() throws -> (PipeWireServer, OutputRouteTests.Rig) {
    let server = try PipeWireServer()
    let rig = try OutputRouteTests.Rig(server, "--output", "pulse")
    try rig.play(heardBy: server.capture)
    return (server, rig)
  }

  @Test func unlinkedStreamWaitsAndContinuesWhenLinked() throws {
    let (server, rig) = try playing()
    for round in 1...2 {
      try server.setLinked(false)
      try expectWaiting(rig)
      let heard = server.capture.runs().last?.endIndex ?? 0
      try server.setLinked(true)
      try expectContinuation("links", rig, from: heard, stallCount: round)
    }
  }

  /// The links disappear with the session manager.
  @Test func streamContinuesWhenLinkedAfterTheSessionManagerIsKilled() throws {
    let (server, rig) = try playing()
    server.killSessionManager()
    try expectWaiting(rig)
    let heard = server.capture.runs().last?.endIndex ?? 0
    try server.setLinked(true)
    try expectContinuation("session manager", rig, from: heard, stallCount: 1)
  }
}
