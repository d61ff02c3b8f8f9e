import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import Synchronization

/// A media file with its properties, tracks and tags, made from a path, a URL, bytes in memory,
/// or a custom byte source.
///
/// <!-- listing: load-properties -->
/// ```swift
/// let asset = Asset(path: "/music/one.flac")
/// let (duration, tracks, metadata) = try await asset.load(.duration, .tracks, .commonMetadata)
/// print(duration, tracks.count, metadata.count)
/// ```
///
/// Creating an asset does no I/O. Loading is explicit and happens once; its result or its error
/// is kept. Threading: any.
public final class Asset: Sendable {
  /// The maximum size of an asset in memory, in bytes: 1 GiB.
  public static let maximumDataByteCount = 1 << 30

  /// The location of the bytes.
  package let location: AssetLocation
  /// The network log of requests that were made through the asset itself. Empty for locations without a network. Played
  /// items have separate logs.
  public let networkLog: NetworkLog
  /// The options of HTTP requests: for the asset's URL, or for the URLs in a playlist file.
  public let httpOptions: HTTPOptions
  /// Whether loading determines the exact duration of the audio, even if that requires reading the whole file.
  ///
  /// A full read is necessary for MP3 without an information frame, ADTS, raw AC-3 and Matroska. Corresponds to
  /// `AVURLAssetPreferPreciseDurationAndTimingKey`.
  public let prefersPreciseDuration: Bool

  /// Where the bytes are parsed: in this process or in a worker process.
  public let isolation: Isolation
  /// The name of the asset in messages; nil: the display name of `location`.
  let displayName: String?

  /// Whether a read can block for an unlimited time, because another process or host supplies the bytes.
  package let isRemote: Bool
  /// Whether loading can contact a server: the location is a URL, or a path with the suffix of a playlist.
  package let mayUseNetwork: Bool
  /// The nesting depth of compositions, this one included; 0 for other assets.
  ///
  /// This property, `isRemote` and `mayUseNetwork` are computed once, from the stored values of the source assets. So
  /// the computation does not recurse.
  let compositionDepth: Int

  /// The threads that load the asset for asynchronous requests.
  let workers: AssetWorkers
  /// The results of loading and the loadings in progress. Shared with the copy of the asset that a loading thread uses.
  let state: AssetState
  /// Whether this is the copy that a loading thread uses (`init(loaderOf:)`).
  private let isLoader: Bool

  /// Creates an asset for a location. No I/O.
  ///
  /// - Parameters:
  ///   - location: The location of the bytes.
  ///   - prefersPreciseDuration: See ``prefersPreciseDuration``. Default: false.
  ///   - workers: The threads that open the asset.
  ///   - isolation: where the bytes are parsed.
  package convenience init(
    location: AssetLocation, prefersPreciseDuration: Bool = false, workers: AssetWorkers = .shared,
    isolation: Isolation = .standard
  ) {
    self.init(
      location: location, prefersPreciseDuration: prefersPreciseDuration, workers: workers, tagData: .shared,
      isolation: isolation)
  }

  /// Creates an asset with a budget for the data of its tags. No I/O.
  init(
    location: AssetLocation, options: HTTPOptions = HTTPOptions(), prefersPreciseDuration: Bool, workers: AssetWorkers,
    tagData: TagDataBudget, displayName: String? = nil, isolation: Isolation = .standard
  ) {
    self.isolation = isolation
    self.displayName = displayName
    self.location = location
    if case .url(_, let urlOptions) = location { httpOptions = urlOptions } else { httpOptions = options }
    self.prefersPreciseDuration = prefersPreciseDuration
    self.workers = workers
    state = AssetState(tagData: tagData)
    isLoader = false
    isRemote = location.isRemote
    mayUseNetwork = location.mayUseNetwork
    compositionDepth = if case .composition(let composition) = location { composition.depth } else { 0 }
    networkLog = mayUseNetwork ? NetworkLog() : .empty
  }

