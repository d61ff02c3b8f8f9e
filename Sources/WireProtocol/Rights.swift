/// What a connection may have done: by who is at its other end, and by the socket that it came in at.
public struct Rights: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// To be told what is, and what happens.
  public static let read = Rights(rawValue: 1)
  /// To change what is played, and to have files looked at.
  public static let control = Rights(rawValue: 2)
  /// To have files written, where the configuration allows it.
  public static let write = Rights(rawValue: 4)
  /// To change the daemon itself.
  public static let administer = Rights(rawValue: 8)

  public static let all: Rights = [.read, .control, .write, .administer]

  /// Each right with its name on the wire, in order.
  public static let named: [(name: String, right: Rights)] = [
    ("read", .read), ("control", .control), ("write", .write), ("administer", .administer),
  ]

  /// The rights of these names; nil when one is none.
  public init?(names: [String]) {
    self = []
    for name in names {
      guard let right = Self.named.first(where: { $0.name == name })?.right else { return nil }
      formUnion(right)
    }
  }

  /// The names on the wire.
  public var names: [String] { Self.named.filter { contains($0.right) }.map(\.name) }
}

extension Request {
  /// What a connection needs for this request: the command's right, and that to write where a file is to be written. A
  /// question needs the right to read.
  public var neededRights: Rights {
    var needed = isQuestion ? .read : CommandTable.right(of: name)
    if command.writesFile { needed.insert(.write) }
    return needed
  }
}

extension Command {
  /// Whether it has the daemon write a file.
  fileprivate var writesFile: Bool {
    switch self {
    case .asset(.artwork(_, .file)), .item(.artwork(_, .file), _): true
    case .asset(.waveform(let waveform)): waveform.output != nil
    case .asset(.export): true
    case .asset(.image): true
    case .record(.prepare), .record(.delete): true
    default: false
    }
  }
}
