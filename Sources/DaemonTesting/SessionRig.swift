import RigSupport

/// A sound server with one of PulseAudio's role modules, a daemon that plays to it, and two connections. One sends
/// requests, the other receives events.
package struct SessionRig {
  package let server: PulseServer
  package let daemon: TestDaemon
  package let client: WireClient
  package let watcher: WireClient

  package init(
    _ module: String = "module-role-cork", _ arguments: String..., folder: TemporaryDirectory? = nil
  ) throws {
    server = try PulseServer()
    try server.loadModule(module)
    let folder = try folder ?? TemporaryDirectory("daemon")
    daemon = try TestDaemon(
      ["--output", "pulse:\(server.sinkName)", "--pulse-server", server.address, "--write-root", folder.path]
        + arguments,
      folder: folder)
    client = try daemon.connect()
    watcher = try daemon.connect()
    try watcher.reply("observe output.state session.events session.isInterrupted player.reasonForWaitingToPlay")
    try wait { field("key", $0) == "output.state" && field("new", $0) == "ready" }
  }

  /// Waits for the next event that matches.
  @discardableResult
  package func wait(_ matches: (String) -> Bool) throws -> String {
    while let line = try watcher.line() { if matches(line) { return line } }
    throw RigError.programFailed("the daemon closed the connection")
  }

  /// Waits for the event `interruption` with this phase.
  @discardableResult
  package func interruption(_ phase: String) throws -> String {
    try wait { $0.hasPrefix("* interruption ") && field("phase", $0) == phase }
  }

  /// Plays time-coded file 1 from its start. Returns the position in the capture of the first
  /// frame at or after 12,000.
  package func play(seconds: Int = 60) throws -> Int {
    let path = daemon.folder.file("1.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000 * seconds)
    try client.reply("load \(path) wait=ready")
    try client.reply("play")
    return try server.capture.waitForCode(file: 1, index: 12_000)
  }
}
