import MediaCore

/// A small generator of random numbers that anybody can write down again: SplitMix64 (Steele, Lea and Flood, 2014).
///
/// Its state grows by 0x9E3779B97F4A7C15 before each number, which is the state's bits mixed.
struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
  /// From it the generator goes on.
  private(set) var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to `bound`, exclusive, each as likely as any other: the next number modulo `bound`, leaving out
  /// those from the largest multiple of `bound` on. `bound` is at least 1.
  mutating func draw(below bound: Int) -> Int {
    let bound = UInt64(Swift.max(1, bound))
    while true {
      let number = next()
      // Those to be left out are fewer than `bound`: almost never is it to be worked out how many.
      if number <= UInt64.max - bound || number <= UInt64.max - (UInt64.max % bound + 1) % bound {
        return Int(number % bound)
      }
    }
  }

  /// Fisher and Yates: for each place from the last down to the second, the element there changes places with the one at
  /// a drawn place up to it.
  mutating func shuffle<Element>(_ elements: inout [Element]) {
    guard elements.count > 1 else { return }
    for place in stride(from: elements.count - 1, through: 1, by: -1) {
      elements.swapAt(place, draw(below: place + 1))
    }
  }
}

/// What is to be known of a queue that is shuffled, besides the order in which it is played.
///
/// Each *round*, in which every entry is played once, has an order of its own, which follows from the seed, the round's
/// number and the order that the queue has without shuffling: nothing else, so that it can be told ahead.
struct QueueShuffle: Sendable {
  let seed: UInt64
  /// The order that the queue has without shuffling; which entry of it is current does not matter to it.
  var original: QueueOrder { didSet { upcoming = nil } }
  /// The number of the round that is played; the first is 0.
  private(set) var round: UInt64 = 0
  /// How many of the queue's first entries belong to this round, the current one included. Those behind them have been
  /// played in it, and wait for the next one.
  var remaining = 0
  /// Draws the places of entries that are added.
  var placing: SplitMix64
  /// The next round's order as it is drawn.
  private var upcoming: [PlayerItem.ID]?

  init(seed: UInt64, original: QueueOrder) {
    self.seed = seed
    self.original = original
    placing = SplitMix64(state: ~seed)
  }

  /// One that goes on amidst a round.
  init(seed: UInt64, original: QueueOrder, round: UInt64, remaining: Int, placing: UInt64) {
    self.init(seed: seed, original: original)
    self.round = round
    self.remaining = remaining
    self.placing = SplitMix64(state: placing)
  }

  /// The generator of a round.
  private static func generator(seed: UInt64, round: UInt64) -> SplitMix64 {
    SplitMix64(state: seed ^ (round &* 0xD134_2543_DE82_EF95))
  }

  /// The first round's order: `first`, if there is one, and then the others.
  func firstOrder(keeping first: PlayerItem.ID?) -> [PlayerItem.ID] {
    var others = original.filter { $0 != first }
    var generator = Self.generator(seed: seed, round: 0)
    generator.shuffle(&others)
    guard let first, original.contains(first) else { return others }
    return [first] + others
  }

  /// The order of a later round that follows on `last`: of those that `canPlay`, another one is first where there is one.
  func order(
    ofRound number: UInt64, after last: PlayerItem.ID, canPlay: (PlayerItem.ID) -> Bool
  ) -> [PlayerItem.ID] {
    var ids: [PlayerItem.ID]
    if number == round + 1, let upcoming { ids = upcoming } else { ids = drawn(number) }
    guard let first = ids.firstIndex(where: canPlay), ids[first] == last,
      let second = ids[(first + 1)...].firstIndex(where: canPlay)
    else { return ids }
    ids.swapAt(first, second)
    return ids
  }

  private func drawn(_ number: UInt64) -> [PlayerItem.ID] {
    var ids = Array(original)
    var generator = Self.generator(seed: seed, round: number)
    generator.shuffle(&ids)
    return ids
  }

  /// Draws the next round's order when it is about to be looked at, so that this is done once.
  mutating func prepareRound() { if upcoming == nil { upcoming = drawn(round + 1) } }

  /// The next round begins.
  mutating func beginRound() {
    round += 1
    remaining = original.count
    upcoming = nil
  }
}
