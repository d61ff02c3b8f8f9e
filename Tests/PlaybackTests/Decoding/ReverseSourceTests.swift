import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// Reverse playback of special items: another sample rate, a stretcher, damage, no audio.
@Suite struct ReverseSourceTests {
  private func frame(_ frame: Int64) -> MediaTime { MediaTime(value: frame, timescale: 48_000) }

  private func rig(_ item: (Rig) throws -> PlayerItem) async throws -> Rig {
    let rig = try await Rig()
    let item = try item(rig)
    try await rig.run { player in
      try player.append([item])
      try player.setActionAtItemEnd(.pause)
    }
    await rig.settle()
    return rig
  }

  private func seek(_ rig: Rig, to time: MediaTime) async throws {
    try await rig.run { try $0.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    rig.heard.removeAll()
  }

  private func ends(_ rig: Rig) -> [String] {
    rig.dump.split(separator: "\n").map(String.init).filter { $0.hasPrefix("event playedToEnd") }
  }

  // MARK: - Another sample rate

  /// The two grids have no sample in common, because frame `n` in reverse ends where frame `n` forwards begins. Each
  /// sample is therefore at its time, and the boundaries of decoded blocks are inaudible.
  @Test(arguments: [44_100, 22_050, 96_000])
  func resampledItemPlaysAtItsTimeWithoutDiscontinuities(_ rate: Int) async throws {
    let rig = try await rig { try $0.circle(frames: rate * 6, rate: rate) }
    try await seek(rig, to: MediaTime(value: 5, timescale: 1))
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 4_000)
    let (left, right) = (rig.heard.left, rig.heard.right)
    #expect(left.count > 190_000)
    let step = Double(rate) / 48_000
    var (worst, worstRadius) = (0.0, 0.0)
    for index in left.indices {
      let expected = Double(5 * rate - 1) - Double(index) * step
      worst = max(worst, abs(Circle.difference(Circle.position(left: left[index], right: right[index]), expected)))
      let radius = Double(left[index] * left[index] + right[index] * right[index]).squareRoot()
      worstRadius = max(worstRadius, abs(radius - 0.8))
    }
    print("reverse resampled | \(rate) Hz | position within \(worst) frames | level within \(worstRadius)")
    #expect(worst < 0.02 && worstRadius < 1e-3)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 1, timescale: 1))
    // After a change of direction it continues without a break.
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(1) }
    await rig.advance(milliseconds: 500)
    let positions = rig.heard.positions
    let steps = zip(positions.dropFirst(), positions).map { Circle.difference($0, $1) }
    let others = steps.filter { abs(abs($0) - step) >= 0.02 }
    #expect(others.count <= 1 && others.allSatisfy { abs($0) <= 1 }, "only the reversal itself is another step")
  }

  // MARK: - Stretchers

  @Test(arguments: [AudioTimePitchAlgorithm.timeDomain, .spectral], [-0.5, -2])
  func stretchedItemPlaysAtItsTimeOrIsRejected(_ algorithm: AudioTimePitchAlgorithm, _ rate: Double) async throws {
    let train = BurstTrain(sampleRateHz: 48_000, seconds: 6, rate: -rate)
    let rig = try await rig { rig in
      let path = rig.files.file("bursts.wav")
      try writeWAV(path, train.samples().flatMap { [$0, $0] }, sampleRateHz: 48_000, channelCount: 2)
      return rig.item(path)
    }
    guard algorithm.isAvailable else {
      await expectError(.unsupportedRate) { try await rig.run { try $0.setAudioTimePitchAlgorithm(algorithm) } }
      return
    }
    try await rig.run { try $0.setAudioTimePitchAlgorithm(algorithm) }
    try await seek(rig, to: MediaTime(value: 6, timescale: 1))
    try await rig.run { try $0.setRate(rate) }
    await rig.advance(milliseconds: 2_000)
    let time = await rig.run { $0.currentTime() }
    #expect(abs(time.seconds - (6 + 2 * rate)) < 0.000_1)
    // The train is the same from either end.
    let found = train.displacements(in: rig.heard.left)
    let heard = found.prefix(Int(-rate * 2))
    let worst = heard.compactMap { $0 }.map(abs).max() ?? .infinity
    print("reverse stretched | \(algorithm) at \(rate) | \(heard.count) bursts | within \(worst) ms")
    #expect(heard.allSatisfy { $0 != nil } && worst < (algorithm == .timeDomain ? 20 : 50))
  }

  // MARK: - Damage

  @Test func undecodablePacketIsReportedAndTheTimeStaysExact() async throws {
    let rig = try await rig { rig in
      var data = try rig.bytes(of: rig.flac(file: 1, frames: 192_000))
      for offset in 0..<40 { data[data.count / 2 + offset] ^= 0x5a }
      return try rig.write(data, as: "hit.flac")
    }
    try await seek(rig, to: frame(192_000))
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 5_000)
    let heard = rig.heard.all
    let wrong = heard.indices.filter { index in
      heard[index] != .silence && TimeCode.decode(heard[index])?.index != 191_999 - index
    }
    #expect(wrong.isEmpty)
    let missing = heard.prefix(192_000).count { $0 == .silence }
    print("reverse damaged | \(missing) frames of silence | \(rig.faults)")
    #expect(missing > 0 && missing <= 8_192)
    // Once when it was decoded ahead forwards, before the seek, and once on the way back.
    let fault = "packetsSkipped item 2 at 1.824 count 1: 4002 decode-failed"
    #expect(rig.faults == [fault, fault])
    #expect(ends(rig) == ["event playedToEnd item 2 at 0"])
    #expect(await rig.run { $0.currentTime() } == .zero)
  }

  // MARK: - No audio

  @Test func videoWithoutAudioPlaysSilenceInReverse() async throws {
    let rig = try await rig { rig in
      let path = rig.files.file("video.mp4")
      try Fixtures.ffmpeg([
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-c:v",
        "mpeg4", path,
      ])
      return rig.item(path)
    }
    try await seek(rig, to: .positiveInfinity)
    try await rig.run { player in
      _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 4)) { [log = rig.log] in
        if $0.reason == .periodic { log("tick \($0.time.decimalDescription) \($0.rate)") }
      }
      try player.setRate(-1)
    }
    await rig.advance(milliseconds: 400)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 6, timescale: 10))
    await rig.advance(milliseconds: 800)
    #expect(await rig.run { $0.currentTime() } == .zero)
    #expect(ends(rig) == ["event playedToEnd item 1 at 0"])
    #expect(rig.heard.all.allSatisfy { $0 == .silence })
    let ticks = rig.dump.split(separator: "\n").filter { $0.hasPrefix("tick") }
    #expect(ticks == ["tick 0.75 -1.0", "tick 0.5 -1.0", "tick 0.25 -1.0", "tick 0 -1.0"])
  }
}
