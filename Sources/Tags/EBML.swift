/// The elements of which Matroska is made (RFC 8794), in bytes that are there. Pure.
enum EBML {
  /// Elements in one that are looked at.
  static let maximumChildren = 100_000

  /// An element that is in memory.
  struct Child {
    var id: UInt32
    var content: ArraySlice<UInt8>
  }

  /// The elements in another one; the last one is as long as there are bytes.
  struct Children: Sequence, IteratorProtocol {
    var rest: ArraySlice<UInt8>
    private var left = maximumChildren

    init(rest: ArraySlice<UInt8>) { self.rest = rest }

    mutating func next() -> Child? {
      guard left > 0 else { return nil }
      left -= 1
      guard let (id, length) = elementID(rest), let (size, sizeLength) = elementSize(rest.dropFirst(length)) else {
        return nil
      }
      rest = rest.dropFirst(length + sizeLength)
      let content = rest.prefix(size.map { Int(clamping: $0) } ?? rest.count)
      rest = rest.dropFirst(content.count)
      return Child(id: id, content: content)
    }
  }

  /// The elements in another one.
  static func children(_ content: ArraySlice<UInt8>) -> Children { Children(rest: content) }

  /// An element's name, and how many bytes it has; nil where there is none.
  static func elementID(_ bytes: ArraySlice<UInt8>) -> (id: UInt32, length: Int)? {
    guard let first = bytes.first, first >= 0x10 else { return nil }
    let length = first.leadingZeroBitCount + 1
    guard bytes.count >= length else { return nil }
    return (bytes.prefix(length).reduce(0) { $0 << 8 | UInt32($1) }, length)
  }

  /// How many bytes it has, nil where that is not said, and how many say so.
  static func elementSize(_ bytes: ArraySlice<UInt8>) -> (size: Int64?, length: Int)? {
    guard let first = bytes.first, first != 0 else { return nil }
    let length = first.leadingZeroBitCount + 1
    guard bytes.count >= length else { return nil }
    let mask: UInt64 = (1 << (7 * UInt64(length))) - 1
    let value = bytes.prefix(length).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & mask
    return (value == mask ? nil : Int64(value), length)
  }

  /// A number of at most eight bytes; nil for more.
  static func number(_ content: ArraySlice<UInt8>) -> UInt64? {
    content.count <= 8 ? content.reduce(0) { $0 << 8 | UInt64($1) } : nil
  }

  /// UTF-8 up to the first zero.
  static func text(_ content: ArraySlice<UInt8>) -> String {
    String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
  }
}
