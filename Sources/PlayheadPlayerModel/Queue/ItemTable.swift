/// A table of values by item id.
///
/// Ids are mostly consecutive numbers. The values of ``pageLength`` consecutive ids are in one page. An edit of many
/// items therefore looks up and allocates one page for many of them, and growth moves pages, not values. A copy shares
/// its pages with the original until one of them changes.
package struct ItemTable<Value: Sendable>: Sendable {
  package typealias ItemID = PlayerItemID

  private struct Page: Sendable {
    package var values = [Value?](repeating: nil, count: ItemTable.pageLength)
    package var count = 0
  }

  /// The number of ids per page.
  package static var pageLength: Int { 32 }

  /// No page is empty.
  private var pages: [ItemID: Page] = [:]
  /// The number of values.
  package private(set) var count = 0

  /// Creates an empty table.
  package init() {}

  /// Whether the table has no values.
  package var isEmpty: Bool { count == 0 }

  /// The value of an id; nil removes it.
  package subscript(id: ItemID) -> Value? {
    get {
      let (number, index) = Self.location(of: id)
      return pages[number]?.values[index]
    }
    set {
      if let newValue {
        set(CollectionOfOne(id)) { _ in newValue }
      } else {
        removeValue(for: id)
      }
    }
  }

  /// All values, in no particular order.
  package var values: some Sequence<Value> { pages.values.lazy.flatMap { $0.values.lazy.compactMap(\.self) } }

  /// Sets the values of `ids`, in their order.
  package mutating func set(_ ids: some Sequence<ItemID>, _ value: (ItemID) -> Value) {
    var iterator = ids.makeIterator()
    var next = iterator.next()
    while let first = next {
      let (number, _) = Self.location(of: first)
      count += Self.fill(&pages[number, default: Page()], number, &next, &iterator, value)
    }
  }

  /// Sets the values of ids while they belong to one page. Returns the number of new values.
  private static func fill<Iterator: IteratorProtocol<ItemID>>(
    _ page: inout Page, _ number: ItemID, _ next: inout ItemID?, _ iterator: inout Iterator, _ value: (ItemID) -> Value
  ) -> Int {
    let before = page.count
    while let id = next {
      let (pageNumber, index) = location(of: id)
      guard pageNumber == number else { break }
      if page.values[index] == nil { page.count += 1 }
      page.values[index] = value(id)
      next = iterator.next()
    }
    return page.count - before
  }

  /// Adds the values of another table. They replace values of the same ids.
  ///
  /// Takes as much time as iterating over the pages of `other`, if most of its pages have no values in this table.
  package mutating func merge(_ other: ItemTable) {
    if isEmpty {
      self = other
      return
    }
    for (number, page) in other.pages {
      guard pages[number] != nil else {
        pages[number] = page
        count += page.count
        continue
      }
      let first = number * ItemID(Self.pageLength)
      for (index, value) in page.values.enumerated() where value != nil { self[first + ItemID(index)] = value }
    }
  }

  /// Removes and returns the value of an id; nil if there is none.
  @discardableResult
  package mutating func removeValue(for id: ItemID) -> Value? {
    let (number, index) = Self.location(of: id)
    guard let slot = pages.index(forKey: number), let removed = pages.values[slot].values[index] else { return nil }
    count -= 1
    if pages.values[slot].count == 1 {
      pages.remove(at: slot)
    } else {
      pages.values[slot].values[index] = nil
      pages.values[slot].count -= 1
    }
    return removed
  }

  /// Removes a page and returns its values; nil if the table is empty.
  package mutating func popPage() -> [Value]? {
    guard let (_, page) = pages.popFirst() else { return nil }
    count -= page.count
    return page.values.compactMap(\.self)
  }

  private static func location(of id: ItemID) -> (page: ItemID, index: Int) {
    let (page, index) = id.quotientAndRemainder(dividingBy: ItemID(pageLength))
    return (page, Int(index))
  }
}
