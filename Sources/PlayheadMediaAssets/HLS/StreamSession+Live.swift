// Reloads the playlist of a live stream on a separate thread while the stream has readers.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists
import PlayheadRealtimeAudio

extension StreamSession {
  /// Number of consecutive failures of a live playlist after which the stream fails.
  static let maximumReloadFailureCount = 6

  /// Adds a reader. Blocks to reload the playlist of a live stream if it is old.
  ///
  /// - Throws: `cancelled`.
  func beginReading(interrupt: Interrupt) throws(MediaError) {
    let now = fetcher.clock.now
    let isOld = signal.withState { state in
      !state.timeline.isEnded && state.readerCount == 0
        && now.nanoseconds(since: state.loadedAt) >= state.timeline.playlist.targetNanoseconds
    }
    // The error is ignored here: it recurs on the reloading thread, which reports it.
    if isOld { _ = try? Self.reload(signal.withState { $0.location }, signal, family, fetcher, interrupt) }
    if interrupt.isCancelled { throw MediaError(.cancelled, "the operation was cancelled", operation: "hls") }
    let otherTimeline = family.renditionBeingRead.flatMap { $0 === self ? nil : $0.timeline }
    signal.update { state in
      // Another rendition was read while this one had no readers. Its timeline defines the positions.
      if let otherTimeline, state.readerCount == 0, !state.timeline.isEnded {
        state.timeline = HLSTimeline(state.timeline.playlist, alignedWith: otherTimeline)
        state.stretches = [:]
      }
      state.readerCount += 1
    }
    family.recordUse(of: self)
    startReloading()
  }

  /// Starts reloading the playlist of a live stream, unless reloading is active already or there are no readers.
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
    fetcher.clock.onAdvance { [weak signal] in signal?.update { _ in } }
    NamedThread.detached(name: "hls-reload") { Self.reloadLoop(number, signal, family, fetcher) }
  }

  /// Removes a reader that `beginReading(interrupt:)` added.
  func endReading() {
    let isOver = signal.update { state in
      state.readerCount -= 1
      if state.readerCount <= 0 { state.stopReloading() }
      return state.readerCount <= 0
    }
    if isOver { family.recordUse(of: self) }
  }

  /// Whether the session has readers.
  var isRead: Bool { signal.withState { $0.readerCount > 0 } }

  private static func reloadLoop(
    _ number: Int, _ signal: ConditionMutex<State>, _ family: StreamFamily, _ fetcher: StreamFetcher
  ) {
    let clock = fetcher.clock
    let interrupt = Interrupt()
    // The next reloading thread may start.
    defer { signal.update { if $0.reloadNumber == number { $0.isReloading = false } } }
    let loadedAt = signal.withState { state in
      if state.reloadNumber == number { state.reloadInterrupt = interrupt }
      return state.loadedAt
    }
    var schedule = HLSReloadSchedule(now: loadedAt.nanoseconds)
    var target = signal.withState { $0.timeline.playlist.targetNanoseconds }
    var next = schedule.loaded(startedAt: loadedAt.nanoseconds, isChanged: true, targetNanoseconds: target)
    var failureCount = 0
    while waitUntil(HostTime(nanoseconds: next), number, signal, clock) {
      let startedAt = clock.now.nanoseconds
      let location = signal.withState { $0.location }
      do throws(MediaError) {
        let isChanged = try reload(location, signal, family, fetcher, interrupt)
        failureCount = 0
        target = signal.withState { $0.timeline.playlist.targetNanoseconds }
        next = schedule.loaded(startedAt: startedAt, isChanged: isChanged, targetNanoseconds: target)
      } catch {
        if error.code == .cancelled { return }
        // The next time is computed before the failure is published, because a test clock may advance right afterwards.
        next = schedule.failed(at: clock.now.nanoseconds, targetNanoseconds: target)
        failureCount += 1
        // If another variant has replaced this one, it has no failures, and another thread reloads it.
        let isReplaced = signal.withState { $0.reloadNumber != number }
        let isLast = !isReplaced && failureCount >= maximumReloadFailureCount
        fetcher.logError(error, location, isRetried: !isLast)
        if isReplaced { return }
        if isLast {
          return signal.update { state in
            guard state.reloadNumber == number else { return }
            state.failure = error
            state.isReloading = false
          }
        }
      }
      if schedule.becameStale(at: startedAt, targetNanoseconds: target) {
        let error = MediaError(
          .streamNotUpdated, "the playlist has not changed for three target durations: \(location.displayText)",
          operation: "hls")
        fetcher.logError(error, location, isRetried: true)
      }
    }
  }

  /// Waits until the deadline. Returns false if reloading has been stopped.
  private static func waitUntil(
    _ deadline: HostTime, _ number: Int, _ signal: ConditionMutex<State>, _ clock: any NetworkClock
  ) -> Bool {
    while true {
      let milliseconds = clock.milliseconds(until: deadline, isRetryDelay: false)
      let result = signal.wait(until: HostTime.now.advanced(byNanoseconds: Int64(milliseconds) * 1_000_000)) {
        state -> Bool? in
        if state.reloadNumber != number || state.timeline.isEnded { return false }
        return clock.now >= deadline ? true : nil
      }
      if let result { return result }
    }
  }

  /// Loads the playlist once. Returns whether it has changed. Blocks.
  ///
  /// - Parameter location: The playlist. The result is discarded if another variant has replaced it meanwhile.
  static func reload(
    _ location: PlaylistLocation, _ signal: ConditionMutex<State>, _ family: StreamFamily, _ fetcher: StreamFetcher,
    _ interrupt: Interrupt
  ) throws(MediaError) -> Bool {
    let now = fetcher.clock.now
    let loaded = try fetcher.load(location, limit: HLSLimits.playlistByteCount, interrupt: interrupt)
    guard case .media(let media) = try HLSPlaylist(parsing: loaded.bytes, at: loaded.location) else {
      throw MediaError(
        .streamPlaylistCycle, "a media playlist was replaced by a master playlist: \(location.displayText)",
        operation: "hls")
    }
    let update: HLSTimeline.Update? = signal.update { state in
      // Another variant has replaced this one meanwhile.
      guard state.location == location else { return nil }
      state.loadedAt = now
      let update = state.timeline.update(media)
      if update == .restarted { state.stretches = [:] }
      return update
    }
    if update == .restarted { family.removeStretches() }
    if update == .exceedsLimits {
      throw MediaError(
        .streamLimitExceeded, "the stream is longer than 36 years: \(location.displayText)", operation: "hls")
    }
    return update != .unchanged
  }
}

