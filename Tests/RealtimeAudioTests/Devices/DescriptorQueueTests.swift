import Glibc
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct DescriptorQueueTests {
  /// A copyable wrapper of the queue, which `#expect` requires.
  private final class Queue: Sendable {
    private let queue: DescriptorQueue<Int>

    init(capacity: Int) { queue = DescriptorQueue(capacity: capacity) }

    func stage(_ value: Int) -> Bool { queue.stage(value) }
    func publish() { queue.publish() }
    func push(_ value: Int) -> Bool { queue.push(value) }
    func pop() -> Int? { queue.pop() }
  }

  @Test func valuesAreReadInOrder() {
    let queue = Queue(capacity: 8)
    for round in 0..<100 {
      for value in 0..<5 { #expect(queue.push(round * 5 + value)) }
      for value in 0..<5 { #expect(queue.pop() == round * 5 + value) }
      #expect(queue.pop() == nil)
    }
  }

  @Test(arguments: [(1, 1), (2, 2), (3, 4), (1_000, 1_024)])
  func capacityIsRoundedUpToAPowerOfTwo(requested: Int, actual: Int) {
    let queue = Queue(capacity: requested)
    for value in 0..<actual { #expect(queue.push(value)) }
    #expect(!queue.push(-1))
    #expect(queue.pop() == 0)
    #expect(queue.push(actual))
    #expect(!queue.push(-1))
    for value in 1...actual { #expect(queue.pop() == value) }
    #expect(queue.pop() == nil)
  }

  @Test func publishedValuesAppearTogether() {
    let queue = Queue(capacity: 4)
    #expect(queue.stage(1))
    #expect(queue.stage(2))
    #expect(queue.pop() == nil)
    queue.publish()
    #expect(queue.stage(3))
    #expect(queue.pop() == 1)
    #expect(queue.pop() == 2)
    #expect(queue.pop() == nil)
    queue.publish()
    #expect(queue.pop() == 3)
  }

  @Test func stagedValuesUseCapacity() {
    let queue = Queue(capacity: 2)
    #expect(queue.stage(1))
    #expect(queue.stage(2))
    #expect(!queue.stage(3))
    queue.publish()
    #expect(queue.pop() == 1)
    #expect(queue.stage(3))
  }

  /// Values wider than a word, so that a torn read is detected.
  private struct Wide: BitwiseCopyable {
    var words: (Int, Int, Int, Int)

    init(_ value: Int) { words = (value, ~value, value &* 3, value ^ 0x5555) }

    var value: Int? {
      let expected = Wide(words.0).words
      return words == expected ? words.0 : nil
    }
  }

  private final class Shared: Sendable {
    let queue = DescriptorQueue<Wide>(capacity: 64)
  }

  @Test func twoThreadsLoseAndTearNoValues() {
    let total = 200_000
    let shared = Shared()
    let outcome = ConditionMutex((next: 0, brokenBatches: 0))
    let producer = NamedThread(name: "producer") {
      var next = 0
      while next < total {
        // Batches of three appear as a whole.
        var staged = 0
        while staged < 3 {
          if shared.queue.stage(Wide(next + staged)) { staged += 1 } else { sched_yield() }
        }
        shared.queue.publish()
        next += 3
      }
    }
    let consumer = NamedThread(name: "consumer") {
      var next = 0
      var broken = 0
      while next < total {
        guard let wide = shared.queue.pop() else {
          // No value may be missing in the middle of a batch.
          if next % 3 != 0 { broken += 1 }
          sched_yield()
          continue
        }
        if wide.value != next { broken += 1 }
        next += 1
      }
      outcome.update { $0 = (next, broken) }
    }
    producer.join()
    consumer.join()
    #expect(outcome.withState { $0.next } == total)
    #expect(outcome.withState { $0.brokenBatches } == 0)
  }
}
