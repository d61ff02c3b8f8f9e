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
      parameters: [ParameterSpec(.command, .commandName, .optional, "COMMAND", "the command to explain")],
      rows: ["command", "summary"], errors: [.unknownCommand],
      example: [
        "> help pause", "< | command=pause synopsis=\"pause [player=NAME]\" family=Playback summary=\"Pauses.\"",
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
