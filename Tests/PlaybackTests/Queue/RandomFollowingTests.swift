import MediaTesting
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// Loops, repeats, seeks and edits in any order: all transitions are without a gap.
@Suite struct RandomFollowingTests {
  private enum Step: CaseIterable {
    case loop, loopShort, endLoop, seek, repeatOff, repeatOne, repeatAll, next, remove, pause, wait, waitLong
    case move, replace, shuffle, endShuffle, jump, previous, editMany
  }

  private func range(in duration: Int64, atMost length: Int64, _ random: inout SeededGenerator) -> TimeRange? {
    guard duration > 1_000 else { return nil }
    let start = Int64.random(in: 0..<duration - 600, using: &random)
    let end = min(duration, start + Int64.random(in: 480...max(481, length), using: &random))
    guard end - start >= 480 else { return nil }
    return TimeRange(start: MediaTime(value: start, timescale: 48_000), end: MediaTime(value: end, timescale: 48_000))
  }

  @Test(arguments: [1, 2, 3, 4, 5, 38].suffix(Effort.rounds(6)))
  func randomOperationsLeaveNoGap(seed: UInt64) async throws {
    // Short streams hold few of the items, and long ones many.
    let rig = try await Rig(streamMilliseconds: seed.isMultiple(of: 2) ? 4_500 : 1_000)
    var random = SeededGenerator(seed: seed)
    var durations: [PlayerItem.ID: Int64] = [:]
    var number = 0
    func newItem() throws -> PlayerItem {
      number += 1
      let frames = Int.random(in: 2_000...70_000, using: &random)
      let item = try rig.wav(file: number % 15 + 1, frames: frames)
      durations[item.id] = Int64(frames)
      return item
    }
    func refill() async throws {
      while await rig.run({ $0.itemCount }) < 4 {
        let item = try newItem()
        try await rig.run { try $0.append([item]) }
      }
    }
    // The latency of a processor must not be heard either.
    if seed.isMultiple(of: 2) {
      await rig.run { $0.setAudioProcessors([AudioProcessorFactory { DelayProcessor(777) }]) }
    }
    try await refill()
    await rig.settle()
    await rig.run { $0.play() }
    for _ in 0..<Effort.rounds(100) {
      try await refill()
      await rig.settle()
      let current = await rig.run { $0.state.currentItemID } ?? 0
      let duration = durations[current] ?? 0
      let step = Step.allCases.randomElement(using: &random) ?? .wait
      switch step {
      case .loop, .loopShort:
        if let range = range(in: duration, atMost: step == .loop ? 30_000 : 700, &random) {
          let count = Bool.random(using: &random) ? Int.random(in: 1...5, using: &random) : nil
          try await rig.run { try $0.setLoop(range, count: count) }
        }
      case .endLoop: try await rig.run { try $0.setLoop(nil) }
      case .seek:
        let time = MediaTime(value: Int64.random(in: 0...duration, using: &random), timescale: 48_000)
        try await rig.run { try $0.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
      case .repeatOff: try await rig.run { try $0.setRepeatMode(.off) }
      case .repeatOne: try await rig.run { try $0.setRepeatMode(.one) }
      case .repeatAll: try await rig.run { try $0.setRepeatMode(.all) }
      case .next: await rig.run { $0.advanceToNextItem() }
      case .remove:
        let others = await rig.run { $0.items().dropFirst().map(\.id) }
        if let id = others.randomElement(using: &random) { try await rig.run { try $0.remove([id]) } }
      case .move:
        let ids = await rig.run { $0.items().map(\.id) }
        // The first index is excluded: moving an item there changes the current item.
        if ids.count > 2, let id = ids.dropFirst().randomElement(using: &random) {
          let index = Int.random(in: 1..<ids.count, using: &random)
          try await rig.run { try $0.move(id, to: .index(index)) }
        }
      case .replace:
        let others = await rig.run { $0.items().dropFirst().map(\.id) }
        if let id = others.randomElement(using: &random) {
          let item = try newItem()
          try await rig.run { try $0.replace(id, with: item) }
        }
      case .editMany:
        let others = await rig.run { $0.items().dropFirst().map(\.id) }
        if others.count > 1, let id = others.randomElement(using: &random) {
          let item = try newItem()
          try await rig.run { player in
            try player.edit([
              .insert([item], at: .next), .move(id, to: .end), .remove([others.first { $0 != id } ?? 0]),
            ])
          }
        }
      case .shuffle:
        let seed = UInt64.random(in: 0...99, using: &random)
        await rig.run { _ = $0.shuffle(seed: seed) }
      case .endShuffle: await rig.run { $0.endShuffle() }
      case .jump:
        let ids = await rig.run { $0.items().map(\.id) }
        if let id = ids.randomElement(using: &random) { try await rig.run { try $0.jump(to: id) } }
      case .previous:
        if await rig.run({ !$0.history().isEmpty }) { try await rig.run { try $0.goToPreviousItem() } }
      case .pause:
        await rig.run { $0.pause() }
        await rig.run { $0.play() }
      case .wait, .waitLong: break
      }
      let before = rig.heard.all.count
      let milliseconds = Int64.random(in: 5...(step == .waitLong ? 900 : 120), using: &random)
      await rig.advance(milliseconds: milliseconds)
      let heard = rig.heard.all[before...]
      #expect(!heard.contains(.silence), "seed \(seed), after \(step)")
      #expect(
        heard.count >= Int(milliseconds) * 48 - 48, "seed \(seed), after \(step): \(heard.count) in \(milliseconds) ms")
    }
    #expect(
      !rig.dump.split(separator: "\n").contains { $0.hasPrefix("event transition") && !$0.hasSuffix("inserted 0") })
    #expect(!rig.dump.contains("stalled"))
  }
}
