// The daemon: parses the options, creates the components, and runs until SIGTERM or SIGINT.
import ArgumentParser
import CPlayheadMediaShims
import Glibc
import Logging
import PlayheadControlLoop
import PlayheadControlServer
import PlayheadDaemonConfiguration
import PlayheadFileAccess
import PlayheadLibAV
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// `playheadd`. Exit status: 0 after a clean stop, 1 if it could not start or run, 2 for an invalid command line or
/// configuration.
@main
struct PlayheadDaemon: ParsableCommand {
  static let version = ProductVersion.text

  static let configuration = CommandConfiguration(
    commandName: "playheadd",
    abstract: "Headless media player, controlled over a Unix socket by `playhead` and other clients.",
    version: "playheadd \(version)")

  /// The delay in milliseconds between readiness and the start of a worker. Meanwhile the first requests do not compete
  /// with a process that loads FFmpeg.
  private static let workerStartDelay = 100

  @OptionGroup var flags: CommandLineFlags

  static func main() {
    StandardDescriptors.openMissing()
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch let invalid as InvalidOptions {
      for line in invalid.lines { StandardStream.write("\(line)\n", to: STDERR_FILENO) }
      Glibc.exit(2)
    } catch {
      let isUsage = exitCode(for: error) == .validationFailure
      let message = (error as? MediaError).map { "playheadd: \($0.message)" } ?? fullMessage(for: error)
      StandardStream.write("\(message)\n", to: exitCode(for: error).isSuccess ? STDOUT_FILENO : STDERR_FILENO)
      Glibc.exit(isUsage ? 2 : exitCode(for: error).rawValue)
    }
  }

  func run() throws {
    // Writing to a closed socket or pipe fails with EPIPE and does not end the process.
    signal(SIGPIPE, SIG_IGN)
    // Writing beyond the file size limit fails with EFBIG and does not end the process.
    signal(SIGXFSZ, SIG_IGN)
    if flags.checkConfig { return try flags.check() }
    if flags.printsProtocol { return print(OpenRPC.document.text) }
    media_shims_configure_allocator()
    // Before the first thread is created, so that all threads inherit the mask. Only `signals.wait` receives signals.
    let signals = DaemonSignals()
    let service = ServiceManager()
    let options = try flags.options()
    let socketFile = SocketFile(requestedPath: options.socketPath)
    let sandboxSetup = try SandboxSetup(
      options, configurationFile: flags.configurationFile.path,
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
    sandboxSetup.log(to: logger)
    for socket in service.unknownSockets {
      logger.warning("unknown inherited socket", metadata: ["socket": "\(socket)"])
    }
    let control = ThreadControlLoop()
    let (loop, output) = try makeOutput(options, on: control)
    let engine = PlaybackEngine(loop: loop, output: output, logger: Logger(label: "playhead.playback"))
    var configuration = ControlServer.Configuration(socketFile: socketFile, version: Self.version)
    configuration.sandbox = sandboxSetup.sandbox.status
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
    // After the server has the socket, because until then another daemon may be writing the same output file.
    try open(engine, canRecover: output.canRecover)
    let path = server.path ?? ""
    StandardStream.write("playheadd ready socket=\(path)\n", to: STDOUT_FILENO)
    service.notifyReady(status: "Listening at \(path)")
    service.startWatchdog(on: control)
    var reloader = ConfigurationReloader(
      flags: flags, options: options, sandbox: sandboxSetup.sandbox, server: server, service: service)
    var hasStarted = false
    while true {
      switch hasStarted ? signals.wait() : signals.wait(milliseconds: Self.workerStartDelay) {
      case nil:
        if let workers { Workers.start(workers, logger: logger) }
        media_shims_unmap_code_of_start()
        hasStarted = true
      case .reload: reloader.reload(for: requests)
      case .stop(let name):
        service.notifyStopping()
        logger.info("stopping", metadata: ["signal": "\(name)"])
        return
      }
    }
  }

  /// Opens the output. An output that can recover, such as a device, opens asynchronously.
  ///
  /// - Throws: The error of opening an output that cannot recover, such as a file.
  private func open(_ engine: PlaybackEngine, canRecover: Bool) throws {
    guard !canRecover else { return engine.loop.execute { engine.open() } }
    let opened = ConditionMutex<MediaError??>(nil)
    engine.loop.execute { engine.open { error in opened.update { $0 = .some(error) } } }
    if let error = opened.wait({ $0 }) ?? nil { throw error }
  }

  /// Closes the players and the output. Waits at most 0.5 s, because a device may hang.
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
    case .real: return (control, Outputs.realTime(options, spec))
    case .virtual:
      let virtual = VirtualControlLoop(base: control)
      return (virtual, Outputs.virtual(spec, clock: virtual))
    }
  }
}
