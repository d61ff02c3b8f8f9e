import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Damaged files and estimated durations, from a client's view.
@Suite struct DamagedFileTests {
  private func flac(_ daemon: TestServer, _ number: Int, frameCount: Int) throws -> (path: String, bytes: [UInt8]) {
    let path = daemon.folder.path + "/\(number).flac"
    try TimeCode.writeFLAC(path: path, file: number, frameCount: frameCount)
    return (path, try Files.read(path))
  }

  /// The events about items in a reply, with their names and numbers.
  private func events(_ lines: [String]) -> [String] {
    lines.filter { $0.hasPrefix("* ") && !$0.hasPrefix("* changed") }.map { line in
      let name = line.split(separator: " ")[1]
      let fields = ["item", "time", "count", "code"].compactMap { key in field(key, line).map { "\(key)=\($0)" } }
      return ([String(name)] + fields).joined(separator: " ")
    }
  }

  @Test func undecodablePacketsAreReportedAndTheQueueContinues() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    var (_, bytes) = try flac(daemon, 1, frameCount: 192_000)
    for offset in 0..<40 { bytes[bytes.count / 2 + offset] ^= 0x5a }
    let hit = try daemon.folder.write("hit.flac", bytes)
    let next = try daemon.wave(2, frameCount: 4_800)
    try client.reply("observe item.events")
    // The error is reported when it is detected, which may be before the item plays.
    let lines = try ["load \(hit) \(next) wait=ready", "play", "clock.advance 5"].flatMap { try client.ask($0) }
    #expect(
      events(lines).sorted() == [
        "packets-skipped item=1 time=1.824 count=1 code=4002", "played-to-end item=1 time=4",
        "played-to-end item=2 time=0.1", "transition time=0",
      ])
    #expect(try daemon.recorded(withSilences: false) == "1[0..<87552] 1[92160..<192000] 2[0..<4800]")
  }

  @Test func truncatedAndTooLongFilesAreReported() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let (_, whole) = try flac(daemon, 1, frameCount: 192_000)
    let cut = try daemon.folder.write("cut.flac", Array(whole.prefix(whole.count * 3 / 4)))
    var bytes = try flac(daemon, 2, frameCount: 144_000).bytes
    // The number of samples in STREAMINFO: 1 s.
    bytes.replaceSubrange(22..<26, with: [0, 0, 0xbb, 0x80])
    let short = try daemon.folder.write("short.flac", bytes)
    try client.reply("observe item.events item.duration")
    let lines = try ["load \(cut) \(short) wait=ready", "play", "clock.advance 8"].flatMap { try client.ask($0) }
    let failures = lines.filter { $0.hasPrefix("* failed-to-play-to-end") }
    #expect(failures.count == 1)
    let end = try #require(failures.first)
    #expect(field("code", end) == "3004" && field("name", end) == "damaged-file")
    #expect(
      events(lines).filter { !$0.hasPrefix("failed") }.sorted() == [
        // The last packet of the truncated file is incomplete.
        "new-error-log-entry item=2 time=3 code=3006", "packets-skipped item=1 time=2.784 count=1 code=4002",
        "played-to-end item=2 time=3", "transition time=0",
      ])
    let corrected = lines.filter { $0.contains("key=item.duration") && !$0.contains("old=indefinite") }
    #expect(corrected.count == 2)
    #expect(field("old", corrected.first ?? "") == "4" && field("new", corrected.first ?? "") == field("time", end))
    #expect(field("old", corrected.last ?? "") == "1" && field("new", corrected.last ?? "") == "3")
  }

  @Test func durationIsExactOnRequestAndOtherwiseCorrected() throws {
    let daemon = try InProcessServer()
    let client = try daemon.connect()
    // Longer than what is decoded ahead, so that the end is not decoded before the estimate is requested.
    let wave = try daemon.wave(1, frameCount: 10 * 48_000)
    let path = daemon.folder.path + "/plain.mp3"
    // Without a header that states its duration: 418 frames of 1,152.
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-i", wave, "-write_xing", "0", path])
    try client.reply("observe item.duration item.providesPreciseDuration")
    #expect(try client.reply("load \(path) precise wait=ready").hasPrefix("ok items=1"))
    let exact = try client.reply("item.status 1")
    #expect(field("providesPreciseDuration", exact) == "true")
    let length = try #require(field("duration", exact))
    #expect(length == "10.032")

    #expect(try client.ask("load \(path) wait=ready").last?.hasPrefix("ok items=2") == true)
    let estimate = try client.reply("status")
    #expect(field("providesPreciseDuration", estimate) == "false")
    let lines = try ["play", "clock.advance 10"].flatMap { try client.ask($0) }
    let precise = lines.filter { $0.contains("key=item.providesPreciseDuration") && $0.contains("item=2") }
    #expect(precise.map { field("new", $0) } == ["true"])
    let status = try client.reply("status")
    #expect(field("duration", status) == length && field("providesPreciseDuration", status) == "true")
    // JSON has it as a boolean.
    try client.send(#"{"jsonrpc":"2.0","id":1,"method":"load","params":{"paths":["\#(path)"],"precise":true}}"#)
    var json = try client.line()
    while json?.hasPrefix("* ") == true { json = try client.line() }
    #expect(json?.contains(#""items":[3]"#) == true)
    // The client accepts the option, too.
    let outcome = try daemon.playhead("load", path, "precise", "wait=ready")
    #expect(outcome.status == 0)
  }

  /// FLAC in Matroska with a jump in the cluster times at 2.5 s.
  private func fileWithTimestampJump(_ daemon: TestServer, byMilliseconds jump: Int) throws -> String {
    let whole = daemon.folder.file("whole.mka")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", try flac(daemon, 1, frameCount: 192_000).path, "-c:a", "copy",
      "-cluster_time_limit", "300", whole,
    ])
    var bytes = try Files.read(whole)
    var count = 0
    for offset in 0..<(bytes.count - 24)
    where bytes[offset] == 0x1f && bytes[offset..<(offset + 4)].elementsEqual([0x1f, 0x43, 0xb6, 0x75]) {
      let candidates = (offset + 4)..<(offset + 20)
      guard let position = candidates.first(where: { bytes[$0] == 0xe7 && bytes[$0 + 1] == 0x82 }) else { continue }
      let time = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
      guard time >= 2_500 else { continue }
      bytes[position + 2] = UInt8((time + jump) >> 8)
      bytes[position + 3] = UInt8((time + jump) & 0xff)
      count += 1
    }
    #expect(count > 1)
    return try daemon.folder.write("jump.mka", bytes)
  }

  /// A jump back is ignored. A jump ahead is filled with silence, because data may be missing.
  @Test(arguments: [
    (-900, "4", "1[0..<192000] 2[0..<4800]"), (500, "4.5", "1[0..<124416] - 1[124416..<192000] 2[0..<4800]"),
  ])
  func timestampJumpsAreReportedAndTheQueueContinues(_ jump: Int, _ end: String, _ heard: String) throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = [try fileWithTimestampJump(daemon, byMilliseconds: jump), try daemon.wave(2, frameCount: 4_800)]
    try client.reply("observe item.events")
    let lines = try ["load \(paths[0]) \(paths[1]) wait=ready", "play", "clock.advance 5"].flatMap {
      try client.ask($0)
    }
    let entry = try #require(lines.first { $0.hasPrefix("* new-error-log-entry") })
    #expect(field("name", entry) == "irregular-timestamps")
    #expect(
      events(lines).sorted() == [
        "new-error-log-entry item=1 time=2.592 code=3007", "played-to-end item=1 time=\(end)",
        "played-to-end item=2 time=0.1", "transition time=0",
      ])
    #expect(try daemon.recorded() == heard)
  }

  /// Longer than what is decoded ahead. Half of the file is removed during playback.
  @Test func fileThatShrinksDuringPlaybackEndsEarlyAndTheQueueContinues() throws {
    let daemon = try InProcessServer.recording()
    let client = try daemon.connect()
    let paths = [try daemon.wave(1, frameCount: 960_000), try daemon.wave(2, frameCount: 4_800)]
    try client.reply("observe item.events item.duration")
    var lines = try ["load \(paths[0]) \(paths[1]) wait=ready", "play", "clock.advance 0.5"].flatMap {
      try client.ask($0)
    }
    #expect(events(lines).isEmpty)
    // Truncates the file to 10 s.
    #expect(truncate(paths[0], 44 + 480_000 * 4) == 0)
    lines = try client.ask("clock.advance 22")
    let end = try #require(lines.first { $0.hasPrefix("* failed-to-play-to-end") })
    #expect(field("code", end) == "3004" && field("name", end) == "damaged-file" && field("item", end) == "1")
    let time = try #require(field("time", end))
    let frame = Int((try #require(Double(time)) * 48_000).rounded())
    // The decoded audio is played.
    #expect((480_000..<960_000).contains(frame))
    let corrected = lines.filter { $0.contains("key=item.duration") && field("item", $0) == "1" }
    #expect(corrected.map { field("new", $0) } == [time])
    #expect(
      events(lines).filter { !$0.hasPrefix("failed") } == ["transition time=0", "played-to-end item=2 time=0.1"])
    #expect(field("itemStatus", try client.reply("status")) == "unknown")
    #expect(try daemon.recorded() == "1[0..<\(frame)] 2[0..<4800]")
  }
}
