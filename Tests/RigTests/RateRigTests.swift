import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Rates through a real PulseAudio. The file is a circle with a period of 1,000 frames, so that every sample shows its
/// position at any rate.
///
/// In real time, because a new rate replaces buffered samples while the device plays.
@Suite(.serialized) struct RateRigTests {
  private static func circlePosition(_ frame: StereoFrame) -> Double {
    atan2(Double(frame.right), Double(frame.left)) / (2 * .pi) * 1_000
  }

  private static func difference(_ position: Double, _ other: Double) -> Double {
    (position - other).remainder(dividingBy: 1_000)
  }

  /// On a busy machine a reversal may be ready too late. Then it is heard with a cross-fade, and the daemon logs it.
  @Test(arguments: [PlaybackRig.Kind.wav, .flac])
  func reversePlaybackAndReversalsLoseNoSample(_ kind: PlaybackRig.Kind) throws {
    let rig = try PlaybackRig(logLevel: "info")
    try rig.client.reply("load \(try rig.file(1, kind, frameCount: 48_000 * 20)) wait=ready")
    try rig.client.reply("seek 480000/48000")
    try rig.client.reply("observe player.timebaseRate")
    try rig.client.reply("rate -1")
    try rig.client.reply("play")
    try rig.server.capture.waitForFrame(from: 0) { $0 != .silence }
    try rig.server.capture.waitForMoreFrames(96_000)
    let captured = rig.server.capture.frames(count: rig.server.capture.frameCount).last { $0 != .silence }
    var reported = try frames(of: rig.client.reply("status"))
    let offset = Double(captured.flatMap { TimeCode.decode($0)?.index } ?? 0) - reported
    // Samples that the server has not delivered yet are not played.
    print("reverse rig \(kind.rawValue) | at -1 the position is \(offset) frames from the newest sample captured")
    #expect(abs(offset) < 9_600)
    for rate in ["1", "-1", "1"] {
      try rig.client.send("rate \(rate)")
      while field("new", try rig.client.line() ?? "") != rate {}
      try rig.server.capture.waitForMoreFrames(24_000)
    }
    try rig.client.reply("pause")
    let silence = try rig.server.capture.waitForSilence(4_800, from: rig.server.capture.frameCount)
    let heard = rig.server.capture.frames(count: silence).drop { $0 == .silence }.map { TimeCode.decode($0)?.index }
    #expect(heard.first == 479_999)
    reported = try frames(of: rig.client.reply("status"))
    let lateCount = try rig.daemon.stop().errors.split(separator: "\n").count { $0.contains("ready too late") }
    let runs = Self.runs(of: heard)
    let directions = runs.map(\.direction)
    #expect(directions == [-1, 1, -1, 1], "\(runs)")
    // When playback reverses, the same sample is played again. The cross-fade of a late reversal has 240 frames.
    let gaps = zip(runs.dropFirst(), runs).map { next, former in next.first - former.last }
    let exact = zip(runs.dropFirst(), runs).filter { next, former in
      next.first - former.last == 1 && heard[next.first] == heard[former.last]
    }
    #expect(exact.count == 3 - lateCount, "\(runs), \(lateCount) late")
    #expect(gaps.allSatisfy { $0 <= 250 } && runs.last?.last == heard.count - 1, "\(runs) of \(heard.count) samples")
    print(
      "reverse rig \(kind.rawValue) | \(heard.count) samples, reversed at \(runs.dropLast().map { heard[$0.last] ?? -1 }), \(lateCount) late, heard up to \(heard.last.flatMap { $0 } ?? -1), reported \(reported)"
    )
    #expect(abs(reported - Double((heard.last.flatMap { $0 } ?? -1) + 1)) < 0.001)
  }

  /// The parts of at least 1,000 samples in which each sample is the next one in one direction: 1 or -1. `first` and
  /// `last` are indexes of `samples`.
  private static func runs(of samples: [Int?]) -> [(first: Int, last: Int, direction: Int)] {
    var runs: [(first: Int, last: Int, direction: Int)] = []
    for index in samples.indices.dropFirst() {
      guard let new = samples[index], let old = samples[index - 1], abs(new - old) == 1 else { continue }
      if let run = runs.last, run.last == index - 1, run.direction == new - old {
        runs[runs.count - 1].last = index
      } else {
        runs.append((index - 1, index, new - old))
      }
    }
    return runs.filter { $0.last - $0.first >= 1_000 }
  }

  /// The frame that `status` reports, for a file of 48 kHz.
  private func frames(of status: String) -> Double {
    let position = field("pts", status)?.split(separator: "/").compactMap { Double($0) } ?? []
    return position.count == 2 ? position[0] / position[1] * 48_000 : .nan
  }

  @Test func rateChangesHaveNoGapAndTheTimeMatchesTheAudio() throws {
    let rig = try PlaybackRig()
    let path = rig.daemon.folder.file("circle.wav")
    try TimeCode.writeWAV(path: path, frameCount: 48_000 * 60) { index in
      let angle = Double(index % 1_000) / 1_000 * 2 * .pi
      return StereoFrame(left: Int16(26_000 * cos(angle)), right: Int16(26_000 * sin(angle)))
    }
    try rig.client.reply("load \(path) wait=ready")
    try rig.client.reply("pitch varispeed")
    try rig.client.reply("observe player.timebaseRate")
    try rig.client.reply("play")
    try rig.server.capture.waitForFrame(from: 0) { $0 != .silence }
    for rate in ["2", "0.5", "1.25", "3", "0.75", "1"] {
      try rig.client.reply("rate \(rate)")
      while field("new", try rig.client.line() ?? "") != rate {}
      try rig.server.capture.waitForMoreFrames(4_800)
    }
    try rig.client.reply("pause")
    let silence = try rig.server.capture.waitForSilence(4_800, from: rig.server.capture.frameCount)
    let heard = rig.server.capture.frames(count: silence).drop { $0 == .silence }
    let positions = heard.prefix { $0 != .silence }.map(Self.circlePosition)
    #expect(positions.count == heard.count, "silence where the rate changed")
    let steps = zip(positions.dropFirst(), positions).map { Self.difference($0, $1) }
    #expect(steps.allSatisfy { $0 > -2.5 && $0 < 6 }, "from \(steps.min() ?? 0) to \(steps.max() ?? 0)")
    let position = field("pts", try rig.client.reply("status"))?.split(separator: "/").compactMap { Double($0) } ?? []
    #expect(position.count == 2)
    if position.count == 2, let last = positions.last {
      #expect(abs(Self.difference(position[0] / position[1] * 48_000, last + 1)) < 1)
    }
  }
}
