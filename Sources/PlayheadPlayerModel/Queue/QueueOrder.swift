import PlayheadMediaCore

/// An order of distinct item ids in which any index can be found and changed cheaply.
///
/// The ids are in *chunks* (`Chunk`) of at most `chunkLimit`, and a table maps each id to its chunk. A lookup by id or
/// index walks over the chunks and then within one. With n ids it takes about n/256 + 512 steps. Adding at the end
/// takes constant time.
package struct QueueOrder: Sequence, Sendable {
  package typealias ItemID = PlayerItemID

  private struct Chunk {
    package var key: UInt32
    package var ids: [ItemID]
  }

  private static let chunkLimit = 512

  /// The number of chunks.
  var chunkCount: Int { chunks.count }

  /// No chunk is empty, and two adjacent chunks together always have more than `chunkLimit` / 2 ids. The number of
  /// chunks is therefore less than n/128 + 2.
  private var chunks: [Chunk] = []
  /// The key of the chunk of each id.
  private var chunkKeys = ItemTable<UInt32>()
  private var nextKey: UInt32 = 0
  /// Counts the chunks and ids that are visited or moved.
  let steps = StepCounter()

  package init() {}

  /// Creates an order of distinct ids.
  package init(_ ids: some Collection<ItemID>) { append(contentsOf: ids) }

  // MARK: - Reading

  /// The current chunks. Takes as much time as iterating over the chunks. A later change of the order copies only the
  /// changed chunk.
  package var snapshot: [QueueChunk] { chunks.map { QueueChunk(key: $0.key, ids: $0.ids) } }

  package var count: Int { chunkKeys.count }

  package var isEmpty: Bool { chunks.isEmpty }

  package var first: ItemID? { chunks.first?.ids.first }

  package func contains(_ id: ItemID) -> Bool { chunkKeys[id] != nil }

  /// Returns the index of an id; nil if it is missing.
  package func index(of id: ItemID) -> Int? {
    guard let key = chunkKeys[id] else { return nil }
    var start = 0
    for number in chunks.indices {
      steps.add(1)
      if chunks[number].key == key { return chunks[number].ids.firstIndex(of: id).map { start + $0 } }
      start += chunks[number].ids.count
    }
    return nil
  }

  /// The id at an index, which must exist.
  package subscript(index: Int) -> ItemID {
    let location = location(of: index)
    return chunks[location.chunk].ids[location.offset]
  }

  /// Returns the ids from an index to the end.
  package func suffix(from index: Int) -> Iterator {
    guard index < count else { return Iterator(self, chunk: chunks.count, offset: 0) }
    let location = location(of: index)
    return Iterator(self, chunk: location.chunk, offset: location.offset)
  }

  package func makeIterator() -> Iterator { Iterator(self, chunk: 0, offset: 0) }

  /// Iterates over the ids in order.
  package struct Iterator: IteratorProtocol, Sequence {
    private let order: QueueOrder
    private var chunk: Int
    private var offset: Int

    fileprivate init(_ order: QueueOrder, chunk: Int, offset: Int) {
      self.order = order
      self.chunk = chunk
      self.offset = offset
    }

    package mutating func next() -> ItemID? {
      guard chunk < order.chunks.count else { return nil }
      order.steps.add(1)
      let id = order.chunks[chunk].ids[offset]
      offset += 1
      if offset == order.chunks[chunk].ids.count { (chunk, offset) = (chunk + 1, 0) }
      return id
    }
  }

  /// Returns the chunk that contains an index, and the offset in it. For the end of the order this is the end of the
  /// last chunk.
  private func location(of index: Int) -> (chunk: Int, offset: Int) {
    var rest = index
    for number in chunks.indices {
      steps.add(1)
      let length = chunks[number].ids.count
      if rest < length || number == chunks.count - 1 { return (number, rest) }
      rest -= length
    }
    return (0, 0)
  }

  // MARK: - Changing

  /// Inserts new ids before the one at `index`, or at the end.
  package mutating func insert(contentsOf ids: some Collection<ItemID>, at index: Int) {
    guard !ids.isEmpty else { return }
    guard index < count else { return append(contentsOf: ids) }
    let (number, offset) = location(of: index)
    steps.add(ids.count)
    chunkKeys.set(ids) { [key = chunks[number].key] _ in key }
    chunks[number].ids.insert(contentsOf: ids, at: offset)
    if let last = split(number) { joinWithNextIfSmall(last) }
  }

  /// Adds new ids at the end: fills the last chunk, then adds chunks.
  private mutating func append(contentsOf ids: some Collection<ItemID>) {
    var rest = ids[...]
    if let last = chunks.indices.last, chunks[last].ids.count < Self.chunkLimit {
      let part = rest.prefix(Self.chunkLimit - chunks[last].ids.count)
      chunkKeys.set(part) { [key = chunks[last].key] _ in key }
      chunks[last].ids += part
      steps.add(part.count)
      rest = rest.dropFirst(part.count)
    }
    while !rest.isEmpty {
      chunks.append(makeChunk(Array(rest.prefix(Self.chunkLimit))))
      rest = rest.dropFirst(Self.chunkLimit)
    }
  }

  /// Removes an id and returns its former index; nil if it was missing.
  @discardableResult
  package mutating func remove(_ id: ItemID) -> Int? {
    guard let key = chunkKeys.removeValue(for: id) else { return nil }
    var start = 0
    // By index: an iterator would retain the array, and changing one chunk would copy all of them.
    for number in chunks.indices {
      steps.add(1)
      guard chunks[number].key == key else {
        start += chunks[number].ids.count
        continue
      }
      guard let offset = chunks[number].ids.firstIndex(of: id) else { return nil }
      steps.add(chunks[number].ids.count)
      chunks[number].ids.remove(at: offset)
      removeOrJoin(number)
      return start + offset
    }
    return nil
  }

  /// Removes ids that exist. Takes no more time than iterating over the chunks and over all ids of the affected chunks.
  ///
  /// - Returns: the ids in their order, each with its index after the removal of the ids before it.
  package mutating func removeAll(_ ids: some Sequence<ItemID>) -> [(id: ItemID, index: Int)] {
    var affected: Set<UInt32> = []
    for id in ids { if let key = chunkKeys.removeValue(for: id) { affected.insert(key) } }
    var (removed, staying, start) = ([(id: ItemID, index: Int)](), [Chunk](), 0)
    staying.reserveCapacity(chunks.count)
    steps.add(chunks.count)
    for var chunk in chunks {
      if affected.contains(chunk.key) {
        steps.add(chunk.ids.count)
        var kept: [ItemID] = []
        kept.reserveCapacity(chunk.ids.count)
        for id in chunk.ids {
          if chunkKeys[id] == chunk.key { kept.append(id) } else { removed.append((id, start + kept.count)) }
        }
        chunk.ids = kept
      }
      start += chunk.ids.count
      if !chunk.ids.isEmpty { staying.append(chunk) }
    }
    chunks = staying
    // From the back, so that the indexes at the front stay valid.
    for number in chunks.indices.dropLast().reversed() { joinWithNextIfSmall(number) }
    return removed
  }

  /// Removes the first `requestedCount` ids and returns them in their order.
  package mutating func removeFirst(_ requestedCount: Int) -> [ItemID] {
    guard requestedCount > 0, !isEmpty else { return [] }
    let (number, offset) = requestedCount >= count ? (chunks.count, 0) : location(of: requestedCount)
    var removed = chunks[..<number].flatMap(\.ids)
    chunks.removeFirst(number)
    if offset > 0 {
      removed += chunks[0].ids[..<offset]
      chunks[0].ids.removeFirst(offset)
    }
    for id in removed { chunkKeys[id] = nil }
    steps.add(removed.count + chunks.count)
    joinWithNextIfSmall(0)
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
    let (number, offset) = location(of: distance)
    steps.add(chunks.count)
    var front = Array(chunks[..<number])
    if offset > 0 {
      let cut = chunks[number]
      front.append(makeChunk(Array(cut.ids[..<offset])))
      chunks[number].ids.removeFirst(offset)
    }
    chunks.removeFirst(number)
    let joint = chunks.count
    chunks += front
    // Join at the cut and where the former ends meet, from the back, so that the indexes at the front stay valid.
    joinWithNextIfSmall(chunks.count - 2)
    joinWithNextIfSmall(joint)
    joinWithNextIfSmall(joint - 1)
    joinWithNextIfSmall(0)
  }

  // MARK: - Chunks

  private mutating func makeKey() -> UInt32 {
    defer { nextKey &+= 1 }
    return nextKey
  }

  /// Creates a chunk of these ids.
  private mutating func makeChunk(_ ids: [ItemID]) -> Chunk {
    let chunk = Chunk(key: makeKey(), ids: ids)
    chunkKeys.set(ids) { _ in chunk.key }
    steps.add(ids.count)
    return chunk
  }

  /// Splits a chunk that is too large into chunks that are half full, except the last. Returns the index of the last.
  private mutating func split(_ number: Int) -> Int? {
    let ids = chunks[number].ids
    guard ids.count > Self.chunkLimit else { return nil }
    let length = Self.chunkLimit / 2
    var parts: [Chunk] = []
    var start = length
    while start < ids.count {
      // The last part includes a remainder that would be less than half a part.
      let end = ids.count - start < length + length / 2 ? ids.count : start + length
      parts.append(makeChunk(Array(ids[start..<end])))
      start = end
    }
    chunks[number].ids.removeLast(ids.count - length)
    chunks.insert(contentsOf: parts, at: number + 1)
    steps.add(chunks.count - number)
    return number + parts.count
  }

  /// Removes a chunk that has become empty, or joins one that has become small with its neighbours.
  private mutating func removeOrJoin(_ number: Int) {
    if chunks[number].ids.isEmpty {
      chunks.remove(at: number)
      steps.add(chunks.count - number)
    } else {
      joinWithNextIfSmall(number)
    }
    joinWithNextIfSmall(number - 1)
  }

  /// Joins a chunk and the next one if they are small.
  private mutating func joinWithNextIfSmall(_ number: Int) {
    guard chunks.indices.contains(number), number + 1 < chunks.count,
      chunks[number].ids.count + chunks[number + 1].ids.count <= Self.chunkLimit / 2
    else { return }
    let next = chunks.remove(at: number + 1)
    chunkKeys.set(next.ids) { [key = chunks[number].key] _ in key }
    chunks[number].ids += next.ids
    steps.add(next.ids.count + chunks.count - number)
  }
}