  /// Creates an asset with a name for messages that differs from its location's. No I/O.
  convenience init(location: AssetLocation, prefersPreciseDuration: Bool, displayName: String, isolation: Isolation) {
    self.init(
      location: location, prefersPreciseDuration: prefersPreciseDuration, workers: .shared, tagData: .shared,
      displayName: displayName, isolation: isolation)
  }

  /// Creates an asset for the same bytes whose loading determines the exact duration. No I/O.
  convenience init(precise asset: Asset) {
    self.init(
      location: asset.location, options: asset.httpOptions, prefersPreciseDuration: true, workers: asset.workers,
      tagData: .shared, displayName: asset.displayName, isolation: asset.isolation)
    let charset = asset.state.tagCharset.withLock { $0 }
    state.tagCharset.withLock { $0 = charset }
  }

  /// Creates the copy that a loading thread uses. It shares the asset's state and does not keep the asset alive.
  init(loaderOf asset: Asset) {
    location = asset.location
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

  /// Creates an asset for a path. A relative path is resolved against the working directory at the
  /// time of loading. No I/O.
  ///
  /// - Parameters:
  ///   - path: The path, as bytes without a terminating zero.
  ///   - options: the options of HTTP requests if the file is an HLS playlist.
  ///   - prefersPreciseDuration: See ``prefersPreciseDuration``. Default: false.
  ///   - workers: the threads that load the asset for asynchronous requests.
  ///   - isolation: where the bytes are parsed.
  package convenience init(
    path: [UInt8], options: HTTPOptions = HTTPOptions(), prefersPreciseDuration: Bool = false,
    workers: AssetWorkers = .shared, isolation: Isolation = .standard
  ) {
    self.init(
      location: .path(path), options: options, prefersPreciseDuration: prefersPreciseDuration, workers: workers,
      tagData: .shared, isolation: isolation)
  }

  /// Creates an asset for a path. No I/O.
  public convenience init(path: String, prefersPreciseDuration: Bool = false) {
    self.init(path: Array(path.utf8), prefersPreciseDuration: prefersPreciseDuration)
  }

  /// Creates an asset for a `file:` URL, such as `file:///music/a%20b.flac`, or for an `http:` or `https:` URL. No I/O.
  ///
  /// - Throws: `unsupportedLocation` for another scheme or host; `invalidArgument` for text that is no URL.
  public convenience init(url text: String, prefersPreciseDuration: Bool = false) throws(MediaError) {
    if HTTPURL.isHTTP(text) {
      self.init(url: try HTTPURL(text), prefersPreciseDuration: prefersPreciseDuration)
    } else {
      try self.init(path: FileURL.path(from: text), prefersPreciseDuration: prefersPreciseDuration)
    }
  }

  /// Creates an asset for the bytes of a media file, which are shared and not copied. No I/O; loading parses the bytes.
  public convenience init(data: [UInt8], prefersPreciseDuration: Bool = false) {
    self.init(location: .data(data), prefersPreciseDuration: prefersPreciseDuration)
  }

  // Loading threads retain only a copy of the asset. So after `deinit` no caller can request the result.
  deinit { if !isLoader { state.cancelLoading() } }

  /// The result of ``load()``, refined with facts found while reading the audio; nil before loading.
  /// Never blocks on the file.
  public var loaded: Result<AssetProperties, MediaError>? { state.outcome.withLock { $0 } }

  /// Forgets that loading failed, so that the next load opens the file again. Has no effect on a loaded asset.
  package func forgetFailure() {
    state.outcome.withLock { outcome in if case .failure? = outcome { outcome = nil } }
    state.metadataOutcome.withLock { outcome in if case .failure? = outcome.result { outcome.result = nil } }
  }

  /// Opens the file on the first call and returns its properties. Blocks: call it on a worker thread.
  ///
  /// - Throws: `fileNotFound`, `notAFile`, `permissionDenied`, `readFailed`, `emptyFile`, `unknownFormat`,
  ///   `damagedFile`, `noPlayableTracks`, `unknownCodec`, `unsupportedAudioFormat`, `mediaLimitExceeded`; for network
  ///   resources the errors of requests. These errors are kept and thrown again by later calls.
  ///   `cancelled` is not kept.
  public func load() throws(MediaError) -> AssetProperties {
    if let loaded { return try loaded.get() }
    return try load(interrupt: Interrupt())
  }

  /// Loads the asset with an interrupt that cancels this call alone.
  ///
  /// - Parameters:
  ///   - keepsOpen: whether an opened byte source is kept for the next reader; `closeKeptSource` closes it.
  ///   - log: the log of network activity; nil: `networkLog`.
  func load(
    interrupt: Interrupt, keepsOpen: Bool = false, log: NetworkLog? = nil
  ) throws(MediaError) -> AssetProperties {
    if let loaded { return try loaded.get() }
    state.begin(interrupt)
    defer { state.end(interrupt) }
    // A server can be slow, and each caller must be able to cancel only its own call. So no caller waits for the
    // loading of another. The same applies to a file with the suffix of a playlist, because its segments can be on a
    // server.
    if isRemote || mayUseNetwork {
      let result = Result { () throws(MediaError) in try read(interrupt, keepsOpen: keepsOpen, log: log) }
      if case .failure(let error) = result, error.code == .cancelled { throw error }
      return try state.outcome.withLock { outcome in
        if interrupt.isCancelled {
          return Result<AssetProperties, MediaError>.failure(MediaError(.cancelled, "the operation was cancelled"))
        }
        if case .success? = outcome { return outcome ?? result }
        outcome = result
        if case .failure = result { descriptor?.stream?.close() }
        return result
      }.get()
    }
    let result = state.loadingLock.withLock { _ -> Result<AssetProperties, MediaError> in
      // Another thread may have loaded it while this one waited.
      if let loaded { return loaded }
      let result = Result { () throws(MediaError) in try read(interrupt, keepsOpen: keepsOpen, log: log) }
      if case .failure(let error) = result, error.code == .cancelled { return result }
      return state.outcome.withLock { outcome in
        // A caller whose loading was cancelled must not see the asset loaded.
        if interrupt.isCancelled { return .failure(MediaError(.cancelled, "the operation was cancelled")) }
        outcome = result
        return result
      }
    }
    return try result.get()
  }

  /// Cancels loading for all callers. Threading: any thread; does not block.
  ///
  /// A running ``load()`` throws `cancelled`, and pending key requests complete. The status of the keys is `cancelled`
  /// until one of them is requested again. Loaded values stay loaded.
  public func cancelLoading() { state.cancelLoading() }

  /// The final status of the properties; nil before loading.
  var knownStatus: AssetValueStatus<AssetProperties>? {
    switch loaded {
    case .success(let properties): .loaded(properties)
    case .failure(let error): .failed(error)
    case nil: nil
    }
  }

  /// The final status of the tags; nil before they have been read.
  var knownMetadata: AssetValueStatus<AssetMetadata>? {
    switch state.metadataOutcome.withLock({ $0.result }) {
    case .success(let metadata): .loaded(metadata)
    case .failure(let error): .failed(error)
    case nil: nil
    }
  }

  /// The title, artist and album in the tags; nil unless all tags or the titles have been read. Does no I/O.
  package var loadedTitles: AssetTitles? { state.metadataOutcome.withLock { $0.titles } }

  /// The known title, artist and album: of all tags if they have been read, or else of the tags that opening the file
  /// reads. Nil before the file is opened, unless its titles were read (``AssetOpening/readTitles(of:)``). Does no I/O.
  package var titles: AssetTitles? {
    let (loadedTitles, areRestored) = state.metadataOutcome.withLock { ($0.titles, $0.areTitlesRestored) }
    if let loadedTitles, !loadedTitles.isEmpty, !areRestored { return loadedTitles }
    guard case .success(let properties)? = loaded else { return loadedTitles }
    return areRestored && properties.titles.isEmpty ? loadedTitles : properties.titles
  }

  /// Opens the file and reads its tags, unless they are known. Blocks.
  ///
  /// - Throws: the errors of `load()` that concern the file and its container.
  func loadMetadata(interrupt: Interrupt) throws(MediaError) -> AssetMetadata {
    if let known = state.metadataOutcome.withLock({ $0.result }) { return try known.get() }
    state.begin(interrupt)
    defer { state.end(interrupt) }
    let charset = tagCharset
    let result = Result { () throws(MediaError) in try readMetadata(interrupt) }
    // The encoding was changed meanwhile, so this result is not kept.
    if tagCharset != charset { return try result.get() }
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    if case .failure(let error) = result, error.code == .cancelled { throw error }
    return try state.set(result).get()
  }

  /// Reads the tags for ``titles``, and keeps only the titles. Blocks. Returns whether there are new titles.
  func readTitles(interrupt: Interrupt) -> Bool {
    guard titles == nil else { return false }
    state.begin(interrupt)
    defer { state.end(interrupt) }
    let charset = tagCharset
    do throws(MediaError) {
      let titles = AssetTitles(try readMetadata(interrupt).items)
      // The encoding was changed meanwhile.
      if interrupt.isCancelled || tagCharset != charset { return false }
      return state.keep(titles)
    } catch {
      if error.code != .cancelled { _ = state.keep(AssetTitles()) }
      return false
    }
  }

  /// Stores titles that an earlier process read, for ``titles``, unless titles are known. No I/O.
  ///
  /// - Parameters:
  ///   - titles: The titles.
  ///   - version: the version of the file that had these titles. ``AssetOpening/updateTitles(of:)`` reads them again if
  ///     the file has changed.
  package func restoreTitles(_ titles: AssetTitles, of version: FileVersion) { state.restore(titles, of: version) }

  /// The version of the local file that has ``titles``; nil if it is unknown.
  package var titlesVersion: FileVersion? { state.metadataOutcome.withLock { $0.titlesVersion } }

  /// Whether ``titles`` are known, but not which version of the local file has them: they are from an earlier process,
  /// or from opening the file.
  package var hasUncheckedTitles: Bool {
    let (version, areRestored) = state.metadataOutcome.withLock { ($0.titlesVersion, $0.areTitlesRestored) }
    return areRestored || version == nil && titles?.isEmpty == false
  }

  /// Implements ``AssetOpening/updateTitles(of:)``.
  func updateTitles(interrupt: Interrupt) -> AssetOpening.TitleUpdate {
    guard case .path(let path) = location else { return AssetOpening.TitleUpdate() }
    let (former, formerVersion, wasRestored) = state.metadataOutcome.withLock {
      ($0.titles, $0.titlesVersion, $0.areTitlesRestored)
    }
    let version = FileVersion(path: path)
    if wasRestored {
      // A file that is absent now may be on a drive that returns.
      guard let version else { return AssetOpening.TitleUpdate() }
      if version == formerVersion {
        state.metadataOutcome.withLock { $0.areTitlesRestored = false }
        return AssetOpening.TitleUpdate()
      }
      state.discardRestoredTitles()
    }
    let areNew = readTitles(interrupt: interrupt)
    if interrupt.isCancelled { return AssetOpening.TitleUpdate() }
    state.metadataOutcome.withLock { $0.titlesVersion = version }
    return AssetOpening.TitleUpdate(
      hasNewTitles: wasRestored ? titles != former : areNew, mustBeSaved: version != formerVersion)
  }

  private func readMetadata(_ interrupt: Interrupt) throws(MediaError) -> AssetMetadata {
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    switch try MediaFile.openLocation(of: self, interrupt: interrupt) {
    case .stream(let session, let fetcher): return try session.metadata(fetcher, interrupt: interrupt)
    case .composition: return AssetMetadata()
    case .bytes(let source): return try MetadataReader.read(source, of: self)
    }
  }

  /// Returns an image of the asset's tags with its data, from memory or read again. Blocks: call it on a worker thread.
  ///
  /// - Parameter index: the index in ``AssetMetadata/artwork``; nil: the preferred image, which is the front cover or
  ///   else the first image.
  /// - Throws: `noSuchArtwork`, `imageTooLarge`; the errors of loading the tags; `cancelled` after
  ///   ``cancelLoading()``.
  public func loadArtwork(_ index: Int? = nil) throws(MediaError) -> (index: Int, Artwork) {
    try loadArtwork(index, interrupt: Interrupt())
  }

  /// Returns an image, with an interrupt that cancels this call alone.
  func loadArtwork(_ index: Int?, interrupt: Interrupt) throws(MediaError) -> (index: Int, Artwork) {
    var metadata = try loadMetadata(interrupt: interrupt)
    guard let index = index ?? metadata.preferredArtworkIndex, metadata.artwork.indices.contains(index) else {
      throw MediaError(
        .noSuchArtwork,
        index.map { "the tags of \(displayPath) have no artwork \($0)" } ?? "there is no artwork in \(displayPath)",
        operation: "artwork")
    }
    if metadata.artwork[index].omission?.code == .tagDataLimit {
      state.begin(interrupt)
      defer { state.end(interrupt) }
      metadata = try readMetadata(interrupt)
      guard metadata.artwork.indices.contains(index) else {
        throw MediaError(.noSuchArtwork, "the artwork of \(displayPath) has changed", operation: "artwork")
      }
    }
    let artwork = metadata.artwork[index]
    if let error = artwork.omission { throw error }
    return (index, artwork)
  }

  /// Sets the exact end of an audio track, found while reading it, and updates the asset's duration. Threading: any.
  ///
  /// - Parameters:
  ///   - audioEnd: The end of the audio on the timeline of the asset.
  ///   - trackID: the track; nil: the track of ``AssetProperties/audioTrackID``.
  /// - Returns: the updated properties; nil if nothing changed or the asset is not loaded.
  package func refine(audioEnd: MediaTime, trackID: AssetTrack.ID? = nil) -> AssetProperties? {
    state.outcome.withLock { outcome in
      guard case .success(let known)? = outcome else { return nil }
      let refined = known.withAudioEnd(audioEnd, trackID: trackID)
      guard refined != known else { return nil }
      outcome = .success(refined)
      return refined
    }
  }

  /// Replaces the loudness tags of a loaded asset. Has no effect before loading.
  func set(_ loudnessTags: LoudnessTags) {
    state.outcome.withLock { outcome in
      guard case .success(var properties)? = outcome else { return }
      properties.loudnessTags = loudnessTags
      outcome = .success(properties)
    }
  }

  /// Returns the packet index that the readers of this file share. Replaces it if the file, the stream or the first
  /// byte differs.
  func packetIndex(
    identity: FileIdentity, streamIndex: Int, firstByte: Int64, spacingFrames: Int64
  ) -> PacketIndex {
    state.packetIndex.withLock { index in
      if let index, index.identity == identity, index.streamIndex == streamIndex, index.firstByte == firstByte {
        return index
      }
      let newIndex = PacketIndex(
        identity: identity, streamIndex: streamIndex, firstByte: firstByte, spacingFrames: spacingFrames)
      index = newIndex
      return newIndex
    }
  }

  // MARK: - Byte sources

  /// Returns the byte source that loading kept open, or opens a new one. Blocks.
  func openSource(_ make: () throws(MediaError) -> any ByteSource, interrupt: Interrupt) throws(MediaError)
    -> any ByteSource
  {
    let keptSource = state.openSources.withLock { sources in
      defer { sources.keptSource = nil }
      return sources.keptSource
    }
    // A kept source that cannot seek is usable only while it still has its first byte.
    if let keptSource, keptSource.isSeekable || keptSource.availableByteRange?.lowerBound == 0 { return keptSource }
    let source = try make()
    do throws(AVFailure) { try FileSource.open(source, interrupt: interrupt) } catch {
      throw MediaError(error, path: displayPath)
    }
    return source
  }

  /// The session of the HLS stream; nil for other assets, and before loading.
  var streamSession: StreamSession? { state.streamSession.withLock { $0 } }

  /// Stores the session of the HLS stream, unless one is stored. Returns the stored one.
  func storeSession(_ session: StreamSession) -> StreamSession {
    state.streamSession.withLock { stream in
      let known = stream ?? session
      stream = known
      return known
    }
  }

  /// Records the byte source of a new reader.
  func noteReading(_ source: any ByteSource) {
    state.openSources.withLock { $0.latestSource = source }
    (source as? HTTPResource)?.markPlayed()
  }

  /// Releases the byte source that loading kept open, because no reader follows.
  func closeKeptSource() { state.openSources.withLock { $0.keptSource = nil } }

  /// The byte range of the resource that is in memory, before and after the reading position; nil when unknown.
  package var availableByteRange: Range<Int64>? { state.openSources.withLock { $0.latestSource }?.availableByteRange }

  private func read(
    _ interrupt: Interrupt, keepsOpen: Bool, log: NetworkLog?
  ) throws(MediaError) -> AssetProperties {
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled") }
    switch try MediaFile.openLocation(of: self, interrupt: interrupt, log: log) {
    case .stream(let session, let fetcher): return try readStream(session, fetcher, interrupt: interrupt)
    case .composition(let composition): return try composition.properties()
    case .bytes(let source):
      let properties = try properties(of: source, keepsOpen: keepsOpen, interrupt: interrupt, log: log)
      if keepsOpen, let source = source.byteSource { state.openSources.withLock { $0.keptSource = source } }
      return properties
    }
  }

  /// Determines the properties of a file, in a worker process if `isolation` uses one.
  ///
  /// - Parameter keepsOpen: whether a reader follows.
  private func properties(
    of source: FileSource, keepsOpen: Bool, interrupt: Interrupt, log: NetworkLog?
  ) throws(MediaError) -> AssetProperties {
    // A reader in this process follows, so the worker also decodes the first packets as a trial.
    let runsTrial = isolation == .opening && keepsOpen
    let identity: FileIdentity?
    do throws(AVFailure) { identity = runsTrial ? try source.identity() : nil } catch {
      throw MediaError(error, path: displayPath)
    }
    let parameters = LoadParameters(
      prefersPreciseDuration: prefersPreciseDuration,
      packetCount: runsTrial ? Isolation.trialPacketCount(of: source) : 0)
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
    if runsTrial { state.trials.note(source, identity) }
    return found
  }

  /// Determines the properties of an open container.
  func properties(
    _ demuxer: Demuxer, byteCount: Int64, interrupt: Interrupt, log: NetworkLog?
  ) throws(MediaError) -> AssetProperties {
    let properties = try AssetProperties(demuxer: demuxer, byteCount: byteCount, displayPath: displayPath)
    guard prefersPreciseDuration, demuxer.source.isSeekable, let track = properties.audioTrack else {
      return properties
    }
    let reader = try AudioTrackReader(asset: self, interrupt: interrupt, kinds: .regularFiles, log: log)
    // The file may be truncated, or its header may be wrong.
    if track.providesPreciseDuration, try reader.endsAsDeclared() { return properties }
    let end = try MediaTime(frame: reader.exactFrameCount(), rate: reader.format.sampleRateHz)
    return properties.withAudioEnd(end)
  }

  /// Determines the properties of an HLS stream from its first segment and the duration of its playlist.
  private func readStream(
    _ session: StreamSession, _ fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) -> AssetProperties {
    try session.beginReading(interrupt: interrupt)
    defer { session.endReading() }
    let (segmentReader, _) = try ContiguousSegmentReader.first(of: session, fetcher: fetcher, interrupt: interrupt)
    let timeline = session.timeline
    let properties = try segmentReader.properties(displayPath: displayPath)
      .asStream(durationNanoseconds: timeline.isEnded ? timeline.endNanoseconds : nil).withRenditions(session.options)
    guard prefersPreciseDuration, timeline.isEnded else { return properties }
    let reader = try SegmentedTrackReader(session: session, fetcher: fetcher, interrupt: interrupt, trackID: nil)
    let count = try reader.exactFrameCount()
    guard reader.end?.isExact == true else { return properties }
    return properties.withAudioEnd(MediaTime(frame: count, rate: reader.format.sampleRateHz))
  }
}
