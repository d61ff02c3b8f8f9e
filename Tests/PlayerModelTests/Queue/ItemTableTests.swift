import Testing

@testable import PlayerModel

@Suite struct ItemTableTests {
  @Test func tableBehavesLikeADictionary() {
    var generator = SplitMix64(state: 1)
    var (table, dictionary) = (ItemTable<Int>(), [PlayerItemID: Int]())
    for step in 0..<20_000 {
      let id = PlayerItemID(generator.draw(below: 500)) &* (step % 7 == 0 ? .max / 500 : 1)
      if generator.draw(below: 3) == 0 {
        #expect(table.removeValue(for: id) == dictionary.removeValue(forKey: id))
      } else {
        table[id] = step
        dictionary[id] = step
      }
      #expect(table[id] == dictionary[id] && table.count == dictionary.count)
    }
    #expect(table.values.sorted() == dictionary.values.sorted())
    let copy = table
    var popped: [Int] = []
    while let page = table.popPage() {
      #expect(page.count <= ItemTable<Int>.pageLength && !page.isEmpty)
      popped += page
    }
    #expect(table.isEmpty && popped.sorted() == dictionary.values.sorted() && copy.count == dictionary.count)
  }

  @Test func setStoresManyValuesAtOnce() {
    var table = ItemTable<PlayerItemID>()
    let ids = Array(PlayerItemID(100)..<1_000) + Array(10..<200) + [5_000, 3, .max]
    table.set(ids) { $0 }
    #expect(table.count == Set(ids).count && ids.allSatisfy { table[$0] == $0 })
    #expect(table[9] == nil && table[1_000] == nil)
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
