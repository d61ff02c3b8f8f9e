import MediaCore

/// A parsed and checked request, independent of its form.
public enum FamilyCommand: Sendable, Hashable {
  case queue(QueueCommand, player: String)
  /// A command that is defined as a type (``Command``).
  case typed(ParsedArguments)

  /// Whether the reply is sent only after an event or a background operation. With an id, such a request does not delay
  /// other requests. Without an id it delays all later requests on its connection.
  public var isWaiting: Bool {
    switch self {
    case .queue(.load(_, let waitUntilReady, _, _, _, _, _), _): waitUntilReady
    case .queue(.append(_, let waitUntilReady, _, _, _, _, _), _): waitUntilReady
    case .queue(.insert(_, _, let waitUntilReady, _, _, _, _, _), _): waitUntilReady
    case .queue(.commit(let waitUntilReady), _): waitUntilReady
    case .queue(.expanding, _): true
    case .typed(let arguments): arguments.spec.waits(arguments)
    default: false
    }
  }
}

/// Commands that edit or list one player's queue.
///
/// - `ifVersion`: the queue must have this version. Nil: any.
/// - `precise`: whether the exact durations of the new entries are determined.
/// - `resumes`: whether the new entries start at their last position. Nil: as configured in the daemon.
public enum QueueCommand: Sendable, Hashable {
  /// Replaces the queue. At least one path. A title is allowed with one path only.
  case load(
    WireList<FilePath>, waitUntilReady: Bool, precise: Bool = false, ifVersion: Int? = nil,
    network: NetworkOptions = NetworkOptions(), resumes: Bool? = nil, title: String? = nil)
  /// Appends entries to the queue. At least one path.
  case append(
    WireList<FilePath>, waitUntilReady: Bool, ifVersion: Int?, precise: Bool = false,
    network: NetworkOptions = NetworkOptions(), resumes: Bool? = nil, title: String? = nil)
  /// Inserts entries at a position. At least one path.
  case insert(
    WireList<FilePath>, at: QueuePosition, waitUntilReady: Bool, ifVersion: Int?, precise: Bool = false,
    network: NetworkOptions = NetworkOptions(), resumes: Bool? = nil, title: String? = nil)
  /// Removes entries. At least one id.
  case remove(WireList<EntryReference>, ifVersion: Int?)
  case move(item: EntryReference, to: QueuePosition, ifVersion: Int?)
  /// Replaces the entry with another file.
  case replace(
    item: EntryReference, FilePath, ifVersion: Int?, precise: Bool = false, network: NetworkOptions = NetworkOptions())
  case clear(ifVersion: Int? = nil)
  /// The rows from `offset` on, at most `limit`.
  case list(offset: Int, limit: Int)
  /// The rows of previously played entries, newest first, at most `limit`.
  case history(limit: Int)
  case next(ifVersion: Int? = nil)
  /// Returns to the previous entry. If the heard time is after `restartAfter`, restarts the current entry instead.
  case previous(restartAfter: MediaTime?, ifVersion: Int?)
  case jump(JumpTarget, ifVersion: Int?)
  /// Nil returns the current state. A seed is allowed with `on` only.
  case shuffle(SwitchSetting?, seed: Int?, ifVersion: Int?)
  /// Nil returns the current policy.
  case onFailure(FailurePolicy?)
  /// Applies all edits or none. At least one edit, and only `load`, `append`, `insert`, `remove`, `move`, `replace` and
  /// `clear`, without separate versions.
  case edit(WireList<QueueCommand>, ifVersion: Int?)
  /// Starts to collect the following edits on this connection until `commit` or `abort`.
  case begin(ifVersion: Int?)
  /// Applies all collected edits, or none. With `waitUntilReady`, the reply comes when their new entries are ready.
  case commit(waitUntilReady: Bool)
  case abort
  /// A `load`, `append` or `insert` whose paths `lists` are playlists. The entries of each playlist replace its path.
  /// `isForced`: the request declares the paths as playlists, regardless of their names.
  indirect case expanding(QueueCommand, lists: WireList<FilePath>, isForced: Bool)
  /// The changes of the queue since a version. `instance` is the instance of the daemon that the version belongs to, if
  /// given.
  case changes(since: Int, instance: String?)
  /// The queue as lines of a playlist: `limit` entries from `offset` on. `base` is the folder of the future playlist
  /// file, for relative paths.
  case export(PlaylistFormat, base: FilePath?, offset: Int, limit: Int)

  /// The playlist formats that can be written.
  public enum PlaylistFormat: String, Sendable, Hashable, CaseIterable {
    case m3u8
    case pls
    case xspf
    case cue
  }

  /// A position in the queue.
  public enum QueuePosition: Sendable, Hashable {
    /// After the current item. At the beginning of a queue without a current item.
    case next
    case after(item: EntryReference)
    case before(item: EntryReference)
    /// Index 0 is the current item.
    case index(Int)
  }

  /// The entry to jump to.
  public enum JumpTarget: Sendable, Hashable {
    case item(EntryReference)
    /// Index 0 is the current item.
    case index(Int)
  }

  /// The reaction of a player to the failure of an item.
  public enum FailurePolicy: String, Sendable, Hashable, CaseIterable {
    case skip
    case stop
    case retry
  }
}

/// A condition of playback to wait for.
public enum WaitCondition: Sendable, Hashable {
  /// The current item's time has reached this time, playing forwards.
  case timeAtLeast(MediaTime)
  /// The current item's time has reached this time, playing backwards.
  case timeAtMost(MediaTime)
  case status(TimeControlStatus)
  /// The current item has this id.
  case currentItem(Int)
  /// There is no current item, or playback stopped at the end of the last item.
  case ended
  /// The current item is ready to play.
  case ready

  /// AVPlayer's `timeControlStatus`, with the names of the replies. Conditions accept `waiting` as the short form of
  /// the long name.
  public enum TimeControlStatus: String, Sendable, Hashable, CaseIterable {
    case paused
    case waitingToPlayAtSpecifiedRate
    case playing
  }
}
