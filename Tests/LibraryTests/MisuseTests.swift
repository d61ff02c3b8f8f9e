import PlayheadTesting
import RigSupport
import Testing

/// Calls that break a rule of the library: each throws an error, or traps with a message that states the rule.
@Suite struct MisuseTests {
  private let files: TemporaryDirectory

  init() throws { files = try TemporaryDirectory("misuse") }

  private func item() throws -> PlayerItem {
    let path = files.file("a.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 48_000)
    return PlayerItem(path: path)
  }

  /// A call and the code of its error.
  private struct Case: Sendable {
    let name: String
    let code: MediaError.Code
    let call: @Sendable (isolated Player) throws -> Void

    init(_ name: String, _ code: MediaError.Code, _ call: @escaping @Sendable (isolated Player) throws -> Void) {
      (self.name, self.code, self.call) = (name, code, call)
    }
  }

  private static let invalidValues: [Case] = [
    Case("volume NaN", .invalidArgument) { try $0.setVolume(.nan) },
    Case("volume 1.5", .invalidArgument) { try $0.setVolume(1.5) },
    Case("volume -0.1", .invalidArgument) { try $0.setVolume(-0.1) },
    Case("pan NaN", .invalidArgument) { try $0.setPan(.nan) },
    Case("pan infinite", .invalidArgument) { try $0.setPan(.infinity) },
    Case("rate NaN", .unsupportedRate) { try $0.setRate(.nan) },
    Case("rate infinite", .unsupportedRate) { try $0.setRate(.infinity) },
    Case("rate 33", .unsupportedRate) { try $0.setRate(33) },
    Case("default rate NaN", .unsupportedRate) { try $0.setDefaultRate(.nan) },
    Case("seek to NaN", .invalidTime) { try $0.seek(to: MediaTime.seconds(.nan)) { _ in } },
    Case("seek to indefinite", .invalidTime) { try $0.seek(to: MediaTime.indefinite) { _ in } },
    Case("negative tolerance", .invalidTime) {
      try $0.seek(to: MediaTime.zero, toleranceBefore: .seconds(-1), toleranceAfter: .zero) { _ in }
    },
    Case("fade NaN", .invalidArgument) { try $0.fade(to: .nan, duration: .seconds(1)) },
    Case("fade of infinite duration", .invalidTime) { try $0.fade(to: 0, duration: .positiveInfinity) },
    Case("meters NaN", .invalidArgument) { _ = try $0.addMeterObserver(rate: .nan) { _ in } },
    Case("interval 0", .invalidTime) { _ = try $0.addPeriodicTimeObserver(forInterval: .zero) { _ in } },
    Case("no boundaries", .invalidArgument) { _ = try $0.addBoundaryTimeObserver(forTimes: [MediaTime]()) { _ in } },
    Case("unknown observer", .noSuchObserver) { try $0.removeTimeObserver(12_345_678) },
  ]

  @Test func invalidValuesThrowAndChangeNothing() async throws {
    let test = try await PlaybackEngine.virtual()
    let player = try await Player(engine: test.engine, playerItem: item())
    await test.clock.settle()
    let before = await player.state
    for row in Self.invalidValues {
      let error = await expectError(row.code, "\(row.name)") { try await row.call(player) }
      print("\(row.name): \(error?.message ?? "-")")
    }
    #expect(await player.state == before)
  }

  @Test func itemBelongsToOnePlayer() async throws {
    let test = try await PlaybackEngine.virtual()
    let item = try item()
    let first = try await Player(engine: test.engine, playerItem: item)
    let error = await expectError(.itemInUse) { _ = try await Player(engine: test.engine, playerItem: item) }
    print(error?.message ?? "-")
    try await first.replaceCurrentItem(with: nil)
    _ = try await Player(engine: test.engine, playerItem: item)
  }

  private static let closedCalls: [Case] = [
    Case("seek", .invalidState) { try $0.seek(to: MediaTime.zero) { _ in } },
    Case("rate", .invalidState) { try $0.setRate(1) },
    Case("play immediately", .invalidState) { try $0.playImmediately(atRate: 1) },
    Case("preroll", .invalidState) { try $0.preroll { _ in } },
    Case("step", .invalidState) { try $0.step(byCount: 1) { _ in } },
    Case("volume", .invalidState) { try $0.setVolume(0.5) },
    Case("pan", .invalidState) { try $0.setPan(0.5) },
    Case("silence", .invalidState) { try $0.setSilenceDetection(SilenceDetection(duration: .seconds(5))) },
    Case("periodic observer", .invalidState) { _ = try $0.addPeriodicTimeObserver(forInterval: .seconds(1)) { _ in } },
    Case("boundary observer", .invalidState) {
      _ = try $0.addBoundaryTimeObserver(forTimes: [.seconds(1)]) { _ in }
    },
    Case("item", .invalidState) { try $0.replaceCurrentItem(with: PlayerItem(path: "/a.wav")) },
  ]

  @Test func closedPlayersThrow() async throws {
    let test = try await PlaybackEngine.virtual()
    let player = try await Player(engine: test.engine, playerItem: item())
    await player.close()
    for row in Self.closedCalls {
      let error = await expectError(row.code, "\(row.name)") { try await row.call(player) }
      print("\(row.name): \(error?.message ?? "-")")
    }
    await player.play()
    try await test.clock.advance(by: .seconds(1))
    #expect(test.output.frameCount == 0)
    await player.close()
  }

  /// A handler that blocks does not stop the clock of the engine, because it runs elsewhere.
  @Test func handlersOfSequencesMayBlock() async throws {
    let test = try await PlaybackEngine.virtual()
    let player = try await Player(engine: test.engine, playerItem: item())
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let observation = try await player.times(forInterval: .milliseconds(100)).observe { _ in
      for await _ in gate { break }
    }
    await player.play()
    try await test.clock.advance(by: .seconds(1))
    #expect(test.output.timeCodeRuns.map(\.count) == [48_000])
    open.finish()
    await player.close()
    await observation.finish()
  }

  @Test func callingTheLoopFromAnotherThreadTraps() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      VirtualControlLoop(base: ThreadControlLoop(name: "misuse")).advance(byNanoseconds: 1) {}
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("control loop"), "\(text.prefix(300))")
  }
}
