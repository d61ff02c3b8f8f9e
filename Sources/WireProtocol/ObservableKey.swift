import MediaCore

/// What `observe` can watch. The names are AVFoundation's; each sends its value first and then every change.
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
  case itemIsPlaybackLikelyToKeepUp = "item.isPlaybackLikelyToKeepUp"
  case itemIsPlaybackBufferFull = "item.isPlaybackBufferFull"
  case itemIsPlaybackBufferEmpty = "item.isPlaybackBufferEmpty"
  /// No value but the notifications of items: those events that say so.
  case itemEvents = "item.events"
  case queueVersion = "queue.version"
  case outputState = "output.state"

  /// What the key's value is, for people; protocol.md repeats it.
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
    case .itemIsPlaybackLikelyToKeepUp: "whether playing the current entry is not expected to stall"
    case .itemIsPlaybackBufferFull:
      "whether as much of the current entry is decoded as is wanted; then it is waited for no longer, likely to keep up or not"
    case .itemIsPlaybackBufferEmpty: "whether nothing of the current entry is decoded that has not been heard"
    case .itemEvents:
      "no value: the events "
        + EventTable.all.filter { $0.key == self }.map { "`\($0.name.rawValue)`" }
        .joined(separator: ", ") + "; first the last `stream-title` of the current entry"
    case .queueVersion: "a number that every change of the queue makes larger"
    case .outputState:
      "`opening`, `ready`, `fallback` (nothing is heard until the device is there), `lost` or `closed`"
    }
  }

  /// The keys that a pattern names: one key, or a beginning with `*` behind it (`player.*`, `*`).
  ///
  /// Errors: `no-such-property` when there are none.
  static func matching(_ pattern: String) throws(MediaError) -> [ObservableKey] {
    if let key = ObservableKey(rawValue: pattern) { return [key] }
    if pattern.hasSuffix("*") {
      let beginning = pattern.dropLast()
      let keys = allCases.filter { $0.rawValue.hasPrefix(beginning) }
      if !keys.isEmpty { return keys }
    }
    let names = allCases.map(\.rawValue)
    let hint =
      Nearest.name(to: pattern, among: names).map { "; did you mean \($0)?" } ?? "; `help observe` lists the keys"
    throw MediaError(.noSuchProperty, "nothing to observe is called \(Excerpt.quoted(pattern))\(hint)")
  }
}
