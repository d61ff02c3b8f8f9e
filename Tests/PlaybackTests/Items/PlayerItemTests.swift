import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Synchronization
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Properties of an item, stepping, prerolling and copying. Named after AVFoundation's statements where there is one.
@Suite struct PlayerItemTests {
  private static func seconds(_ value: Int64, _ timescale: Int32 = 1) -> MediaTime {
    MediaTime(value: value, timescale: timescale)
  }

  private func capabilities(_ item: PlayerItem) -> [Bool] {
    [
      item.canPlayFastForward, item.canPlaySlowForward, item.canPlayReverse, item.canPlaySlowReverse,
      item.canPlayFastReverse, item.canStepForward, item.canStepBackward,
    ]
  }

  @Test func statement29_itemHasNoPropertiesUntilItIsReadyInAPlayer() async throws {
    let rig = try await Rig()
    let (item, other) = (try rig.wav(file: 1, frames: 96_000), try rig.wav(file: 2, frames: 96_000))
    for item in [item, other] {
      #expect(item.status == .unknown)
      #expect(item.duration == .indefinite)
      #expect(item.seekableTimeRanges == [])
      #expect(item.loadedTimeRanges == [])
      #expect(item.tracks == [])
      #expect(capabilities(item) == Array(repeating: false, count: 7))
      #expect(item.isPlaybackBufferEmpty && !item.isPlaybackBufferFull && !item.isPlaybackLikelyToKeepUp)
    }
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    #expect(item.status == .readyToPlay)
    #expect(item.seekableTimeRanges == [TimeRange(start: .zero, end: Self.seconds(2))])
    #expect(capabilities(item) == Array(repeating: true, count: 7))
    #expect(item.tracks.map(\.mediaType) == [.audio])
    #expect(item.tracks.first?.audioFormat?.sampleRateHz == 48_000)
    #expect(item.isPlaybackLikelyToKeepUp && !item.isPlaybackBufferEmpty)
    // Although the asset is loaded, an item that is in no player has no properties.
    _ = try await other.asset.load()
    #expect(other.status == .unknown && other.tracks == [] && other.duration == .indefinite)
    #expect(capabilities(other) == Array(repeating: false, count: 7))
  }

