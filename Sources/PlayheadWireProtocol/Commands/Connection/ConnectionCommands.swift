import PlayheadMediaCore

/// Commands about the connection itself.
public typealias ConnectionCommands = CommandList<
  HelloCommand, PingCommand, HelpCommand, StatsCommand, DiscoverCommand, CancelCommand, ConfigReloadCommand, ByeCommand
>

/// `hello`: requests a protocol version, drops rights, or shows the rights.
public enum HelloCommand: ImmediateCommand {
  public struct Parameters: ParameterList {
    /// Nil: any.
    public let version: Parameter<Int?>
    /// The names of the rights to keep, checked. Nil: all.
    public let rights: Parameter<[String]?>

    public init(_ list: inout ParameterListBuilder) {
      version = list.option(.protocol, .integer(1...Int.max), "VERSION", "the version that the client requests")
      rights = list.option(
        .rights, .texts(maximumByteCount: 64, omittingEmpty: false), "RIGHT,...",
        "the rights to keep: `read`, `control`, `write`, `administer`")
    }
  }

  public struct Reply: ReplyFields {
    public var version: Int
    public var daemonVersion: String
    public var instance: String
    public var rights: Rights

    public init(version: Int, daemonVersion: String, instance: String, rights: Rights) {
      (self.version, self.daemonVersion, self.instance, self.rights) = (version, daemonVersion, instance, rights)
    }

    public static let fields: [Field<Self>] = [
      Field(.protocol) { $0.version }, Field(.daemonVersion) { $0.daemonVersion },
      Field(.instance) { $0.instance }, Field(.rights) { $0.rights.names },
    ]
  }

  public static let name: CommandName = "hello"

  public static let definition = CommandDefinition<Self>(
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

  public static func check(_ arguments: Arguments<Self>) throws(MediaError) {
    guard let names = arguments.rights, Rights(names: names) == nil else { return }
    throw arguments.failure(
      "rights must be some of \(Rights.all.names.joined(separator: ", ")), separated by commas"
        + " (got \(Excerpt.quoted(names.joined(separator: ","))))")
  }
}

/// `ping`: shows that the daemon replies, and its clock.
public enum PingCommand: ImmediateCommand {
  public struct Reply: ReplyFields {
    public var now: HostTime

    public init(now: HostTime) { self.now = now }

    public static let fields: [Field<Self>] = [Field(.now) { $0.now }]
  }

  public static let name: CommandName = "ping"

  public static let definition = CommandDefinition<Self>(
    .connection, "Check that the daemon replies, and show its clock.",
    details: """
      Replies keep their order: every earlier request has been processed. `now` is the time of the reply, on the \
      clock of `hostTime`. A client on another host estimates the offset of its own clock from it (*Clocks*).
      """,
    right: .read, example: ["> @a ping", "< @a ok now=5012.25"])
}

/// `stats`: shows the counters, the sandbox and the workers of the daemon.
public enum StatsCommand: ImmediateCommand {
  public struct Reply: ReplyFields {
    public var daemonVersion: String
    /// The time since the start of the daemon, in seconds.
    public var uptime: MediaTime
    public var connections: Int
    public var requests: UInt64
    public var errors: UInt64
    public var events: UInt64
    /// The number of events that slow clients did not get.
    public var dropped: UInt64
    public var instance: String
    /// The number of the newest event.
    public var lastEvent: UInt64
    /// `opening`, `playback` or `none`.
    public var isolation: String
    public var workers: Int
    public var workerCrashes: Int
    public var noNewPrivileges: Bool
    /// `active`, `off` or `unavailable`.
    public var landlock: String
    /// The version of Landlock's interface, or 0 unless Landlock is active.
    public var landlockVersion: Int

    public init(
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

    public static let fields: [Field<Self>] = [
      Field(.daemonVersion) { $0.daemonVersion }, Field(.uptime) { $0.uptime },
      Field(.connections) { $0.connections }, Field(.requests) { $0.requests }, Field(.errors) { $0.errors },
      Field(.events) { $0.events }, Field(.dropped) { $0.dropped }, Field(.instance) { $0.instance },
      Field(.seqOfLastEvent) { $0.lastEvent }, Field(.isolation) { $0.isolation }, Field(.workers) { $0.workers },
      Field(.workerCrashes) { $0.workerCrashes }, Field(.noNewPrivileges) { $0.noNewPrivileges },
      Field(.landlock) { $0.landlock }, Field(.landlockVersion) { $0.landlockVersion },
    ]
  }

  public static let name: CommandName = "stats"

  public static let definition = CommandDefinition<Self>(
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
public enum DiscoverCommand: ImmediateCommand {
  public struct Reply: ReplyFields {
    /// An OpenRPC document.
    public var document: JSONValue

    public init(document: JSONValue) { self.document = document }

    private func member(_ name: String) -> JSONValue { document[name] ?? .null }

    private var version: String { if case .string(let text)? = document["openrpc"] { text } else { "" } }

    public static let fields: [Field<Self>] = [
      Field(.openrpcVersion) { $0.version },
      Field(.apiInformation) { $0.member("info") }, Field(.apiMethods) { $0.member("methods") },
      Field(.apiComponents) { $0.member("components") }, Field(.apiEvents) { $0.member("x-asyncapi") },
    ]
  }

  public static let name: CommandName = "rpc.discover"

  public static let definition = CommandDefinition<Self>(
    .connection, "Return the OpenRPC description of the protocol.",
    details:
      "The OpenRPC document describes all commands with the types of their parameters and fields, and all errors."
      + " Its member `x-asyncapi` is an AsyncAPI document that describes all events. `playheadd --protocol` prints"
      + " the same document. In the text form, the fields are JSON texts.",
    right: .read,
    example: ["> rpc.discover", "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}"])
}

/// `cancel`: cancels a waiting request of the same connection.
public enum CancelCommand: ImmediateCommand {
  public struct Parameters: ParameterList {
    /// In the same form as the id of the waiting request.
    public let id: Parameter<RequestID>

    public init(_ list: inout ParameterListBuilder) {
      id = list.required(.id, .requestID, "ID", "the id of the request")
    }
  }

  public static let name: CommandName = "cancel"

  public static let definition = CommandDefinition<Self>(
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
public enum ConfigReloadCommand: WaitingCommand {
  public struct Reply: ReplyFields {
    /// The options that have new values.
    public var changed: [String]
    /// The options whose new values take effect at the next start.
    public var restart: [String]

    public init(changed: [String], restart: [String]) { (self.changed, self.restart) = (changed, restart) }

    public static let fields: [Field<Self>] = [Field(.changed) { $0.changed }, Field(.restart) { $0.restart }]
  }

  public static let name: CommandName = "config.reload"

  public static let definition = CommandDefinition<Self>(
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
public enum ByeCommand: ImmediateCommand {
  public static let name: CommandName = "bye"

  public static let definition = CommandDefinition<Self>(
    .connection, "Close the connection after the reply.",
    details: "Waiting requests of this connection fail with `cancelled` first.", right: .read,
    example: ["> bye", "< ok"])
}
