import PlayheadMediaCore

/// `status`: shows the state of a player.
package enum StatusCommand: ImmediateCommand {
  package typealias Parameters = PlayerParameters

  /// The state of a player, by subject. The order of `fields` is that of the reply.
  package struct Reply: ReplyFields {
    package var player: String
    /// `paused`, `waitingToPlayAtSpecifiedRate` or `playing`.
    package var timeControlStatus: String
    /// Nil while the player does not wait.
    package var reasonForWaitingToPlay: String?
    /// The requested rate. 0 while paused.
    package var rate: Double
    /// The rate at which `play` starts. From 1/32 to 32, negative for reverse.
    package var defaultRate: Double
    package var position: Position
    package var queue: Queue
    package var item: Item
    package var settings: Settings

    package init(
      player: String, timeControlStatus: String, reasonForWaitingToPlay: String?, rate: Double, defaultRate: Double,
      position: Position, queue: Queue, item: Item, settings: Settings
    ) {
      (self.player, self.timeControlStatus) = (player, timeControlStatus)
      (self.reasonForWaitingToPlay, self.rate, self.defaultRate) = (reasonForWaitingToPlay, rate, defaultRate)
      (self.position, self.queue, self.item, self.settings) = (position, queue, item, settings)
    }

    package static let fields: [Field<Self>] = [
      Field(.player) { $0.player }, Field(.timeControlStatus) { $0.timeControlStatus },
      Field(nullable: .reasonForWaitingToPlay) { $0.reasonForWaitingToPlay }, Field(.rate) { $0.rate },
      Field(nullable: .item) { $0.item.id }, Field(nullable: .index) { $0.item.id == nil ? nil : 0 },
      Field(.countOfEntries) { $0.queue.count }, Field(.time) { $0.position.time }, Field(.pts) { $0.position.time },
      Field(nullable: .hostTime) { $0.position.hostTime }, Field(nullable: .duration) { $0.item.duration },
      Field(.providesPreciseDuration) { $0.item.providesPreciseDuration }, Field(.volume) { $0.settings.volume },
      Field(.isFading) { $0.settings.isFading }, Field(.isMuted) { $0.settings.isMuted },
      Field(.pan) { $0.settings.pan }, Field(.actionAtItemEnd) { $0.settings.actionAtItemEnd },
      Field(.repeat) { $0.settings.repeatMode }, Field(nullable: .loop) { $0.item.loop?.range },
      Field(nullable: .passes) { $0.item.loop?.passes },
      Field(nullable: .passesLeft) { $0.item.loop?.remainingCount }, Field(.itemStatus) { $0.item.status },
      Field(.version) { $0.queue.version }, Field(.timebaseRate) { $0.position.timebaseRate },
      Field(.defaultRate) { $0.defaultRate }, Field(nullable: .shuffle) { $0.queue.shuffleSeed },
      Field(.onFailure) { $0.settings.onFailure },
      Field(.automaticallyWaitsToMinimizeStalling) { $0.settings.automaticallyWaits },
      Field(.audioTimePitchAlgorithm) { $0.settings.pitchAlgorithm },
      Field(nullable: .chapter) { $0.item.chapter?.number }, Field(nullable: .chapterTitle) { $0.item.chapter?.title },
      Field(.replayGain) { $0.settings.replayGainMode }, Field(nullable: .crossfade) { $0.settings.crossfade },
      Field(optional: .title) { $0.item.title },
      Field(optional: .artist) { $0.item.artist }, Field(optional: .album) { $0.item.album },
      Field(optional: .streamTitle) { $0.item.streamTitle }, Field(optional: .streamUrl) { $0.item.streamURL },
      Field(optional: .error) { $0.item.error?.code.name }, Field(optional: .message) { $0.item.error?.message },
    ]
  }

  package static let name: CommandName = "status"

  package static let definition = CommandDefinition<Self>(
    .playback, "Show the state of the player.",
    details: """
      Without a current item, or before it is ready, its fields are `none` or `indefinite`.

      - `time`: the time heard; `hostTime`: the instant at which it is heard (*Clocks*)
      - `rate`: the requested rate
      - `timebaseRate`: the rate at which the time heard advances; 0 while paused or waiting
      - `loop`: the range of the loop, in seconds
      - `passes`: the number of returns to the start of the loop so far
      - `passesLeft`: the number of remaining returns; `none`: indefinitely
      - `shuffle`: the seed of the shuffled order
      - `chapter`: the number of the chapter heard
      - `title`, `artist`, `album`: as in `list`; absent while unknown
      - `error`, `message`: why the current item failed; absent otherwise
      - `streamTitle`, `streamUrl`: the title and URL that a station announces

      `reasonForWaitingToPlay` is `none`, or one of these:

      - `toMinimizeStalls`: an underrun occurred; playback resumes automatically
      - `evaluatingBufferingRate`: the item is being opened, or its first samples are being decoded
      - `noItemToPlay`: the queue is empty
      - `currentItemFailed`: the current item failed, and no other item follows
      - `outputUnavailable`: no device is available, or the device accepts no audio
      - `startTimeNotReached`: the start is in the future (`play-at`, `rate-at`)
      - `interrupted`: another program interrupts playback
      - `categoryForbidsPlayback`: the category of the session does not allow playback
      """,
    right: .read, errors: [.noSuchPlayer],
    example: [
      "> status",
      "< ok player=main timeControlStatus=playing reasonForWaitingToPlay=none rate=1 item=1 index=0 count=2 time=12.25"
        + " pts=540225/44100 hostTime=5012.25 duration=183.2 providesPreciseDuration=true volume=1"
        + " isFading=false isMuted=false pan=0 actionAtItemEnd=advance repeat=off loop=none passes=none passesLeft=none"
        + " itemStatus=readyToPlay version=2 timebaseRate=1 defaultRate=1 shuffle=none onFailure=skip"
        + " automaticallyWaitsToMinimizeStalling=true audioTimePitchAlgorithm=timeDomain chapter=2 chapterTitle=Fugue"
        + " replayGain=off crossfade=none",
    ])
}

