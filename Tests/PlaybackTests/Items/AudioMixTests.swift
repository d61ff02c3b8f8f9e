import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// The volume of an item at its different times.
@Suite struct AudioMixTests {
  private func seconds(_ seconds: Int64) -> MediaTime { MediaTime(value: seconds, timescale: 1) }

  private func range(_ start: Int64, _ duration: Int64) -> TimeRange {
    TimeRange(start: seconds(start), duration: seconds(duration))
  }

  /// `setVolume 1@0` and a ramp from .5 to .2 over [4, 9).
  private func exampleMix() throws -> AudioMix {
    var mix = AudioMix()
    try mix.setVolume(1, at: .zero)
    try mix.setVolumeRamp(fromStartVolume: 0.5, toEndVolume: 0.2, timeRange: range(4, 5))
    return mix
  }

  @Test func statement32_rampInterpolatesAndKeepsItsEndVolume() throws {
    let mix = try exampleMix()
    #expect(mix.volume(at: .zero) == 1)
    #expect(mix.volume(at: MediaTime(value: 191_999, timescale: 48_000)) == 1)
    #expect(mix.volume(at: seconds(4)) == 0.5)
    #expect(abs(mix.volume(at: MediaTime(value: 13, timescale: 2)) - 0.35) < 1e-6)
    #expect(mix.volume(at: seconds(9)) == 0.2)
    #expect(mix.volume(at: seconds(1_000)) == 0.2)
    // The ramp that contains the time, or else the next one; nil after the last.
    #expect(mix.volumeRamp(at: seconds(2))?.startVolume == 0.5)
    #expect(mix.volumeRamp(at: seconds(6))?.timeRange == range(4, 5))
    #expect(mix.volumeRamp(at: seconds(9)) == nil)
  }

  @Test func volumeBeforeTheFirstPointIs1() throws {
    var mix = AudioMix()
    #expect(mix.volume(at: .zero) == 1)
    try mix.setVolume(0.25, at: seconds(2))
    #expect(mix.volume(at: .zero) == 1)
    #expect(mix.volume(at: seconds(2)) == 0.25)
  }

  @Test func newPointReplacesOneAtTheSameTimeOrFollowsARamp() throws {
    var mix = try exampleMix()
    try mix.setVolume(0.75, at: .zero)
    try mix.setVolume(0.9, at: seconds(9))
    #expect(mix.volumeRamps.map(\.startVolume) == [0.75, 0.5, 0.9])
    #expect(mix.volume(at: seconds(9)) == 0.9)
  }

  @Test func invalidPointsAndRampsAreRejectedAndChangeNothing() throws {
    var mix = try exampleMix()
    let before = mix
    for volume in [-0.1, 1.1, .nan, .infinity] as [Float] {
      expectError(.invalidArgument) { try mix.setVolume(volume, at: .zero) }
      expectError(.invalidArgument) {
        try mix.setVolumeRamp(fromStartVolume: 0, toEndVolume: volume, timeRange: range(20, 1))
      }
    }
    for time in [seconds(-1), .invalid, .indefinite, .positiveInfinity] {
      expectError(.invalidTime) { try mix.setVolume(0.5, at: time) }
    }
    for range in [range(20, 0), range(20, -1), TimeRange(start: .zero, duration: .positiveInfinity), .invalid] {
      expectError(.invalidTime) {
        try mix.setVolumeRamp(fromStartVolume: 0, toEndVolume: 1, timeRange: range)
      }
    }
    // Within the ramp, and across its start and its end.
    expectError(.invalidArgument) { try mix.setVolume(0.5, at: seconds(5)) }
    for start in [3, 8] as [Int64] {
      expectError(.invalidArgument) {
        try mix.setVolumeRamp(fromStartVolume: 0, toEndVolume: 1, timeRange: range(start, 2))
      }
    }
    #expect(mix == before)
  }

