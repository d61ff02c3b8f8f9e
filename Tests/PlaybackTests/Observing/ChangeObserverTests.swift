import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback

/// The calls of the observer that persists a player's state.
@Suite(.timeLimit(.minutes(2))) struct ChangeObserverTests {
  @Test func itemsAddedOrChangedTogetherAreReportedInOneCall() async throws {
    let rig = try await Rig()
    let path = try rig.level(0.25, frames: 4_800).asset.displayPath
    let items = (0..<500).map { _ in rig.item(path) }
    let reports = Mutex<[[PlayerItem.ID]]>([])
    try await rig.run { player in
      player.setChangeObserver { items in
        if !items.isEmpty { reports.withLock { $0.append(items.map(\.id)) } }
      }
      try player.append(items)
    }
    #expect(reports.withLock { $0 } == [items.map(\.id)])
    try await rig.run { player in try player.append([rig.item(path)]) }
    #expect(reports.withLock { $0.map(\.count) } == [500, 1])
    let count = await withCheckedContinuation { done in
      let (loop, player) = (rig.loop, rig.player)
      loop.execute {
        player.assumeIsolated { player in
          player.setMeasuredReplayGains({ _ in
            var gain = ReplayGain()
            gain.trackGainDecibels = -6
            return gain
          }) { done.resume(returning: $0) }
        }
      }
    }
    // Read in a later turn of the loop than the one that called the completion.
    #expect(await rig.run { _ in reports.withLock { $0.map(\.count) } } == [500, 1, 501])
    #expect(count == 501)
  }

  @Test func rateChangeForTheNextPlayIsReported() async throws {
    let rig = try await Rig()
    let calls = Mutex(0)
    let item = try rig.level(0.25, frames: 4_800)
    let callCount = try await rig.run { player in
      try player.append([item])
      player.setChangeObserver { _ in calls.withLock { $0 += 1 } }
      try player.setRate(1.5, startsPlayback: false)
      return calls.withLock { $0 }
    }
    #expect(callCount == 1)
  }
}
