import MediaCore

/// The keys that `observe` accepts, with the names that AVFoundation uses. An observer gets the initial value and then
/// every change.
public enum ObservableKey: String, Sendable, Hashable, CaseIterable {
  case playerTimeControlStatus = "player.timeControlStatus"
  case playerReasonForWaitingToPlay = "player.reasonForWaitingToPlay"
  case playerRate = "player.rate"
  case playerTimebaseRate = "player.timebaseRate"
  case playerDefaultRate = "player.defaultRate"
  case playerCurrentItem = "player.currentItem"
  case playerVolume = "player.volume"
  case playerIsMuted = "player.isMuted"
  case playerPan = "player.pan"
  case playerActionAtItemEnd = "player.actionAtItemEnd"
  case playerAutomaticallyWaits = "player.automaticallyWaitsToMinimizeStalling"
  case playerAudioTimePitchAlgorithm = "player.audioTimePitchAlgorithm"
  case playerAudibleCriteria = "player.mediaSelectionCriteria.audible"
  case playerLegibleCriteria = "player.mediaSelectionCriteria.legible"
  case playerAppliesCriteria = "player.appliesMediaSelectionCriteriaAutomatically"
  case playerReplayGain = "player.replayGain"
  case playerRepeat = "player.repeat"
  case playerLoop = "player.loop"
  case playerShuffle = "player.shuffle"
  case playerOnFailure = "player.onFailure"
  case playerError = "player.error"
  case itemStatus = "item.status"
  case itemDuration = "item.duration"
  case itemProvidesPreciseDuration = "item.providesPreciseDuration"
  case itemError = "item.error"
  case itemCurrentMediaSelection = "item.currentMediaSelection"
  case itemIsPlaybackLikelyToKeepUp = "item.isPlaybackLikelyToKeepUp"
  case itemIsPlaybackBufferFull = "item.isPlaybackBufferFull"
  case itemIsPlaybackBufferEmpty = "item.isPlaybackBufferEmpty"
  /// This key has no value. Its observers get the events about items.
  case itemEvents = "item.events"
  case queueVersion = "queue.version"
  case outputState = "output.state"
  case outputRoute = "output.route"
  case outputDevices = "output.devices"
  case outputSelection = "output.selection"
  /// This key has no value. Its observers get the events about routes.
  case outputEvents = "output.events"
  case sessionCategory = "session.category"
  case sessionMode = "session.mode"
  case sessionOptions = "session.options"
  case sessionIsActive = "session.isActive"
  case sessionIsInterrupted = "session.isInterrupted"
  case sessionHint = "session.secondaryAudioShouldBeSilencedHint"
  /// This key has no value. Its observers get the events about the session.
  case sessionEvents = "session.events"

