import PlayheadWireProtocol

extension ArgumentCase {
  static let connection: [Self] = [
    Self("hello", HelloCommand.self) { $0.version == nil && $0.rights == nil },
    Self("hello protocol=1", HelloCommand.self) { $0.version == 1 },
    Self("hello rights=control,read", HelloCommand.self) { $0.rights == ["control", "read"] },
    Self("ping", PingCommand.self), Self("help", HelpCommand.self) { $0.command == nil },
    Self("help clock.advance", HelpCommand.self) { $0.command == "clock.advance" },
    Self("stats", StatsCommand.self), Self("rpc.discover", DiscoverCommand.self), Self("bye", ByeCommand.self),
    Self("cancel w.1", CancelCommand.self) { $0.id == .words("w.1") },
    Self("config.reload", ConfigReloadCommand.self),
  ]
}
