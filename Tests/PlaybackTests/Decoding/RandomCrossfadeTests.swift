import Foundation
import MediaTesting
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import RigSupport
import Testing

/// Random seeks, skips and edits while items overlap. Neighbours have their audio in different channels, and each
/// sample is the number of its frame, so that both can be read in an overlap without fades.
@Suite struct RandomCrossfadeTests {
  static let operationCount = 50

  @Test(arguments: Array(UInt64(1)...20)) func noSampleIsLostOrRepeated(seed: UInt64) async throws {
    var player = try await RandomQueue(seed: seed)
    for number in 1...Self.operationCount {
      let operation = try await player.makeChange()
      try await player.advance()
      guard let fault = await player.fault() else { continue }
      Issue.record(
        "seed \(seed), operation \(number), \(operation): \(fault)\n\(player.rig.log.lines.suffix(20).joined(separator: "\n"))"
      )
      return
    }
    #expect(player.rig.log.lines.count { $0.contains(" overlap ") } >= 3, "seed \(seed): no overlaps")
  }
}

/// A queue whose items alternate between the left and the right channel.
private struct RandomQueue {
  let rig: Rig
  private var random: SeededGenerator
  /// The files, and the number of frames of each. Those with an even index are heard on the left.
  private let files: [(path: String, frameCount: Int)]
  /// The index of the file of each item.
  private var fileOfItem: [PlayerItem.ID: Int] = [:]
  private var checkedCount = 0
  /// Whether the last change decodes the audio again, with a fade of 5 ms. If the old audio ends within the fade, it is
  /// not continued.
  private var isFading = false

  init(seed: UInt64) async throws {
    rig = try await Rig(streamMilliseconds: 1_000)
    random = SeededGenerator(seed: seed)
    var files: [(String, Int)] = []
    for index in 0..<8 {
      let frameCount = Int.random(in: 12_000..<29_000, using: &random)
      let path = rig.files.file("\(index).wav")
      let samples = (0..<frameCount).flatMap { frame in
        let sample = Float(frame + 1) / 32_767
        return index.isMultiple(of: 2) ? [sample, 0] : [0, sample]
      }
      try writeWAV(path, samples, sampleRateHz: 48_000, channelCount: 2)
      files.append((path, frameCount))
    }
    self.files = files
    let items = newItems(6, after: 1)
    let crossfade = randomCrossfade()
    try await rig.run { player in
      try player.setCrossfade(crossfade)
      try player.append(items)
      player.play()
    }
  }

  private func parity(_ id: PlayerItem.ID) -> Int { (fileOfItem[id] ?? 0) & 1 }

  private mutating func newItems(_ count: Int, after parity: Int) -> [PlayerItem] {
    (0..<count).map { offset in
      let isLeft = (offset + parity + 1).isMultiple(of: 2)
      let file = Int.random(in: 0..<4, using: &random) * 2 + (isLeft ? 0 : 1)
      let item = rig.item(files[file].path)
      fileOfItem[item.id] = file
      return item
    }
  }

  private mutating func randomCrossfade() -> Crossfade {
    Crossfade(
      duration: MediaTime(value: Int64.random(in: 20...250, using: &random), timescale: 1_000),
      fadeOutDuration: .zero, fadeInDuration: .zero)
  }

  /// Makes a random change. Returns its name.
  mutating func makeChange() async throws -> String {
    let ids = await rig.run { $0.items().map(\.id) }
    guard ids.count >= 4 else {
      let items = newItems(4, after: ids.last.map(parity) ?? 1)
      try await rig.run { try $0.append(items) }
      return "append"
    }
    isFading = false
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<2:
      let frameCount = files[fileOfItem[ids[0]] ?? 0].frameCount
      let time = MediaTime(frame: Int64.random(in: 0..<Int64(frameCount), using: &random), rate: 48_000)
      _ = try await rig.player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
      return "seek to \(time.decimalDescription)"
    case 2:
      await rig.run { $0.advanceToNextItem() }
      return "next"
    case 3:
      try await rig.run { try $0.jump(to: ids[2]) }
      return "jump"
    case 4..<6:
      let items = newItems(2, after: parity(ids[0]))
      try await rig.run { try $0.insert(items, after: ids[0]) }
      return "insert"
    case 6:
      try await rig.run { try $0.remove([ids[1], ids[2]]) }
      return "remove"
    case 7:
      try await rig.run { try $0.setCrossfade(nil) }
      return "no cross-fade"
    default:
      let crossfade = randomCrossfade()
      isFading = true
      try await rig.run { try $0.setCrossfade(crossfade) }
      return "cross-fade of \(crossfade.duration.decimalDescription)"
    }
  }

  mutating func advance() async throws {
    checkedCount = rig.heard.all.count
    await rig.advance(milliseconds: Int64.random(in: 10...300, using: &random))
  }

  /// The first lost or repeated sample since the last change, or a position that differs from what is heard.
  func fault() async -> String? {
    let frames = rig.heard.all.dropFirst(checkedCount + (isFading ? 240 : 0))
    let lengths = Set(files.map(\.frameCount))
    for channel in 0..<2 {
      let codes = frames.map { Int(channel == 0 ? $0.left : $0.right) }
      for (index, (old, new)) in zip(codes, codes.dropFirst()).enumerated() where !Self.follows(old, new, lengths) {
        return "channel \(channel) has \(new) after \(old), \(index + 1) frames after the change"
      }
    }
    let (id, time) = await rig.run { ($0.currentItem?.id, $0.currentTime()) }
    guard let id, let last = frames.last, let next = time.frameIndex(rate: 48_000, rounding: .towardNegativeInfinity)
    else { return nil }
    let heard = Int64(parity(id) == 0 ? last.left : last.right)
    // The current time is that of the next frame.
    return abs(heard - next) <= 1 ? nil : "item \(id) is at frame \(next), and \(heard) is heard"
  }

  /// Whether a sample can follow another one: the next of an item, or silence or another item after its last. Rounding
  /// may repeat or omit a number.
  private static func follows(_ old: Int, _ new: Int, _ lengths: Set<Int>) -> Bool {
    if (0...2).contains(new - old) { return true }
    return new <= 2 && lengths.contains { abs($0 - old) <= 1 }
  }
}