  /// A human-readable description of the value, which protocol.md includes.
  public var summary: String {
    switch self {
    case .playerTimeControlStatus: "`paused`, `waitingToPlayAtSpecifiedRate` or `playing`"
    case .playerReasonForWaitingToPlay: "why it waits (the table below), or `none`"
    case .playerRate: "the desired rate; 0 is paused"
    case .playerTimebaseRate: "how fast the time that is heard goes on; 0 while paused or waiting"
    case .playerDefaultRate: "the rate that `play` plays at"
    case .playerCurrentItem: "the id of the current item, or `none`"
    case .playerVolume: "0 to 1"
    case .playerIsMuted: "`true` or `false`"
    case .playerPan: "-1 to 1"
    case .playerActionAtItemEnd: "`advance`, `pause` or `none`"
    case .playerAutomaticallyWaits: "whether a stall ends by itself (`auto-wait`)"
    case .playerAudioTimePitchAlgorithm: "`timeDomain`, `spectral` or `varispeed`, as `pitch` sets it"
    case .playerAudibleCriteria:
      "what `media-selection` wants of sound, in its words, such as `language=de,en principal=describes-video`, or `none`"
    case .playerLegibleCriteria: "the same of subtitles"
    case .playerAppliesCriteria: "whether that is followed (`media-selection automatic`)"
    case .playerReplayGain: "`off`, `track`, `album` or `auto`, as `replay-gain` sets it"
    case .playerRepeat: "`off`, `one` or `all`"
    case .playerLoop: "the part of the current item that is looped, `START-END` in seconds, or `none`"
    case .playerShuffle: "the seed that the queue is shuffled with, or `none`"
    case .playerOnFailure: "`skip` or `stop`"
    case .playerError: "the name of the error that stopped the player, until it is played on, or `none`"
    case .itemStatus:
      "`readyToPlay` or `failed`, of every entry of the queue that has been opened; the others are `unknown`"
    case .itemDuration:
      "seconds, likewise; `indefinite` while unknown. An estimate is corrected when the end of the sound has been read"
    case .itemProvidesPreciseDuration: "`true` when the duration is no estimate, likewise"
    case .itemError: "the name of the error that an entry failed with, or `none`"
    case .itemCurrentMediaSelection:
      "which track of each group is presented, such as `audible=1,legible=none`, of every entry that has been opened; a group without"
        + " tracks is left out, and before there is none the value is `none`"
    case .itemIsPlaybackLikelyToKeepUp: "whether playing the current entry is not expected to stall"
    case .itemIsPlaybackBufferFull:
      "whether as much of the current entry is decoded as is wanted; then it is waited for no longer, likely to keep up or not"
    case .itemIsPlaybackBufferEmpty:
      "whether nothing of the current entry is decoded that has not been heard. An entry that stops being the current one is reported so first"
    case .itemEvents:
      "no value: the events "
        + EventTable.all.filter { $0.key == self }.map { "`\($0.name.rawValue)`" }
        .joined(separator: ", ") + "; first the last `stream-title` and `timed-metadata` of the current entry"
    case .queueVersion: "a number that every change of the queue makes larger"
    case .outputState:
      "`opening`, `ready`, `unresponsive` (the device takes no audio: its server hangs or asks for no more samples, or the device is suspended), `fallback` (nothing is heard"
        + " until the device is there), `lost` or `closed`"
    case .sessionCategory: "what the sound is used for (`session.category`)"
    case .sessionMode: "the mode, likewise"
    case .sessionOptions: "the options, likewise, or `none`"
    case .sessionIsActive: "whether the session is active"
    case .sessionIsInterrupted: "whether something else is heard, and players stand still"
    case .sessionHint:
      "whether the sound server lowers what is played because of another program's sound"
    case .outputRoute: "where the players are heard: the device and, behind a `/`, its port, or `none`"
    case .outputDevices: "the names of the sound server's output devices, or `none` while no server answers"
    case .outputSelection: "what is to be played on, such as `selected=default preferred=headset lost=pause`"
    case .outputEvents, .sessionEvents:
      "no value: the events "
        + EventTable.all.filter { $0.key == self }.map { "`\($0.name.rawValue)`" }.joined(separator: ", ")
    }
  }

  /// A set of keys, as one bit per key. Ordered as the table.
  struct Choice: Sendable, Hashable {
    private var bits: UInt64 = 0

    var isEmpty: Bool { bits == 0 }
    var keys: [ObservableKey] { all.indices.filter { bits & 1 << UInt64($0) != 0 }.map { all[$0] } }

    mutating func insert(index: Int) { bits |= 1 << UInt64(index) }
    mutating func formUnion(_ other: Choice) { bits |= other.bits }
  }

  /// All keys. Stored, because `allCases` creates an array on each call.
  private static let all = allCases

  /// The keys that match a pattern. Each `*` matches any text (`player.*`, `*`, `*.rate`).
  ///
  /// - Throws: `no-such-property` if no key matches.
  static func matching(_ pattern: ArraySlice<UInt8>) throws(MediaError) -> Choice {
    let isPattern = pattern.contains(UInt8(ascii: "*"))
    var choice = Choice()
    for index in all.indices {
      let name = all[index].rawValue.utf8
      if isPattern ? matches(name, pattern) : name.elementsEqual(pattern) { choice.insert(index: index) }
    }
    guard choice.isEmpty else { return choice }
    let text = String(decoding: pattern, as: UTF8.self)
    let hint =
      Nearest.name(to: text, among: all.map(\.rawValue)).map { "; did you mean \($0)?" }
      ?? "; `help observe` lists the keys"
    throw MediaError(.noSuchProperty, "nothing to observe is called \(Excerpt.quoted(pattern))\(hint)")
  }

  /// Whether a text matches a pattern. After a mismatch only the last `*` is extended.
  /// This suffices, because the earliest match of the parts before it leaves the longest rest.
  /// The cost is at most the product of both lengths.
  private static func matches(_ text: String.UTF8View, _ pattern: ArraySlice<UInt8>) -> Bool {
    var (place, position) = (text.startIndex, pattern.startIndex)
    var retry: (place: String.Index, position: Int)?
    while place < text.endIndex {
      if position < pattern.endIndex, pattern[position] == UInt8(ascii: "*") {
        position = pattern.index(after: position)
        retry = (place, position)
      } else if position < pattern.endIndex, pattern[position] == text[place] {
        (place, position) = (text.index(after: place), pattern.index(after: position))
      } else if let last = retry {
        let next = text.index(after: last.place)
        retry = (next, last.position)
        (place, position) = (next, last.position)
      } else {
        return false
      }
    }
    return pattern[position...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
