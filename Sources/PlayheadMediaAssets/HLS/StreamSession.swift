// The shared state of an HLS stream for all its readers: playlist, stretches and keys. Retained by the asset.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio

/// A stretch is the part of a stream between two discontinuities. This value maps its timestamps to the asset's
/// timeline.
struct StreamStretch: Sendable, Hashable {
  /// The unit of frames: the sample rate of the reader that found the stretch.
  var sampleRateHz: Int
  /// The timestamp of `startFrame`, in frames.
  var originFrame: Int64
  /// The start of the stretch on the asset's timeline, in frames.
  var startFrame: Int64
  /// Whether both values follow from decoded audio instead of the playlist.
  var isExact: Bool
  /// The first timestamp of the stretch, if the later timestamps have another origin. It still denotes `startFrame`.
  var divergentStartTimestamp: Int64?
  /// Whether another rendition's reader found the stretch.
  var isFromOtherRendition = false
  /// Codec frames begin at `anchorFrame` plus multiples of `stepFrames`; 0 before this is known.
  var anchorFrame: Int64 = 0
  var stepFrames: Int64 = 0
}

/// An HLS stream. Threading: any thread. Methods with an interrupt may block.
final class StreamSession: Sendable {
  /// The result of looking up a segment.
  enum Lookup: Sendable {
    case entry(HLSTimeline.Entry)
    /// The stream ends before this segment.
    case ended
    /// The segment has left the window; `first` is the first one available.
    case leftWindow(first: Int64)
    /// Another variant is active now. Its segments have different numbers.
    case variant
  }

  struct State {
    var timeline: HLSTimeline
    /// The location of the playlist.
    var location: PlaylistLocation
    var variants: StreamVariants
    /// Increases at each switch of variants. Segments with another number belong to another variant.
    var variantNumber = 0
    /// The sessions of the other renditions, by track ID.
    var renditions: [AssetTrack.ID: StreamSession] = [:]
    var loadedAt: HostTime
    /// The number of readers. While it is not 0, the playlist of a live stream is reloaded.
    var readerCount = 0
    /// Identifies the reloading thread. A different number ends the thread.
    var reloadNumber = 0
    var isReloading = false
    var reloadInterrupt: Interrupt?
    var stretches: [Int64: StreamStretch] = [:]
    var keys: [PlaylistLocation: [UInt8]] = [:]
    var maps: [(map: HLSMap, bytes: [UInt8])] = []
    /// The error at which the stream ended.
    var failure: MediaError?
    /// The transfers whose reader ended before the segment's end.
    var retainedTransfers: [RetainedTransfer] = []
  }

  /// The transfer of a segment, for the next reader of the segment.
  struct RetainedTransfer {
    var segment: HLSSegment
    var resource: HTTPResource
  }

  /// The name of the stream in messages.
  let name: String
  /// Loads the data that all readers share: playlists and keys.
  let fetcher: StreamFetcher
  let signal: ConditionMutex<State>
  /// The session data of the master playlist.
  let sessionData: [HLSSessionData]
  /// The available renditions; nil for a stream without variants, and for a rendition.
  let options: Options?
  /// The state shared by all renditions.
  let family: StreamFamily
  /// The ID of the asset's track; nil if the stream has no renditions, and tracks are those of the segments.
  let trackID: AssetTrack.ID?

  /// Size limits of initialization sections and keys.
  static let maximumMapByteCount = 4 << 20
  private static let maximumKeyByteCount = 64
  private static let maximumCachedCount = 16

  /// Creates a session for a playlist. Blocks, because a master playlist refers to other playlists.
  ///
  /// - Throws: `badStreamPlaylist` and the other errors of playlists; those of the network.
  init(
    playlist: HLSPlaylist, at location: PlaylistLocation, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) {
    name = location.displayText
    self.fetcher = fetcher
    family = StreamFamily()
    let found: LoadedVariant
    var variants: StreamVariants
    switch playlist {
    case .media(let list):
      found = LoadedVariant(media: list, location: location, index: 0)
      variants = StreamVariants()
      options = nil
      sessionData = []
    case .master(let master):
      sessionData = master.sessionData
      let choice = HLSVariantChoice(master)
      let candidates = choice.candidates(peakBitRateLimit: fetcher.options.preferredPeakBitRate)
      options = Options(choice, at: location, candidates: candidates)
      variants = StreamVariants(candidates)
      found = try Self.load(variants.first, of: variants, at: location, fetcher: fetcher, interrupt: interrupt)
    }
    variants.activate(found)
    trackID = options?.defaultIndex
    signal = ConditionMutex(
      State(
        timeline: HLSTimeline(found.media), location: found.location, variants: variants, loadedAt: fetcher.clock.now))
    logProperties(to: fetcher)
  }

