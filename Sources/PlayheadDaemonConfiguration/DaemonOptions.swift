import PlayheadControlServer
import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadWireProtocol

/// All options of the daemon with their default values.
package struct DaemonOptions: Sendable, Hashable {
  /// The clock of the players.
  package enum Clock: String, Sendable, Hashable, CaseIterable { case real, virtual }

  /// The log levels of swift-log.
  package enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    case trace, debug, info, notice, warning, error, critical

    /// Orders the levels. A lower level logs more.
    package static func < (left: LogLevel, right: LogLevel) -> Bool {
      let (left, right) = (allCases.firstIndex(of: left), allCases.firstIndex(of: right))
      return (left ?? 0) < (right ?? 0)
    }
  }

  /// The process that parses untrusted media files.
  package enum Isolation: String, Sendable, Hashable, CaseIterable {
    /// The daemon itself.
    case none
    /// Worker processes open files, read their tags, decode them for `scan` and `waveform`, export them, and make
    /// images. The daemon decodes for playback, after a worker has opened the file and decoded its beginning.
    case opening
    /// Like `opening`. Worker processes also decode for playback.
    case playback
  }

  /// The path of the control socket. Nil: the path that `SocketLocation` chooses.
  package var socketPath: String?
  package var socketMode: UInt32 = 0o600
  /// The name or id of a group. Nil: the group of the process.
  package var socketGroup: String?
  /// In the format of `OutputSpec`. Nil: `auto`, or `null` with the virtual clock.
  package var output: String?
  package var clock = Clock.real
  package var pulseServer: String?
  /// Device names in order of preference.
  package var preferredOutputs: [String] = []
  package var lostDevice = LostDevicePolicy.pause
  /// The amount of audio that a sound server buffers, in milliseconds. Range: ``outputLatencyRange``.
  package var outputLatency = 100
  /// The upper limit is less than the 200 ms of audio that are decoded before playback starts. The device requests its
  /// whole buffer at once, so a longer buffer could begin with silence.
  package static let outputLatencyRange = 10...150
  /// The minimum level of log messages.
  package var logLevel = LogLevel.notice
  /// The users and groups that may connect in addition to the daemon's own user, by name or id, and their rights.
  /// `watchingUsers` and `watchingGroups` get only the `read` right.
  package var users: [String] = []
  package var groups: [String] = []
  package var rights: Rights = [.read, .control]
  package var watchingUsers: [String] = []
  package var watchingGroups: [String] = []
  /// The folders from which files may be read. Nil: all.
  package var readRoots: [String]?
  package var writeRoots: [String] = []
  /// The number of bytes that must stay free in a file system when files are written for clients. 0: no limit.
  package var reservedFreeBytes = 0
  package var isNetworkAllowed = true
  /// The networks and hosts that may be accessed. Empty: all.
  package var allowedNetworks: [String] = []
  /// The networks and hosts that must not be accessed.
  package var deniedNetworks: [String] = []
  package var certificateAuthorityFile: String?
  /// Whether players and queues are saved.
  package var savesState = true
  /// The folder of the saved state. Nil: the folder that `StateFolder` chooses, or none with the virtual clock.
  package var stateFolder: String?
  /// The minimum duration in seconds of items with automatic bookmarks. 0: no automatic bookmarks.
  package var minimumBookmarkedSeconds = 600
  /// Whether new entries start at their automatic bookmark.
  package var resumesAtLastPosition = false
  /// Whether players that were playing when the last daemon ended play again.
  package var resumesPlayback = false
  /// The initial category of the audio session. It is not saved.
  package var sessionCategory = SessionCategory.playAndRecord
  package var isolation = Isolation.opening
  /// The encoding of tags that do not state one.
  package var tagCharset = TextCharset.automatic
  package var limits = WireLimits.standard
  /// Whether the daemon restricts its own access to files with Landlock.
  package var usesLandlock = true

  package init() {}

  /// The output.
  ///
  /// - Throws: The errors of `OutputSpec`.
  package func outputSpec() throws(MediaError) -> OutputSpec {
    if let output { return try OutputSpec(parsing: output) }
    return OutputSpec(clock == .virtual ? .null : .auto)
  }

  /// The folders from which files may be read.
  ///
  /// - Throws: The errors of `FileRoots`.
  package func readableRoots() throws(MediaError) -> FileRoots {
    if let readRoots { return try FileRoots(folders: readRoots) }
    return .everywhere
  }

  /// The policy of the server.
  ///
  /// - Throws: `invalid-argument` for an unknown user or group, or the errors of `FileRoots` and `NetworkRules`.
  package func policy() throws(MediaError) -> ServerPolicy {
    var policy = ServerPolicy()
    policy.access.userIDs = try Accounts.users(users)
    policy.access.groupIDs = try Accounts.groups(groups)
    policy.access.rights = rights
    policy.access.watchingUserIDs = try Accounts.users(watchingUsers)
    policy.access.watchingGroupIDs = try Accounts.groups(watchingGroups)
    policy.limits = limits
    if minimumBookmarkedSeconds > 0 {
      policy.minimumBookmarkedDuration = MediaTime(value: Int64(minimumBookmarkedSeconds), timescale: 1)
    }
    policy.resumesAtLastPosition = resumesAtLastPosition
    policy.resumesPlayback = resumesPlayback
    policy.writableRoots = try FileRoots(folders: writeRoots)
    policy.isNetworkAllowed = isNetworkAllowed
    try policy.setNetworkRules(allow: allowedNetworks, deny: deniedNetworks)
    policy.certificateAuthorityFile = certificateAuthorityFile
    return policy
  }

  /// Checks combinations of options.
  ///
  /// - Throws: `invalid-argument` or the errors of `OutputSpec`.
  package func checkCombinations() throws(MediaError) {
    let spec = try outputSpec()
    if clock == .virtual, !spec.allowsVirtualClock {
      throw MediaError(
        .invalidArgument, "a virtual clock needs an output without a device: null, wav:PATH or pipe:PATH",
        operation: "clock")
    }
  }
}

extension DaemonOptions {
  /// Returns these options with the running values of all options that change only at the next start.
  ///
  /// - Parameters:
  ///   - running: The options that the daemon uses now.
  ///   - names: Reloadable options that also keep their running values.
  package func keepingStartupValues(of running: DaemonOptions, alsoOf names: [String] = []) -> DaemonOptions {
    var options = self
    for option in OptionTable.all where !option.isReloadable || names.contains(option.name) {
      option.copy(&options, running)
    }
    return options
  }
}
