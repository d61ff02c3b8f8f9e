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
    if isOld { _ = try? Self.reload(signal.withState { $0.place }, signal, fetcher, interrupt) }
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled", operation: "hls") }
    signal.withState { $0.readerCount += 1 }
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
    let (signal, fetcher) = (signal, fetcher)
    fetcher.clock.onMove { [weak signal] in signal?.update { _ in } }
    NamedThread.detached(name: "hls-reload") { Self.reloadLoop(number, signal, fetcher) }
  }

  /// The same somebody reads it no more.
  func endReading() {
    signal.update { state in
      state.readerCount -= 1
      if state.readerCount <= 0 { state.stopReloading() }
    }
  }

  private static func reloadLoop(_ number: Int, _ signal: WakeSignal<State>, _ fetcher: StreamFetcher) {
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
        let isChanged = try reload(place, signal, fetcher, interrupt)
        failureCount = 0
        target = signal.withState { $0.timeline.playlist.targetNanoseconds }
        next = schedule.loaded(begin: begin, isChanged: isChanged, targetNanoseconds: target)
      } catch {
        if error.code == .cancelled { return }
        // Before anybody is told: who moves time by hand may do so as soon as it is known.
        next = schedule.failed(at: clock.now.nanoseconds, targetNanoseconds: target)
        failureCount += 1
        // Another variant took its place meanwhile, which has failed at nothing.
        let isGone = signal.withState { $0.place != place }
        let isLast = !isGone && failureCount >= maximumReloadFailureCount
        fetcher.note(error, place, isRetried: !isLast)
        if isGone { failureCount = 0 }
        if isLast {
          let hasEnded = signal.update { state in
            guard state.reloadNumber == number, state.place == place else { return state.reloadNumber != number }
            state.failure = error
            state.isReloading = false
            return true
          }
          if hasEnded { return }
          failureCount = 0
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
    _ place: PlaylistPlace, _ signal: WakeSignal<State>, _ fetcher: StreamFetcher, _ interrupt: Interrupt
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
  /// What of a live stream there is now; nil for everything else. Any thread, does not block.
  public var liveWindow: LiveWindow? {
    guard let session = streamSession else { return nil }
    let (isEnded, start, live, end) = session.signal.withState { state in
      let timeline = state.timeline
      return (timeline.isEnded, timeline.startNanoseconds, timeline.liveStartNanoseconds, timeline.endNanoseconds)
    }
    if isEnded { return nil }
    return LiveWindow(
      seekable: TimeRange(start: Self.time(start), end: Self.time(live)), edge: Self.time(end))
  }

  /// When what lies at a time was recorded, in nanoseconds since 1970, as the playlist of an HLS stream says; nil where nothing does.
  public func date(at time: MediaTime) -> Int64? {
    guard let session = streamSession,
      let nanoseconds = time.frameIndex(rate: 1_000_000_000, rounding: .halfAwayFromZero)
    else { return nil }
    return session.signal.withState { $0.timeline.date(atNanoseconds: nanoseconds) }
  }

  /// Where what was recorded then lies; nil when nothing of it is there. In nanoseconds since 1970.
  public func time(ofDate date: Int64) -> MediaTime? {
    streamSession?.signal.withState { $0.timeline.time(ofDate: date) }.map(Self.time)
  }

  private static func time(_ nanoseconds: Int64) -> MediaTime {
    MediaTime(value: (nanoseconds + (nanoseconds < 0 ? -500 : 500)) / 1_000, timescale: 1_000_000)
  }
}
