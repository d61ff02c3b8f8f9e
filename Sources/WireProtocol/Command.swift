import MediaCore

/// A request's meaning, whichever form it came in: typed, checked, and sorted by the family whose handler runs it.
public enum Command: Sendable, Hashable {
  case connection(ConnectionCommand)
  case playback(PlaybackCommand, player: String)
  case queue(QueueCommand, player: String)
  case item(ItemCommand, player: String)
  case asset(AssetCommand)
  case watching(WatchingCommand)
  case players(PlayersCommand)
  case session(SessionCommand)
  case state(StateCommand)
  case record(RecordCommand)

  /// Whether this command answers only when something has happened. With an id it then holds up nothing; without one it holds
  /// up what comes after it on its connection.
  public var isWaiting: Bool {
    switch self {
    case .playback(.seek, _), .playback(.loop, _), .playback(.step, _), .playback(.preroll, _), .players(.playAt),
      .playback(.chapter, _), .asset(.load), .asset(.metadata), .asset(.artwork), .asset(.scan), .asset(.waveform),
      .asset(.export), .asset(.image),
      .item(.metadata, _), .item(.artwork, _),
      .players(.rateTogether), .state(.save), .state(.saveQueue), .state(.loadQueue), .state(.savedQueues),
      .state(.forgetQueue), .state(.goToBookmark), .connection(.reloadConfiguration),
      .record(.prepare), .record(.stop), .record(.delete),
      .watching(.wait), .watching(.clockAdvance):
      true
    case .queue(.load(_, let waitUntilReady, _, _, _, _), _): waitUntilReady
    case .queue(.append(_, let waitUntilReady, _, _, _, _), _): waitUntilReady
    case .queue(.insert(_, _, let waitUntilReady, _, _, _, _), _): waitUntilReady
    case .queue(.expanding, _): true
    case .watching(.events(let query)): query.waits
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
  /// The waiting request that is to end. In words an id of either form: who drives the daemon by hand has only one.
  case cancel(RequestID)
  /// Has the daemon read its configuration again.
  case reloadConfiguration
  case bye
}

/// Commands that play one player's queue.
public enum PlaybackCommand: Sendable, Hashable {
  case play
  case pause
  /// At this rate, never 0; nil: at the present one, or that of `play`.
  case playImmediately(Double?)
  case toggle
  case stop
  case seek(Seek)
  /// So many steps forward, or back.
  case step(Int)
  /// For this rate, never 0; nil: for that of `play`.
  case preroll(Double?)
  case cancelPrerolls
  case cancelSeeks
  /// The rate, 0 for none, from when on, and at which time of the item; nil: where it is.
  case rateAt(Double, RateMoment, from: MediaTime?)
  /// Nil asks for the present state.
  case autoWait(Switch?)
  /// The rate to play with; never 0. Nil asks for the present one.
  case rate(Double?)
  /// The rate that `play` sets; never 0. Nil asks for the present one.
  case defaultRate(Double?)
  /// 0 to 1. Nil asks for the present one.
  case volume(Double?)
  /// To a volume from 0 to 1, over a span that is not negative.
  case fade(to: Double, duration: MediaTime, FadeCurve)
  /// -1 to 1. Nil asks for the present one.
  case pan(Double?)
  /// Nil asks for the present state.
  case mute(Switch?)
  /// Nil asks for the present action.
  case endAction(ItemEndAction?)
  /// How items are made as loud as each other: changes what it says.
  case replayGain(ReplayGainChange)
  /// What becomes of the pitch at other rates than 1. Nil asks for the present one.
  case pitch(PitchAlgorithm?)
  /// Nil asks for the present mode.
  case `repeat`(RepeatMode?)
  case loop(Loop)
  /// To the next chapter, or back.
  case chapter(isNext: Bool)
  case status
  /// Which of several tracks entries present by themselves: changes that, if it says how, and gives it.
  case mediaSelection(MediaSelectionChange)

  /// When a rate is to hold.
  public enum RateMoment: Sendable, Hashable {
    /// As soon as can be.
    case now
    /// So long from now; not negative.
    case after(MediaTime)
    /// At an instant of the daemon's clock, in seconds; not negative.
    case instant(MediaTime)
  }

  /// What to do about a loop of the current item.
  public struct Loop: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
      /// Tells which there is.
      case none
      case off
      /// Lets the present pass be the last.
      case end
      /// Loops a range; `count`: how many times playback goes back, nil: for ever.
      case range(start: TimeExpression, end: TimeExpression, count: Int?)
    }

    public var change: Change
    /// The item that must be the current one.
    public var item: Int?

    public init(_ change: Change, item: Int? = nil) {
      self.change = change
      self.item = item
    }
  }

