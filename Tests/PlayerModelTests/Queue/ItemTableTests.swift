import Testing

@testable import PlayheadPlayerModel

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

  @Test func mergeAddsAllValuesAndReplacesExistingOnes() {
    let tables: [([PlayerItemID], [PlayerItemID])] = [
      ([], [1, 2]), ([1, 2], []), ([1, 31, 32], [2, 33, 64]), ([5, 70], [70, 71, 5]),
      (Array(0..<200), Array(100..<300)),
    ]
    for (first, second) in tables {
      var table = ItemTable<String>()
      table.set(first) { "first \($0)" }
      var other = ItemTable<String>()
      other.set(second) { "second \($0)" }
      let copy = table
      table.merge(other)
      let ids = Set(first + second)
      #expect(table.count == ids.count && Array(table.values).count == ids.count)
      #expect(ids.allSatisfy { table[$0] == (second.contains($0) ? "second \($0)" : "first \($0)") })
      #expect(copy.count == first.count && other.count == second.count)
    }
  }
}
