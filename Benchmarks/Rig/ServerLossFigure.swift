import Glibc
import PlayheadMediaCore
import RigSupport

/// The cost of a sound server that is killed and restarted, or stalls: samples that are skipped or repeated, and the
/// delay of audio after its return. It uses separate servers of both kinds. No other player reconnects by itself.
enum ServerLossFigure {
  /// A server and its daemon.
  private final class Rig {
    var server: any SoundServer
    /// Owns the folder, which the later servers use, too.
    private let first: any SoundServer
    private let make: (String?) throws -> any SoundServer
    private let directory: TemporaryDirectory
    private let process: ChildProcess
    private let socket: LineSocket

    init(program: String, path: String, make: @escaping (String?) throws -> any SoundServer) throws {
      self.make = make
      first = try make(nil)
      server = first
      directory = try TemporaryDirectory("loss")
      let control = directory.file("control.sock")
      process = try ChildProcess(
        [program, "--socket", control, "--no-state", "--log-level", "error", "--pulse-server", server.address],
        environment: PlayheadPlayer.environment(directory))
      socket = try .waiting(for: control)
      _ = try socket.line()
      try socket.send("observe output.state\n")
      while try !socket.line().contains("new=ready") {}
      try socket.send("load \"\(path)\" wait=ready\nplay\n")
      try server.capture.waitForCode(file: 1, index: 48_000)
    }

    deinit {
      process.kill()
      server.stop()
    }

    /// Restarts the server. Returns the last index before, the first index after, and the delay after the new server
    /// accepts connections.
    func restart() throws -> (heard: Int, first: Int, milliseconds: Double) {
      let old = server
      old.kill()
      server = try make(old.directory)
      let accepted = HostTime.present
      let position = try server.capture.waitForCode(file: 1)
      try server.capture.waitForMoreFrames(24_000)
      let heard = old.capture.runs().last?.endIndex ?? 0
      let first = server.capture.runs().first?.firstIndex ?? 0
      let time = server.capture.arrival(of: position)?.milliseconds(since: accepted) ?? 0
      old.stop()
      return (heard, first, max(0, time))
    }

    /// Suspends the server for a while. Returns the skipped and repeated samples, and the delay of audio.
    func hang(milliseconds: Double) throws -> (lost: Int, repeated: Int, milliseconds: Double) {
      let startFrame = server.capture.frameCount
      try server.capture.waitForMoreFrames(4_800)
      server.suspend()
      Pause.milliseconds(milliseconds)
      let before = server.capture.runs(from: startFrame).last?.endIndex ?? 0
      server.resume()
      let resumed = HostTime.present
      let position = try server.capture.waitForCode(file: 1, index: before, from: startFrame)
      let time = server.capture.arrival(of: position)?.milliseconds(since: resumed) ?? 0
      try server.capture.waitForCode(file: 1, index: before + 48_000, from: startFrame)
      let coverage = TimeCode.coverage(of: server.capture.runs(from: startFrame))
      return (coverage.missing, coverage.repeated, max(0, time))
    }
  }

  static func measure(_ programs: Programs, _ material: Material, rounds: Int, into table: inout Table) throws {
    let path = try material.coded(.flac, number: 1)
    let kinds: [(name: String, make: (String?) throws -> any SoundServer)] = [
      ("PulseAudio", { try PulseServer(directory: $0) }), ("PipeWire", { try PipeWireServer(directory: $0) }),
    ]
    for kind in kinds {
      let rig = try Rig(program: programs.playheadd, path: path, make: kind.make)
      var (times, repeats, lost) = (Sample(), Sample(), 0)
      for _ in 1...rounds {
        let restart = try rig.restart()
        times.add(restart.milliseconds)
        repeats.add(Double(restart.heard - restart.first) / 48)
        lost += max(0, restart.first - restart.heard)
      }
      table.add(
        "\(kind.name) killed and restarted: time from its first reply to audio", target: "< 1000 ms",
        [.playhead: text(times)])
      table.add(
        "\(kind.name) killed: heard twice; lost", target: "<= 50 ms; 0", [.playhead: "\(text(repeats)); \(lost)"])
      for duration in [100.0, 400, 3_000] {
        var (times, repeats, lost) = (Sample(), Sample(), 0)
        for _ in 1...5 {
          let hang = try Rig(program: programs.playheadd, path: path, make: kind.make).hang(milliseconds: duration)
          times.add(hang.milliseconds)
          repeats.add(Double(hang.repeated) / 48)
          lost += hang.lost
        }
        table.add(
          "\(kind.name) suspended for \(Int(duration)) ms, five times: time to audio; heard twice; lost",
          target: "< 1000 ms; <= 50 ms; 0", [.playhead: "\(text(times)); \(text(repeats)); \(lost)"])
      }
    }
  }

  private static func text(_ sample: Sample) -> String {
    "\((sample.median ?? 0).text()) ms (max \((sample.quantile(1) ?? 0).text()))"
  }
}
