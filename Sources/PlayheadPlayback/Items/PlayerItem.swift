import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlayerModel
import PlayheadPlaylists
import Synchronization

/// An asset in the queue of a player, with its playback settings and status; corresponds to AVPlayerItem.
///
/// An item belongs to one queue at a time. To play an asset twice, make two items of it; they share the asset's loaded
/// properties.
///
/// Threading: all properties may be read from any thread, and never block.
public final class PlayerItem: Sendable {
  /// Identifies an item. Unique in the process, and never reused.
  public typealias ID = PlayerItemID

  private struct State {
    var status = ItemStatus.unknown
    var duration = MediaTime.indefinite
    var providesPreciseDuration = false
    var isSeekable: Bool?
    var byteCount: Int64 = 0
    var owner: QueueOwnership?
    /// The owner's epoch when it claimed the item; 0 after the item has left the owner's queue.
    var epoch: UInt64 = 0
    var hasChangedSettings = false
    var isClaimed: Bool { owner?.isCurrent(epoch) ?? false }
    var needsLoudnessTags = false
    var lacksLoudnessTags = false
    var measuredReplayGain: ReplayGain?
    var streamTitle: (time: MediaTime, title: StreamTitle)?
    var timedGroups: [TimedMetadataGroup] = []
    var resumeTime: MediaTime?
    var observers: [Int: Observer] = [:]
    var observed: ItemState {
      ItemState(status: status, duration: duration, providesPreciseDuration: providesPreciseDuration)
    }
  }

  /// An observer of `ItemState`. Called with the item locked: it must not read the item.
  struct Observer: Sendable {
    /// Called when the item is released.
    let finish: @Sendable () -> Void
    let handler: @Sendable (_ old: ItemState?, _ new: ItemState, ChangeCause?) -> Void
  }

  private static let nextID = Atomic<UInt64>(1)

  /// The id of the item.
  public let id: ID
  /// The asset that the item plays.
  public let asset: Asset
  /// The part of the asset that this item plays; nil: the whole asset. Times of the item count from the start of the
  /// part. Items that are adjacent parts follow each other without a gap.
  public let timeRange: TimeRange?
  /// The playlist entry that the item was made from; nil without one.
  public let playlistEntry: PlaylistEntry?
  /// The title that the user gave the item, which replaces those of the tags and of the playlist; nil without one.
  public let title: String?
  /// The number of bytes that describe the item: its location, title, HTTP options, and texts from the playlist. A
  /// saved state stores about as many bytes for the item.
  package let descriptionByteCount: Int
  /// The log of network activity for this item; empty for assets that use no network.
  public let networkLog: NetworkLog
  private let state = Mutex(State())
  let audioMixSlot = AudioMixSlot()
  let timePitchSlot = TimePitchSlot()
  let mediaSelectionSlot = MediaSelectionSlot()
  let audioProcessorSlot = AudioProcessorSlot()
  private let audioObserver = Mutex<(@Sendable (ID, AudioChange) -> Void)?>(nil)

  /// A setting of the item that changes audio that is already decoded.
  enum AudioChange: Sendable { case audioMix, timePitch, mediaSelection, subtitles, gain, processors }

  let settings = Mutex(Settings())
  let settingsObserver = Mutex<(@Sendable (ID) -> Void)?>(nil)
  /// The decoded ranges and the buffer state, as the player last published them.
  let decodedState = Mutex(DecodedState())

  /// Makes an item of `asset`. The asset is not opened before the item is in a player's queue.
  public convenience init(
    asset: Asset, timeRange: TimeRange? = nil, playlistEntry: PlaylistEntry? = nil, title: String? = nil
  ) {
    self.init(
      asset: asset, timeRange: timeRange, playlistEntry: playlistEntry, title: title,
      id: Self.nextID.wrappingAdd(1, ordering: .relaxed).oldValue)
  }

