import Glibc

/// The location of a sound server's socket.
enum PulseServerAddress {
  /// Returns the path of the Unix socket of `server`, or of the user's default server if nil. The default is that of
  /// libpulse: `PULSE_SERVER`, `PULSE_RUNTIME_PATH/native`, `XDG_RUNTIME_DIR/pulse/native`. Nil when the server is not
  /// on a Unix socket or the path is unknown.
  static func socketPath(
    server: String?,
    environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
  ) -> String? {
    let named = server ?? environment("PULSE_SERVER")
    if let named, !named.isEmpty {
      // A list of addresses, each with an optional machine ID: `{id}unix:/path tcp:host`.
      for word in named.split(separator: " ") {
        let address = word.first == "{" ? word.drop { $0 != "}" }.dropFirst() : word
        if address.hasPrefix("unix:/") { return String(address.dropFirst(5)) }
        if address.hasPrefix("/") { return String(address) }
      }
      return nil
    }
    if let runtime = environment("PULSE_RUNTIME_PATH"), runtime.hasPrefix("/") {
      return "\(runtime)/native"
    }
    if let runtime = environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") {
      return "\(runtime)/pulse/native"
    }
    return nil
  }
}