extension StreamSession.State {
  /// Stops the reloading thread.
  mutating func stopReloading() {
    reloadNumber += 1
    isReloading = false
    reloadInterrupt?.cancel()
  }
}

/// The playable range of a live stream.
///
/// <!-- listing: seek-live -->
/// ```swift
/// if let window = item.liveWindow { print(window.seekable, window.edge) }
/// try await player.seek(to: .end)
/// ```
public struct LiveWindow: Sendable, Hashable {
  /// The seekable range: from the start of the first available segment to three target durations before the end of the
  /// last one.
  public var seekable: TimeRange
  /// The end of the last available segment.
  public var edge: MediaTime
}

extension Asset {
  /// The rendition that is being read or was read last. Its playlist is the newest.
  private var activeStream: StreamSession? { streamSession.map { $0.family.active ?? $0 } }

  /// The current window of a live stream; nil for all other assets. Any thread; does not block.
  public var liveWindow: LiveWindow? {
    guard let session = activeStream else { return nil }
    let (isEnded, start, live, end) = session.signal.withState { state in
      let timeline = state.timeline
      return (timeline.isEnded, timeline.startNanoseconds, timeline.liveStartNanoseconds, timeline.endNanoseconds)
    }
    if isEnded { return nil }
    return LiveWindow(
      seekable: TimeRange(start: Self.time(start), end: Self.time(live)), edge: Self.time(end))
  }

  /// The range of a stream that is loaded in memory: in the segment that is being read and the next one. Nil if nothing
  /// is loaded, for other assets, and for segments in files. Any thread; does not block.
  public var loadedTimeRange: TimeRange? {
    streamSession?.family.loadedRange.map {
      TimeRange(start: Self.time($0.lowerBound), end: Self.time($0.upperBound))
    }
  }

  /// Returns the date at which the media at `time` was recorded, in nanoseconds since 1970, according to the HLS
  /// playlist. Returns nil if the playlist states no date.
  public func date(at time: MediaTime) -> Int64? {
    guard let session = activeStream,
      let nanoseconds = time.frameIndex(rate: 1_000_000_000, rounding: .halfAwayFromZero)
    else { return nil }
    return session.signal.withState { $0.timeline.date(atNanoseconds: nanoseconds) }
  }

  /// Returns the time of the media recorded at `date`, in nanoseconds since 1970; nil if it is not available.
  public func time(ofDate date: Int64) -> MediaTime? {
    activeStream?.signal.withState { $0.timeline.time(ofDate: date) }.map(Self.time)
  }

  /// Converts nanoseconds to a time, rounded to a microsecond.
  static func time(_ nanoseconds: Int64) -> MediaTime {
    MediaTime(value: (nanoseconds + (nanoseconds < 0 ? -500 : 500)) / 1_000, timescale: 1_000_000)
  }
}
