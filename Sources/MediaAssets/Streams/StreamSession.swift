// What is known of an HLS stream, for all who read it: its playlist, where its stretches begin, its keys. Lives with the asset.
import LibAV
import MediaCore
import NetworkIO
import Playlists
import RealtimeAudio

/// A stretch of a stream without a discontinuity, on the asset's timeline.
struct StreamStretch: Sendable, Hashable {
  /// What frames are counted in: that of whoever read it.
  var sampleRateHz: Int
  /// The stretch's timestamp, in frames, of `startFrame`.
  var originFrame: Int64
  /// Where it begins.
  var startFrame: Int64
  /// Both follow from sound that was read, not from what the playlist says.
  var isExact: Bool
  /// The timestamp with which it begins, where the ones after it turned out to be of another count: it names `startFrame` all the same.
  var strayStartStamp: Int64?
  /// Another rendition's reader found it out.
  var isBorrowed = false
  /// Frames begin at `anchorFrame` plus multiples of `stepFrames`; 0 before it is known.
  var anchorFrame: Int64 = 0
  var stepFrames: Int64 = 0
}

/// An HLS stream. Threading: any; what takes an interrupt may block.
final class StreamSession: Sendable {
  /// What became of the wish for a segment.
  enum Lookup: Sendable {
    case entry(HLSTimeline.Entry)
    /// There is none, and none will come.
    case ended
    /// It is not there any more; this is the first that is.
    case left(first: Int64)
    /// Another variant is heard meanwhile, whose segments have numbers of their own.
    case variant
  }

  struct State {
    var timeline: HLSTimeline
    /// Where the playlist is.
    var place: PlaylistPlace
    var variants: StreamVariants
    /// Counts the variants that were heard: another number means that segments are another's.
    var variantNumber = 0
    /// Those that were read besides this one, by their tracks' numbers.
    var renditions: [AssetTrack.ID: StreamSession] = [:]
    var loadedAt: HostTime
    /// Those who read it; while there are some, a live stream's playlist is asked for again and again.
    var readerCount = 0
    /// Which thread does that: another number ends it.
    var reloadNumber = 0
    var isReloading = false
    var reloadInterrupt: Interrupt?
    var stretches: [Int64: StreamStretch] = [:]
    var keys: [PlaylistPlace: [UInt8]] = [:]
    var maps: [(map: HLSMap, bytes: [UInt8])] = []
    /// Why the stream goes on no more.
    var failure: MediaError?
    /// The segments whose reader ended early.
    var kept: [KeptSegment] = []
  }

  /// The transfer of a segment, for the next reader of the segment.
  struct KeptSegment {
    var segment: HLSSegment
    var resource: HTTPResource
  }

  /// What stands for it in messages.
  let name: String
  /// For what all who read it share: playlists and keys.
  let fetcher: StreamFetcher
  let signal: WakeSignal<State>
  /// What the master playlist says of all of it.
  let sessionData: [HLSSessionData]
  /// What there is to choose from; nil in a stream without variants, and in a rendition.
  let options: Options?
  /// What all renditions have in common.
  let family: StreamFamily
  /// The number of the asset's track that it is, where tracks are renditions.
  let trackID: AssetTrack.ID?

  /// Initialization sections and keys have no more bytes.
  static let mapByteCount = 4 << 20
  private static let keyByteCount = 64
  private static let maximumKeptCount = 16

  /// Makes a session of a playlist. Blocks: a master playlist leads to others.
  ///
  /// Errors: `badStreamPlaylist` and its kin; those of the network.
  init(
    playlist: HLSPlaylist, at place: PlaylistPlace, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) {
    name = place.displayText
    self.fetcher = fetcher
    family = StreamFamily()
    let found: Found
    var variants: StreamVariants
    switch playlist {
    case .media(let list):
      found = Found(media: list, place: place, index: 0)
      variants = StreamVariants()
      options = nil
      sessionData = []
    case .master(let master):
      sessionData = master.sessionData
      let choice = HLSVariantChoice(master)
      let candidates = choice.candidates(peakBitRateLimit: fetcher.options.preferredPeakBitRate)
      options = Options(choice, at: place, candidates: candidates)
      variants = StreamVariants(candidates)
      found = try Self.load(variants.first, of: variants, at: place, fetcher: fetcher, interrupt: interrupt)
    }
    variants.take(found)
    trackID = options?.defaultIndex
    signal = WakeSignal(
      State(
        timeline: HLSTimeline(found.media), place: found.place, variants: variants, loadedAt: fetcher.clock.now))
    describe(to: fetcher)
  }

