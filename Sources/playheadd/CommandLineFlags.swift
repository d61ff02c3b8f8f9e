import ArgumentParser
import Glibc
import PlayheadControlServer
import PlayheadDaemonConfiguration
import PlayheadFileAccess
import PlayheadMediaCore

/// The command line. Its options override the configuration file.
struct CommandLineFlags: ParsableArguments {
  @Option(
    help: """
      Configuration file in TOML (default: playhead/playheadd.toml in $XDG_CONFIG_HOME or ~/.config, or else in \
      $XDG_CONFIG_DIRS or /etc/xdg). SIGHUP reloads it.
      """)
  var config: String?
  @Flag(help: "Validate the configuration file, report errors and their locations, and exit: 0 if valid, 2 otherwise.")
  var checkConfig = false
  @Flag(
    name: .customLong("protocol"),
    help: "Print the description of the protocol as JSON (OpenRPC; its member x-asyncapi has the events), and exit.")
  var printsProtocol = false
  @Argument(help: "Configuration file for --check-config (default: the file of --config).")
  var file: String?
  @Option(
    help: """
      Path of the control socket (default: $PLAYHEAD_SOCKET, else playhead/control.sock in $XDG_RUNTIME_DIR or \
      /run/user/UID, else /tmp/playhead-UID/control.sock). The folder `playhead` or `playhead-UID` is created if \
      missing; its parent must exist. The same folder contains watch.sock, which allows no changes, and handoff.sock, \
      which receives file descriptors from clients.
      """)
  var socket: String?
  @Option(
    help: """
      Output: auto, null, pulse[:SINK], wav:PATH or pipe:PATH (default: auto). Options after commas: rate=HZ, \
      channels=N and, for wav and pipe, format=s16, s24 or f32 (default: s16). A pipe gets raw samples, little-endian \
      and interleaved (default: 48000 Hz, 2 channels).
      """)
  var output: String?
  @Option(
    help: """
      Clock: real or virtual (default: real). Only `clock.advance` advances a virtual clock, which needs a null, wav \
      or pipe output.
      """)
  var clock: DaemonOptions.Clock?
  @Option(help: "Minimum level of log messages on standard error (default: notice).")
  var logLevel: DaemonOptions.LogLevel?
  @Option(
    parsing: .upToNextOption,
    help: "Additional users that may connect, by name or number. Several values are separated by spaces.")
  var allowUid: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: "Groups whose members may connect, by name or number. Several values are separated by spaces.")
  var allowGid: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: """
      Folders in which the daemon may read media files and playlists (default: all). Several values are separated by \
      spaces.
      """)
  var readRoot: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: """
      Folders in which the daemon may write files (images, exports, recordings) for clients with the right `write` \
      (default: none). Several values are separated by spaces.
      """)
  var writeRoot: [String] = []
  @Option(help: "PulseAudio server (default: $PULSE_SERVER, else the user's server).")
  var pulseServer: String?
  @Option(
    parsing: .upToNextOption,
    help: """
      Output devices by name, in order of preference. Playback uses the first available one and returns to it when it \
      reappears. Several values are separated by spaces.
      """)
  var preferredOutput: [String] = []
  @Option(
    help: """
      Action when the device is lost. pause: pause; `play` uses the next device. hold: wait for the device. move: \
      continue on the next device. null: continue in silence until the device returns (default: pause).
      """)
  var lostDevice: LostDevicePolicy?
  @Option(
    help: ArgumentHelp(
      """
      Buffer latency requested from the sound server, 10 to 150 ms (default: 100). A busy machine or network may need \
      more.
      """,
      valueName: "milliseconds"))
  var outputLatency: Int?
  @Option(
    help: "File of certificate authorities (PEM) for HTTPS servers (default: the system's).")
  var caFile: String?
  @Option(
    help: """
      Process that parses data from files and servers. opening: worker processes without access to files or networks \
      open files, read their tags, decode them for scan and waveform, export them, and make images; the daemon decodes \
      for playback. playback: worker processes also decode for playback. none: the daemon parses everything itself \
      (default: opening).
      """)
  var isolate: DaemonOptions.Isolation?
  @Option(
    parsing: .upToNextOption,
    help: """
      Networks (CIDR), addresses and host names that may be reached (default: all except link-local addresses and \
      cloud metadata services). Several values are separated by spaces.
      """)
  var allowNetwork: [String] = []
  @Option(
    parsing: .upToNextOption,
    help: """
      Networks (CIDR), addresses and host names that may not be reached; overrides --allow-network. Several values are \
      separated by spaces.
      """)
  var denyNetwork: [String] = []
  @Flag(
    help: """
      Do not restrict access to files with Landlock. By default the daemon can read the read roots, write the write \
      roots, the state and the output file, and create its sockets; the kernel refuses every other access.
      """)
  var noLandlock = false
  @OptionGroup var state: StateOptions

  func validate() throws {
    if socket?.isEmpty == true { throw ValidationError("--socket needs a path") }
    if file != nil, !checkConfig { throw ValidationError("a file argument requires --check-config") }
    if let caFile, access(caFile, R_OK) != 0 {
      throw ValidationError("--ca-file needs a readable file (got \(caFile))")
    }
    if let outputLatency, !DaemonOptions.outputLatencyRange.contains(outputLatency) {
      throw ValidationError("--output-latency must be between 10 and 150 (got \(outputLatency))")
    }
    // Other checks reject a path that is not absolute, or has `..`.
    for folder in writeRoot where folder.hasPrefix("/") && !folder.split(separator: "/").contains("..") {
      var status = stat()
      let isFound = stat(folder, &status) == 0
      guard isFound, status.st_mode & S_IFMT == S_IFDIR else {
        let reason = isFound ? "not a folder" : String(cString: strerror(errno))
        throw ValidationError("--write-root needs an existing folder (got \(folder): \(reason))")
      }
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

  /// The default configuration file. Selected once, because the sandbox permits only that file.
  private static let defaultConfigurationFile = ConfigurationFile(specifiedPath: nil)

  /// The configuration file.
  var configurationFile: ConfigurationFile {
    (file ?? config).map { ConfigurationFile(specifiedPath: $0) } ?? Self.defaultConfigurationFile
  }

  /// The effective options: the file's, overridden by the command line's. Blocks.
  ///
  /// - Throws: `InvalidOptions`.
  func options() throws(InvalidOptions) -> DaemonOptions {
    let text = configurationFile.read()
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
    do throws(MediaError) { try options.checkCombinations() } catch {
      // The file is the source only of options that the command line does not override.
      let names = [clock == nil ? "output.clock" : nil, output == nil ? "output.device" : nil].compactMap(\.self)
      if let fault = text?.fault(error.message, atFirstOf: names) {
        faults.append(fault)
        faults.sort { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
      } else {
        lines.append(error.message)
      }
    }
    lines = faults.map(\.description) + lines
    guard lines.isEmpty else { throw InvalidOptions(lines: lines) }
    return options
  }

  /// Checks the configuration file and prints the result.
  ///
  /// - Throws: `InvalidOptions`.
  func check() throws(InvalidOptions) {
    let path = configurationFile.path
    let exists = configurationFile.read() != nil
    _ = try options()
    StandardStream.write(exists ? "\(path): ok\n" : "\(path): not found; the defaults apply\n", to: STDOUT_FILENO)
  }
}

/// The error for invalid options. The exit status is 2.
struct InvalidOptions: Error {
  /// One line for each problem.
  var lines: [String]

  /// The maximum number of lines in an error reply.
  private static let maximumLineCount = 20

  /// The error for a client that requested a reload.
  var error: MediaError {
    let more = lines.count > Self.maximumLineCount ? ["and \(lines.count - Self.maximumLineCount) more"] : []
    return MediaError(.wrongConfiguration, (lines.prefix(Self.maximumLineCount) + more).joined(separator: "; "))
  }
}

extension DaemonOptions.Clock: ExpressibleByArgument {}
extension DaemonOptions.Isolation: ExpressibleByArgument {}
extension DaemonOptions.LogLevel: ExpressibleByArgument {}
extension LostDevicePolicy: ExpressibleByArgument {}
