import PlayheadMediaCore

/// A small random number generator that is easy to reimplement: SplitMix64 (Steele, Lea and Flood, 2014).
///
/// Before each number the state grows by 0x9E3779B97F4A7C15. The number is the state with its bits mixed.
package struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
  /// The state from which the generator continues.
  package private(set) var state: UInt64

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a uniformly distributed number from 0 to `bound`, exclusive: the next number modulo `bound`. Numbers from
  /// the largest multiple of `bound` upwards are skipped. `bound` is at least 1.
  mutating func draw(below bound: Int) -> Int {
    let bound = UInt64(Swift.max(1, bound))
    while true {
      let number = next()
      // Only the last `bound` numbers of the range can be skipped, so the exact limit is almost never computed.
      if number <= UInt64.max - bound || number <= UInt64.max - (UInt64.max % bound + 1) % bound {
        return Int(number % bound)
      }
    }
  }

  /// Fisher-Yates: for each index from the last down to the second, swaps its element with the one at a random index up
  /// to it.
  package mutating func shuffle<Element>(_ elements: inout [Element]) {
    guard elements.count > 1 else { return }
    for index in stride(from: elements.count - 1, through: 1, by: -1) {
      elements.swapAt(index, draw(below: index + 1))
    }
  }
}

/// The state of a shuffled queue, in addition to the playback order.
///
/// In each *round* every entry is played once. The order of a round depends only on the seed, the number of the round
/// and the order of the queue without shuffling. It can therefore be predicted.
package struct QueueShuffle: Sendable {
  package let seed: UInt64
  /// The order of the queue without shuffling, regardless of the current entry.
  package var original: QueueOrder { didSet { upcoming = nil } }
  /// The number of the current round; the first is 0.
  package private(set) var round: UInt64 = 0
  /// The number of entries at the front of the queue that belong to this round, including the current one. The entries
  /// after them have been played in this round and wait for the next one.
  package var remaining = 0
  /// Draws the indexes of entries that are added.
  package var insertionGenerator: SplitMix64
  /// The order of the next round as it was drawn.
  private var upcoming: QueueOrder?

  package init(seed: UInt64, original: QueueOrder) {
    self.seed = seed
    self.original = original
    insertionGenerator = SplitMix64(state: ~seed)
  }

  /// Restores a shuffle in the middle of a round.
  package init(seed: UInt64, original: QueueOrder, round: UInt64, remaining: Int, generatorState: UInt64) {
    self.init(seed: seed, original: original)
    self.round = round
    self.remaining = remaining
    insertionGenerator = SplitMix64(state: generatorState)
  }

  /// The generator of a round.
  private static func generator(seed: UInt64, round: UInt64) -> SplitMix64 {
    SplitMix64(state: seed ^ (round &* 0xD134_2543_DE82_EF95))
  }

  /// Returns the order of the first round: `first`, if it exists, and then the others.
  func firstOrder(keeping first: PlayerItemID?) -> QueueOrder {
    var others = original.filter { $0 != first }
    var generator = Self.generator(seed: seed, round: 0)
    generator.shuffle(&others)
    guard let first, original.contains(first) else { return QueueOrder(others) }
    return QueueOrder([first] + others)
  }

  /// Returns the order of a later round. If `last` would be the first entry that `canPlay`, it is swapped with the
  /// second one.
  package func order(
    ofRound number: UInt64, after last: PlayerItemID, canPlay: (PlayerItemID) -> Bool
  ) -> QueueOrder {
    var order: QueueOrder
    if number == round + 1, let upcoming { order = upcoming } else { order = drawOrder(ofRound: number) }
    var playable: [(index: Int, id: PlayerItemID)] = []
    for (index, id) in order.enumerated() where canPlay(id) {
      guard playable.isEmpty else {
        playable.append((index, id))
        break
      }
      guard id == last else { return order }
      playable.append((index, id))
    }
    guard playable.count == 2 else { return order }
    order.move(playable[1].id, to: playable[0].index)
    order.move(playable[0].id, to: playable[1].index)
    return order
  }

  private func drawOrder(ofRound number: UInt64) -> QueueOrder {
    var ids = Array(original)
    var generator = Self.generator(seed: seed, round: number)
    generator.shuffle(&ids)
    return QueueOrder(ids)
  }

  /// Whether the order of the next round was drawn.
  var isNextRoundDrawn: Bool { upcoming != nil }

  /// Draws the order of the next round before it is read, so that it is drawn only once.
  mutating func prepareRound() { if upcoming == nil { upcoming = drawOrder(ofRound: round + 1) } }

  /// Begins the next round.
  mutating func beginRound() {
    round += 1
    remaining = original.count
    upcoming = nil
  }
}
