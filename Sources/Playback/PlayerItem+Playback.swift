import MediaAssets
import MediaCore
import Synchronization

/// How an item is played: from where to where, how far ahead it is decoded, and what can be done with it.
extension PlayerItem {
  /// What can be set of an item, besides its mix.
  struct Settings: Sendable, Hashable {
    var forwardEnd: MediaTime?
    var reverseEnd: MediaTime?
    var forwardBufferDuration = MediaTime.zero
  }

  /// What of an item is decoded.
  struct Loaded: Sendable, Hashable {
    var ranges: [TimeRange] = []
    var buffer = PlayerStateMachine.Buffer()
  }

  // MARK: - Where it ends

  /// Where forward playback of the item ends; nil: where its sound does.
  ///
  /// It is an end like the item's own: `playedToEnd` is told once, and `actionAtItemEnd`, repeats and what follows apply, at
  /// frame `floor(time * rate)` exactly. The duration stays what it is, seeks go behind it, and backward playback does not
  /// know it. Playback that is behind it, when it is set or by a seek, is at the end at once.
  public var forwardPlaybackEndTime: MediaTime? { settings.withLock { $0.forwardEnd } }

  /// Where backward playback of the item ends; nil: at its beginning. Forward playback does not know it.
  public var reversePlaybackEndTime: MediaTime? { settings.withLock { $0.reverseEnd } }

  /// Sets `forwardPlaybackEndTime`, before or while it is played. A time that is invalid takes it away, as nil does. Errors:
  /// `invalidTime` for a time below 0, an infinite and an indefinite one; then nothing changes.
  public func setForwardPlaybackEndTime(_ time: MediaTime?) throws(MediaError) {
    let end = try Self.endTime(time)
    change { $0.forwardEnd = end }
  }

  /// The same for `reversePlaybackEndTime`.
  public func setReversePlaybackEndTime(_ time: MediaTime?) throws(MediaError) {
    let end = try Self.endTime(time)
    change { $0.reverseEnd = end }
  }

  private static func endTime(_ time: MediaTime?) throws(MediaError) -> MediaTime? {
    guard let time, time.isValid else { return nil }
    guard time.isNumeric, time >= .zero else {
      throw MediaError(.invalidTime, "playback ends at a time of the item, not at \(time)", operation: "item.end-time")
    }
    return time
  }

  // MARK: - How far ahead it is decoded

  /// What a player keeps decoded in memory, at least; by the output's rate it may be up to twice as much.
  public static let maximumForwardBufferDuration = MediaTime(value: 4_500, timescale: 1_000)

  /// How far ahead of what is heard the item is decoded, while it is the current one; 0: as far as there is memory.
  ///
  /// From 4.5 s on it counts as 0; and it is never less than a quarter of a second more than half of the memory, which is
  /// always more than 2 s: decoding goes on when only that half is left. Less means more wakeups, and less that is thrown
  /// away by a seek.
  public var preferredForwardBufferDuration: MediaTime { settings.withLock { $0.forwardBufferDuration } }

  /// Sets `preferredForwardBufferDuration`. Errors: `invalidTime` for what is not 0 or more; then nothing changes.
  public func setPreferredForwardBufferDuration(_ duration: MediaTime) throws(MediaError) {
    guard duration.isNumeric, duration >= .zero else {
      throw MediaError(.invalidTime, "a buffer lasts 0 s or more, not \(duration)", operation: "item.buffer")
    }
    change { $0.forwardBufferDuration = duration }
  }

  /// What that comes to; nil: as far as there is memory.
  var forwardBufferLimit: MediaTime? {
    let duration = preferredForwardBufferDuration
    return duration > .zero && duration < Self.maximumForwardBufferDuration ? duration : nil
  }

  private func change(_ body: (inout Settings) -> Void) {
    noteSettings()
    let isChanged = settings.withLock { settings in
      let old = settings
      body(&settings)
      return settings != old
    }
    if isChanged { settingsObserver.withLock { $0 }?(id) }
  }

  /// Called when one of the settings was changed, on the thread that changed it.
  var onSettingsChange: (@Sendable (ID) -> Void)? {
    get { settingsObserver.withLock { $0 } }
    set { settingsObserver.withLock { $0 = newValue } }
  }

  // MARK: - What can be done with it

  private var isReady: Bool { status == .readyToPlay }
  /// Streams go on from where they are, and cannot be gone to another place in.
  private var canMove: Bool { isReady && isSeekable != false }

