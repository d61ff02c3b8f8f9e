import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlayerModel
import PlayheadRealtimeAudio
import PlayheadWireProtocol

/// The observed values of a player.
struct ObservedPlayer: PlayerValues {
  let state: PlayerState

  var timeControlStatus: String { state.timeControlStatus.wireName }
  var reasonForWaitingToPlay: String? { state.reasonForWaitingToPlay?.rawValue }
  var rate: Double { state.rate }
  var timebaseRate: Double { state.timebaseRate }
  var defaultRate: Double { state.defaultRate }
  var currentItem: UInt64? { state.currentItemID }
  var volume: Float { state.volume }
  var isFading: Bool { state.isFading }
  var isMuted: Bool { state.isMuted }
  var pan: Float { state.pan }
  var actionAtItemEnd: String { state.actionAtItemEnd.rawValue }
  var automaticallyWaits: Bool { state.automaticallyWaitsToMinimizeStalling }
  var audioTimePitchAlgorithm: String { state.audioTimePitchAlgorithm.rawValue }
  var audibleCriteria: MediaSelectionRequest? {
    state.mediaSelectionCriteria[.audible].map(MediaSelectionRequest.init)
  }
  var legibleCriteria: MediaSelectionRequest? {
    state.mediaSelectionCriteria[.legible].map(MediaSelectionRequest.init)
  }
  var appliesCriteria: Bool { state.appliesMediaSelectionCriteriaAutomatically }
  var replayGain: String { state.replayGain.mode.rawValue }
  var repeatMode: String { state.repeatMode.rawValue }
  var loop: TimeRange? { state.loop?.range }
  var crossfade: MediaTime? { state.crossfade?.duration }
  var shuffleSeed: UInt64? { state.shuffleSeed }
  var onFailure: String { state.itemFailurePolicy.rawValue }
  var error: String? { state.error?.code.name }
  var queueVersion: UInt64 { state.queueVersion }
}

extension PlayerState: CurrentItemValues {}

/// The observed values of an entry.
struct ObservedItem: ItemValues {
  var status = ItemStatus.unknown
  var duration = MediaTime.indefinite
  var providesPreciseDuration = false
  /// Nil before the groups are known.
  var currentMediaSelection: TrackSelection?
  var titles = Titles()

  /// The title, artist and album of an entry. Nil if they are unknown.
  struct Titles {
    var title: String?
    var artist: String?
    var album: String?

    init() {}

    init(_ item: PlayerItem) {
      guard item.status == .readyToPlay || item.tagTitles != nil else { return }
      (title, artist) = item.titleAndArtist
      album = item.tagTitles?.album
    }
  }

  var statusText: String { status.name }
  var error: String? { status.error?.code.name }
  var title: String? { titles.title }
  var artist: String? { titles.artist }
  var album: String? { titles.album }
}

/// The observed values of the output.
struct ObservedOutput: OutputValues {
  let engine: EngineCore

  var state: String { engine.outputState.status.rawValue }
  var route: String? { engine.route.output?.label }
  var devices: [String]? { engine.devices?.outputs.map(\.name) }
  var selection: OutputSelectionFields { engine.outputSelection.fields }
}