  /// Makes an item of the file at a path. A relative path is resolved against the working directory when the file is
  /// opened. No I/O.
  public convenience init(path: String) { self.init(asset: Asset(path: path)) }

  /// Makes an item of the resource at a `file:`, `http:` or `https:` URL. No I/O.
  ///
  /// - Throws: the errors of `Asset.init(url:)`.
  public convenience init(url: String) throws(MediaError) { self.init(asset: try Asset(url: url)) }

  /// Makes an item with an id that the caller assigned.
  ///
  /// An invalid or empty range, and a range with an epoch other than 0, make an item that fails (`invalidTime`).
  public init(
    asset: Asset, timeRange: TimeRange? = nil, playlistEntry: PlaylistEntry? = nil, title: String? = nil, id: ID
  ) {
    self.asset = asset
    self.timeRange = timeRange
    self.playlistEntry = playlistEntry
    self.title = title
    descriptionByteCount = Self.descriptionByteCount(asset, playlistEntry) + (title?.utf8.count ?? 0)
    self.id = id
    networkLog = asset.mayUseNetwork ? NetworkLog() : .empty
  }

  deinit { state.withLock { state in for observer in state.observers.values { observer.finish() } } }

  /// Calls the handler with the current state, and then with each change. Returns the number of the observer.
  func addObserver(_ observer: Observer) -> Int {
    state.withLock { state in
      observer.handler(nil, state.observed, nil)
      let number = (state.observers.keys.max() ?? 0) + 1
      state.observers[number] = observer
      return number
    }
  }

  func removeObserver(_ number: Int) { state.withLock { $0.observers[number] = nil } }

  /// Changes the state and reports the change to observers.
  private func change(_ cause: ChangeCause, _ body: (inout State) -> Void) {
    state.withLock { state in
      let old = state.observed
      body(&state)
      let new = state.observed
      guard new != old else { return }
      for observer in state.observers.values { observer.handler(old, new, cause) }
    }
  }

  /// `unknown` until a player has opened the item.
  public var status: ItemStatus { state.withLock { $0.status } }

  /// The duration of the item; indefinite until it is ready.
  public var duration: MediaTime { state.withLock { $0.duration } }

  /// Whether ``duration`` is exact, not an estimate.
  ///
  /// An estimate is replaced when the end of the audio has been read. `PlayerEvent.itemChanged` reports the change.
  public var providesPreciseDuration: Bool { state.withLock { $0.providesPreciseDuration } }

  /// The tracks of the asset, as its container describes them; empty until the item is ready.
  public var tracks: [AssetTrack] {
    guard status == .readyToPlay, case .success(let properties)? = asset.loaded else { return [] }
    return properties.tracks
  }

  /// The chapters of the asset; empty until the item is ready. If the item is a part of the asset, the chapters are
  /// clipped to the part, in times of the item.
  public var chapters: [AssetChapter] {
    guard status == .readyToPlay, case .success(let properties)? = asset.loaded else { return [] }
    guard let timeRange else { return properties.chapters }
    return properties.chapters.compactMap { timeRange.part(of: $0) }
  }

  /// The position at which the item starts the next time it becomes current; nil: its beginning. Default: nil.
  ///
  /// The start is exact: the first sample heard contains this time. A time at or after the item's end means the
  /// beginning. Reverse playback ignores the value. Set it before the item is in a queue.
  public var resumeTime: MediaTime? {
    get { state.withLock { $0.resumeTime } }
    set { state.withLock { $0.resumeTime = newValue } }
  }

  /// Whether the item supports seeks to any position; nil until it is ready. False for streams.
  public var isSeekable: Bool? { state.withLock { $0.isSeekable } }

  /// The size of the item in bytes; 0 if unknown.
  var byteCount: Int64 { state.withLock { $0.byteCount } }

  /// The error of a failed item; nil unless `status` is `failed`.
  public var error: MediaError? { status.error }

