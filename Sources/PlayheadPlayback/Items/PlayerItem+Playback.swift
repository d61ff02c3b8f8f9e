import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import Synchronization

/// Playback settings of an item: end times and read-ahead; and the operations that it supports.
extension PlayerItem {
  /// The settings of an item, except its audio mix.
  struct Settings: Sendable, Hashable {
    var forwardEnd: MediaTime?
    var reverseEnd: MediaTime?
    var forwardBufferDuration = MediaTime.zero
  }

  /// The decoded part of an item.
  struct DecodedState: Sendable, Hashable {
    var ranges: [TimeRange] = []
    var buffer = PlayerStateMachine.BufferState()
  }

  // MARK: - End times

  /// The position at which forward playback of the item ends; nil: the end of its audio.
  ///
  /// The position is exact to the frame: `floor(time * rate)`. This end acts like the item's own end: `playedToEnd` is
  /// emitted once, and `actionAtItemEnd`, repeats and the next item apply. The duration does not change, seeks may go
  /// past this time, and reverse playback ignores it. If the position is after this time, when the time is set or by a
  /// seek, the end is reached at once.
  public var forwardPlaybackEndTime: MediaTime? { settings.withLock { $0.forwardEnd } }

  /// The position at which reverse playback of the item ends; nil: its beginning. Forward playback ignores it.
  public var reversePlaybackEndTime: MediaTime? { settings.withLock { $0.reverseEnd } }

  /// Sets ``forwardPlaybackEndTime``, before or during playback. An invalid time removes it, as nil does.
  ///
  /// <!-- listing: set-ends -->
  /// ```swift
  /// item.resumeTime = .seconds(5)
  /// try item.setForwardPlaybackEndTime(.seconds(65))
  /// ```
  ///
  /// - Throws: `invalidTime` for a negative, infinite or indefinite time. Then nothing changes.
  public func setForwardPlaybackEndTime(_ time: MediaTime?) throws(MediaError) {
    let end = try Self.endTime(time)
    change { $0.forwardEnd = end }
  }

  /// Sets ``reversePlaybackEndTime``; otherwise like ``setForwardPlaybackEndTime(_:)``.
  public func setReversePlaybackEndTime(_ time: MediaTime?) throws(MediaError) {
    let end = try Self.endTime(time)
    change { $0.reverseEnd = end }
  }

  private static func endTime(_ time: MediaTime?) throws(MediaError) -> MediaTime? {
    guard let time, time.isValid else { return nil }
    guard time.isNumeric, time >= .zero else {
      throw MediaError(
        .invalidTime, "end time must be numeric and not negative (got \(time))", operation: "setPlaybackEndTime")
    }
    return time
  }

  // MARK: - Read-ahead

  /// The minimum capacity of a player's buffer of decoded audio. Depending on the output's sample rate the buffer has
  /// up to twice this duration.
  public static let maximumForwardBufferDuration = MediaTime(value: 4_500, timescale: 1_000)

  /// How far the item is decoded ahead of the audio that is heard, while it is current; 0: as far as the buffer allows.
  /// Default: 0.
  ///
  /// A value of 4.5 s or more counts as 0. Decoding resumes when half of the buffer is free. The effective minimum is
  /// therefore half of the buffer plus 250 ms, which is always more than 2 s. A smaller value causes more wakeups, but
  /// a seek discards less decoded audio.
  public var preferredForwardBufferDuration: MediaTime { settings.withLock { $0.forwardBufferDuration } }

  /// Sets ``preferredForwardBufferDuration``.
  ///
  /// - Throws: `invalidTime` for a negative or non-numeric duration. Then nothing changes.
  public func setPreferredForwardBufferDuration(_ duration: MediaTime) throws(MediaError) {
    guard duration.isNumeric, duration >= .zero else {
      throw MediaError(
        .invalidTime, "buffer duration must not be negative (got \(duration))",
        operation: "preferredForwardBufferDuration")
    }
    change { $0.forwardBufferDuration = duration }
  }

  /// The effective limit of ``preferredForwardBufferDuration``; nil: as far as the buffer allows.
  var forwardBufferLimit: MediaTime? {
    let duration = preferredForwardBufferDuration
    return duration > .zero && duration < Self.maximumForwardBufferDuration ? duration : nil
  }

  private func change(_ body: (inout Settings) -> Void) {
    markSettingsChanged()
    let isChanged = settings.withLock { settings in
      let old = settings
      body(&settings)
      return settings != old
    }
    if isChanged { settingsObserver.withLock { $0 }?(id) }
  }

  /// Called after a change of a setting, on the thread that made it.
  var onSettingsChange: (@Sendable (ID) -> Void)? {
    get { settingsObserver.withLock { $0 } }
    set { settingsObserver.withLock { $0 = newValue } }
  }

  // MARK: - Supported operations

  private var isReady: Bool { status == .readyToPlay }
  /// Whether the item is ready and supports seeks.
  private var canSeek: Bool { isReady && isSeekable != false }

