import MediaCore

/// Everything that is known of one command: what it takes, how it is built from that, and what help and protocol.md say.
public final class CommandSpec: Sendable {
  /// The families, each with a handler and a section of protocol.md of its own.
  public enum Family: String, Sendable, Hashable, CaseIterable {
    case connection = "Connection"
    case playback = "Playback"
    case queue = "Queue"
    case items = "Items"
    case assets = "Assets"
    case watching = "Watching"
    case players = "Players and outputs"
    case recording = "Recording"
    case session = "Audio session"
    case state = "Saved state"
  }

  /// Whether the reply may come later than those to requests behind it.
  public enum Waiting: Sendable, Hashable {
    case never
    /// Only with `wait=ready`, or of lists of media.
    case untilReady
    /// Only with `wait`.
    case ifAsked
    case always
  }

  public let name: CommandName
  public let family: Family
  /// One sentence.
  public let summary: String
  /// What a reader must know besides, in sentences; may be empty.
  public let details: String
  /// Those by position first, in their order; then the options.
  public let parameters: [ParameterSpec]
  /// Whether paths stand in the request, by themselves or within edits of the queue.
  public var takesPaths: Bool { parameters.contains { $0.kind.isPath || $0.kind == .edit } }
  public let waiting: Waiting
  /// What a connection needs to have it run. Who has a file written needs `write`, too.
  public let right: Rights
  /// Whether the command without a value only reads: then the right to read suffices.
  public let asks: Bool
  /// The fields of the reply, in their order.
  public let replyFields: [FieldSpec]
  /// The fields of each row, in their order; nil for a command without rows.
  public let rowFields: [FieldSpec]?
  /// The errors that a client should expect, each once, besides those of any request (`CommandTable.requestErrors`).
  public let errors: [MediaError.Code]
  /// Lines as in a session: `> ` before a request, `< ` before what comes back.
  public let example: [String]
  /// Makes the command from bound arguments; throws what single parameters cannot know, such as two that exclude each other.
  let build: @Sendable (Arguments) throws(MediaError) -> Command

  init(
    _ name: CommandName, _ family: Family, _ summary: String, details: String = "", parameters: [ParameterSpec] = [],
    waiting: Waiting = .never, right: Rights = .control, asks: Bool = false, reply replyFields: [FieldSpec] = [],
    rows rowFields: [FieldSpec]? = nil,
    errors: [MediaError.Code] = [], example: [String],
    build: @escaping @Sendable (Arguments) throws(MediaError) -> Command
  ) {
    self.name = name
    self.family = family
    self.summary = summary
    self.details = details
    self.parameters = parameters
    self.waiting = waiting
    self.right = right
    self.asks = asks
    self.replyFields = replyFields
    self.rowFields = rowFields
    self.errors = errors.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    self.example = example
    self.build = build
  }

  /// The command with its parameters in the words form: `seek TIME [fast] [before=TIME] ...`.
  public var synopsis: String { ([name.rawValue] + parameters.map(\.synopsis)).joined(separator: " ") }

  /// The parameter of that name.
  public func parameter(_ name: ParameterName) -> ParameterSpec? { parameters.first { $0.name == name } }
}
