import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayerModel

/// Players that start at the same output frame, and players that start at an instant.
@Suite struct StartTogetherTests {
  /// Players on a rig's output, each with a separate time-coded file.
  struct Group {
    let rig: Rig
    let players: [QueuePlayer]

    init(_ count: Int, frames: Int = 480_000) async throws {
      rig = try await Rig()
      var players = [rig.player]
      for number in 1..<count { players.append(QueuePlayer(engine: rig.engine, name: "\(number)")) }
      self.players = players
      for (number, player) in players.enumerated() {
        let item = try rig.wav(file: number + 1, frames: frames)
        try await player.append([item])
      }
      await rig.settle()
    }

    /// Requests a start and waits for its result.
    func start(_ moment: StartMoment, of players: [QueuePlayer]? = nil) async throws -> StartResult {
      let startResult = StartResult()
      let (engine, players) = (rig.engine, players ?? self.players)
      try await rig.run { _ in
        try engine.core.start(players, at: moment) { result in startResult.value.withLock { $0 = result } }
      }
      return startResult
    }

    func now() async -> HostTime { await rig.run { [rig] _ in rig.loop.now } }
  }

  final class StartResult: Sendable {
    let value = Mutex<Result<SynchronizedStart, MediaError>?>(nil)

    func start() throws -> SynchronizedStart {
      let result = value.withLock { $0 }
      return try #require(result, "the start has not completed").get()
    }

    var error: MediaError? { value.withLock { if case .failure(let error)? = $0 { error } else { nil } } }
  }

  /// The first output frame that is not silent.
  private func firstFrame(_ rig: Rig) throws -> Int {
    try #require(rig.heard.all.firstIndex { $0.left != 0 || $0.right != 0 })
  }

  /// The sum of several time-coded files from their first frames.
  private func sum(of files: [Int], frames: Int) -> [StereoFrame] {
    (0..<frames).map { index in
      files.reduce(into: StereoFrame(left: 0, right: 0)) { sum, file in
        let frame = TimeCode.frame(file: file, index: index)
        sum.left = Int16(clamping: Int(sum.left) + Int(frame.left))
        sum.right = Int16(clamping: Int(sum.right) + Int(frame.right))
      }
    }
  }

  @Test func playersStartOnOneSampleWhenAllAreReady() async throws {
    let group = try await Group(3)
    let startResult = try await group.start(.whenReady)
    await group.rig.advance(milliseconds: 500)
    let start = try startResult.start()
    #expect(start.spreadFrameCount == 0 && start.lateFrameCount == 0)
    let first = try firstFrame(group.rig)
    #expect(first == Int(start.outputFrame))
    #expect(Array(group.rig.heard.all[first..<first + 12_000]) == sum(of: [1, 2, 3], frames: 12_000))
  }

  @Test func playersStartAfterTheRequestedDelay() async throws {
    let group = try await Group(3)
    let called = await group.now()
    let startResult = try await group.start(.after(MediaTime(value: 1, timescale: 4)))
    await group.rig.advance(milliseconds: 100)
    let states = await group.players[1].state
    #expect(states.rate == 1 && states.timeControlStatus == .waiting)
    #expect(states.reasonForWaitingToPlay == .startTimeNotReached)
    #expect(group.rig.heard.all.allSatisfy { $0.left == 0 && $0.right == 0 })
    await group.rig.advance(milliseconds: 400)
    let start = try startResult.start()
    #expect(start.hostTime == called.advanced(byNanoseconds: 250_000_000))
    #expect(start.outputFrame == 12_000 && start.spreadFrameCount == 0 && start.lateFrameCount == 0)
    #expect(try firstFrame(group.rig) == 12_000)
    #expect(Array(group.rig.heard.all[12_000..<24_000]) == sum(of: [1, 2, 3], frames: 12_000))
    let playing = await group.players[1].state
    #expect(playing.timeControlStatus == .playing && playing.reasonForWaitingToPlay == nil)
  }

