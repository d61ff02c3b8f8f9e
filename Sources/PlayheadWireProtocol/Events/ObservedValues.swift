import PlayheadMediaCore

// The values of the observable keys, and the definitions of the keys. The server provides the values: a key without a
// value, and a value of another type, do not compile.

/// The values of the keys that every player has.
package protocol PlayerValues {
  var timeControlStatus: String { get }
  var reasonForWaitingToPlay: String? { get }
  var rate: Double { get }
  var timebaseRate: Double { get }
  var defaultRate: Double { get }
  var currentItem: UInt64? { get }
  /// 0 to 1.
  var volume: Float { get }
  var isFading: Bool { get }
  var isMuted: Bool { get }
  /// -1 (left) to 1 (right).
  var pan: Float { get }
  var actionAtItemEnd: String { get }
  var automaticallyWaits: Bool { get }
  var audioTimePitchAlgorithm: String { get }
  /// The criteria of `media-selection`.
  var audibleCriteria: MediaSelectionRequest? { get }
  var legibleCriteria: MediaSelectionRequest? { get }
  var appliesCriteria: Bool { get }
  var replayGain: String { get }
  var repeatMode: String { get }
  /// The looped range of the current item.
  var loop: TimeRange? { get }
  /// The duration of the cross-fade between entries.
  var crossfade: MediaTime? { get }
  var shuffleSeed: UInt64? { get }
  var onFailure: String { get }
  /// The name of the error.
  var error: String? { get }
  var queueVersion: UInt64 { get }
}

/// The values of the keys of the current entry.
package protocol CurrentItemValues {
  var isPlaybackLikelyToKeepUp: Bool { get }
  var isPlaybackBufferFull: Bool { get }
  var isPlaybackBufferEmpty: Bool { get }
}

/// The values of the keys that every entry has.
package protocol ItemValues {
  var statusText: String { get }
  var duration: MediaTime { get }
  var providesPreciseDuration: Bool { get }
  /// The name of the error.
  var error: String? { get }
  var title: String? { get }
  var artist: String? { get }
  var album: String? { get }
  /// The selected track of each group.
  var currentMediaSelection: TrackSelection? { get }
}

/// The values of the keys of the output.
package protocol OutputValues {
  var state: String { get }
  /// `DEVICE/PORT`.
  var route: String? { get }
  /// The names of the devices.
  var devices: [String]? { get }
  var selection: OutputSelectionFields { get }
}

/// The values of the keys of the audio session.
package protocol SessionValues {
  var category: String { get }
  var mode: String { get }
  var options: [String]? { get }
  var isActive: Bool { get }
  var isInterrupted: Bool { get }
  var secondaryAudioShouldBeSilencedHint: Bool { get }
}

extension ObservedKey where Root == any PlayerValues {
  /// The keys of every player, in the order of the table.
  package static let ofPlayers: [ObservedKey] = [
    .word(
      .playerTimeControlStatus, FieldKey<String>.timeControlStatus.spec.type,
      "whether the player is `paused`, waits to play (`waitingToPlayAtSpecifiedRate`) or is `playing`"
    ) { $0.timeControlStatus },
    .optionalWord(
      .playerReasonForWaitingToPlay, FieldKey<String>.reasonForWaitingToPlay.spec.type,
      "the reason why the player waits, such as `noItemToPlay`, or `none`"
    ) { $0.reasonForWaitingToPlay },
    .number(.playerRate, "the requested rate; 0 while paused") { $0.rate },
    .number(.playerTimebaseRate, "the rate at which the time heard advances; 0 while paused or waiting") {
      $0.timebaseRate
    },
    .number(.playerDefaultRate, "the rate that `play` uses") { $0.defaultRate },
    .optionalInteger(.playerCurrentItem, "the id of the current item, or `none`") { $0.currentItem },
    .number(.playerVolume, "the volume, from 0 to 1") { $0.volume },
    .boolean(.playerIsFading, "whether the volume that is heard changes in a fade; `false` while paused") {
      $0.isFading
    },
    .boolean(.playerIsMuted, "whether the player is muted") { $0.isMuted },
    .number(.playerPan, "the pan, from -1 (left) to 1 (right)") { $0.pan },
    .word(
      .playerActionAtItemEnd, FieldKey<String>.actionAtItemEnd.spec.type,
      "the action at the end of an item: `advance`, `stop`, `pause` or `none`"
    ) { $0.actionAtItemEnd },
    .boolean(.playerAutomaticallyWaits, "whether playback resumes automatically after an underrun (`auto-wait`)") {
      $0.automaticallyWaits
    },
    .word(
      .playerAudioTimePitchAlgorithm, .words(of: PitchCommand.Algorithm.self),
      "the algorithm of `pitch`: `timeDomain`, `spectral` or `varispeed`"
    ) { $0.audioTimePitchAlgorithm },
    .optionalCriteria(
      .playerAudibleCriteria,
      "the criteria of `media-selection` for audio, such as `language=de,en principal=describes-video`, or `none`"
    ) { $0.audibleCriteria },
    .optionalCriteria(.playerLegibleCriteria, "the criteria of `media-selection` for subtitles, or `none`") {
      $0.legibleCriteria
    },
    .boolean(.playerAppliesCriteria, "whether items follow the criteria (`media-selection automatic`)") {
      $0.appliesCriteria
    },
    .word(
      .playerReplayGain, FieldKey<String>.replayGain.spec.type,
      "the mode of `replay-gain`: `off`, `track`, `album` or `auto`"
    ) { $0.replayGain },
    .word(.playerRepeat, FieldKey<String>.`repeat`.spec.type, "what repeats: `off`, `one` or `all`") { $0.repeatMode },
    .optionalRange(.playerLoop, "the looped range of the current item, `START-END` in seconds, or `none`") { $0.loop },
    .optionalDuration(.playerCrossfade, "the duration of the cross-fade between entries, in seconds, or `none`") {
      $0.crossfade
    },
    .optionalInteger(.playerShuffle, "the seed of the shuffled order, or `none`") { $0.shuffleSeed },
    .word(.playerOnFailure, .words(of: FailurePolicy.self), "the action when an item fails: `skip`, `stop` or `retry`")
    {
      $0.onFailure
    },
    .optionalText(
      .playerError, "the name of the error that stopped the player, until it plays again, or `none`"
    ) { $0.error },
  ]

