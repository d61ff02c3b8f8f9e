import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

/// The order of a long queue: correct, and cheap to change anywhere.
@Suite struct QueueOrderTests {
  @Test(arguments: 1...6) func randomEditsMatchAnArray(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var order = QueueOrder()
    var model: [PlayerItemID] = []
    var nextID: PlayerItemID = 1
    func newIDs(_ count: Int) -> [PlayerItemID] {
      defer { nextID += PlayerItemID(count) }
      return (0..<count).map { nextID + PlayerItemID($0) }
    }
    for step in 0..<1_500 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        let ids = newIDs(Int.random(in: 1...(step % 50 == 0 ? 2_000 : 12), using: &random))
        let index = Bool.random(using: &random) ? model.count : Int.random(in: 0...model.count, using: &random)
        order.insert(contentsOf: ids, at: index)
        model.insert(contentsOf: ids, at: index)
      case 2, 3:
        guard let id = model.randomElement(using: &random) else { continue }
        #expect(order.remove(id) == model.firstIndex(of: id))
        model.removeAll { $0 == id }
      case 4:
        guard let id = model.randomElement(using: &random) else { continue }
        let index = Int.random(in: 0..<model.count, using: &random)
        order.move(id, to: index)
        model.removeAll { $0 == id }
        model.insert(id, at: index)
      case 5 where !model.isEmpty:
        let distance = Int.random(in: 0..<model.count, using: &random)
        order.rotate(by: distance)
        model = Array(model[distance...] + model[..<distance])
      case 6 where step % 5 == 0:
        let count = min(model.count, Int.random(in: 0...600, using: &random))
        #expect(order.removeFirst(count) == Array(model.prefix(count)))
        model.removeFirst(count)
      default:
        guard let id = model.randomElement(using: &random) else { continue }
        let index = model.firstIndex(of: id)
        #expect(order.index(of: id) == index)
        #expect(index.map { order[$0] } == id)
        #expect(order.remove(nextID) == nil)
      }
      #expect(order.count == model.count)
      #expect(order.first == model.first)
      let index = Int.random(in: 0...model.count, using: &random)
      #expect(Array(order.suffix(from: index).prefix(20)) == Array(model[index...].prefix(20)))
    }
    #expect(Array(order) == model)
  }

  /// Two neighbours never fit together into half a chunk, so that small chunks do not remain.
  @Test(arguments: 1...4) func chunkCountStaysProportionalToTheIDCount(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var order = QueueOrder((0..<20_000).map { PlayerItemID($0) })
    var nextID: PlayerItemID = 20_000
    var most = 0.0
    for step in 0..<30_000 {
      // It shrinks to almost nothing, and grows again.
      let isShrinking = step / 10_000 != 1
      let index = Int.random(in: 0..<Swift.max(1, order.count), using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where order.count > 1: order.rotate(by: index)
      case 1 where order.count > 1: order.move(order[index], to: Int.random(in: 0..<order.count, using: &random))
      case 2 where step % 50 == 0: _ = order.removeFirst(Int.random(in: 0...700, using: &random))
      case 3 where step % 50 == 0:
        let count = PlayerItemID(Int.random(in: 0...1_500, using: &random))
        order.insert(contentsOf: (nextID..<nextID + count), at: index)
        nextID += count
      case 0...6 where isShrinking && order.count > 1:
        for id in Array(order.suffix(from: index).prefix(Int.random(in: 1...6, using: &random))) { order.remove(id) }
      default:
        order.insert(contentsOf: [nextID], at: index)
        nextID += 1
      }
      let limit = 2 * (order.count / 257) + 1
      #expect(order.chunkCount <= limit, "\(order.chunkCount) chunks for \(order.count) ids in step \(step)")
      most = Swift.max(most, Double(order.chunkCount) / Double(limit))
      if order.chunkCount > limit { break }
    }
    print("chunks: at most \(most) of what the rule allows, seed \(seed)")
    #expect(Set(order).count == order.count)
  }

  @Test(arguments: [false, true]) func sequentialRemovalLeavesNoSmallChunks(isBackward: Bool) {
    let ids = (0..<20_000).map { PlayerItemID($0) }
    var order = QueueOrder(ids)
    for id in isBackward ? ids.reversed() : ids where id % 10 != 0 { order.remove(id) }
    print("chunks: \(order.chunkCount) for \(order.count) ids")
    #expect(order.chunkCount <= 2 * (order.count / 257) + 1)
    // Each rotation splits a chunk.
    for distance in 1..<2_000 {
      order.rotate(by: distance)
      #expect(order.chunkCount <= 2 * (order.count / 257) + 1)
    }
    #expect(Set(order) == Set(ids.filter { $0 % 10 == 0 }))
  }

  /// Counted in chunks and ids that were visited, independent of time.
  @Test func costOfAChangeIsBoundedInALongQueue() {
    func order(_ count: Int) -> QueueOrder {
      var order = QueueOrder()
      for start in stride(from: 0, to: count, by: 100) {
        order.insert(contentsOf: (start..<start + 100).map { PlayerItemID($0) }, at: order.count)
      }
      return order
    }
    var long = order(100_000)
    #expect(long.steps.count < 5 * 100_000, "adding at the end costs the same however long the queue is")
    #expect(long.chunkCount < 400)
    func cost(_ change: (inout QueueOrder) -> Void) -> Int {
      let before = long.steps.count
      change(&long)
      return long.steps.count - before
    }
    for id: PlayerItemID in [0, 1, 777, 50_000, 99_999] {
      #expect(cost { $0.move(id, to: 70_000) } < 3_000)
      #expect(cost { $0.move(id, to: 0) } < 3_000)
      #expect(cost { $0.rotate(by: 33_333) } < 3_000)
    }
    // Moves every entry to the front once, and limits the mean cost per move.
    let all = cost { order in for id in 0..<PlayerItemID(100_000) { order.move(id, to: 0) } }
    #expect(all < 100_000 * 1_500)
    // Removes almost all ids in any order. The rest needs no more chunks than a short order.
    _ = cost { order in for id in 0..<PlayerItemID(100_000) where id % 1_000 != 0 { order.remove(id) } }
    #expect(long.count == 100)
    #expect(long.chunkCount <= 2)
  }

  /// Counted in chunks and ids that were visited.
  @Test func removingManyItemsFromAQueueOrderTakesLinearWork() {
    var order = QueueOrder(PlayerItemID(0)..<20_000)
    let removedIDs = (0..<5_000).map { PlayerItemID($0 * 3 + 1_000) }
    let before = order.steps.count
    let removed = order.removeAll(removedIDs.reversed())
    #expect(order.steps.count - before < 2 * 20_000)
    #expect(removed.map(\.id) == removedIDs && removed.map(\.index) == removedIDs.enumerated().map { Int($1) - $0 })
    let removedSet = Set(removedIDs)
    #expect(Array(order) == (PlayerItemID(0)..<20_000).filter { !removedSet.contains($0) })
    for (index, id) in order.enumerated() where index % 97 == 0 { #expect(order.index(of: id) == index) }
    #expect(order.chunkCount <= 2 * (order.count / 257) + 1)
  }
}
