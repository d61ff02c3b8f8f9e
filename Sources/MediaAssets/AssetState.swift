import LibAV
import MediaCore
import Synchronization

/// What is known of an asset, and what is being done to find it out.
///
/// Apart from the asset itself, so that a thread that loads it does not keep it: when nobody has the asset any more, loading ends.
/// Threading: any.
final class AssetState: Sendable {
  /// What became of its tags.
  struct MetadataOutcome {
    var result: Result<AssetMetadata, MediaError>?
    /// Bytes of it that the budget counts.
    var takenByteCount = 0
    /// What is asked for most, found once.
    var titles: AssetTitles?
  }

  /// What of a byte source is open.
  struct Opened {
    /// Opened when the asset was loaded, for whoever reads it next.
    var kept: (any ByteSource)?
    /// The local file that is being played.
    var file: KeptFile?
    /// What is being read.
    weak var latest: (any ByteSource)?
  }

  /// Who waits for it to be loaded.
  let keyLoading = AssetLoading<AssetProperties>()
  /// Who waits for its tags.
  let metadataLoading = AssetLoading<AssetMetadata>()
  /// Those of the loadings that run or wait for another one to end. Held for a copy only.
  private let interrupts = Mutex<[ObjectIdentifier: Interrupt]>([:])
  /// Held while the file is opened, so that it is opened once however many ask.
  let loading = Mutex<Void>(())
  /// The outcome. Held for a copy only.
  let outcome = Mutex<Result<AssetProperties, MediaError>?>(nil)
  /// The tags' outcome. Held for a copy only.
  let metadataOutcome = Mutex(MetadataOutcome())
  /// The encoding of its tags; nil: the standard one. Held for a copy only.
  let tagCharset = Mutex<TextCharset?>(nil)
  /// Where packets lie in the file, as far as its readers found out. Held for a copy only.
  let index = Mutex<PacketIndex?>(nil)
  /// Held for a copy only.
  let opened = Mutex(Opened())
  /// The stream that it turned out to be. Held for a copy only.
  let stream = Mutex<StreamSession?>(nil)
  /// What a worker process has opened without a fault.
  let trials = TrialRecord()
  /// Of which its tags are taken.
  private let tagData: TagDataBudget

  init(tagData: TagDataBudget) { self.tagData = tagData }

  deinit { tagData.giveBack(metadataOutcome.withLock { $0.takenByteCount }) }

  /// A loading runs, or waits for another one to end.
  func begin(_ interrupt: Interrupt) { interrupts.withLock { $0[ObjectIdentifier(interrupt)] = interrupt } }

  /// It has ended.
  func end(_ interrupt: Interrupt) { interrupts.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(interrupt)) } }

  /// Ends loading for all who wait.
  func cancelLoading() {
    keyLoading.cancel()
    metadataLoading.cancel()
    for interrupt in interrupts.withLock({ Array($0.values) }) { interrupt.cancel() }
  }

  /// Forgets what was read of the tags, and cancels reading them.
  func forgetMetadata() {
    metadataLoading.cancel()
    let former = metadataOutcome.withLock { known in
      defer { known = MetadataOutcome() }
      return known.takenByteCount
    }
    tagData.giveBack(former)
  }

  /// The tags have been read; answers what is held of them.
  func set(_ result: Result<AssetMetadata, MediaError>) -> Result<AssetMetadata, MediaError> {
    var outcome = MetadataOutcome(result: result)
    if case .success(var metadata) = result {
      outcome.takenByteCount = metadata.fit(into: tagData)
      outcome.titles = AssetTitles(metadata)
      outcome.result = .success(metadata)
    }
    let former = metadataOutcome.withLock { known in
      defer { known = outcome }
      return known.takenByteCount
    }
    tagData.giveBack(former)
    return outcome.result ?? result
  }
}
