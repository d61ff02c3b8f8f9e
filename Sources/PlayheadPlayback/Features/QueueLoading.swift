import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// Opens the current item and the next ones before they play, so that their status is known.
final class QueueLoading: PlayerFeature {
  private unowned let player: PlayerCore
  /// Items that are being opened.
  private var loadingIDs: Set<PlayerItem.ID> = []
  /// The items whose loading the engine prioritizes, in the order that was last passed to it.
  private var prioritizedIDs: [PlayerItem.ID] = []
  /// The sample rates of opened items, in Hz.
  private var sampleRates: [PlayerItem.ID: Int] = [:]

  init(_ player: PlayerCore) { self.player = player }

  // MARK: - Opening

  func update() {
    let ids = player.machine.itemsToLoad
    guard !ids.isEmpty else { return }
    for id in ids { load(id) }
    if ids != prioritizedIDs {
      prioritizedIDs = ids
      player.engine.prioritizeLoading(ids.compactMap { player.items[$0] }, of: player)
    }
  }

  /// Opens an entry to determine its status.
  func load(_ id: PlayerItem.ID) {
    guard let item = player.items[id], item.status == .unknown else { return }
    open(item)
  }

  /// Opens an item for its status or for all of its loudness tags, unless it is already being opened.
  func open(_ item: PlayerItem) {
    item.needsLoudnessTags = player.replayGain.needsTags
    guard loadingIDs.insert(item.id).inserted else { return }
    player.engine.load(item, for: player) { [weak player] result in
      guard let player, !player.isClosed else { return }
      player.loading.opened(item, result)
    }
  }

  private func opened(_ item: PlayerItem, _ result: Result<AssetProperties, MediaError>) {
    loadingIDs.remove(item.id)
    switch result {
    case .success(let properties):
      itemLoaded(item.id, properties)
      player.replayGain.itemOpened(item, isFailure: false)
    case .failure(let error):
      if item.status == .unknown {
        player.itemFailed(item.id, error)
      } else {
        player.replayGain.itemOpened(item, isFailure: true)
      }
    }
  }

  /// Cancels opening an item whose status is known.
  private func stop(_ item: PlayerItem) {
    if loadingIDs.remove(item.id) != nil { player.engine.cancelLoading(item) }
  }

  /// Forgets an item that left the queue.
  func forget(_ item: PlayerItem, cancelsLoading: Bool) {
    sampleRates[item.id] = nil
    if cancelsLoading { stop(item) } else { loadingIDs.remove(item.id) }
  }

  // MARK: - Results

  /// Handles an item that the decode thread opened.
  func decoderOpened(_ id: PlayerItem.ID, _ properties: AssetProperties, sampleRateHz: Int) {
    sampleRates[id] = sampleRateHz
    setFilterReach(of: id, sampleRateHz: sampleRateHz)
    if let item = player.items[id], item.status == .unknown {
      stop(item)
      player.replayGain.completeTags(of: item)
    }
    itemLoaded(id, properties)
  }

  private func itemLoaded(_ id: PlayerItem.ID, _ properties: AssetProperties) {
    guard let item = player.items[id], item.status == .unknown else { return }
    update(item, properties)
  }

  /// Stores a more precise duration. Other entries of the same asset are updated when they are loaded or read.
  func durationRefined(_ id: PlayerItem.ID, _ properties: AssetProperties) {
    guard let item = player.items[id], item.status == .readyToPlay else { return }
    update(item, properties)
  }

  private func update(_ item: PlayerItem, _ properties: AssetProperties) {
    guard item.update(properties) else { return }
    player.run(
      player.machine.itemLoaded(item.id, duration: item.duration, isPrecise: properties.providesPreciseDuration),
      cause: .itemLoaded)
    player.send(player.itemChanged(item))
  }

  // MARK: - Sample rates

  /// The sample rate of an item in Hz: that of its decoder, or else the declared one. Items with only video play as
  /// silence at 48 kHz.
  func sampleRateHz(of item: PlayerItem) -> Int {
    sampleRates[item.id] ?? (try? item.asset.loaded?.get())?.audioTrack?.audioFormat?.sampleRateHz ?? 48_000
  }

  /// The sample rate of an item that a decoder has opened, in Hz; nil for another one.
  func decodedSampleRateHz(of id: PlayerItem.ID) -> Int? { sampleRates[id] }

  func outputDidStart(_ core: RenderCore, input: Int) {
    for (id, rate) in sampleRates { setFilterReach(of: id, sampleRateHz: rate) }
  }

  /// Sets the length of the item's end whose resampled audio depends on the following item, for the current output.
  private func setFilterReach(of id: PlayerItem.ID, sampleRateHz rate: Int) {
    guard let format = player.output.format, let asset = player.items[id]?.asset else { return }
    // Without fast random access the end is not decoded again when the following item changes. The filter is reset at
    // the end instead.
    let hasFastRandomAccess = !asset.isRemote && (try? asset.loaded?.get())?.isSeekable == true
    let frames = hasFastRandomAccess ? AudioConverter.filterReach(from: rate, to: format.sampleRateHz) : 0
    player.machine.setFilterReach(MediaTime(frame: Int64(frames), rate: rate), of: id)
  }
}
