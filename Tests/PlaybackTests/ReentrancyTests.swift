import MediaCore
import RigSupport
import Synchronization
import Testing

@testable import Playback

/// Handlers that call back into the player while it tells them something.
@Suite struct ReentrancyTests {
  private func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

  /// A rig with one long item that is ready.
  private func rig() async throws -> Rig {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    return rig
  }

  @Test(.timeLimit(.minutes(1))) func aSeekFromTheCompletionOfAnotherIsCarriedOut() async throws {
    let rig = try await rig()
    let (player, results) = (rig.player, Mutex<[String]>([]))
    let target = seconds(7)
    try await rig.run { isolated in
      try isolated.seek(to: .zero) { first in
        results.withLock { $0.append("first \(first.finished)") }
        player.assumeIsolated { player in
          try? player.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero) { last in
            results.withLock { $0.append("last \(last.finished) \(last.time.decimalDescription)") }
          }
        }
      }
      try isolated.seek(to: .zero) { second in
        results.withLock { $0.append("second \(second.finished)") }
      }
    }
    await rig.settle()
    #expect(results.withLock { $0 } == ["first false", "second false", "last true 7"])
    await rig.close()
  }

  @Test func changesReachAllObserversInTheOrderInWhichTheyHappened() async throws {
    let rig = try await rig()
    let (player, rates) = (rig.player, Mutex<[Double]>([]))
    await rig.run { isolated in
      _ = isolated.addStateObserver { change in
        if change.new.rate == 1 { player.assumeIsolated { $0.pause() } }
      }
      _ = isolated.addStateObserver { change in rates.withLock { $0.append(change.new.rate) } }
      isolated.play()
    }
    #expect(rates.withLock { $0 } == [1, 0])
    await rig.close()
  }

  @Test func anObserverThatAnotherRemovesIsNotCalledAnyMore() async throws {
    let rig = try await rig()
    let (player, calls) = (rig.player, Mutex<[String]>([]))
    try await rig.run { isolated in
      let shared = Shared()
      _ = isolated.addStateObserver { _ in
        calls.withLock { $0.append("state") }
        player.assumeIsolated { player in for token in shared.value { player.removeObserver(token) } }
      }
      shared.add(isolated.addStateObserver { _ in calls.withLock { $0.append("removed") } })
      let times = Shared()
      _ = try isolated.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 2)) { observation in
        guard observation.reason == .periodic else { return }
        calls.withLock { $0.append("tick") }
        player.assumeIsolated { player in for token in times.value { try? player.removeTimeObserver(token) } }
      }
      times.add(
        try isolated.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 2)) { observation in
          if observation.reason == .periodic { calls.withLock { $0.append("removed tick") } }
        })
      isolated.play()
    }
    await rig.advance(milliseconds: 600)
    #expect(!calls.withLock { $0 }.contains { $0.hasPrefix("removed") })
    #expect(calls.withLock { $0 }.contains("tick"))
    await rig.close()
  }

  @Test func anItemThatAnObserverPutsBackWhenItIsRemovedStays() async throws {
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
    let there = await rig.run { player in player.items().map(\.id) }
    #expect(there == [items[1].id, items[0].id])
    await rig.close()
  }
}

/// Tokens that handlers share.
private final class Shared: Sendable {
  private let state = Mutex<[ObserverToken]>([])
  var value: [ObserverToken] { state.withLock { $0 } }
  func add(_ token: ObserverToken) { state.withLock { $0.append(token) } }
}
