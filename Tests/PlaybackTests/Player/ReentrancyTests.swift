import Foundation
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Handlers that call back into the player during their call.
@Suite struct ReentrancyTests {
  private func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

  /// Creates a rig with one long item that is ready.
  private func rig() async throws -> Rig {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    return rig
  }

  @Test(.timeLimit(.minutes(1))) func seekFromTheCompletionOfAnotherIsPerformed() async throws {
    let rig = try await rig()
    let player = rig.player
    let results = Shared<String>()
    let target = seconds(7)
    try await rig.run { isolated in
      try isolated.seek(to: .zero) { first in
        results.add("first \(first.finished)")
        player.assumeIsolated { player in
          try? player.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero) { last in
            results.add("last \(last.finished) \(last.time.decimalDescription)")
          }
        }
      }
      try isolated.seek(to: .zero) { second in
        results.add("second \(second.finished)")
      }
    }
    await rig.settle()
    #expect(results.values == ["first false", "second false", "last true 7"])
  }

  @Test func changesReachAllObserversInOrder() async throws {
    let rig = try await rig()
    let player = rig.player
    let rates = Shared<Double>()
    await rig.run { isolated in
      _ = isolated.addStateObserver { change in
        if change.new.rate == 1 { player.assumeIsolated { $0.pause() } }
      }
      _ = isolated.addStateObserver { change in rates.add(change.new.rate) }
      isolated.play()
    }
    #expect(rates.values == [1, 0])
  }

  @Test func observerRemovedByAnotherIsNotCalled() async throws {
    let rig = try await rig()
    let player = rig.player
    let calls = Shared<String>()
    try await rig.run { isolated in
      let shared = Shared<ObserverToken>()
      _ = isolated.addStateObserver { _ in
        calls.add("state")
        player.assumeIsolated { player in for token in shared.values { try? player.removeObserver(token) } }
      }
      shared.add(isolated.addStateObserver { _ in calls.add("removed") })
      let times = Shared<ObserverToken>()
      _ = try isolated.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 2)) { observation in
        guard observation.reason == .periodic else { return }
        calls.add("tick")
        player.assumeIsolated { player in for token in times.values { try? player.removeTimeObserver(token) } }
      }
      times.add(
        try isolated.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 2)) { observation in
          if observation.reason == .periodic { calls.add("removed tick") }
        })
      isolated.play()
    }
    await rig.advance(milliseconds: 600)
    #expect(!calls.values.contains { $0.hasPrefix("removed") })
    #expect(calls.values.contains("tick"))
  }

  /// Creates a rig with an item of 0.1 s, at whose end `body` is called.
  private func playedToEnd(_ body: @escaping @Sendable (isolated QueuePlayer) -> Void) async throws -> Rig {
    let rig = try await Rig()
    let (player, item) = (rig.player, try rig.wav(file: 1, frames: 4_800))
    try await rig.run { isolated in
      try isolated.append([item])
      try isolated.setActionAtItemEnd(.pause)
      _ = isolated.addEventObserver { event in
        if case .playedToEnd = event { player.assumeIsolated { body($0) } }
      }
      isolated.play()
    }
    await rig.advance(milliseconds: 250)
    return rig
  }

  @Test func playFromThePlayedToEndHandlerStaysPausedAtTheEnd() async throws {
    let rig = try await playedToEnd { $0.play() }
    let state = await rig.run { $0.state }
    #expect(state.timeControlStatus == .paused)
    #expect(rig.dump.components(separatedBy: "playedToEnd").count == 2)
  }

  @Test func seekToTheStartFromThePlayedToEndHandlerLoopsWithoutAGap() async throws {
    let rig = try await playedToEnd { player in
      try? player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
      player.play()
    }
    #expect(rig.heard.runs.map { $0.count } == [4_800, 4_800, 2_400])
    #expect(rig.heard.runs.map { $0.position } == [0, 4_800, 9_600])
  }

  @Test func itemAppendedAgainByAnObserverOfItsRemovalStays() async throws {
    let rig = try await Rig()
    let (player, items) = (rig.player, [try rig.wav(file: 1, frames: 9_600), try rig.wav(file: 2, frames: 9_600)])
    try await rig.run { isolated in
      try isolated.append(items)
      _ = isolated.addStateObserver { change in
        guard change.new.itemCount == 1, change.old.itemCount == 2 else { return }
        player.assumeIsolated { try? $0.append([items[0]]) }
      }
      try isolated.remove([items[0].id])
    }
    let ids = await rig.run { player in player.items().map(\.id) }
    #expect(ids == [items[1].id, items[0].id])
  }
}

/// Values shared by handlers.
private final class Shared<Value: Sendable>: Sendable {
  private let state = Mutex<[Value]>([])
  var values: [Value] { state.withLock { $0 } }
  func add(_ value: Value) { state.withLock { $0.append(value) } }
}
