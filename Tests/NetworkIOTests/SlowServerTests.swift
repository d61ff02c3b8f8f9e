import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadNetworkIO

/// Servers that send too few bytes.
@Suite(.timeLimit(.minutes(2))) struct SlowServerTests {
  @Test func fewBytesPerAttemptDoNotCountAsProgress() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(300_000)
    try rig.server.write(bytes, to: "a")
    let outcome = try rig.read("/a?cut=100")
    #expect(outcome.error?.code == .connectionLost)
    #expect(outcome.bytes == Array(bytes[..<600]))
    #expect(rig.clock.retryDelayMilliseconds == [500, 1_000, 2_000, 4_000, 8_000])
    // Enough bytes count as progress.
    rig.clock = .init()
    #expect(try rig.read("/a?cut=\(HTTPOptions.attemptByteCount)").bytes == bytes)
    #expect(Set(rig.clock.retryDelayMilliseconds) == [500])
  }

  @Test func occasionalBytesDoNotPreventTheStallTimeout() throws {
    let rig = try HTTPRig()
    let bytes = HTTPRig.pattern(100_000)
    try rig.server.write(bytes, to: "a")
    let path = "/a?gate=one&at=100&gate=two&at=200"
    let resource = try rig.resource(path)
    try resource.open()
    var outcome = HTTPRig.Outcome()
    try HTTPRig.read(resource, from: 0, limit: 100, into: &outcome)
    try rig.server.wait("gate one")
    rig.clock.advance(seconds: 10)
    rig.server.open(gate: "one")
    try HTTPRig.read(resource, from: 100, limit: 200, into: &outcome)
    try rig.server.wait("gate two")
    rig.clock.advance(seconds: 6)
    // The server reports the first request before the second one.
    try rig.server.wait("request GET \(path) bytes=0-")
    try rig.server.wait("request GET \(path) bytes=200-")
    rig.server.open(gate: "two")
    try HTTPRig.read(resource, from: 200, into: &outcome)
    #expect(outcome.bytes == bytes)
    #expect(rig.clock.retryDelayMilliseconds == [500])
  }
}
