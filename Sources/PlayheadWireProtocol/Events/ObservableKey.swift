import PlayheadMediaCore

/// The keys that `observe` accepts, with the names that AVFoundation uses. An observer gets the initial value and then
/// every change.
package enum ObservableKey: String, Sendable, Hashable, CaseIterable {
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
  case playerCrossfade = "player.crossfade"
  case playerShuffle = "player.shuffle"
  case playerOnFailure = "player.onFailure"
  case playerError = "player.error"
  /// This key has no value. Its observers get the events about players.
  case playerEvents = "player.events"
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

  /// The definition of the key's value. Nil for keys whose observers get events.
  package var value: FieldSpec? { Self.values[self] }

  /// A human-readable description of the value, which the reference includes.
  package var summary: String {
    if let value { return value.summary }
    let events = EventTable.all.filter { $0.key == self }.map { "`\($0.name.rawValue)`" }.joined(separator: ", ")
    let isOfItems = self == .itemEvents
    return "no value: the events \(events)"
      + (isOfItems ? "; the most recent `stream-title` and `timed-metadata` are sent first" : "")
  }

  private static let values: [ObservableKey: FieldSpec] = {
    func specs<Root>(_ keys: [ObservedKey<Root>]) -> [(ObservableKey, FieldSpec)] { keys.map { ($0.key, $0.spec) } }
    let all =
      specs(ObservedKey.ofPlayers) + specs([ObservedKey.queueVersion]) + specs(ObservedKey.ofCurrentItems)
      + specs(ObservedKey.ofItems) + specs(ObservedKey.ofOutputs) + specs(ObservedKey.ofSessions)
    return Dictionary(uniqueKeysWithValues: all)
  }()

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
