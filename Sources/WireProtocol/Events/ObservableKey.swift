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
  case playerIsFading = "player.isFading"
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
  case itemTitle = "item.title"
  case itemArtist = "item.artist"
  case itemAlbum = "item.album"
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

  /// A human-readable description of the value, which the reference includes.
  public var summary: String {
    switch self {
    case .playerTimeControlStatus:
      "whether the player is `paused`, waits to play (`waitingToPlayAtSpecifiedRate`) or is `playing`"
    case .playerReasonForWaitingToPlay: "the reason why the player waits, such as `noItemToPlay`, or `none`"
    case .playerRate: "the requested rate; 0 while paused"
    case .playerTimebaseRate: "the rate at which the time heard advances; 0 while paused or waiting"
    case .playerDefaultRate: "the rate that `play` uses"
    case .playerCurrentItem: "the id of the current item, or `none`"
    case .playerVolume: "the volume, from 0 to 1"
    case .playerIsFading: "whether the volume that is heard changes in a fade; `false` while paused"
    case .playerIsMuted: "whether the player is muted"
    case .playerPan: "the pan, from -1 (left) to 1 (right)"
    case .playerActionAtItemEnd: "the action at the end of an item: `advance`, `stop`, `pause` or `none`"
    case .playerAutomaticallyWaits: "whether playback resumes automatically after an underrun (`auto-wait`)"
    case .playerAudioTimePitchAlgorithm: "the algorithm of `pitch`: `timeDomain`, `spectral` or `varispeed`"
    case .playerAudibleCriteria:
      "the criteria of `media-selection` for audio, such as `language=de,en principal=describes-video`, or `none`"
    case .playerLegibleCriteria: "the criteria of `media-selection` for subtitles, or `none`"
    case .playerAppliesCriteria: "whether items follow the criteria (`media-selection automatic`)"
    case .playerReplayGain: "the mode of `replay-gain`: `off`, `track`, `album` or `auto`"
    case .playerRepeat: "what repeats: `off`, `one` or `all`"
    case .playerLoop: "the looped range of the current item, `START-END` in seconds, or `none`"
    case .playerShuffle: "the seed of the shuffled order, or `none`"
    case .playerOnFailure: "the action when an item fails: `skip` or `stop`"
    case .playerError: "the name of the error that stopped the player, until it plays again, or `none`"
    case .itemStatus:
      "the status of every entry: `unknown` until it is opened, then `readyToPlay` or `failed`"
    case .itemDuration:
      "the duration of each opened item, in seconds; `indefinite` while unknown. An estimate is corrected when the"
        + " end of the audio has been read"
    case .itemProvidesPreciseDuration: "for each opened item: whether the duration is exact"
    case .itemError: "the name of the error of a failed item, or `none`"
    case .itemTitle:
      "the title of each item whose tags are known: that of the request, or else of the tags, or else of the playlist;"
        + " `none` without one, and for one of more than 1,024 bytes"
    case .itemArtist: "the artist of each item whose tags are known, with the same rules"
    case .itemAlbum: "the album of each item whose tags are known, with the same rules"
    case .itemCurrentMediaSelection:
      "for each opened item: the presented track of each group, such as `audible=1,legible=none`; groups without"
        + " tracks are left out. `none` before the item is opened"
    case .itemIsPlaybackLikelyToKeepUp: "whether the current item is expected to play without a stall"
    case .itemIsPlaybackBufferFull:
      "whether the buffer of the current item is full: decoding pauses, and a waiting player starts"
    case .itemIsPlaybackBufferEmpty:
      "whether the buffer of the current item is empty. When another item becomes current, the former one reports an"
        + " empty buffer"
    case .itemEvents:
      "no value: the events "
        + EventTable.all.filter { $0.key == self }.map { "`\($0.name.rawValue)`" }
        .joined(separator: ", ") + "; the most recent `stream-title` and `timed-metadata` are sent first"
    case .queueVersion: "a number that increases with every change of the queue"
    case .outputState:
      "the state of the output: `opening`, `ready`, `unresponsive` (the device accepts no audio), `fallback` (silence"
        + " until a device is available), `lost` (players wait) or `closed`"
    case .sessionCategory: "the category of the session (`session.category`)"
    case .sessionMode: "the mode of the session (`session.category`)"
    case .sessionOptions: "the options of the session (`session.category`), or `none`"
    case .sessionIsActive: "whether the session is active"
    case .sessionIsInterrupted: "whether another program interrupts playback; the players are then paused"
    case .sessionHint:
      "whether the sound server lowers the volume of playback because another program plays"
    case .outputRoute: "the output device and, after a `/`, its port; `none` without an output"
    case .outputDevices: "the names of the output devices, or `none` while no sound server replies"
    case .outputSelection: "the requested output, such as `selected=default preferred=headset lost=pause`"
    case .outputEvents, .sessionEvents:
      "no value: the events "
        + EventTable.all.filter { $0.key == self }.map { "`\($0.name.rawValue)`" }.joined(separator: ", ")
    }
  }

  /// A set of keys, with one bit per key, in the order of the table.
  struct KeySet: Sendable, Hashable {
    private var bits: UInt64 = 0

    var isEmpty: Bool { bits == 0 }
    var keys: [ObservableKey] { all.indices.filter { bits & 1 << UInt64($0) != 0 }.map { all[$0] } }

    mutating func insert(index: Int) { bits |= 1 << UInt64(index) }
    mutating func formUnion(_ other: KeySet) { bits |= other.bits }
  }

  /// All keys. Stored, because `allCases` creates an array on each call.
  private static let all = allCases

  /// The keys that match a pattern. Each `*` matches any text (`player.*`, `*`, `*.rate`).
  ///
  /// - Throws: `no-such-property` if no key matches.
  static func matching(_ pattern: ArraySlice<UInt8>) throws(MediaError) -> KeySet {
    let isPattern = pattern.contains(UInt8(ascii: "*"))
    var keySet = KeySet()
    for index in all.indices {
      let name = all[index].rawValue.utf8
      if isPattern ? matches(name, pattern) : name.elementsEqual(pattern) { keySet.insert(index: index) }
    }
    guard keySet.isEmpty else { return keySet }
    let text = String(decoding: pattern, as: UTF8.self)
    let hint =
      Nearest.name(to: text, among: all.map(\.rawValue)).map { "; did you mean \($0)?" }
      ?? "; `help observe` lists the keys"
    throw MediaError(.noSuchProperty, "no key matches \(Excerpt.quoted(pattern))\(hint)")
  }

  /// Whether a text matches a pattern. The cost is at most the product of both lengths.
  ///
  /// After a mismatch only the last `*` is extended. This suffices, because the earliest match of the parts before that
  /// `*` leaves the longest rest of the text.
  private static func matches(_ text: String.UTF8View, _ pattern: ArraySlice<UInt8>) -> Bool {
    var (textIndex, patternIndex) = (text.startIndex, pattern.startIndex)
    var retry: (textIndex: String.Index, patternIndex: Int)?
    while textIndex < text.endIndex {
      if patternIndex < pattern.endIndex, pattern[patternIndex] == UInt8(ascii: "*") {
        patternIndex = pattern.index(after: patternIndex)
        retry = (textIndex, patternIndex)
      } else if patternIndex < pattern.endIndex, pattern[patternIndex] == text[textIndex] {
        (textIndex, patternIndex) = (text.index(after: textIndex), pattern.index(after: patternIndex))
      } else if let last = retry {
        let next = text.index(after: last.textIndex)
        retry = (next, last.patternIndex)
        (textIndex, patternIndex) = (next, last.patternIndex)
      } else {
        return false
      }
    }
    return pattern[patternIndex...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}
