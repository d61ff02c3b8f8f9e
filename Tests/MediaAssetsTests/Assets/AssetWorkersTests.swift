import MediaTesting
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadRealtimeAudio
import Synchronization
import Testing

@testable import PlayheadMediaAssets

/// Threads that load assets for non-blocking callers. A slow load delays no other, and a hanging load fails.
@Suite(.timeLimit(.minutes(2))) struct AssetWorkersTests {
  private let second: Int64 = 1_000_000_000

  private func limits(slots: Int = 2, threads: Int = 4) -> WorkSlots.Limits {
    WorkSlots.Limits(slotCount: slots, threadCount: threads)
  }

  private func statuses(_ asset: Asset, _ key: AssetKey) -> ConditionMutex<[AssetValueStatus<AssetValues>]> {
    let statuses = ConditionMutex<[AssetValueStatus<AssetValues>]>([])
    asset.loadValues(forKeys: [key]) { status in statuses.update { $0.append(status) } }
    return statuses
  }

  private func code(_ status: AssetValueStatus<AssetValues>?) -> MediaError.Code? {
    if case .failed(let error)? = status { error.code } else { nil }
  }

  /// Owns its job, like callers that cancel theirs, and reports its release.
  private final class Owner: Sendable {
    private let releasedCount: ConditionMutex<Int>
    private let job = Mutex<AssetWorkers.Job?>(nil)

    init(_ releasedCount: ConditionMutex<Int>) { self.releasedCount = releasedCount }
    deinit { releasedCount.update { $0 += 1 } }

    func start(on workers: AssetWorkers, _ body: @escaping @Sendable () -> Void) {
      let job = workers.run(forNanoseconds: 1_000_000_000) { [self] _ in
        withExtendedLifetime(self) { body() }
      } timedOut: {
        [self] _ in
        withExtendedLifetime(self) {}
      }
      self.job.withLock { $0 = job }
    }

    func cancel() { job.withLock { $0 }?.cancel() }
  }

  /// A job that ended, was cancelled before or during its work, or timed out releases its resources.
  @Test func endedJobReleasesItsOwner() {
    let (releasedCount, release) = (ConditionMutex(0), ConditionMutex((started: 0, isOpen: false)))
    let blockUntilOpen: @Sendable () -> Void = {
      release.update { $0.started += 1 }
      _ = release.wait { $0.isOpen ? true : nil }
    }
    let workers = AssetWorkers(limits: limits(slots: 1, threads: 2), isWatched: false)
    do { Owner(releasedCount).start(on: workers) {} }
    _ = releasedCount.wait { $0 == 1 ? true : nil }
    do {
      let (first, waiting) = (Owner(releasedCount), Owner(releasedCount))
      first.start(on: workers, blockUntilOpen)
      _ = release.wait { $0.started == 1 ? true : nil }
      waiting.start(on: workers) {}
      waiting.cancel()
      first.cancel()
    }
    _ = releasedCount.wait { $0 == 2 ? true : nil }
    do { Owner(releasedCount).start(on: workers, blockUntilOpen) }
    _ = release.wait { $0.started == 2 ? true : nil }
    workers.check(at: MonotonicClock.nanoseconds + 3 * second)
    release.update { $0.isOpen = true }
    _ = releasedCount.wait { $0 == 4 ? true : nil }
  }

  @Test func slowLoadsFreeTheirSlotsForOthers() throws {
    let workers = AssetWorkers(limits: limits(), isWatched: false)
    let bytes = HangingBytes(ignoresCancellation: true)
    defer { bytes.release() }
    let slow = (0..<2).map { _ in bytes.asset(workers) }
    for asset in slow { _ = statuses(asset, .duration) }
    bytes.waitUntilRead(2)
    let folder = try TemporaryFolder()
    let path = try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: 48_000, frameCount: 4_800), as: "a.wav")
    let asset = Asset(path: Array(path.utf8), workers: workers)
    let reported = statuses(asset, .duration)
    #expect(workers.waitingCount == 1)
    // A job without an owner does not wait.
    let other = statuses(Asset(path: Array(path.utf8), workers: workers), .duration)
    #expect(workers.waitingCount == 1 && other.withState { $0.last?.name } == "cancelled")
    #expect(workers.check(at: MonotonicClock.nanoseconds + 3 * second))
    #expect(reported.wait { $0.last?.name } == "loaded")
    for asset in slow { #expect(asset.status(of: .duration).name == "loading") }
  }

  /// A slow or unreachable server: callers get an error after the maximum opening time, and the thread is abandoned.
  @Test(arguments: [AssetKey.duration, .metadata]) func loadFailsAfterTheMaximumOpeningTime(_ key: AssetKey) throws {
    let workers = AssetWorkers(limits: limits(), isWatched: false)
    let bytes = HangingBytes(ignoresCancellation: true)
    let assets = (0..<4).map { _ in bytes.asset(workers) }
    let reported = assets.map { statuses($0, key) }
    bytes.waitUntilRead(2)
    workers.check(at: MonotonicClock.nanoseconds + 3 * second)
    bytes.waitUntilRead(4)
    #expect(reported.allSatisfy { $0.withState { $0.isEmpty } } && workers.threadCount == 4)
    // All threads are blocked: a waiting job fails, too, after the maximum time of one opening.
    let late = bytes.asset(workers)
    let lateReported = statuses(late, key)
    workers.check(at: MonotonicClock.nanoseconds + 31 * second)
    for (asset, reported) in zip(assets, reported) {
      #expect(code(reported.withState { $0.last }) == .openingTimedOut)
      #expect(code(asset.status(of: key)) == .openingTimedOut)
    }
    #expect(workers.threadCount == 4, "they cannot be interrupted")
    workers.check(at: MonotonicClock.nanoseconds + 70 * second)
    #expect(code(lateReported.withState { $0.last }) == .openingTimedOut)
    #expect(!workers.check(at: MonotonicClock.nanoseconds + 71 * second), "nothing is left to watch")
    bytes.release()
    bytes.waitUntilEnded(4)
    // The error is not stored: a new request loads again.
    assets[0].loadValues(forKeys: [key]) { _ in }
    bytes.waitUntilRead(5)
  }

  /// The sum of the timeouts for connecting and the first byte, and two stall timeouts; at least one second.
  @Test func openingTimeOfAnAddressIsTheSumOfItsTimeouts() throws {
    for (milliseconds, expected) in [(900, 3_600), (1_500, 6_000), (100, 1_000), (0, 1_000)] as [(Int64, Int64)] {
      var options = HTTPOptions()
      let timeout = Duration.milliseconds(milliseconds)
      (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (timeout, timeout, timeout)
      let asset = Asset(location: .url(try HTTPURL("http://127.0.0.1/a.wav"), options))
      #expect(asset.openingNanoseconds == expected * 1_000_000, "\(milliseconds) ms")
    }
    #expect(Asset(path: "/a.wav").openingNanoseconds == 30 * second)
  }

  @Test func watchThreadTimesOutHangingJobs() throws {
    var limits = limits()
    limits.slowNanoseconds = 1_000_000
    let workers = AssetWorkers(limits: limits)
    let failed = ConditionMutex(false)
    let isReleased = ConditionMutex(false)
    defer { isReleased.update { $0 = true } }
    workers.run(forNanoseconds: 2_000_000) { _ in
      _ = isReleased.wait { $0 ? true : nil } as Bool?
    } timedOut: { _ in
      failed.update { $0 = true }
    }
    #expect(failed.wait { $0 ? true : nil } == true)
  }

  /// A job that continues after a delay occupies a slot again: jobs that wait for it do not fail as hanging.
  @Test func waitingJobsDoNotTimeOutWhileRunningJobsContinue() {
    var limits = limits(slots: 1, threads: 2)
    (limits.slowNanoseconds, limits.stuckNanoseconds) = (1_000 * second, second / 2)
    let workers = AssetWorkers(limits: limits, isWatched: false)
    let state = ConditionMutex((started: 0, continued: 0, mayContinue: false, mayEnd: false, timedOut: 0, ended: 0))
    func start() {
      workers.run(forNanoseconds: 10_000 * second) { job in
        state.update { $0.started += 1 }
        _ = state.wait { $0.mayContinue ? true : nil } as Bool?
        job.reportProgress()
        state.update { $0.continued += 1 }
        _ = state.wait { $0.mayEnd ? true : nil } as Bool?
        state.update { $0.ended += 1 }
      } timedOut: { _ in
        state.update { $0.timedOut += 1 }
      }
    }
    start()
    start()
    // Without progress reports, each job frees its slot, and keeps its thread.
    _ = state.wait { $0.started == 1 ? true : nil } as Bool?
    workers.check(at: MonotonicClock.nanoseconds + 1_001 * second)
    _ = state.wait { $0.started == 2 ? true : nil } as Bool?
    workers.check(at: MonotonicClock.nanoseconds + 2_002 * second)
    state.update { $0.mayContinue = true }
    _ = state.wait { $0.continued == 2 ? true : nil } as Bool?
    start()
    let now = MonotonicClock.nanoseconds
    workers.check(at: now + second)
    workers.check(at: now + 2 * second)
    #expect(state.withState { $0.timedOut } == 0 && workers.waitingCount == 1 && workers.threadCount == 2)
    state.update { $0.mayEnd = true }
    _ = state.wait { $0.ended == 3 ? true : nil } as Bool?
    #expect(state.withState { $0.timedOut } == 0)
  }

  @Test func cancelledRequestsLeaveTheWaitingQueue() throws {
    let workers = AssetWorkers(limits: limits(slots: 1, threads: 1), isWatched: false)
    let bytes = HangingBytes(ignoresCancellation: true)
    defer { bytes.release() }
    let first = bytes.asset(workers)
    _ = statuses(first, .duration)
    bytes.waitUntilRead(1)
    let others = (0..<100).map { _ in bytes.asset(workers) }
    let requests = others.map { $0.loadValues(forKeys: [.duration, .metadata]) { _ in } }
    #expect(workers.waitingCount == 200)
    for request in requests { #expect(request.cancel()) }
    #expect(workers.waitingCount == 0 && workers.threadCount == 1)
  }
}
