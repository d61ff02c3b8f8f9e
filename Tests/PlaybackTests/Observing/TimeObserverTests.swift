import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// The calls of a player's time observers, on virtual time, with real files.
@Suite struct TimeObserverTests {
  /// Records the calls of an observer, one line each.
  private final class CallLog: Sendable {
    private let state = Mutex<[String]>([])
    var lines: [String] { state.withLock { $0 } }

    func add(_ line: String) { state.withLock { $0.append(line) } }

    func end() { state.withLock { $0.append("ended") } }

    func add(_ observation: TimeObservation) {
      let direction = observation.reason == .skipped ? observation.isBackward ? "-" : "+" : ""
      let rate = observation.rate == 0 ? " still" : ""
      let late = observation.lateNanoseconds == 0 ? "" : " late \(observation.lateNanoseconds)"
      state.withLock {
        $0.append(
          "\(observation.reason) \(observation.itemID) \(observation.time.decimalDescription)\(direction)\(rate)\(late)"
        )
      }
    }

    /// The lines since the last call.
    func take() -> [String] {
      state.withLock { lines in
        defer { lines = [] }
        return lines
      }
    }
  }

  private static func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value, preferredTimescale: 1_000) }

  private struct Observed {
    var rig: Rig
    var ticks = CallLog()
    var cues = CallLog()

    func seek(_ time: Double) async throws {
      let time = TimeObserverTests.seconds(time)
      try await rig.run { try $0.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
      await rig.settle()
    }
  }

  /// Creates a player with ready items of these durations in milliseconds, ticks every `interval` and cues at `times`.
  private func observed(
    _ lengths: [Int], interval: MediaTime = seconds(0.1), times: [Double] = [], itemID: PlayerItem.ID? = nil,
    action: ActionAtItemEnd = .advance
  ) async throws -> Observed {
    let observed = Observed(rig: try await Rig())
    let items = try lengths.enumerated().map { try observed.rig.wav(file: $0 + 1, frames: $1 * 48) }
    try await observed.rig.run { player in
      try player.append(items)
      try player.setActionAtItemEnd(action)
      let (ticks, cues) = (observed.ticks, observed.cues)
      _ = try player.addPeriodicTimeObserver(forInterval: interval, onEnd: { ticks.end() }, using: { ticks.add($0) })
      guard !times.isEmpty else { return }
      _ = try player.addBoundaryTimeObserver(
        forTimes: times.map(Self.seconds), itemID: itemID, includesSeeks: true, onEnd: { cues.end() },
        using: { cues.add($0) })
    }
    await observed.rig.settle()
    return observed
  }

  // MARK: - Starts and stops

  @Test func endOfTheQueueReportsAStop() async throws {
    let observed = try await observed([150, 100])
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 500)
    #expect(
      observed.ticks.lines == [
        "start 1 0", "periodic 1 0.1", "periodic 2 0", "periodic 2 0.1", "stop 2 0.1 still",
      ])
  }

  @Test func pauseAtItemEndReportsAStopAndPlayReportsNoStart() async throws {
    let observed = try await observed([150], times: [0.15], action: .pause)
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 300)
    #expect(observed.ticks.take() == ["start 1 0", "periodic 1 0.1", "stop 1 0.15 still"])
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 300)
    #expect(observed.ticks.take().isEmpty)
    #expect(observed.cues.take() == ["crossed 1 0.15"])
    let state = await observed.rig.run { $0.state }
    #expect(state.timeControlStatus == .paused)
  }

  @Test func removedItemReportsAStopAndTheNextAStart() async throws {
    let observed = try await observed([1_000, 1_000], times: [0])
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 250)
    await observed.rig.run { $0.advanceToNextItem() }
    await observed.rig.advance(milliseconds: 50)
    await observed.rig.run { $0.removeAllItems() }
    await observed.rig.advance(milliseconds: 50)
    #expect(
      observed.ticks.lines == [
        "start 1 0", "periodic 1 0.1", "periodic 1 0.2", "stop 1 0.25 still", "start 2 0", "stop 2 0.05 still",
      ])
    #expect(observed.cues.lines == ["crossed 1 0", "crossed 2 0"])
  }

  @Test func pauseAtAMultipleReportsItOnce() async throws {
    let observed = try await observed([1_000], times: [0.2])
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 200)
    for _ in 0..<3 {
      await observed.rig.run { $0.pause() }
      await observed.rig.advance(milliseconds: 10)
      await observed.rig.run { $0.play() }
      await observed.rig.settle()
    }
    await observed.rig.advance(milliseconds: 100)
    var expected = ["start 1 0", "periodic 1 0.1", "periodic 1 0.2"]
    for _ in 0..<3 { expected += ["stop 1 0.2 still", "start 1 0.2"] }
    #expect(observed.ticks.lines == expected + ["periodic 1 0.3"])
    #expect(observed.cues.lines == ["crossed 1 0.2"])
  }

  @Test func pauseAndImmediatePlayAreInaudibleAndReportNothing() async throws {
    let observed = try await observed([1_000])
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 150)
    await observed.rig.run { player in
      player.pause()
      player.play()
    }
    await observed.rig.advance(milliseconds: 100)
    #expect(observed.ticks.lines == ["start 1 0", "periodic 1 0.1", "periodic 1 0.2"])
    #expect(observed.rig.heard.runs.map(\.count) == [12_000])
  }

  @Test func jumpWhilePlayingReportsNeitherStartNorStop() async throws {
    let observed = try await observed([1_000])
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 120)
    try await observed.seek(0.5)
    await observed.rig.advance(milliseconds: 100)
    await observed.rig.run { $0.pause() }
    try await observed.seek(0.7)
    #expect(
      observed.ticks.lines == [
        "start 1 0", "periodic 1 0.1", "jump 1 0.5", "periodic 1 0.6", "stop 1 0.6 still", "jump 1 0.7 still",
      ])
  }

  // MARK: - Intervals

  @Test func intervalLongerThanTheItemReportsItsBeginning() async throws {
    let observed = try await observed([100, 100], interval: Self.seconds(60))
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 500)
    #expect(observed.ticks.lines == ["start 1 0", "periodic 2 0", "stop 2 0.1 still"])
  }

  @Test func intervalOfAVideoFrameStaysExact() async throws {
    let interval = MediaTime(value: 1_001, timescale: 30_000)
    let observed = try await observed([1_001], interval: interval)
    let exact = Mutex<[MediaTime]>([])
    try await observed.rig.run { player in
      _ = try player.addPeriodicTimeObserver(forInterval: interval) { observation in
        if observation.reason == .periodic { exact.withLock { $0.append(observation.time) } }
        #expect(observation.lateNanoseconds == 0)
      }
      player.play()
    }
    await observed.rig.advance(milliseconds: 2_000)
    #expect(exact.withLock { $0 } == (1...30).map { MediaTime(value: 1_001 * $0, timescale: 30_000) })
  }

  // MARK: - Boundaries

  @Test func boundariesAtTheBeginningAndTheDurationAreCrossed() async throws {
    for (name, codec) in [("a.flac", "flac"), ("a.mp3", "libmp3lame"), ("a.opus", "libopus"), ("a.ogg", "libvorbis")] {
      let rig = try await Rig()
      let path = rig.files.file(name)
      try Fixtures.ffmpeg([
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=sample_rate=44100:duration=0.5", "-c:a", codec, path,
      ])
      let item = rig.item(path)
      try await rig.run { try $0.append([item]) }
      await rig.settle()
      let (calls, duration) = (CallLog(), item.duration)
      try await rig.run { player in
        _ = try player.addBoundaryTimeObserver(forTimes: [.zero, duration, duration + Self.seconds(0.001)]) {
          calls.add($0)
        }
        player.play()
      }
      await rig.advance(milliseconds: 2_000)
      #expect(calls.lines == ["crossed 1 0", "crossed 1 \(duration.decimalDescription)"], "\(name)")
    }
  }

  @Test func boundaryAfterTheDurationIsReachedWithActionNone() async throws {
    let observed = try await observed([100], times: [0.1, 0.3], action: .none)
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 400)
    #expect(observed.cues.lines == ["crossed 1 0.1", "crossed 1 0.3"])
  }

  @Test func seeksSkipBoundariesAndPlaybackCrossesThem() async throws {
    let observed = try await observed([1_000], times: [0, 0.2, 0.4, 0.6, 1])
    try await observed.seek(0.3)
    #expect(observed.cues.take() == ["skipped 1 0+ still", "skipped 1 0.2+ still"])
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 100)
    #expect(observed.cues.take() == ["crossed 1 0.4"], "its sample is about to be heard")
    try await observed.seek(0.6)
    await observed.rig.advance(milliseconds: 50)
    #expect(observed.cues.take() == ["crossed 1 0.6"])
    try await observed.seek(0.4)
    #expect(observed.cues.take() == ["skipped 1 0.6-", "skipped 1 0.4-", "crossed 1 0.4"])
    try await observed.seek(1)
    await observed.rig.advance(milliseconds: 50)
    #expect(observed.cues.take() == ["skipped 1 0.6+", "crossed 1 1"])
  }

  @Test func supersededSeeksSkipNoBoundaries() async throws {
    let observed = try await observed([1_000], times: [0.1, 0.5])
    let times = [0.9, 0.05, 0.8].map(Self.seconds)
    try await observed.rig.run { player in
      for time in times { try player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    }
    await observed.rig.settle()
    #expect(observed.cues.lines == ["skipped 1 0.1+ still", "skipped 1 0.5+ still"])
  }

  @Test(
    "statement 23: boundaries between the old and the new position of a seek do not fire, and each traversal fires once"
  )
  func seeksDoNotFireBoundariesByDefault() async throws {
    let observed = try await observed([1_000])
    let cues = CallLog()
    try await observed.rig.run { player in
      _ = try player.addBoundaryTimeObserver(forTimes: [Self.seconds(0.2), Self.seconds(0.6)]) { cues.add($0) }
      player.play()
    }
    await observed.rig.advance(milliseconds: 100)
    try await observed.seek(0.5)
    await observed.rig.advance(milliseconds: 200)
    try await observed.seek(0.1)
    await observed.rig.advance(milliseconds: 150)
    #expect(cues.lines == ["crossed 1 0.6", "crossed 1 0.2"])
  }

  /// The real player, decode thread and mixer, with random operations.
  @Test(arguments: 1...6) func crossingsAlternateInDirectionUnderRandomOperations(seed: Int) async throws {
    let observed = try await observed([2_000], times: [0, 0.3, 0.7, 1.1, 1.999, 2], action: .pause)
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
    func random(_ count: UInt64) -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (state >> 33) % count
    }
    for _ in 0..<60 {
      switch random(5) {
      case 0: await observed.rig.run { $0.pause() }
      case 1, 2: await observed.rig.run { $0.play() }
      default: try await observed.seek(Double(random(21)) / 10)
      }
      if random(3) > 0 { await observed.rig.advance(milliseconds: Int64(random(400))) }
    }
    let script = "\(observed.cues.lines) \(observed.ticks.lines)"
    var isPassed: [String: Bool] = [:]
    for line in observed.cues.lines {
      let words = line.split(separator: " ")
      let isForward = !words[2].hasSuffix("-")
      let time = words[2].filter { $0 != "-" && $0 != "+" }
      #expect(isPassed[time] ?? false != isForward, "seed \(seed): \(line) in \(script)")
      isPassed[time] = isForward
      #expect(!line.contains("late"))
    }
    #expect(isPassed.count == 6)
    let edges = observed.ticks.lines.filter { $0.hasPrefix("start") || $0.hasPrefix("stop") }.map { $0.prefix(4) }
    #expect(zip(edges, edges.dropFirst()).allSatisfy { $0 != $1 }, "seed \(seed): \(script)")
  }

  @Test func lastTickAfterASeekToTheEndIsTheEnd() async throws {
    let observed = try await observed([600], action: .pause)
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 220)
    _ = observed.ticks.take()
    try await observed.seek(0.6)
    await observed.rig.advance(milliseconds: 300)
    #expect(observed.ticks.take() == ["jump 1 0.6", "stop 1 0.6 still"])
    #expect(await observed.rig.run { $0.currentTime() } == Self.seconds(0.6))
  }

  // MARK: - Ends of observers

  /// `Int(time.seconds)`, as in many tutorials, would trap for a time that is not numeric.
  @Test func releasedPlayerEndsItsObserversWithoutCallingThem() async throws {
    let rig = try await Rig()
    let (ticks, cues) = (CallLog(), CallLog())
    do {
      let player = Player(engine: rig.engine)
      _ = try await player.addPeriodicTimeObserver(
        forInterval: Self.seconds(1), onEnd: { ticks.end() }, using: { ticks.add($0) })
      _ = try await player.addBoundaryTimeObserver(
        forTimes: [.zero], onEnd: { cues.end() }, using: { cues.add($0) })
    }
    await rig.settle()
    #expect(ticks.take() == ["ended"] && cues.take() == ["ended"])
  }

  @Test func observerOfAnItemEndsWhenTheItemLeavesTheQueue() async throws {
    let observed = try await observed([100, 100, 1_000], times: [0.1], itemID: 1)
    let (second, third) = (CallLog(), CallLog())
    let token = Mutex<ObserverToken>(0)
    try await observed.rig.run { player in
      let added = try player.addBoundaryTimeObserver(
        forTimes: [.zero], itemID: 2, onEnd: { second.end() }, using: { second.add($0) })
      token.withLock { $0 = added }
      _ = try player.addBoundaryTimeObserver(
        forTimes: [.zero], itemID: 3, onEnd: { third.end() }, using: { third.add($0) })
      try player.remove([2])
    }
    #expect(second.take() == ["ended"])
    await expectError(.noSuchObserver) {
      try await observed.rig.run { try $0.removeTimeObserver(token.withLock { $0 }) }
    }
    await observed.rig.run { $0.play() }
    await observed.rig.advance(milliseconds: 300)
    #expect(observed.cues.lines == ["crossed 1 0.1", "ended"])
    #expect(third.take() == ["crossed 3 0"])
    _ = observed.ticks.take()
    await observed.rig.run { $0.close() }
    #expect(third.take() == ["ended"])
    #expect(observed.ticks.take() == ["stop 3 0.2 still", "ended"])
    await expectError(.invalidState) {
      try await observed.rig.run { _ = try $0.addPeriodicTimeObserver(forInterval: Self.seconds(1)) { _ in } }
    }
    await expectError(.invalidState) {
      try await observed.rig.run { _ = try $0.addBoundaryTimeObserver(forTimes: [.zero]) { _ in } }
    }
  }

  // MARK: - Handlers that call back

  @Test func handlerMayAddAndRemoveObservers() async throws {
    let observed = try await observed([1_000])
    let (player, added) = (observed.rig.player, CallLog())
    try await observed.rig.run { isolated in
      _ = try isolated.addBoundaryTimeObserver(forTimes: [Self.seconds(0.2)]) { _ in
        player.assumeIsolated { player in
          let tokens = Mutex<[ObserverToken]>([])
          for time in [0.1, 0.2, 0.3, 0.4] {
            let token = try? player.addBoundaryTimeObserver(forTimes: [Self.seconds(time)]) { observation in
              added.add(observation)
              player.assumeIsolated { player in
                for token in tokens.withLock({ $0 }) { try? player.removeTimeObserver(token) }
              }
            }
            if let token { tokens.withLock { $0.append(token) } }
          }
        }
      }
      isolated.play()
    }
    await observed.rig.advance(milliseconds: 600)
    #expect(added.lines == ["crossed 1 0.3"], "times already reached are not reported, and the first call removes all")
  }

  @Test(.timeLimit(.minutes(1))) func repeatedPlayAtTheEndBlocksNothing() async throws {
    let observed = try await observed([100], times: [0.1], action: .pause)
    let player = observed.rig.player
    let count = Mutex(0)
    await observed.rig.run { isolated in
      _ = isolated.addStateObserver { change in
        guard change.old.rate != 0, change.new.rate == 0 else { return }
        count.withLock { $0 += 1 }
        player.assumeIsolated { $0.play() }
      }
      isolated.play()
    }
    await observed.rig.advance(milliseconds: 1_100)
    #expect(count.withLock { $0 } <= 110)
    #expect(observed.cues.lines == ["crossed 1 0.1"])
    #expect(observed.ticks.lines == ["start 1 0", "periodic 1 0.1", "stop 1 0.1 still"])
  }

  // MARK: - Outputs

  @Test func lostOutputReportsAStopAndTheNextOutputAStart() async throws {
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "lost"))
    let files = try TemporaryDirectory()
    let path = files.file("code.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000, sampleRateHz: 48_000)
    // The second device has another sample rate.
    let sinks = SinkSequence(
      [(48_000, BreakingWriter(afterFrames: 12_000)), (44_100, nil)].map { rate, writer in
        VirtualSink(
          format: AudioFormat(sampleRateHz: rate, channelCount: 2), lookAheadFrames: 4_800, writer: writer,
          now: { [unowned loop] in loop.now })
      })
    let (ticks, cues) = (CallLog(), CallLog())
    let changes = CallLog()
    let (opened, openings) = AsyncStream.makeStream(of: Void.self)
    let engine = PlaybackEngine(loop: loop, output: sinks.configuration)
    let player: QueuePlayer = try await withCheckedThrowingContinuation { continuation in
      loop.execute {
        _ = engine.core.addOutputObserver { state in
          guard state.status == .ready, let sink = sinks.latest else { return }
          loop.attach(sink)
          openings.yield()
        }
        engine.open()
        let player = QueuePlayer(engine: engine)
        continuation.resume(
          with: Result {
            try player.assumeIsolated { player in
              try player.append([PlayerItem(asset: Asset(path: path), id: 1)])
              _ = try player.addPeriodicTimeObserver(forInterval: Self.seconds(0.05)) { ticks.add($0) }
              _ = try player.addBoundaryTimeObserver(
                forTimes: (0...100).map { MediaTime(value: $0, timescale: 100) }, includesSeeks: true
              ) { cues.add($0) }
              _ = player.addStateObserver { change in
                let (old, new) = (change.old, change.new)
                if old.timeControlStatus == new.timeControlStatus { return }
                let reason = new.reasonForWaitingToPlay?.rawValue ?? "-"
                changes.add("\(new.timeControlStatus) \(reason) by \(change.cause)")
              }
              player.play()
            }
            return player
          })
      }
    }
    var nextOpening = opened.makeAsyncIterator()
    for milliseconds: Int64 in [300, 2_700] {
      await nextOpening.next()
      await loop.advance(byNanoseconds: milliseconds * 1_000_000)
    }
    let edges = ticks.lines.filter { !$0.hasPrefix("periodic") }.map { String($0.split(separator: " ")[0]) }
    #expect(edges == ["start", "stop", "start", "stop"])
    #expect(ticks.lines.count { $0.hasPrefix("periodic") } == 20, "\(ticks.lines)")
    let expected: [String] = (Int64(0)...100).map { hundredth in
      "crossed 1 \(MediaTime(value: hundredth, timescale: 100).decimalDescription)"
    }
    let heard = cues.lines.map { $0.components(separatedBy: " late")[0] }
    #expect(heard == expected)
    #expect(
      changes.lines == [
        "waiting outputUnavailable by request", "playing - by buffered", "waiting outputUnavailable by output",
        "playing - by buffered", "waiting noItemToPlay by itemEnded",
      ])
    await player.close()
    await withCheckedContinuation { continuation in loop.execute { engine.close { continuation.resume() } } }
  }

  // MARK: - Invalid arguments

  @Test func invalidTimesAndItemsAreErrors() async throws {
    let observed = try await observed([100])
    for interval in [MediaTime.zero, Self.seconds(-1), .invalid, .indefinite, MediaTime(value: 1, timescale: 1_001)] {
      await expectError(.invalidTime) {
        try await observed.rig.run { _ = try $0.addPeriodicTimeObserver(forInterval: interval) { _ in } }
      }
    }
    for (times, itemID, code) in [
      ([.zero, .indefinite], nil, MediaError.Code.invalidTime), ([.zero], 9, .noSuchItem),
    ] as [([MediaTime], PlayerItem.ID?, MediaError.Code)] {
      await expectError(code) {
        try await observed.rig.run { player in
          _ = try player.addBoundaryTimeObserver(forTimes: times, itemID: itemID, includesSeeks: true) { _ in }
        }
      }
    }
  }
}
