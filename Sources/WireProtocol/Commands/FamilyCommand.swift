import MediaCore

/// A parsed request, independent of its form: typed, checked, and grouped by the family whose handler runs it.
public enum FamilyCommand: Sendable, Hashable {
  case playback(PlaybackCommand, player: String)
  case queue(QueueCommand, player: String)
  case item(ItemCommand, player: String)
  case asset(AssetCommand)
  case watching(WatchingCommand)
  case players(PlayersCommand)
  /// A command that is defined as a type (``Command``).
  case typed(ParsedArguments)

  /// The name that selects all players.
  public static let allPlayers = "*"

  /// Whether the reply is sent only after an event or a background operation. With an id, such a request does not delay
  /// other requests. Without an id it delays all later requests on its connection.
  public var isWaiting: Bool {
    switch self {
    case .playback(.playRange, _), .playback(.seek, _), .playback(.loop, _), .playback(.step, _),
      .playback(.preroll, _), .players(.playAt),
      .playback(.chapter, _), .asset(.load), .asset(.metadata), .asset(.artwork), .asset(.scan), .asset(.waveform),
      .asset(.export), .asset(.image), .asset(.folder),
      .item(.metadata, _), .item(.artwork, _),
      .players(.rateTogether),
      .watching(.wait), .watching(.clockAdvance):
      true
    case .queue(.load(_, let waitUntilReady, _, _, _, _, _), _): waitUntilReady
    case .queue(.append(_, let waitUntilReady, _, _, _, _, _), _): waitUntilReady
    case .queue(.insert(_, _, let waitUntilReady, _, _, _, _, _), _): waitUntilReady
    case .queue(.commit(let waitUntilReady), _): waitUntilReady
    case .playback(.fade(_, _, _, _, let waits), _): waits
    case .queue(.expanding, _): true
    case .watching(.events(let query)): query.waits
    case .typed(let arguments): arguments.spec.waits(arguments)
    default: false
    }
  }
}

/// Commands that play one player's queue.
public enum PlaybackCommand: Sendable, Hashable {
  case play
  /// Plays a range of the current item. The reply comes at its end.
  case playRange(PlayedRange)
  case pause
  /// Plays at this rate, never 0. Nil: the current rate, or the rate that `play` would use.
  case playImmediately(Double?)
  case toggle
  case stop
  case seek(Seek)
  /// Moves by this number of steps. Negative: backwards.
  case step(Int)
  /// Prepares audio for this rate, never 0. Nil: the rate that `play` would use.
  case preroll(Double?)
  case cancelPrerolls
  case cancelSeeks
  /// Sets a rate at a moment. A rate of 0 pauses. `from` is the time of the item at that moment. Nil: the current
  /// position.
  case rateAt(Double, RateMoment, from: MediaTime?)
  /// Nil returns the current state.
  case autoWait(Switch?)
  /// Sets the rate, never 0. Nil returns the current rate.
  case rate(Double?)
  /// Sets the rate that `play` uses, never 0. Nil returns the current one.
  case defaultRate(Double?)
  /// Sets or changes the volume. Nil returns the current volume.
  case volume(VolumeSetting?)
  /// Fades to a volume. The duration is not negative. `waits`: the reply comes at the end of the fade.
  case fade(
    to: VolumeSetting, duration: MediaTime, FadeCurve, endAction: FadeEndAction = .none, waits: Bool = false)
  /// Sets the pan, -1 to 1. Nil returns the current pan.
  case pan(Double?)
  /// Nil returns the current state.
  case mute(Switch?)
  /// Nil returns the current action.
  case endAction(ItemEndAction?)
  /// Changes the options of ReplayGain (loudness normalization), and returns them.
  case replayGain(ReplayGainChange)
  /// Sets the pitch algorithm for rates other than 1. Nil returns the current one.
  case pitch(PitchAlgorithm?)
  /// Nil returns the current mode.
  case `repeat`(RepeatMode?)
  case loop(Loop)
  /// Seeks to the next or the previous chapter.
  case chapter(isNext: Bool)
  case status
  /// Changes the criteria for the automatic selection of tracks, if any are given, and returns them.
  case mediaSelection(MediaSelectionChange)

  /// The moment at which a rate takes effect.
  public enum RateMoment: Sendable, Hashable {
    /// As soon as possible.
    case now
    /// After this duration, which is not negative.
    case after(MediaTime)
    /// At this time of the daemon's clock, in seconds. Not negative.
    case instant(MediaTime)
  }

