import DaemonTesting
import RigSupport
import Testing

/// Ticks of a player on a real PulseAudio server.
///
/// In real time, because ticks follow the clock of the device.
@Suite struct TickRigTests {
  /// On a separate device. With a seek and a pause, no tick is off the grid, early, duplicate or missing.
  @Test func ticksOfARealDeviceAreMultiplesOfTheInterval() throws {
    let server = try PulseServer()
    let daemon = try TestDaemon("--output", "pulse:\(server.sinkName)", "--pulse-server", server.address)
    let client = try daemon.connect()
    let path = daemon.folder.file("1.flac")
    try TimeCode.writeFLAC(path: path, file: 1, frameCount: 48_000 * 60)
    try client.reply("append \(path) wait=ready")
    try client.reply("tick 0.05")
    try client.reply("at 0 1 40.5 seeks=true")
    try client.reply("play")
    var lines = try client.ask("wait time>=1.02")
    lines += try client.ask("seek 40.01")
    lines += try client.ask("wait time>=41")
    lines += try client.ask("pause")
    lines += try client.ask("play")
    lines += try client.ask("wait time>=42")
    let ticks = lines.filter { $0.hasPrefix("* tick") }
    let periodic = ticks.filter { field("reason", $0) == "periodic" }.compactMap {
      field("time", $0).flatMap(Double.init)
    }
    let multiples = periodic.map { Int(($0 * 20).rounded()) }
    // The position at the time of the seek depends on the device.
    let reached = multiples.last { $0 < 100 } ?? 0
    #expect(reached >= 20)
    #expect(multiples == Array(1...max(1, reached)) + Array(801...840))
    #expect(zip(periodic, multiples).allSatisfy { $0 == Double($1) / 20 }, "off the grid")
    #expect(ticks.filter { field("reason", $0) != "periodic" }.map { field("reason", $0) ?? "" }.first == "start")
    #expect(
      lines.filter { $0.hasPrefix("* at") }.map { "\(field("time", $0) ?? "") \(field("kind", $0) ?? "")" } == [
        "0 crossed", "1 crossed", "40.5 crossed",
      ])
    let late = ticks.compactMap { field("late", $0).flatMap(Double.init) }
    print("ticks every 50 ms: \(ticks.count), latest \(late.max() ?? 0) s")
  }
}