  /// Errors: `rangesNotSupported`, or `onlyInOrder` for a descriptor, when it is a stream; not before that is known.
  func checkCanMove(operation: String) throws(MediaError) {
    guard isSeekable == false else { return }
    throw MediaError(
      asset.codeOfStreams, "item \(id) is a stream, which is heard as it comes", operation: operation)
  }

  /// Whether the item plays at rates above 2. Like all of these false until it is ready.
  public var canPlayFastForward: Bool { isReady }
  /// Whether it plays at rates between 0 and 1.
  public var canPlaySlowForward: Bool { isReady }
  /// Whether it plays at -1. A stream does not play backwards, nor step.
  public var canPlayReverse: Bool { canMove }
  /// Whether it plays at rates between -1 and 0.
  public var canPlaySlowReverse: Bool { canMove }
  /// Whether it plays at rates below -1.
  public var canPlayFastReverse: Bool { canMove }
  /// Whether `step` goes forward. It stays so at the item's end.
  public var canStepForward: Bool { canMove }
  /// Whether `step` goes back. It stays so at the item's beginning.
  public var canStepBackward: Bool { canMove }

  /// What there is of it now, when it is a live HLS stream; nil otherwise.
  public var liveWindow: LiveWindow? { isReady && timeRange == nil ? asset.liveWindow : nil }

  /// Where can be sought: all of the item, once it is ready; up to an infinite time where the duration is not known, which
  /// is none before. None of a stream.
  public var seekableTimeRanges: [TimeRange] {
    guard canMove else { return [] }
    if let window = liveWindow { return [window.seekable] }
    let duration = duration
    return [TimeRange(start: .zero, duration: duration.isNumeric ? duration : .positiveInfinity)]
  }

  // MARK: - What is there

  /// What of the item is decoded and can be heard without reading more: from what is being heard on. Of a file on a disk
  /// that is nothing that a seek would save: a seek decodes anew. From a network also what is in memory and need not be loaded
  /// again, by the share of the bytes.
  ///
  /// As of the last time that one of the three flags changed, or that a player was asked by `loadedTimeRanges(of:)`.
  public var loadedTimeRanges: [TimeRange] { loaded.withLock { $0.ranges } }

  /// Whether so much of it is decoded that playing is not expected to stall. Of the current item of a player; others: false.
  public var isPlaybackLikelyToKeepUp: Bool { loaded.withLock { $0.buffer.isLikelyToKeepUp } }
  /// Whether as much of it is decoded as is wanted, so that decoding rests. That ends waiting for samples, even where it is
  /// not likely to keep up.
  public var isPlaybackBufferFull: Bool { loaded.withLock { $0.buffer.isFull } }
  /// Whether nothing of it is decoded that has not been heard: it stalls, or is at its end.
  public var isPlaybackBufferEmpty: Bool { loaded.withLock { $0.buffer.isEmpty } }

  // MARK: - Tracks

  /// What was chosen of a group of its tracks.
  public enum TrackChoice: Sendable, Hashable {
    /// Nothing is presented.
    case none
    case track(AssetTrack.ID)
  }

  /// What was chosen; groups that nothing was chosen of are not among them. Set it of an item that nothing has opened yet: what is
  /// not there is not presented.
  public var trackChoices: [MediaCharacteristic: TrackChoice] {
    get { mediaSelectionSlot.choices.compactMapValues { $0.saved } }
    set { for (group, choice) in newValue { mediaSelectionSlot[group] = MediaSelectionSlot.Choice(choice) } }
  }

  // MARK: - Copying

  /// An item of the same asset, or part of it, that is played in the same way: mix, pitch algorithm, end times, buffer. It has an id of its own, is in no
  /// queue, and its status is `unknown`.
  public func copy() -> PlayerItem {
    let copy = PlayerItem(asset: asset, timeRange: timeRange, playlistEntry: playlistEntry)
    copySettings(to: copy)
    return copy
  }

  /// The same, with an id of the caller's own numbering.
  public func copy(id: ID) -> PlayerItem {
    let copy = PlayerItem(asset: asset, timeRange: timeRange, playlistEntry: playlistEntry, id: id)
    copySettings(to: copy)
    return copy
  }

  /// Gives `other` everything that can be set of this item.
  func copySettings(to other: PlayerItem) {
    other.audioMix = audioMix
    other.measuredReplayGain = measuredReplayGain
    other.timePitchSlot.own = timePitchSlot.own
    other.mediaSelectionSlot.copy(from: mediaSelectionSlot)
    let mine = settings.withLock { $0 }
    other.change { $0 = mine }
  }
}
