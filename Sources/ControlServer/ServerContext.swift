import Logging
import MediaCore
import NIOCore
import Playback
import WireProtocol

/// What all connections share.
///
/// Threading: confined to the control loop, but for constants.
final class ServerContext: @unchecked Sendable {
  // `@unchecked Sendable`: confined to the control loop; the channel initializer and timers carry it there.

  /// What `stats` tells, since the start.
  struct Counters {
    var requests: UInt64 = 0
    var errors: UInt64 = 0
    var events: UInt64 = 0
    var dropped: UInt64 = 0
    var refused: UInt64 = 0
  }

  let version: String
  let limits: WireLimits
  /// Users besides the daemon's own who may connect.
  let allowedUserIDs: Set<UInt32>
  let engine: PlaybackEngine
  let registry: PlayerRegistry
  /// Reads lists of media, off the loop.
  let playlistLoader: PlaylistLoader
  let logger: Logger
  /// When the server started, on the engine's clock.
  let startTime: HostTime
  var counters = Counters()
  /// Connections that are over and wait for their peers to close; beyond this many they are closed at once.
  static let lingeringLimit = 64
  var lingeringCount = 0
  /// Every connection that is served.
  var connections: [ObjectIdentifier: Connection] = [:]
  /// All that is gathered on them behind `queue.begin`.
  var gathered = EditSize()
  var isShuttingDown = false
  /// Virtual time that clients asked for, and how many nanoseconds have been let pass for it.
  var virtualTime = (requested: MediaTime.zero, nanoseconds: Int64(0))

  /// On the control loop.
  init(
    version: String, limits: WireLimits, allowedUserIDs: Set<UInt32>, engine: PlaybackEngine, logger: Logger
  ) {
    self.version = version
    self.limits = limits
    self.allowedUserIDs = allowedUserIDs
    self.engine = engine
    self.logger = logger
    registry = PlayerRegistry(engine: engine, limits: limits)
    playlistLoader = PlaylistLoader(loop: engine.loop)
    startTime = engine.loop.now
  }

  var loop: any ControlLoop { engine.loop }

  /// The time that has passed on the engine's clock.
  var uptimeNanoseconds: Int64 { loop.now.nanoseconds(since: startTime) }
}
