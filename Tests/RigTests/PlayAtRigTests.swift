import DaemonTesting
import Foundation
import PlayheadMediaCore
import PlayheadPlayerModel
import RigSupport
import Testing

/// Players that start together on a real PulseAudio.
///
/// In real time, because the start is a time of the device's clock, which the daemon estimates.
@Suite struct PlayAtRigTests {
  /// Each click of the three players is at the same sample of the device.
  @Test func threePlayersStaySampleAlignedOnARealDevice() throws {
    let server = try PulseServer()
    let daemon = try TestDaemon("--output", "pulse:\(server.sinkName)", "--pulse-server", server.address)
    let client = try daemon.connect()
    try client.reply("observe output.state")
    while field("new", try client.line() ?? "") != "ready" {}
    try client.reply("unobserve 1")
    let seconds = Int(ProcessInfo.processInfo.environment["PLAYHEAD_PLAY_AT_SECONDS"] ?? "") ?? 20
    for (index, name) in ["a", "b", "c"].enumerated() {
      try client.reply("player.create \(name)")
      let path = daemon.folder.file("\(name).wav")
      let click = Int16(1_000 << index)
      try TimeCode.writeWAV(path: path, frameCount: seconds * 48_000) { frame in
        frame % 4_800 == 0 ? StereoFrame(left: click, right: click) : .silence
      }
      try client.reply("load \(path) wait=ready player=\(name)")
    }
    let reply = try client.reply("play-at +0.3 a b c")
    #expect(reply.hasPrefix("ok frame=") && field("late", reply) == "0" && field("spread", reply) == "0", "\(reply)")
    let start = try server.capture.waitForFrame { $0 != .silence }
    // One second at a time, because a wait must not exceed the timeout of tests.
    for second in 1...seconds { try server.capture.waitForFrames(start + second * 48_000) }
    try server.capture.waitForFrames(start + seconds * 48_000 + 9_600)
    let heard = server.capture.frames(from: start, count: seconds * 48_000)
    let clicks = heard.enumerated().filter { $0.element != .silence }
    #expect(clicks.allSatisfy { $0.element == StereoFrame(left: 7_000, right: 7_000) })
    // On a busy machine the device may underrun. Then all three players are late by the same time.
    let offsets = clicks.map(\.offset)
    #expect(zip(offsets, offsets.dropFirst()).allSatisfy { $1 - $0 >= 4_800 }, "\(offsets)")
    #expect(offsets.count > seconds * 5, "\(offsets)")
    print("play-at: \(clicks.count) clicks of three players in \(seconds) s, 0 samples apart")
  }

  /// The date is more than 2 s ahead, so the daemon starts the device shortly before it. In real time, because the
  /// daemon compares the clocks of the computer.
  @Test func startAtADateIsExactToAMillisecond() throws {
    let server = try PulseServer()
    let daemon = try TestDaemon("--output", "pulse:\(server.sinkName)", "--pulse-server", server.address)
    let client = try daemon.connect()
    let path = daemon.folder.file("a.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000)
    try client.reply("load \(path) wait=ready")
    func nanoseconds(_ clock: clockid_t) -> Int64 {
      var time = timespec()
      clock_gettime(clock, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    // The first attempt in which the test is not interrupted between two clocks.
    var clocks: (monotonic: Int64, wall: Int64)
    repeat {
      clocks = (nanoseconds(CLOCK_MONOTONIC), nanoseconds(CLOCK_REALTIME))
    } while nanoseconds(CLOCK_MONOTONIC) - clocks.monotonic > 50_000
    let reply = try client.reply("play-at \(ISODate.text(clocks.wall + 3_000_000_000)) main")
    let hostTime = try #require(field("hostTime", reply).flatMap { MediaTime(decimal: $0) }, "\(reply)")
    let expected = MediaTime(value: clocks.monotonic + 3_000_000_000, timescale: 1_000_000_000)
    #expect(abs((hostTime - expected).seconds) <= 0.001, "\(reply), expected \(expected.seconds)")
    #expect(field("late", reply) == "0" && field("spread", reply) == "0", "\(reply)")
  }
}
