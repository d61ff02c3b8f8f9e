import DaemonTesting
import RigSupport
import Testing

/// `channel-mix`, `equalizer`, `compressor` and `limiter`, on the virtual clock.
@Suite struct EffectTests {
  static let off = [
    "ok channelMix=off", "ok isEnabled=false bands=\"\" preAmp=none",
    "ok isEnabled=false threshold=none ratio=none knee=none attack=none release=none makeUp=none",
    "ok isEnabled=false ceiling=none release=none lookAhead=none",
  ]

  static func shown(_ client: WireClient, player: String = "main") throws -> [String] {
    try ["channel-mix", "equalizer", "compressor", "limiter"].map { try client.reply("\($0) player=\(player)") }
  }

  @Test(arguments: [
    ("channel-mix mono", "ok channelMix=mono"), ("channel-mix left", "ok channelMix=left"),
    ("channel-mix 0.5,+0.5/-1,0", "ok channelMix=0.5,0.5/-1,0"),
    (
      "equalizer peak:1000:-3:1.4 low-shelf:120:+4 high-pass:30 pre-amp=-2",
      "ok isEnabled=true bands=peak:1000:-3:1.4,low-shelf:120:4,high-pass:30 preAmp=-2"
    ),
    (
      "equalizer low-pass:8000:0.9 high-shelf:1e4:-2.5",
      "ok isEnabled=true bands=low-pass:8000:0.9,high-shelf:10000:-2.5 preAmp=0"
    ),
    ("equalizer pre-amp=-6", "ok isEnabled=true bands=\"\" preAmp=-6"),
    (
      "compressor threshold=-24 ratio=4 attack=10ms release=0.2 make-up=3",
      "ok isEnabled=true threshold=-24 ratio=4 knee=6 attack=0.01 release=0.2 makeUp=3"
    ),
    ("compressor on", "ok isEnabled=true threshold=-20 ratio=4 knee=6 attack=0.01 release=0.1 makeUp=0"),
    ("limiter ceiling=-3 look-ahead=10ms", "ok isEnabled=true ceiling=-3 release=0.1 lookAhead=0.01"),
    ("limiter on", "ok isEnabled=true ceiling=-1 release=0.1 lookAhead=0.005"),
  ])
  func effectIsSetShownAndSwitchedOff(_ command: String, _ expected: String) throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("player.create other")
    let name = String(command.prefix { $0 != " " })
    #expect(try client.reply(command) == expected)
    #expect(try client.reply(name) == expected)
    let states = try Self.shown(client)
    #expect(zip(states, Self.off).filter { $0 != $1 }.count == 1, "\(states)")
    #expect(try Self.shown(client, player: "other") == Self.off)
    try client.reply("\(name) off")
    #expect(try Self.shown(client) == Self.off)
    print("\(command): \(expected)")
  }

  @Test func optionsChangeThePresentValues() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    try client.reply("equalizer peak:1000:6 pre-amp=-6")
    #expect(try client.reply("equalizer pre-amp=-3") == "ok isEnabled=true bands=peak:1000:6 preAmp=-3")
    #expect(try client.reply("equalizer low-pass:500") == "ok isEnabled=true bands=low-pass:500 preAmp=0")
    try client.reply("compressor ratio=8 knee=0")
    #expect(
      try client.reply("compressor make-up=5")
        == "ok isEnabled=true threshold=-20 ratio=8 knee=0 attack=0.01 release=0.1 makeUp=5")
    #expect(
      try client.reply("compressor on ratio=2")
        == "ok isEnabled=true threshold=-20 ratio=2 knee=6 attack=0.01 release=0.1 makeUp=0")
    try client.reply("limiter ceiling=-6")
    #expect(try client.reply("limiter release=1") == "ok isEnabled=true ceiling=-6 release=1 lookAhead=0.005")
    #expect(try client.reply("limiter on") == "ok isEnabled=true ceiling=-1 release=0.1 lookAhead=0.005")
  }

  @Test(arguments: [
    ("channel-mix loud", "one of off, mono, swap, left, right"), ("channel-mix 1,0", "as many gains in each row"),
    ("channel-mix 1,0/0", "(got 1 in row 2)"), ("channel-mix 1,0/0,17", "gain 2 of row 2 must be a number from -16"),
    ("channel-mix 1,/0,1", "gain 2 of row 1"), ("channel-mix swap player=other", "other"),
    ("equalizer notch:50:-3", "one of peak, low-shelf, high-shelf, high-pass, low-pass (got 'notch')"),
    ("equalizer peak:0:3", "bands[0]: the frequency in Hz must be a number from 1 to 384000"),
    ("equalizer peak:100:3 peak:high:3", "bands[1]: the frequency in Hz"),
    ("equalizer peak:100:41", "the gain in dB must be a number from -40 to 40"), ("equalizer peak:100:+-3", "the gain"),
    ("equalizer peak:100:3:0", "Q must be a number from 0.1 to 40"),
    ("equalizer peak:100", "peak:HZ:DB or peak:HZ:DB:Q"),
    ("equalizer high-pass:100:1:2", "high-pass:HZ or high-pass:HZ:Q"), ("equalizer off peak:100:3", "off cannot be"),
    ("equalizer off pre-amp=1", "off cannot be"), ("equalizer pre-amp=50", "pre-amp must be a number from -40 to 40"),
    ("equalizer" + String(repeating: " peak:100:1", count: 11), "bands must have at most 10 values (got 11)"),
    ("compressor ratio=0.5", "ratio must be a number from 1 to 100"), ("compressor threshold=1", "threshold must be"),
    ("compressor knee=-1", "knee must be"), ("compressor attack=2", "attack must be a time from 0 to 1 s (got 2)"),
    ("compressor release=0", "release must be a time from 0.001 to 5 s (got 0)"), ("compressor make-up=41", "make-up"),
    ("compressor off ratio=2", "off cannot be combined with ratio"), ("compressor attack=fast", "attack must be"),
    ("limiter ceiling=1", "ceiling must be a number from -60 to 0"), ("limiter release=6", "release must be a time"),
    ("limiter look-ahead=1", "look-ahead must be a time from 0.0001 to 0.1 s (got 1)"),
    ("limiter perhaps", "on or off"),
    ("limiter off ceiling=0", "off cannot be combined with ceiling"),
  ])
  func invalidEffectChangesNothing(_ command: String, _ message: String) throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    for command in ["channel-mix swap", "equalizer peak:500:2:2", "compressor on", "limiter on"] {
      try client.reply(command)
    }
    let before = try Self.shown(client)
    let reply = try client.reply(command)
    #expect(reply.hasPrefix("error code=") && reply.contains(message), "\(reply)")
    #expect(try Self.shown(client) == before)
    print("\(command): \(reply)")
  }

  // MARK: - Heard samples

  /// A frame whose channels differ from each other and from those of the next frames.
  private static func frame(_ index: Int) -> StereoFrame {
    StereoFrame(left: Int16(index % 1_000 * 8 + 8), right: Int16(-(index % 777) * 8 - 16))
  }

  private static func swapped(_ frame: StereoFrame) -> StereoFrame { StereoFrame(left: frame.right, right: frame.left) }

  /// Plays a second after these commands. Returns the frames that are heard.
  private func heard(
    after commands: [String], _ frame: @escaping (Int) -> StereoFrame = Self.frame
  ) throws -> [StereoFrame] {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = daemon.folder.file("effects.wav")
    try TimeCode.writeWAV(path: path, frameCount: 48_000) { frame($0) }
    for command in ["append \(path) wait=ready"] + commands + ["play", "clock.advance 1"] {
      let reply = try client.reply(command)
      #expect(reply.hasPrefix("ok"), "\(command): \(reply)")
    }
    try daemon.finish()
    let frames = Array(try Recording.frames(in: daemon.folder.file("out.wav")).prefix(48_000))
    #expect(frames.count == 48_000)
    return frames
  }

  @Test func mixIsHeardExactly() throws {
    let mixes: [(command: String, expected: (StereoFrame) -> StereoFrame)] = [
      ("channel-mix swap", Self.swapped),
      ("channel-mix left", { StereoFrame(left: $0.left, right: $0.left) }),
      ("channel-mix right", { StereoFrame(left: $0.right, right: $0.right) }),
      ("channel-mix 0.5,0/0,1", { StereoFrame(left: $0.left / 2, right: $0.right) }),
      ("channel-mix mono", { StereoFrame(left: ($0.left + $0.right) / 2, right: ($0.left + $0.right) / 2) }),
      ("equalizer pre-amp=0", { $0 }),
    ]
    for (command, expected) in mixes {
      let frames = try heard(after: [command])
      let wrong = frames.indices.first { frames[$0] != expected(Self.frame($0)) }
      #expect(wrong == nil, "\(command): frame \(wrong ?? 0)")
      print("\(command): \(frames[1_000]) for \(Self.frame(1_000))")
    }
  }

  @Test func limiterKeepsSamplesBelowTheCeiling() throws {
    let loud = { (index: Int) in
      let sample: Int16 = index % 100 < 50 ? 30_000 : -30_000
      return StereoFrame(left: sample, right: sample)
    }
    #expect(try heard(after: [], loud).allSatisfy { abs(Int($0.left)) == 30_000 })
    let peak = try heard(after: ["limiter ceiling=-12"], loud).map { abs(Int($0.left)) }.max() ?? 0
    // -12 dBFS is 0.2512 of 32,768.
    #expect((8_000...8_232).contains(peak), "\(peak)")
    print("peak with a ceiling of -12 dBFS: \(peak)")
  }

  @Test func equalizerChangesTheHeardLevel() throws {
    let constant = { (_: Int) in StereoFrame(left: 10_000, right: -10_000) }
    // A high-pass removes a constant level, and a low-pass leaves it unchanged.
    let removed = try heard(after: ["equalizer high-pass:200"], constant)
    #expect(removed[24_000...].allSatisfy { abs(Int($0.left)) <= 1 && abs(Int($0.right)) <= 1 })
    let kept = try heard(after: ["equalizer low-pass:200 pre-amp=-6.0206"], constant)
    #expect(kept[24_000...].allSatisfy { abs(Int($0.left) - 5_000) <= 1 && abs(Int($0.right) + 5_000) <= 1 })
  }

  @Test func changeIsHeardSoonAndLosesNoSample() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = daemon.folder.file("effects.wav")
    try TimeCode.writeWAV(path: path, frameCount: 96_000) { Self.frame($0) }
    for command in [
      "append \(path) wait=ready", "play", "clock.advance 0.5", "channel-mix swap", "clock.advance 0.5",
      "channel-mix off", "clock.advance 1",
    ] { #expect(try client.reply(command).hasPrefix("ok"), "\(command)") }
    try daemon.finish()
    let frames = try Recording.frames(in: daemon.folder.file("out.wav"))
    // Every frame is heard at its time: with its channels, with exchanged channels, or in one of two cross-fades.
    let isSwapped = (0..<96_000).map { frames[$0] == Self.swapped(Self.frame($0)) }
    let isUnchanged = (0..<96_000).map { frames[$0] == Self.frame($0) }
    let first = try #require(isSwapped.firstIndex(of: true))
    let last = try #require(isSwapped.lastIndex(of: true))
    #expect((24_000...28_800).contains(first) && (48_000...52_800).contains(last))
    #expect(isUnchanged[..<24_000].allSatisfy { $0 } && isUnchanged[52_800...].allSatisfy { $0 })
    #expect(isSwapped[28_800..<48_000].allSatisfy { $0 })
    let mixedCount = (0..<96_000).count { !isSwapped[$0] && !isUnchanged[$0] }
    #expect(mixedCount <= 480)
    print("exchanged from frame \(first) to \(last), cross-fades of \(mixedCount) frames together")
  }

  // MARK: - Saved state

  @Test func effectsAreRestored() throws {
    let directory = try StateTests.StateDirectory()
    let first = try directory.start()
    let client = try first.connect()
    try client.reply("player.create other")
    for command in [
      "channel-mix 0,1/1,0", "equalizer peak:1000:-3:1.4 high-pass:30 pre-amp=-2", "compressor ratio=3 attack=0.02",
      "limiter ceiling=-2", "channel-mix left player=other",
    ] { #expect(try client.reply(command).hasPrefix("ok"), "\(command)") }
    let states = [try Self.shown(client), try Self.shown(client, player: "other")]
    #expect(try client.reply("state.save").hasPrefix("ok"))
    try StateTests.kill(first)
    let second = try directory.start()
    let restored = try second.connect()
    #expect(try [Self.shown(restored), Self.shown(restored, player: "other")] == states)
    for name in ["channel-mix", "equalizer", "compressor", "limiter"] { try restored.reply("\(name) off") }
    #expect(try restored.reply("state.save").hasPrefix("ok"))
    try StateTests.kill(second)
    let third = try directory.start().connect()
    #expect(try Self.shown(third) == Self.off)
    #expect(try third.reply("channel-mix player=other") == "ok channelMix=left")
    print(states)
  }
}