  @Test func loadedTimeRangesExtendFromTheCurrentTimeToTheDecodedEnd() async throws {
    let rig = try await SlowRig()
    rig.gate.open(upTo: 48_000)
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    let end = MediaTime(frame: 49_152, rate: 48_000)
    #expect(try await rig.run { try $0.loadedTimeRanges(of: 1) } == [TimeRange(start: .zero, end: end)])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    #expect(
      try await rig.run { try $0.loadedTimeRanges(of: 1) } == [TimeRange(start: Self.seconds(1, 2), end: end)])
    await expectError(.noSuchItem) { try await rig.run { try $0.loadedTimeRanges(of: 77) } }
  }

  @Test func preferredForwardBufferDurationLimitsDecodingAhead() async throws {
    let rig = try await SlowRig()
    let item = try rig.wav(file: 1, frames: 480_000)
    try item.setPreferredForwardBufferDuration(Self.seconds(3))
    // The player sends the limit right after the request to decode. The thread must not decode more before that.
    rig.gate.close()
    try await rig.run { try $0.append([item]) }
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    func loaded() async throws -> MediaTime {
      try await rig.run { try $0.loadedTimeRanges(of: 1) }.first?.duration ?? .zero
    }
    let three = try await loaded()
    #expect(three >= Self.seconds(3) && three < Self.seconds(31, 10))
    // At least the minimum: half of the ring, which is 2.73 s here, and a little more.
    try item.setPreferredForwardBufferDuration(Self.seconds(1))
    try await rig.run { player in try player.seek(to: Self.seconds(1)) { _ in } }
    await rig.wait { $0.isPlaybackBufferFull }
    let least = try await loaded()
    #expect(least >= Self.seconds(298, 100) && least < Self.seconds(31, 10))
    try item.setPreferredForwardBufferDuration(.zero)
    await rig.wait { $0.isPlaybackBufferFull }
    // The thread gets the new limit, and rests again when it has decoded more.
    var more = try await loaded()
    while more < PlayerItem.maximumForwardBufferDuration {
      await Task.yield()
      more = try await loaded()
    }
    expectError(.invalidTime) { try item.setPreferredForwardBufferDuration(Self.seconds(-1)) }
    expectError(.invalidTime) { try item.setPreferredForwardBufferDuration(.indefinite) }
    #expect(item.preferredForwardBufferDuration == .zero)
  }

  @Test func copyHasTheSettingsButNotTheStatus() async throws {
    let rig = try await Rig()
    // The id is assigned automatically, like the id of the copy.
    let item = PlayerItem(asset: try rig.wav(file: 1, frames: 96_000).asset)
    try item.setForwardPlaybackEndTime(Self.seconds(1))
    try item.setReversePlaybackEndTime(Self.seconds(1, 2))
    try item.setPreferredForwardBufferDuration(Self.seconds(3))
    var mix = AudioMix()
    try mix.setVolume(0.5, at: .zero)
    item.audioMix = mix
    try item.setAudioTimePitchAlgorithm(.varispeed)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    let copy = item.copy()
    #expect(copy.id != item.id)
    #expect(copy.asset === item.asset)
    #expect(copy.status == .unknown)
    #expect(copy.forwardPlaybackEndTime == Self.seconds(1))
    #expect(copy.reversePlaybackEndTime == Self.seconds(1, 2))
    #expect(copy.preferredForwardBufferDuration == Self.seconds(3))
    #expect(copy.audioMix == mix)
    #expect(copy.ownAudioTimePitchAlgorithm == .varispeed && copy.audioTimePitchAlgorithm == .varispeed)
    // An item without a separate algorithm is copied without one.
    try item.setAudioTimePitchAlgorithm(nil)
    #expect(item.copy().ownAudioTimePitchAlgorithm == nil)
    try await rig.run { try $0.append([copy]) }
  }

  // MARK: - Stepping

  @Test func stepsAreHundredthsOfASecondAndClampedToTheItem() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 96_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    let results = Mutex<[SeekResult]>([])
    func step(_ counts: [Int]) async throws {
      try await rig.run { player in
        for count in counts { try player.step(byCount: count) { result in results.withLock { $0.append(result) } } }
      }
      await rig.settle()
    }
    try await step([5])
    try await step([-2])
    // Overlapping steps add up.
    try await step([1, 1, 1])
    try await step([-100])
    try await step([1_000])
    let stepResults = results.withLock { $0 }
    #expect(stepResults.filter(\.finished).map(\.time) == [5, 3, 6, 0, 200].map { Self.seconds($0, 100) })
    #expect(stepResults.filter(\.finished).map(\.isClamped) == [false, false, false, true, true])
    #expect(stepResults.allSatisfy { !$0.finished || $0.isExact || $0.isClamped })
    #expect(
      rig.dump.split(separator: "\n").filter { $0.hasPrefix("event timeJumped") }
        == ["0.05", "0.03", "0.06", "0", "2"].map { "event timeJumped item 1 to \($0) by step" })
  }

  @Test func stepWhilePlayingIsAnError() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 96_000)
    await expectError(.noCurrentItem) { try await rig.run { try $0.step(byCount: 1) { _ in } } }
    try await rig.run { try $0.append([item]) }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    await expectError(.invalidState) { try await rig.run { try $0.step(byCount: 1) { _ in } } }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.currentTime() } == Self.seconds(2, 10))
    await rig.run { $0.pause() }
    await expectError(.invalidArgument) { try await rig.run { try $0.step(byCount: .max) { _ in } } }
  }

  // MARK: - Preroll

  /// Begins a preroll and records its completions.
  private func preroll(_ rig: SlowRig, _ completions: Completions) async throws {
    try await rig.run { player in try player.preroll { completions.add($0) } }
  }

  private final class Completions: Sendable {
    private let all = Mutex<[Bool]>([])
    var values: [Bool] { all.withLock { $0 } }
    func add(_ value: Bool) { all.withLock { $0.append(value) } }
  }

  @Test func prerollCompletesWhenTheFirstSamplesAreDecoded() async throws {
    let rig = try await SlowRig()
    rig.gate.close()
    let (item, completions) = (try rig.wav(file: 1, frames: 240_000), Completions())
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    try await preroll(rig, completions)
    #expect(completions.values == [])
    rig.gate.open()
    await rig.wait { $0.isPlaybackBufferFull }
    #expect(completions.values == [true])
    // A preroll that is ready completes at once, and playback is heard from the next frame.
    try await preroll(rig, completions)
    #expect(completions.values == [true, true])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    #expect(rig.heard.all.count == 4_800)
    #expect(rig.heard.runs.map(\.count) == [4_800])
    #expect(completions.values == [true, true])
  }

  enum Interruption: String, CaseIterable { case seek, step, rate, cancel, remove, close }

  @Test(arguments: Interruption.allCases)
  func statement16_interruptedPrerollCompletesOnceWithFalse(_ interruption: Interruption) async throws {
    let rig = try await SlowRig()
    rig.gate.close()
    let (item, completions) = (try rig.wav(file: 1, frames: 240_000), Completions())
    try await rig.run { try $0.append([item]) }
    try await rig.block()
    try await preroll(rig, completions)
    try await rig.run { player in
      switch interruption {
      case .seek: try player.seek(to: Self.seconds(1)) { _ in }
      case .step: try player.step(byCount: 1) { _ in }
      case .rate: player.play()
      case .cancel: player.cancelPendingPrerolls()
      case .remove: try player.remove([1])
      case .close: player.close()
      }
    }
    #expect(completions.values == [false])
    rig.gate.open()
    if interruption != .close, interruption != .remove { await rig.wait { !$0.isPlaybackBufferEmpty } }
    #expect(completions.values == [false])
  }

  @Test func statement16_prerollWhilePlayingOrWithoutAnItemIsAnError() async throws {
    let rig = try await SlowRig()
    let completions = Completions()
    func code() async -> MediaError.Code? {
      do {
        try await preroll(rig, completions)
        return nil
      } catch { return (error as? MediaError)?.code }
    }
    #expect(await code() == .noCurrentItem)
    let item = try rig.wav(file: 1, frames: 240_000)
    try await rig.run { try $0.append([item]) }
    await rig.run { $0.play() }
    #expect(await code() == .invalidState)
    await rig.run { $0.pause() }
    await expectError(.unsupportedRate) { try await rig.run { try $0.preroll(atRate: 0) { completions.add($0) } } }
    #expect(completions.values == [])
  }

  // MARK: - One item

  @Test func replaceCurrentItemIgnoresTheSameItemAndRejectsOneInUse() async throws {
    let rig = try await SlowRig()
    let engine = rig.engine
    let player = Player(engine: engine, name: "one")
    let (item, other) = (try rig.wav(file: 1, frames: 240_000), try rig.wav(file: 2, frames: 240_000))
    try await rig.run { try $0.append([other]) }
    try await player.replaceCurrentItem(with: item)
    await player.play()
    for await state in await player.states() where state.isPlaybackBufferFull { break }
    await rig.advance(milliseconds: 500)
    let callCount = Mutex(0)
    _ = await player.addStateObserver { _ in callCount.withLock { $0 += 1 } }
    _ = await player.addEventObserver { _ in callCount.withLock { $0 += 1 } }
    let (before, time) = (await player.state, await player.currentTime())
    try await player.replaceCurrentItem(with: item)
    await expectError(.itemInUse) { try await player.replaceCurrentItem(with: other) }
    #expect(await player.state == before)
    #expect(await player.currentTime() == time)
    #expect(callCount.withLock { $0 } == 0)
    try await player.replaceCurrentItem(with: nil)
    #expect(await player.state.reasonForWaitingToPlay == .noItemToPlay)
    await expectError(.invalidArgument) { try await player.setActionAtItemEnd(.advance) }
  }

  @Test func volumeRampIsLinearAndKeepsItsEndVolume() async throws {
    var mix = AudioMix()
    try mix.setVolume(1, at: .zero)
    try mix.setVolumeRamp(
      fromStartVolume: 0.5, toEndVolume: 0.2, timeRange: TimeRange(start: Self.seconds(4), duration: Self.seconds(5)))
    // Samples of 1 at 100 Hz: the index is the time in hundredths of a second.
    var samples = [Float](repeating: 1, count: 1_200)
    samples.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      mix.apply(to: base, frameCount: 1_200, channelCount: 1, firstFrame: 0, sampleRateHz: 100)
    }
    let expected: [(Int, Float)] = [(0, 1), (399, 1), (400, 0.5), (650, 0.35), (900, 0.2), (1_199, 0.2)]
    for (index, value) in expected { #expect(abs(samples[index] - value) < 1e-6, "at \(index)") }
  }
}