  /// A range of the current item to play once.
  public struct PlayedRange: Sendable, Hashable {
    /// Nil: the time heard.
    public var start: TimeExpression?
    /// A relative time counts from the start.
    public var end: TimeExpression
    /// The entry that the current item must be. Nil: any.
    public var item: EntryReference?

    public init(start: TimeExpression?, end: TimeExpression, item: EntryReference? = nil) {
      self.start = start
      self.end = end
      self.item = item
    }
  }

  /// A change of the loop of the current item.
  public struct Loop: Sendable, Hashable {
    /// The requested change.
    public enum Change: Sendable, Hashable {
      /// Returns the current loop.
      case none
      case off
      /// Makes the current pass the last one.
      case end
      /// Loops a range. `count` is the number of times that playback returns to the start. Nil: indefinitely.
      case range(start: TimeExpression, end: TimeExpression, count: Int?)
    }

    public var change: Change
    /// The entry that the current item must be. Nil: any.
    public var item: EntryReference?

    public init(_ change: Change, item: EntryReference? = nil) {
      self.change = change
      self.item = item
    }
  }

  /// The repeat mode of the queue.
  public enum RepeatMode: String, Sendable, Hashable, CaseIterable {
    case off
    case one
    case all
  }

  /// The target of a seek, and its tolerances.
  public struct Seek: Sendable, Hashable {
    /// The target of a seek.
    public enum Target: Sendable, Hashable {
      case time(TimeExpression)
      /// The position that was recorded at this date, in nanoseconds since 1970.
      case date(Int64)
    }

    public var target: Target
    /// Not negative. May be positive infinity. Default: zero.
    public var toleranceBefore: MediaTime
    /// Not negative. May be positive infinity. Default: zero.
    public var toleranceAfter: MediaTime
    /// Whether this seek waits until the audio of the current seek has begun. Otherwise it replaces that seek.
    public var isChase: Bool
    /// The entry that the current item must be. Nil: any. The seek fails for another item.
    public var item: EntryReference?

    public init(
      target: Target, toleranceBefore: MediaTime = .zero, toleranceAfter: MediaTime = .zero,
      isChase: Bool = false, item: EntryReference? = nil
    ) {
      self.target = target
      self.toleranceBefore = toleranceBefore
      self.toleranceAfter = toleranceAfter
      self.isChase = isChase
      self.item = item
    }
  }

  /// A change of a setting that is on or off.
  public enum Switch: String, Sendable, Hashable, CaseIterable {
    case on
    case off
    case toggle
  }

  /// The shape of a volume fade.
  public enum FadeCurve: String, Sendable, Hashable, CaseIterable {
    case linear
    case equalPower = "equal-power"
  }

  /// The action at the end of a fade.
  public enum FadeEndAction: String, Sendable, Hashable, CaseIterable {
    case none
    case pause
    case stop
  }

  /// The gain that ReplayGain applies: that of the track or that of its album.
  public enum ReplayGainMode: String, Sendable, Hashable, CaseIterable {
    case off, track, album, auto
  }

  /// Changes of the ReplayGain options. Nil leaves an option unchanged.
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

  /// The values of AVPlayerItem's `audioTimePitchAlgorithm`.
  public enum PitchAlgorithm: String, Sendable, Hashable, CaseIterable {
    case timeDomain
    case spectral
    case varispeed
  }

  /// The values of AVPlayer's `actionAtItemEnd`, and `stop`.
  public enum ItemEndAction: String, Sendable, Hashable, CaseIterable {
    case advance
    case stop
    case pause
    case none
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
  case shuffle(PlaybackCommand.Switch?, seed: Int?, ifVersion: Int?)
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

/// Commands about one queue entry.
public enum ItemCommand: Sendable, Hashable {
  case status(item: EntryReference)
  case log(item: EntryReference)
  /// Changes the end times of the item. Nil leaves an end time unchanged. An invalid time removes it.
  case endTime(item: EntryReference, forward: MediaTime?, reverse: MediaTime?)
  /// Changes how far ahead the item is decoded. Nil returns the current value.
  case buffer(item: EntryReference, MediaTime?)
  /// Changes the volume mix of the item, if specified, and lists it.
  case volume(item: EntryReference, MixChange)
  /// Sets the item's pitch algorithm, if specified, and returns it.
  case pitch(item: EntryReference, PitchChange?)
  /// Inserts a copy of the entry into the queue.
  case copy(item: EntryReference, to: QueueCommand.QueuePosition, ifVersion: Int?)