  /// What is played again.
  public enum RepeatMode: String, Sendable, Hashable, CaseIterable {
    case off
    case one
    case all
  }

  /// Where to go, and how exactly.
  public struct Seek: Sendable, Hashable {
    /// Where to go.
    public enum Place: Sendable, Hashable {
      case time(TimeExpression)
      /// What was recorded then: nanoseconds since 1970.
      case date(Int64)
    }

    public var place: Place
    /// Not negative, possibly positive infinity; zero unless said.
    public var toleranceBefore: MediaTime
    /// Not negative, possibly positive infinity; zero unless said.
    public var toleranceAfter: MediaTime
    /// Whether the seek under way is heard first; else this one takes its place.
    public var isChase: Bool
    /// The item that must be the current one, or the seek fails.
    public var item: Int?

    public init(
      place: Place, toleranceBefore: MediaTime = .zero, toleranceAfter: MediaTime = .zero,
      isChase: Bool = false, item: Int? = nil
    ) {
      self.place = place
      self.toleranceBefore = toleranceBefore
      self.toleranceAfter = toleranceAfter
      self.isChase = isChase
      self.item = item
    }
  }

  /// What to do with something that is on or off.
  public enum Switch: String, Sendable, Hashable, CaseIterable {
    case on
    case off
    case toggle
  }

  /// How a volume moves.
  public enum FadeCurve: String, Sendable, Hashable, CaseIterable {
    case linear
    case equalPower = "equal-power"
  }

  /// Which of a file's gains is applied.
  public enum ReplayGainMode: String, Sendable, Hashable, CaseIterable {
    case off, track, album, auto
  }

  /// What is to become of replay gain. Nil leaves something as it is.
  public struct ReplayGainChange: Sendable, Hashable {
    public var mode: ReplayGainMode?
    /// In dB, -15 to 15.
    public var preampDecibels: Double?
    /// In dB, -60 to 15.
    public var fallbackDecibels: Double?
    public var preventsClipping: Bool?

    public init(
      mode: ReplayGainMode? = nil, preampDecibels: Double? = nil, fallbackDecibels: Double? = nil,
      preventsClipping: Bool? = nil
    ) {
      self.mode = mode
      self.preampDecibels = preampDecibels
      self.fallbackDecibels = fallbackDecibels
      self.preventsClipping = preventsClipping
    }
  }

  /// AVPlayerItem's `audioTimePitchAlgorithm`.
  public enum PitchAlgorithm: String, Sendable, Hashable, CaseIterable {
    case timeDomain
    case spectral
    case varispeed
  }

  /// AVPlayer's `actionAtItemEnd`.
  public enum ItemEndAction: String, Sendable, Hashable, CaseIterable {
    case advance
    case pause
    case none
  }
}

/// Commands that edit or list one player's queue. `ifVersion` is the version that the queue must have for the edit to be done.
/// With `precise` the durations of the new entries are found out exactly. With `resumes` they begin where they were left; nil: as the
/// daemon's configuration says.
public enum QueueCommand: Sendable, Hashable {
  /// Replaces the queue; at least one path.
  case load(
    WireList<FilePath>, waitUntilReady: Bool, precise: Bool = false, ifVersion: Int? = nil,
    network: NetworkOptions = NetworkOptions(), resumes: Bool? = nil)
  /// Adds to the end; at least one path.
  case append(
    WireList<FilePath>, waitUntilReady: Bool, ifVersion: Int?, precise: Bool = false,
    network: NetworkOptions = NetworkOptions(), resumes: Bool? = nil)
  /// Adds at a place; at least one path.
  case insert(
    WireList<FilePath>, at: QueuePlace, waitUntilReady: Bool, ifVersion: Int?, precise: Bool = false,
    network: NetworkOptions = NetworkOptions(), resumes: Bool? = nil)
  /// Removes entries; at least one id.
  case remove(WireList<Int>, ifVersion: Int?)
  case move(item: Int, to: QueuePlace, ifVersion: Int?)
  /// Puts another file in an entry's place.
  case replace(item: Int, FilePath, ifVersion: Int?, precise: Bool = false, network: NetworkOptions = NetworkOptions())
  case clear(ifVersion: Int? = nil)
  /// Rows from `offset` on, at most `limit`.
  case list(offset: Int, limit: Int)
  /// Rows of what was played before, the newest first, at most `limit`.
  case history(limit: Int)
  case next(ifVersion: Int? = nil)
  /// With `restartAfter`: from behind that time the current entry begins anew.
  case previous(restartAfter: MediaTime?, ifVersion: Int?)
  case jump(JumpTarget, ifVersion: Int?)
  /// Nil asks for the present state. A seed stands with `on` only.
  case shuffle(PlaybackCommand.Switch?, seed: Int?, ifVersion: Int?)
  /// Nil asks for the present policy.
  case onFailure(FailurePolicy?)
  /// All of these edits or none; at least one, and nothing but `load`, `append`, `insert`, `remove`, `move`, `replace` and
  /// `clear`, without versions of their own.
  case edit(WireList<QueueCommand>, ifVersion: Int?)
  /// What edits follow on this connection are gathered until `commit` or `abort`.
  case begin(ifVersion: Int?)
  case commit
  case abort
  /// A `load`, `append` or `insert` of which these paths are lists of media: what they name comes in their places. `isForced`:
  /// they were said to be lists, whatever their names are.
  indirect case expanding(QueueCommand, lists: WireList<FilePath>, isForced: Bool)
  /// What happened to the queue since it had a version, in the daemon's instance that is named, if one is.
  case changes(since: Int, instance: String?)
  /// The queue as lines of a list: those of `limit` entries from `offset` on. `base`: the folder in which it will lie.
  case export(PlaylistForm, base: FilePath?, offset: Int, limit: Int)