  /// A rendition beside the stream's own one. Blocks. Errors: as above.
  ///
  /// - Parameter place: that of the master playlist.
  init(
    rendition trackID: AssetTrack.ID, of main: StreamSession, candidates: [HLSVariantChoice.Candidate],
    at place: PlaylistPlace, interrupt: Interrupt
  ) throws(MediaError) {
    name = main.name
    fetcher = main.fetcher
    family = main.family
    options = nil
    sessionData = []
    self.trackID = trackID
    let now = fetcher.clock.now
    var variants = StreamVariants(candidates)
    let found = try Self.load(variants.first, of: variants, at: place, fetcher: fetcher, interrupt: interrupt)
    variants.take(found)
    signal = WakeSignal(
      State(
        timeline: HLSTimeline(found.media, beside: (family.active ?? main).timeline), place: found.place,
        variants: variants, loadedAt: now))
  }

  deinit { signal.update { $0.stopReloading() } }

  /// Notes what it is in somebody's row of the access log.
  func describe(to fetcher: StreamFetcher) {
    let (isEnded, bandwidth) = signal.withState { ($0.timeline.isEnded, $0.variants.bandwidth) }
    fetcher.note { event in
      event.playbackType = isEnded ? "vod" : "live"
      event.indicatedBitrate = bandwidth
    }
  }

  /// A playlist of segments, where it is, of which variant, and which ones could not be had before it.
  fileprivate struct Found {
    var media: HLSMediaPlaylist
    var place: PlaylistPlace
    var index: Int
    var failed: [(index: Int, at: HostTime)] = []
  }

  /// The first of some variants that can be had.
  private static func load(
    _ indices: [Int], of variants: StreamVariants, at place: PlaylistPlace, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) -> Found {
    var failure: MediaError?
    for (count, index) in indices.enumerated() {
      guard let candidate = variants[index] else { continue }
      if count > 0 { fetcher.note { $0.numberOfSwitches += 1 } }
      do throws(MediaError) {
        guard candidate.place != place else {
          throw MediaError(
            .streamPlaylistCycle, "a playlist that names itself: \(place.displayText)", operation: "hls")
        }
        let loaded = try fetcher.load(
          candidate.place, limit: HLSLimits.playlistByteCount, interrupt: interrupt)
        guard case .media(let media) = try HLSPlaylist(parsing: loaded.bytes, at: loaded.place) else {
          throw MediaError(
            .streamPlaylistCycle, "a master playlist that leads to another one: \(candidate.place.displayText)",
            operation: "hls")
        }
        let now = fetcher.clock.now
        return Found(
          media: media, place: loaded.place, index: index, failed: indices.prefix(count).map { ($0, now) })
      } catch {
        if error.code == .cancelled { throw error }
        failure = failure ?? error
        fetcher.note(error, candidate.place, isRetried: true)
      }
    }
    throw failure
      ?? MediaError(.noPlayableVariant, "none of the variants can be played: \(place.displayText)", operation: "hls")
  }

  /// Goes over to another variant, for the present one fails; false when there is none. Blocks.
  ///
  /// - Parameters:
  ///   - variantNumber: what failed; where another one is heard already, that is it.
  ///   - fetcher: that of the reader who found that, in whose log the switch is noted.
  func fallBack(from variantNumber: Int, _ fetcher: StreamFetcher, interrupt: Interrupt) throws(MediaError) -> Bool {
    let (variants, place, number) = signal.withState { ($0.variants, $0.place, $0.variantNumber) }
    guard number == variantNumber else { return true }
    let now = fetcher.clock.now
    let (present, others) = (variants.current, variants.others(at: now))
    guard !others.isEmpty else {
      signal.withState { $0.variants.fail([present], at: now) }
      return false
    }
    fetcher.note { $0.numberOfSwitches += 1 }
    do throws(MediaError) {
      var found = try Self.load(others, of: variants, at: place, fetcher: fetcher, interrupt: interrupt)
      found.failed.append((present, now))
      take(found, insteadOf: variantNumber, fetcher)
    } catch {
      if error.code == .cancelled { throw error }
      let now = fetcher.clock.now
      return signal.withState { state in
        // What another reader went over to meanwhile can be had.
        let isGone = state.variantNumber != variantNumber
        state.variants.fail((others + [present]).filter { !isGone || $0 != state.variants.current }, at: now)
        return isGone
      }
    }
    return true
  }

