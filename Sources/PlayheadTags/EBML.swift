/// Parses the elements of Matroska (RFC 8794) in memory. Pure.
enum EBML {
  /// Maximum number of parsed child elements.
  static let maximumChildren = 100_000

  /// An element in memory.
  struct Child {
    var id: UInt32
    var content: ArraySlice<UInt8>
  }

  /// The child elements of an element. The last element may be truncated.
  struct Children: Sequence, IteratorProtocol {
    var rest: ArraySlice<UInt8>
    private var remainingCount = maximumChildren

    init(rest: ArraySlice<UInt8>) { self.rest = rest }

    mutating func next() -> Child? {
      guard remainingCount > 0 else { return nil }
      remainingCount -= 1
      guard let (id, length) = elementID(rest), let (size, sizeLength) = elementSize(rest.dropFirst(length)) else {
        return nil
      }
      rest = rest.dropFirst(length + sizeLength)
      let content = rest.prefix(size.map { Int(clamping: $0) } ?? rest.count)
      rest = rest.dropFirst(content.count)
      return Child(id: id, content: content)
    }
  }

  /// The child elements of an element.
  static func children(_ content: ArraySlice<UInt8>) -> Children { Children(rest: content) }

  /// The ID of an element, and its length in bytes; nil if there is none.
  static func elementID(_ bytes: ArraySlice<UInt8>) -> (id: UInt32, length: Int)? {
    guard let first = bytes.first, first >= 0x10 else { return nil }
    let length = first.leadingZeroBitCount + 1
    guard bytes.count >= length else { return nil }
    return (bytes.prefix(length).reduce(0) { $0 << 8 | UInt32($1) }, length)
  }

  /// The size of an element (nil: unknown), and the length of the size field in bytes.
  static func elementSize(_ bytes: ArraySlice<UInt8>) -> (size: Int64?, length: Int)? {
    guard let first = bytes.first, first != 0 else { return nil }
    let length = first.leadingZeroBitCount + 1
    guard bytes.count >= length else { return nil }
    let mask: UInt64 = (1 << (7 * UInt64(length))) - 1
    let value = bytes.prefix(length).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & mask
    return (value == mask ? nil : Int64(value), length)
  }

  /// The value of an unsigned integer; nil if it has more than eight bytes.
  static func number(_ content: ArraySlice<UInt8>) -> UInt64? {
    content.count <= 8 ? content.reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  /// The UTF-8 text up to the first zero byte.
  static func text(_ content: ArraySlice<UInt8>) -> String {
    String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
  }
}
