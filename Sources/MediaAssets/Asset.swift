import LibAV
import MediaCore
import NetworkIO
import Synchronization

/// A media file: what it is, how long it is, what tracks it has. Made from a path or an address without touching what is there,
/// from a file's bytes in memory, or from somebody else's source of bytes.
///
/// Loading is explicit and happens once; what it found, or why it failed, is kept. Threading: any.
public final class Asset: Sendable {
  /// Bytes that an asset in memory may have: 1 GiB.
  public static let maximumDataByteCount = 1 << 30

  /// Where its bytes are.
  public let place: AssetPlace
  /// What the network did for who asked the asset itself; empty for other places. Items that are played have logs of their own.
  public let networkLog: NetworkLog
  /// How servers are asked: that of an address, or those that a playlist in a file names.
  public let httpOptions: HTTPOptions
  /// Loading finds out exactly how long the sound is, even if all of the file has to be read for that: MP3 without an
  /// information frame, ADTS, raw AC-3, Matroska. As `AVURLAssetPreferPreciseDurationAndTimingKey`.
  public let prefersPreciseDuration: Bool

  /// Where its bytes are parsed.
  public let isolation: Isolation
  /// What messages call it; nil: what its place says.
  let displayName: String?

  /// Whether reading it may take as long as somebody else wants.
  public let isRemote: Bool
  /// Whether something may be loaded from a server: an address, or a file by whose name it may be a playlist.
  public let mayUseNetwork: Bool
  /// How many compositions lie in each other, this one counted; 0 for other assets. Found once, as the two above: an asset asks those
  /// that it is put together from, and they do not ask further.
  let compositionDepth: Int

  /// What loads it for those who wait without blocking.
  let workers: AssetWorkers
  /// What was found, and what is being done. Shared with whoever loads it for those who wait.
  let state: AssetState
  /// It is another one's, for a thread that loads that.
  private let isLoader: Bool

  /// An asset for a place. No I/O.
  ///
  /// - Parameter isolation: where its bytes are parsed.
  public convenience init(
    place: AssetPlace, prefersPreciseDuration: Bool = false, workers: AssetWorkers = .shared,
    isolation: Isolation = .standard
  ) {
    self.init(
      place: place, prefersPreciseDuration: prefersPreciseDuration, workers: workers, tagData: .shared,
      isolation: isolation)
  }

  /// The same, with what it may hold of tags.
  init(
    place: AssetPlace, options: HTTPOptions = HTTPOptions(), prefersPreciseDuration: Bool, workers: AssetWorkers,
    tagData: TagDataBudget, displayName: String? = nil, isolation: Isolation = .standard
  ) {
    self.isolation = isolation
    self.displayName = displayName
    self.place = place
    if case .url(_, let own) = place { httpOptions = own } else { httpOptions = options }
    self.prefersPreciseDuration = prefersPreciseDuration
    self.workers = workers
    state = AssetState(tagData: tagData)
    isLoader = false
    isRemote = place.isRemote
    mayUseNetwork = place.mayUseNetwork
    if case .composition(let composition) = place { compositionDepth = composition.depth } else { compositionDepth = 0 }
    networkLog = mayUseNetwork ? NetworkLog() : .empty
  }

  /// An asset that messages call by another name than its place's. No I/O.
  convenience init(place: AssetPlace, prefersPreciseDuration: Bool, displayName: String, isolation: Isolation) {
    self.init(
      place: place, prefersPreciseDuration: prefersPreciseDuration, workers: .shared, tagData: .shared,
      displayName: displayName, isolation: isolation)
  }

  /// An asset for the same bytes that finds out its exact duration. No I/O.
  convenience init(precise asset: Asset) {
    self.init(
      place: asset.place, options: asset.httpOptions, prefersPreciseDuration: true, workers: asset.workers,
      tagData: .shared, displayName: asset.displayName, isolation: asset.isolation)
    let charset = asset.state.tagCharset.withLock { $0 }
    state.tagCharset.withLock { $0 = charset }
  }

  /// The same asset, for a thread that loads it: it has all but the right to be loaded to its end when nobody has the asset any more.
  init(loaderOf asset: Asset) {
    place = asset.place
    isolation = asset.isolation
    displayName = asset.displayName
    httpOptions = asset.httpOptions
    networkLog = asset.networkLog
    (isRemote, mayUseNetwork, compositionDepth) = (asset.isRemote, asset.mayUseNetwork, asset.compositionDepth)
    prefersPreciseDuration = asset.prefersPreciseDuration
    workers = asset.workers
    state = asset.state
    isLoader = true
  }

