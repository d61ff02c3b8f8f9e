import Glibc

/// A private sound server for a test, PulseAudio or PipeWire, with a device `rig` of which every frame is captured.
package protocol SoundServer: AnyObject {
  /// The value for `PulseSink.Configuration.server` or `PULSE_SERVER`: `unix:PATH`.
  var address: String { get }
  /// The server's XDG_RUNTIME_DIR, with mode 0700.
  var directory: String { get }
  /// The audio that `rig` has played.
  var capture: Capture { get }
  /// Additional arguments of this server's `module-pipe-sink`.
  var sinkOptions: String { get }

  /// Kills the server (SIGKILL), like a crash. The capture remains.
  func kill()
  /// Stops the server's processes (SIGSTOP); `resume` continues them.
  func suspend()
  func resume()
  /// Ends the server and its capture. Idempotent.
  func stop()
}

extension SoundServer {
  /// Runs `pactl` with this server.
  package func control(_ arguments: String...) throws {
    try ChildProcess.run(["pactl", "--server", address] + arguments)
  }

  /// Adds a device that plays into a pipe, 16-bit stereo, and captures its audio. The capture ends with the device.
  package func addSink(_ name: String, sampleRateHz: Int = 48_000) throws -> Capture {
    let pipe = "\(directory)/\(name).pipe"
    unlink(pipe)
    guard mkfifo(pipe, 0o600) == 0 else { throw RigError.system(call: "mkfifo \(pipe)", errno: errno) }
    let capture = try Capture(path: pipe, limitBytes: 64 << 20)
    let module =
      "module-pipe-sink file=\(pipe) sink_name=\(name) rate=\(sampleRateHz) format=s16le channels=2 \(sinkOptions)"
    do {
      try ChildProcess.run([
        "sh", "-c", "exec pactl --server '\(address)' load-module \(module) > '\(directory)/\(name).module'",
      ])
    } catch {
      capture.stop()
      throw error
    }
    return capture
  }

  /// Removes an added device.
  package func removeSink(_ name: String) throws {
    try ChildProcess.run([
      "sh", "-c", "exec pactl --server '\(address)' unload-module \"$(cat '\(directory)/\(name).module')\"",
    ])
  }

  /// Moves every stream to a device, as a user would in a mixer.
  package func moveStreams(to name: String) throws {
    // PipeWire's session manager drops a request for a device that it does not know yet. The request is repeated until
    // each stream plays to the device.
    let script = """
      sink=$(pactl list short sinks | awk -v name="$1" '$2 == name { print $1 }')
      for attempt in $(seq 200); do
        others=$(pactl list short sink-inputs | awk -v sink="$sink" '$2 != sink { print $1 }')
        [ -n "$others" ] || exit 0
        for number in $others; do pactl move-sink-input "$number" "$1" || exit 1; done
      done
      exit 1
      """
    try ChildProcess.run(["sh", "-c", script, "sh", name], environment: ["PULSE_SERVER": address])
  }
}

/// The kinds of sound servers in tests.
package enum SoundServerKind: String, CaseIterable, Sendable {
  case pulseAudio, pipeWire

  /// Starts a server, in an existing folder if `directory` is given.
  package func start(in directory: String? = nil) throws -> any SoundServer {
    switch self {
    case .pulseAudio: try PulseServer(directory: directory)
    case .pipeWire: try PipeWireServer(directory: directory)
    }
  }
}
