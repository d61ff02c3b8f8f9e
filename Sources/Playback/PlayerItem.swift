import MediaAssets
import MediaCore
import NetworkIO
import Playlists
import Synchronization

/// An asset on its way through a player: its place in a queue, and how far it is. As AVPlayerItem.
///
/// An item belongs to one queue at a time. To play an asset twice, make two items of it; they share what the asset
/// knows.
///
/// Threading: all properties may be read from any thread; they never block.
public final class PlayerItem: Sendable {
  /// Names an item; unique in the process and never used again.
  public typealias ID = UInt64

  private struct State {
    var status = ItemStatus.unknown
    var duration = MediaTime.indefinite
    var providesPreciseDuration = false
    var isSeekable: Bool?
    var byteCount: Int64 = 0
    var owner: QueueOwnership?
    /// The owner's epoch in which it claimed the item; 0 once the item has left the owner's queue.
    var epoch: UInt64 = 0
    var hasSettings = false
    var isClaimed: Bool { owner?.holds(epoch) ?? false }
    var wantsLevelTags = false
    var lacksLevelTags = false
    var measuredReplayGain: ReplayGain?
    var streamTitle: (time: MediaTime, title: StreamTitle)?
    var timedGroups: [TimedMetadataGroup] = []
    var resumeTime: MediaTime?
  }

  private static let nextID = Atomic<UInt64>(1)

  public let id: ID
  public let asset: Asset
  /// The part of the asset that the item is, as if nothing else were in it: times of the item count from its start. Nil: all
  /// of it. Items that are parts next to each other follow each other without a gap.
  public let timeRange: TimeRange?
  /// What a list said of the item, if it came from one.
  public let playlistEntry: PlaylistEntry?
  /// The number of bytes that describe the item: its location, how its servers are asked, and the texts of the playlist
  /// that named it. About as much is kept of it in a saved state.
  public let descriptionByteCount: Int
  /// What the network did to play this item; empty for what comes from elsewhere.
  public let networkLog: NetworkLog
  private let state = Mutex(State())
  let audioMixSlot = AudioMixSlot()
  let timePitchSlot = TimePitchSlot()
  let mediaSelectionSlot = MediaSelectionSlot()
  private let soundObserver = Mutex<(@Sendable (ID, SoundChange) -> Void)?>(nil)

  /// What makes the item sound otherwise than it was decoded.
  enum SoundChange: Sendable { case audioMix, timePitch, mediaSelection, subtitles, level }

  let settings = Mutex(Settings())
  let settingsObserver = Mutex<(@Sendable (ID) -> Void)?>(nil)
  /// What a player has decoded of it.
  let loaded = Mutex(Loaded())

  /// Makes an item of `asset`. Nothing is opened before a player has it.
  public convenience init(asset: Asset, timeRange: TimeRange? = nil, playlistEntry: PlaylistEntry? = nil) {
    self.init(
      asset: asset, timeRange: timeRange, playlistEntry: playlistEntry,
      id: Self.nextID.wrappingAdd(1, ordering: .relaxed).oldValue)
  }

  /// Makes an item with an id of the caller's own numbering.
  ///
  /// A range that is not valid, empty or of another epoch than 0 makes an item that fails (`invalidTime`).
  public init(asset: Asset, timeRange: TimeRange? = nil, playlistEntry: PlaylistEntry? = nil, id: ID) {
    self.asset = asset
    self.timeRange = timeRange
    self.playlistEntry = playlistEntry
    descriptionByteCount = Self.descriptionByteCount(asset, playlistEntry)
    self.id = id
    networkLog = asset.mayUseNetwork ? NetworkLog() : .empty
  }

  /// `unknown` until a player has opened the item.
  public var status: ItemStatus { state.withLock { $0.status } }

  /// Indefinite until the item is ready.
  public var duration: MediaTime { state.withLock { $0.duration } }

  /// Whether `duration` is what the item really lasts, not an estimate. An estimate is replaced, and the change told
  /// (`PlayerEvent.itemChanged`), when the end of the sound has been read.
  public var providesPreciseDuration: Bool { state.withLock { $0.providesPreciseDuration } }

  /// The tracks of the asset, as its container describes them; none until the item is ready.
  public var tracks: [AssetTrack] {
    guard status == .readyToPlay, case .success(let properties)? = asset.loaded else { return [] }
    return properties.tracks
  }

  /// The asset's chapters, of an item that is a part of it those that lie in the part, in the item's times. None until the
  /// item is ready.
  public var chapters: [AssetChapter] {
    guard status == .readyToPlay, case .success(let properties)? = asset.loaded else { return [] }
    guard let timeRange else { return properties.chapters }
    return properties.chapters.compactMap { timeRange.part(of: $0) }
  }

  /// Where the item begins when it becomes current for the first time from now on; nil, as at first: at its beginning. A time that is not
  /// before its end, as that is then, is the beginning too, and backwards it counts for nothing. The first sample that is heard is
  /// that of this time. Set it before a queue has the item.
  public var resumeTime: MediaTime? {
    get { state.withLock { $0.resumeTime } }
    set { state.withLock { $0.resumeTime = newValue } }
  }

  /// Whether it can be gone to any place of it; nil until it is ready. Streams cannot.
  public var isSeekable: Bool? { state.withLock { $0.isSeekable } }

  /// Bytes that it has; 0 when that is not known.
  var byteCount: Int64 { state.withLock { $0.byteCount } }

  /// Why the item failed; nil unless `status` is `failed`.
  public var error: MediaError? { status.error }

  /// How loud the item is at which of its times; nil, as it is at first: as recorded.
  ///
  /// What is being heard changes as soon as it has been decoded anew, from where it is then and across 5 ms.
  public var audioMix: AudioMix? {
    get { audioMixSlot.value }
    set {
      audioMixSlot.value = newValue
      soundChanged(.audioMix)
    }
  }

