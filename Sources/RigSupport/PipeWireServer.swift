import Glibc

/// A private PipeWire for a test: `pipewire`, `wireplumber` and `pipewire-pulse` on a separate bus. Its device `rig` is
/// 16-bit stereo, and every frame of it is captured.
///
/// Threading: one test at a time. The suites that use it are `.serialized`.
package final class PipeWireServer: SoundServer, @unchecked Sendable {
  // `@unchecked Sendable`: `processes`, `sessionManager` and `isStopped` are used only by the owning test.

  package let address: String
  package let directory: String
  package private(set) var capture: Capture
  package var sinkOptions: String { "" }
  private let temporaryDirectory: TemporaryDirectory?
  private var processes: [ChildProcess] = []
  private var sessionManager: ChildProcess?
  private var isStopped = false

  /// Starts a server and returns when its device is the default device. `directory` is an existing folder for all its
  /// sockets; nil creates one.
  package init(directory existingDirectory: String? = nil) throws {
    temporaryDirectory = existingDirectory == nil ? try TemporaryDirectory("pipewire") : nil
    let directory = existingDirectory ?? temporaryDirectory?.path ?? "/nonexistent"
    self.directory = directory
    // PipeWire's PulseAudio server finds its folder itself.
    address = "unix:\(directory)/pulse/native"
    mkdir("\(directory)/pulse", 0o700)
    for name in ["bus", "pulse/native", "pipewire-0"] { unlink("\(directory)/\(name)") }
    let pipe = "\(directory)/placeholder.pipe"
    unlink(pipe)
    guard mkfifo(pipe, 0o600) == 0 else { throw RigError.system(call: "mkfifo \(pipe)", errno: errno) }
    capture = try Capture(path: pipe, limitBytes: 4_096)
    do {
      try start()
    } catch {
      stop()
      throw error
    }
  }

  deinit { stop() }

  private func start() throws {
    let bus = "\(directory)/bus"
    try start(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=unix:path=\(bus)"], "bus")
    try start(["pipewire"], "pipewire-0")
    sessionManager = try start(["wireplumber"], nil)
    try start(["pipewire-pulse"], "pulse/native")
    let placeholder = capture
    capture = try addSink("rig")
    placeholder.stop()
    // The session manager connects streams. A successful request is the only sign that it is ready.
    for attempt in 1...500 {
      do {
        try control("set-default-sink", "rig")
        return
      } catch { if attempt == 500 { throw error } }
      poll(nil, 0, 20)
    }
  }

  /// Kills WirePlumber, which also removes the links that it made.
  package func killSessionManager() { sessionManager?.kill() }

  /// Links the stream `Playhead` to `rig`, or removes its links. Both channels change in one cycle of the graph.
  package func setLinked(_ isLinked: Bool) throws {
    // `pw-link` changes one link per process. `pw-cli` drops its requests if it quits before they are done, and
    // destroys no object before it has read the registry.
    let script = """
      port() { pw-link "$1" -I | awk -v name="$2" '$2 == name { print $1 }'; }
      linkCount() { pw-link -l | grep -c -e '->'; }
      expected=$1
      shift
      if [ "$expected" = 0 ]; then
        for id in $(pw-link -l -I | awk '$2 == "|->" { print $1 }'); do set -- "$@" "destroy $id"; done
      else
        for c in FL FR; do
          set -- "$@" "create-link Playhead $(port -o Playhead:output_$c) rig $(port -i rig:playback_$c) object.linger=1"
        done
      fi
      {
        [ "$expected" = 0 ] || printf '%s\\n' "$@"
        for i in $(seq 200); do
          [ "$(linkCount)" = "$expected" ] && break
          [ "$expected" = 2 ] || printf '%s\\n' "$@"
        done
        echo quit
      } | timeout 10 pw-cli > /dev/null 2>&1
      [ "$(linkCount)" = "$expected" ]
      """
    try ChildProcess.run(["sh", "-uc", script, "sh", isLinked ? "2" : "0"], environment: environment)
  }

  private var environment: [String: String] {
    [
      "XDG_RUNTIME_DIR": directory, "HOME": directory, "XDG_CONFIG_HOME": directory, "XDG_STATE_HOME": directory,
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory)/bus", "LC_ALL": "C",
    ]
  }

  /// Starts a process, and waits until it accepts connections at the socket.
  @discardableResult
  private func start(_ arguments: [String], _ socket: String?) throws -> ChildProcess {
    let path = socket.map { "\(directory)/\($0)" }
    let watch = try path.map { try SocketWatch(directory: String($0[..<($0.lastIndex(of: "/") ?? $0.endIndex)])) }
    let process = try ChildProcess(arguments, environment: environment)
    processes.append(process)
    if let path { try watch?.waitUntilListening(socket: path, process: process) }
    return process
  }

  package func kill() { for process in processes.reversed() { process.kill() } }
  package func suspend() { for process in processes { process.suspend() } }
  package func resume() { for process in processes { process.resume() } }

  package func stop() {
    if isStopped { return }
    isStopped = true
    resume()
    kill()
    capture.stop()
  }
}