  @Test func playersStartAtAHostTimeOrAnOutputFrame() async throws {
    let group = try await Group(2)
    let now = await group.now()
    let first = try await group.start(
      .hostTime(now.advanced(byNanoseconds: 100_000_000)), of: [group.players[0]])
    await group.rig.advance(milliseconds: 50)
    let second = try await group.start(.outputFrame(9_600), of: [group.players[1]])
    await group.rig.advance(milliseconds: 450)
    #expect(try first.start().outputFrame == 4_800)
    #expect(try second.start().outputFrame == 9_600)
    let heard = group.rig.heard.all
    #expect(heard[4_799] == StereoFrame(left: 0, right: 0) && heard[4_800] == TimeCode.frame(file: 1, index: 0))
    #expect(heard[9_599] == TimeCode.frame(file: 1, index: 4_799))
    #expect(heard[9_600] != TimeCode.frame(file: 1, index: 4_800))
  }

  @Test func playingPlayerLosesNoSampleWhenOthersStart() async throws {
    let group = try await Group(3)
    await group.players[0].play()
    await group.rig.advance(milliseconds: 300)
    let startResult = try await group.start(
      .after(MediaTime(value: 1, timescale: 10)), of: [group.players[1], group.players[2]])
    await group.rig.advance(milliseconds: 500)
    let frame = Int(try startResult.start().outputFrame)
    let heard = group.rig.heard.all
    let begin = try firstFrame(group.rig)
    for index in stride(from: begin, to: frame, by: 1) {
      #expect(heard[index] == TimeCode.frame(file: 1, index: index - begin))
      if heard[index] != TimeCode.frame(file: 1, index: index - begin) { break }
    }
    let beforehand = TimeCode.frame(file: 1, index: frame - begin)
    let joined = sum(of: [2, 3], frames: 1)[0]
    #expect(Int(heard[frame].left) == Int(beforehand.left) + Int(joined.left))
  }

  @Test func playerWithAnotherCommandLeavesTheGroupStart() async throws {
    let group = try await Group(3)
    let startResult = try await group.start(.after(MediaTime(value: 1, timescale: 5)))
    await group.rig.advance(milliseconds: 50)
    await group.players[0].pause()
    await group.players[1].play()
    await group.rig.advance(milliseconds: 300)
    #expect(try startResult.start().outputFrame == 9_600)
    let states = (await group.players[0].state, await group.players[1].state, await group.players[2].state)
    #expect(states.0.timeControlStatus == .paused && states.2.timeControlStatus == .playing)
    let heard = group.rig.heard.all
    #expect(try firstFrame(group.rig) == 2_400)
    #expect(heard[2_400] == TimeCode.frame(file: 2, index: 0))
    let time = await group.players[0].currentTime()
    #expect(time == .zero)
    // The last player that leaves ends the request.
    let second = try await group.start(.after(MediaTime(value: 1, timescale: 5)), of: [group.players[0]])
    await group.rig.advance(milliseconds: 50)
    await group.players[0].pause()
    await group.rig.settle()
    #expect(second.error?.code == .waitEnded)
  }

