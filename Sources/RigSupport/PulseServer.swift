import Glibc

/// A private PulseAudio for a test. Its device is a pipe sink `rig`, 16-bit stereo, and every frame of it is captured.
///
/// The pipe contains the played audio, exact to the sample. A null sink's monitor would lose the first samples of a
/// stream that begins with a rewind. The server needs neither D-Bus nor a user session, and reads no configuration.
///
/// Threading: one test at a time. The suites that use it are `.serialized`.
package final class PulseServer: SoundServer, @unchecked Sendable {
  // `@unchecked Sendable`: `isStopped` is used only by the owning test.

  /// The value for `PulseSink.Configuration.server` or `PULSE_SERVER`: `unix:PATH`.
  package let address: String
  /// The name of the device.
  package let sinkName = "rig"
  /// The server's XDG_RUNTIME_DIR, with mode 0700.
  package let directory: String
  /// The server's process.
  package let process: ChildProcess
  /// The audio that its device has played.
  package let capture: Capture
  private let temporaryDirectory: TemporaryDirectory?
  package var sinkOptions: String { "use_system_clock_for_timing=yes" }
  private var isStopped = false

  /// Starts a server and returns when it accepts connections. `directory` is an existing folder for the socket
  /// `pulse.sock`; nil creates one.
  package init(
    sampleRateHz: Int = 48_000, captureLimitBytes: Int = 256 << 20, directory existingDirectory: String? = nil
  ) throws {
    temporaryDirectory = existingDirectory == nil ? try TemporaryDirectory("pulse") : nil
    let directory = existingDirectory ?? temporaryDirectory?.path ?? "/nonexistent"
    let socket = "\(directory)/pulse.sock"
    let pipe = "\(directory)/pipe"
    unlink(pipe)
    guard mkfifo(pipe, 0o600) == 0 else {
      throw RigError.system(call: "mkfifo \(pipe)", errno: errno)
    }
    capture = try Capture(path: pipe, limitBytes: captureLimitBytes)
    let watch: SocketWatch
    do {
      watch = try SocketWatch(directory: directory)
      // The server loads the device first, so that it exists for each client that can connect.
      process = try ChildProcess(
        [
          "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
          "--log-target=stderr",
          "-L",
          "module-pipe-sink file=\(pipe) sink_name=rig rate=\(sampleRateHz) format=s16le channels=2"
            + " use_system_clock_for_timing=yes",
          "-L", "module-native-protocol-unix socket=\(socket) auth-anonymous=1",
        ],
        environment: [
          "XDG_RUNTIME_DIR": directory, "HOME": directory, "XDG_CONFIG_HOME": directory,
          "PULSE_SERVER": "",
          "DBUS_SESSION_BUS_ADDRESS": "disabled:", "LC_ALL": "C",
        ])
    } catch {
      capture.stop()
      throw error
    }
    self.directory = directory
    address = "unix:\(socket)"
    do {
      try watch.waitUntilListening(socket: socket, process: process)
    } catch {
      stop()
      throw error
    }
  }

  deinit { stop() }

  /// Kills the server (SIGKILL), like a crash, and waits for its end. The capture remains.
  package func kill() { process.kill() }

  /// Stops the server's process (SIGSTOP); `resume` continues it.
  package func suspend() { process.suspend() }

  package func resume() { process.resume() }

  /// Loads a module: `module-role-cork`, or `NAME ARGUMENT...`.
  package func loadModule(_ module: String) throws {
    try ChildProcess.run(["pactl", "--server", address, "load-module"] + module.split(separator: " ").map(String.init))
  }

  /// Starts another program that plays silence with a role (`phone`) until it is killed.
  package func play(role: String) throws -> ChildProcess {
    try ChildProcess([
      "pacat", "--server", address, "--playback", "--raw", "--property=media.role=\(role)", "--device=\(sinkName)",
      "/dev/zero",
    ])
  }

  /// Ends the server and its capture. Idempotent.
  package func stop() {
    if isStopped { return }
    isStopped = true
    process.resume()
    process.kill()
    capture.stop()
  }
}

/// Waits until a socket exists and accepts connections. Uses inotify(7) on its folder.
final class SocketWatch {
  private let descriptor: Int32

  init(directory: String) throws {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0,
      inotify_add_watch(descriptor, directory, UInt32(IN_CREATE | IN_ATTRIB | IN_MOVED_TO)) >= 0
    else { throw RigError.system(call: "inotify", errno: errno) }
  }

  deinit { close(descriptor) }

  func waitUntilListening(socket path: String, process: ChildProcess) throws {
    // Between bind(2) and listen(2) the server refuses connections. It sets the mode afterwards, which causes the
    // awaited event.
    for _ in 0..<200 {
      if Self.acceptsConnections(path) { return }
      if Glibc.kill(process.processID, 0) != 0 { break }
      var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      poll(&polled, 1, 100)
      var buffer = [UInt8](repeating: 0, count: 4096)
      _ = read(descriptor, &buffer, buffer.count)
    }
    throw RigError.timedOut("the sound server to listen at \(path)")
  }

  private static func acceptsConnections(_ path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }
}
