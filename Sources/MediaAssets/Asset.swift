import LibAV
import MediaCore
import Synchronization

/// A media file: what it is, how long it is, what tracks it has. Made from a path without touching the file, or from a
/// file's bytes in memory.
///
/// Loading is explicit and happens once; what it found, or why it failed, is kept. Threading: any.
public final class Asset: Sendable {
  /// Bytes that an asset in memory may have: 1 GiB.
  public static let maximumDataByteCount = 1 << 30

  /// The file's path, as bytes without a terminating zero; need not be UTF-8. Empty for an asset in memory.
  public let path: [UInt8]
  /// The file's bytes, when it is in memory.
  public let data: [UInt8]?
  /// Loading finds out exactly how long the sound is, even if all of the file has to be read for that: MP3 without an
  /// information frame, ADTS, raw AC-3, Matroska. As `AVURLAssetPreferPreciseDurationAndTimingKey`.
  public let prefersPreciseDuration: Bool

  /// Those of the loadings that run or wait for another one to end. Held for a copy only.
  private let interrupts = Mutex<[ObjectIdentifier: Interrupt]>([:])
  /// Who waits for it to be loaded.
  let keyLoading = AssetLoading<AssetProperties>()
  /// Who waits for its tags.
  let metadataLoading = AssetLoading<AssetMetadata>()
  /// What became of its tags. Held for a copy only.
  private let metadataOutcome = Mutex<Result<AssetMetadata, MediaError>?>(nil)
  /// What loads it for those.
  let workers: AssetWorkers
  /// Held while the file is opened, so that it is opened once however many ask.
  private let loading = Mutex<Void>(())
  /// The outcome. Held for a copy only.
  private let outcome = Mutex<Result<AssetProperties, MediaError>?>(nil)
  /// Where packets lie in the file, as far as its readers found out. Held for a copy only.
  private let index = Mutex<PacketIndex?>(nil)

  /// An asset for a path, absolute or relative to the working directory of the time when it is loaded. No I/O.
  ///
  /// - Parameter workers: what loads it for those who wait without blocking.
  public init(path: [UInt8], prefersPreciseDuration: Bool = false, workers: AssetWorkers = .shared) {
    self.path = path
    data = nil
    self.prefersPreciseDuration = prefersPreciseDuration
    self.workers = workers
  }

