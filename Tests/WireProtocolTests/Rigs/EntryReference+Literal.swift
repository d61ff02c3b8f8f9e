@testable import PlayheadWireProtocol

/// An integer literal is an id.
extension EntryReference: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int) { self = .id(value) }
}