  /// Creates a session for a rendition other than the default one. Blocks.
  ///
  /// - Parameter location: The location of the master playlist.
  /// - Throws: The errors of the other initializer.
  init(
    rendition trackID: AssetTrack.ID, of main: StreamSession, candidates: [HLSVariantChoice.Candidate],
    at location: PlaylistLocation, interrupt: Interrupt
  ) throws(MediaError) {
    name = main.name
    fetcher = main.fetcher
    family = main.family
    options = nil
    sessionData = []
    self.trackID = trackID
    let now = fetcher.clock.now
    var variants = StreamVariants(candidates)
    let found = try Self.load(variants.first, of: variants, at: location, fetcher: fetcher, interrupt: interrupt)
    variants.activate(found)
    signal = ConditionMutex(
      State(
        timeline: HLSTimeline(found.media, alignedWith: (family.active ?? main).timeline), location: found.location,
        variants: variants, loadedAt: now))
  }

  deinit { signal.update { $0.stopReloading() } }

  /// Writes the stream's type and bit rate to an entry of the access log.
  func logProperties(to fetcher: StreamFetcher) {
    let (isEnded, bandwidth) = signal.withState { ($0.timeline.isEnded, $0.variants.bandwidth) }
    fetcher.updateAccessLog { event in
      event.playbackType = isEnded ? "vod" : "live"
      event.indicatedBitrate = bandwidth
    }
  }

  /// A loaded media playlist with its location, its variant, and the variants that failed before it.
  fileprivate struct LoadedVariant {
    var media: HLSMediaPlaylist
    var location: PlaylistLocation
    var index: Int
    var failed: [(index: Int, at: HostTime)] = []
  }

  /// Loads the first variant that is available.
  private static func load(
    _ indices: [Int], of variants: StreamVariants, at location: PlaylistLocation, fetcher: StreamFetcher,
    interrupt: Interrupt
  ) throws(MediaError) -> LoadedVariant {
    var failure: MediaError?
    for (count, index) in indices.enumerated() {
      guard let candidate = variants[index] else { continue }
      if count > 0 { fetcher.updateAccessLog { $0.numberOfSwitches += 1 } }
      do throws(MediaError) {
        guard candidate.location != location else {
          throw MediaError(
            .streamPlaylistCycle, "the playlist refers to itself: \(location.displayText)", operation: "hls")
        }
        let loaded = try fetcher.load(
          candidate.location, limit: HLSLimits.playlistByteCount, interrupt: interrupt)
        guard case .media(let media) = try HLSPlaylist(parsing: loaded.bytes, at: loaded.location) else {
          throw MediaError(
            .streamPlaylistCycle, "a master playlist refers to another one: \(candidate.location.displayText)",
            operation: "hls")
        }
        let now = fetcher.clock.now
        return LoadedVariant(
          media: media, location: loaded.location, index: index, failed: indices.prefix(count).map { ($0, now) })
      } catch {
        if error.code == .cancelled { throw error }
        failure = failure ?? error
        fetcher.logError(error, candidate.location, isRetried: true)
      }
    }
    throw failure
      ?? MediaError(.noPlayableVariant, "no variant can be played: \(location.displayText)", operation: "hls")
  }

  /// Switches to another variant, because the current one fails. Returns false if there is none. Blocks.
  ///
  /// - Parameters:
  ///   - variantNumber: The variant that failed. If another one is active already, returns true.
  ///   - fetcher: The fetcher of the reader, in whose log the switch is recorded.
  func fallBack(from variantNumber: Int, _ fetcher: StreamFetcher, interrupt: Interrupt) throws(MediaError) -> Bool {
    let (variants, location, number) = signal.withState { ($0.variants, $0.location, $0.variantNumber) }
    guard number == variantNumber else { return true }
    let now = fetcher.clock.now
    let (failedIndex, others) = (variants.current, variants.others(at: now))
    guard !others.isEmpty else {
      signal.withState { $0.variants.fail([failedIndex], at: now) }
      return false
    }
    fetcher.updateAccessLog { $0.numberOfSwitches += 1 }
    do throws(MediaError) {
      var found = try Self.load(others, of: variants, at: location, fetcher: fetcher, interrupt: interrupt)
      found.failed.append((failedIndex, now))
      activate(found, replacing: variantNumber, fetcher)
    } catch {
      if error.code == .cancelled { throw error }
      let now = fetcher.clock.now
      return signal.withState { state in
        // If another reader has switched meanwhile, its variant has not failed.
        let isReplaced = state.variantNumber != variantNumber
        state.variants.fail((others + [failedIndex]).filter { !isReplaced || $0 != state.variants.current }, at: now)
        return isReplaced
      }
    }
    return true
  }