  /// An asset for a path. No I/O.
  public convenience init(path: String, prefersPreciseDuration: Bool = false) {
    self.init(path: Array(path.utf8), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// An asset for a `file:` URL, such as `file:///music/a%20b.flac`. No I/O.
  ///
  /// Errors: `unsupportedPlace` for another scheme or host; `invalidArgument` for text that is no URL.
  public convenience init(url text: String, prefersPreciseDuration: Bool = false) throws(MediaError) {
    try self.init(path: FileURL.path(from: text), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// An asset for a media file's bytes, which are shared and not copied. No I/O; they are looked at when it is loaded.
  public init(data: [UInt8], prefersPreciseDuration: Bool = false) {
    path = []
    self.data = data
    self.prefersPreciseDuration = prefersPreciseDuration
    workers = .shared
  }

  /// The path as text for messages; what is not UTF-8 shows as U+FFFD.
  public var displayPath: String {
    if let data { return "\(data.count) bytes of data" }
    return String(decoding: path, as: UTF8.self)
  }

  /// What `load()` found, when it has run, with what reading the sound has shown since. Never blocks on the file.
  public var loaded: Result<AssetProperties, MediaError>? { outcome.withLock { $0 } }

  /// Opens the file, once, and says what it is. Blocks: call it on a worker thread.
  ///
  /// Errors, kept and thrown again next time: `fileNotFound`, `notAFile`, `permissionDenied`, `readFailed`,
  /// `emptyFile`, `unknownFormat`, `damagedFile`, `noPlayableTracks`, `unknownCodec`, `unsupportedAudioFormat`,
  /// `mediaLimitExceeded`. Not kept: `cancelled`.
  public func load() throws(MediaError) -> AssetProperties {
    if let loaded { return try loaded.get() }
    return try load(interrupt: Interrupt())
  }

  /// As above, with the interrupt that ends this loading alone.
  func load(interrupt: Interrupt) throws(MediaError) -> AssetProperties {
    interrupts.withLock { $0[ObjectIdentifier(interrupt)] = interrupt }
    defer { interrupts.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(interrupt)) } }
    let result = loading.withLock { _ -> Result<AssetProperties, MediaError> in
      // Another thread may have loaded it while this one waited.
      if let loaded { return loaded }
      let result = Result { () throws(MediaError) in try read(interrupt) }
      if case .failure(let error) = result, error.code == .cancelled { return result }
      return outcome.withLock { outcome in
        // Who was told that it is cancelled does not see it loaded.
        if interrupt.isCancelled { return .failure(MediaError(.cancelled, "the operation was cancelled")) }
        outcome = result
        return result
      }
    }
    return try result.get()
  }

  /// Ends loading for all who wait: a `load()` that runs throws `cancelled`, requests for keys complete, and the keys'
  /// status is `cancelled` until one is asked for again. What is loaded stays so. Any thread, does not block.
  public func cancelLoading() {
    keyLoading.cancel()
    metadataLoading.cancel()
    for interrupt in interrupts.withLock({ Array($0.values) }) { interrupt.cancel() }
  }

  /// What is known for good; nil before it is loaded.
  var knownStatus: AssetValueStatus<AssetProperties>? {
    switch loaded {
    case .success(let properties): .loaded(properties)
    case .failure(let error): .failed(error)
    case nil: nil
    }
  }

  /// The same for its tags.
  var knownMetadata: AssetValueStatus<AssetMetadata>? {
    switch metadataOutcome.withLock({ $0 }) {
    case .success(let metadata): .loaded(metadata)
    case .failure(let error): .failed(error)
    case nil: nil
    }
  }

  /// Opens the file and reads its tags. Blocks. Errors: those of `load()` that concern the file and its container.
  func loadMetadata(interrupt: Interrupt) throws(MediaError) -> AssetMetadata {
    let result = Result { () throws(MediaError) in
      let (demuxer, _) = try MediaFile.open(self, interrupt: interrupt)
      return try MetadataReader.read(demuxer, displayPath: displayPath)
    }
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    if case .failure(let error) = result, error.code == .cancelled { throw error }
    metadataOutcome.withLock { $0 = result }
    return try result.get()
  }

  /// Reading the sound has shown where a track ends, nil: the one that the file would have played. The asset's duration
  /// becomes that. Answers what is known now; nil when it was known, or the asset is not loaded. Any thread.
  public func refine(audioEnd: MediaTime, trackID: AssetTrack.ID? = nil) -> AssetProperties? {
    outcome.withLock { outcome in
      guard case .success(let known)? = outcome else { return nil }
      let refined = known.withAudioEnd(audioEnd, trackID: trackID)
      guard refined != known else { return nil }
      outcome = .success(refined)
      return refined
    }
  }

  /// The index that the readers of this file share; a new one when the file is another one by now, or another stream is read.
  func packetIndex(
    identity: FileIdentity, streamIndex: Int, firstByte: Int64, spacingFrames: Int64
  ) -> PacketIndex {
    index.withLock { index in
      if let index, index.identity == identity, index.streamIndex == streamIndex, index.firstByte == firstByte {
        return index
      }
      let fresh = PacketIndex(
        identity: identity, streamIndex: streamIndex, firstByte: firstByte, spacingFrames: spacingFrames)
      index = fresh
      return fresh
    }
  }

  private func read(_ interrupt: Interrupt) throws(MediaError) -> AssetProperties {
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    let (demuxer, byteCount) = try MediaFile.open(self, interrupt: interrupt)
    let properties = try AssetProperties(demuxer: demuxer, byteCount: byteCount, displayPath: displayPath)
    guard prefersPreciseDuration, let track = properties.audioTrack, !track.providesPreciseDuration else {
      return properties
    }
    let reader = try AudioTrackReader(asset: self, interrupt: interrupt, kinds: .regularFiles)
    let end = try MediaTime(frame: reader.exactFrameCount(), rate: reader.format.sampleRateHz)
    return properties.withAudioEnd(end)
  }
}
