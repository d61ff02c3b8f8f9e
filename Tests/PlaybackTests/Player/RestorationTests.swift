import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback

/// A player that is restored from its saved state.
@Suite struct RestorationTests {
  /// While the item is opened, decoded and handed to the output, the current time and the saved state are at the
  /// restored position.
  @Test func restoredPlayerReportsItsPositionAtEveryMoment() async throws {
    let rig = try await SlowRig()
    let player = rig.player
    let seen = Mutex<Set<MediaTime>>([])
    let item = try rig.wav(file: 1, frames: 480_000)
    let time = MediaTime(frame: 96_000, rate: 48_000)
    rig.gate.close()
    try await rig.run { isolated in
      _ = isolated.addStateObserver { _ in
        let present = player.assumeIsolated { $0.currentTime() }
        seen.withLock { _ = $0.insert(present) }
      }
      var restoration = PlayerRestoration()
      restoration.items = [item]
      restoration.time = time
      try isolated.restore(restoration)
    }
    #expect(await rig.time == time)
    try rig.gate.waitUntilBlocked()
    #expect(await rig.time == time)
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    #expect(await rig.time == time)
    #expect(await rig.run { $0.snapshot().time } == time)
    await rig.advance(milliseconds: 100)
    #expect(await rig.time == time)
    #expect(seen.withLock { $0 } == [time])
  }
}
