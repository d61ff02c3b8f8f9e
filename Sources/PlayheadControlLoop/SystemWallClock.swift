import CPlayheadMediaShims
import Glibc
import PlayheadMediaCore
import PlayheadRealtimeAudio

/// The wall clock of the computer (`CLOCK_REALTIME`), and the local time of the process.
///
/// While it is observed, the clock has a descriptor of timerfd_create(2), which the kernel makes readable when the
/// clock is set and when the computer resumes from suspension. Otherwise it costs nothing. A loop that cannot watch
/// descriptors compares the clocks once a second instead.
///
/// Threading: confined to the control loop.
package final class SystemWallClock: WallClock, @unchecked Sendable {
  // `@unchecked Sendable`: confined to the loop, on which its timers fire.
  private static let comparisonIntervalNanoseconds: Int64 = 1_000_000_000
  /// A difference that the kernel makes by setting the clock, and not by adjusting its frequency.
  private static let smallestChangeNanoseconds: Int64 = 1_000_000

  private unowned let loop: any ControlLoop
  private var handlers = WallClockHandlers()
  private var descriptor: Int32 = -1
  private var watch: DescriptorWatch?
  private var comparison: (any ControlTimer)?

  /// Creates the clock of a loop, which must outlive it.
  package init(loop: any ControlLoop) { self.loop = loop }

  deinit { if descriptor >= 0 { close(descriptor) } }

  // MARK: - Time

  package func read() -> WallClockReading {
    var best: (reading: WallClockReading, nanoseconds: Int64)?
    // The thread may be interrupted between two clocks. The shortest of three attempts is exact to a microsecond, even
    // on a busy computer.
    for _ in 0..<3 {
      let (start, wallTime) = (HostTime.now, Self.nanoseconds(CLOCK_REALTIME))
      let boot = Self.nanoseconds(CLOCK_BOOTTIME)
      let duration = HostTime.now.nanoseconds(since: start)
      if let best, best.nanoseconds <= duration { continue }
      best = (
        WallClockReading(
          wallTime: WallTime(nanosecondsSince1970: wallTime), hostTime: start.advanced(byNanoseconds: duration / 3),
          bootNanoseconds: boot), duration
      )
    }
    guard let best else { preconditionFailure("no clock was read") }
    return best.reading
  }

  package func utcOffsetSeconds(at instant: WallTime) -> Int64 {
    // `localtime_r` alone would not notice that the user has changed the time zone (/etc/localtime).
    tzset()
    var seconds = time_t(instant.nanosecondsSince1970 / 1_000_000_000)
    var parts = tm()
    return localtime_r(&seconds, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
  }

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  // MARK: - Changes

  package func observeChanges(_ handler: @escaping @Sendable () -> Void) throws(MediaError) -> WallClockObservation {
    if handlers.isEmpty { try start() }
    let number = handlers.add(handler)
    return WallClockObservation { [self] in
      handlers.remove(number)
      if handlers.isEmpty { stop() }
    }
  }

  /// Calls the handlers.
  func changed() { for handler in handlers.all { handler() } }

  private func start() throws(MediaError) {
    guard let loop = loop as? ThreadControlLoop else { return compareLater(read()) }
    let opened = media_shims_clock_changes_open()
    guard opened >= 0 else {
      throw MediaError(.outputUnavailable, "the system cannot report changes of its clock", operation: "timerfd_create")
    }
    do throws(MediaError) { watch = try loop.watch(opened, for: .readable, self) } catch {
      close(opened)
      throw error
    }
    descriptor = opened
  }

  private func stop() {
    watch?.cancel()
    comparison?.cancel()
    if descriptor >= 0 { close(descriptor) }
    (watch, comparison, descriptor) = (nil, nil, -1)
  }

  /// Compares the clocks with an earlier reading after an interval.
  private func compareLater(_ earlier: WallClockReading) {
    comparison = loop.schedule(at: loop.now.advanced(byNanoseconds: Self.comparisonIntervalNanoseconds)) {
      [weak self] in
      guard let self, !handlers.isEmpty else { return }
      let reading = read()
      compareLater(reading)
      let change = reading.hostTime(at: earlier.wallTime).nanoseconds(since: earlier.hostTime)
      if abs(change) >= Self.smallestChangeNanoseconds { changed() }
    }
  }
}

extension SystemWallClock: DescriptorHandler {
  package func descriptorIsReady(_ events: DescriptorEvents) {
    if media_shims_clock_changes_read(descriptor) != 0 { changed() }
  }
}
