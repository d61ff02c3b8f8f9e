import PlayheadMediaCore
import RigSupport

/// The players that are compared.
enum PlayerKind: String, CaseIterable {
  case playhead = "Playhead"
  case mpv
  case mpd = "MPD"
}

/// The commands to a player during measurements.
enum PlayerCommand {
  /// Plays a file from its start; the player was empty before.
  case start(String)
  case play
  case pause
  /// Seeks exactly.
  case seek(milliseconds: Int)
  /// Changes the playback rate. MPD does not support it.
  case rate(Double, Pitch)

  /// The handling of pitch; `rawValue` is this player's name for it.
  enum Pitch: String {
    /// Skips or repeats segments: Sonic in this player, scaletempo2 in mpv.
    case timeDomain
    /// Changes partials in the frequency domain: Rubber Band. Not requested from mpv.
    case spectral
    case varispeed
  }
}

/// A player under measurement, with a separate sound server.
protocol BenchPlayer: AnyObject {
  var kind: PlayerKind { get }
  var server: PulseServer { get }
  var process: ChildProcess { get }
  var socketPath: String { get }

  /// Queues files and pauses at the start of the first.
  func load(_ paths: [String]) throws
  /// Removes everything; the next `start` begins with an empty player.
  func unload() throws
  /// Sends a command. Returns the time of sending. `finish` must follow.
  func send(_ command: PlayerCommand) throws -> HostTime
  /// Waits for the reply to the last command.
  func finish() throws
}

extension BenchPlayer {
  var capture: Capture { server.capture }

  /// Sends a command and waits for its reply.
  func perform(_ command: PlayerCommand) throws {
    _ = try send(command)
    try finish()
  }
}

/// The installed players of this run.
final class Players {
  private(set) var all: [any BenchPlayer] = []
  /// Why a player is missing.
  private(set) var missing: [PlayerKind: String] = [:]

  init(programs: Programs) throws {
    for kind in PlayerKind.allCases {
      do {
        all.append(try Self.start(kind, programs))
      } catch RigError.missingTool(let name) {
        missing[kind] = "NOT MEASURED: no \(name)"
        Progress.report("\(name) is not installed: no comparison (install it with scripts/install-deps --bench)")
      }
    }
  }

  static func start(_ kind: PlayerKind, _ programs: Programs) throws -> any BenchPlayer {
    switch kind {
    case .playhead: try PlayheadPlayer(program: programs.playheadd)
    case .mpv: try MPVPlayer()
    case .mpd: try MPDPlayer()
    }
  }

  subscript(_ kind: PlayerKind) -> (any BenchPlayer)? { all.first { $0.kind == kind } }

  /// Runs `body` for each of `kinds`. The table contains its errors, and missing players.
  func each(_ kinds: [PlayerKind] = PlayerKind.allCases, _ body: (any BenchPlayer) throws -> String) -> [PlayerKind:
    String]
  {
    var cells: [PlayerKind: String] = [:]
    for kind in kinds {
      guard let player = self[kind] else {
        cells[kind] = missing[kind]
        continue
      }
      do { cells[kind] = try body(player) } catch { cells[kind] = "FAILED: \(error)" }
    }
    return cells
  }

  /// Measures `rounds` times with each of `kinds` in turn, so that disturbances of the machine affect all players. A
  /// player that fails is skipped from then on; its error is in the result.
  func interleave(
    _ kinds: [PlayerKind] = PlayerKind.allCases, rounds: Int, _ body: (any BenchPlayer, Int) throws -> Void
  ) -> [PlayerKind: String] {
    var failures = missing.filter { kinds.contains($0.key) }
    for round in 0..<rounds {
      for kind in kinds where failures[kind] == nil {
        guard let player = self[kind] else { continue }
        do { try body(player, round) } catch { failures[kind] = "FAILED: \(error)" }
      }
    }
    return failures
  }
}
