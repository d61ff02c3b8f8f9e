import PlayheadControlServer
import PlayheadFileAccess
import PlayheadMediaCore
import PlayheadWireProtocol

/// All options of the daemon with their default values.
public struct DaemonOptions: Sendable, Hashable {
  /// The clock of the players.
  public enum Clock: String, Sendable, Hashable, CaseIterable { case real, virtual }

  /// The log levels of swift-log.
  public enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    case trace, debug, info, notice, warning, error, critical

    /// Orders the levels. A lower level logs more.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
      let (left, right) = (allCases.firstIndex(of: left), allCases.firstIndex(of: right))
      return (left ?? 0) < (right ?? 0)
    }
  }

  /// The process that parses untrusted media files.
  public enum Isolation: String, Sendable, Hashable, CaseIterable {
    /// The daemon itself.
    case none
    /// Worker processes open files, read their tags, decode them for `scan` and `waveform`, export them, and make
    /// images. The daemon decodes for playback, after a worker has opened the file and decoded its beginning.
    case opening
    /// Like `opening`. Worker processes also decode for playback.
    case playback
  }

  /// The path of the control socket. Nil: the path that `SocketLocation` chooses.
  public var socketPath: String?
  public var socketMode: UInt32 = 0o600
  /// The name or id of a group. Nil: the group of the process.
  public var socketGroup: String?
  /// In the format of `OutputSpec`. Nil: `auto`, or `null` with the virtual clock.
  public var output: String?
  public var clock = Clock.real
  public var pulseServer: String?
  /// Device names in order of preference.
  public var preferredOutputs: [String] = []
  public var lostDevice = LostDevicePolicy.pause
  /// The amount of audio that a sound server buffers, in milliseconds. Range: ``outputLatencyRange``.
  public var outputLatency = 100
  /// The upper limit is less than the 200 ms of audio that are decoded before playback starts. The device requests its
  /// whole buffer at once, so a longer buffer could begin with silence.
  public static let outputLatencyRange = 10...150
  /// The minimum level of log messages.
  public var logLevel = LogLevel.notice
  /// The users and groups that may connect in addition to the daemon's own user, by name or id, and their rights.
  /// `watchingUsers` and `watchingGroups` get only the `read` right.
  public var users: [String] = []
  public var groups: [String] = []
  public var rights: Rights = [.read, .control]
  public var watchingUsers: [String] = []
  public var watchingGroups: [String] = []
  /// The folders from which files may be read. Nil: all.
  public var readRoots: [String]?
  public var writeRoots: [String] = []
  /// The number of bytes that must stay free in a file system when files are written for clients. 0: no limit.
  public var reservedFreeBytes = 0
  public var isNetworkAllowed = true
  /// The networks and hosts that may be accessed. Empty: all.
  public var allowedNetworks: [String] = []
  /// The networks and hosts that must not be accessed.
  public var deniedNetworks: [String] = []
  public var certificateAuthorityFile: String?
  /// Whether players and queues are saved.
  public var savesState = true
  /// The folder of the saved state. Nil: the folder that `StateFolder` chooses, or none with the virtual clock.
  public var stateFolder: String?
  /// The minimum duration in seconds of items with automatic bookmarks. 0: no automatic bookmarks.
  public var minimumBookmarkedSeconds = 600
  /// Whether new entries start at their automatic bookmark.
  public var resumesAtLastPosition = false
  /// Whether players that were playing when the last daemon ended play again.
  public var resumesPlayback = false
  /// The initial category of the audio session. It is not saved.
  public var sessionCategory = SessionCategory.playAndRecord
  public var isolation = Isolation.opening
  /// The encoding of tags that do not state one.
  public var tagCharset = TextCharset.automatic
  public var limits = WireLimits.standard
  /// Whether the daemon restricts its own access to files with Landlock.
  public var usesLandlock = true

  public init() {}

  /// The output.
  ///
  /// - Throws: The errors of `OutputSpec`.
  public func outputSpec() throws(MediaError) -> OutputSpec {
    if let output { return try OutputSpec(parsing: output) }
    return OutputSpec(clock == .virtual ? .null : .auto)
  }

  /// The folders from which files may be read.
  ///
  /// - Throws: The errors of `FileRoots`.
  public func readableRoots() throws(MediaError) -> FileRoots {
    if let readRoots { return try FileRoots(folders: readRoots) }
    return .everywhere
  }

  /// The policy of the server.
  ///
  /// - Throws: `invalid-argument` for an unknown user or group, or the errors of `FileRoots` and `NetworkRules`.
  public func policy() throws(MediaError) -> ServerPolicy {
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
  public func checkCombinations() throws(MediaError) {
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
  public func keepingStartupValues(of running: DaemonOptions, alsoOf names: [String] = []) -> DaemonOptions {
    var options = self
    for option in OptionTable.all where !option.isReloadable || names.contains(option.name) {
      option.copy(&options, running)
    }
    return options
  }
}
