import Synchronization

/// A bounded queue of plain values between exactly one producer and one consumer, without locks.
///
/// Values are copied bit by bit; storage is allocated once, at init. The producer may *stage* several values and
/// publish them at once, so that the consumer sees all of them or none.
///
/// Threading: `stage`, `publish` and `push` on the producer's side only; `pop` on the consumer's side. None of them
/// blocks.
package struct DescriptorQueue<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // `@unchecked Sendable`: slots of `storage` are handed over by the release/acquire pairs in `positions`.
  let storage: UnsafeMutablePointer<Element>
  let positions: QueuePositions

  /// Creates a queue for `capacity` values, rounded up to a power of two.
  package init(capacity: Int) {
    positions = QueuePositions(capacity: capacity)
    storage = .allocate(capacity: positions.capacity)
  }

  deinit { storage.deallocate() }

  /// Writes a value that the consumer does not see before `publish()`. Returns false and writes nothing when the queue
  /// is full.
  package borrowing func stage(_ element: Element) -> Bool {
    let slot = positions.slotToWrite()
    if slot < 0 { return false }
    (storage + slot).initialize(to: element)
    positions.didWrite()
    return true
  }

  /// Makes all staged values visible to the consumer.
  package borrowing func publish() { positions.publish() }

  /// Stages and publishes one value. Returns false and writes nothing when the queue is full.
  package borrowing func push(_ element: Element) -> Bool {
    guard stage(element) else { return false }
    publish()
    return true
  }

  /// Removes and returns the oldest value; nil when the queue is empty.
  package borrowing func pop() -> Element? {
    let slot = positions.slotToRead()
    if slot < 0 { return nil }
    let element = storage[slot]
    positions.didRead()
    return element
  }
}

/// The two ends of a `DescriptorQueue`. A separate type, because the compiler can prove only non-generic code free of
/// allocation in every build.
struct QueuePositions: ~Copyable, @unchecked Sendable {
  // `@unchecked Sendable`: `staged` belongs to the producer.
  let capacity: Int
  private let staged: UnsafeMutablePointer<Int>
  private let published = Atomic<Int>(0)
  private let consumed = Atomic<Int>(0)

  init(capacity: Int) {
    precondition(capacity > 0 && capacity <= 1 << 24, "capacity out of range")
    var rounded = 1
    while rounded < capacity { rounded &<<= 1 }
    self.capacity = rounded
    staged = .allocate(capacity: 1)
    staged.initialize(to: 0)
  }

  deinit { staged.deallocate() }

  // MARK: - Producer's side

  /// Returns the slot for the next value; -1 when the queue is full.
  @_noAllocation
  borrowing func slotToWrite() -> Int {
    let position = staged.pointee
    if position &- consumed.load(ordering: .acquiring) >= capacity { return -1 }
    return position & (capacity &- 1)
  }

  /// Marks the slot as written; the value is visible after `publish`.
  @_noAllocation
  borrowing func didWrite() { staged.pointee &+= 1 }

  @_noAllocation
  borrowing func publish() { published.store(staged.pointee, ordering: .releasing) }

  /// Whether the consumer has read all values.
  @_noAllocation
  borrowing func isDrained() -> Bool { consumed.load(ordering: .acquiring) == staged.pointee }

  // MARK: - Consumer's side

  /// Returns the slot of the oldest value, or of the one `offset` after it; -1 when there is none.
  @_noAllocation
  borrowing func slotToRead(offset: Int = 0) -> Int {
    let position = consumed.load(ordering: .relaxed) &+ offset
    if position >= published.load(ordering: .acquiring) { return -1 }
    return position & (capacity &- 1)
  }

  /// Frees the slot of the oldest value, which has been copied.
  @_noAllocation
  borrowing func didRead() { consumed.store(consumed.load(ordering: .relaxed) &+ 1, ordering: .releasing) }
}
