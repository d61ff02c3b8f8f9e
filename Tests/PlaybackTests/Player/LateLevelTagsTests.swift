import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Replay gain that is enabled after files have been opened without it.
@Suite(.timeLimit(.minutes(2))) struct LateLevelTagsTests {
  /// A player whose entries' tags cannot be read while another player's entry hangs.
  private struct BlockedLoaderRig {
    let rig: SlowRig
    let locations: HangingLocations
    let other: QueuePlayer
    private let opened = ConditionMutex<Set<PlayerItem.ID>>([])

    /// - Parameter ignoresCancellation: whether the hanging thread cannot be cancelled; there is no other thread then.
    init(ignoresCancellation: Bool = false) async throws {
      rig = try await SlowRig()
      await rig.run { [engine = rig.engine] _ in
        let limits = ItemLoader.Limits(slotCount: 1, threadCount: ignoresCancellation ? 1 : 32)
        engine.core.loader = ItemLoader(loop: engine.loop, limits: limits)
      }
      locations = HangingLocations(bytes: [], ignoresCancellation: ignoresCancellation)
      other = QueuePlayer(engine: rig.engine)
      await rig.run { [opened] player in
        _ = player.addEventObserver { event in
          if case .itemChanged(let id, let status, _, _) = event, status != .unknown {
            opened.update { _ = $0.insert(id) }
          }
        }
      }
    }

    /// Occupies the slot for reading tags.
    func blockLoader() async throws {
      rig.gate.close()
      let item = locations.item("hanging")
      try await Self.run(other) { try $0.append([item]) }
      _ = try locations.waitUntilRequested(1)
    }

    private static func run(_ player: QueuePlayer, _ body: @Sendable (isolated QueuePlayer) throws -> Void) async throws
    {
      try await body(player)
    }

    /// Releases the slot, and waits until all tags have been read.
    func unblockLoader() async {
      locations.openAll()
      rig.gate.open()
      await rig.run { [engine = rig.engine] _ in engine.core.waitsForDecoders = true }
      await rig.advance(milliseconds: 0)
    }

    func setMode(_ mode: ReplayGainMode) async throws {
      try await rig.run { player in
        var settings = player.replayGain
        settings.mode = mode
        try player.setReplayGain(settings)
      }
    }

    func item() throws -> PlayerItem { rig.item(try TaggedAIFF.file(in: rig.files, hundredths: -600)) }

    /// Waits until an entry is ready.
    func waitUntilReady(_ item: PlayerItem) throws {
      // Makes a faulty test fail instead of hanging.
      let deadline = HostTime.now.advanced(byNanoseconds: 60_000_000_000)
      try #require(opened.wait(until: deadline) { $0.contains(item.id) ? true : nil } == true)
      #expect(item.status == .readyToPlay)
    }

    func isComplete(_ item: PlayerItem) -> Bool? { try? item.asset.loaded?.get().loudnessTags.isComplete }
  }

  @Test func unreadTagsAreNotTreatedAsMissingTags() async throws {
    let blocked = try await BlockedLoaderRig()
    let rig = blocked.rig
    let item = try blocked.item()
    try await rig.run { try $0.append([item]) }
    try blocked.waitUntilReady(item)
    try await blocked.blockLoader()
    let gainWhileUnread = try await rig.run { player in
      var settings = ReplayGainSettings()
      (settings.mode, settings.fallbackDecibels) = (.track, -20)
      try player.setReplayGain(settings)
      return try player.appliedGain(of: item.id)
    }
    #expect(gainWhileUnread == nil)
    await blocked.unblockLoader()
    let gain = try #require(await rig.run { try $0.appliedGain(of: item.id) })
    #expect(gain.source == .track && abs(gain.decibels + 6) < 0.01)
    // With a measured gain the tags are not needed.
    let other = rig.item(try TaggedAIFF.file(in: rig.files, hundredths: -300))
    var measured = ReplayGain()
    measured.trackGainDecibels = -4
    other.measuredReplayGain = measured
    try await rig.run { try $0.append([other]) }
    await rig.advance(milliseconds: 0)
    #expect(try await rig.run { try $0.appliedGain(of: other.id)?.source } == .scan)
  }

  @Test func tagsAreReadWhenReplayGainIsTurnedOnAgain() async throws {
    let blocked = try await BlockedLoaderRig()
    let first = try blocked.rig.wav(file: 1, frames: 4_800)
    let late = try blocked.item()
    try await blocked.blockLoader()
    // The tags are still unread when the mode is turned off again; the decode thread plays without them.
    try await blocked.setMode(.track)
    try await blocked.rig.run { try $0.append([first, late]) }
    try await blocked.setMode(.off)
    blocked.rig.gate.open()
    try blocked.waitUntilReady(late)
    #expect(blocked.isComplete(late) == false)
    try await blocked.setMode(.track)
    await blocked.unblockLoader()
    let gain = try await blocked.rig.run { try $0.appliedGain(of: late.id) }
    #expect(gain?.source == .track && blocked.isComplete(late) == true)
  }

  @Test func tagsOfRemovedItemsAreNotRead() async throws {
    let blocked = try await BlockedLoaderRig()
    let item = try blocked.item()
    try await blocked.rig.run { try $0.append([item]) }
    try blocked.waitUntilReady(item)
    try await blocked.blockLoader()
    try await blocked.setMode(.track)
    try await blocked.rig.run { try $0.edit([.remove([item.id])]) }
    await blocked.unblockLoader()
    #expect(blocked.isComplete(item) == false)
  }

  @Test func hangingTagReadingEndsInTheFallbackGain() async throws {
    let blocked = try await BlockedLoaderRig(ignoresCancellation: true)
    let item = try blocked.item()
    try await blocked.rig.run { try $0.append([item]) }
    try blocked.waitUntilReady(item)
    try await blocked.blockLoader()
    await blocked.rig.advance(milliseconds: 2_000)
    try await blocked.setMode(.track)
    #expect(try await blocked.rig.run { try $0.appliedGain(of: item.id) } == nil)
    await blocked.rig.advance(milliseconds: 30_000)
    #expect(try await blocked.rig.run { try $0.appliedGain(of: item.id)?.source } == .fallback)
    #expect(item.status == .readyToPlay)
    blocked.locations.openAll()
  }

  @Test func failedTagReadingIsRetriedWhenReplayGainIsTurnedOnAgain() async throws {
    let blocked = try await BlockedLoaderRig()
    let item = try blocked.item()
    let (path, movedPath) = (item.asset.displayPath, blocked.rig.files.file("elsewhere.aiff"))
    try await blocked.rig.run { try $0.append([item]) }
    try blocked.waitUntilReady(item)
    await blocked.unblockLoader()
    // A removed file would still be open. A folder at its path cannot be read.
    #expect(rename(path, movedPath) == 0 && mkdir(path, 0o700) == 0)
    try await blocked.setMode(.track)
    await blocked.unblockLoader()
    #expect(try await blocked.rig.run { try $0.appliedGain(of: item.id)?.source } == .fallback)
    #expect(item.status == .readyToPlay && blocked.isComplete(item) == false)
    #expect(rmdir(path) == 0 && rename(movedPath, path) == 0)
    try await blocked.setMode(.off)
    try await blocked.setMode(.track)
    await blocked.unblockLoader()
    #expect(try await blocked.rig.run { try $0.appliedGain(of: item.id)?.source } == .track)
  }
}
