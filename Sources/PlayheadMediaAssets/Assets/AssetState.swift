import PlayheadLibAV
import PlayheadMediaCore
import Synchronization

/// The known values of an asset and the loadings in progress.
///
/// The state is separate from the asset, so that a loading thread does not retain the asset: loading ends when the
/// asset is released. Threading: any.
final class AssetState: Sendable {
  /// The result of reading the tags.
  struct MetadataOutcome {
    var result: Result<AssetMetadata, MediaError>?
    /// The number of bytes of the result that count against the budget.
    var reservedByteCount = 0
    /// The values that are requested most often, computed once.
    var titles: AssetTitles?
    /// The version of the local file that has `titles`; nil if unknown.
    var titlesVersion: FileVersion?
    /// Whether `titles` are from an earlier process, and the file may have changed.
    var areTitlesRestored = false
  }

  /// The open byte sources of an asset.
  struct OpenSources {
    /// The source that loading opened and keeps for the next reader.
    var keptSource: (any ByteSource)?
    /// The local file that is playing.
    var playingFile: KeptFile?
    /// The source of the latest reader.
    weak var latestSource: (any ByteSource)?
  }

  /// The requests for the properties.
  let propertiesLoading = AssetLoading<AssetProperties>()
  /// The requests for the tags.
  let metadataLoading = AssetLoading<AssetMetadata>()
  /// The interrupts of loadings that run or wait for another loading to end. Locked only for a copy.
  private let interrupts = Mutex<[ObjectIdentifier: Interrupt]>([:])
  /// Locked while the file is opened, so that concurrent callers open it once.
  let loadingLock = Mutex<Void>(())
  /// The result of loading. Locked only for a copy.
  let outcome = Mutex<Result<AssetProperties, MediaError>?>(nil)
  /// The result of reading the tags. Locked only for a copy.
  let metadataOutcome = Mutex(MetadataOutcome())
  /// The encoding of the tags; nil: the standard encoding. Locked only for a copy.
  let tagCharset = Mutex<TextCharset?>(nil)
  /// The packet positions in the file that readers have found so far. Locked only for a copy.
  let packetIndex = Mutex<PacketIndex?>(nil)
  /// The open byte sources. Locked only for a copy.
  let openSources = Mutex(OpenSources())
  /// The session, if the asset is an HLS stream. Locked only for a copy.
  let streamSession = Mutex<StreamSession?>(nil)
  /// The files that a worker process has opened without a fault.
  let trials = TrialRecord()
  /// The budget for the data of the tags.
  private let tagData: TagDataBudget

  init(tagData: TagDataBudget) { self.tagData = tagData }

  deinit { tagData.release(metadataOutcome.withLock { $0.reservedByteCount }) }

  /// Adds a loading that runs or waits for another one to end.
  func begin(_ interrupt: Interrupt) { interrupts.withLock { $0[ObjectIdentifier(interrupt)] = interrupt } }

  /// Removes a loading that has ended.
  func end(_ interrupt: Interrupt) { interrupts.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(interrupt)) } }

  /// Cancels loading for all callers.
  func cancelLoading() {
    propertiesLoading.cancel()
    metadataLoading.cancel()
    for interrupt in interrupts.withLock({ Array($0.values) }) { interrupt.cancel() }
  }

  /// Discards the tags, and cancels reading them.
  func discardMetadata() {
    metadataLoading.cancel()
    let previous = metadataOutcome.withLock { current in
      defer { current = MetadataOutcome() }
      return current.reservedByteCount
    }
    tagData.release(previous)
  }

  /// Stores titles without the other tags, unless titles are known. Stores empty ones if half of the budget is used, so
  /// that the titles are not read again. Returns whether titles were stored that are not empty.
  func keep(_ titles: AssetTitles) -> Bool {
    var (titles, byteCount) = (titles, titles.byteCount)
    if !tagData.reserve(byteCount, leaving: tagData.byteCount / 2) { (titles, byteCount) = (AssetTitles(), 0) }
    let isStored = metadataOutcome.withLock { current in
      guard current.titles == nil else { return false }
      current.titles = titles
      current.reservedByteCount += byteCount
      return true
    }
    if !isStored { tagData.release(byteCount) }
    return isStored && !titles.isEmpty
  }

  /// Stores titles of an earlier process.
  func restore(_ titles: AssetTitles, of version: FileVersion) {
    guard keep(titles) else { return }
    metadataOutcome.withLock { current in (current.titlesVersion, current.areTitlesRestored) = (version, true) }
  }

  /// Discards restored titles, so that the titles are read again.
  func discardRestoredTitles() {
    let byteCount = metadataOutcome.withLock { current in
      guard current.areTitlesRestored else { return 0 }
      let byteCount = min(current.titles?.byteCount ?? 0, current.reservedByteCount)
      (current.titles, current.titlesVersion, current.areTitlesRestored) = (nil, nil, false)
      current.reservedByteCount -= byteCount
      return byteCount
    }
    tagData.release(byteCount)
  }

  /// Stores the result of reading the tags, reduced to the budget. Returns the stored result.
  func set(_ result: Result<AssetMetadata, MediaError>) -> Result<AssetMetadata, MediaError> {
    var outcome = MetadataOutcome(result: result)
    if case .success(var metadata) = result {
      outcome.reservedByteCount = metadata.fit(into: tagData)
      outcome.titles = AssetTitles(metadata.items)
      outcome.result = .success(metadata)
    }
    let previous = metadataOutcome.withLock { current in
      defer { current = outcome }
      return current.reservedByteCount
    }
    tagData.release(previous)
    return outcome.result ?? result
  }
}
