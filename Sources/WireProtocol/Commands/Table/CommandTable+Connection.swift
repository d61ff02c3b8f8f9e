import MediaCore

extension CommandTable {
  /// Commands about the connection itself.
  static let connection: [CommandSpec] = [
    CommandSpec(
      .hello, .connection, "Request a protocol version, drop rights, or show the rights.",
      details: """
        Optional. A version that the daemon does not support is an error. The reply lists the rights of the connection.

        `rights` drops all other rights until the connection ends. A waiting request that needs a dropped right fails \
        with `not-allowed`. Without `read`, all subscriptions end, and `hello`, `ping`, `help`, `cancel` and `bye` fail, \
        too.
        """,
      parameters: [
        ParameterSpec(.protocol, .integer(1...Int.max), .option, "VERSION", "the version that the client requests"),
        ParameterSpec(
          .rights, .texts(maximumByteCount: 64, separator: .comma), .option, "RIGHT,...",
          "the rights to keep: `read`, `control`, `write`, `administer`"),
      ],
      right: .read, reply: [.protocol, .daemonVersion, .instance, .rights], errors: [.invalidArgument, .notAllowed],
      example: [
        "> hello protocol=1",
        "< ok protocol=1 version=0.1.0 instance=9f86d081884c7d65 rights=read,control,write,administer",
      ]
    ) { arguments throws(MediaError) in
      .connection(.hello(protocolVersion: arguments.integer(.protocol), rights: try rights(arguments)))
    },
    CommandSpec(
      .ping, .connection, "Check that the daemon replies, and show its clock.",
      details: """
        Replies keep their order: every earlier request has been processed. `now` is the time of the reply, on the \
        clock of `hostTime`. A client on another host estimates the offset of its own clock from it (*Clocks*).
        """,
      right: .read, reply: [.now], example: ["> @a ping", "< @a ok now=5012.25"]
    ) { _ throws(MediaError) in .connection(.ping) },
    CommandSpec(
      .help, .connection, "List the commands, or explain one.",
      details: """
        Without COMMAND, the reply has a row for each command. With COMMAND, it has these rows:

        - a row for the command (`command synopsis family right summary`, and further fields)
        - a row for each parameter (`parameter takes summary`)
        - for `observe`, a row for each key (`key summary`)
        """,
      parameters: [ParameterSpec(.command, .commandName, .optional, "COMMAND", "the command to explain")],
      right: .read,
      rows: [
        .command.optional, .parameter.optional, .key.optional, .synopsis.optional, .family.optional, .right.optional,
        .takes.optional, .summary, .details.optional,
        .reply.optional,
      ], errors: [.unknownCommand],
      example: [
        "> help clear",
        "< | command=clear synopsis=\"clear [if-version=VERSION] [player=NAME]\" family=Queue right=control"
          + " summary=\"Clear the queue.\" details=\"Playback ends, and the rate stays. The history is cleared.\""
          + " reply=[version],[pending]",
        "< | parameter=if-version takes=\"a whole number of at least 0\" summary=\"only if the queue has this version\"",
        "< | parameter=player takes=\"1 to 64 characters of A-Z a-z 0-9 . _ -\" summary=\"which player; default: `main`\"",
        "< ok",
      ]
    ) { arguments throws(MediaError) in .connection(.help(arguments.command(.command))) },
    CommandSpec(
      .stats, .connection, "Show the daemon's counters, sandbox and workers.",
      details: """
        - `noNewPrivileges` is true if no program that the daemon executes gains privileges.
        - `landlock` is `active` if the kernel restricts the daemon's access to files. It is `off` if \
        `sandbox.landlock` is false, and `unavailable` if the kernel has no Landlock.
        - `landlockVersion` is the version of Landlock's interface in use, or 0 unless Landlock is active.
        - `isolation` is the work of the worker processes. With `opening` they open files and read tags. With \
        `playback` they also decode the audio that plays. With `none` there are no workers.
        - `workers` is the number of worker processes.
        - `workerCrashes` is the number of worker processes that crashed on a file.

        Later versions may add fields. Clients must ignore unknown fields.
        """,
      right: .read,
      reply: [
        .daemonVersion, .uptime, .connections, .requests, .errors, .events, .dropped, .instance, .seqOfLastEvent,
        .isolation, .workers, .workerCrashes, .noNewPrivileges, .landlock, .landlockVersion,
      ],
      example: [
        "> stats",
        "< ok version=0.1.0 uptime=12.5 connections=1 requests=4 errors=0 events=0 dropped=0"
          + " instance=9f86d081884c7d65 seq=0 isolation=opening workers=1 workerCrashes=0 noNewPrivileges=true"
          + " landlock=active landlockVersion=7",
      ]
    ) { _ throws(MediaError) in .connection(.stats) },
    CommandSpec(
      .rpcDiscover, .connection, "Return the OpenRPC description of the protocol.",
      details:
        "The OpenRPC document describes all commands with the types of their parameters and fields, and all errors."
        + " Its member `x-asyncapi` is an AsyncAPI document that describes all events. `playheadd --protocol` prints"
        + " the same document. In the text form, the fields are JSON texts.",
      right: .read,
      reply: [.openrpcVersion, .apiInformation, .apiMethods, .apiComponents, .apiEvents],
      example: ["> rpc.discover", "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}"]
    ) { _ throws(MediaError) in .connection(.discover) },
    CommandSpec(
      .cancel, .connection, "Cancel a waiting request of this connection.",
      details: """
        The cancelled request fails with `cancelled`, and its reply comes before this one. Changes that the request \
        has made stay. The error `no-such-request` means that the reply has already been sent.

        - ID is the id without its `@` in the text form, and the string or number of the request in JSON.
        - Only requests with an id can be cancelled, because a request without an id delays all later ones.
        - Requests of other connections cannot be cancelled.
        - The work of a `scan`, `waveform`, `export` or `image` ends with its request.
        - A seek, a preroll or the loading of an asset may continue. `seek.cancel`, `preroll.cancel` and \
        `asset.cancel` end it.
        """,
      parameters: [ParameterSpec(.id, .requestID, .required, "ID", "the id of the request")],
      right: .read, errors: [.noSuchRequest],
      example: ["> cancel w", "< ok"]
    ) { arguments throws(MediaError) in
      .connection(.cancel(try arguments.required(.id, arguments.requestID(.id))))
    },
    CommandSpec(
      .configReload, .connection, "Read the configuration again.",
      details: """
        The signal SIGHUP has the same effect.

        - `changed` lists the options with new values.
        - `restart` lists the options whose new values take effect at the next start. Roots and a `network.ca-file` \
        are among them if they are outside the sandbox of the running daemon.
        - An invalid file changes nothing. The message lists its errors, each after `FILE:LINE:COLUMN`.
        """,
      waiting: .always, right: .administer, reply: [.changed, .restart],
      errors: [.wrongConfiguration, .notAllowed],
      example: [
        "> config.reload", "< ok changed=roots.read,limits.players restart=output.device", "> config.reload",
        "< error code=1015 name=wrong-configuration message=\"/etc/playheadd.toml:2:11: limits.players: 0 is out of range (it takes a"
          + " whole number from 1 to 1024)\" operation=config.reload",
      ]
    ) { _ throws(MediaError) in .connection(.reloadConfiguration) },
    CommandSpec(
      .bye, .connection, "Close the connection after the reply.",
      details: "Waiting requests of this connection fail with `cancelled` first.", right: .read,
      example: ["> bye", "< ok"]
    ) { _ throws(MediaError) in .connection(.bye) },
  ]

  /// The rights that `hello` keeps; nil: all.
  private static func rights(_ arguments: ParsedArguments) throws(MediaError) -> Rights? {
    guard let text = arguments.text(.rights) else { return nil }
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard let rights = Rights(names: names) else {
      throw arguments.failure(
        "rights must be some of \(Rights.all.names.joined(separator: ", ")), separated by commas"
          + " (got \(Excerpt.quoted(Array(text.utf8)[...])))")
    }
    return rights
  }
}