  /// Goes over to a variant that the network sustains, or better than the present one. Where it cannot be had the present one is heard
  /// on. Blocks. Errors: `cancelled`.
  ///
  /// - Parameter variantNumber: what the reader heard who found that; where another one is heard already, nothing happens.
  func go(
    to index: Int, from variantNumber: Int, _ fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) {
    let (variants, place, present) = signal.withState { ($0.variants, $0.place, $0.variantNumber) }
    guard present == variantNumber, variants.current != index else { return }
    do throws(MediaError) {
      let found = try Self.load([index], of: variants, at: place, fetcher: fetcher, interrupt: interrupt)
      take(found, insteadOf: variantNumber, fetcher) { fetcher.note { $0.numberOfSwitches += 1 } }
    } catch {
      if error.code == .cancelled { throw error }
      let now = fetcher.clock.now
      signal.withState { if $0.variants.current != index { $0.variants.fail([index], at: now) } }
    }
  }

  /// Another variant is heard from now on, unless somebody else went over to one meanwhile.
  private func take(
    _ found: Found, insteadOf variantNumber: Int, _ fetcher: StreamFetcher, onTaken: () -> Void = {}
  ) {
    let now = fetcher.clock.now
    let isTaken = signal.update { state in
      guard state.variantNumber == variantNumber else { return false }
      state.variants.take(found)
      state.variantNumber += 1
      state.place = found.place
      state.loadedAt = now
      state.timeline.replace(found.media)
      state.failure = nil
      // It may hang at the variant before.
      state.stopReloading()
      return true
    }
    guard isTaken else { return }
    onTaken()
    describe(to: fetcher)
    if let session = fetcher.session { fetcher.log.tellAccess(session) }
    startReloading()
  }

  /// A segment came. Answers which variant to go over to behind it; nil: none.
  ///
  /// - Parameters:
  ///   - variantNumber: the variant that it is of: of another than is heard now it says only how fast the network is.
  ///   - idleNanoseconds: for how long its reader wanted nothing meanwhile.
  func took(
    _ measure: TransferMeasure, _ segment: HLSSegment, variantNumber: Int, idleNanoseconds: Int64
  ) -> Int? {
    let throughput = family.took(measure, soundNanoseconds: segment.durationNanoseconds)
    let now = fetcher.clock.now
    return signal.withState { state in
      guard state.variantNumber == variantNumber else { return nil }
      return state.variants.took(
        byteCount: measure.byteCount, soundNanoseconds: segment.durationNanoseconds,
        throughput: throughput.bitsPerSecond, capacity: throughput.capacity, idleNanoseconds: idleNanoseconds, at: now)
    }
  }

  // MARK: - Its segments

  /// Where the playlist is.
  var place: PlaylistPlace { signal.withState { $0.place } }

  /// Which variant is heard: another number means that segments are another's.
  var variantNumber: Int { signal.withState { $0.variantNumber } }

  /// What the playlist says now.
  var timeline: HLSTimeline { signal.withState { $0.timeline } }

  /// The same, and which variant's it is.
  var heard: (timeline: HLSTimeline, variantNumber: Int) { signal.withState { ($0.timeline, $0.variantNumber) } }

  /// The segment with a number. Blocks until it is known what becomes of it. Errors: why the stream goes on no more; `cancelled`.
  ///
  /// - Parameter variantNumber: the variant whose number it is.
  func lookUp(_ number: Int64, variantNumber: Int, interrupt: Interrupt) throws(MediaError) -> Lookup {
    let result = signal.wait { state -> Result<Lookup, MediaError>? in
      if interrupt.isCancelled {
        return .failure(MediaError(.cancelled, "the operation was cancelled", operation: "hls"))
      }
      if state.variantNumber != variantNumber { return .success(.variant) }
      if let entry = state.timeline.entry(number) { return .success(.entry(entry)) }
      let numbers = state.timeline.numbers
      if !numbers.isEmpty, number < numbers.lowerBound || number > numbers.upperBound {
        return .success(.left(first: numbers.lowerBound))
      }
      if state.timeline.isEnded { return .success(.ended) }
      return state.failure.map { .failure($0) }
    }
    guard let result else { return .ended }
    return try result.get()
  }

  /// Lets those who wait look at their interrupts again.
  func wake() { signal.update { _ in } }

  /// Waits, unless the interrupt is used.
  func pause(_ duration: Duration, interrupt: Interrupt) {
    let nanoseconds = duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
    let deadline = fetcher.clock.now.advanced(byNanoseconds: nanoseconds)
    let milliseconds = fetcher.clock.milliseconds(until: deadline, isPause: true)
    let end = HostTime.now.advanced(byNanoseconds: Int64(milliseconds) * 1_000_000)
    _ = signal.wait(until: end) { _ in interrupt.isCancelled ? true : nil }
  }

