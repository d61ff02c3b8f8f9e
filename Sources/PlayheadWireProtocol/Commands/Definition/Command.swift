import PlayheadMediaCore

/// A command, defined once: everything about it except its handler.
///
/// A command is a type without values. The parser, both forms, `help`, completion and the documents use the erased
/// ``CommandSpec`` of its definition. A handler reads ``Arguments`` and returns a ``Reply``, both of them typed.
package protocol Command: SendableMetatype {
  associatedtype Parameters: ParameterList = NoParameters
  associatedtype Reply: ReplyFields = NoFields

  /// The name, the same in both forms.
  static var name: CommandName { get }

  /// The documentation, the right and the errors. Created when it is first used.
  static var definition: CommandDefinition<Self> { get }

  /// Whether the reply may come after the replies to later requests, for the documents.
  static var waiting: CommandSpec.Waiting { get }

  /// Whether the reply to this request may come after the replies to later requests.
  static func waits(_ arguments: Arguments<Self>) -> Bool

  /// Whether the daemon writes a file that it opens itself. Such a request also needs the right `write`.
  ///
  /// Default: false.
  static func writesFile(_ arguments: Arguments<Self>) -> Bool

  /// Checks the arguments for errors that involve several parameters, such as two that exclude each other.
  ///
  /// The parser calls it before the request is handled. Default: no check.
  ///
  /// - Throws: `bad-arguments`, or another error of the request.
  static func check(_ arguments: Arguments<Self>) throws(MediaError)
}

extension Command {
  package static func writesFile(_ arguments: Arguments<Self>) -> Bool { false }
  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {}
}

/// A command with an immediate reply.
package protocol ImmediateCommand: Command {}

extension ImmediateCommand {
  package static var waiting: CommandSpec.Waiting { .never }
  package static func waits(_ arguments: Arguments<Self>) -> Bool { false }
}

/// A command whose reply may come after the replies to later requests.
package protocol WaitingCommand: Command {}

extension WaitingCommand {
  package static var waiting: CommandSpec.Waiting { .always }
  package static func waits(_ arguments: Arguments<Self>) -> Bool { true }
}

/// A command whose reply comes immediately or later, depending on the request.
package protocol SometimesWaitingCommand: Command {}

/// The definition of a command: its documentation, its parameters, and the fields of its reply.
package struct CommandDefinition<Definition: Command>: Sendable {
  /// The definition without its types.
  package let spec: CommandSpec
  /// The parameters, which read their values from parsed arguments.
  package let parameters: Definition.Parameters

  /// Creates the definition of `Definition`.
  ///
  /// - Parameters:
  ///   - summary: One imperative sentence.
  ///   - details: Additional sentences for help and the reference.
  ///   - right: The right that a connection needs.
  ///   - readsWithoutValue: Whether a request without a value only reads. Such a request needs only the right `read`.
  ///   - errors: The errors that a client should expect. `CommandTable.requestErrors` may also occur.
  ///   - example: The lines of an example session. `> ` marks a request, `< ` marks output of the daemon.
  init(
    _ family: CommandSpec.Family, _ summary: String, details: String = "",
    right: Rights = .control, readsWithoutValue: Bool = false, errors: [MediaError.Code] = [], example: [String]
  ) {
    var list = ParameterListBuilder()
    parameters = Definition.Parameters(&list)
    let specs = list.specs
    spec = CommandSpec(
      Definition.name, family, summary, details: details, parameters: specs, waiting: Definition.waiting, right: right,
      readsWithoutValue: readsWithoutValue, reply: { Definition.Reply.fields.map(\.spec) },
      alternatives: Definition.Reply.alternatives, rows: Definition.Reply.rowFields, errors: errors, example: example,
      waits: { Definition.waits(Arguments(selected: $0)) },
      writesFile: { Definition.writesFile(Arguments(selected: $0)) },
      check: { parsed throws(MediaError) in try Definition.check(Arguments(selected: parsed)) })
  }
}
