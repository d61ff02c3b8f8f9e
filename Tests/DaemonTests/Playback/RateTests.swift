import DaemonTesting
import RigSupport
import Testing

/// Rates over the socket, on virtual time.
@Suite struct RateTests {
  @Test func rateSetWhilePausedAppliesToTheNextPlayOnly() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
    #expect(try client.reply("rate") == "ok rate=1")
    #expect(try client.reply("rate 2") == "ok rate=2")
    #expect(field("rate", try client.reply("status")) == "0")
    try client.reply("play")
    let playing = try client.reply("status")
    #expect([field("rate", playing), field("defaultRate", playing)] == ["2", "1"])
    try client.reply("clock.advance 1")
    let later = try client.reply("status")
    #expect([field("timebaseRate", later), field("time", later)] == ["2", "2"])
    try client.reply("pause")
    #expect(field("timebaseRate", try client.reply("status")) == "0")
    #expect(try client.reply("rate") == "ok rate=1")
    #expect(try client.reply("default-rate 1.5") == "ok defaultRate=1.5")
    try client.reply("play")
    #expect(field("rate", try client.reply("status")) == "1.5")
    #expect(try client.reply("default-rate") == "ok defaultRate=1.5")
  }

  @Test func rateChangeDuringPlaybackAppliesAndTicksReportIt() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 480_000)) wait=ready")
    try client.reply("observe player.timebaseRate")
    try client.reply("play")
    try client.reply("clock.advance 1")
    try client.reply("tick 1")
    #expect(try client.reply("rate 4") == "ok rate=4")
    let lines = try client.ask("clock.advance 1.06")
    #expect(
      lines.contains { $0.hasPrefix("* changed id=1 player=main key=player.timebaseRate old=1 new=4 cause=request") })
    let ticks = lines.filter { $0.hasPrefix("* tick ") && field("reason", $0) == "periodic" }
    #expect(ticks.map { field("time", $0) } == ["2", "3", "4", "5"])
    #expect(ticks.allSatisfy { field("rate", $0) == "4" && field("late", $0) == "0" })
  }

  @Test func negativeRatePlaysFromTheEndToTheBeginning() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    try client.reply("append \(try daemon.wave(1, frameCount: 96_000)) wait=ready")
    try client.reply("end-action pause")
    try client.reply("seek end")
    #expect(try client.reply("rate -1") == "ok rate=-1")
    try client.reply("play")
    try client.reply("clock.advance 0.5")
    let playing = try client.reply("status")
    #expect([field("rate", playing), field("timebaseRate", playing), field("time", playing)] == ["-1", "-1", "1.5"])
    try client.reply("clock.advance 2")
    let ended = try client.reply("status")
    #expect([field("rate", ended), field("time", ended)] == ["0", "0"])
  }

  @Test func unsupportedRatesAreRejectedAndChangeNothing() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    for command in ["rate", "default-rate"] {
      #expect(try client.reply("\(command) 0.03").hasPrefix("error code=1005 name=unsupported-rate"))
      for rate in ["0", "nan", "inf", "32.1", "fast"] {
        #expect(try client.reply("\(command) \(rate)").hasPrefix("error code="))
      }
    }
    #expect(try client.reply("rate") == "ok rate=1")
    #expect(try client.reply("default-rate") == "ok defaultRate=1")
  }

  @Test func pitchAlgorithmIsSetForAPlayerAndForAnEntry() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let path = try daemon.wave(1, frameCount: 480_000)
    try client.reply("append \(path) \(path) wait=ready")
    #expect(try client.reply("pitch") == "ok audioTimePitchAlgorithm=timeDomain")
    #expect(try client.reply("pitch varispeed") == "ok audioTimePitchAlgorithm=varispeed")
    #expect(try client.reply("item.pitch 2") == "ok item=2 audioTimePitchAlgorithm=varispeed")
    #expect(try client.reply("item.pitch 2 timeDomain") == "ok item=2 audioTimePitchAlgorithm=timeDomain")
    #expect(try client.reply("item.pitch 1") == "ok item=1 audioTimePitchAlgorithm=varispeed")
    let (custom, inherited) = (try client.reply("item.status 2"), try client.reply("item.status 1"))
    #expect(
      [field("audioTimePitchAlgorithm", custom), field("ownAudioTimePitchAlgorithm", custom)] == [
        "timeDomain", "timeDomain",
      ])
    #expect(
      [field("audioTimePitchAlgorithm", inherited), field("ownAudioTimePitchAlgorithm", inherited)] == [
        "varispeed", "none",
      ])
    #expect(field("audioTimePitchAlgorithm", try client.reply("status")) == "varispeed")
    #expect(try client.reply("item.pitch 2 player") == "ok item=2 audioTimePitchAlgorithm=varispeed")
    #expect(try client.reply("item.pitch 9 varispeed").hasPrefix("error code=2004 name=no-such-item"))
    for bad in ["pitch lowQualityZeroLatency", "item.pitch varispeed", "item.pitch 1 0", "pitch varispeed spectral"] {
      #expect(try client.reply(bad).hasPrefix("error code=6002 "))
    }
    #expect(try client.reply("pitch") == "ok audioTimePitchAlgorithm=varispeed")
    // Time advances at exactly this rate, for each pitch algorithm.
    try client.reply("rate 2")
    try client.reply("play")
    try client.reply("clock.advance 1")
    try client.reply("pitch timeDomain")
    try client.reply("clock.advance 1")
    try client.reply("clock.advance 0.5")
    let status = try client.reply("status")
    #expect([field("time", status), field("timebaseRate", status)] == ["5", "2"])
  }
}
