import DaemonTesting
import Glibc
import PlayheadPlayerModel
import RigSupport
import Testing

/// Client, socket, daemon, decoder, mixer and a real PulseAudio: the audio of its device is compared sample by sample.
///
/// In real time, because a seek, a pause or a change of volume replaces buffered samples while the device plays.
@Suite(.serialized) struct PlaybackRigTests {
  @Test(arguments: PlaybackRig.Kind.allCases)
  func exactSeekWhilePlayingLandsOnItsSample(kind: PlaybackRig.Kind) throws {
    let rig = try PlaybackRig()
    try rig.client.reply("load \(try rig.file(1, kind, frameCount: 48_000 * 60)) wait=ready")
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, index: 0)
    var targets = [0]
    for number in 1...20 {
      // Spread over the file, and not near the start of a block.
      let target = (number * 1_234_577) % (48_000 * 55)
      let reply = try rig.client.reply("seek \(target)/48000")
      #expect(reply.hasPrefix("ok finished=true") && field("pts", reply) == "\(target)/48000", "\(reply)")
      targets.append(target)
      let heard = rig.server.capture.frameCount
      try rig.server.capture.waitForFrame(from: max(0, heard - 4_800)) { frame in
        TimeCode.decode(frame)?.index == target + 2_000
      }
    }
    // The reported position accounts for seeks: it is where the audio stopped.
    try rig.client.reply("pause")
    try rig.server.capture.waitForSilence(4_800, from: rig.server.capture.frameCount)
    let runs = rig.server.capture.runs()
    try expectPosition(runs.last?.endIndex ?? -1, rig.client.reply("status"))
    for (run, target) in zip(runs, targets) {
      print(
        "seek \(kind.rawValue): requested \(target), first sample heard \(run.firstIndex),"
          + " error \(run.firstIndex - target)")
    }
    #expect(runs.map(\.firstIndex) == targets)
    for (run, next) in zip(runs, runs.dropFirst()) { #expect(run.endPosition == next.position, "silence at a seek") }
    #expect(try rig.daemon.stop().status == 0)
  }

  /// Checks that `status` reports frame `frame` of a file of 48 kHz.
  private func expectPosition(_ frame: Int, _ status: String) {
    let position = field("pts", status)?.split(separator: "/").compactMap { Int($0) } ?? []
    #expect(position.count == 2 && position[0] * 48_000 == frame * position[1], "heard up to \(frame): \(status)")
  }

