import PlayheadMediaCore

/// `item.status`: shows the details of an entry.
package enum ItemStatusCommand: ImmediateCommand {
  package typealias Parameters = EntryAndPlayer

  package struct Reply: ReplyFields {
    package var item: UInt64
    /// The path, the URL without user name and password, or the name of the descriptor. Nil if it is unknown.
    package var path: FilePath?
    /// `unknown`, `readyToPlay` or `failed`.
    package var status: String
    /// `indefinite` if it is unknown.
    package var duration: MediaTime
    package var providesPreciseDuration: Bool
    /// Whether the entry is the current one of its queue.
    package var isCurrent: Bool
    /// Nil: the end of the item.
    package var forwardPlaybackEndTime: MediaTime?
    /// Nil: the start of the item.
    package var reversePlaybackEndTime: MediaTime?
    /// 0: as far as memory allows.
    package var preferredForwardBufferDuration: MediaTime
    package var abilities: Abilities
    package var buffer: Buffer
    /// The end of the live stream, in item time. Nil: the item is not a live stream.
    package var liveEdge: MediaTime?
    /// The date of the recording that is heard, in UTC. Nil: the item is not current, or has no dates.
    package var date: String?
    /// The algorithm in use.
    package var audioTimePitchAlgorithm: PitchCommand.Algorithm
    /// Nil: that of the player.
    package var ownAudioTimePitchAlgorithm: PitchCommand.Algorithm?
    /// Nil until the tags are known.
    package var gain: Gain?
    package var titles: Titles
    /// The part of the file that the entry plays: start and end in seconds. Nil: the whole file.
    package var range: TimeRange?
    /// The error of a failed item. Nil: none.
    package var error: MediaError?

    /// The rates and directions in which the item can play, and whether it can step.
    package struct Abilities: Sendable {
      package var playFastForward = false
      package var playSlowForward = false
      package var playReverse = false
      package var playSlowReverse = false
      package var playFastReverse = false
      package var stepForward = false
      package var stepBackward = false

      package init() {}
    }

    /// The state of the item's buffer.
    package struct Buffer: Sendable {
      package var seekableTimeRanges: [TimeRange]
      package var loadedTimeRanges: [TimeRange]
      package var isPlaybackLikelyToKeepUp: Bool
      package var isPlaybackBufferFull: Bool
      package var isPlaybackBufferEmpty: Bool

      package init(
        seekableTimeRanges: [TimeRange], loadedTimeRanges: [TimeRange], isPlaybackLikelyToKeepUp: Bool,
        isPlaybackBufferFull: Bool, isPlaybackBufferEmpty: Bool
      ) {
        (self.seekableTimeRanges, self.loadedTimeRanges) = (seekableTimeRanges, loadedTimeRanges)
        self.isPlaybackLikelyToKeepUp = isPlaybackLikelyToKeepUp
        (self.isPlaybackBufferFull, self.isPlaybackBufferEmpty) = (isPlaybackBufferFull, isPlaybackBufferEmpty)
      }
    }

    /// The gain of loudness normalization.
    package struct Gain: Sendable {
      /// From -60 to 30.
      package var decibels: Double
      /// `track`, `album`, `scan` or `fallback`. Nil while `replay-gain` is off.
      package var source: String?
      /// Whether the peak in the tags limits the gain.
      package var isLimited: Bool

      package init(decibels: Double, source: String?, isLimited: Bool) {
        (self.decibels, self.source, self.isLimited) = (decibels, source, isLimited)
      }
    }

    /// The titles of the item. Values are nil if they are unknown.
    package struct Titles: Sendable {
      package var title: String?
      package var artist: String?
      package var album: String?
      /// The title that a station announces for the audio heard.
      package var streamTitle: String?
      /// The URL that a station announces with the title.
      package var streamURL: String?

      package init(title: String?, artist: String?, album: String?, streamTitle: String?, streamURL: String?) {
        (self.title, self.artist, self.album) = (title, artist, album)
        (self.streamTitle, self.streamURL) = (streamTitle, streamURL)
      }
    }

    package init(
      item: UInt64, path: FilePath?, status: String, duration: MediaTime, providesPreciseDuration: Bool,
      isCurrent: Bool, forwardPlaybackEndTime: MediaTime?, reversePlaybackEndTime: MediaTime?,
      preferredForwardBufferDuration: MediaTime, abilities: Abilities, buffer: Buffer, liveEdge: MediaTime?,
      date: String?, audioTimePitchAlgorithm: PitchCommand.Algorithm,
      ownAudioTimePitchAlgorithm: PitchCommand.Algorithm?, gain: Gain?, titles: Titles, range: TimeRange?,
      error: MediaError?
    ) {
      (self.item, self.path, self.status, self.duration) = (item, path, status, duration)
      (self.providesPreciseDuration, self.isCurrent) = (providesPreciseDuration, isCurrent)
      self.forwardPlaybackEndTime = forwardPlaybackEndTime
      self.reversePlaybackEndTime = reversePlaybackEndTime
      self.preferredForwardBufferDuration = preferredForwardBufferDuration
      (self.abilities, self.buffer, self.liveEdge, self.date) = (abilities, buffer, liveEdge, date)
      self.audioTimePitchAlgorithm = audioTimePitchAlgorithm
      self.ownAudioTimePitchAlgorithm = ownAudioTimePitchAlgorithm
      (self.gain, self.titles, self.range, self.error) = (gain, titles, range, error)
    }

    package static let fields: [Field<Self>] =
      [
        Field(.item) { $0.item }, Field(nullable: .path) { $0.path }, Field(.statusOfEntry) { $0.status },
        Field(nullable: .duration) { $0.duration }, Field(.providesPreciseDuration) { $0.providesPreciseDuration },
        Field(.current) { $0.isCurrent }, Field(nullable: .forwardPlaybackEndTime) { $0.forwardPlaybackEndTime },
        Field(nullable: .reversePlaybackEndTime) { $0.reversePlaybackEndTime },
        Field(.preferredForwardBufferDuration) { $0.preferredForwardBufferDuration },
      ] + abilityFields + bufferFields + [
        Field(.live) { $0.liveEdge != nil }, Field(optional: .liveEdge) { $0.liveEdge },
        Field(optional: .date) { $0.date }, Field(.audioTimePitchAlgorithm) { $0.audioTimePitchAlgorithm },
        Field(nullable: .ownAudioTimePitchAlgorithm) { $0.ownAudioTimePitchAlgorithm },
        Field(nullable: .gain) { $0.gain?.decibels }, Field(nullable: .gainSource) { $0.gain?.source },
        Field(nullable: .gainLimited) { $0.gain?.isLimited }, Field(optional: .title) { $0.titles.title },
        Field(optional: .artist) { $0.titles.artist }, Field(optional: .album) { $0.titles.album },
        Field(optional: .range) { $0.range }, Field(optional: .streamTitle) { $0.titles.streamTitle },
        Field(optional: .streamUrl) { $0.titles.streamURL }, Field(optional: .error) { $0.error?.code.name },
        Field(optional: .message) { $0.error?.message },
      ]

    private static let abilityFields: [Field<Self>] = [
      Field(.canPlayFastForward) { $0.abilities.playFastForward },
      Field(.canPlaySlowForward) { $0.abilities.playSlowForward },
      Field(.canPlayReverse) { $0.abilities.playReverse }, Field(.canPlaySlowReverse) { $0.abilities.playSlowReverse },
      Field(.canPlayFastReverse) { $0.abilities.playFastReverse }, Field(.canStepForward) { $0.abilities.stepForward },
      Field(.canStepBackward) { $0.abilities.stepBackward },
    ]

    private static let bufferFields: [Field<Self>] = [
      Field(nullable: .seekableTimeRanges) { ranges($0.buffer.seekableTimeRanges) },
      Field(nullable: .loadedTimeRanges) { ranges($0.buffer.loadedTimeRanges) },
      Field(.isPlaybackLikelyToKeepUp) { $0.buffer.isPlaybackLikelyToKeepUp },
      Field(.isPlaybackBufferFull) { $0.buffer.isPlaybackBufferFull },
      Field(.isPlaybackBufferEmpty) { $0.buffer.isPlaybackBufferEmpty },
    ]

    /// Nil for no ranges.
    private static func ranges(_ ranges: [TimeRange]) -> [TimeRange]? { ranges.isEmpty ? nil : ranges }
  }

  package static let name: CommandName = "item.status"

  package static let definition = CommandDefinition<Self>(
    .items, "Show the details of an entry.",
    details: """
      - `loadedTimeRanges`: the ranges that are decoded and not heard yet; for an entry from a network also the \
      ranges in memory. `none` if there are none
      - `seekableTimeRanges`: the ranges that seeks can reach
      - `isPlaybackLikelyToKeepUp`, `isPlaybackBufferFull`, `isPlaybackBufferEmpty`: the state of the buffer, if the \
      entry is current
      - `can...`: the supported directions and rates; false before the entry is ready
      - `live`: whether the entry is a live HLS stream; `liveEdge` is its end
      - `date`: the date of the recording that is heard, if the stream has dates
      - `audioTimePitchAlgorithm`: the pitch algorithm in use
      - `ownAudioTimePitchAlgorithm`: the setting of `item.pitch`, or `none`
      - `gain`: the gain that `replay-gain` derives from the tags, in dB
      - `gainSource`: the origin of the gain: `track` and `album` are tags, `scan` is a measurement, and `fallback` \
      is the gain of entries without tags; `none` while `replay-gain` is off
      - `gainLimited`: whether the peak limits the gain
      - `streamTitle`, `streamUrl`: those of the last `stream-title` event, while a station is the current entry

      `gain`, `gainSource` and `gainLimited` are `none` until the tags are known.
      """,
    right: .read, errors: [.noSuchItem, .noSuchPlayer],
    example: [
      "> item.status 2",
      "< ok item=2 path=/music/two.flac status=failed duration=indefinite providesPreciseDuration=false current=false"
        + " forwardPlaybackEndTime=none reversePlaybackEndTime=none preferredForwardBufferDuration=0"
        + " canPlayFastForward=false canPlaySlowForward=false canPlayReverse=false canPlaySlowReverse=false"
        + " canPlayFastReverse=false canStepForward=false canStepBackward=false seekableTimeRanges=none"
        + " loadedTimeRanges=none isPlaybackLikelyToKeepUp=false isPlaybackBufferFull=false isPlaybackBufferEmpty=true live=false"
        + " audioTimePitchAlgorithm=timeDomain ownAudioTimePitchAlgorithm=none gain=none gainSource=none gainLimited=none error=file-not-found message=\"no such file\"",
    ])
}