  /// The kinds of lists that are written.
  public enum PlaylistForm: String, Sendable, Hashable, CaseIterable {
    case m3u8
    case pls
    case xspf
    case cue
  }

  /// A place in the queue.
  public enum QueuePlace: Sendable, Hashable {
    /// Behind the current item; at the beginning of a queue without one.
    case next
    case after(item: Int)
    case before(item: Int)
    /// 0 is the current item's.
    case index(Int)
  }

  /// An entry to go to.
  public enum JumpTarget: Sendable, Hashable {
    case item(Int)
    /// 0 is the current item's.
    case index(Int)
  }

  /// What becomes of a player when an item fails.
  public enum FailurePolicy: String, Sendable, Hashable, CaseIterable {
    case skip
    case stop
  }
}

/// Commands about one queue entry.
public enum ItemCommand: Sendable, Hashable {
  case status(item: Int)
  case log(item: Int)
  /// Changes where the item ends. Nil leaves an end as it is, an invalid time takes it away.
  case endTime(item: Int, forward: MediaTime?, reverse: MediaTime?)
  /// Changes how far ahead the item is decoded, if it says so.
  case buffer(item: Int, MediaTime?)
  /// Changes the item's mix, if it says how, and lists it.
  case volume(item: Int, MixChange)
  /// Sets the item's pitch algorithm, if it says how, and gives it.
  case pitch(item: Int, PitchChange?)
  /// Puts a copy of the entry into the queue.
  case copy(item: Int, to: QueueCommand.QueuePlace, ifVersion: Int?)

  /// What the item's tags say.
  case metadata(item: Int, MetadataQuery)
  /// The pictures in them.
  case artwork(item: Int, ArtworkQuery)
  /// The item's tracks, and which of them are presented.
  case tracks(item: Int)
  /// What there is to choose from among its tracks, and what is chosen.
  case selection(item: Int)
  /// With the title in the first of the languages that there is one in.
  case chapters(item: Int, offset: Int, languages: WireList<String> = [])
  /// Presents other tracks: nil leaves them as they are.
  case select(item: Int, audio: TrackChoice?, subtitles: TrackChoice?)

  /// Which of several tracks.
  public enum TrackChoice: Sendable, Hashable {
    case track(Int)
    /// The best in a language.
    case language(String)
    /// Nothing.
    case none
    /// What the file would have.
    case automatic
  }

  /// What an item's pitch algorithm becomes.
  public enum PitchChange: Sendable, Hashable {
    case own(PlaybackCommand.PitchAlgorithm)
    /// None of its own: the player's.
    case player
  }

  /// What happens to an item's volume.
  public struct MixChange: Sendable, Hashable {
    /// Forget what there was, first.
    public var clears: Bool
    public var step: MixStep?

    public init(clears: Bool, step: MixStep?) {
      self.clears = clears
      self.step = step
    }
  }

  /// A set point, or a ramp, of an item's volume.
  public struct MixStep: Sendable, Hashable {
    /// 0 to 1.
    public var volume: Double
    /// In the item's time.
    public var time: MediaTime
    /// Where the ramp ends, and how long it lasts, which is more than 0; nil for a point.
    public var ramp: Ramp?