  /// The gains of the item over its time; nil: unchanged. Default: nil.
  ///
  /// A change is heard, from the current position, as soon as the audio is decoded again. The change is crossfaded over
  /// 5 ms.
  public var audioMix: AudioMix? {
    get { audioMixSlot.value }
    set {
      audioMixSlot.value = newValue
      notifyAudioChange(.audioMix)
    }
  }

  /// The processors of this item's audio. Those of the player follow. Default: none.
  ///
  /// A change is heard, from the current position, as soon as the audio is decoded again. The change is crossfaded over
  /// 5 ms. Equal processors change nothing.
  public var audioProcessors: [AudioProcessorFactory] {
    get { audioProcessorSlot.own }
    set {
      guard audioProcessorSlot.own != newValue else { return }
      audioProcessorSlot.own = newValue
      notifyAudioChange(.processors)
    }
  }

  /// The time-pitch algorithm for rates other than 1: the value set for this item, or else the player's. The player's
  /// default is `timeDomain`.
  public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm { timePitchSlot.value }

  /// The algorithm set for this item; nil: the item uses the player's.
  public var ownAudioTimePitchAlgorithm: AudioTimePitchAlgorithm? { timePitchSlot.customValue }

  /// Sets the algorithm for this item; nil: the item uses the player's.
  ///
  /// A change is heard, from the current position, as soon as the audio is decoded again. The change is crossfaded over
  /// 5 ms. At rate 1 nothing changes.
  ///
  /// - Throws: `unsupportedRate` for an algorithm that this build does not have.
  public func setAudioTimePitchAlgorithm(_ algorithm: AudioTimePitchAlgorithm?) throws(MediaError) {
    try algorithm?.requireAvailable(operation: "audioTimePitchAlgorithm")
    let before = timePitchSlot.value
    timePitchSlot.customValue = algorithm
    if timePitchSlot.value != before { notifyAudioChange(.timePitch) }
  }

  /// Gains and peaks that replace those of the item's tags, for example from a loudness scan; nil: the tags are used.
  /// Default: nil. If replay gain is enabled, a change is heard at once, over 5 ms.
  public var measuredReplayGain: ReplayGain? {
    get { state.withLock { $0.measuredReplayGain } }
    set {
      storeMeasuredReplayGain(newValue)
      notifyAudioChange(.gain)
    }
  }

  /// Sets ``measuredReplayGain`` without notifying the player.
  func storeMeasuredReplayGain(_ gain: ReplayGain?) { state.withLock { $0.measuredReplayGain = gain } }

  /// Notifies the player that a setting changed the audio of the item.
  func notifyAudioChange(_ change: AudioChange) { audioObserver.withLock { $0 }?(id, change) }

  /// Called with the item's id after a change of a setting, on the thread that made it. One closure serves all items of
  /// a player.
  var onAudioChange: (@Sendable (ID, AudioChange) -> Void)? {
    get { audioObserver.withLock { $0 } }
    set { audioObserver.withLock { $0 = newValue } }
  }

  /// Whether opening the item must also read its loudness tags.
  var needsLoudnessTags: Bool {
    get { state.withLock { $0.needsLoudnessTags } }
    set { state.withLock { $0.needsLoudnessTags = newValue } }
  }

  /// Whether reading the loudness tags failed. The gain is then computed from the known tags, until the tags are
  /// requested again.
  var lacksLoudnessTags: Bool {
    get { state.withLock { $0.lacksLoudnessTags } }
    set { state.withLock { $0.lacksLoudnessTags = newValue } }
  }

  /// Reads the loudness tags if `needsLoudnessTags`. Blocks. A failure does not prevent opening the item.
  func readLoudnessTagsIfNeeded(_ opening: AssetOpening) {
    guard needsLoudnessTags else { return }
    do throws(MediaError) { _ = try opening.loudnessTags(of: asset) } catch {
      if error.code != .cancelled { lacksLoudnessTags = true }
    }
  }

  /// The title of the stream at the position that is heard, and the item time at which it begins. Nil without a title,
  /// and while the item is not the current item of a player.
  public var streamTitle: (time: MediaTime, title: StreamTitle)? { state.withLock { $0.streamTitle } }

