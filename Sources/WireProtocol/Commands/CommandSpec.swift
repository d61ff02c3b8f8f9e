import MediaCore
import Synchronization

/// The definition of one command: its parameters, its construction from them, and its documentation in help and
/// the reference.
public final class CommandSpec: Sendable {
  /// The command families. Each has a page of the reference.
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

  /// Whether the reply may come after the replies to later requests.
  public enum Waiting: Sendable, Hashable {
    case never
    /// Only with `wait=ready`, or if a path is a playlist.
    case untilReady
    /// Only with `wait`.
    case ifRequested
    /// Only with `to`.
    case withRange
    case always
  }

  public let name: CommandName
  public let family: Family
  /// One sentence.
  public let summary: String
  public let waiting: Waiting
  /// The right that a connection needs for this command. A command that writes a file also needs `write`.
  public let right: Rights
  /// Whether a request without a value only reads. Such a request needs only the right `read`.
  public let readsWithoutValue: Bool
  /// Creates the command from the parsed arguments. Throws for errors that involve several parameters, such as two that
  /// exclude each other.
  let build: @Sendable (ParsedArguments) throws(MediaError) -> FamilyCommand
  /// ``Command/waits(_:)`` of a command that is defined as a type.
  let waits: @Sendable (ParsedArguments) -> Bool
  /// ``Command/writesFile(_:)`` of a command that is defined as a type.
  let writesFile: @Sendable (ParsedArguments) -> Bool

  /// The parts that are created when they are first used: one call of the client uses one or two commands.
  private let lazyContents = AtomicLazyReference<Contents>()
  private let createContents: @Sendable () -> Contents

  private final class Contents: Sendable {
    let details: String
    let parameters: [ParameterSpec]
    let replyFields: [FieldSpec]
    let rowFields: [FieldSpec]?
    let errors: [MediaError.Code]
    let example: [String]

    init(
      details: String, parameters: [ParameterSpec], replyFields: [FieldSpec], rowFields: [FieldSpec]?,
      errors: [MediaError.Code], example: [String]
    ) {
      (self.details, self.parameters, self.replyFields) = (details, parameters, replyFields)
      (self.rowFields, self.errors, self.example) = (rowFields, errors, example)
    }
  }

  init(
    _ name: CommandName, _ family: Family, _ summary: String,
    details: @autoclosure @escaping @Sendable () -> String = "",
    parameters: @autoclosure @escaping @Sendable () -> [ParameterSpec] = [],
    waiting: Waiting = .never, right: Rights = .control, readsWithoutValue: Bool = false,
    reply replyFields: @autoclosure @escaping @Sendable () -> [FieldSpec] = [],
    rows rowFields: @autoclosure @escaping @Sendable () -> [FieldSpec]? = nil,
    errors: @autoclosure @escaping @Sendable () -> [MediaError.Code] = [],
    example: @autoclosure @escaping @Sendable () -> [String],
    waits: @escaping @Sendable (ParsedArguments) -> Bool = { _ in false },
    writesFile: @escaping @Sendable (ParsedArguments) -> Bool = { _ in false },
    build: @escaping @Sendable (ParsedArguments) throws(MediaError) -> FamilyCommand
  ) {
    self.name = name
    self.family = family
    self.summary = summary
    self.waiting = waiting
    self.right = right
    self.readsWithoutValue = readsWithoutValue
    self.waits = waits
    self.writesFile = writesFile
    self.build = build
    createContents = {
      Contents(
        details: details(), parameters: parameters(), replyFields: replyFields(), rowFields: rowFields(),
        errors: errors().reduce(into: []) { if !$0.contains($1) { $0.append($1) } }, example: example())
    }
  }

  private var contents: Contents { lazyContents.load() ?? lazyContents.storeIfNil(createContents()) }

  /// Additional sentences for help and the reference. May be empty.
  public var details: String { contents.details }
  /// The positional parameters in their order, then the options.
  public var parameters: [ParameterSpec] { contents.parameters }
  /// Whether the request contains paths, directly or within edits of the queue.
  public var takesPaths: Bool { parameters.contains { $0.kind.isPath || $0.kind == .edit } }
  /// The fields of the reply, in their order.
  public var replyFields: [FieldSpec] { contents.replyFields }
  /// The fields of each row, in their order. Nil for a command without rows.
  public var rowFields: [FieldSpec]? { contents.rowFields }
  /// The errors that a client should expect, without duplicates. `CommandTable.requestErrors` may also occur.
  public var errors: [MediaError.Code] { contents.errors }
  /// The lines of an example session. `> ` marks a request, `< ` marks output of the daemon.
  public var example: [String] { contents.example }

  /// The command with its parameters in the text form: `seek TIME [fast] [before=TIME] ...`.
  public var synopsis: String { ([name.rawValue] + parameters.map(\.synopsis)).joined(separator: " ") }

  /// The parameter with this name.
  public func parameter(_ name: ParameterName) -> ParameterSpec? { parameters.first { $0.name == name } }
}
