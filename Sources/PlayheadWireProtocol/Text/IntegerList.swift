/// A list of integers as text, which is built once and in parts: the reply to a large edit has 100,000 ids.
package struct IntegerList: Sendable, Hashable {
  /// The numbers in decimal, separated by commas.
  private(set) var text: [UInt8] = []

  package init() {}

  package init(_ values: some Sequence<some BinaryInteger>) { for value in values { append(value) } }

  package var isEmpty: Bool { text.isEmpty }

  /// The number of bytes of the text.
  package var byteCount: Int { text.count }

  /// Appends an integer. Values outside the range of `Int64` are appended, too.
  package mutating func append(_ value: some BinaryInteger) {
    if !text.isEmpty { text.append(UInt8(ascii: ",")) }
    if let value = Int64(exactly: value) {
      text.append(decimal: value)
    } else {
      text.append(contentsOf: "\(value)".utf8)
    }
  }

  /// Appends the integers of another list.
  package mutating func append(_ other: IntegerList) {
    guard !other.isEmpty else { return }
    if !text.isEmpty { text.append(UInt8(ascii: ",")) }
    text += other.text
  }
}
