import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Measured gains of many entries at once.
@Suite(.timeLimit(.minutes(2))) struct MeasuredGainTests {
  /// A player whose current entry plays, with hundreds of entries after it, in three slices.
  private struct Queue {
    let rig: Rig
    let items: [PlayerItem]

    init() async throws {
      rig = try await Rig()
      let currentItem = try rig.level(0.25, frames: 48_000)
      let path = currentItem.asset.displayPath
      items = [currentItem] + (0..<2 * PlayerReplayGain.measuredSliceCount).map { [rig] _ in rig.item(path) }
      try await rig.run { [items] player in
        var settings = ReplayGainSettings()
        settings.mode = .track
        try player.setReplayGain(settings)
        try player.append(items)
        player.play()
      }
      await rig.advance(milliseconds: 200)
    }

    /// The gain of the current entry that the mixer has.
    var mixerGain: Float? { get async { await rig.run { $0.control.core.chain.sounding?.gains[items[0].id] } } }

    /// Reduces the gain of all entries but the last by 6 dB. `between` is called on the loop between two slices.
    func measure(between: @escaping @Sendable (isolated QueuePlayer) -> Void) async -> Int {
      await withCheckedContinuation { done in
        let (loop, player, last) = (rig.loop, rig.player, items[items.count - 1])
        loop.execute {
          // Before the second slice.
          loop.execute { player.assumeIsolated { between($0) } }
          player.assumeIsolated { player in
            player.setMeasuredReplayGains { item in
              var gain = ReplayGain()
              gain.trackGainDecibels = -6
              return item === last ? nil : gain
            } completion: { count in
              done.resume(returning: count)
            }
          }
        }
      }
    }
  }

  @Test func manyGainsAreSetInSlicesAndReachTheMixerTogether() async throws {
    let queue = try await Queue()
    #expect(await queue.mixerGain == 1)
    let between = Mutex<[Float?]>([])
    let count = await queue.measure { [items = queue.items] player in
      #expect(
        items[0].measuredReplayGain != nil && items[PlayerReplayGain.measuredSliceCount].measuredReplayGain == nil)
      between.withLock { $0.append(player.control.core.chain.sounding?.gains[items[0].id]) }
    }
    // The closure was called, and the gain had not changed by then.
    #expect(between.withLock { $0 } == [1])
    #expect(count == queue.items.count - 1)
    #expect(queue.items.last?.measuredReplayGain == nil)
    let mixerGain = try #require(await queue.mixerGain)
    #expect(abs(mixerGain - 0.501) < 0.001)
    await queue.rig.advance(milliseconds: 200)
    #expect(abs(try #require(queue.rig.heard.left.last) - 0.125_3) < 0.001)
  }

  @Test func entriesRemovedBetweenSlicesAreNotCounted() async throws {
    let queue = try await Queue()
    let removedIDs = queue.items.suffix(10).map(\.id)
    let count = await queue.measure { player in
      #expect(throws: Never.self) { try player.remove(removedIDs) }
    }
    #expect(count == queue.items.count - 10)
    #expect(queue.items.suffix(10).allSatisfy { $0.measuredReplayGain == nil })
  }
}
