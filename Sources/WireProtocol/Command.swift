import MediaCore

/// A request's meaning, whichever form it came in: typed, checked, and sorted by the family whose handler runs it.
public enum Command: Sendable, Hashable {
  case connection(ConnectionCommand)
  case playback(PlaybackCommand, player: String)
  case queue(QueueCommand, player: String)
  case item(ItemCommand, player: String)
  case watching(WatchingCommand)
  case players(PlayersCommand)

  /// Whether this command answers only when something has happened. With an id it then holds up nothing; without one it holds
  /// up what comes after it on its connection.
  public var isWaiting: Bool {
    switch self {
    case .playback(.seek, _), .watching(.wait), .watching(.clockAdvance): true
    case .queue(.load(_, let waitUntilReady, _), _): waitUntilReady
    case .queue(.append(_, let waitUntilReady, _, _), _): waitUntilReady
    case .queue(.insert(_, _, let waitUntilReady, _, _), _): waitUntilReady
    default: false
    }
  }
}

/// Commands about the connection itself.
public enum ConnectionCommand: Sendable, Hashable {
  /// The protocol version that the client wants, if it says so.
  case hello(protocolVersion: Int?)
  case ping
  /// The command to explain, or nil for the list.
  case help(CommandName?)
  case stats
  case bye
}

/// Commands that play one player's queue.
public enum PlaybackCommand: Sendable, Hashable {
  case play
  case pause
  case toggle
  case stop
  case seek(Seek)
  /// The rate to play with; never 0. Nil asks for the present one.
  case rate(Double?)
  /// 0 to 1. Nil asks for the present one.
  case volume(Double?)
  /// Nil asks for the present state.
  case mute(Switch?)
  /// Nil asks for the present action.
  case endAction(ItemEndAction?)
  case status

  /// Where to go, and how exactly.
  public struct Seek: Sendable, Hashable {
    public var target: TimeExpression
    /// Not negative, possibly positive infinity; zero unless said.
    public var toleranceBefore: MediaTime
    /// Not negative, possibly positive infinity; zero unless said.
    public var toleranceAfter: MediaTime
    /// The item that must be the current one, or the seek fails.
    public var item: Int?

    public init(
      target: TimeExpression, toleranceBefore: MediaTime = .zero, toleranceAfter: MediaTime = .zero, item: Int? = nil
    ) {
      self.target = target
      self.toleranceBefore = toleranceBefore
      self.toleranceAfter = toleranceAfter
      self.item = item
    }
  }

  /// What to do with something that is on or off.
  public enum Switch: String, Sendable, Hashable, CaseIterable {
    case on
    case off
    case toggle
  }

  /// AVPlayer's `actionAtItemEnd`.
  public enum ItemEndAction: String, Sendable, Hashable, CaseIterable {
    case advance
    case pause
    case none
  }
}

/// Commands that edit or list one player's queue. `ifVersion` is the version that the queue must have for the edit to be done.
/// With `precise` the durations of the new entries are found out exactly.
public enum QueueCommand: Sendable, Hashable {
  /// Replaces the queue; at least one path.
  case load([FilePath], waitUntilReady: Bool, precise: Bool = false)
  /// Adds to the end; at least one path.
  case append([FilePath], waitUntilReady: Bool, ifVersion: Int?, precise: Bool = false)
  /// Adds at a place; at least one path.
  case insert([FilePath], at: QueuePlace, waitUntilReady: Bool, ifVersion: Int?, precise: Bool = false)
  /// Removes entries; at least one id.
  case remove([Int], ifVersion: Int?)
  case clear
  /// Rows from `offset` on, at most `limit`.
  case list(offset: Int, limit: Int)
  case next

  /// A place in the queue.
  public enum QueuePlace: Sendable, Hashable {
    /// Behind the current item; at the beginning of a queue without one.
    case next
    case after(item: Int)
    case before(item: Int)
  }
}

/// Commands about one queue entry.
public enum ItemCommand: Sendable, Hashable {
  case status(item: Int)
}

/// Commands that watch, or wait for, what happens.
public enum WatchingCommand: Sendable, Hashable {
  /// The keys in the table's order, each once; at least one.
  case observe([ObservableKey], player: String)
  case unobserve(subscription: Int)
  /// A periodic observer; the interval, in item time, is positive and numeric.
  case tick(interval: MediaTime, player: String)
  /// A boundary observer; at least one time, each numeric and not negative. With an item it fires in that one only.
  case at([MediaTime], item: Int?, player: String)
  /// Removes a periodic or boundary observer.
  case untick(subscription: Int)
  /// Answers when all conditions hold; at least one. The time-out is not negative.
  case wait([WaitCondition], timeout: MediaTime?, player: String)
  /// Lets so much of the virtual clock pass; not negative.
  case clockAdvance(MediaTime)
}

/// Commands about the players of the daemon and their outputs.
public enum PlayersCommand: Sendable, Hashable {
  case create(name: String)
  case close(name: String)
  case list
  case outputStatus(player: String)
}

/// Something that becomes true while playing.
public enum WaitCondition: Sendable, Hashable {
  /// The current item's time has reached this.
  case timeAtLeast(MediaTime)
  case status(TimeControlStatus)
  /// This is the current item.
  case currentItem(Int)
  /// No current item, or stopped at the end of the last.
  case ended
  /// The current item is ready to play.
  case ready

  /// AVPlayer's `timeControlStatus`, by the names it has in replies; `waiting` is short for the long one in conditions.
  public enum TimeControlStatus: String, Sendable, Hashable, CaseIterable {
    case paused
    case waitingToPlayAtSpecifiedRate
    case playing
  }
}