  /// What becomes of the pitch at another rate than 1: what was set here, or else what the player plays with, at first
  /// `timeDomain`.
  public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm { timePitchSlot.value }

  /// What was set for this item; nil: nothing, so that it is played with its player's.
  public var ownAudioTimePitchAlgorithm: AudioTimePitchAlgorithm? { timePitchSlot.own }

  /// Sets the algorithm for this item; nil: it is played with its player's. What is being heard changes as soon as it has
  /// been decoded anew, from where it is then and across 5 ms; at the rate 1 nothing changes.
  ///
  /// Errors: `unsupportedRate` for an algorithm that this build does not have.
  public func setAudioTimePitchAlgorithm(_ algorithm: AudioTimePitchAlgorithm?) throws(MediaError) {
    try algorithm?.requireAvailable(operation: "item.pitch")
    let before = timePitchSlot.value
    timePitchSlot.own = algorithm
    if timePitchSlot.value != before { soundChanged(.timePitch) }
  }

  /// Gains and peaks that count instead of those of the item's tags, such as a scan has found; nil, as at first: the tags count. What is
  /// heard changes at once, over 5 ms, where replay gain is on.
  public var measuredReplayGain: ReplayGain? {
    get { state.withLock { $0.measuredReplayGain } }
    set {
      noteMeasured(newValue)
      soundChanged(.level)
    }
  }

  /// The same without telling who plays the item.
  func noteMeasured(_ gain: ReplayGain?) { state.withLock { $0.measuredReplayGain = gain } }

  /// Tells who plays the item that it sounds otherwise now.
  func soundChanged(_ change: SoundChange) { soundObserver.withLock { $0 }?(id, change) }

  /// Called with the item's id when something was set, on the thread that set it. One closure serves all items of a player.
  var onSoundChange: (@Sendable (ID, SoundChange) -> Void)? {
    get { soundObserver.withLock { $0 } }
    set { soundObserver.withLock { $0 = newValue } }
  }

  /// Whether who opens it is to find out all that its tags say of how loud it is to be.
  var wantsLevelTags: Bool {
    get { state.withLock { $0.wantsLevelTags } }
    set { state.withLock { $0.wantsLevelTags = newValue } }
  }

  /// Whether what was left out of them when it was opened cannot be had: what is known is all there is, until it is wanted anew.
  var lacksLevelTags: Bool {
    get { state.withLock { $0.lacksLevelTags } }
    set { state.withLock { $0.lacksLevelTags = newValue } }
  }

  /// Finds them out where they are wanted. Blocks. It is opened whether they can be had or not.
  func findLevelTags(_ opening: AssetOpening) {
    guard wantsLevelTags else { return }
    do throws(MediaError) { _ = try opening.levelTags(of: asset) } catch {
      if error.code != .cancelled { lacksLevelTags = true }
    }
  }

  /// What the stream says that it plays, as far as that is heard, and from which of the item's times on; nil where nothing was said,
  /// and while the item is not the current one of a player.
  public var streamTitle: (time: MediaTime, title: StreamTitle)? { state.withLock { $0.streamTitle } }

  func setStreamTitle(_ title: (time: MediaTime, title: StreamTitle)?) { state.withLock { $0.streamTitle = title } }

  /// What the stream said besides, as far as that is heard; the last of each kind, none while the item is not the current one.
  var timedGroups: [TimedMetadataGroup] {
    get { state.withLock { $0.timedGroups } }
    set { state.withLock { $0.timedGroups = newValue } }
  }

  /// Claims the item for a player, in the player's present epoch. Returns false when another player has claimed it.
  func claim(by owner: QueueOwnership, epoch: UInt64) -> Bool {
    state.withLock { state in
      guard state.owner === owner || !state.isClaimed else { return false }
      (state.owner, state.epoch) = (owner, epoch)
      return true
    }
  }

  /// Whether nothing was found out of the item, or set of it, that a queue must know.
  var isFresh: Bool {
    state.withLock { $0.status == .unknown && $0.resumeTime == nil && !$0.duration.isNumeric && !$0.hasSettings }
  }

  /// Something was set of the item.
  func noteSettings() { state.withLock { $0.hasSettings = true } }

  /// Whether a player has claimed the item.
  var isClaimed: Bool { state.withLock { $0.isClaimed } }

  /// Makes the item free for other players, if it is this one's.
  func free(from owner: QueueOwnership) {
    state.withLock { state in if state.owner === owner { state.epoch = 0 } }
  }

  /// Ends what connects the item to a player that it is free from. Returns false when a player has claimed it since.
  ///
  /// - Parameter disconnect: Called while no queue can claim the item. It must not ask the item for its state.
  func release(by owner: QueueOwnership, _ disconnect: () -> Void) -> Bool {
    state.withLock { state in
      guard state.owner === owner, !state.isClaimed else { return false }
      disconnect()
      state.owner = nil
      return true
    }
  }

  /// It is ready, or more is known of it. False when that was known before.
  func update(_ properties: AssetProperties) -> Bool {
    let duration = timeRange?.partDuration(in: properties) ?? properties.duration
    return state.withLock { state in
      let isKnown =
        state.status == .readyToPlay && state.duration == duration
        && state.providesPreciseDuration == properties.providesPreciseDuration
      state.status = .readyToPlay
      state.duration = duration
      state.providesPreciseDuration = properties.providesPreciseDuration
      state.isSeekable = properties.isSeekable
      state.byteCount = properties.byteCount
      return !isKnown
    }
  }

  func fail(_ error: MediaError) { state.withLock { $0.status = .failed(error) } }
}
