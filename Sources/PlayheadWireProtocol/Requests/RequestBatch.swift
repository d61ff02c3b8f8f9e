/// The members of a JSON-RPC batch in their order. Each is parsed on access, so that a batch uses no more memory than
/// its text and one member.
package struct RequestBatch: Sequence, Sendable, Hashable {
  /// The number of members. At least one.
  package let count: Int
  /// The text of the whole array. Its syntax has been checked.
  private let text: [UInt8]
  private let limits: WireLimits

  init(_ text: [UInt8], count: Int, limits: WireLimits) {
    self.text = text
    self.count = count
    self.limits = limits
  }

  package var underestimatedCount: Int { count }

  package func makeIterator() -> Iterator { Iterator(text: text, parser: RequestParser(limits: limits)) }

  /// Parses one member after the other.
  package struct Iterator: IteratorProtocol, Sendable {
    private let text: [UInt8]
    private var parser: RequestParser
    private var index = 0

    fileprivate init(text: [UInt8], parser: RequestParser) {
      self.text = text
      self.parser = parser
      _ = JSONSyntax.kind(in: text, at: &index)
    }

    package mutating func next() -> ParsedLine.BatchMember? {
      let text = text
      guard index < text.count, JSONSyntax.nextElement(in: text, at: &index) else {
        index = text.count
        return nil
      }
      let member = JSONSyntax.skipValue(in: text, at: &index)
      return parser.parseMember(text.span.extracting(member))
    }
  }
}
