import PlayheadMediaCore

/// The definition of one command without its types: its parameters, and its documentation in help and the reference.
package final class CommandSpec: Sendable {
  /// The command families. Each has a page of the reference.
  package enum Family: String, Sendable, Hashable, CaseIterable {
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
  package enum Waiting: Sendable, Hashable {
    case never
    /// Only with `wait=ready`, or if a path is a playlist.
    case untilReady
    /// Only with `wait`.
    case ifRequested
    /// Only with `to`.
    case withRange
    case always
  }

  package let name: CommandName
  package let family: Family
  /// One sentence.
  package let summary: String
  package let waiting: Waiting
  /// The right that a connection needs for this command. A command that writes a file also needs `write`.
  package let right: Rights
  /// Whether a request without a value only reads. Such a request needs only the right `read`.
  package let readsWithoutValue: Bool
  /// Additional sentences for help and the reference. May be empty.
  package let details: String
  /// The positional parameters in their order, then the options.
  package let parameters: [ParameterSpec]
  /// The fields of the reply, in their order. Created when used: only documents need them.
  package var replyFields: [FieldSpec] { makeReplyFields() }
  private let makeReplyFields: @Sendable () -> [FieldSpec]
  /// Optional fields of the reply of which exactly one is present.
  package let alternativeFields: [String]
  /// The fields of each row, in their order. Nil for a command without rows.
  package let rowFields: [FieldSpec]?
  /// The errors that a client should expect, without duplicates. `CommandTable.requestErrors` may also occur.
  package let errors: [MediaError.Code]
  /// The lines of an example session. `> ` marks a request, `< ` marks output of the daemon.
  package let example: [String]
  /// ``Command/check(_:)``.
  let check: @Sendable (ParsedArguments) throws(MediaError) -> Void
  /// ``Command/waits(_:)``.
  let waits: @Sendable (ParsedArguments) -> Bool
  /// ``Command/writesFile(_:)``.
  let writesFile: @Sendable (ParsedArguments) -> Bool

  init(
    _ name: CommandName, _ family: Family, _ summary: String, details: String, parameters: [ParameterSpec],
    waiting: Waiting, right: Rights, readsWithoutValue: Bool,
    reply makeReplyFields: @escaping @Sendable () -> [FieldSpec],
    alternatives alternativeFields: [String], rows rowFields: [FieldSpec]?, errors: [MediaError.Code],
    example: [String],
    waits: @escaping @Sendable (ParsedArguments) -> Bool, writesFile: @escaping @Sendable (ParsedArguments) -> Bool,
    check: @escaping @Sendable (ParsedArguments) throws(MediaError) -> Void
  ) {
    (self.name, self.family, self.summary, self.details) = (name, family, summary, details)
    (self.parameters, self.makeReplyFields, self.rowFields) = (parameters, makeReplyFields, rowFields)
    self.alternativeFields = alternativeFields
    (self.waiting, self.right, self.readsWithoutValue) = (waiting, right, readsWithoutValue)
    (self.waits, self.writesFile, self.check) = (waits, writesFile, check)
    self.errors = errors.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    self.example = example
  }

  /// Whether the request contains paths, directly or within edits of the queue.
  package var takesPaths: Bool { parameters.contains { $0.kind.isPath || $0.kind == .edit } }

  /// The command with its parameters in the text form: `seek TIME [fast] [before=TIME] ...`.
  package var synopsis: String { ([name.rawValue] + parameters.map(\.synopsis)).joined(separator: " ") }

  /// The synopsis for messages, which fit a few lines of a terminal: if it has more than 120 bytes, `[OPTION]...`
  /// replaces the options.
  var shortSynopsis: String {
    guard synopsis.utf8.count > 120 else { return synopsis }
    let positional = parameters.filter { $0.position != .option }.map(\.synopsis)
    return ([name.rawValue] + positional + ["[OPTION]..."]).joined(separator: " ")
  }

  /// The parameter with this name.
  package func parameter(_ name: ParameterName) -> ParameterSpec? { parameters.first { $0.name == name } }
}
