import DaemonTesting
import PlayheadMediaCore
import PlayheadPlayerModel
import RigSupport
import Testing

/// Times in ticks and replies, compared with the audio of the device, sample by sample.
///
/// In real time, because the played sample at a time is an estimate from the clock of the device.
@Suite(.serialized) struct TimeRigTests {
  /// One target of a scrub.
  private struct ScrubTarget {
    var id: String
    var frame: Int
  }

  /// Frames between the targets of a scrub. Normal playback from one target does not reach another.
  private static let slotFrames = 28_000

  /// The target with a number: each is in a separate slot, far from the previous one, and not near the start of a
  /// block.
  private static func target(_ number: Int) -> ScrubTarget {
    ScrubTarget(id: "@\(number)", frame: number * 37 % 101 * slotFrames + 24_001 + 211 * (number % 13))
  }

  /// Seeks arrive faster than they can be played, and most are superseded. Between the first sample and the last there
  /// is no silence, and each burst of seeks has audible audio.
  @Test func audioIsHeardContinuouslyWhileScrubbing() throws {
    let rig = try PlaybackRig()
    let capture = rig.server.capture
    try rig.client.reply("load \(try rig.file(1, .flac, frameCount: 48_000 * 65)) wait=ready")
    try rig.client.reply("play")
    try capture.waitForCode(file: 1, index: 9_600)
    let bursts = (0..<20).map { burst in (0..<5).map { Self.target(5 * burst + $0) } }
    for burst in bursts {
      let before = capture.frameCount
      let lines = burst.map { "\($0.id) seek \($0.frame)/48000 chase\n" }
      try rig.client.send(bytes: Array(lines.joined().utf8))
      // The next burst follows when a block of this one was played, even before all replies.
      try capture.waitForFrame(from: before) { frame in
        guard let code = TimeCode.decode(frame) else { return false }
        return burst.contains { (1..<Self.slotFrames - 4_000).contains(code.index - $0.frame) }
      }
    }
    let requests = bursts.flatMap { $0 }
    let last = try #require(requests.last)
    var outcomes: [String: String] = [:]
    while outcomes.count < requests.count {
      let line = try #require(try rig.client.line())
      let id = String(line.prefix { $0 != " " })
      #expect(outcomes[id] == nil, "two replies: \(line)")
      outcomes[id] = field("finished", line) == "true" ? "finished" : field("reason", line) ?? line
    }
    #expect(Set(outcomes.values) == ["finished", "superseded"], "\(outcomes)")
    try capture.waitForFrame { TimeCode.decode($0)?.index == last.frame + 2_000 }
    let runs = capture.runs()
    let finished = requests.filter { outcomes[$0.id] == "finished" }.map(\.frame)
    print("scrub: \(requests.count) seeks, \(finished.count) finished, \(runs.count - 1) heard")
    #expect(runs.first?.firstIndex == 0)
    // The audio of completed seeks is played, in the order of the requests, the newest last.
    let heard = runs.dropFirst().map(\.firstIndex)
    #expect(heard == finished.filter(heard.contains), "\(heard)")
    #expect(heard.last == last.frame)
    for burst in bursts { #expect(burst.contains { heard.contains($0.frame) }, "\(burst) is not heard") }
    for (run, next) in zip(runs, runs.dropFirst()) {
      #expect(run.endPosition == next.position, "silence between \(run) and \(next)")
    }
  }

  /// A tick is reported when its sample is played. The device reads a block of 1,024 frames each time that it has
  /// played one. The tick's sample is in the newest block, or in the previous one if the report arrives at a block
  /// boundary. A report at rendering time, or without the device's latency, would arrive one to five blocks early.
  @Test func tickIsReportedWhenItsSampleIsHeard() throws {
    let rig = try PlaybackRig()
    let capture = rig.server.capture
    try rig.client.reply("load \(try rig.file(1, .flac, frameCount: 48_000 * 10)) wait=ready")
    try rig.client.reply("tick 0.05")
    try rig.client.send("play")
    var ticks: [(index: Int, readCount: Int, late: Double)] = []
    while ticks.count < 80 {
      let line = try #require(try rig.client.line())
      let readCount = capture.frameCount
      guard line.hasPrefix("* tick"), field("reason", line) == "periodic" else { continue }
      let parts = field("pts", line)?.split(separator: "/").compactMap { Int($0) } ?? []
      try #require(parts.count == 2 && parts[1] > 0 && parts[0] * 48_000 % parts[1] == 0, "\(line)")
      let late = try #require(field("late", line).flatMap(Double.init))
      ticks.append((parts[0] * 48_000 / parts[1], readCount, late))
    }
    let runs = capture.runs()
    let after = try ticks.map { tick in
      let run = try #require(
        runs.first { ($0.firstIndex..<$0.endIndex).contains(tick.index) }, "not heard: \(tick.index)")
      return tick.readCount - (run.position + tick.index - run.firstIndex)
    }
    let sorted = after.sorted()
    let late = ticks.map(\.late).sorted()
    print(
      "ticks: frames that the device had read from the tick's sample on, least, median, most:", sorted[0], sorted[40],
      sorted[79])
    print("ticks: late, median and most: \(late[40]) s, \(late[79]) s")
    #expect(late[0] >= 0, "reported before it was heard, by its own lateness")
    // A busy machine may sometimes delay the device, the daemon or this test. At a boundary the error is up to one
    // millisecond.
    let timely = after.filter { (-48...1_536).contains($0) }.count
    #expect(timely >= 60, "\(timely) of 80 in time: \(sorted)")
    #expect((0...1_280).contains(sorted[40]), "\(sorted)")
  }
}
