// A live stream's playlist is asked for again and again while somebody reads the stream, on a thread of its own.
import LibAV
import MediaCore
import NetworkIO
import Playlists
import RealtimeAudio

extension StreamSession {
  /// Failures of a live playlist, one after another, before the stream is given up.
  static let maximumReloadFailureCount = 6

  /// Somebody reads it from now on. Blocks where what is known of a live stream is old. Errors: `cancelled`.
  func beginReading(interrupt: Interrupt) throws(MediaError) {
    let now = fetcher.clock.now
    let isOld = signal.withState { state in
      !state.timeline.isEnded && state.readerCount == 0
        && now.nanoseconds(since: state.loadedAt) >= state.timeline.playlist.targetNanoseconds
    }
    // What fails now fails again on the thread that asks for it from now on, which says so.
    if isOld { _ = try? Self.reload(signal.withState { $0.place }, signal, family, fetcher, interrupt) }
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled", operation: "hls") }
    let beside = family.read.flatMap { $0 === self ? nil : $0.timeline }
    signal.update { state in
      // While nobody read it another rendition was, of which it is known where it lies.
      if let beside, state.readerCount == 0, !state.timeline.isEnded {
        state.timeline = HLSTimeline(state.timeline.playlist, beside: beside)
        state.stretches = [:]
      }
      state.readerCount += 1
    }
    family.note(self)
    startReloading()
  }

  /// Has a live stream's playlist asked for again and again, unless that is done already or nobody reads it.
  func startReloading() {
    let number: Int? = signal.withState { state in
      guard state.readerCount > 0, !state.timeline.isEnded, !state.isReloading else { return nil }
      state.isReloading = true
      state.reloadNumber += 1
      state.failure = nil
      return state.reloadNumber
    }
    guard let number else { return }
    let (signal, family, fetcher) = (signal, family, fetcher)
    fetcher.clock.onMove { [weak signal] in signal?.update { _ in } }
    NamedThread.detached(name: "hls-reload") { Self.reloadLoop(number, signal, family, fetcher) }
  }

  /// The same somebody reads it no more.
  func endReading() {
    let isOver = signal.update { state in
      state.readerCount -= 1
      if state.readerCount <= 0 { state.stopReloading() }
      return state.readerCount <= 0
    }
    if isOver { family.note(self) }
  }

  /// Whether somebody reads it.
  var isRead: Bool { signal.withState { $0.readerCount > 0 } }

  private static func reloadLoop(
    _ number: Int, _ signal: WakeSignal<State>, _ family: StreamFamily, _ fetcher: StreamFetcher
  ) {
    let clock = fetcher.clock
    let interrupt = Interrupt()
    // Whoever comes after it may begin anew.
    defer { signal.update { if $0.reloadNumber == number { $0.isReloading = false } } }
    let began = signal.withState { state in
      if state.reloadNumber == number { state.reloadInterrupt = interrupt }
      return state.loadedAt
    }
    var schedule = HLSReloadSchedule(now: began.nanoseconds)
    var target = signal.withState { $0.timeline.playlist.targetNanoseconds }
    var next = schedule.loaded(begin: began.nanoseconds, isChanged: true, targetNanoseconds: target)
    var failureCount = 0
    while waitUntil(HostTime(nanoseconds: next), number, signal, clock) {
      let begin = clock.now.nanoseconds
      let place = signal.withState { $0.place }
      do throws(MediaError) {
        let isChanged = try reload(place, signal, family, fetcher, interrupt)
        failureCount = 0
        target = signal.withState { $0.timeline.playlist.targetNanoseconds }
        next = schedule.loaded(begin: begin, isChanged: isChanged, targetNanoseconds: target)
      } catch {
        if error.code == .cancelled { return }
        // Before anybody is told: who moves time by hand may do so as soon as it is known.
        next = schedule.failed(at: clock.now.nanoseconds, targetNanoseconds: target)
        failureCount += 1
        // Another variant took its place meanwhile, which has failed at nothing, and for which another thread asks.
        let isGone = signal.withState { $0.reloadNumber != number }
        let isLast = !isGone && failureCount >= maximumReloadFailureCount
        fetcher.note(error, place, isRetried: !isLast)
        if isGone { return }
        if isLast {
          return signal.update { state in
            guard state.reloadNumber == number else { return }
            state.failure = error
            state.isReloading = false
          }
        }
      }
      if schedule.becameStale(at: begin, targetNanoseconds: target) {
        let error = MediaError(
          .streamNotUpdated, "nothing new has come for three target durations: \(place.displayText)", operation: "hls")
        fetcher.note(error, place, isRetried: true)
      }
    }
  }

