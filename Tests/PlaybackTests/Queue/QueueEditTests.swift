import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Edits of the queue after the playing item, with real files, and the resulting audio.
@Suite struct QueueEditTests {
  /// Creates a rig whose first item of 1 s plays, while the others, of 0.1 s, are already decoded.
  private func rig(itemCount: Int, isPlaying: Bool = true) async throws -> (Rig, [PlayerItem]) {
    let rig = try await Rig()
    var items = [try rig.wav(file: 1, frames: 48_000)]
    for file in 2...itemCount { items.append(try rig.wav(file: file, frames: 4_800)) }
    let all = items
    try await rig.run { try $0.append(all) }
    await rig.settle()
    if isPlaying {
      await rig.run { $0.play() }
      await rig.advance(milliseconds: 300)
    }
    return (rig, items)
  }

  private func heard(_ rig: Rig) -> [String] { rig.heard.runs.map { "\($0.file): \($0.firstIndex)+\($0.count)" } }

  @Test func followingItemsCanBeReplacedRepeatedlyBeforeTheyPlay() async throws {
    let (rig, items) = try await rig(itemCount: 5)
    for item in items[1...3] {
      try await rig.run { try $0.remove([item.id]) }
      await rig.advance(milliseconds: 50)
    }
    await rig.advance(milliseconds: 2_000)
    #expect(heard(rig) == ["1: 0+48000", "5: 0+4800"])
  }

  @Test func followingItemsCanBeRemovedAfterTheyWereReplaced() async throws {
    let (rig, items) = try await rig(itemCount: 3)
    for item in items[1...2] {
      try await rig.run { try $0.remove([item.id]) }
      await rig.advance(milliseconds: 50)
    }
    await rig.advance(milliseconds: 2_000)
    #expect(heard(rig) == ["1: 0+48000"])
    let count = await rig.run { $0.itemCount }
    #expect(count == 0)
  }

  @Test func editAfterAPendingReplacementIsHeard() async throws {
    let (rig, items) = try await rig(itemCount: 6)
    // A replacement after the first item, then one after its first item, then one after the first item of that.
    for item in [items[1], items[3], items[4]] {
      try await rig.run { try $0.remove([item.id]) }
      await rig.advance(milliseconds: 50)
    }
    await rig.advance(milliseconds: 2_000)
    #expect(heard(rig) == ["1: 0+48000", "3: 0+4800", "6: 0+4800"])
  }

  @Test func playWhileAReplacementIsPreparedIsHeard() async throws {
    let (rig, items) = try await rig(itemCount: 3, isPlaying: false)
    try await rig.run { player in
      try player.remove([items[1].id])
      player.play()
    }
    await rig.advance(milliseconds: 2_000)
    #expect(heard(rig) == ["1: 0+48000", "3: 0+4800"])
  }

  @Test func readyItemStaysReadyInItsNextQueue() async throws {
    let (rig, items) = try await rig(itemCount: 2, isPlaying: false)
    try await rig.run { player in
      try player.replaceAll(with: [items[1]])
      #expect(player.state.itemStatus == .readyToPlay)
      try player.replaceAll(with: [items[1], items[0]])
      #expect(player.state.itemStatus == .readyToPlay)
      player.removeAllItems()
      try player.append([items[0]])
      #expect(player.state.itemStatus == .readyToPlay)
      #expect(player.state.itemDuration == items[0].duration)
    }
  }

  @Test(.timeLimit(.minutes(1))) func failedItemStaysFailedInItsNextQueue() async throws {
    let rig = try await Rig()
    let item = rig.item("/nonexistent.wav")
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    try await rig.run { player in
      player.removeAllItems()
      try player.append([item])
      #expect(player.state.itemStatus.error?.code == .fileNotFound)
      player.play()
      #expect(player.state.reasonForWaitingToPlay == .currentItemFailed)
    }
    await rig.settle()
  }
}
