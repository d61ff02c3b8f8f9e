import PlayheadTesting
import RigSupport
import Synchronization
import Testing

/// Observation with sequences, and handlers on the main actor and on executors.
@Suite struct ObservationTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory("observation") }

  private func item(frames: Int = 48_000) throws -> PlayerItem {
    let path = files.file("\(frames).wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: frames)
    return PlayerItem(path: path)
  }

  /// The elements of a sequence that has ended.
  private func elements<Element: Sendable>(_ stream: AsyncStream<Element>) async -> [Element] {
    var elements: [Element] = []
    for await element in stream { elements.append(element) }
    return elements
  }

  @Test func propertyHasItsValueAndItsChangesWithCauses() async throws {
    let test = try await PlaybackEngine.virtual()
    let player = try await Player(engine: test.engine, playerItem: item())
    let rates = await player.changes(of: \.rate)
    let statuses = await player.changes(of: \.timeControlStatus)
    await player.play()
    try await test.clock.advance(by: .milliseconds(100))
    await player.pause()
    try await test.clock.advance(by: .milliseconds(100))
    await player.close()
    #expect(
      await elements(rates) == [
        PropertyChange(old: nil, new: 0, cause: nil), PropertyChange(old: 0, new: 1, cause: .request),
        PropertyChange(old: 1, new: 0, cause: .request),
      ])
    #expect(await elements(statuses).map(\.new).last == .paused)
  }

  @Test func timesAreThoseOfTheObserversAndEndWithThePlayer() async throws {
    let test = try await PlaybackEngine.virtual()
    let player = try await Player(engine: test.engine, playerItem: item())
    let periodic = try await player.times(forInterval: .milliseconds(250))
    let boundaries = try await player.times(atBoundaries: [.seconds(0.1), .seconds(0.6)])
    let changes = await player.changes()
    await player.play()
    try await test.clock.advance(by: .milliseconds(700))
    await player.close()
    #expect(await elements(periodic).filter { $0.reason == .periodic }.map(\.time) == [.seconds(0.25), .seconds(0.5)])
    #expect(await elements(boundaries).map(\.time) == [.seconds(0.1), .seconds(0.6)])
    #expect(await elements(changes).contains { $0.old.rate == 0 && $0.new.rate == 1 && $0.cause == .request })
    await expectError(.invalidState) { _ = try await player.times(forInterval: .seconds(1)) }
    await expectError(.invalidTime) { _ = try await player.times(forInterval: .zero) }
    #expect(await elements(player.changes(of: \.rate)).count == 1)
  }

  @Test func itemsReportTheirStatusBeforeTheyAreCurrent() async throws {
    let test = try await PlaybackEngine.virtual()
    let good = try item()
    let bad = PlayerItem(path: files.file("missing.wav"))
    let changes = (good.changes(of: \.status), bad.changes(of: \.status), good.changes(of: \.duration))
    let player = try await QueuePlayer(engine: test.engine, items: [good, bad])
    await test.clock.settle()
    await player.close()
    var statuses: [[PropertyChange<ItemStatus>]] = []
    for stream in [changes.0, changes.1] {
      var iterator = stream.makeAsyncIterator()
      statuses.append([try #require(await iterator.next()), try #require(await iterator.next())])
    }
    #expect(
      statuses[0] == [
        .init(old: nil, new: .unknown, cause: nil), .init(old: .unknown, new: .readyToPlay, cause: .itemLoaded),
      ])
    #expect(statuses[1][1].new.error?.code == .fileNotFound && statuses[1][1].cause == .itemFailed)
    var durations = changes.2.makeAsyncIterator()
    #expect(await durations.next()?.new == .indefinite)
    #expect(await durations.next()?.new == .seconds(1))
  }

  @Test func sequenceOfAReleasedItemEnds() async throws {
    var released: PlayerItem? = try item()
    let stream = try #require(released).changes(of: \.status)
    released = nil
    #expect(await elements(stream).map(\.new) == [.unknown])
  }

  /// The handlers run on the main actor, in order, and may block.
  @Test func handlersRunOnTheMainActorInOrder() async throws {
    let test = try await PlaybackEngine.virtual()
    let player = try await Player(engine: test.engine, playerItem: item())
    let times = Mutex<[MediaTime]>([])
    let observation = try await player.times(forInterval: .milliseconds(10)).observe(onMainActor: { observation in
      MainActor.assertIsolated()
      times.withLock { $0.append(observation.time) }
    })
    await player.play()
    try await test.clock.advance(by: .milliseconds(1_000))
    await player.close()
    await observation.finish()
    let seen = times.withLock { $0 }
    #expect(seen.count >= 100 && seen == seen.sorted())
  }

  private final class CountingExecutor: TaskExecutor {
    let jobCount = Mutex(0)
    func enqueue(_ job: consuming ExecutorJob) {
      jobCount.withLock { $0 += 1 }
      let job = UnownedJob(job)
      globalConcurrentExecutor.enqueue(job)
    }
  }

  @Test func handlersRunOnTheChosenExecutorUntilCancelled() async throws {
    let test = try await PlaybackEngine.virtual()
    let player = try await Player(engine: test.engine, playerItem: item())
    let executor = CountingExecutor()
    let count = Mutex(0)
    let (calls, call) = AsyncStream.makeStream(of: Void.self)
    let observation = await player.changes(of: \.rate).observe(on: executor) { _ in
      count.withLock { $0 += 1 }
      call.yield()
    }
    var iterator = calls.makeAsyncIterator()
    _ = await iterator.next()
    #expect(executor.jobCount.withLock { $0 } > 0)
    observation.cancel()
    await observation.finish()
    await player.play()
    try await test.clock.advance(by: .milliseconds(100))
    #expect(count.withLock { $0 } == 1)
  }
}
