/// What can be one of many values of an argument.
public protocol WireListElement: Sendable, Hashable {
  /// The value that these bytes stand for, which reading the request has packed.
  static func unpacked(_ bytes: ArraySlice<UInt8>) -> Self
}

/// The values of an argument that takes several, in their order.
///
/// Those of a request lie behind each other in as many bytes as the request has for them, and are read when they are asked for: a line
/// of 64 KiB may have 30,000 of them, whose arrays and strings would take many times the line before anybody has looked at them.
public struct WireList<Element: WireListElement>: Sequence, Sendable, Hashable, ExpressibleByArrayLiteral {
  private enum Storage: Sendable {
    case packed(PackedValues)
    case elements([Element])
  }

  private let storage: Storage

  /// The values of an array.
  public init(_ elements: some Sequence<Element>) { storage = .elements(Array(elements)) }
  public init(arrayLiteral elements: Element...) { storage = .elements(elements) }
  init(_ packed: PackedValues) { storage = .packed(packed) }

  /// How many there are.
  public var count: Int {
    switch storage {
    case .packed(let packed): packed.count
    case .elements(let elements): elements.count
    }
  }

  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }

  /// The number of bytes of the values of a request. Values of an array count nothing unless they have bytes themselves.
  public var byteCount: Int {
    switch storage {
    case .packed(let packed): packed.byteCount
    case .elements(let elements): elements.reduce(0) { $0 + (($1 as? FilePath)?.bytes.count ?? 0) }
    }
  }

  /// The first of them.
  public var first: Element? { first { _ in true } }

  public var underestimatedCount: Int { count }

  public func makeIterator() -> Iterator {
    switch storage {
    case .packed(let packed): Iterator(packed: packed, elements: [].makeIterator())
    case .elements(let elements): Iterator(packed: PackedValues(), elements: elements.makeIterator())
    }
  }

  public static func == (left: Self, right: Self) -> Bool { left.elementsEqual(right) }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for element in self { hasher.combine(element) }
  }

  /// Gives the values one after the other.
  public struct Iterator: IteratorProtocol {
    fileprivate let packed: PackedValues
    fileprivate var elements: Array<Element>.Iterator
    private var offset = 0

    fileprivate init(packed: PackedValues, elements: Array<Element>.Iterator) {
      self.packed = packed
      self.elements = elements
    }

    public mutating func next() -> Element? {
      guard let range = packed.next(at: &offset) else { return elements.next() }
      return Element.unpacked(packed.bytes[range])
    }
  }
}

/// Values as bytes behind each other, each with its length in front, seven bits a byte.
struct PackedValues: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0
  /// The number of bytes of the values, without their lengths.
  private(set) var byteCount = 0

  /// Makes room for values that stand in so many bytes of a line: each of them has something behind it there, as it has its length here.
  mutating func reserve(lineByteCount: Int) { bytes.reserveCapacity(lineByteCount + lineByteCount / 128 + 2) }

  /// Forgets the values, and keeps the room for others where it is small.
  mutating func removeAll() {
    (count, byteCount) = (0, 0)
    if bytes.capacity > 4_096 { bytes = [] } else { bytes.removeAll(keepingCapacity: true) }
  }

  mutating func append(_ value: ArraySlice<UInt8>) {
    begin(byteCount: value.count)
    bytes.append(contentsOf: value)
  }

  /// Begins a value of which so many bytes follow.
  mutating func begin(byteCount: Int) {
    var rest = byteCount
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
    count += 1
    self.byteCount += byteCount
  }

  mutating func append(byte: UInt8) { bytes.append(byte) }

  /// Where the value's bytes lie whose length is at `offset`, which moves behind them; nil behind the last.
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
  public static func unpacked(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
