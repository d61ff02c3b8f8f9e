import PlayheadMediaCore

/// `help`: lists the commands, or explains one.
package enum HelpCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// The command to explain. Nil: the list of commands.
    package let command: Parameter<CommandName?>

    package init(_ list: inout ParameterListBuilder) {
      command = list.optional(.command, .commandName, "COMMAND", "the command to explain")
    }
  }

  /// A command, a parameter or an observable key.
  package struct Row: ReplyFields {
    /// The subject of the row.
    package enum Subject: Sendable {
      case command(CommandSpec, isWhole: Bool)
      case parameter(ParameterSpec)
      case key(ObservableKey)
    }

    package var subject: Subject

    package init(_ subject: Subject) { self.subject = subject }

    /// The explained command. Nil for other rows, and in the list of commands.
    private var command: CommandSpec? { if case .command(let spec, isWhole: true) = subject { spec } else { nil } }
    private var parameter: ParameterSpec? { if case .parameter(let spec) = subject { spec } else { nil } }
    private var key: ObservableKey? { if case .key(let key) = subject { key } else { nil } }

    private var commandName: String? {
      if case .command(let spec, _) = subject { spec.name.rawValue } else { nil }
    }

    private var summary: String {
      switch subject {
      case .command(let spec, _): spec.summary
      case .parameter(let spec): spec.summary
      case .key(let key): key.summary
      }
    }

    package static let fields: [Field<Self>] = [
      Field(optional: .command) { $0.commandName }, Field(optional: .parameter) { $0.parameter?.name.rawValue },
      Field(optional: .key) { $0.key?.rawValue }, Field(optional: .synopsis) { $0.command?.synopsis },
      Field(optional: .family) { $0.command?.family }, Field(optional: .right) { $0.command?.right.names },
      Field(optional: .takes) { $0.parameter?.kind.accepted }, Field(.summary) { $0.summary },
      Field(optional: .details) { $0.command.flatMap { $0.details.isEmpty ? nil : $0.details } },
      Field(optional: .reply) { $0.command.flatMap { $0.replyFields.isEmpty ? nil : $0.replyFields.map(\.notation) } },
    ]
  }

  package struct Reply: ReplyRows {
    package var rows: [Row]

    package static let fields: [Field<Self>] = []

    /// One row for each command, in the order of the table.
    package init() { rows = CommandTable.all.map { Row(.command($0, isWhole: false)) } }

    /// One row for the command, and one for each of its parameters and keys.
    package init(on spec: CommandSpec) {
      rows = [Row(.command(spec, isWhole: true))] + spec.parameters.map { Row(.parameter($0)) }
      if spec.name == ObserveCommand.name { rows += ObservableKey.allCases.map { Row(.key($0)) } }
    }
  }

  package static let name: CommandName = "help"

  package static let definition = CommandDefinition<Self>(
    .connection, "List the commands, or explain one.",
    details: """
      Without COMMAND, the reply has a row for each command. With COMMAND, it has these rows:

      - a row for the command (`command synopsis family right summary`, and further fields)
      - a row for each parameter (`parameter takes summary`)
      - for `observe`, a row for each key (`key summary`)
      """,
    right: .read, errors: [.unknownCommand],
    example: [
      "> help clear",
      "< | command=clear synopsis=\"clear [if-version=VERSION] [player=NAME]\" family=Queue right=control"
        + " summary=\"Clear the queue.\" details=\"Playback ends, and the rate stays. The history is cleared.\""
        + " reply=[version],[pending]",
      "< | parameter=if-version takes=\"a whole number of at least 0\" summary=\"only if the queue has this version\"",
      "< | parameter=player takes=\"1 to 64 characters of A-Z a-z 0-9 . _ -\" summary=\"which player; default: `main`\"",
      "< ok",
    ])
}
