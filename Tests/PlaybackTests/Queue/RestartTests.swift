import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// A restart of the current item: its events, and that the item can end again.
@Suite struct RestartTests {
  /// The commands that restart the current item.
  enum RestartCommand: String, CaseIterable {
    case jump, jumpToIndex, previous
    /// In a queue of one entry that repeats.
    case next

    func perform(_ player: isolated QueuePlayer) throws {
      switch self {
      case .jump: try player.jump(to: 1)
      case .jumpToIndex: try player.jump(toIndex: 0)
      case .previous: try player.goToPreviousItem(restartingAfter: .zero)
      case .next:
        let mode = player.state.repeatMode
        try player.setRepeatMode(.all)
        player.advanceToNextItem()
        try player.setRepeatMode(mode)
      }
    }

    /// The cause that `timeJumped` reports.
    var cause: TimeJumpCause { self == .next ? .repeat : .restart }
  }

  private func frame(_ frame: Int64) -> MediaTime { MediaTime(frame: frame, rate: 48_000) }

  private func lines(_ rig: Rig, _ word: String) -> [String] {
    rig.dump.split(separator: "\n").map(String.init).filter { $0.hasPrefix(word) }
  }

  /// Creates an item of `frames` frames that was played to its end, where the player paused.
  private func ended(frames: Int) async throws -> (Rig, PlayerItem) {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: frames)
    try await rig.run { player in
      try player.append([item])
      try player.setActionAtItemEnd(.pause)
      player.play()
    }
    await rig.advance(milliseconds: 1_000)
    #expect(lines(rig, "event playedToEnd").count == 1)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(await rig.run { $0.state.isAtItemEnd })
    return (rig, item)
  }

  @Test(arguments: RestartCommand.allCases, [false, true])
  func restartIsReportedAsATimeJump(_ command: RestartCommand, _ isPaused: Bool) async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 96_000)
    let jumps = Mutex<[MediaTime]>([])
    try await rig.run { player in
      try player.append([item])
      _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 10, timescale: 1)) { observation in
        if observation.reason == .jump { jumps.withLock { $0.append(observation.time) } }
      }
      player.play()
    }
    await rig.advance(milliseconds: 300)
    if isPaused { await rig.run { $0.pause() } }
    try await rig.run { try command.perform($0) }
    await rig.advance(milliseconds: 100)
    #expect(lines(rig, "event timeJumped") == ["event timeJumped item 1 to 0 by \(command.cause.rawValue)"])
    #expect(jumps.withLock { $0 } == [.zero])
    #expect(await rig.run { $0.currentTime() } == (isPaused ? .zero : frame(4_800)))
  }

  @Test(arguments: RestartCommand.allCases)
  func itemRestartedAtItsEndEndsAgain(_ command: RestartCommand) async throws {
    let (rig, _) = try await ended(frames: 9_600)
    try await rig.run { try command.perform($0) }
    await rig.settle()
    #expect(await rig.run { !$0.state.isAtItemEnd && $0.currentTime() == .zero })
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    #expect(lines(rig, "event playedToEnd") == Array(repeating: "event playedToEnd item 1 at 0.2", count: 2))
    #expect(rig.heard.runs.map(\.count) == [9_600, 9_600])
    #expect(await rig.run { $0.state.rate == 0 && $0.state.isAtItemEnd })
  }

  @Test(arguments: RestartCommand.allCases)
  func mixAndEndTimeApplyAfterARestart(_ command: RestartCommand) async throws {
    let (rig, item) = try await ended(frames: 24_000)
    try await rig.run { player in
      try command.perform(player)
      player.play()
    }
    await rig.advance(milliseconds: 100)
    var mix = AudioMix()
    try mix.setVolume(0, at: .zero)
    item.audioMix = mix
    await rig.advance(milliseconds: 100)
    let heard = rig.heard.left
    #expect(heard.count > 4_800 && heard.suffix(2_400).allSatisfy { $0 == 0 })
    // The end is before the present position, so the item ends at once.
    try item.setForwardPlaybackEndTime(frame(4_800))
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(lines(rig, "event playedToEnd").count == 2)
  }
}
