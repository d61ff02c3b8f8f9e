import MediaCore
import RigSupport

/// The players that are compared.
enum PlayerKind: String, CaseIterable {
  case playhead = "Playhead"
  case mpv
  case mpd = "MPD"
}

/// What is asked of a player while it is measured.
enum PlayerCommand {
  /// Play a file from its beginning; before, there is nothing.
  case start(String)
  case play
  case pause
  /// Go to a place exactly.
  case seek(milliseconds: Int)
  /// Play so much faster. MPD cannot.
  case rate(Double, Pitch)

  /// What becomes of the pitch then; `rawValue` is this player's name for it.
  enum Pitch: String {
    /// By leaving out or repeating pieces: Sonic here, scaletempo2 in mpv.
    case timeDomain
    /// By moving partials in their phases: Rubber Band. Not asked of mpv.
    case spectral
    case varispeed
  }
}

/// A player under measurement, with a sound server of its own.
protocol BenchPlayer: AnyObject {
  var kind: PlayerKind { get }
  var server: PulseServer { get }
  var process: ChildProcess { get }

  /// Queues files and stands at the beginning of the first.
  func load(_ paths: [String]) throws
  /// Forgets everything; the next `start` begins from nothing.
  func unload() throws
  /// Sends a command; answers when it was sent. `finish` has to follow.
  func send(_ command: PlayerCommand) throws -> HostTime
  /// Waits for the answer to the last command.
  func finish() throws
}

extension BenchPlayer {
  var capture: Capture { server.capture }

  /// Sends a command and waits for its answer.
  func perform(_ command: PlayerCommand) throws {
    _ = try send(command)
    try finish()
  }
}

/// The players of this run: those that are installed.
final class Players {
  private(set) var all: [any BenchPlayer] = []
  /// Why a player takes no part.
  private(set) var missing: [PlayerKind: String] = [:]

  init(programs: Programs) throws {
    for kind in PlayerKind.allCases {
      do {
        all.append(try Self.start(kind, programs))
      } catch RigError.missingTool(let name) {
        missing[kind] = "NOT MEASURED: no \(name)"
        Progress.say("\(name) is not installed: nothing is compared with it (scripts/install-deps --bench)")
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

  /// Runs `body` for each of `kinds`; what it throws is in the table, and so is a player that is missing.
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

  /// Measures `rounds` times with each of `kinds` in turn, so that what disturbs the machine disturbs all. A player that
  /// failed once is left out from there on; its failure is in the answer.
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
