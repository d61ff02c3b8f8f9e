/// The state of a shuffled queue that is needed to continue with the same order.
public struct ShuffleSnapshot: Sendable {
  /// The seed of the order.
  public var seed: UInt64
  /// The current round, and the number of entries that still belong to it.
  public var round: UInt64
  /// The number of entries that still belong to the round.
  public var remainingCount: Int
  /// The state of the random numbers that choose the index of inserted entries.
  public var generatorState: UInt64
  /// The unshuffled order of the queue.
  public var original: [QueueChunk]

  /// Creates the state of a shuffled queue.
  public init(seed: UInt64, round: UInt64, remainingCount: Int, generatorState: UInt64, original: [QueueChunk]) {
    self.seed = seed
    self.round = round
    self.remainingCount = remainingCount
    self.generatorState = generatorState
    self.original = original
  }
}