  @Test func applyingInChunksEqualsApplyingAtOnce() throws {
    var mix = AudioMix()
    try mix.setVolumeRamp(
      fromStartVolume: 0, toEndVolume: 0.5,
      timeRange: TimeRange(start: MediaTime(value: 101, timescale: 1_000), duration: MediaTime(value: 1, timescale: 3)))
    try mix.setVolume(1, at: MediaTime(value: 700, timescale: 1_000))
    var whole = [Float](repeating: 1, count: 2_000)
    mix.apply(to: &whole, frameCount: 1_000, channelCount: 2, firstFrame: 0, sampleRateHz: 1_000)
    for frame in 0..<1_000 {
      let volume = mix.volume(at: MediaTime(value: Int64(frame), timescale: 1_000))
      #expect(abs(whole[frame * 2] - volume) < 1e-6 && whole[frame * 2] == whole[frame * 2 + 1])
    }
    for length in [1, 7, 333] {
      var chunked = [Float](repeating: 1, count: 2_000)
      for start in stride(from: 0, to: 1_000, by: length) {
        chunked.withUnsafeMutableBufferPointer { buffer in
          guard let base = buffer.baseAddress else { return }
          mix.apply(
            to: base + start * 2, frameCount: min(length, 1_000 - start), channelCount: 2, firstFrame: Int64(start),
            sampleRateHz: 1_000)
        }
      }
      #expect(chunked == whole)
    }
  }

  @Test func mixVolumeIsAppliedToEverySample() async throws {
    let rig = try await Rig()
    let item = try rig.level(0.5, frames: 480_000)
    let mix = try exampleMix()
    item.audioMix = mix
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 10_000)
    let frames = rig.heard.all
    #expect(frames.count == 480_000)
    let wrong = frames.enumerated().first { index, frame in
      let volume = Double(mix.volume(at: MediaTime(value: Int64(index), timescale: 48_000)))
      return abs(Double(frame.left) - 16_384 * volume) > 0.51
    }
    #expect(wrong == nil, "frame \(wrong?.offset ?? 0)")
    // The step at 4 s is between these two frames.
    #expect(frames[191_999].left == 16_384 && frames[192_000].left == 8_192)
  }

  @Test func mixFollowsItemTimeAfterASeekAtAnotherSampleRate() async throws {
    let rig = try await Rig()
    let item = try rig.level(0.5, frames: 441_000, rate: 44_100)
    item.audioMix = try exampleMix()
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    try await rig.run { try $0.seek(to: seconds(6), toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    rig.heard.removeAll()
    await rig.advance(milliseconds: 1_000)
    // 6.5 s.
    #expect(abs(Double(rig.heard.all[24_000].left) - 16_384 * 0.35) <= 1)
  }

  @Test func mixChangeDuringPlaybackAppliesAtOnceWithoutSkippingAudio() async throws {
    let rig = try await Rig()
    let saw: @Sendable (Int) -> StereoFrame = { StereoFrame(left: Int16($0 % 20_000), right: Int16($0 % 20_000)) }
    let item = try rig.wave("saw.wav", frames: 480_000, frame: saw)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    var mix = AudioMix()
    try mix.setVolume(0.5, at: .zero)
    item.audioMix = mix
    await rig.advance(milliseconds: 1_000)
    item.audioMix = nil
    await rig.advance(milliseconds: 500)
    let frames = rig.heard.all
    #expect(frames.count == 96_000)
    let wrong = frames.enumerated().first { index, frame in
      let isHalf = index >= 24_000 && index < 72_000
      // The old and the new audio are cross-faded for 5 ms.
      if index - 24_000 < 240, index >= 24_000 {
        return frame.left > saw(index).left || frame.left < saw(index).left / 2
      }
      if index - 72_000 < 240, index >= 72_000 {
        return frame.left > saw(index).left || frame.left < saw(index).left / 2
      }
      return abs(Double(frame.left) - Double(saw(index).left) * (isHalf ? 0.5 : 1)) > 0.51
    }
    #expect(wrong == nil, "frame \(wrong?.offset ?? 0)")
    #expect(!rig.dump.contains("timeJumped"))
    #expect(await rig.run { $0.currentTime() } == seconds(2))
  }

  @Test func mixChangeAppliesToANextItemThatIsAlreadyDecoded() async throws {
    let rig = try await Rig()
    let items = [try rig.level(0.5, frames: 48_000), try rig.level(0.25, frames: 48_000)]
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    var mix = AudioMix()
    try mix.setVolume(0, at: .zero)
    items[1].audioMix = mix
    await rig.advance(milliseconds: 2_000)
    let frames = rig.heard.all
    #expect(frames[..<48_000].allSatisfy { $0.left == 16_384 })
    #expect(frames[48_000...].allSatisfy { $0 == .silence })
  }
}