    public struct Ramp: Sendable, Hashable {
      public var volume: Double
      public var duration: MediaTime

      public init(volume: Double, duration: MediaTime) {
        self.volume = volume
        self.duration = duration
      }
    }

    public init(volume: Double, time: MediaTime, ramp: Ramp?) {
      self.volume = volume
      self.time = time
      self.ramp = ramp
    }
  }
}

/// Commands that watch, or wait for, what happens.
public enum WatchingCommand: Sendable, Hashable {
  /// The keys in the table's order, each once; at least one.
  case observe([ObservableKey], player: String)
  case unobserve(subscription: Int)
  /// A periodic observer; the interval, in item time, is positive and numeric.
  case tick(interval: MediaTime, player: String)
  /// A boundary observer; at least one time, each numeric and not negative. With an item it fires in that one only; with
  /// `includesSeeks` for seeks over a time, too.
  case at(WireList<MediaTime>, item: Int?, includesSeeks: Bool, player: String)
  /// A boundary observer of the starts of the current item's chapters, likewise.
  case atChapters(item: Int?, includesSeeks: Bool, player: String)
  /// Removes a periodic or boundary observer.
  case untick(subscription: Int)
  /// Levels, so many times a second: 1 to 100.
  case meter(rate: Double, player: String)
  case unmeter(subscription: Int)
  /// Answers when all conditions hold; at least one. The time-out is not negative.
  case wait(WireList<WaitCondition>, timeout: MediaTime?, player: String)
  /// Lets so much of the virtual clock pass; not negative.
  case clockAdvance(MediaTime)
  /// Where the time of the last start or seek went.
  case explain(player: String)
  /// The events since a number, or from now on.
  case events(EventQuery)
}

/// Which of the logged events are wanted.
public struct EventQuery: Sendable, Hashable {
  /// The keys that they are observed with, in the table's order; all of them when none was named.
  public var keys: [ObservableKey]
  /// The player; nil: of all.
  public var player: String?
  /// The last number that is known; nil: begin with what comes.
  public var since: Int?
  /// The daemon's instance that the number is of; nil: not to be compared.
  public var instance: String?
  /// At most so many.
  public var limit: Int
  /// Whether to wait where there is none yet, and for how long.
  public var waits: Bool
  public var timeout: MediaTime?
}

/// Commands about the players of the daemon and their outputs.
public enum PlayersCommand: Sendable, Hashable {
  case create(name: String)
  case close(name: String)
  case list
  case outputStatus(player: String)
  case outputList
  /// Nil: as it is.
  case outputSet(device: String?, preferred: WireList<String>?, lost: LostDevicePolicy?)
  /// Starts players with the same frame of the output; at least one name.
  case playAt(StartMoment, players: WireList<String>)
  /// Changes the rate of players with the same frame of the output; never 0, and at least one name.
  case rateTogether(Double, players: WireList<String>)

  /// When players that start together do.
  public enum StartMoment: Sendable, Hashable {
    /// As soon as all of them are ready.
    case now
    /// So long from now; not negative.
    case after(MediaTime)
    /// At an instant of the daemon's clock, in seconds; not negative.
    case instant(MediaTime)
    /// With a frame of the output; not negative.
    case frame(Int64)
  }
}

/// Something that becomes true while playing.
public enum WaitCondition: Sendable, Hashable {
  /// The current item's time has reached this, forwards.
  case timeAtLeast(MediaTime)
  /// The current item's time has reached this, backwards.
  case timeAtMost(MediaTime)
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

/// Commands about what is saved.
public enum StateCommand: Sendable, Hashable {
  case status
  case save
  case saveQueue(name: String, player: String)
  /// Replaces the player's queue, if that has this version.
  case loadQueue(name: String, ifVersion: Int?, player: String)
  case savedQueues
  case forgetQueue(name: String)
  /// Puts a bookmark in the current item; nil: where that is heard. An empty name is none.
  case addBookmark(at: MediaTime?, name: String, player: String)
  /// Rows from `offset` on, at most `limit`; of one entry, if one is named.
  case bookmarks(item: Int?, offset: Int, limit: Int, player: String)
  case removeBookmark(Int)
  case goToBookmark(BookmarkTarget, player: String)

  /// Which bookmark of the current item.
  public enum BookmarkTarget: Sendable, Hashable {
    case number(Int)
    case name(String)
    /// Where the item was left.
    case left
  }
}
