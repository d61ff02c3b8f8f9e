import MediaTesting
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// Passes at a rate in the stream of the decode thread: exact frame counts without an accumulating error.
@Suite struct RateStreamTests {
  private static let output = AudioFormat(sampleRateHz: 48_000, channelCount: 2)

  /// The first frame at or after the exact end of `frames` frames.
  private func end(of frames: Int, at sampleRateHz: Int, _ rate: PlaybackRate) -> Int64 {
    let scaled = Int128(frames) * 48_000 * 1_000_000
    let unit = Int128(sampleRateHz) * Int128(rate.millionths)
    return Int64((scaled + unit - 1) / unit)
  }

  private func start(_ rate: Double) throws -> PlayerStateMachine.DecodeRequest {
    .init(itemID: 1, rate: try #require(PlaybackRate(rate)))
  }

  @Test(arguments: [1.0 / 32, 0.5, 0.999999, 1.000001, 1.25, 1.234567, 2, 31.999999, 32])
  func itemLengthIsItsFrameCountDividedByTheRate(_ rate: Double) throws {
    let rig = try StreamRig()
    for sampleRateHz in [44_100, 48_000, 24_000] {
      let path = try rig.noise("noise-\(sampleRateHz).wav", rate: sampleRateHz, channels: 2, frames: 0..<20_011)
      let outcome = try rig.decode(path, at: start(rate), to: Self.output)
      let expected = end(of: 20_011, at: sampleRateHz, try #require(PlaybackRate(rate)))
      #expect(outcome.ends == [expected])
      #expect(Int64(outcome.samples.count) == expected * 2)
    }
  }

  @Test func endsOfAThousandItemsHaveNoAccumulatedError() throws {
    let rig = try StreamRig()
    let first = try rig.noise("first.wav", rate: 44_100, channels: 2, frames: 0..<997)
    let second = try rig.noise("second.wav", rate: 32_000, channels: 1, frames: 0..<1_009)
    let rate = try #require(PlaybackRate(1.234567))
    let passes = (1..<1_000).map { Pass(itemID: $0 % 10 == 9 ? 2 : 1) }
    let outcome = try rig.decode(first, at: start(rate.value), then: passes, paths: [2: second], to: Self.output)
    var exact = 0.0
    for (index, end) in outcome.ends.enumerated() {
      let isSecond = index > 0 && index % 10 == 9
      exact += (isSecond ? 1_009.0 / 32_000 : 997.0 / 44_100) / rate.value * 48_000
      let off = Double(end) - exact
      #expect(off > -1e-6 && off < 1, "end \(index)")
    }
    #expect(outcome.ends.count == 1_000)
  }

  @Test func consecutiveItemsAtARateAreConvertedAsOne() throws {
    let rig = try StreamRig()
    let whole = try rig.noise("whole.wav", rate: 48_000, channels: 2, frames: 0..<30_000)
    let halves = [
      try rig.noise("a.wav", rate: 48_000, channels: 2, frames: 0..<15_000),
      try rig.noise("b.wav", rate: 48_000, channels: 2, frames: 15_000..<30_000),
    ]
    let one = try rig.decode(whole, at: start(1.5), to: Self.output)
    let two = try rig.decode(
      halves[0], at: start(1.5), then: [Pass(itemID: 2)], paths: [2: halves[1]], to: Self.output)
    #expect(one.samples == two.samples)
  }

  @Test func startInTheMiddlePrimesTheFilterWithEarlierAudio() throws {
    let rig = try StreamRig()
    let path = try rig.noise("noise.wav", rate: 48_000, channels: 2, frames: 0..<48_000)
    // At rate 2 every output frame is at an even frame, wherever it began.
    let whole = try rig.decode(path, at: start(2), to: Self.output)
    var middle = try start(2)
    middle.time = MediaTime(value: 20_000, timescale: 48_000)
    let part = try rig.decode(path, at: middle, to: Self.output)
    #expect(part.samples.count == 14_000 * 2)
    let worst = zip(part.samples, whole.samples.dropFirst(20_000)).map { abs($0 - $1) }.max() ?? 1
    #expect(worst < 1e-6)
  }
}
