import ArgumentParser
import ControlServer
import DaemonConfiguration
import FileAccess
import Glibc
import MediaCore

/// The command line. Its options override the configuration file.
struct CommandLineFlags: ParsableArguments {
  @Option(
    help: """
      The configuration, a TOML file (default: playhead/playheadd.toml in $XDG_CONFIG_HOME or ~/.config, if there is one). SIGHUP has \
      it read again.
      """)
  var config: String?
  @Flag(help: "Says what is wrong with the configuration file, and where, and ends: status 0 when nothing is, else 2.")
  var checkConfig = false
  @Argument(help: "With --check-config: the file, in the place of --config.")
  var file: String?
  @Option(
    help: """
      Where to listen (default: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR or /run/user/UID, else \
      /tmp/playhead-UID/control.sock). Of these folders only the last, playhead or playhead-UID, is made when missing. Beside it lie \
      watch.sock, on which nothing can be changed, and handoff.sock, for open files.
      """)
  var socket: String?
  @Option(
    help: """
      auto (default), null, pulse[:SINK], wav:PATH or pipe:PATH; behind commas rate=HZ, channels=N and, for wav and pipe, \
      format=s16 (default), s24 or f32. A pipe gets bare samples, little-endian and interleaved, 48000 Hz and 2 channels \
      unless said.
      """)
  var output: String?
  @Option(help: "real (default), or virtual: time passes only by `clock.advance` (null, wav and pipe outputs).")
  var clock: DaemonOptions.Clock?
  @Option(help: "What is logged to standard error, from this level up (default: notice).")
  var logLevel: DaemonOptions.LogLevel?
  @Option(parsing: .upToNextOption, help: "Users besides this one who may connect, by name or number.")
  var allowUid: [String] = []
  @Option(parsing: .upToNextOption, help: "Groups whose members may connect, by name or number.")
  var allowGid: [String] = []
  @Option(
    parsing: .upToNextOption, help: "Folders below which files may be played and lists read (default: everywhere).")
  var readRoot: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: "Folders below which clients with the right may have files written, such as pictures (default: none).")
  var writeRoot: [String] = []
  @Option(help: "The PulseAudio server (default: $PULSE_SERVER, else the user's own).")
  var pulseServer: String?
  @Option(
    parsing: .upToNextOption,
    help: "Devices by name, the dearest first: the first that is there is played on, and taken again when it returns.")
  var preferredOutput: [String] = []
  @Option(
    help: """
      What players do when their device goes away: pause (default) and take the next one, hold on until it is back, move to the next \
      one, or go on in silence until it is back (null).
      """)
  var lostDevice: LostDevicePolicy?
  @Option(
    help: ArgumentHelp(
      "Audio that a sound server buffers, 10 to 200 ms (default: 100). A busy machine or network may need more.",
      valueName: "milliseconds"))
  var outputLatency: Int?
  @Option(
    help: "A file of certificates (PEM): authorities that https: servers are believed by, in place of the system's.")
  var caFile: String?
  @Option(
    help: """
      Which process opens files, decodes their beginning, reads their tags and makes images: opening (default), a worker process without \
      access to files or networks; or none, the daemon itself.
      """)
  var isolate: DaemonOptions.Isolation?
  @Option(
    parsing: .upToNextOption,
    help: "Networks (CIDR), addresses and host names that may be reached (default: all but metadata services).")
  var allowNetwork: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: "Networks (CIDR), addresses and host names that may not be reached, before --allow-network.")
  var denyNetwork: [String] = []
  @Flag(
    help: """
      Do not restrict access to files with Landlock. By default the daemon can read the read roots, write the write roots, the state and \
      the output file, and make its sockets; the kernel refuses every other access.
      """)
  var noLandlock = false
  @OptionGroup var state: StateOptions

  func validate() throws {
    if socket?.isEmpty == true { throw ValidationError("--socket needs a path") }
    if file != nil, !checkConfig { throw ValidationError("a file stands with --check-config only") }
    if let caFile, access(caFile, R_OK) != 0 {
      throw ValidationError("--ca-file needs a file that can be read: \(caFile)")
    }
    if let outputLatency, !DaemonOptions.outputLatencyRange.contains(outputLatency) {
      throw ValidationError("--output-latency takes a whole number from 10 to 200, not \(outputLatency)")
    }
    do {
      if let output { _ = try OutputSpec(parsing: output) }
      for roots in [readRoot, writeRoot] { _ = try FileRoots(folders: roots) }
      _ = try (Accounts.users(allowUid), Accounts.groups(allowGid))
      var policy = ServerPolicy()
      try policy.setNetworkRules(allow: allowNetwork, deny: denyNetwork)
    } catch {
      throw ValidationError(error.message)
    }
  }

  /// The configuration file. Nil if there is no default location.
  var configurationFile: ConfigurationFile? { ConfigurationFile(asked: file ?? config) }

  /// The effective options: the file's, overridden by the command line's. Blocks.
  ///
  /// - Throws: `WrongOptions`.
  func options() throws(WrongOptions) -> DaemonOptions {
    let text = configurationFile?.read()
    var options = text?.options ?? DaemonOptions()
    options.socketPath = socket ?? options.socketPath
    options.output = output ?? options.output
    options.clock = clock ?? options.clock
    options.logLevel = logLevel ?? options.logLevel
    if !preferredOutput.isEmpty { options.preferredOutputs = preferredOutput }
    options.lostDevice = lostDevice ?? options.lostDevice
    options.outputLatency = outputLatency ?? options.outputLatency
    options.pulseServer = pulseServer ?? options.pulseServer
    options.certificateAuthorityFile = caFile ?? options.certificateAuthorityFile
    options.isolation = isolate ?? options.isolation
    if noLandlock { options.usesLandlock = false }
    state.apply(to: &options)
    if !allowUid.isEmpty { options.users = allowUid }
    if !allowGid.isEmpty { options.groups = allowGid }
    if !readRoot.isEmpty { options.readRoots = readRoot }
    if !writeRoot.isEmpty { options.writeRoots = writeRoot }
    if !allowNetwork.isEmpty { options.allowedNetworks = allowNetwork }
    if !denyNetwork.isEmpty { options.deniedNetworks = denyNetwork }
    var faults = text?.faults ?? []
    var lines: [String] = []
    do throws(MediaError) { try options.checkTogether() } catch {
      // Only options that the command line does not override can be located in the file.
      let names = [clock == nil ? "output.clock" : nil, output == nil ? "output.device" : nil].compactMap(\.self)
      if let fault = text?.fault(error.message, atFirstOf: names) {
        faults.append(fault)
        faults.sort { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
      } else {
        lines.append(error.message)
      }
    }
    lines = faults.map(\.description) + lines
    guard lines.isEmpty else { throw WrongOptions(lines: lines) }
    return options
  }

  /// Checks the configuration file and prints the result.
  ///
  /// - Throws: `WrongOptions`.
  func check() throws(WrongOptions) {
    let path = configurationFile?.path ?? "no file"
    let isThere = configurationFile?.read() != nil
    _ = try options()
    StandardStream.write(isThere ? "\(path): ok\n" : "\(path): there is none; the defaults hold\n", to: STDOUT_FILENO)
  }
}

/// Invalid options. The exit status is 2.
struct WrongOptions: Error {
  /// One line for each problem.
  var lines: [String]

  /// The maximum number of lines in an error reply.
  private static let toldCount = 20

  /// The error for a client that requested a reload.
  var error: MediaError {
    let more = lines.count > Self.toldCount ? ["and \(lines.count - Self.toldCount) more"] : []
    return MediaError(.wrongConfiguration, (lines.prefix(Self.toldCount) + more).joined(separator: "; "))
  }
}

extension DaemonOptions.Clock: ExpressibleByArgument {}
extension DaemonOptions.Isolation: ExpressibleByArgument {}
extension DaemonOptions.LogLevel: ExpressibleByArgument {}
extension LostDevicePolicy: ExpressibleByArgument {}
