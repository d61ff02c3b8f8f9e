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
  }

  struct State {
    var timeline: HLSTimeline
    /// Where the playlist is.
    var place: PlaylistPlace
    /// What may be tried when it fails.
    var others: [HLSVariantChoice.Candidate] = []
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
    /// Bits a second, as the master playlist says; nil where there is none.
    var bandwidth: Int64?
    /// Why the stream goes on no more.
    var failure: MediaError?
  }

  /// What stands for it in messages.
  let name: String
  /// For what all who read it share: playlists and keys.
  let fetcher: StreamFetcher
  let signal: WakeSignal<State>

  /// Initialization sections and keys have no more bytes.
  static let mapByteCount = 4 << 20
  private static let keyByteCount = 64
  private static let maximumKeptCount = 16

  /// Makes a session of a playlist's bytes. Blocks: a master playlist leads to others.
  ///
  /// Errors: `badStreamPlaylist` and its kin; those of the network.
  init(
    playlist bytes: [UInt8], at place: PlaylistPlace, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) {
    name = place.displayText
    self.fetcher = fetcher
    let found: Found
    switch try HLSPlaylist(parsing: bytes, at: place) {
    case .media(let list): found = Found(media: list, place: place, others: [])
    case .master(let master):
      let candidates = HLSVariantChoice(master).candidates(peakBitRateLimit: fetcher.options.preferredPeakBitRate)
      found = try Self.load(candidates, at: place, fetcher: fetcher, interrupt: interrupt)
    }
    signal = WakeSignal(
      State(
        timeline: HLSTimeline(found.media), place: found.place, others: found.others, loadedAt: fetcher.clock.now,
        bandwidth: found.bandwidth))
    describe(to: fetcher)
  }

  deinit { signal.update { $0.stopReloading() } }

  /// Notes what it is in somebody's row of the access log.
  func describe(to fetcher: StreamFetcher) {
    let (isEnded, bandwidth) = signal.withState { ($0.timeline.isEnded, $0.bandwidth) }
    fetcher.note { event in
      event.playbackType = isEnded ? "vod" : "live"
      event.indicatedBitrate = bandwidth
    }
  }

  /// A playlist of segments, where it is, and what else there is.
  private struct Found {
    var media: HLSMediaPlaylist
    var place: PlaylistPlace
    var others: [HLSVariantChoice.Candidate]
    var bandwidth: Int64?
  }

  /// The first of some variants that can be had.
  private static func load(
    _ candidates: [HLSVariantChoice.Candidate], at place: PlaylistPlace, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) -> Found {
    var failure: MediaError?
    for (index, candidate) in candidates.enumerated() {
      if index > 0 { fetcher.note { $0.numberOfSwitches += 1 } }
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
        let bandwidth = candidate.variant.bandwidth
        return Found(
          media: media, place: loaded.place, others: Array(candidates[(index + 1)...]),
          bandwidth: bandwidth > 0 ? bandwidth : nil)
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
  /// - Parameter fetcher: that of the reader who found that, in whose log the switch is noted.
  func fallBack(_ fetcher: StreamFetcher, interrupt: Interrupt) throws(MediaError) -> Bool {
    let (others, place) = signal.withState { ($0.others, $0.place) }
    let now = fetcher.clock.now
    guard !others.isEmpty else { return false }
    fetcher.note { $0.numberOfSwitches += 1 }
    let found: Found
    do throws(MediaError) {
      found = try Self.load(others, at: place, fetcher: fetcher, interrupt: interrupt)
    } catch {
      if error.code == .cancelled { throw error }
      signal.withState { $0.others = [] }
      return false
    }
    signal.update { state in
      state.others = found.others
      state.place = found.place
      state.loadedAt = now
      state.bandwidth = found.bandwidth
      state.timeline.replace(found.media)
      state.failure = nil
    }
    describe(to: fetcher)
    if let session = fetcher.session { fetcher.log.tellAccess(session) }
    startReloading()
    return true
  }

  // MARK: - Its segments

  /// Where the playlist is.
  var place: PlaylistPlace { signal.withState { $0.place } }

  /// What the playlist says now.
  var timeline: HLSTimeline { signal.withState { $0.timeline } }

  /// The segment with a number. Blocks until it is known what becomes of it. Errors: why the stream goes on no more; `cancelled`.
  func lookUp(_ number: Int64, interrupt: Interrupt) throws(MediaError) -> Lookup {
    let result = signal.wait { state -> Result<Lookup, MediaError>? in
      if interrupt.isCancelled {
        return .failure(MediaError(.cancelled, "the operation was cancelled", operation: "hls"))
      }
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

  /// What is known of a stretch, to who counts in frames of that rate.
  func stretch(_ discontinuityNumber: Int64, sampleRateHz: Int) -> StreamStretch? {
    signal.withState { $0.stretches[discontinuityNumber] }.flatMap { $0.sampleRateHz == sampleRateHz ? $0 : nil }
  }

  func setStretch(_ stretch: StreamStretch, _ discontinuityNumber: Int64) {
    signal.withState { state in
      state.stretches[discontinuityNumber] = stretch
      // Those of a live stream that have left its window are of no use.
      guard state.stretches.count > 64, let first = state.timeline.entry(state.timeline.numbers.lowerBound) else {
        return
      }
      state.stretches = state.stretches.filter { $0.key >= first.segment.discontinuityNumber }
    }
  }

  /// A segment turned out to lie elsewhere: all are moved with it, and what was known of stretches does not hold any more.
  func move(_ number: Int64, toNanoseconds time: Int64) {
    signal.update { state in
      state.timeline.move(number, toNanoseconds: time)
      state.stretches = [:]
    }
  }
}
