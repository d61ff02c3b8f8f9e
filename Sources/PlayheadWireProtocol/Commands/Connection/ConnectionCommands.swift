import PlayheadMediaCore

/// Commands about the connection itself.
package typealias ConnectionCommands = CommandList<
  HelloCommand, PingCommand, HelpCommand, StatsCommand, DiscoverCommand, CancelCommand, ConfigReloadCommand, ByeCommand
>

/// `hello`: requests a protocol version, drops rights, or shows the rights.
package enum HelloCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// Nil: any.
    package let version: Parameter<Int?>
    /// The names of the rights to keep, checked. Nil: all.
    package let rights: Parameter<[String]?>

    package init(_ list: inout ParameterListBuilder) {
      version = list.option(.protocol, .integer(1...Int.max), "VERSION", "the version that the client requests")
      rights = list.option(
        .rights, .texts(maximumByteCount: 64, omittingEmpty: false), "RIGHT,...",
        "the rights to keep: `read`, `control`, `write`, `administer`")
    }
  }

  package struct Reply: ReplyFields {
    package var version: Int
    package var daemonVersion: String
    package var instance: String
    package var rights: Rights

    package init(version: Int, daemonVersion: String, instance: String, rights: Rights) {
      (self.version, self.daemonVersion, self.instance, self.rights) = (version, daemonVersion, instance, rights)
    }

    package static let fields: [Field<Self>] = [
      Field(.protocol) { $0.version }, Field(.daemonVersion) { $0.daemonVersion },
      Field(.instance) { $0.instance }, Field(.rights) { $0.rights.names },
    ]
  }

  package static let name: CommandName = "hello"

  package static let definition = CommandDefinition<Self>(
    .connection, "Request a protocol version, drop rights, or show the rights.",
    details: """
      Optional. A version that the daemon does not support is an error. The reply lists the rights of the connection.

      `rights` drops all other rights until the connection ends. A waiting request that needs a dropped right fails \
      with `not-allowed`. Without `read`, all subscriptions end, and `hello`, `ping`, `help`, `cancel` and `bye` fail, \
      too.
      """,
    right: .read, errors: [.invalidArgument, .notAllowed],
    example: [
      "> hello protocol=1",
      "< ok protocol=1 version=0.1.0 instance=9f86d081884c7d65 rights=read,control,write,administer",
    ])

  package static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard let names = arguments.rights, Rights(names: names) == nil else { return }
    throw arguments.failure(
      "rights must be some of \(Rights.all.names.joined(separator: ", ")), separated by commas"
        + " (got \(Excerpt.quoted(names.joined(separator: ","))))")
  }
}

/// `ping`: shows that the daemon replies, and its clock.
package enum PingCommand: ImmediateCommand {
  package struct Reply: ReplyFields {
    package var now: HostTime

    package init(now: HostTime) { self.now = now }

    package static let fields: [Field<Self>] = [Field(.now) { $0.now }]
  }

  package static let name: CommandName = "ping"

  package static let definition = CommandDefinition<Self>(
    .connection, "Check that the daemon replies, and show its clock.",
    details: """
      Replies keep their order: every earlier request has been processed. `now` is the time of the reply, on the \
      clock of `hostTime`. A client on another host estimates the offset of its own clock from it (*Clocks*).
      """,
    right: .read, example: ["> @a ping", "< @a ok now=5012.25"])
}

/// `stats`: shows the counters, the sandbox and the workers of the daemon.
package enum StatsCommand: ImmediateCommand {
  package struct Reply: ReplyFields {
    package var daemonVersion: String
    /// The time since the start of the daemon, in seconds.
    package var uptime: MediaTime
    package var connections: Int
    package var requests: UInt64
    package var errors: UInt64
    package var events: UInt64
    /// The number of events that slow clients did not get.
    package var dropped: UInt64
    package var instance: String
    /// The number of the newest event.
    package var lastEvent: UInt64
    /// `opening`, `playback` or `none`.
    package var isolation: String
    package var workers: Int
    package var workerCrashes: Int
    package var noNewPrivileges: Bool
    /// `active`, `off` or `unavailable`.
    package var landlock: String
    /// The version of Landlock's interface, or 0 unless Landlock is active.
    package var landlockVersion: Int

    package init(
      daemonVersion: String, uptime: MediaTime, connections: Int, requests: UInt64, errors: UInt64, events: UInt64,
      dropped: UInt64, instance: String, lastEvent: UInt64, isolation: String, workers: Int, workerCrashes: Int,
      noNewPrivileges: Bool, landlock: String, landlockVersion: Int
    ) {
      (self.daemonVersion, self.uptime, self.connections) = (daemonVersion, uptime, connections)
      (self.requests, self.errors, self.events, self.dropped) = (requests, errors, events, dropped)
      (self.instance, self.lastEvent) = (instance, lastEvent)
      (self.isolation, self.workers, self.workerCrashes) = (isolation, workers, workerCrashes)
      (self.noNewPrivileges, self.landlock, self.landlockVersion) = (noNewPrivileges, landlock, landlockVersion)
    }

    package static let fields: [Field<Self>] = [
      Field(.daemonVersion) { $0.daemonVersion }, Field(.uptime) { $0.uptime },
      Field(.connections) { $0.connections }, Field(.requests) { $0.requests }, Field(.errors) { $0.errors },
      Field(.events) { $0.events }, Field(.dropped) { $0.dropped }, Field(.instance) { $0.instance },
      Field(.seqOfLastEvent) { $0.lastEvent }, Field(.isolation) { $0.isolation }, Field(.workers) { $0.workers },
      Field(.workerCrashes) { $0.workerCrashes }, Field(.noNewPrivileges) { $0.noNewPrivileges },
      Field(.landlock) { $0.landlock }, Field(.landlockVersion) { $0.landlockVersion },
    ]
  }

  package static let name: CommandName = "stats"

  package static let definition = CommandDefinition<Self>(
    .connection, "Show the daemon's counters, sandbox and workers.",
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
    example: [
      "> stats",
      "< ok version=0.1.0 uptime=12.5 connections=1 requests=4 errors=0 events=0 dropped=0"
        + " instance=9f86d081884c7d65 seq=0 isolation=opening workers=1 workerCrashes=0 noNewPrivileges=true"
        + " landlock=active landlockVersion=7",
    ])
}