  // MARK: - What goes with segments

  /// The bytes of a key. Blocks.
  func key(_ key: HLSKey, interrupt: Interrupt) throws(MediaError) -> [UInt8] {
    guard key.method == .aes128, let place = key.place else {
      let method = if case .other(let name) = key.method { name } else { "AES-128" }
      throw MediaError(.unsupportedEncryption, "segments are encrypted with \(method): \(name)", operation: "hls")
    }
    if let known = signal.withState({ $0.keys[place] }) { return known }
    let (bytes, _) = try fetcher.load(place, limit: Self.keyByteCount, interrupt: interrupt)
    guard bytes.count == 16 else {
      throw MediaError(
        .decryptionFailed, "a key has 16 bytes, and not \(bytes.count): \(place.displayText)", operation: "hls")
    }
    signal.withState { state in
      if state.keys.count >= Self.maximumKeptCount { state.keys = [:] }
      state.keys[place] = bytes
    }
    return bytes
  }

  /// An initialization section. Blocks.
  func map(_ map: HLSMap, interrupt: Interrupt) throws(MediaError) -> [UInt8] {
    if let known = signal.withState({ state in state.maps.first { $0.map == map }?.bytes }) { return known }
    var (bytes, _) = try fetcher.load(
      map.place, bytes: map.byteRange, limit: Self.mapByteCount, interrupt: interrupt)
    if let key = map.key {
      bytes = try decrypt(bytes, key: key, number: 0, place: map.place, interrupt: interrupt)
    }
    let kept = bytes
    signal.withState { state in
      if state.maps.count >= Self.maximumKeptCount { state.maps = [] }
      state.maps.append((map, kept))
    }
    return bytes
  }

  /// What was encrypted. Errors: `unsupportedEncryption`; `decryptionFailed`; those of loading the key.
  func decrypt(
    _ bytes: [UInt8], key: HLSKey, number: Int64, place: PlaylistPlace, interrupt: Interrupt
  ) throws(MediaError) -> [UInt8] {
    let secret = try self.key(key, interrupt: interrupt)
    let counted = [UInt8](repeating: 0, count: 8) + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    let plain: [UInt8]?
    do throws(AVFailure) {
      plain = try AESDecryption.decrypt(
        bytes, key: secret, initializationVector: key.initializationVector ?? counted)
    } catch {
      throw MediaError(error, path: name)
    }
    guard let plain else {
      throw MediaError(
        .decryptionFailed, "it does not decrypt with its key: \(place.displayText)", operation: "hls")
    }
    return plain
  }

  // MARK: - Stretches

  /// What is known of a stretch, to who counts in frames of that rate: by itself, or of a live stream by another rendition.
  func stretch(_ discontinuityNumber: Int64, sampleRateHz: Int) -> StreamStretch? {
    let (own, isEnded) = signal.withState { ($0.stretches[discontinuityNumber], $0.timeline.isEnded) }
    if let own, own.sampleRateHz == sampleRateHz { return own }
    // What has ended begins with everything else, whatever its timestamps are.
    return isEnded ? nil : family.stretch(discontinuityNumber, sampleRateHz: sampleRateHz)
  }

  func setStretch(_ stretch: StreamStretch, _ discontinuityNumber: Int64) {
    let isEnded = signal.withState { state in
      state.stretches[discontinuityNumber] = stretch
      // Those of a live stream that have left its window are of no use.
      guard state.stretches.count > 64, let first = state.timeline.entry(state.timeline.numbers.lowerBound) else {
        return state.timeline.isEnded
      }
      state.stretches = state.stretches.filter { $0.key >= first.segment.discontinuityNumber }
      return state.timeline.isEnded
    }
    if !isEnded, !stretch.isBorrowed { family.setStretch(stretch, discontinuityNumber) }
  }

  /// A segment turned out to lie elsewhere: all are moved with it, and what was known of stretches does not hold any more.
  ///
  /// - Parameter variantNumber: the variant whose number it is; nothing is moved while another is heard.
  func move(_ number: Int64, variantNumber: Int, toNanoseconds time: Int64) {
    let isMoved = signal.update { state in
      guard state.variantNumber == variantNumber else { return false }
      state.timeline.move(number, toNanoseconds: time)
      state.stretches = [:]
      return true
    }
    if isMoved { family.forgetStretches() }
  }
}

extension StreamVariants {
  /// One that could be had is heard from now on.
  fileprivate mutating func take(_ found: StreamSession.Found) {
    for (index, time) in found.failed { fail([index], at: time) }
    go(to: found.index)
  }
}
