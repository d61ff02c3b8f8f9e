import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import RigSupport
import Testing

/// Processors of items and players.
@Suite struct AudioProcessorTests {
  // MARK: - Processors

  /// Multiplies all samples.
  private final class Gain: AudioProcessor {
    private let gain: Float
    init(_ gain: Float) { self.gain = gain }
    func prepare(format: AudioFormat, maximumFrameCount: Int) {}
    func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
      for index in samples.indices { samples[index] *= gain }
    }
  }

  /// The mean of a frame and those before it, computed exactly for 16-bit samples.
  private final class MovingAverage: AudioProcessor {
    static let length = 64
    let historyFrameCount: Int
    private var stored: [Float] = []
    private var channelCount = 0
    init(history: Int = length - 1) { historyFrameCount = history }
    func prepare(format: AudioFormat, maximumFrameCount: Int) {
      channelCount = format.channelCount
      reset()
    }
    func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
      for index in samples.indices {
        stored.append(samples[index])
        stored.removeFirst()
        var sum: Float = 0
        for past in stride(from: stored.count - 1, through: 0, by: -channelCount) { sum += stored[past] }
        samples[index] = sum / Float(Self.length)
      }
    }
    func reset() { stored = [Float](repeating: 0, count: Self.length * channelCount) }

    /// The average at index `index` of `values`.
    static func value(_ values: [Int16], at index: Int) -> Int16 {
      let sum = values[max(0, index - length + 1)...index].reduce(0) { $0 + Int($1) }
      return Int16(clamping: Int((Float(sum) / Float(length)).rounded()))
    }
  }

  /// What processors were called with.
  private final class Record: Sendable {
    private struct State {
      var formats: [AudioFormat] = []
      var calls: [(frameCount: Int, time: MediaTime)] = []
      var resetCount = 0
      var liveCount = 0
    }
    private let state = ConditionMutex(State())

    func make() -> AudioProcessorFactory { AudioProcessorFactory { Recorder(self) } }
    var formats: [AudioFormat] { state.withState { $0.formats } }
    var calls: [(frameCount: Int, time: MediaTime)] { state.withState { $0.calls } }
    var resetCount: Int { state.withState { $0.resetCount } }

    /// Waits until all processors are released. The deadline makes a faulty test fail instead of hanging.
    func waitUntilReleased() -> Bool {
      let deadline = HostTime.now.advanced(byNanoseconds: 60_000_000_000)
      return state.wait(until: deadline) { $0.liveCount == 0 ? true : nil } ?? false
    }

    private final class Recorder: AudioProcessor {
      private let record: Record
      private var channelCount = 0
      init(_ record: Record) {
        self.record = record
        record.state.update { $0.liveCount += 1 }
      }
      deinit { record.state.update { $0.liveCount -= 1 } }
      func prepare(format: AudioFormat, maximumFrameCount: Int) {
        channelCount = format.channelCount
        record.state.update { $0.formats.append(format) }
      }
      func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
        let frameCount = samples.count / channelCount
        record.state.update { $0.calls.append((frameCount, time)) }
      }
      func reset() { record.state.update { $0.resetCount += 1 } }
    }
  }

  /// Refuses all audio.
  private final class Refusing: AudioProcessor {
    func prepare(format: AudioFormat, maximumFrameCount: Int) throws(MediaError) {
      throw MediaError(.invalidArgument, "refused")
    }
    func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {}
  }

  /// States a latency and a history.
  private final class Stating: AudioProcessor {
    let latencyFrameCount: Int
    let historyFrameCount: Int
    init(latency: Int, history: Int) { (latencyFrameCount, historyFrameCount) = (latency, history) }
    func prepare(format: AudioFormat, maximumFrameCount: Int) {}
    func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {}
  }

  /// Writes values that are not finite.
  private final class Breaking: AudioProcessor {
    func prepare(format: AudioFormat, maximumFrameCount: Int) {}
    func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
      for index in samples.indices where index % 4 < 2 { samples[index] = index % 2 == 0 ? .nan : -.infinity }
    }
  }

  private func play(_ rig: Rig, _ items: [PlayerItem], milliseconds: Int64) async throws {
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: milliseconds)
  }

  // MARK: - Samples

  @Test func processorsOfItemAndPlayerProcessEverySample() async throws {
    let rig = try await Rig()
    let item = try rig.level(0.5, frames: 96_000)
    item.audioProcessors = [AudioProcessorFactory { Gain(0.5) }]
    await rig.run { $0.setAudioProcessors([AudioProcessorFactory { Gain(0.25) }]) }
    try await play(rig, [item, try rig.level(0.5, frames: 48_000)], milliseconds: 3_000)
    let expected = [Int16](repeating: 2_048, count: 96_000) + [Int16](repeating: 4_096, count: 48_000)
    let isEqual = rig.heard.all == expected.map { StereoFrame(left: $0, right: $0) }
    #expect(isEqual)
  }

  @Test func timesAreContiguousItemTimesInTheFormatOfTheItem() async throws {
    let rig = try await Rig()
    let record = Record()
    let item = try rig.level(0.5, frames: 44_100, rate: 44_100)
    item.audioProcessors = [record.make()]
    try await play(rig, [item], milliseconds: 1_000)
    #expect(record.formats == [AudioFormat(sampleRateHz: 44_100, channelCount: 2)])
    var frame: Int64 = 0
    for call in record.calls {
      #expect(call.time == MediaTime(value: frame, timescale: 44_100))
      #expect(1...4_096 ~= call.frameCount)
      frame += Int64(call.frameCount)
    }
    #expect(frame == 44_100)
  }

  /// Latencies below and above the length of a chunk and of an item.
  @Test(arguments: [1, 480, 4_096, 5_000, 30_000])
  func latencyMovesNoFrameAndLosesNone(latency: Int) async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 24_000), try rig.flac(file: 2, frames: 24_000)]
    await rig.run { $0.setAudioProcessors([AudioProcessorFactory { DelayProcessor(latency) }]) }
    try await play(rig, items, milliseconds: 1_500)
    #expect(
      rig.heard.runs == [
        TimeCode.Run(file: 1, firstIndex: 0, count: 24_000, position: 0),
        TimeCode.Run(file: 2, firstIndex: 0, count: 24_000, position: 24_000),
      ])
    #expect(rig.log.lines.contains("event playedToEnd item 2 at 0.5"))
  }

  @Test func latencyOfAnItemEndsBeforeTheNextItem() async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 24_000), try rig.wav(file: 2, frames: 24_000)]
    items[0].audioProcessors = [AudioProcessorFactory { DelayProcessor(700) }]
    items[1].audioProcessors = [AudioProcessorFactory { DelayProcessor(9_000) }]
    try await play(rig, items, milliseconds: 1_500)
    #expect(rig.heard.runs.map(\.count) == [24_000, 24_000])
    #expect(rig.heard.runs.map(\.position) == [0, 24_000])
  }

  @Test func latencyDoesNotChangeConvertedAudio() async throws {
    for rate in [44_100, 96_000] {
      var heard: [[StereoFrame]] = []
      for processors in [[], [AudioProcessorFactory { DelayProcessor(1_234) }]] {
        let rig = try await Rig()
        let item = try rig.wave("noise.wav", frames: rate, rate: rate) { index in
          let value = Int16(truncatingIfNeeded: index &* 7_919 % 30_011)
          return StereoFrame(left: value, right: -value)
        }
        item.audioProcessors = processors
        try await play(rig, [item], milliseconds: 1_500)
        heard.append(rig.heard.all)
      }
      let isEqual = heard[0] == heard[1]
      #expect(heard[0].count == 48_000 && isEqual, "\(rate) Hz")
    }
  }

  @Test(arguments: [2, -1, 0.5], [AudioTimePitchAlgorithm.varispeed, .timeDomain])
  func latencyMovesNoFrameAtOtherRates(rate: Double, algorithm: AudioTimePitchAlgorithm) async throws {
    var heard: [[StereoFrame]] = []
    for processors in [[], [AudioProcessorFactory { DelayProcessor(1_000) }]] {
      let rig = try await Rig()
      let item = try rig.wav(file: 1, frames: 48_000)
      item.audioProcessors = processors
      try item.setAudioTimePitchAlgorithm(algorithm)
      try await rig.run { try $0.append([item]) }
      await rig.settle()
      if rate < 0 {
        try await rig.run {
          try $0.seek(to: MediaTime(value: 1, timescale: 1), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
        }
        await rig.settle()
      }
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: 2_500)
      heard.append(rig.heard.all)
    }
    #expect(heard[0].count > 20_000 && heard[1].count == heard[0].count)
    // The samples of a stretcher depend on the sizes of its chunks.
    let isStretched = algorithm != .varispeed && rate.magnitude != 1
    let wrong = zip(heard[0], heard[1]).enumerated().first { $0.element.0 != $0.element.1 }
    #expect(isStretched || wrong == nil)
  }

  @Test func exactSeekWithLatencyStartsAtItsFrame() async throws {
    let rig = try await Rig()
    let item = try rig.flac(file: 1, frames: 96_000)
    item.audioProcessors = [AudioProcessorFactory { DelayProcessor(3_000) }]
    try await play(rig, [item], milliseconds: 100)
    try await rig.run {
      try $0.seek(to: MediaTime(value: 50_001, timescale: 48_000), toleranceBefore: .zero, toleranceAfter: .zero) { _ in
      }
    }
    await rig.settle()
    await rig.advance(milliseconds: 500)
    #expect(rig.heard.runs.last?.firstIndex == 50_001)
    #expect(rig.heard.runs.last?.count == 24_000)
  }

  // MARK: - History

  private static func saw(_ index: Int) -> Int16 { Int16(truncatingIfNeeded: index &* 37 % 20_000) }

  /// With a history, audio after a seek equals continuous playback. Without one, the filter begins empty.
  @Test(arguments: [(MovingAverage.length - 1, true), (0, false)])
  func historyMakesAudioAfterASeekEqualToContinuousPlayback(history: Int, isEqual: Bool) async throws {
    let rig = try await Rig()
    let item = try rig.wave("saw.wav", frames: 96_000) { StereoFrame(left: Self.saw($0), right: 0) }
    item.audioProcessors = [AudioProcessorFactory { MovingAverage(history: history) }]
    try await play(rig, [item], milliseconds: 100)
    try await rig.run {
      try $0.seek(to: MediaTime(value: 1, timescale: 1), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
    }
    await rig.settle()
    rig.heard.removeAll()
    await rig.advance(milliseconds: 200)
    let values = (0..<96_000).map(Self.saw)
    let expected = (48_000..<57_600).map { MovingAverage.value(values, at: $0) }
    let heard = rig.heard.all.map(\.left)
    let (isWhollyEqual, isEventuallyEqual) = (heard == expected, heard.suffix(9_000) == expected.suffix(9_000))
    #expect(isWhollyEqual == isEqual)
    #expect(isEventuallyEqual)
  }

  @Test func processorOfThePlayerContinuesAcrossItems() async throws {
    let rig = try await Rig()
    let items = try (0..<2).map { file in
      try rig.wave("saw-\(file).wav", frames: 10_000) { StereoFrame(left: Self.saw($0 + file * 777), right: 0) }
    }
    await rig.run { $0.setAudioProcessors([AudioProcessorFactory { MovingAverage() }]) }
    try await play(rig, items, milliseconds: 500)
    let values = (0..<2).flatMap { file in (0..<10_000).map { Self.saw($0 + file * 777) } }
    let isEqual = rig.heard.all.map(\.left) == values.indices.map { MovingAverage.value(values, at: $0) }
    #expect(isEqual)
  }

  // MARK: - Changes

  @Test func changesDuringPlaybackAreHeardAtOnceWithoutSkippingAudio() async throws {
    let rig = try await Rig()
    let item = try rig.wave("saw.wav", frames: 480_000) { StereoFrame(left: Int16($0 % 20_000), right: 0) }
    try await play(rig, [item], milliseconds: 500)
    await rig.run { $0.setAudioProcessors([AudioProcessorFactory { Gain(0.5) }]) }
    await rig.advance(milliseconds: 500)
    item.audioProcessors = [AudioProcessorFactory { Gain(0) }]
    await rig.advance(milliseconds: 500)
    item.audioProcessors = []
    await rig.run { $0.setAudioProcessors([]) }
    await rig.advance(milliseconds: 500)
    let heard = rig.heard.all.map(\.left)
    // 100 ms is the time to decode again and the crossfade.
    for (range, gain) in [(0..<24_000, 1), (28_800..<48_000, 0.5), (52_800..<72_000, 0), (76_800..<96_000, 1)] {
      let wrong = range.first { abs(Double(heard[$0]) - Double($0 % 20_000) * gain) > 0.51 }
      #expect(wrong == nil, "frame \(wrong ?? 0), gain \(gain)")
    }
  }

  @Test func settingEqualProcessorsDecodesNothingAgain() async throws {
    let rig = try await Rig()
    let record = Record()
    let factory = record.make()
    let item = try rig.level(0.5, frames: 480_000)
    try await play(rig, [item], milliseconds: 100)
    item.audioProcessors = [factory]
    await rig.run { $0.setAudioProcessors([]) }
    await rig.advance(milliseconds: 100)
    let callCount = record.calls.count
    item.audioProcessors = [factory]
    await rig.run { $0.setAudioProcessors([]) }
    await rig.settle()
    #expect(record.calls.count == callCount)
    #expect(item.copy().audioProcessors == [factory])
  }

  @Test func factoryMakesAProcessorForEachPlayerAndReleasesIt() async throws {
    let record = Record()
    let factory = record.make()
    do {
      let rigs = [try await Rig(), try await Rig()]
      for rig in rigs {
        await rig.run { $0.setAudioProcessors([factory]) }
        try await play(rig, [try rig.level(0.5, frames: 24_000)], milliseconds: 100)
      }
      #expect(record.formats.count == 2)
      for rig in rigs {
        try await rig.run {
          try $0.seek(to: MediaTime(value: 1, timescale: 5), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
        }
        await rig.settle()
      }
      // A seek uses the same processors again.
      #expect(record.formats.count == 2)
      #expect(record.resetCount >= 2)
      for rig in rigs { await rig.engine.close() }
    }
    #expect(record.waitUntilReleased())
  }

  // MARK: - Invalid processors

  @Test func itemWhoseProcessorRefusesItFailsWithThatError() async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 24_000), try rig.wav(file: 2, frames: 24_000)]
    items[0].audioProcessors = [AudioProcessorFactory { Refusing() }]
    try await play(rig, items, milliseconds: 600)
    #expect(items[0].error?.message == "refused")
    #expect(rig.heard.runs.map(\.file) == [2])
  }

  @Test(arguments: [(-1, 0), (0, -1), (480_001, 0), (0, 480_001), (.max, .max)])
  func invalidLatenciesAndHistoriesFailTheItem(latency: Int, history: Int) async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 24_000)
    item.audioProcessors = [AudioProcessorFactory { Stating(latency: latency, history: history) }]
    try await play(rig, [item], milliseconds: 100)
    #expect(item.error?.code == .invalidArgument)
    let text = try #require(item.error?.message)
    #expect(text.contains("must be 0 to 480000 frames"), "\(text)")
  }

  @Test func latenciesThatAreTooLongTogetherFailTheItem() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 1, frames: 24_000)
    let factory = AudioProcessorFactory { Stating(latency: 300_000, history: 0) }
    item.audioProcessors = [factory, factory]
    try await play(rig, [item], milliseconds: 100)
    #expect(item.error?.code == .invalidArgument)
  }

  /// Two effects with slow releases can be used together.
  @Test func historiesThatAreTooLongTogetherAreLimited() async throws {
    let rig = try await Rig()
    let record = Record()
    let item = try rig.wav(file: 1, frames: 720_000)
    let factory = AudioProcessorFactory { Stating(latency: 0, history: 300_000) }
    item.audioProcessors = [factory, factory, record.make()]
    try await play(rig, [item], milliseconds: 100)
    try await rig.run {
      try $0.seek(to: .seconds(12), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
    }
    await rig.settle()
    #expect(item.error == nil)
    let calls = record.calls
    let jump = zip(calls, calls.dropFirst()).first { call, next in
      next.time != call.time + MediaTime(value: Int64(call.frameCount), timescale: 48_000)
    }
    #expect(jump?.1.time == .seconds(2))
  }

  /// A sum of all samples would stay NaN.
  @Test func laterProcessorsReceiveOnlyFiniteSamplesAndEachItemHasAnEntry() async throws {
    let rig = try await Rig()
    let items = [try rig.level(0.25, frames: 24_000), try rig.level(0.5, frames: 24_000)]
    await rig.run {
      $0.setAudioProcessors([AudioProcessorFactory { Breaking() }, AudioProcessorFactory { MovingAverage() }])
    }
    try await play(rig, items, milliseconds: 1_000)
    // Half of the frames are silent.
    let last = rig.heard.all.last
    #expect(last == StereoFrame(left: 8_192, right: 8_192))
    #expect(rig.faults.count == 2)
  }

  @Test func laterProcessorsHaveTheTimesOfTheirSamples() async throws {
    let rig = try await Rig()
    let record = Record()
    let item = try rig.level(0.5, frames: 48_000)
    item.audioProcessors = [AudioProcessorFactory { DelayProcessor(480) }, record.make()]
    try await play(rig, [item], milliseconds: 1_000)
    #expect(record.calls.first?.time == MediaTime(value: -480, timescale: 48_000))
    let end = record.calls.last.map { $0.time + MediaTime(value: Int64($0.frameCount), timescale: 48_000) }
    #expect(end == .seconds(1))
  }

  /// The frames of an abandoned item in a processor are not heard in the next one.
  @Test func missingItemAfterOneWithLatencyLeavesNoFrames() async throws {
    let rig = try await Rig()
    let items = [try rig.wav(file: 1, frames: 96_000), rig.item("/none.wav"), try rig.wav(file: 2, frames: 24_000)]
    await rig.run { $0.setAudioProcessors([AudioProcessorFactory { DelayProcessor(30_000) }]) }
    try await play(rig, items, milliseconds: 200)
    await rig.run { $0.advanceToNextItem() }
    await rig.advance(milliseconds: 1_000)
    let runs = rig.heard.runs
    #expect(runs.map(\.file) == [1, 2] && runs.last?.firstIndex == 0 && runs.last?.count == 24_000)
  }

  @Test func samplesThatAreNotFiniteBecomeSilenceAndAnEntryOfTheErrorLog() async throws {
    let rig = try await Rig()
    let item = try rig.level(0.5, frames: 24_000)
    item.audioProcessors = [AudioProcessorFactory { Breaking() }]
    try await play(rig, [item], milliseconds: 500)
    let heard = rig.heard.all
    #expect(heard.count == 24_000)
    let wrong = heard.indices.first {
      heard[$0] != ($0 % 2 == 0 ? StereoFrame.silence : StereoFrame(left: 16_384, right: 16_384))
    }
    #expect(wrong == nil)
    #expect(rig.faults == ["newErrorLogEntry item 1 at 0: 1001 invalid-argument"])
  }
}