  func setStreamTitle(_ title: (time: MediaTime, title: StreamTitle)?) { state.withLock { $0.streamTitle = title } }

  /// The timed metadata heard so far; empty while the item is not current.
  var timedGroups: [TimedMetadataGroup] {
    get { state.withLock { $0.timedGroups } }
    set { state.withLock { $0.timedGroups = newValue } }
  }

  /// Claims the item for a player, in the player's current epoch. Returns false if another player has claimed it.
  func claim(by owner: QueueOwnership, epoch: UInt64) -> Bool {
    state.withLock { state in
      guard state.owner === owner || !state.isClaimed else { return false }
      (state.owner, state.epoch) = (owner, epoch)
      return true
    }
  }

  /// Whether the item still has its initial state: its queue entry then needs only the id.
  var hasInitialState: Bool {
    state.withLock { $0.status == .unknown && $0.resumeTime == nil && !$0.duration.isNumeric && !$0.hasChangedSettings }
  }

  /// Records that a setting of the item was changed.
  func markSettingsChanged() { state.withLock { $0.hasChangedSettings = true } }

  /// Whether a player has claimed the item.
  var isClaimed: Bool { state.withLock { $0.isClaimed } }

  /// Frees the item for other players if `owner` has claimed it in `newestEpoch` or earlier.
  func free(from owner: QueueOwnership, claimedUntil newestEpoch: UInt64 = .max) {
    state.withLock { state in if state.owner === owner, state.epoch <= newestEpoch { state.epoch = 0 } }
  }

  /// The item's entry in a queue, with its status and settings: the item may have been opened in another queue.
  var queueEntry: QueueEntry {
    if hasInitialState { return QueueEntry(id: id) }
    return QueueEntry(
      id: id, status: status, duration: duration, isDurationPrecise: providesPreciseDuration,
      forwardEnd: forwardPlaybackEndTime, reverseEnd: reversePlaybackEndTime, resumeTime: resumeTime)
  }

  /// Disconnects the item from a player that has freed it. Returns false if a player has claimed the item since.
  ///
  /// - Parameter disconnect: Called while no queue can claim the item. The closure must not read the state of the item,
  ///   which is locked.
  func release(by owner: QueueOwnership, _ disconnect: () -> Void) -> Bool {
    state.withLock { state in
      guard state.owner === owner, !state.isClaimed else { return false }
      disconnect()
      state.owner = nil
      return true
    }
  }

  /// Makes the item ready, or updates its properties. Returns false if nothing changed.
  func update(_ properties: AssetProperties) -> Bool {
    let duration = timeRange?.partDuration(in: properties) ?? properties.duration
    var isKnown = false
    change(.itemLoaded) { state in
      isKnown =
        state.status == .readyToPlay && state.duration == duration
        && state.providesPreciseDuration == properties.providesPreciseDuration
      state.status = .readyToPlay
      state.duration = duration
      state.providesPreciseDuration = properties.providesPreciseDuration
      state.isSeekable = properties.isSeekable
      state.byteCount = properties.byteCount
    }
    return !isKnown
  }

  func fail(_ error: MediaError) { change(.itemFailed) { $0.status = .failed(error) } }

  /// Whether opening a failed item again can succeed: its bytes come from a path or URL, and did not crash the daemon.
  var canBeRetried: Bool {
    guard let error, error.code != .crashedWhileOpening else { return false }
    return canBeOpenedAgain
  }

  /// Whether the item's bytes come from a path or URL.
  var canBeOpenedAgain: Bool {
    switch asset.location {
    case .path, .url: true
    case .descriptor, .source, .data, .composition: false
    }
  }

  /// Makes a failed item unknown, so that it is opened again.
  func forgetFailure() {
    asset.forgetFailure()
    change(.request) { state in if state.status.error != nil { state.status = .unknown } }
  }
}