  /// Switches to a variant because of the measured throughput. If it is not available, the current variant stays
  /// active. Blocks.
  ///
  /// - Parameter variantNumber: The reader's variant. If another one is active already, this has no effect.
  /// - Throws: `cancelled`.
  func switchVariant(
    to index: Int, from variantNumber: Int, _ fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) {
    let (variants, location, number) = signal.withState { ($0.variants, $0.location, $0.variantNumber) }
    guard number == variantNumber, variants.current != index else { return }
    do throws(MediaError) {
      let found = try Self.load([index], of: variants, at: location, fetcher: fetcher, interrupt: interrupt)
      activate(found, replacing: variantNumber, fetcher) { fetcher.updateAccessLog { $0.numberOfSwitches += 1 } }
    } catch {
      if error.code == .cancelled { throw error }
      let now = fetcher.clock.now
      signal.withState { if $0.variants.current != index { $0.variants.fail([index], at: now) } }
    }
  }

  /// Activates another variant, unless another reader has switched meanwhile.
  private func activate(
    _ found: LoadedVariant, replacing variantNumber: Int, _ fetcher: StreamFetcher, onActivated: () -> Void = {}
  ) {
    let now = fetcher.clock.now
    let isActivated = signal.update { state in
      guard state.variantNumber == variantNumber else { return false }
      state.variants.activate(found)
      state.variantNumber += 1
      state.location = found.location
      state.loadedAt = now
      state.timeline.replace(found.media)
      state.failure = nil
      // The reloading thread may be blocked by the previous variant.
      state.stopReloading()
      return true
    }
    guard isActivated else { return }
    onActivated()
    logProperties(to: fetcher)
    if let session = fetcher.session { fetcher.log.reportAccess(session) }
    startReloading()
  }

  /// Adds the transfer of a segment. Returns the variant to switch to after it; nil for none.
  ///
  /// - Parameters:
  ///   - variantNumber: The variant of the segment. If another one is active now, the transfer only updates the
  ///     throughput.
  ///   - idleNanoseconds: The time during which the reader needed no data.
  func addTransfer(
    _ statistics: TransferStatistics, _ segment: HLSSegment, variantNumber: Int, idleNanoseconds: Int64
  ) -> Int? {
    let throughput = family.addTransfer(statistics, audioNanoseconds: segment.durationNanoseconds)
    let now = fetcher.clock.now
    return signal.withState { state in
      guard state.variantNumber == variantNumber else { return nil }
      return state.variants.addSegment(
        byteCount: statistics.byteCount, audioNanoseconds: segment.durationNanoseconds,
        throughput: throughput.bitsPerSecond, capacity: throughput.capacity, idleNanoseconds: idleNanoseconds, at: now)
    }
  }

  // MARK: - Segments

  /// The location of the playlist.
  var location: PlaylistLocation { signal.withState { $0.location } }

  /// The number of the active variant. Segments with another number belong to another variant.
  var variantNumber: Int { signal.withState { $0.variantNumber } }

  /// The timeline of the playlist.
  var timeline: HLSTimeline { signal.withState { $0.timeline } }

  /// The timeline of the playlist, and the number of its variant.
  var activeTimeline: (timeline: HLSTimeline, variantNumber: Int) {
    signal.withState { ($0.timeline, $0.variantNumber) }
  }

  /// Returns the segment with a number. Blocks until the segment is available or known to be unavailable.
  ///
  /// - Parameter variantNumber: The variant to which the number belongs.
  /// - Throws: The error at which the stream ended; `cancelled`.
  func lookUp(_ number: Int64, variantNumber: Int, interrupt: Interrupt) throws(MediaError) -> Lookup {
    let result = signal.wait { state -> Result<Lookup, MediaError>? in
      if interrupt.isCancelled {
        return .failure(MediaError(.cancelled, "the operation was cancelled", operation: "hls"))
      }
      if state.variantNumber != variantNumber { return .success(.variant) }
      if let entry = state.timeline.entry(number) { return .success(.entry(entry)) }
      let numbers = state.timeline.numbers
      if !numbers.isEmpty, number < numbers.lowerBound || number > numbers.upperBound {
        return .success(.leftWindow(first: numbers.lowerBound))
      }
      if state.timeline.isEnded { return .success(.ended) }
      return state.failure.map { .failure($0) }
    }
    guard let result else { return .ended }
    return try result.get()
  }

  /// Wakes waiting threads, so that they check their interrupts.
  func wake() { signal.update { _ in } }

  /// Waits for a duration, or until the interrupt is cancelled.
  func pause(_ duration: Duration, interrupt: Interrupt) {
    let deadline = fetcher.clock.now.advanced(byNanoseconds: duration.nanoseconds)
    let milliseconds = fetcher.clock.milliseconds(until: deadline, isRetryDelay: true)
    let end = HostTime.now.advanced(byNanoseconds: Int64(milliseconds) * 1_000_000)
    _ = signal.wait(until: end) { _ in interrupt.isCancelled ? true : nil }
  }

