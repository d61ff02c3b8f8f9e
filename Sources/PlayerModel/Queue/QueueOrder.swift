import MediaCore
import Synchronization

/// An order of distinct item ids in which any index can be found and changed cheaply.
///
/// The ids are in *chunks* (`Piece`) of at most `pieceLimit`, and a table maps each id to its chunk. A lookup by id or
/// index walks over the chunks and then within one. With n ids it takes about n/256 + 512 steps. Adding at the end
/// takes constant time.
package struct QueueOrder: Sequence, Sendable {
  package typealias ItemID = PlayerItemID

  private struct Piece {
    package var key: UInt32
    package var ids: [ItemID]
  }

  private static let pieceLimit = 512

  /// The number of chunks.
  var pieceCount: Int { pieces.count }

  /// No chunk is empty, and two neighbours never fit together into half a chunk. There are fewer than n/128 + 2.
  private var pieces: [Piece] = []
  /// The key of the chunk of each id.
  private var homes = ItemTable<UInt32>()
  private var nextKey: UInt32 = 0
  /// The number of chunks and ids that were visited or moved, here and in copies. Read by tests of scaling.
  private(set) var work: Int {
    get { workCounter.count.load(ordering: .relaxed) }
    nonmutating set { workCounter.count.store(newValue, ordering: .relaxed) }
  }
  private let workCounter = WorkCounter()

  private final class WorkCounter: Sendable { let count = Atomic(0) }

  package init() {}

  /// Creates an order of distinct ids.
  package init(_ ids: some Collection<ItemID>) { append(contentsOf: ids) }

  // MARK: - Reading

  /// The current chunks. Takes as much time as iterating over the chunks. A later change of the order copies only the
  /// changed chunk.
  package var snapshot: [QueueChunk] { pieces.map { QueueChunk(key: $0.key, ids: $0.ids) } }

  package var count: Int { homes.count }

  package var isEmpty: Bool { pieces.isEmpty }

  package var first: ItemID? { pieces.first?.ids.first }

  package func contains(_ id: ItemID) -> Bool { homes[id] != nil }

  /// Returns the index of an id; nil if it is missing.
  package func index(of id: ItemID) -> Int? {
    guard let key = homes[id] else { return nil }
    var start = 0
    for number in pieces.indices {
      work += 1
      if pieces[number].key == key { return pieces[number].ids.firstIndex(of: id).map { start + $0 } }
      start += pieces[number].ids.count
    }
    return nil
  }

  /// The id at an index, which must exist.
  package subscript(index: Int) -> ItemID {
    let place = place(of: index)
    return pieces[place.piece].ids[place.offset]
  }

  /// Returns the ids from an index to the end.
  package func suffix(from index: Int) -> Iterator {
    guard index < count else { return Iterator(self, piece: pieces.count, offset: 0) }
    let place = place(of: index)
    return Iterator(self, piece: place.piece, offset: place.offset)
  }

  package func makeIterator() -> Iterator { Iterator(self, piece: 0, offset: 0) }

  /// Iterates over the ids in order.
  package struct Iterator: IteratorProtocol, Sequence {
    private let order: QueueOrder
    private var piece: Int
    private var offset: Int

    fileprivate init(_ order: QueueOrder, piece: Int, offset: Int) {
      self.order = order
      self.piece = piece
      self.offset = offset
    }

    package mutating func next() -> ItemID? {
      guard piece < order.pieces.count else { return nil }
      order.work += 1
      let id = order.pieces[piece].ids[offset]
      offset += 1
      if offset == order.pieces[piece].ids.count { (piece, offset) = (piece + 1, 0) }
      return id
    }
  }

  /// Returns the chunk that contains an index, and the offset in it. For the end of the order this is the end of the
  /// last chunk.
  private func place(of index: Int) -> (piece: Int, offset: Int) {
    var rest = index
    for number in pieces.indices {
      work += 1
      let length = pieces[number].ids.count
      if rest < length || number == pieces.count - 1 { return (number, rest) }
      rest -= length
    }
    return (0, 0)
  }

  // MARK: - Changing

  /// Inserts new ids before the one at `index`, or at the end.
  package mutating func insert(contentsOf ids: some Collection<ItemID>, at index: Int) {
    guard !ids.isEmpty else { return }
    guard index < count else { return append(contentsOf: ids) }
    let (number, offset) = place(of: index)
    work += ids.count
    homes.set(ids) { [key = pieces[number].key] _ in key }
    pieces[number].ids.insert(contentsOf: ids, at: offset)
    if let last = split(number) { join(last) }
  }

  /// Adds new ids at the end: fills the last chunk, then adds chunks.
  private mutating func append(contentsOf ids: some Collection<ItemID>) {
    var rest = ids[...]
    if let last = pieces.indices.last, pieces[last].ids.count < Self.pieceLimit {
      let part = rest.prefix(Self.pieceLimit - pieces[last].ids.count)
      homes.set(part) { [key = pieces[last].key] _ in key }
      pieces[last].ids += part
      work += part.count
      rest = rest.dropFirst(part.count)
    }
    while !rest.isEmpty {
      pieces.append(adopted(Array(rest.prefix(Self.pieceLimit))))
      rest = rest.dropFirst(Self.pieceLimit)
    }
  }

  /// Removes an id and returns its former index; nil if it was missing.
  @discardableResult
  package mutating func remove(_ id: ItemID) -> Int? {
    guard let key = homes.removeValue(for: id) else { return nil }
    var start = 0
    // By index: an iterator would retain the array, and changing one chunk would copy all of them.
    for number in pieces.indices {
      work += 1
      guard pieces[number].key == key else {
        start += pieces[number].ids.count
        continue
      }
      guard let offset = pieces[number].ids.firstIndex(of: id) else { return nil }
      work += pieces[number].ids.count
      pieces[number].ids.remove(at: offset)
      drop(number)
      return start + offset
    }
    return nil
  }

  /// Removes ids that exist. Takes no more time than iterating over the chunks and over all ids of the affected chunks.
  ///
  /// - Returns: the ids in their order, each with its index after the removal of the ids before it.
  package mutating func removeAll(_ ids: some Sequence<ItemID>) -> [(id: ItemID, index: Int)] {
    var affected: Set<UInt32> = []
    for id in ids { if let key = homes.removeValue(for: id) { affected.insert(key) } }
    var (removed, staying, start) = ([(id: ItemID, index: Int)](), [Piece](), 0)
    staying.reserveCapacity(pieces.count)
    work += pieces.count
    for var piece in pieces {
      if affected.contains(piece.key) {
        work += piece.ids.count
        var kept: [ItemID] = []
        kept.reserveCapacity(piece.ids.count)
        for id in piece.ids {
          if homes[id] == piece.key { kept.append(id) } else { removed.append((id, start + kept.count)) }
        }
        piece.ids = kept
      }
      start += piece.ids.count
      if !piece.ids.isEmpty { staying.append(piece) }
    }
    pieces = staying
    // From the back, so that the indexes at the front stay valid.
    for number in pieces.indices.dropLast().reversed() { join(number) }
    return removed
  }

  /// Removes the first `wanted` ids and returns them in their order.
  package mutating func removeFirst(_ wanted: Int) -> [ItemID] {
    guard wanted > 0, !isEmpty else { return [] }
    let (number, offset) = wanted >= count ? (pieces.count, 0) : place(of: wanted)
    var removed = pieces[..<number].flatMap(\.ids)
    pieces.removeFirst(number)
    if offset > 0 {
      removed += pieces[0].ids[..<offset]
      pieces[0].ids.removeFirst(offset)
    }
    for id in removed { homes[id] = nil }
    work += removed.count + pieces.count
    join(0)
    return removed
  }

  /// Moves an id to `index`, its index after the move.
  package mutating func move(_ id: ItemID, to index: Int) {
    guard remove(id) != nil else { return }
    insert(contentsOf: CollectionOfOne(id), at: index)
  }

  /// Moves the first `distance` ids to the end.
  package mutating func rotate(by distance: Int) {
    guard distance > 0, distance < count else { return }
    let (number, offset) = place(of: distance)
    work += pieces.count
    var front = Array(pieces[..<number])
    if offset > 0 {
      let cut = pieces[number]
      front.append(adopted(Array(cut.ids[..<offset])))
      pieces[number].ids.removeFirst(offset)
    }
    pieces.removeFirst(number)
    let joint = pieces.count
    pieces += front
    // At the cut and where the ends meet; from the back, so that the indexes at the front stay valid.
    join(pieces.count - 2)
    join(joint)
    join(joint - 1)
    join(0)
  }

  // MARK: - Chunks

  private mutating func makeKey() -> UInt32 {
    defer { nextKey &+= 1 }
    return nextKey
  }

  /// Creates a chunk of these ids.
  private mutating func adopted(_ ids: [ItemID]) -> Piece {
    let piece = Piece(key: makeKey(), ids: ids)
    homes.set(ids) { _ in piece.key }
    work += ids.count
    return piece
  }

  /// Splits a chunk that is too large into chunks that are half full, except the last. Returns the index of the last.
  private mutating func split(_ number: Int) -> Int? {
    let ids = pieces[number].ids
    guard ids.count > Self.pieceLimit else { return nil }
    let length = Self.pieceLimit / 2
    var parts: [Piece] = []
    var start = length
    while start < ids.count {
      // The last part includes a remainder that would be less than half a part.
      let end = ids.count - start < length + length / 2 ? ids.count : start + length
      parts.append(adopted(Array(ids[start..<end])))
      start = end
    }
    pieces[number].ids.removeLast(ids.count - length)
    pieces.insert(contentsOf: parts, at: number + 1)
    work += pieces.count - number
    return number + parts.count
  }

  /// Handles a chunk that has become smaller: drops it if it is empty, and joins small neighbours.
  private mutating func drop(_ number: Int) {
    if pieces[number].ids.isEmpty {
      pieces.remove(at: number)
      work += pieces.count - number
    } else {
      join(number)
    }
    join(number - 1)
  }

  /// Joins a chunk and the next one if they are small.
  private mutating func join(_ number: Int) {
    guard pieces.indices.contains(number), number + 1 < pieces.count,
      pieces[number].ids.count + pieces[number + 1].ids.count <= Self.pieceLimit / 2
    else { return }
    let next = pieces.remove(at: number + 1)
    homes.set(next.ids) { [key = pieces[number].key] _ in key }
    pieces[number].ids += next.ids
    work += next.ids.count + pieces.count - number
  }
}
