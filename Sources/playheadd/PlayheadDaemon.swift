// The daemon: parses the options, creates the components, and runs until SIGTERM or SIGINT.
import ArgumentParser
import CMediaShims
import ControlLoop
import ControlServer
import DaemonConfiguration
import FileAccess
import Glibc
import LibAV
import Logging
import MediaAssets
import MediaCore
import Playback
import RealtimeAudio
import WireProtocol

/// `playheadd`. Exit status: 0 after a clean stop, 1 if it could not start or run, 2 for an invalid command line or
/// configuration.
@main
struct PlayheadDaemon: ParsableCommand {
  static let version = ProductVersion.text

  static let configuration = CommandConfiguration(
    commandName: "playheadd",
    abstract: "Headless media player, controlled over a Unix socket by `playhead` and other clients.",
    version: "playheadd \(version)")

  @OptionGroup var flags: CommandLineFlags

  static func main() {
    do {
      let daemon = try parse()
      try daemon.run()
    } catch let wrong as WrongOptions {
      for line in wrong.lines { StandardStream.write("\(line)\n", to: STDERR_FILENO) }
      Glibc.exit(2)
    } catch {
      let isUsage = exitCode(for: error) == .validationFailure
      let message = (error as? MediaError).map { "playheadd: \($0.message)" } ?? fullMessage(for: error)
      StandardStream.write("\(message)\n", to: exitCode(for: error).isSuccess ? STDOUT_FILENO : STDERR_FILENO)
      Glibc.exit(isUsage ? 2 : exitCode(for: error).rawValue)
    }
  }

  func run() throws {
    // A closed socket or pipe is an error of one write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    // The same applies to the limit on the size of files.
    signal(SIGXFSZ, SIG_IGN)
    if flags.checkConfig { return try flags.check() }
    if flags.printsProtocol { return print(OpenRPC.document.text) }
    // Keeps the memory after many seeks at the level after one.
    media_shims_map_large_blocks()
    // Before the first thread is created, so that all threads inherit the mask. Only `wait` gets these signals.
    let signals = DaemonSignals()
    let service = ServiceManager()
    let options = try flags.options()
    let socketFile = SocketFile(requestedPath: options.socketPath)
    let sandboxing = try Sandboxing(
      options, configurationFile: flags.configurationFile?.path,
      socketFile: service.sockets[.control] == nil ? socketFile : nil)
    let workers = try Workers.prepare(options.isolation)
    defer { workers?.close() }
    DaemonLog.start(options.logLevel)
    defer { DaemonLog.finish() }
    ReadableFiles.roots = try options.readableRoots()
    OpeningLimits.byteCount = options.limits.openingByteCount
    WritableSpace.reservedByteCount = options.reservedFreeBytes
    Asset.standardTagCharset = options.tagCharset
    let logger = Logger(label: "playhead.daemon")
    sandboxing.log(to: logger)
    for socket in service.unknownSockets {
      logger.warning("unknown inherited socket", metadata: ["socket": "\(socket)"])
    }
    let control = ThreadControlLoop()
    let (loop, output) = try makeOutput(options, on: control)
    let engine = PlaybackEngine(loop: loop, output: output, logger: Logger(label: "playhead.playback"))
    var configuration = ControlServer.Configuration(socketFile: socketFile, version: Self.version)
    configuration.sandbox = sandboxing.sandbox.status
    configuration.socketMode = options.socketMode
    configuration.socketGroupID = try options.socketGroup.map(Accounts.group)
    configuration.inherited = service.sockets
    configuration.policy = try options.policy()
    configuration.sessionCategory = options.sessionCategory
    configuration.stateStore = StateOptions.makeStore(options)
    configuration.makeSource = Recordings.makeSource(options)
    let requests = ReloadRequests()
    configuration.reload = { requests.add($0) }
    let server = ControlServer(configuration: configuration, engine: engine, loop: control)
    try server.start()
    // The server stops before the output closes.
    defer {
      server.stop()
      close(engine)
    }
    Recordings.recover(options)
    // After the socket is acquired, because its previous owner may be writing the same file.
    try open(engine, canRecover: output.canRecover)
    let path = server.path ?? ""
    StandardStream.write("playheadd ready socket=\(path)\n", to: STDOUT_FILENO)
    service.notifyReady(status: "Listening at \(path)")
    if let workers { Workers.start(workers, logger: logger) }
    service.watch(control)
    media_shims_unmap_code_of_start()
    var reloading = Reloading(
      flags: flags, options: options, sandbox: sandboxing.sandbox, server: server, service: service)
    while true {
      switch signals.wait() {
      case .reload: reloading.reload(for: requests)
      case .stop(let name):
        service.notifyStopping()
        logger.info("stopping", metadata: ["signal": "\(name)"])
        return
      }
    }
  }

  /// Opens the output. Does not wait for a device. Throws an error for an output that cannot recover.
  private func open(_ engine: PlaybackEngine, canRecover: Bool) throws {
    guard !canRecover else { return engine.loop.execute { engine.open() } }
    let opened = ConditionMutex<MediaError??>(nil)
    engine.loop.execute { engine.open { error in opened.update { $0 = .some(error) } } }
    if let error = opened.wait({ $0 }) ?? nil { throw error }
  }

  /// Closes players and output. Waits at most 0.5 s, even if a device hangs.
  private func close(_ engine: PlaybackEngine) {
    let closed = ConditionMutex(false)
    engine.loop.execute { engine.close { closed.update { $0 = true } } }
    _ = closed.wait(until: HostTime.now.advanced(byNanoseconds: 500_000_000)) { $0 ? true : nil }
  }

  private func makeOutput(
    _ options: DaemonOptions, on control: ThreadControlLoop
  ) throws -> (any ControlLoop, OutputConfiguration) {
    let spec = try options.outputSpec()
    switch options.clock {
    case .real: return (control, Outputs.timed(options, spec))
    case .virtual:
      let virtual = VirtualControlLoop(base: control)
      return (virtual, Outputs.virtual(spec, clock: virtual))
    }
  }
}