  /// An asset for a path, absolute or relative to the working directory of the time when it is loaded. No I/O.
  ///
  /// - Parameter workers: what loads it for those who wait without blocking.
  ///
  /// - Parameter options: how servers are asked that the file names when it is a playlist of HLS.
  ///
  /// - Parameter isolation: where its bytes are parsed.
  public convenience init(
    path: [UInt8], options: HTTPOptions = HTTPOptions(), prefersPreciseDuration: Bool = false,
    workers: AssetWorkers = .shared, isolation: Isolation = .standard
  ) {
    self.init(
      place: .path(path), options: options, prefersPreciseDuration: prefersPreciseDuration, workers: workers,
      tagData: .shared, isolation: isolation)
  }

  /// An asset for a path. No I/O.
  public convenience init(path: String, prefersPreciseDuration: Bool = false) {
    self.init(path: Array(path.utf8), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// An asset for a `file:` URL, such as `file:///music/a%20b.flac`, or an `http:` or `https:` one. No I/O.
  ///
  /// Errors: `unsupportedPlace` for another scheme or host; `invalidArgument` for text that is no URL.
  public convenience init(url text: String, prefersPreciseDuration: Bool = false) throws(MediaError) {
    if HTTPURL.isHTTP(text) {
      self.init(url: try HTTPURL(text), prefersPreciseDuration: prefersPreciseDuration)
    } else {
      try self.init(path: FileURL.path(from: text), prefersPreciseDuration: prefersPreciseDuration)
    }
  }

  /// An asset for a media file's bytes, which are shared and not copied. No I/O; they are looked at when it is loaded.
  public convenience init(data: [UInt8], prefersPreciseDuration: Bool = false) {
    self.init(place: .data(data), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// Nobody can ask for what is being loaded any more.
  deinit { if !isLoader { state.cancelLoading() } }

  /// What `load()` found, when it has run, with what reading the sound has shown since. Never blocks on the file.
  public var loaded: Result<AssetProperties, MediaError>? { state.outcome.withLock { $0 } }

  /// Opens the file, once, and says what it is. Blocks: call it on a worker thread.
  ///
  /// Errors, kept and thrown again next time: `fileNotFound`, `notAFile`, `permissionDenied`, `readFailed`,
  /// `emptyFile`, `unknownFormat`, `damagedFile`, `noPlayableTracks`, `unknownCodec`, `unsupportedAudioFormat`,
  /// `mediaLimitExceeded`; from the network those of `HTTPResource.open` and `read`. Not kept: `cancelled`.
  public func load() throws(MediaError) -> AssetProperties {
    if let loaded { return try loaded.get() }
    return try load(interrupt: Interrupt())
  }

  /// As above, with the interrupt that ends this loading alone.
  ///
  /// - Parameters:
  ///   - keepsOpen: a byte source that had to be opened is kept for the reader that follows; `dropKept` lets it go.
  ///   - log: what the network does for it is noted there; nil: in `networkLog`.
  func load(
    interrupt: Interrupt, keepsOpen: Bool = false, log: NetworkLog? = nil
  ) throws(MediaError) -> AssetProperties {
    if let loaded { return try loaded.get() }
    state.begin(interrupt)
    defer { state.end(interrupt) }
    // A server may take its time, and each who waits for it may want to stop waiting: nobody waits for another one there.
    // The same goes for a file by whose name it may be a playlist that leads to one.
    if isRemote || mayUseNetwork {
      let result = Result { () throws(MediaError) in try read(interrupt, keepsOpen: keepsOpen, log: log) }
      if case .failure(let error) = result, error.code == .cancelled { throw error }
      return try state.outcome.withLock { known in
        if interrupt.isCancelled {
          return Result<AssetProperties, MediaError>.failure(MediaError(.cancelled, "the operation was cancelled"))
        }
        if case .success? = known { return known ?? result }
        known = result
        if case .failure = result { descriptor?.stream?.giveUp() }
        return result
      }.get()
    }
    let result = state.loading.withLock { _ -> Result<AssetProperties, MediaError> in
      // Another thread may have loaded it while this one waited.
      if let loaded { return loaded }
      let result = Result { () throws(MediaError) in try read(interrupt, keepsOpen: keepsOpen, log: log) }
      if case .failure(let error) = result, error.code == .cancelled { return result }
      return state.outcome.withLock { outcome in
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
  public func cancelLoading() { state.cancelLoading() }

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
    switch state.metadataOutcome.withLock({ $0.result }) {
    case .success(let metadata): .loaded(metadata)
    case .failure(let error): .failed(error)
    case nil: nil
    }
  }

  /// The title and artist in its tags; nil unless these have been read. Asking reads nothing.
  public var loadedTitles: AssetTitles? { state.metadataOutcome.withLock { $0.titles } }

  /// Opens the file and reads its tags, unless they are known. Blocks. Errors: those of `load()` that concern the file and its
  /// container.
  func loadMetadata(interrupt: Interrupt) throws(MediaError) -> AssetMetadata {
    if let known = state.metadataOutcome.withLock({ $0.result }) { return try known.get() }
    state.begin(interrupt)
    defer { state.end(interrupt) }
    let charset = tagCharset
    let result = Result { () throws(MediaError) in try readMetadata(interrupt) }
    // Another encoding was chosen meanwhile: what was read is not kept.
    if tagCharset != charset { return try result.get() }
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    if case .failure(let error) = result, error.code == .cancelled { throw error }
    return try state.set(result).get()
  }

  private func readMetadata(_ interrupt: Interrupt) throws(MediaError) -> AssetMetadata {
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    switch try MediaFile.find(self, interrupt: interrupt) {
    case .stream(let session, let fetcher): return try session.metadata(fetcher, interrupt: interrupt)
    case .composition: return AssetMetadata()
    case .bytes(let source): return try MetadataReader.read(source, of: self)
    }
  }

  /// A picture of the asset's tags with its data: what is held, or else read again. Blocks: call it on a worker thread; see
  /// `AssetOpening.artwork`.
  ///
  /// - Parameter index: in `AssetMetadata.artwork`; nil: the picture to show, the front cover or else the first.
  ///
  /// Errors: `noSuchPicture`, `pictureTooLarge`; those of loading the tags; `cancelled` after `cancelLoading`.
  public func loadArtwork(_ index: Int? = nil) throws(MediaError) -> (index: Int, Artwork) {
    try loadArtwork(index, interrupt: Interrupt())
  }

  /// The same, with what ends this alone.
  func loadArtwork(_ index: Int?, interrupt: Interrupt) throws(MediaError) -> (index: Int, Artwork) {
    var metadata = try loadMetadata(interrupt: interrupt)
    guard let index = index ?? metadata.preferredArtworkIndex, metadata.artwork.indices.contains(index) else {
      throw MediaError(
        .noSuchPicture,
        index.map { "the tags of \(displayPath) have no picture \($0)" } ?? "there is no picture in \(displayPath)",
        operation: "artwork")
    }
    if metadata.artwork[index].omission?.code == .tagDataLimit {
      state.begin(interrupt)
      defer { state.end(interrupt) }
      metadata = try readMetadata(interrupt)
      guard metadata.artwork.indices.contains(index) else {
        throw MediaError(.noSuchPicture, "\(displayPath) has other pictures by now", operation: "artwork")
      }
    }
    let picture = metadata.artwork[index]
    if let error = picture.omission { throw error }
    return (index, picture)
  }

  /// Reading the sound has shown where a track ends, nil: the one that the file would have played. The asset's duration
  /// becomes that. Answers what is known now; nil when it was known, or the asset is not loaded. Any thread.
  public func refine(audioEnd: MediaTime, trackID: AssetTrack.ID? = nil) -> AssetProperties? {
    state.outcome.withLock { outcome in
      guard case .success(let known)? = outcome else { return nil }
      let refined = known.withAudioEnd(audioEnd, trackID: trackID)
      guard refined != known else { return nil }
      outcome = .success(refined)
      return refined
    }
  }

  /// More is known of its tags.
  func set(_ levelTags: LevelTags) {
    state.outcome.withLock { outcome in
      guard case .success(var properties)? = outcome else { return }
      properties.levelTags = levelTags
      outcome = .success(properties)
    }
  }

  /// The index that the readers of this file share; a new one when the file is another one by now, or another stream is read.
  func packetIndex(
    identity: FileIdentity, streamIndex: Int, firstByte: Int64, spacingFrames: Int64
  ) -> PacketIndex {
    state.index.withLock { index in
      if let index, index.identity == identity, index.streamIndex == streamIndex, index.firstByte == firstByte {
        return index
      }
      let fresh = PacketIndex(
        identity: identity, streamIndex: streamIndex, firstByte: firstByte, spacingFrames: spacingFrames)
      index = fresh
      return fresh
    }
  }

  // MARK: - Byte sources

  /// The source that was kept open, or a new one, opened. Blocks.
  func openSource(_ make: () throws(MediaError) -> any ByteSource, interrupt: Interrupt) throws(MediaError)
    -> any ByteSource
  {
    let kept = state.opened.withLock { opened in
      defer { opened.kept = nil }
      return opened.kept
    }
    // One that cannot go back must still have its beginning.
    if let kept, kept.isSeekable || kept.presentBytes?.lowerBound == 0 { return kept }
    let source = try make()
    do throws(AVFailure) { try FileSource.open(source, interrupt: interrupt) } catch {
      throw MediaError(error, path: displayPath)
    }
    return source
  }

  /// The stream that it is, once that is known.
  var streamSession: StreamSession? { state.stream.withLock { $0 } }

  /// It is this stream; answers the one that it was found to be first.
  func keep(_ session: StreamSession) -> StreamSession {
    state.stream.withLock { stream in
      let known = stream ?? session
      stream = known
      return known
    }
  }

  /// A reader has it.
  func noteReading(_ source: any ByteSource) {
    state.opened.withLock { $0.latest = source }
    (source as? HTTPResource)?.markPlayed()
  }

  /// Nobody is going to read what was kept open.
  func dropKept() { state.opened.withLock { $0.kept = nil } }

  /// Bytes of the resource that are in memory, in front of who reads it and behind; nil when none are known.
  public var presentBytes: Range<Int64>? { state.opened.withLock { $0.latest }?.presentBytes }

  private func read(
    _ interrupt: Interrupt, keepsOpen: Bool, log: NetworkLog?
  ) throws(MediaError) -> AssetProperties {
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    switch try MediaFile.find(self, interrupt: interrupt, log: log) {
    case .stream(let session, let fetcher): return try readStream(session, fetcher, interrupt: interrupt)
    case .composition(let composition): return try composition.properties()
    case .bytes(let source):
      let properties = try properties(of: source, keepsOpen: keepsOpen, interrupt: interrupt, log: log)
      if keepsOpen, let source = source.byteSource { state.opened.withLock { $0.kept = source } }
      return properties
    }
  }

  /// What a file is. With isolation a worker finds it out.
  ///
  /// - Parameter keepsOpen: a reader follows.
  private func properties(
    of source: FileSource, keepsOpen: Bool, interrupt: Interrupt, log: NetworkLog?
  ) throws(MediaError) -> AssetProperties {
    // What this process will decode is tried at the same time.
    let isTried = isolation == .worker && keepsOpen
    let identity: FileIdentity?
    do throws(AVFailure) { identity = isTried ? try source.identity() : nil } catch {
      throw MediaError(error, path: displayPath)
    }
    let parameters = LoadParameters(
      prefersPreciseDuration: prefersPreciseDuration,
      packetCount: isTried ? Isolation.trialPacketCount(of: source) : 0)
    let found = try isolation.run(
      .load, parameters, on: source, named: displayPath,
      byteLimit: prefersPreciseDuration ? nil : Isolation.openingByteCount, as: AssetProperties.self)
    guard let found else {
      let demuxer = try MediaFile.demuxer(source, of: self)
      return try properties(demuxer, byteCount: source.byteCount ?? 0, interrupt: interrupt, log: log)
        .withClosedCaptions(demuxer)
    }
    guard found.isPlausible else {
      throw MediaError(.damagedFile, "the file is damaged: \(displayPath)", operation: "worker")
    }
    if isTried { state.trials.note(source, identity) }
    return found
  }

  /// What an open container is.
  func properties(
    _ demuxer: Demuxer, byteCount: Int64, interrupt: Interrupt, log: NetworkLog?
  ) throws(MediaError) -> AssetProperties {
    let properties = try AssetProperties(demuxer: demuxer, byteCount: byteCount, displayPath: displayPath)
    guard prefersPreciseDuration, demuxer.source.isSeekable, let track = properties.audioTrack,
      !track.providesPreciseDuration
    else { return properties }
    let reader = try AudioTrackReader(asset: self, interrupt: interrupt, kinds: .regularFiles, log: log)
    let end = try MediaTime(frame: reader.exactFrameCount(), rate: reader.format.sampleRateHz)
    return properties.withAudioEnd(end)
  }

  /// What the first segment says, and how long the playlist is.
  private func readStream(
    _ session: StreamSession, _ fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) -> AssetProperties {
    try session.beginReading(interrupt: interrupt)
    defer { session.endReading() }
    let (run, _) = try SegmentRun.first(of: session, fetcher: fetcher, interrupt: interrupt)
    let timeline = session.timeline
    let properties = try run.properties(displayPath: displayPath)
      .ofStream(lasting: timeline.isEnded ? timeline.endNanoseconds : nil).withRenditions(session.options)
    guard prefersPreciseDuration, timeline.isEnded else { return properties }
    let reader = try SegmentedTrackReader(session: session, fetcher: fetcher, interrupt: interrupt, trackID: nil)
    let count = try reader.exactFrameCount()
    guard reader.end?.isExact == true else { return properties }
    return properties.withAudioEnd(MediaTime(frame: count, rate: reader.format.sampleRateHz))
  }
}