  /// False when nobody wants it any more.
  private static func waitUntil(
    _ deadline: HostTime, _ number: Int, _ signal: WakeSignal<State>, _ clock: any NetworkClock
  ) -> Bool {
    while true {
      let milliseconds = clock.milliseconds(until: deadline, isPause: false)
      let result = signal.wait(until: HostTime.now.advanced(byNanoseconds: Int64(milliseconds) * 1_000_000)) {
        state -> Bool? in
        if state.reloadNumber != number || state.timeline.isEnded { return false }
        return clock.now >= deadline ? true : nil
      }
      if let result { return result }
    }
  }

  /// Asks for the playlist once; true when it has something new. Blocks.
  ///
  /// - Parameter place: where it is; what comes from there is not taken when another variant took its place meanwhile.
  static func reload(
    _ place: PlaylistPlace, _ signal: WakeSignal<State>, _ family: StreamFamily, _ fetcher: StreamFetcher,
    _ interrupt: Interrupt
  ) throws(MediaError) -> Bool {
    let now = fetcher.clock.now
    let loaded = try fetcher.load(place, limit: HLSLimits.playlistByteCount, interrupt: interrupt)
    guard case .media(let media) = try HLSPlaylist(parsing: loaded.bytes, at: loaded.place) else {
      throw MediaError(
        .streamPlaylistCycle, "a playlist that has become a list of variants: \(place.displayText)", operation: "hls")
    }
    let update: HLSTimeline.Update? = signal.update { state in
      // Another variant took its place meanwhile.
      guard state.place == place else { return nil }
      state.loadedAt = now
      let update = state.timeline.update(media)
      if update == .restarted { state.stretches = [:] }
      return update
    }
    if update == .restarted { family.forgetStretches() }
    if update == .outOfReach {
      throw MediaError(
        .streamLimitExceeded, "a stream that has gone on for 36 years: \(place.displayText)", operation: "hls")
    }
    return update != .unchanged
  }
}

extension StreamSession.State {
  /// Ends the thread that asks for the playlist.
  mutating func stopReloading() {
    reloadNumber += 1
    isReloading = false
    reloadInterrupt?.cancel()
  }
}

/// What of a live stream can be heard.
public struct LiveWindow: Sendable, Hashable {
  /// Where can be sought: from the first segment that is there to three target durations before the last one's end.
  public var seekable: TimeRange
  /// The end of what is there.
  public var edge: MediaTime
}

extension Asset {
  /// The rendition that is read, or was last, whose playlist is the newest.
  private var presentStream: StreamSession? { streamSession.map { $0.family.active ?? $0 } }

  /// What of a live stream there is now; nil for everything else. Any thread, does not block.
  public var liveWindow: LiveWindow? {
    guard let session = presentStream else { return nil }
    let (isEnded, start, live, end) = session.signal.withState { state in
      let timeline = state.timeline
      return (timeline.isEnded, timeline.startNanoseconds, timeline.liveStartNanoseconds, timeline.endNanoseconds)
    }
    if isEnded { return nil }
    return LiveWindow(
      seekable: TimeRange(start: Self.time(start), end: Self.time(live)), edge: Self.time(end))
  }

  /// What of a stream has been loaded and is in memory: of the segment that is read, and of the one behind it; nil when nothing is, for
  /// other assets, and of segments in files. Any thread, does not block.
  public var presentTimeRange: TimeRange? {
    streamSession?.family.loadedRange.map {
      TimeRange(start: Self.time($0.lowerBound), end: Self.time($0.upperBound))
    }
  }

  /// When what lies at a time was recorded, in nanoseconds since 1970, as the playlist of an HLS stream says; nil where nothing does.
  public func date(at time: MediaTime) -> Int64? {
    guard let session = presentStream,
      let nanoseconds = time.frameIndex(rate: 1_000_000_000, rounding: .halfAwayFromZero)
    else { return nil }
    return session.signal.withState { $0.timeline.date(atNanoseconds: nanoseconds) }
  }

  /// Where what was recorded then lies; nil when nothing of it is there. In nanoseconds since 1970.
  public func time(ofDate date: Int64) -> MediaTime? {
    presentStream?.signal.withState { $0.timeline.time(ofDate: date) }.map(Self.time)
  }

  /// To the microsecond.
  static func time(_ nanoseconds: Int64) -> MediaTime {
    MediaTime(value: (nanoseconds + (nanoseconds < 0 ? -500 : 500)) / 1_000, timescale: 1_000_000)
  }
}
