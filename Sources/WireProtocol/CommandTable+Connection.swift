import MediaCore

extension CommandTable {
  /// Commands about the connection itself.
  static let connection: [CommandSpec] = [
    CommandSpec(
      .hello, .connection, "Says which version of the protocol the client speaks.",
      details:
        "Not needed; who says a version that the daemon does not speak gets an error instead of surprises later.",
      parameters: [
        ParameterSpec(.protocol, .integer(1...Int.max), .option, "VERSION", "the version that the client wants")
      ],
      reply: ["protocol", "version"], errors: [.invalidArgument],
      example: ["> hello protocol=1", "< ok protocol=1 version=0.1.0"]
    ) { arguments throws(MediaError) in
      .connection(.hello(protocolVersion: arguments.integer(.protocol)))
    },
    CommandSpec(
      .ping, .connection, "Answers ok.",
      details: "Because replies keep their order, everything sent before has been taken.",
      example: ["> @a ping", "< @a ok"]
    ) { _ throws(MediaError) in .connection(.ping) },
    CommandSpec(
      .help, .connection, "Lists the commands, or explains one.",
      details:
        "Without an argument a row for each command. With one a row for the command (`command synopsis family"
        + " summary` and what"
        + " else is known of it), and then one for each of its parameters (`parameter takes summary`).",
      parameters: [ParameterSpec(.command, .commandName, .optional, "COMMAND", "the command to explain")],
      rows: ["command", "summary"], errors: [.unknownCommand],
      example: [
        "> help clear",
        "< | command=clear synopsis=\"clear [if-version=VERSION] [player=NAME]\" family=Queue summary=\"Empties the"
          + " queue.\""
          + " details=\"What plays ends; the rate stays. What was played before is forgotten.\" reply=[version],[pending]",
        "< | parameter=if-version takes=\"a whole number from 0 on\" summary=\"do it only if the queue has this"
          + " version\"",
        "< | parameter=player takes=\"1 to 64 characters of A-Z a-z 0-9 . _ -\" summary=\"which player; `main` unless"
          + " said\"",
        "< ok",
      ]
    ) { arguments throws(MediaError) in .connection(.help(arguments.command(.command))) },
    CommandSpec(
      .stats, .connection, "Gives the daemon's counters.",
      details: "Which fields there are may grow; a client takes those that it knows.",
      reply: ["version", "uptime", "connections", "requests", "errors", "events", "dropped"],
      example: [
        "> stats",
        "< ok version=0.1.0 uptime=12.5 connections=1 requests=4 errors=0 events=0 dropped=0",
      ]
    ) { _ throws(MediaError) in .connection(.stats) },
    CommandSpec(
      .bye, .connection, "Ends the connection after the reply.",
      details: "Waiting requests of this connection are answered with `cancelled` first.", example: ["> bye", "< ok"]
    ) { _ throws(MediaError) in .connection(.bye) },
  ]
}
