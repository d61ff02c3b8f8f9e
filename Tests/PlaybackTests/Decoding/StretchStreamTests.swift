import Foundation
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Passes that keep their pitch at a rate, in the stream of the decode thread.
@Suite struct StretchStreamTests {
  private static let output = AudioFormat(sampleRateHz: 48_000, channelCount: 2)
  private static let algorithms = [AudioTimePitchAlgorithm.timeDomain, .spectral].filter(\.isAvailable)

  private func start(_ rate: Double, at time: MediaTime = .zero) throws -> PlayerStateMachine.DecodeRequest {
    .init(itemID: 1, time: time, rate: try #require(PlaybackRate(rate)))
  }

  /// The first frame at or after the exact end of `frames` frames.
  private func end(of frames: Int, at sampleRateHz: Int, _ rate: Double) throws -> Int64 {
    let millionths = try #require(PlaybackRate(rate)).millionths
    let scaled = Int128(frames) * 48_000 * 1_000_000
    let unit = Int128(sampleRateHz) * Int128(millionths)
    return Int64((scaled + unit - 1) / unit)
  }

  private func left(_ outcome: StreamRig.Outcome) -> [Float] {
    stride(from: 0, to: outcome.samples.count, by: 2).map { outcome.samples[$0] }
  }

  @Test(arguments: algorithms, [0.1, 0.999999, 1.234567, 2, 32])
  func itemLengthIsItsFrameCountDividedByTheRate(_ algorithm: AudioTimePitchAlgorithm, _ rate: Double) throws {
    let rig = try StreamRig()
    for sampleRateHz in [44_100, 48_000] {
      let path = rig.files.file("tone-\(sampleRateHz).wav")
      try writeWAV(path, tone(441, frameCount: 8_011), sampleRateHz: sampleRateHz)
      let outcome = try rig.decode(path, at: start(rate), timePitch: algorithm, to: Self.output)
      let expected = try end(of: 8_011, at: sampleRateHz, rate)
      #expect(outcome.ends == [expected])
      #expect(Int64(outcome.samples.count) == expected * 2)
    }
  }

  @Test(arguments: algorithms)
  func endsOfManyItemsHaveNoAccumulatedError(_ algorithm: AudioTimePitchAlgorithm) throws {
    let rig = try StreamRig()
    let paths = [rig.files.file("first.wav"), rig.files.file("second.wav")]
    try writeWAV(paths[0], tone(441, frameCount: 997), sampleRateHz: 44_100)
    try writeWAV(paths[1], tone(441, frameCount: 1_009), sampleRateHz: 32_000)
    let passes = (1..<60).map { Pass(itemID: $0 % 10 == 9 ? 2 : 1) }
    let outcome = try rig.decode(
      paths[0], at: start(1.234567), then: passes, paths: [2: paths[1]], timePitch: algorithm, to: Self.output)
    var exact = 0.0
    for (index, end) in outcome.ends.enumerated() {
      let isSecond = index > 0 && index % 10 == 9
      exact += (isSecond ? 1_009.0 / 32_000 : 997.0 / 44_100) / 1.234567 * 48_000
      let off = Double(end) - exact
      #expect(off > -1e-6 && off < 1, "end \(index)")
    }
    #expect(outcome.ends.count == 60)
  }

  @Test(arguments: algorithms)
  func transitionAtARateIsInaudible(_ algorithm: AudioTimePitchAlgorithm) throws {
    let rig = try StreamRig()
    // The tone's period is 100 frames: it continues at the transition.
    let paths = [rig.files.file("a.wav"), rig.files.file("b.wav")]
    for path in paths { try writeWAV(path, tone(441, frameCount: 40_000), sampleRateHz: 44_100) }
    let outcome = try rig.decode(
      paths[0], at: start(1.5), then: [Pass(itemID: 2)], paths: [2: paths[1]], timePitch: algorithm, to: Self.output)
    #expect(outcome.ends.last == (try end(of: 80_000, at: 44_100, 1.5)))
    let samples = left(outcome)
    // Around the transition it is as loud and as smooth as anywhere.
    let transition = samples.count / 2
    let around = samples[(transition - 2_000)..<(transition + 2_000)]
    for first in stride(from: around.startIndex, to: around.endIndex - 200, by: 100) {
      let peak = around[first..<(first + 200)].lazy.map(abs).max() ?? 0
      #expect(peak > 0.4 && peak < 0.6, "\(algorithm), \(first - transition) from the transition: \(peak)")
    }
    let largestStep = zip(around.dropFirst(), around).lazy.map { abs($0 - $1) }.max() ?? 1
    // The largest step of the tone is 0.5 * 2 pi * 441 / 48000.
    #expect(largestStep < 0.06)
  }

  /// The same item, or a part of it, in a loop. The repeated range is a multiple of the tone's period, so that the tone
  /// continues at each loop point as within a pass. The stretcher's results for passes therefore also apply to loop
  /// points.
  @Test(arguments: algorithms, [(44_100, 441), (48_000, 480)])
  func loopPointsOfTwentyPassesAreInaudible(
    _ algorithm: AudioTimePitchAlgorithm, _ source: (sampleRateHz: Int, hertz: Int)
  ) throws {
    let rig = try StreamRig()
    let rate = source.sampleRateHz
    let path = rig.files.file("tone.wav")
    try writeWAV(
      path, tone(Float(source.hertz), frameCount: 14_000, sampleRateHz: rate), sampleRateHz: rate)
    func time(_ frame: Int64) -> MediaTime { MediaTime(frame: frame, rate: rate) }
    for speed in [0.7, 1.234567, 2.5] {
      for part in [nil, Int64(3_000)..<11_000] as [Range<Int64>?] {
        var first = try start(speed, at: part.map { time($0.lowerBound) } ?? .zero)
        first.end = part.map { time($0.upperBound) }
        let pass = Pass(itemID: 1, start: first.time, end: first.end)
        let outcome = try rig.decode(
          path, at: first, then: Array(repeating: pass, count: 19), timePitch: algorithm, to: Self.output)
        // Each pass ends at its exact position, counted from the beginning of the first one, which is at a frame of the
        // output's rate.
        let length = part?.count ?? 14_000
        let heard = (part?.lowerBound ?? 0) * 48_000
        let early = Double((heard + Int64(rate) - 1) / Int64(rate)) - Double(heard) / Double(rate)
        for (index, end) in outcome.ends.enumerated() {
          let exact = (Double((index + 1) * length) / Double(rate) * 48_000 - early) / speed
          #expect(Double(end) > exact - 1e-6 && Double(end) < exact + 1, "pass \(index) of \(algorithm) at \(speed)")
        }
        #expect(outcome.ends.count == 20)
        #expect(outcome.ends.last == Int64(outcome.samples.count / 2))
        // As loud and as smooth as within a pass.
        let samples = left(outcome)
        var (least, most, step) = (Float(1), Float(0), Float(0))
        for end in outcome.ends.dropLast().map({ Int($0) }) {
          let around = samples[(end - 1_500)..<(end + 1_500)]
          for offset in stride(from: around.startIndex, to: around.endIndex - 200, by: 100) {
            let peak = around[offset..<(offset + 200)].lazy.map(abs).max() ?? 0
            (least, most) = (min(least, peak), max(most, peak))
          }
          step = max(step, zip(around.dropFirst(), around).lazy.map { abs($0 - $1) }.max() ?? 1)
        }
        print(
          "\(algorithm) at \(speed), \(rate) Hz, \(part == nil ? "repeat" : "loop"): 20 passes end at \(outcome.ends.last ?? 0);"
            + " around transitions peaks \(least) to \(most), largest step \(step)")
        #expect(least > 0.4 && most < 0.6 && step < 0.06)
      }
    }
  }

  /// Items of other sample rates, channel counts and the stream's format, whose tone continues at every transition.
  @Test(arguments: algorithms, [0.5, 1.5, 2])
  func transitionsBetweenSampleRatesKeepTheLevel(_ algorithm: AudioTimePitchAlgorithm, _ rate: Double) throws {
    let rig = try StreamRig()
    let rates = [44_100, 48_000, 32_000, 44_100]
    var paths: [PlayerItem.ID: String] = [:]
    for (index, sampleRateHz) in rates.enumerated() {
      let path = rig.files.file("\(index).wav")
      // 300 Hz: whole periods of each rate but one, and whole seconds.
      let samples = tone(300, frameCount: sampleRateHz, channelCount: index % 2 + 1, sampleRateHz: sampleRateHz)
      try writeWAV(path, samples, sampleRateHz: sampleRateHz, channelCount: index % 2 + 1)
      paths[PlayerItem.ID(index + 1)] = path
    }
    let outcome = try rig.decode(
      try #require(paths[1]), at: start(rate), then: (2...4).map { Pass(itemID: $0) }, paths: paths,
      timePitch: algorithm, to: Self.output)
    #expect(outcome.ends == (1...4).map { Int64((Double($0) * 48_000 / rate).rounded(.up)) })
    let samples = left(outcome)
    #expect(Int64(samples.count) == outcome.ends.last)
    // Two periods of the tone.
    func level(_ first: Int) -> Double {
      let energy = samples[first..<(first + 320)].reduce(0) { $0 + Double($1) * Double($1) } / 320
      return 10 * log10(energy / 0.125)
    }
    for transition in outcome.ends.dropLast() {
      let levels = stride(from: Int(transition) - 4_800, to: Int(transition) + 4_800, by: 80).map { level($0) }
      let (lowest, highest) = (levels.min() ?? -.infinity, levels.max() ?? .infinity)
      let steady = stride(from: Int(transition) + 9_600, to: Int(transition) + 14_400, by: 80).map { level($0) }
      print(
        "transition at rate \(rate), \(algorithm): \((lowest * 100).rounded() / 100) to \((highest * 100).rounded() / 100) dB,"
          + " steady \(((steady.min() ?? 0) * 100).rounded() / 100) to \(((steady.max() ?? 0) * 100).rounded() / 100) dB"
      )
      #expect(lowest > -1 && highest < 1)
    }
  }

  @Test(arguments: algorithms, [44_100, 48_000])
  func seekStartsAtItsPositionWithoutAFadeIn(_ algorithm: AudioTimePitchAlgorithm, _ sampleRateHz: Int) throws {
    let rig = try StreamRig()
    let (bursts, steady) = (rig.files.file("bursts.wav"), rig.files.file("tone.wav"))
    var train = BurstTrain(sampleRateHz: sampleRateHz, seconds: 6, rate: 2)
    try writeWAV(bursts, train.samples(), sampleRateHz: sampleRateHz)
    try writeWAV(
      steady, tone(441, frameCount: 3 * sampleRateHz, sampleRateHz: sampleRateHz), sampleRateHz: sampleRateHz)
    let time = MediaTime(value: 1_234_567, timescale: 1_000_000)
    let heard = try rig.decode(bursts, at: start(2, at: time), timePitch: algorithm, to: Self.output)
    // From the first frame of the output's rate at or after the time.
    let frame = (1_234_567 * 48_000 + 999_999) / 1_000_000
    #expect(heard.ends == [Int64((6 * 48_000 - frame + 1) / 2)])
    train.sampleRateHz = 48_000
    let displacements = train.displacements(in: left(heard), beginningAt: Double(frame)).dropFirst()
    #expect(
      displacements.allSatisfy { abs($0 ?? .infinity) <= (algorithm == .timeDomain ? 20 : 50) }, "\(displacements)")

    let loud = left(try rig.decode(steady, at: start(2, at: time), timePitch: algorithm, to: Self.output))
    for first in stride(from: 0, to: 4_800, by: 120) {
      let peak = loud[first..<(first + 240)].lazy.map(abs).max() ?? 0
      #expect(peak > 0.4 && peak < 0.6, "\(algorithm), \(first) frames in: \(peak)")
    }
  }

  @Test(arguments: algorithms)
  func itemThatEndsBeforeTheSeekTargetEndsAtOnce(_ algorithm: AudioTimePitchAlgorithm) throws {
    let rig = try StreamRig()
    let path = rig.files.file("tone.wav")
    try writeWAV(path, tone(441, frameCount: 4_410), sampleRateHz: 44_100)
    for time in [MediaTime(value: 1, timescale: 10), MediaTime(value: 5, timescale: 1), .positiveInfinity] {
      let outcome = try rig.decode(path, at: start(2, at: time), timePitch: algorithm, to: Self.output)
      #expect(outcome.ends == [0])
      #expect(outcome.samples.isEmpty)
    }
  }
}
