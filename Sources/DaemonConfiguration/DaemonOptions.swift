import ControlServer
import FileAccess
import MediaCore
import WireProtocol

/// Everything that the daemon can be told, with what holds where it is told nothing.
public struct DaemonOptions: Sendable, Hashable {
  /// What time is.
  public enum Clock: String, Sendable, Hashable, CaseIterable { case real, virtual }

  /// swift-log's levels.
  public enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    case trace, debug, info, notice, warning, error, critical

    /// The lower says more.
    public static func < (left: LogLevel, right: LogLevel) -> Bool {
      let (left, right) = (allCases.firstIndex(of: left), allCases.firstIndex(of: right))
      return (left ?? 0) < (right ?? 0)
    }
  }

  /// Where bytes that anybody may have made are parsed.
  public enum Isolation: String, Sendable, Hashable, CaseIterable {
    /// In the daemon.
    case none
    /// Worker processes open files, read their tags, decode them for `scan` and `waveform`, and make images. The daemon decodes what
    /// plays, once a worker has opened it and decoded its beginning.
    case opening
    /// As `opening`, and files that play are decoded in worker processes, too.
    case playback
  }

  /// Where to listen; nil: where `SocketLocation` chooses.
  public var socketPath: String?
  public var socketMode: UInt32 = 0o600
  /// A group's name or number; nil: the process's own.
  public var socketGroup: String?
  /// As `OutputSpec` reads it; nil: `auto`, or `null` on the virtual clock.
  public var output: String?
  public var clock = Clock.real
  public var pulseServer: String?
  /// Devices by name, the dearest first.
  public var preferredOutputs: [String] = []
  public var lostDevice = LostDevicePolicy.pause
  /// Milliseconds of audio that a sound server buffers, in `outputLatencyRange`.
  public var outputLatency = 100
  /// Playback starts when 200 ms of audio are decoded: a longer buffer would begin with silence.
  public static let outputLatencyRange = 10...200
  public var logLevel = LogLevel.notice
  /// Users and groups, by name or number, that may connect besides the daemon's own user; what they may; and who may only watch.
  public var users: [String] = []
  public var groups: [String] = []
  public var rights: Rights = [.read, .control]
  public var watchingUsers: [String] = []
  public var watchingGroups: [String] = []
  /// Nil: everywhere.
  public var readRoots: [String]?
  public var writeRoots: [String] = []
  /// The bytes of a file system that stay free when files are written for clients; 0: no reserve.
  public var reservedFreeBytes = 0
  public var isNetworkAllowed = true
  /// The networks and hosts that may be reached (none: all), and those that may not.
  public var allowedNetworks: [String] = []
  public var deniedNetworks: [String] = []
  public var certificateAuthorityFile: String?
  /// Whether players and queues are saved, and where; nil: where `StateFolder` chooses, and nowhere on the virtual clock.
  public var savesState = true
  public var stateFolder: String?
  /// From how many seconds on an entry leaves a bookmark where it is left; 0: none does. And whether new entries begin there.
  public var bookmarksFromSeconds = 600
  public var resumesWhereLeft = false
  /// What the sound is used for from the start; nothing of it is saved.
  public var sessionCategory = SessionCommand.Category.playAndRecord
  public var isolation = Isolation.opening
  /// The encoding of tags that do not state one.
  public var tagCharset = TextCharset.automatic
  public var limits = WireLimits.standard
  /// Whether the daemon restricts its own access to files with Landlock.
  public var usesLandlock = true

  public init() {}

  /// What is to be played on. Errors: those of `OutputSpec`.
  public func outputSpec() throws(MediaError) -> OutputSpec {
    if let output { return try OutputSpec(parsing: output) }
    return OutputSpec(clock == .virtual ? .null : .auto)
  }

  /// Where files are read. Errors: those of `FileRoots`.
  public func readableRoots() throws(MediaError) -> FileRoots {
    if let readRoots { return try FileRoots(folders: readRoots) }
    return .everywhere
  }

  /// What the server allows. Errors: `invalid-argument` for a user or group that there is none of; those of `FileRoots`.
  public func policy() throws(MediaError) -> ServerPolicy {
    var policy = ServerPolicy()
    policy.access.userIDs = try Accounts.users(users)
    policy.access.groupIDs = try Accounts.groups(groups)
    policy.access.rights = rights
    policy.access.watchingUserIDs = try Accounts.users(watchingUsers)
    policy.access.watchingGroupIDs = try Accounts.groups(watchingGroups)
    policy.limits = limits
    if bookmarksFromSeconds > 0 {
      policy.shortestBookmarkedDuration = MediaTime(value: Int64(bookmarksFromSeconds), timescale: 1)
    }
    policy.resumesWhereLeft = resumesWhereLeft
    policy.writableRoots = try FileRoots(folders: writeRoots)
    policy.isNetworkAllowed = isNetworkAllowed
    try policy.setNetworkRules(allow: allowedNetworks, deny: deniedNetworks)
    policy.certificateAuthorityFile = certificateAuthorityFile
    return policy
  }

  /// What only several options together show. Errors: `invalid-argument`.
  public func checkTogether() throws(MediaError) {
    let spec = try outputSpec()
    if clock == .virtual, !spec.allowsVirtualClock {
      throw MediaError(
        .invalidArgument, "a virtual clock needs an output without a device: null, wav:PATH or pipe:PATH",
        operation: "clock")
    }
  }
}

extension DaemonOptions {
  /// These options, with the values of others where only a start can change the value.
  ///
  /// - Parameter names: Further options whose values the others keep, although they are reloadable.
  public func keepingWhatIsOfTheStart(of others: DaemonOptions, and names: [String] = []) -> DaemonOptions {
    var options = self
    for option in OptionTable.all where !option.isReloadable || names.contains(option.name) {
      option.copy(&options, others)
    }
    return options
  }
}
