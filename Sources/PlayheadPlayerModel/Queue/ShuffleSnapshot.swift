/// The state of a shuffled queue that is needed to continue with the same order.
package struct ShuffleSnapshot: Sendable {
  /// The seed of the order.
  package var seed: UInt64
  /// The current round, and the number of entries that still belong to it.
  package var round: UInt64
  /// The number of entries that still belong to the round.
  package var remainingCount: Int
  /// The state of the random numbers that choose the index of inserted entries.
  package var generatorState: UInt64
  /// The unshuffled order of the queue.
  package var original: [QueueChunk]

  /// Creates the state of a shuffled queue.
  package init(seed: UInt64, round: UInt64, remainingCount: Int, generatorState: UInt64, original: [QueueChunk]) {
    self.seed = seed
    self.round = round
    self.remainingCount = remainingCount
    self.generatorState = generatorState
    self.original = original
  }
}