  /// The key of the queue.
  package static let queueVersion: ObservedKey =
    .integer(.queueVersion, "a number that increases with every change of the queue") { $0.queueVersion }
}

extension ObservedKey where Root == any CurrentItemValues {
  /// The keys of the current entry, in the order of the table.
  package static let ofCurrentItems: [ObservedKey] = [
    .boolean(.itemIsPlaybackLikelyToKeepUp, "whether the current item is expected to play without a stall") {
      $0.isPlaybackLikelyToKeepUp
    },
    .boolean(
      .itemIsPlaybackBufferFull,
      "whether the buffer of the current item is full: decoding pauses, and a waiting player starts"
    ) { $0.isPlaybackBufferFull },
    .boolean(
      .itemIsPlaybackBufferEmpty,
      "whether the buffer of the current item is empty. When another item becomes current, the former one reports an"
        + " empty buffer"
    ) { $0.isPlaybackBufferEmpty },
  ]
}

extension ObservedKey where Root == any ItemValues {
  /// The keys of every entry, in the order of the table.
  package static let ofItems: [ObservedKey] = [
    .word(
      .itemStatus, FieldKey<String>.itemStatus.spec.type,
      "the status of every entry: `unknown` until it is opened, then `readyToPlay` or `failed`"
    ) { $0.statusText },
    .duration(
      .itemDuration,
      "the duration of each opened item, in seconds; `indefinite` while unknown. An estimate is corrected when the end"
        + " of the audio has been read"
    ) { $0.duration },
    .boolean(.itemProvidesPreciseDuration, "for each opened item: whether the duration is exact") {
      $0.providesPreciseDuration
    },
    .optionalText(.itemError, "the name of the error of a failed item, or `none`") { $0.error },
    .optionalText(
      .itemTitle,
      "the title of each item whose tags are known: that of the request, or else of the tags, or else of the playlist;"
        + " `none` without one, and for one of more than 1,024 bytes"
    ) { $0.title },
    .optionalText(.itemArtist, "the artist of each item whose tags are known, with the same rules") { $0.artist },
    .optionalText(.itemAlbum, "the album of each item whose tags are known, with the same rules") { $0.album },
    .optionalSelection(
      .itemCurrentMediaSelection,
      "for each opened item: the presented track of each group, such as `audible=1,legible=none`; groups without tracks"
        + " are left out. `none` before the item is opened"
    ) { $0.currentMediaSelection },
  ]
}

extension ObservedKey where Root == any OutputValues {
  /// The keys of the output, in the order of the table.
  package static let ofOutputs: [ObservedKey] = [
    .word(
      .outputState, FieldKey<String>.stateOfOutput.spec.type,
      "the state of the output: `opening`, `ready`, `unresponsive` (the device accepts no audio), `fallback` (silence"
        + " until a device is available), `lost` (players wait) or `closed`"
    ) { $0.state },
    .optionalText(.outputRoute, "the output device and, after a `/`, its port; `none` without an output") { $0.route },
    .optionalTexts(.outputDevices, "the names of the output devices, or `none` while no sound server replies") {
      $0.devices
    },
    .outputSelection(
      .outputSelection, "the requested output, such as `selected=default preferred=headset lost=pause`"
    ) { $0.selection },
  ]
}

extension ObservedKey where Root == any SessionValues {
  /// The keys of the audio session, in the order of the table.
  package static let ofSessions: [ObservedKey] = [
    .word(
      .sessionCategory, .words(of: SessionCategory.self), "the category of the session (`session.category`)"
    ) {
      $0.category
    },
    .word(.sessionMode, .words(of: SessionMode.self), "the mode of the session (`session.category`)") { $0.mode },
    .optionalWords(.sessionOptions, SessionOption.self, "the options of the session (`session.category`), or `none`") {
      $0.options
    },
    .boolean(.sessionIsActive, "whether the session is active") { $0.isActive },
    .boolean(
      .sessionIsInterrupted, "whether another program interrupts playback; the players are then paused"
    ) { $0.isInterrupted },
    .boolean(
      .sessionHint, "whether the sound server lowers the volume of playback because another program plays"
    ) { $0.secondaryAudioShouldBeSilencedHint },
  ]
}