  /// Checks that the item can seek. A stream is only detected once the item has been opened.
  ///
  /// - Throws: for a stream `rangesNotSupported`, or `onlyInOrder` if it is a descriptor.
  func checkSeekable(operation: String) throws(MediaError) {
    guard isSeekable == false else { return }
    throw MediaError(
      asset.streamErrorCode, "item \(id) is a stream and cannot seek", operation: operation)
  }

  /// Whether the item can play at rates above 2. This property and the following ones are false until the item is
  /// ready.
  public var canPlayFastForward: Bool { isReady }
  /// Whether the item can play at rates between 0 and 1.
  public var canPlaySlowForward: Bool { isReady }
  /// Whether the item can play at rate -1. Streams can neither play backwards nor step.
  public var canPlayReverse: Bool { canSeek }
  /// Whether the item can play at rates between -1 and 0.
  public var canPlaySlowReverse: Bool { canSeek }
  /// Whether the item can play at rates below -1.
  public var canPlayFastReverse: Bool { canSeek }
  /// Whether `step` can move forward. The value does not change at the item's end.
  public var canStepForward: Bool { canSeek }
  /// Whether `step` can move back. The value does not change at the item's beginning.
  public var canStepBackward: Bool { canSeek }

  /// The window of a live HLS stream that is available now; nil for other items.
  public var liveWindow: LiveWindow? { isReady && timeRange == nil ? asset.liveWindow : nil }

  /// The ranges of valid seek targets: the whole item once it is ready. The end is infinite while the duration is
  /// unknown. Empty for streams, and before the item is ready.
  public var seekableTimeRanges: [TimeRange] {
    guard canSeek else { return [] }
    if let window = liveWindow { return [window.seekable] }
    let duration = duration
    return [TimeRange(start: .zero, duration: duration.isNumeric ? duration : .positiveInfinity)]
  }

  // MARK: - Buffer

  /// The ranges of the item, from the position that is heard, that can be played without further reads.
  ///
  /// For a local file these ranges do not make a seek faster, because a seek decodes again. For a network resource they
  /// include loaded bytes in memory, converted to times in proportion to the size.
  ///
  /// Updated when one of the three buffer flags changes, and by `loadedTimeRanges(of:)` of the player.
  public var loadedTimeRanges: [TimeRange] { decodedState.withLock { $0.ranges } }

  /// Whether enough of the item is decoded that no stall is expected; false if the item is not current.
  public var isPlaybackLikelyToKeepUp: Bool { decodedState.withLock { $0.buffer.isLikelyToKeepUp } }
  /// Whether the buffer is full, so that decoding pauses. A full buffer ends waiting for samples, even if
  /// ``isPlaybackLikelyToKeepUp`` is false.
  public var isPlaybackBufferFull: Bool { decodedState.withLock { $0.buffer.isFull } }
  /// Whether all decoded audio of the item has been heard: playback stalls, or is at the item's end.
  public var isPlaybackBufferEmpty: Bool { decodedState.withLock { $0.buffer.isEmpty } }

  // MARK: - Tracks

  /// The choice for a group of tracks.
  public enum TrackChoice: Sendable, Hashable {
    /// No track is presented.
    case none
    /// The track with this ID is presented.
    case track(AssetTrack.ID)
  }

  /// The explicit choices by group; groups without a choice are absent. Set the choices before the item is opened. A
  /// chosen track that does not exist is not presented.
  public var trackChoices: [MediaCharacteristic: TrackChoice] {
    get { mediaSelectionSlot.choices.compactMapValues { $0.saved } }
    set { for (group, choice) in newValue { mediaSelectionSlot[group] = MediaSelectionSlot.Choice(choice) } }
  }

  // MARK: - Copying

  /// Returns a new item of the same asset, range and title with the same settings: mix, measured gain, pitch algorithm,
  /// track choices, audio processors, end times and buffer duration. The copy has a new id, is in no queue, and its
  /// status is `unknown`.
  public func copy() -> PlayerItem {
    let copy = PlayerItem(asset: asset, timeRange: timeRange, playlistEntry: playlistEntry, title: title)
    copySettings(to: copy)
    return copy
  }

  /// Returns a copy with an id that the caller assigned.
  public func copy(id: ID) -> PlayerItem {
    let copy = PlayerItem(asset: asset, timeRange: timeRange, playlistEntry: playlistEntry, title: title, id: id)
    copySettings(to: copy)
    return copy
  }

  /// Copies all settings of this item to `other`.
  func copySettings(to other: PlayerItem) {
    other.audioMix = audioMix
    other.measuredReplayGain = measuredReplayGain
    other.timePitchSlot.customValue = timePitchSlot.customValue
    other.mediaSelectionSlot.copy(from: mediaSelectionSlot)
    other.audioProcessorSlot.own = audioProcessorSlot.own
    let current = settings.withLock { $0 }
    other.change { $0 = current }
  }
}
