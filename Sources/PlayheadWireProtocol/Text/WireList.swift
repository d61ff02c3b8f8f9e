/// A type of which one argument can contain several values.
package protocol WireListElement: Sendable, Hashable {
  /// Decodes a value that the request parser packed.
  static func unpacked(_ bytes: ArraySlice<UInt8>) -> Self
}

/// The values of an argument that accepts several, in their order.
///
/// The values of a request are stored as consecutive bytes and decoded on access. They need hardly more memory
/// than their text in the request. A line of 64 KiB may contain 30,000 values: arrays and strings for them would need
/// many times the memory of the line.
package struct WireList<Element: WireListElement>: Sequence, Sendable, Hashable, ExpressibleByArrayLiteral {
  fileprivate enum Storage: Sendable {
    case packed(PackedValues)
    case elements([Element])
  }

  fileprivate let storage: Storage

  /// Creates a list from a sequence.
  package init(_ elements: some Sequence<Element>) { storage = .elements(Array(elements)) }
  package init(arrayLiteral elements: Element...) { storage = .elements(elements) }
  init(_ packed: PackedValues) { storage = .packed(packed) }

  /// The number of values.
  package var count: Int {
    switch storage {
    case .packed(let packed): packed.count
    case .elements(let elements): elements.count
    }
  }

  package var isEmpty: Bool { count == 0 }

  /// The number of bytes of the values of a request. In a list created from an array, elements other than
  /// ``FilePath`` count as 0 bytes.
  package var byteCount: Int {
    switch storage {
    case .packed(let packed): packed.byteCount
    case .elements(let elements): elements.reduce(0) { $0 + (($1 as? FilePath)?.bytes.count ?? 0) }
    }
  }

  package var first: Element? { first { _ in true } }

  package var underestimatedCount: Int { count }

  package func makeIterator() -> Iterator {
    switch storage {
    case .packed(let packed): Iterator(packed: packed, elements: [].makeIterator())
    case .elements(let elements): Iterator(packed: PackedValues(), elements: elements.makeIterator())
    }
  }

  package static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { hasher.combine(element) }
  }

  /// Decodes one value after the other.
  package struct Iterator: IteratorProtocol, Sendable {
    fileprivate let packed: PackedValues
    fileprivate var elements: Array<Element>.Iterator
    private var offset = 0

    fileprivate init(packed: PackedValues, elements: Array<Element>.Iterator) {
      self.packed = packed
      self.elements = elements
    }

    package mutating func next() -> Element? {
      guard let range = packed.next(at: &offset) else { return elements.next() }
      return Element.unpacked(packed.bytes[range])
    }
  }
}

extension WireList<FilePath> {
  /// The paths whose bytes satisfy a predicate, in their order. Those of a request are not decoded.
  func filter(bytes isIncluded: (ArraySlice<UInt8>) -> Bool) -> WireList {
    switch storage {
    case .packed(let packed): WireList(packed.filter(isIncluded))
    case .elements(let elements): WireList(elements.filter { isIncluded($0.bytes[...]) })
    }
  }
}

/// Values as consecutive bytes. Each is preceded by its length, which is encoded with seven bits per byte.
struct PackedValues: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0
  /// The number of bytes of the values, without their lengths.
  private(set) var byteCount = 0

  /// Reserves memory for the values in the next `lineByteCount` bytes of a line. The length of a value
  /// replaces its separator in the line.
  mutating func reserve(lineByteCount: Int) { bytes.reserveCapacity(lineByteCount + lineByteCount / 128 + 2) }

  /// Removes the values. Keeps the memory if it is small.
  mutating func removeAll() {
    (count, byteCount) = (0, 0)
    if bytes.capacity > 4_096 { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
  }

  mutating func append(_ value: ArraySlice<UInt8>) {
    startValue(byteCount: value.count)
    bytes.append(contentsOf: value)
  }

  /// Begins a value. The caller appends `byteCount` bytes.
  mutating func startValue(byteCount: Int) {
    var remaining = byteCount
    while remaining >= 128 {
      bytes.append(UInt8(remaining & 127) | 128)
      remaining >>= 7
    }
    bytes.append(UInt8(remaining))
    count += 1
    self.byteCount += byteCount
  }

  mutating func append(byte: UInt8) { bytes.append(byte) }

  /// The values that satisfy a predicate, in their order.
  func filter(_ isIncluded: (ArraySlice<UInt8>) -> Bool) -> PackedValues {
    var filtered = PackedValues()
    filtered.reserve(lineByteCount: bytes.count)
    var offset = 0
    while let range = next(at: &offset) {
      if isIncluded(bytes[range]) { filtered.append(bytes[range]) }
    }
    return filtered
  }

  /// The range of the next value. `offset` is the index of its length, and advances past the value. Nil after the last
  /// value.
  func next(at offset: inout Int) -> Range<Int>? {
    guard offset < bytes.count else { return nil }
    var (length, shift) = (0, 0)
    while bytes[offset] >= 128 {
      length |= Int(bytes[offset] & 127) << shift
      shift += 7
      offset += 1
    }
    length |= Int(bytes[offset]) << shift
    let start = offset + 1
    offset = start + length
    return start..<offset
  }
}

extension String: WireListElement {
  package static func unpacked(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