/// `rpc.discover`: returns the description of the protocol.
package enum DiscoverCommand: ImmediateCommand {
  package struct Reply: ReplyFields {
    /// An OpenRPC document.
    package var document: JSONValue

    package init(document: JSONValue) { self.document = document }

    private func member(_ name: String) -> JSONValue { document[name] ?? .null }

    private var version: String { if case .string(let text)? = document["openrpc"] { text } else { "" } }

    package static let fields: [Field<Self>] = [
      Field(.openrpcVersion) { $0.version },
      Field(.apiInformation) { $0.member("info") }, Field(.apiMethods) { $0.member("methods") },
      Field(.apiComponents) { $0.member("components") }, Field(.apiEvents) { $0.member("x-asyncapi") },
    ]
  }

  package static let name: CommandName = "rpc.discover"

  package static let definition = CommandDefinition<Self>(
    .connection, "Return the OpenRPC description of the protocol.",
    details:
      "The OpenRPC document describes all commands with the types of their parameters and fields, and all errors."
      + " Its member `x-asyncapi` is an AsyncAPI document that describes all events. `playheadd --protocol` prints"
      + " the same document. In the text form, the fields are JSON texts.",
    right: .read,
    example: ["> rpc.discover", "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}"])
}

/// `cancel`: cancels a waiting request of the same connection.
package enum CancelCommand: ImmediateCommand {
  package struct Parameters: ParameterList {
    /// In the same form as the id of the waiting request.
    package let id: Parameter<RequestID>

    package init(_ list: inout ParameterListBuilder) {
      id = list.required(.id, .requestID, "ID", "the id of the request")
    }
  }

  package static let name: CommandName = "cancel"

  package static let definition = CommandDefinition<Self>(
    .connection, "Cancel a waiting request of this connection.",
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
    right: .read, errors: [.noSuchRequest], example: ["> cancel w", "< ok"])
}

/// `config.reload`: reads the configuration again.
package enum ConfigReloadCommand: WaitingCommand {
  package struct Reply: ReplyFields {
    /// The options that have new values.
    package var changed: [String]
    /// The options whose new values take effect at the next start.
    package var restart: [String]

    package init(changed: [String], restart: [String]) { (self.changed, self.restart) = (changed, restart) }

    package static let fields: [Field<Self>] = [Field(.changed) { $0.changed }, Field(.restart) { $0.restart }]
  }

  package static let name: CommandName = "config.reload"

  package static let definition = CommandDefinition<Self>(
    .connection, "Read the configuration again.",
    details: """
      The signal SIGHUP has the same effect.

      - `changed` lists the options with new values.
      - `restart` lists the options whose new values take effect at the next start. Roots and a `network.ca-file` \
      are among them if they are outside the sandbox of the running daemon.
      - An invalid file changes nothing. The message lists its errors, each after `FILE:LINE:COLUMN`.
      """,
    right: .administer, errors: [.wrongConfiguration, .notAllowed],
    example: [
      "> config.reload", "< ok changed=roots.read,limits.players restart=output.device", "> config.reload",
      "< error code=1015 name=wrong-configuration message=\"/etc/playheadd.toml:2:11: limits.players: 0 is out of range (it takes a"
        + " whole number from 1 to 1024)\" operation=config.reload",
    ])
}

/// `bye`: closes the connection after the reply.
package enum ByeCommand: ImmediateCommand {
  package static let name: CommandName = "bye"

  package static let definition = CommandDefinition<Self>(
    .connection, "Close the connection after the reply.",
    details: "Waiting requests of this connection fail with `cancelled` first.", right: .read,
    example: ["> bye", "< ok"])
}
