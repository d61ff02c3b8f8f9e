import PlayheadMediaCore

/// The fields of the replies of the commands about the connection, which other replies and events also have.
extension FieldKey<String> {
  static var command: Self { Self("command", "the name of the command") }
  static var daemonVersion: Self { Self("version", "the version of the daemon") }
  static var details: Self { Self("details", "the details of the command") }
  static var instance: Self { Self("instance", "the id of this run of the daemon") }
  static var isolation: Self {
    Self(
      "isolation", words: ["none", "opening", "playback"],
      "the work of the worker processes: `opening` (open files, read tags), `playback` (also decode), or `none`")
  }
  static var key: Self { Self("key", "the key of the observed value, of the asset's value or of the tag") }
  static var landlock: Self {
    Self(
      "landlock", words: ["active", "off", "unavailable"], "whether the kernel restricts the daemon's access to files")
  }
  static var openrpcVersion: Self { Self("openrpc", "the version of OpenRPC") }
  static var parameter: Self { Self("parameter", "the name of the parameter") }
  static var summary: Self { Self("summary", "a short description of the command, parameter or key") }
  static var synopsis: Self { Self("synopsis", "the command with its parameters") }
  static var takes: Self { Self("takes", "the values that the parameter accepts") }
}

extension FieldKey<CommandSpec.Family> {
  static var family: Self { Self("family", "the family of the command") }
}

extension FieldKey<[String]> {
  static var changed: Self { Self("changed", "the options that have new values") }
  static var reply: Self {
    Self("reply", "the fields of the reply: `[FIELD]` may be absent, `FIELD?` may be `none`")
  }
  static var restart: Self {
    Self("restart", "the options whose new values take effect at the next start of the daemon")
  }
  static var right: Self { Self("right", "the rights that the command needs") }
  static var rights: Self {
    Self("rights", words: Rights.named.map(\.name), "the rights of the connection")
  }
}

extension FieldKey<Int> {
  static var connections: Self { Self("connections", "the number of open connections") }
  static var landlockVersion: Self {
    Self("landlockVersion", "the version of Landlock's interface in use; 0 unless `landlock` is `active`")
  }
  static var `protocol`: Self { Self("protocol", "the version of the protocol") }
  static var workerCrashes: Self {
    Self("workerCrashes", "the number of worker processes that crashed on a file")
  }
  static var workers: Self { Self("workers", "the number of worker processes") }
}

extension FieldKey<UInt64> {
  static var dropped: Self {
    Self("dropped", "the number of events that were lost because a client did not read in time")
  }
  static var errors: Self {
    Self("errors", "the number of replies with an error since the start of the daemon")
  }
  static var events: Self { Self("events", "the number of sent events since the start of the daemon") }
  static var requests: Self { Self("requests", "the number of requests so far") }
  static var seqOfLastEvent: Self {
    Self("seq", "the number of the last event so far, from which `events` can continue")
  }
}

extension FieldKey<Bool> {
  static var noNewPrivileges: Self {
    Self("noNewPrivileges", "whether no program that the daemon executes gains privileges")
  }
}

extension FieldKey<HostTime> {
  static var now: Self {
    Self("now", "the time of the daemon's clock, in seconds of CLOCK_MONOTONIC; a virtual clock starts at 0")
  }
}

extension FieldKey<MediaTime> {
  static var uptime: Self { Self(time: "uptime", "the time since the daemon started") }
}

extension FieldKey<JSONValue> {
  static var apiComponents: Self { Self(object: "components", "the types and errors that commands share") }
  static var apiEvents: Self { Self(object: "x-asyncapi", "the events, as an AsyncAPI document") }
  static var apiInformation: Self { Self(object: "info", "the title and the version of the protocol") }
  static var apiMethods: Self { Self(objects: "methods", "the commands") }
}