  // MARK: - Keys and initialization sections

  /// Returns the bytes of a key. Blocks.
  func key(_ key: HLSKey, interrupt: Interrupt) throws(MediaError) -> [UInt8] {
    guard key.method == .aes128, let location = key.location else {
      let method = if case .other(let name) = key.method { name } else { "AES-128" }
      throw MediaError(.unsupportedEncryption, "segments are encrypted with \(method): \(name)", operation: "hls")
    }
    if let known = signal.withState({ $0.keys[location] }) { return known }
    let (bytes, _) = try fetcher.load(location, limit: Self.maximumKeyByteCount, interrupt: interrupt)
    guard bytes.count == 16 else {
      throw MediaError(
        .decryptionFailed, "a key must have 16 bytes (got \(bytes.count)): \(location.displayText)", operation: "hls")
    }
    signal.withState { state in
      if state.keys.count >= Self.maximumCachedCount { state.keys = [:] }
      state.keys[location] = bytes
    }
    return bytes
  }

  /// Returns an initialization section. Blocks.
  func initializationSection(_ map: HLSMap, interrupt: Interrupt) throws(MediaError) -> [UInt8] {
    if let known = signal.withState({ state in state.maps.first { $0.map == map }?.bytes }) { return known }
    var (bytes, _) = try fetcher.load(
      map.location, bytes: map.byteRange, limit: Self.maximumMapByteCount, interrupt: interrupt)
    if let key = map.key {
      bytes = try decrypt(bytes, key: key, number: 0, location: map.location, interrupt: interrupt)
    }
    let cached = bytes
    signal.withState { state in
      if state.maps.count >= Self.maximumCachedCount { state.maps = [] }
      state.maps.append((map, cached))
    }
    return bytes
  }

  /// Decrypts bytes.
  ///
  /// - Throws: `unsupportedEncryption`; `decryptionFailed`; the errors of loading the key.
  func decrypt(
    _ bytes: [UInt8], key: HLSKey, number: Int64, location: PlaylistLocation, interrupt: Interrupt
  ) throws(MediaError) -> [UInt8] {
    let secret = try self.key(key, interrupt: interrupt)
    let numberVector =
      [UInt8](repeating: 0, count: 8) + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    let plain: [UInt8]?
    do throws(AVFailure) {
      plain = try AESDecryption.decrypt(
        bytes, key: secret, initializationVector: key.initializationVector ?? numberVector)
    } catch {
      throw MediaError(error, path: name)
    }
    guard let plain else {
      throw MediaError(
        .decryptionFailed, "decryption with the key failed: \(location.displayText)", operation: "hls")
    }
    return plain
  }

  // MARK: - Stretches

  /// Returns a stretch for a reader with a sample rate: found by this session, or for a live stream by another
  /// rendition.
  func stretch(_ discontinuityNumber: Int64, sampleRateHz: Int) -> StreamStretch? {
    let (known, isEnded) = signal.withState { ($0.stretches[discontinuityNumber], $0.timeline.isEnded) }
    if let known, known.sampleRateHz == sampleRateHz { return known }
    // The renditions of an ended stream begin at the same time, even if their timestamps differ.
    return isEnded ? nil : family.stretch(discontinuityNumber, sampleRateHz: sampleRateHz)
  }

  func setStretch(_ stretch: StreamStretch, _ discontinuityNumber: Int64) {
    let isEnded = signal.withState { state in
      state.stretches[discontinuityNumber] = stretch
      // Stretches that have left the window of a live stream are not needed.
      guard state.stretches.count > 64, let first = state.timeline.entry(state.timeline.numbers.lowerBound) else {
        return state.timeline.isEnded
      }
      state.stretches = state.stretches.filter { $0.key >= first.segment.discontinuityNumber }
      return state.timeline.isEnded
    }
    if !isEnded, !stretch.isFromOtherRendition { family.setStretch(stretch, discontinuityNumber) }
  }

  /// Moves the timeline so that a segment begins at another time. Removes all stretches, which become invalid.
  ///
  /// - Parameter variantNumber: The variant to which the number belongs. If another one is active, this has no effect.
  func moveSegment(_ number: Int64, variantNumber: Int, toNanoseconds time: Int64) {
    let isMoved = signal.update { state in
      guard state.variantNumber == variantNumber else { return false }
      state.timeline.move(number, toNanoseconds: time)
      state.stretches = [:]
      return true
    }
    if isMoved { family.removeStretches() }
  }
}

extension StreamVariants {
  /// Activates a variant that has been loaded.
  fileprivate mutating func activate(_ found: StreamSession.LoadedVariant) {
    for (index, time) in found.failed { fail([index], at: time) }
    activate(found.index)
  }
}
