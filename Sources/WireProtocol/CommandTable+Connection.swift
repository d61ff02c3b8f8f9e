import MediaCore

extension CommandTable {
  /// Commands about the connection itself.
  static let connection: [CommandSpec] = [
    CommandSpec(
      .hello, .connection, "Says which version of the protocol the client speaks.",
      details:
        "Not needed; who says a version that the daemon does not speak gets an error instead of surprises later."
        + " `rights` is what this connection may have done.",
      parameters: [
        ParameterSpec(.protocol, .integer(1...Int.max), .option, "VERSION", "the version that the client wants")
      ],
      right: .read, reply: ["protocol", "version", "instance", "rights"], errors: [.invalidArgument],
      example: [
        "> hello protocol=1",
        "< ok protocol=1 version=0.1.0 instance=9f86d081884c7d65 rights=read,control,write,administer",
      ]
    ) { arguments throws(MediaError) in
      .connection(.hello(protocolVersion: arguments.integer(.protocol)))
    },
    CommandSpec(
      .ping, .connection, "Answers ok.",
      details: "Because replies keep their order, everything sent before has been taken.",
      right: .read, example: ["> @a ping", "< @a ok"]
    ) { _ throws(MediaError) in .connection(.ping) },
    CommandSpec(
      .help, .connection, "Lists the commands, or explains one.",
      details:
        "Without an argument a row for each command. With one a row for the command (`command synopsis family"
        + " right summary` and what"
        + " else is known of it), and then one for each of its parameters (`parameter takes summary`).",
      parameters: [ParameterSpec(.command, .commandName, .optional, "COMMAND", "the command to explain")],
      right: .read,
      rows: [
        "[command]", "[parameter]", "[key]", "[synopsis]", "[family]", "[right]", "[takes]", "summary", "[details]",
        "[reply]",
      ], errors: [.unknownCommand],
      example: [
        "> help clear",
        "< | command=clear synopsis=\"clear [if-version=VERSION] [player=NAME]\" family=Queue right=control summary=\"Empties the"
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
      .stats, .connection, "Gives the daemon's counters, its sandbox and its workers.",
      details:
        "`noNewPrivileges` is true when no program that the daemon executes gains privileges. `landlock` is `active` when the kernel restricts"
        + " the daemon's access to files, `off` when `sandbox.landlock` is false, and `unavailable` when the kernel has no Landlock."
        + " `landlockVersion` is the version of Landlock's interface in use, 0 unless Landlock is active. `isolation` is `opening` where"
        + " worker processes open files and read tags, `playback` where they also decode what plays, or `none`. `workers` is the number of worker processes; `workerCrashes` counts those"
        + " that a file crashed. Further fields may be added; a client ignores fields that it does not know.",
      right: .read,
      reply: [
        "version", "uptime", "connections", "requests", "errors", "events", "dropped", "instance", "seq", "isolation",
        "workers", "workerCrashes", "noNewPrivileges", "landlock", "landlockVersion",
      ],
      example: [
        "> stats",
        "< ok version=0.1.0 uptime=12.5 connections=1 requests=4 errors=0 events=0 dropped=0"
          + " instance=9f86d081884c7d65 seq=0 isolation=opening workers=1 workerCrashes=0 noNewPrivileges=true"
          + " landlock=active landlockVersion=7",
      ]
    ) { _ throws(MediaError) in .connection(.stats) },
    CommandSpec(
      .cancel, .connection, "Ends a waiting request of this connection.",
      details:
        "That request is answered with `cancelled`, before this one is. Any that waits can be ended, not those of other connections."
        + " The work of a `scan`, `waveform`, `export` or `image` ends with its request. A seek, a preroll or the loading of an asset"
        + " may continue: `seek.cancel`, `preroll.cancel` and `asset.cancel` end it. A change that was made stays. In words ID is an id of the words form, without its `@`; in JSON a string or a number, as the"
        + " request has it. A request without an id holds up this one, so that only those with one can be ended. One that is answered"
        + " already is `no-such-request`: the answer is on its way.",
      parameters: [ParameterSpec(.id, .requestID, .required, "ID", "the id of the request")],
      right: .read, errors: [.noSuchRequest],
      example: ["> cancel w", "< ok"]
    ) { arguments throws(MediaError) in
      .connection(.cancel(try arguments.required(.id, arguments.requestID(.id))))
    },
    CommandSpec(
      .configReload, .connection, "Has the daemon read its configuration again.",
      details:
        "As SIGHUP does. `changed` lists the options with new values, `restart` the options whose new values take effect at the next start:"
        + " also roots and a `network.ca-file` outside the sandbox of the running daemon. Of a file that is wrong nothing is taken: the message says what is wrong and where, `FILE:LINE:COLUMN`"
        + " before each fault. A waiting request.",
      waiting: .always, right: .administer, reply: ["changed", "restart"],
      errors: [.wrongConfiguration, .notAllowed],
      example: [
        "> config.reload", "< ok changed=roots.read,limits.players restart=output.device", "> config.reload",
        "< error code=1015 name=wrong-configuration message=\"/etc/playheadd.toml:2:11: limits.players: 0 is out of range (it takes a"
          + " whole number from 1 to 1024)\" operation=config.reload",
      ]
    ) { _ throws(MediaError) in .connection(.reloadConfiguration) },
    CommandSpec(
      .bye, .connection, "Ends the connection after the reply.",
      details: "Waiting requests of this connection are answered with `cancelled` first.", right: .read,
      example: ["> bye", "< ok"]
    ) { _ throws(MediaError) in .connection(.bye) },
  ]
}
