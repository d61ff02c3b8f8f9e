// The daemon: reads the command line, puts the parts together, and runs them until SIGTERM, SIGINT or SIGHUP.
import ArgumentParser
import CMediaShims
import ControlServer
import Glibc
import LibAV
import Logging
import MediaCore
import NIOCore
import NIOPosix
import Playback

/// `playheadd`. Exit status: 0 after a clean stop, 1 when it could not start or run, 2 for a wrong command line.
@main
struct PlayheadDaemon: ParsableCommand {
  static let version = ProductVersion.text

  static let configuration = CommandConfiguration(
    commandName: "playheadd", abstract: "Plays media, driven over a Unix socket. `playhead` is its client.",
    version: "playheadd \(version)")

  @Option(
    help: """
      Where to listen (default: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR or /run/user/UID, else \
      /tmp/playhead-UID/control.sock). Of these folders only the last, playhead or playhead-UID, is made when missing.
      """)
  var socket: String?
  @Option(
    help: """
      auto (default), null, pulse[:SINK], wav:PATH or pipe:PATH; behind commas rate=HZ, channels=N and, for wav and pipe, \
      format=s16 (default), s24 or f32. A pipe gets bare samples, little-endian and interleaved, 48000 Hz and 2 channels \
      unless said.
      """,
    transform: { try OutputSpec(parsing: $0) })
  var output: OutputSpec?
  @Option(help: "real, or virtual: time passes only by `clock.advance` (null, wav and pipe outputs).")
  var clock = Clock.real
  @Option(help: "What is logged to standard error, from this level up.")
  var logLevel = LogLevel.notice
  @Option(parsing: .upToNextOption, help: "Users besides this one who may connect, by number.")
  var allowUid: [UInt32] = []
  @Option(help: "The PulseAudio server (default: $PULSE_SERVER, else the user's own).")
  var pulseServer: String?

  enum Clock: String, ExpressibleByArgument, CaseIterable { case real, virtual }

  /// swift-log's levels.
  enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
  }

  static func main() {
    do {
      let daemon = try parse()
      try daemon.run()
    } catch {
      let isUsage = exitCode(for: error) == .validationFailure
      let message = (error as? MediaError).map { "playheadd: \($0.message)" } ?? fullMessage(for: error)
      StandardStream.write("\(message)\n", to: exitCode(for: error).isSuccess ? STDOUT_FILENO : STDERR_FILENO)
      Glibc.exit(isUsage ? 2 : exitCode(for: error).rawValue)
    }
  }

  func validate() throws {
    if socket?.isEmpty == true { throw ValidationError("--socket needs a path") }
    if clock == .virtual, let output, !output.allowsVirtualClock {
      throw ValidationError("--clock virtual needs an output without a device: null, wav:PATH or pipe:PATH")
    }
  }

  func run() throws {
    // Memory after a thousand seeks is what it was after one.
    media_shims_map_large_blocks()
    // A peer or a reader that goes away is an error of one write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    // Before the first thread is made, so that all have it: only `wait` gets these signals.
    let stopSignals = StopSignals()
    startLogging()
    let eventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let (loop, output) = makeOutput(on: NIOControlLoop(eventLoop))
    let engine = PlaybackEngine(loop: loop, output: output)
    let place = SocketPlace(asked: socket)
    var configuration = ControlServer.Configuration(place: place, version: Self.version)
    configuration.allowedUserIDs = Set(allowUid)
    let server = ControlServer(configuration: configuration, engine: engine, eventLoop: eventLoop)
    try server.start()
    // First nobody asks any more, then the sound ends.
    defer {
      server.stop()
      close(engine, on: eventLoop)
    }
    // Not before the socket is ours: whoever has it may be writing the very same file.
    try open(engine, canRecover: output.canRecover, on: eventLoop)
    StandardStream.write("playheadd ready socket=\(place.path)\n", to: STDOUT_FILENO)
    media_shims_unmap_code_of_start()
    let signal = stopSignals.wait()
    Logger(label: "playhead.daemon").info("stopping", metadata: ["signal": "\(signal)"])
  }

  /// Opens the output. A device is not waited for; one that cannot be had now and never will be is an error.
  private func open(_ engine: PlaybackEngine, canRecover: Bool, on eventLoop: any EventLoop) throws {
    guard !canRecover else { return engine.loop.execute { engine.open() } }
    let opened = eventLoop.makePromise(of: MediaError?.self)
    engine.loop.execute { engine.open { opened.succeed($0) } }
    if let error = try opened.futureResult.wait() { throw error }
  }

  /// Ends players and output; not for longer than half a second, whatever a device does.
  private func close(_ engine: PlaybackEngine, on eventLoop: any EventLoop) {
    let closed = eventLoop.makePromise(of: Void.self)
    engine.loop.execute { engine.close { closed.succeed() } }
    let limit = eventLoop.scheduleTask(in: .milliseconds(500)) { closed.succeed() }
    try? closed.futureResult.wait()
    limit.cancel()
  }

  private func makeOutput(on control: NIOControlLoop) -> (any ControlLoop, OutputConfiguration) {
    let spec = output ?? OutputSpec(clock == .virtual ? .null : .auto)
    switch clock {
    case .real: return (control, Outputs.timed(spec, pulseServer: pulseServer))
    case .virtual:
      let virtual = VirtualControlLoop(base: control)
      return (virtual, Outputs.virtual(spec, clock: virtual))
    }
  }

  private func startLogging() {
    let level = Logger.Level(rawValue: logLevel.rawValue) ?? .notice
    LoggingSystem.bootstrap { label in
      var handler = StreamLogHandler.standardError(label: label)
      handler.logLevel = level
      return handler
    }
    LibAV.installLogBridge(logger: Logger(label: "playhead.ffmpeg"))
  }
}