  /// The item's tags.
  case metadata(item: EntryReference, MetadataQuery)
  /// The artwork in the item's tags.
  case artwork(item: EntryReference, ArtworkQuery)
  /// The item's tracks, and whether each is selected.
  case tracks(item: EntryReference)
  /// The selectable tracks, by group, and the current selection.
  case selection(item: EntryReference)
  /// The chapters. Titles are in the first of `languages` that is available.
  case chapters(item: EntryReference, offset: Int, languages: WireList<String> = [])
  /// Selects other tracks. Nil leaves the selection unchanged.
  case select(item: EntryReference, audio: TrackChoice?, subtitles: TrackChoice?)

  /// The choice of one of several tracks.
  public enum TrackChoice: Sendable, Hashable {
    case track(Int)
    /// The best track in a language.
    case language(String)
    /// No track.
    case none
    /// The default of the file.
    case automatic
  }

  /// A change of an item's pitch algorithm.
  public enum PitchChange: Sendable, Hashable {
    case algorithm(PlaybackCommand.PitchAlgorithm)
    /// Removes the item's algorithm: the item uses the player's.
    case player
  }

  /// A change of an item's volume mix.
  public struct MixChange: Sendable, Hashable {
    /// Whether the existing mix is removed first.
    public var clears: Bool
    public var step: MixStep?

    public init(clears: Bool, step: MixStep?) {
      self.clears = clears
      self.step = step
    }
  }

  /// A set point or a ramp of an item's volume.
  public struct MixStep: Sendable, Hashable {
    /// 0 to 1.
    public var volume: Double
    /// In the item's timeline.
    public var time: MediaTime
    /// The end volume of the ramp, and its duration, which is greater than 0. Nil: a set point.
    public var ramp: Ramp?

    /// A linear change of the volume.
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

/// Commands that observe events or wait for them.
public enum WatchingCommand: Sendable, Hashable {
  /// The keys in the order of the table, without duplicates. At least one.
  case observe([ObservableKey], player: String)
  case unobserve(subscription: Int)
  /// A periodic observer. The interval, in item time, is positive and numeric.
  case tick(interval: MediaTime, player: String)
  /// A boundary observer. At least one time. All times are numeric and not negative. With an item it fires for that
  /// item only. With `includesSeeks` it also fires when a seek passes a time.
  case at(WireList<MediaTime>, item: EntryReference?, includesSeeks: Bool, player: String)
  /// A boundary observer of the starts of the current item's chapters. The other parameters are the same as for `at`.
  case atChapters(item: EntryReference?, includesSeeks: Bool, player: String)
  /// Removes a periodic or boundary observer.
  case untick(subscription: Int)
  /// Starts level meters with this many events per second: 1 to 100.
  case meter(rate: Double, player: String)
  case unmeter(subscription: Int)
  /// Waits until all conditions are true. At least one condition. The timeout is not negative.
  case wait(WireList<WaitCondition>, timeout: MediaTime?, player: String)
  /// Advances the virtual clock by this duration. Not negative.
  case clockAdvance(MediaTime)
  /// The timings of the last start or seek.
  case explain(player: String)
  /// The events since a sequence number, or from now on.
  case events(EventQuery)
}

/// The events to read from the event log.
public struct EventQuery: Sendable, Hashable {
  /// The keys that the events belong to, in the order of the table. All keys if the request has none.
  public var keys: [ObservableKey]
  /// The player. Nil: all players.
  public var player: String?
  /// The last sequence number that the client knows. Nil: start with the next event.
  public var since: Int?
  /// The instance of the daemon that `since` belongs to. Nil: not compared.
  public var instance: String?
  /// The maximum number of events.
  public var limit: Int
  /// Whether the request waits when there is no event yet. `timeout` limits the wait.
  public var waits: Bool
  public var timeout: MediaTime?
}

/// Commands that start several players together.
public enum PlayersCommand: Sendable, Hashable {
  /// Starts players at the same frame of the output. At least one name.
  case playAt(StartMoment, players: WireList<String>)
  /// Changes the rate of players at the same frame of the output. The rate is never 0. At least one name.
  case rateTogether(Double, players: WireList<String>)

  /// The moment at which several players start together.
  public enum StartMoment: Sendable, Hashable {
    /// As soon as all players are ready.
    case now
    /// After this duration, which is not negative.
    case after(MediaTime)
    /// At this time of the daemon's clock, in seconds. Not negative.
    case instant(MediaTime)
    /// At this frame of the output. Not negative.
    case frame(Int64)
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