  @Test func invalidMemberOrMomentStartsNoPlayer() async throws {
    let group = try await Group(2)
    let engine = group.rig.engine
    let missing = QueuePlayer(engine: engine, name: "missing")
    try await missing.append([group.rig.item("/nowhere/at/all.wav")])
    let empty = QueuePlayer(engine: engine, name: "empty")
    let closed = QueuePlayer(engine: engine, name: "closed")
    await closed.close()
    func code(_ players: [QueuePlayer], _ moment: StartMoment = .whenReady) async -> MediaError.Code? {
      do {
        _ = try await group.start(moment, of: players)
        return nil
      } catch { return (error as? MediaError)?.code }
    }
    let (first, second) = (group.players[0], group.players[1])
    #expect(await code([]) == .invalidArgument)
    #expect(await code([first, second, first]) == .invalidArgument)
    #expect(await code([first, empty]) == .noCurrentItem)
    #expect(await code([first, closed]) == .invalidState)
    #expect(await code([first], .hostTime(HostTime(nanoseconds: -5))) == .invalidTime)
    #expect(await code([first], .after(MediaTime(value: -1, timescale: 1))) == .invalidTime)
    #expect(await code([first], .after(MediaTime(value: 100_000, timescale: 1))) == .invalidTime)
    #expect(await code([first], .after(.indefinite)) == .invalidTime)
    #expect(await code([first], .outputFrame(-1)) == .invalidTime)
    #expect(await code([first], .outputFrame(.max)) == .invalidTime)
    await second.play()
    #expect(await code([first, second]) == .invalidState)
    await second.pause()
    // The error is known only later.
    await group.rig.settle()
    let late = QueuePlayer(engine: engine, name: "late")
    try await late.append([group.rig.item("/nowhere/either.wav")])
    do {
      let startResult = try await group.start(.after(MediaTime(value: 1, timescale: 10)), of: [first, late])
      await group.rig.advance(milliseconds: 300)
      #expect(startResult.error?.code == .fileNotFound)
    } catch { #expect((error as? MediaError)?.code == .fileNotFound) }
    let state = await first.state
    #expect(state.rate == 0 && state.timeControlStatus == .paused)
    #expect(await first.currentTime() == .zero)
  }

  @Test func completionMayCallThePlayer() async throws {
    let group = try await Group(1)
    let player = group.players[0]
    let codes = Mutex<[MediaError.Code]>([])
    try await group.rig.run { [engine = group.rig.engine] player in
      try engine.core.start([player], at: .after(MediaTime(value: 1, timescale: 4))) { result in
        if case .failure(let error) = result { codes.withLock { $0.append(error.code) } }
        player.assumeIsolated { $0.play() }
      }
      player.pause()
      #expect(codes.withLock { $0 } == [], "not within the call")
    }
    await group.rig.advance(milliseconds: 100)
    #expect(codes.withLock { $0 } == [.waitEnded])
    #expect(await player.state.rate == 1)
    #expect(await player.currentTime() == seconds(1, 10))
  }

  @Test func fullMixerStartsNoPlayerOfTheGroup() async throws {
    let group = try await Group(1)
    let engine = group.rig.engine
    let others = (1..<64).map { QueuePlayer(engine: engine, name: "\($0)") }
    await group.rig.settle()
    let late = QueuePlayer(engine: engine, name: "late")
    try await late.append([try group.rig.wav(file: 2, frames: 48_000)])
    await group.rig.settle()
    let startResult = try await group.start(.whenReady, of: [group.players[0], late])
    await group.rig.advance(milliseconds: 100)
    #expect(startResult.error?.code == .outputUnavailable)
    #expect(await group.players[0].state.rate == 0)
    withExtendedLifetime(others) {}
  }

  @Test func startFrameOfALostDeviceStartsNoPlayerOnTheNext() async throws {
    let loop = VirtualControlLoop(base: ThreadControlLoop(name: "lost"))
    let files = try TemporaryDirectory()
    let heard = HeardSamples()
    let writers: [any SampleWriter] = [BreakingWriter(afterFrames: 12_000), heard]
    let sinks = SinkSequence(
      writers.map {
        VirtualSink(
          format: Rig.format, lookAheadFrames: 4_800, writer: $0, now: { [unowned loop] in loop.now })
      })
    let engine = PlaybackEngine(loop: loop, output: sinks.configuration)
    await withCheckedContinuation { continuation in
      loop.execute {
        _ = engine.core.addOutputObserver { state in
          if state.status == .ready, let sink = sinks.latest { loop.attach(sink) }
        }
        engine.open()
        continuation.resume()
      }
    }
    let players = (1...2).map { QueuePlayer(engine: engine, name: "\($0)") }
    for (number, player) in players.enumerated() {
      let path = files.file("\(number).wav")
      try TimeCode.writeWAV(path: path, file: number + 1, frameCount: 96_000, sampleRateHz: 48_000)
      try await player.append([PlayerItem(asset: Asset(path: path))])
    }
    await loop.advance(byNanoseconds: 0)
    let startResult = StartResult()
    func start(_ player: isolated QueuePlayer) throws {
      player.play()
      try engine.core.start([players[1]], at: .outputFrame(24_000)) { result in
        startResult.value.withLock { $0 = result }
      }
    }
    try await start(players[0])
    await loop.advance(byNanoseconds: 1_000_000_000)
    #expect(startResult.error?.code == .outputLost)
    let state = await players[1].state
    #expect(state.rate == 0 && state.timeControlStatus == .paused)
    #expect(await players[1].currentTime() == .zero)
    // The player that does not belong to the group continues.
    #expect(await players[0].state.timeControlStatus == .playing)
    #expect(heard.runs.map(\.file) == [1])
    for player in players { await player.close() }
    await withCheckedContinuation { continuation in loop.execute { engine.close { continuation.resume() } } }
  }

  // MARK: - setRate(_:time:atHostTime:)

  private func seconds(_ value: Int64, _ scale: Int32) -> MediaTime { MediaTime(value: value, timescale: scale) }

  @Test func statement15_futureHostTimeKeepsTheItemTimeUntilThen() async throws {
    let group = try await Group(1)
    let player = group.players[0]
    await player.setAutomaticallyWaitsToMinimizeStalling(false)
    await player.play()
    await group.rig.advance(milliseconds: 500)
    let instant = await group.now().advanced(byNanoseconds: 300_000_000)
    try await group.rig.run { try $0.setRate(1, time: MediaTime(value: 2, timescale: 1), atHostTime: instant) }
    await group.rig.advance(milliseconds: 200)
    #expect(await player.currentTime() == seconds(2, 1))
    let state = await player.state
    #expect(state.rate == 1 && state.reasonForWaitingToPlay == .startTimeNotReached)
    await group.rig.advance(milliseconds: 99)
    #expect(await player.currentTime() == seconds(2, 1))
    await group.rig.advance(milliseconds: 101)
    #expect(await player.currentTime() == seconds(21, 10))
    // The sample at 2 s is heard exactly at the instant: 0.8 s after the beginning.
    let heard = group.rig.heard.all
    #expect(heard[38_399] == StereoFrame(left: 0, right: 0))
    #expect(heard[38_400] == TimeCode.frame(file: 1, index: 96_000))
  }

  @Test func statement15_pastHostTimeStartsAsIfPlayingSinceThen() async throws {
    let group = try await Group(1)
    await group.players[0].setAutomaticallyWaitsToMinimizeStalling(false)
    await group.rig.advance(milliseconds: 1_000)
    let instant = await group.now().advanced(byNanoseconds: -400_000_000)
    try await group.rig.run { try $0.setRate(1, time: MediaTime(value: 3, timescale: 1), atHostTime: instant) }
    await group.rig.advance(milliseconds: 600)
    // A second after the instant.
    #expect(await group.players[0].currentTime() == seconds(4, 1))
  }

  @Test func setRateWithoutTimesStartsAtTheCurrentPosition() async throws {
    let group = try await Group(1)
    let player = group.players[0]
    await player.setAutomaticallyWaitsToMinimizeStalling(false)
    try await group.rig.run { player in
      try player.seek(to: MediaTime(value: 1, timescale: 1), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
    }
    await group.rig.settle()
    try await group.rig.run { try $0.setRate(1, time: nil, atHostTime: nil) }
    await group.rig.advance(milliseconds: 100)
    #expect(await player.currentTime() == seconds(11, 10))
    // Rate 0 pauses and seeks.
    try await group.rig.run { try $0.setRate(0, time: MediaTime(value: 5, timescale: 1), atHostTime: nil) }
    await group.rig.settle()
    #expect(await player.currentTime() == seconds(5, 1))
    #expect(await player.state.rate == 0)
  }

  @Test func statement15_automaticWaitingAndInvalidArgumentsAreErrors() async throws {
    let group = try await Group(1)
    let empty = QueuePlayer(engine: group.rig.engine, name: "empty")
    func code(_ body: @Sendable (isolated QueuePlayer) throws -> Void, _ player: QueuePlayer) async -> MediaError.Code?
    {
      do {
        try await body(player)
        return nil
      } catch { return (error as? MediaError)?.code }
    }
    let player = group.players[0]
    #expect(await code({ try $0.setRate(1, time: nil, atHostTime: nil) }, player) == .invalidState)
    await player.setAutomaticallyWaitsToMinimizeStalling(false)
    await empty.setAutomaticallyWaitsToMinimizeStalling(false)
    let far = await group.now().advanced(byNanoseconds: 200_000_000_000_000)
    #expect(await code({ try $0.setRate(.nan, time: nil, atHostTime: nil) }, player) == .unsupportedRate)
    #expect(await code({ try $0.setRate(1, time: .indefinite, atHostTime: nil) }, player) == .invalidTime)
    #expect(await code({ try $0.setRate(1, time: .invalid, atHostTime: nil) }, player) == .invalidTime)
    #expect(await code({ try $0.setRate(1, time: nil, atHostTime: far) }, player) == .invalidTime)
    #expect(await code({ try $0.setRate(1, time: nil, atHostTime: nil) }, empty) == .noCurrentItem)
    #expect(await player.state.rate == 0)
    #expect(await player.currentTime() == .zero)
  }

  @Test func playersStartTogetherAtTheirDefaultRates() async throws {
    let group = try await Group(2)
    try await group.players[0].setDefaultRate(2)
    let startResult = try await group.start(.after(seconds(1, 4)))
    await group.rig.advance(milliseconds: 500)
    #expect(try startResult.start().outputFrame == 12_000)
    #expect(try startResult.start().spreadFrameCount == 0)
    #expect(await group.players[0].state.rate == 2)
    let times = (await group.players[0].currentTime(), await group.players[1].currentTime())
    #expect(abs((times.0 - seconds(1, 2)).seconds) < 0.001 && times.1 == seconds(1, 4))
  }

  // MARK: - Many players

  /// `make soak` does the same for an hour.
  @Test func threePlayersStaySampleAlignedForAMinuteOfLoops() async throws {
    let group = try await Group(3)
    for (index, player) in group.players.enumerated() {
      // A click each second, with another amplitude in each file.
      let path = group.rig.files.file("click-\(index).wav")
      let click = Int16(1_000 << index)
      try TimeCode.writeWAV(path: path, frameCount: 48_000) { frame in
        frame == 0 ? StereoFrame(left: click, right: click) : StereoFrame(left: 0, right: 0)
      }
      try await player.replaceAll(with: [group.rig.item(path)])
      try await player.setRepeatMode(.one)
    }
    await group.rig.settle()
    _ = try await group.start(.whenReady)
    await group.rig.advance(milliseconds: 60_000)
    let clicks = group.rig.heard.all.enumerated().filter { $0.element.left != 0 }
    let first = try #require(clicks.first?.offset)
    #expect(clicks.map(\.offset) == (0..<60).map { first + $0 * 48_000 })
    #expect(clicks.allSatisfy { $0.element == StereoFrame(left: 7_000, right: 7_000) })
  }

  @Test func seekingOneOfThreePlayers1000TimesLeavesTheOthersBitExact() async throws {
    let group = try await Group(3)
    // Short, because all of it is decoded again each time. Silent, so that only the sum of the others is heard.
    let short = try group.rig.wav(file: 4, frames: 24_000)
    try await group.players[0].replaceAll(with: [short])
    try await group.players[0].setVolume(0)
    await group.rig.settle()
    _ = try await group.start(.whenReady)
    await group.rig.advance(milliseconds: 20)
    let finished = Mutex(0)
    let seeks = Effort.rounds(1_000)
    for number in 0..<seeks {
      let target = MediaTime(value: Int64(number &* 7_919 % 16_000), timescale: 48_000)
      try await group.players[0].seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero) { result in
        if result.finished { finished.withLock { $0 += 1 } }
      }
      await group.rig.advance(milliseconds: number % 20 == 0 ? 20 : 3)
    }
    #expect(finished.withLock { $0 } == seeks)
    let heard = group.rig.heard.all
    let first = try firstFrame(group.rig)
    let count = heard.count - first
    #expect(count > 180 * seeks)
    #expect(Array(heard[first...]) == sum(of: [2, 3], frames: count))
  }
}
