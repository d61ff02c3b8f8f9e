/// The rights of a connection, which depend on its peer and on the socket that accepted it.
package struct Rights: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Read the state and observe events.
  package static let read = Rights(rawValue: 1)
  /// Control playback and inspect files.
  package static let control = Rights(rawValue: 2)
  /// Make the daemon write files, where the configuration allows it.
  package static let write = Rights(rawValue: 4)
  /// Change the daemon itself.
  package static let administer = Rights(rawValue: 8)

  package static let all: Rights = [.read, .control, .write, .administer]

  /// Each right with its name on the wire, in order.
  package static let named: [(name: String, right: Rights)] = [
    ("read", .read), ("control", .control), ("write", .write), ("administer", .administer),
  ]

  /// The rights with these names. Nil if a name is unknown.
  package init?(names: [String]) {
    self = []
    for name in names {
      guard let right = Self.named.first(where: { $0.name == name })?.right else { return nil }
      formUnion(right)
    }
  }

  /// The names on the wire.
  package var names: [String] { Self.named.filter { contains($0.right) }.map(\.name) }
}

extension Request {
  /// The rights that a connection needs for this request: the right of the command, and `write` if it writes a file. A
  /// request that only reads needs `read`.
  package var neededRights: Rights {
    var needed = isReadWithoutValue ? .read : spec.right
    if spec.writesFile(arguments) { needed.insert(.write) }
    return needed
  }
}