extension StatusCommand.Reply {
  /// The position that is heard.
  package struct Position: Sendable {
    package var time: MediaTime
    /// Nil while the time does not advance.
    package var hostTime: HostTime?
    /// The rate at which the time heard advances. 0 while paused or waiting.
    package var timebaseRate: Double

    package init(time: MediaTime, hostTime: HostTime?, timebaseRate: Double) {
      (self.time, self.hostTime, self.timebaseRate) = (time, hostTime, timebaseRate)
    }
  }

  /// The state of the queue.
  package struct Queue: Sendable {
    /// The number of entries.
    package var count: Int
    package var version: UInt64
    /// Nil if the queue is not shuffled.
    package var shuffleSeed: UInt64?

    package init(count: Int, version: UInt64, shuffleSeed: UInt64?) {
      (self.count, self.version, self.shuffleSeed) = (count, version, shuffleSeed)
    }
  }

  /// The settings of the player.
  package struct Settings: Sendable {
    /// 0 to 1.
    package var volume: Float
    package var isFading: Bool
    package var isMuted: Bool
    /// -1 to 1.
    package var pan: Float
    /// `advance`, `stop`, `pause` or `none`.
    package var actionAtItemEnd: String
    /// `off`, `one` or `all`.
    package var repeatMode: String
    package var onFailure: FailurePolicy
    package var automaticallyWaits: Bool
    package var pitchAlgorithm: PitchCommand.Algorithm
    /// `off`, `track`, `album` or `auto`.
    package var replayGainMode: String
    /// Nil: no cross-fade.
    package var crossfade: MediaTime?

    package init(
      volume: Float, isFading: Bool, isMuted: Bool, pan: Float, actionAtItemEnd: String, repeatMode: String,
      onFailure: FailurePolicy, automaticallyWaits: Bool, pitchAlgorithm: PitchCommand.Algorithm,
      replayGainMode: String,
      crossfade: MediaTime?
    ) {
      (self.volume, self.isFading, self.isMuted, self.pan) = (volume, isFading, isMuted, pan)
      (self.actionAtItemEnd, self.repeatMode, self.onFailure) = (actionAtItemEnd, repeatMode, onFailure)
      (self.automaticallyWaits, self.pitchAlgorithm) = (automaticallyWaits, pitchAlgorithm)
      (self.replayGainMode, self.crossfade) = (replayGainMode, crossfade)
    }
  }

  /// The state of the current item.
  package struct Item: Sendable {
    /// The loop of the item.
    package struct Loop: Sendable {
      /// In the form `70-83.5`.
      package var range: TimeRange
      /// The number of returns so far.
      package var passes: Int
      /// The number of remaining returns to the start. Nil: indefinitely.
      package var remainingCount: Int?

      package init(range: TimeRange, passes: Int, remainingCount: Int?) {
        (self.range, self.passes, self.remainingCount) = (range, passes, remainingCount)
      }
    }

    /// The chapter that is heard.
    package struct Chapter: Sendable {
      /// From 1.
      package var number: Int
      package var title: String?

      package init(number: Int, title: String?) { (self.number, self.title) = (number, title) }
    }

    /// Nil without a current item.
    package var id: UInt64?
    package var status: String
    /// Why the item failed.
    package var error: MediaError?
    /// Indefinite if it is unknown.
    package var duration: MediaTime
    package var providesPreciseDuration: Bool
    package var loop: Loop?
    package var chapter: Chapter?
    package var title: String?
    package var artist: String?
    package var album: String?
    /// The title that the station announces. Nil: none.
    package var streamTitle: String?
    /// The URL that the station announces. Nil: none.
    package var streamURL: String?

    package init(
      id: UInt64?, status: String, error: MediaError?, duration: MediaTime, providesPreciseDuration: Bool, loop: Loop?,
      chapter: Chapter?, title: String?, artist: String?, album: String?, streamTitle: String?, streamURL: String?
    ) {
      (self.id, self.status, self.error, self.duration) = (id, status, error, duration)
      (self.providesPreciseDuration, self.loop, self.chapter) = (providesPreciseDuration, loop, chapter)
      (self.title, self.artist, self.album) = (title, artist, album)
      (self.streamTitle, self.streamURL) = (streamTitle, streamURL)
    }
  }
}