  @Test(arguments: [(PlaybackRig.Kind.wav, PlaybackRig.Kind.wav), (.flac, .flac), (.wav, .flac), (.flac, .wav)])
  func consecutiveItemsPlayWithoutAGap(first: PlaybackRig.Kind, second: PlaybackRig.Kind) throws {
    let rig = try PlaybackRig()
    let paths = [
      try rig.file(1, first, frameCount: 36_001), try rig.file(2, second, frameCount: 30_011),
      try rig.file(3, first, frameCount: 10_007),
    ]
    try rig.client.reply("load \(paths.joined(separator: " ")) wait=ready")
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 3, index: 10_006)
    let runs = rig.server.capture.runs()
    let gaps = zip(runs, runs.dropFirst()).map { $1.position - $0.endPosition }
    let missing = 36_001 + 30_011 + 10_007 - runs.reduce(0) { $0 + $1.count }
    print("transition \(first.rawValue) to \(second.rawValue): gaps \(gaps), missing \(missing)")
    #expect(runs.map(\.file) == [1, 2, 3])
    #expect(runs.map(\.firstIndex) == [0, 0, 0])
    #expect(runs.map(\.count) == [36_001, 30_011, 10_007])
    #expect(gaps == [0, 0])
  }

  /// Audio ends within 30 ms of device time after the sample that was played when the command was sent. The reported
  /// position is the end of the audio. No sample is lost or repeated.
  @Test func pausesAreSilentWithin30MillisecondsAndLoseNothing() throws {
    let rig = try PlaybackRig()
    try rig.client.reply("load \(try rig.file(1, .flac, frameCount: 480_000)) wait=ready")
    try rig.client.reply("tick 0.003")
    var tails: [Int] = []
    var tailsOfCommands: [Int] = []
    for number in 1...20 {
      let before = rig.server.capture.frameCount
      try rig.client.reply("play")
      let start = try rig.server.capture.waitForCode(file: 1, from: before)
      let first = try #require(rig.server.capture.runs(from: start).first?.firstIndex)
      // A tick is reported when its sample is played: each time in another phase of the device's period.
      let commanded = try tick(of: rig.client, from: first + 3_000 + 211 * number)
      try rig.client.reply("pause")
      // The samples that the device reads from here on are played after the reply.
      let frameAtReply = rig.server.capture.frameCount
      let silence = try rig.server.capture.waitForSilence(4_800, from: start + 1)
      tails.append(max(0, silence - frameAtReply))
      let end = rig.server.capture.runs(from: start).last?.endIndex ?? -1
      tailsOfCommands.append(end - commanded)
      try expectPosition(end, rig.client.reply("status"))
    }
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, index: 479_999)
    let runs = rig.server.capture.runs()
    print("pause: frames read after the reply \(tails.sorted()), heard after the command \(tailsOfCommands.sorted())")
    #expect(runs.count == 21)
    #expect(runs.first?.firstIndex == 0)
    for (run, next) in zip(runs, runs.dropFirst()) { #expect(run.endIndex == next.firstIndex) }
    // The device plays its current block (1,024 frames or 21 ms) to the end. A busy machine may delay single pauses.
    #expect(tails.sorted()[10] <= 1_440, "30 ms are 1,440 frames: \(tails)")
    #expect(tailsOfCommands.sorted()[10] <= 1_440, "30 ms are 1,440 frames: \(tailsOfCommands)")
  }

  /// Waits for the first tick at frame `frame` or later of a file of 48 kHz. Returns its frame.
  private func tick(of client: WireClient, from frame: Int) throws -> Int {
    while let line = try client.line() {
      let parts = field("pts", line)?.split(separator: "/").compactMap { Int($0) } ?? []
      guard line.hasPrefix("* tick "), field("reason", line) == "periodic", parts.count == 2, parts[1] > 0 else {
        continue
      }
      if parts[0] * 48_000 >= frame * parts[1] { return parts[0] * 48_000 / parts[1] }
    }
    throw Program.Failure(description: "the daemon ended")
  }

  @Test func underrunLosesNoSample() throws {
    let rig = try PlaybackRig(latency: 100)
    try rig.client.reply("load \(try rig.file(1, .flac, frameCount: 120_000)) wait=ready")
    try rig.client.reply("play")
    let start = try rig.server.capture.waitForCode(file: 1, index: 12_000)
    // Suspended for 400 ms of device time: the 100 ms buffer runs out, and silence follows.
    rig.daemon.process.signal(SIGSTOP)
    try rig.server.capture.waitForFrames(start + 19_200)
    rig.daemon.process.signal(SIGCONT)
    try rig.server.capture.waitForCode(file: 1, index: 119_999, from: start)
    let runs = rig.server.capture.runs()
    print("underrun: \(runs)")
    #expect(runs.count > 1, "there was no underrun")
    #expect(runs.first?.firstIndex == 0)
    #expect(runs.last?.endIndex == 120_000)
    for (run, next) in zip(runs, runs.dropFirst()) { #expect(run.endIndex == next.firstIndex) }
  }

  @Test func seeksOfAMutedPlayerDoNotAffectTheOther() throws {
    let rig = try PlaybackRig()
    try rig.client.reply("player.create other")
    try rig.client.reply("load \(try rig.file(1, .wav, frameCount: 96_000)) wait=ready")
    try rig.client.reply("load \(try rig.file(2, .wav, frameCount: 96_000)) player=other wait=ready")
    try rig.client.reply("mute on player=other")
    try rig.client.reply("play")
    try rig.client.reply("play player=other")
    try rig.server.capture.waitForCode(file: 1, index: 1_000)
    for target in stride(from: 80_000, to: 10_000, by: -5_000) {
      let reply = try rig.client.reply("seek \(target)/48000 player=other")
      #expect(reply.hasPrefix("ok finished=true"), "\(reply)")
    }
    try rig.server.capture.waitForCode(file: 1, index: 95_999)
    let runs = rig.server.capture.runs()
    #expect(runs.map(\.count) == [96_000], "\(runs)")
  }

  @Test func playbackResumesAtItsPositionAfterTheServerIsKilled() throws {
    let rig = try PlaybackRig()
    try rig.client.reply("load \(try rig.file(1, .wav, frameCount: 480_000)) wait=ready")
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, index: 24_000)
    rig.server.kill()
    try rig.server.capture.waitForEnd()
    let heard = rig.server.capture.runs().last?.endIndex ?? 0
    while field("new", try rig.client.line() ?? "") != "lost" {}
    let status = try rig.client.reply("status")
    #expect(field("timeControlStatus", status) == "waitingToPlayAtSpecifiedRate")
    #expect(field("reasonForWaitingToPlay", status) == "outputUnavailable")
    let server = try PulseServer(directory: rig.server.directory)
    try server.capture.waitForCode(file: 1, index: heard + 4_800)
    let resumedIndex = server.capture.runs().first?.firstIndex ?? -1
    print("server killed after sample \(heard); audio resumed at \(resumedIndex)")
    #expect(
      resumedIndex <= heard && resumedIndex >= heard - 48_000 * 150 / 1_000,
      "continues from \(resumedIndex), heard \(heard)")
  }

  /// Without a server, `auto` plays silently in real time. It switches to a server that appears. When the server
  /// disappears, it is silent again, because of `--lost-device null`. The position is kept each time.
  @Test func autoOutputIsSilentWithoutAServerAndKeepsThePosition() throws {
    let folder = try TemporaryDirectory("auto")
    let daemon = try TestDaemon(
      "--output", "auto", "--lost-device", "null", "--pulse-server", "unix:\(folder.path)/pulse.sock")
    let client = try daemon.connect()
    let other = try daemon.connect()
    try TimeCode.writeWAV(path: daemon.folder.file("1.wav"), file: 1, frameCount: 48_000 * 30)
    // The newest tick before the output's state became `state`, in samples. It is at most a tick interval and the
    // delivery time old.
    var tick = 0
    func lastTick(before state: String) throws -> Int {
      while let line = try client.line() {
        if line.hasPrefix("* tick "), let pts = field("pts", line)?.split(separator: "/"), pts.count == 2 {
          tick = (Int(pts[0]) ?? 0) * 48_000 / (Int(pts[1]) ?? 1)
        }
        if line.hasPrefix("* changed "), field("new", line) == state { return tick }
      }
      throw Program.Failure(description: "the daemon ended")
    }
    try client.reply("observe output.state")
    _ = try lastTick(before: "fallback")
    let silent = try client.reply("output.status")
    #expect(field("output", silent) == "null" && field("error", silent) == "output-unavailable", "\(silent)")
    try client.reply("load \(daemon.folder.file("1.wav")) wait=ready")
    try client.reply("tick 0.02")
    try client.reply("play")
    try client.reply("wait time>=0.5")

    let server = try PulseServer(directory: folder.path)
    let silentPosition = try lastTick(before: "ready")
    let start = try server.capture.waitForCode(file: 1)
    try server.capture.waitForCode(file: 1, index: silentPosition + 48_000, from: start)
    let runs = server.capture.runs()
    let first = runs.first?.firstIndex ?? 0
    print("auto: silent up to sample \(silentPosition), audio from \(first)")
    #expect(silentPosition >= 24_000)
    #expect(first >= silentPosition && first <= silentPosition + 48_000 * 150 / 1_000)
    #expect(runs.count == 1, "\(runs)")
    #expect(field("output", try other.reply("output.status"))?.hasPrefix("pulse") == true)

    server.kill()
    try server.capture.waitForEnd()
    let heard = server.capture.runs().last?.endIndex ?? 0
    let lastReported = try lastTick(before: "fallback")
    #expect(lastReported <= heard && lastReported >= heard - 48_000 * 150 / 1_000, "\(lastReported), heard \(heard)")
    let reached = Double(heard) / 48_000 + 0.25
    #expect(try client.reply("wait time>=\(reached) timeout=20").hasPrefix("ok"))
  }
}
