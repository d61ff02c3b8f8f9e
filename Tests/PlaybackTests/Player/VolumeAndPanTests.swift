import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayback

/// Volume, mute, pan and fades of a player, as heard.
@Suite struct VolumeAndPanTests {
  private func withPlayingRig(_ body: (Rig) async throws -> Void) async throws {
    let rig = try await Rig()
    let item = try rig.level(0.5, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 100)
    rig.heard.removeAll()
    try await body(rig)
  }

  private func heard(_ rig: Rig, milliseconds: Int64) async -> [StereoFrame] {
    await rig.advance(milliseconds: milliseconds)
    defer { rig.heard.removeAll() }
    return rig.heard.all
  }

  /// Expects both channels to equal half of full scale times `gain`, frame by frame, within one step of the last bit.
  private func expectGain(
    _ frames: [StereoFrame], _ gain: (Int) -> (left: Double, right: Double),
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let wrong = frames.enumerated().first { index, frame in
      let wanted = gain(index)
      return abs(Double(frame.left) - 16_384 * wanted.left) > 1 || abs(Double(frame.right) - 16_384 * wanted.right) > 1
    }
    #expect(wrong == nil, "frame \(wrong?.offset ?? 0)", sourceLocation: sourceLocation)
  }

  @Test func fadeBeginsAtTheRequestAndIsLinear() async throws {
    try await withPlayingRig { rig in
      try await rig.run { try $0.fade(to: 0, duration: MediaTime(value: 1, timescale: 10)) }
      #expect(await rig.run { $0.state.volume } == 0)
      expectGain(await heard(rig, milliseconds: 150)) { index in
        let gain = max(0, 1 - Double(index) / 4_800)
        return (gain, gain)
      }
    }
  }

  @Test func newFadeBeginsAtTheCurrentVolumeOfTheOldFade() async throws {
    try await withPlayingRig { rig in
      try await rig.run { try $0.fade(to: 0, duration: MediaTime(value: 1, timescale: 10)) }
      _ = await heard(rig, milliseconds: 50)
      try await rig.run { try $0.fade(to: 1, duration: MediaTime(value: 1, timescale: 10)) }
      expectGain(await heard(rig, milliseconds: 200)) { index in
        let gain = min(1, 0.5 + 0.5 * Double(index) / 4_800)
        return (gain, gain)
      }
    }
  }

  @Test func volumeSetDuringAFadeReplacesItWithin5Milliseconds() async throws {
    try await withPlayingRig { rig in
      try await rig.run { try $0.fade(to: 0, duration: MediaTime(value: 10, timescale: 1), curve: .equalPower) }
      _ = await heard(rig, milliseconds: 50)
      try await rig.run { try $0.setVolume(0.25) }
      let frames = await heard(rig, milliseconds: 20)
      #expect(frames[0].left > 16_000)
      expectGain(Array(frames[240...])) { _ in (0.25, 0.25) }
    }
  }

  @Test func volumeSetDuringPlaybackIsReachedWithin5MillisecondsWithoutAStep() async throws {
    try await withPlayingRig { rig in
      try await rig.run { try $0.setVolume(0.25) }
      // 2 ms of the fade, then back from its present value.
      expectGain(await heard(rig, milliseconds: 2)) { index in
        let gain = 1 - 0.75 * Double(index) / 240
        return (gain, gain)
      }
      try await rig.run { try $0.setVolume(1) }
      expectGain(await heard(rig, milliseconds: 20)) { index in
        let gain = min(1, 0.7 + 0.3 * Double(index) / 240)
        return (gain, gain)
      }
      try await rig.run { try $0.setVolume(0) }
      expectGain(await heard(rig, milliseconds: 20)) { index in
        let gain = max(0, 1 - Double(index) / 240)
        return (gain, gain)
      }
    }
  }

  @Test func muteTakes5MillisecondsAndDoesNotStopAFade() async throws {
    try await withPlayingRig { rig in
      try await rig.run {
        try $0.fade(to: 0, duration: MediaTime(value: 1, timescale: 10))
        $0.setMuted(true)
      }
      expectGain(await heard(rig, milliseconds: 50)) { index in
        let gain = (1 - Double(index) / 4_800) * max(0, 1 - Double(index) / 240)
        return (gain, gain)
      }
      await rig.run { $0.setMuted(false) }
      expectGain(await heard(rig, milliseconds: 100)) { index in
        let gain = max(0, 0.5 - Double(index) / 4_800) * min(1, Double(index) / 240)
        return (gain, gain)
      }
    }
  }

  @Test func panChangesWithin5MillisecondsWithoutAStep() async throws {
    try await withPlayingRig { rig in
      try await rig.run { try $0.setPan(-0.5) }
      #expect(await rig.run { $0.state.pan } == -0.5)
      let far = 0.5.squareRoot()
      expectGain(await heard(rig, milliseconds: 20)) { index in (1, max(far, 1 - (1 - far) * Double(index) / 240)) }
    }
  }

  @Test func volumeAndPanSetWhilePausedApplyFromTheFirstSample() async throws {
    try await withPlayingRig { rig in
      await rig.run { $0.pause() }
      await rig.advance(milliseconds: 100)
      rig.heard.removeAll()
      try await rig.run {
        try $0.setVolume(0.5)
        try $0.setPan(1)
        $0.play()
      }
      expectGain(await heard(rig, milliseconds: 20)) { _ in (0, 0.5) }
    }
  }

  /// Nothing is rounded: samples of float32, and of 24 bits, which float32 represents exactly.
  @Test(arguments: [true, false]) func outputAtFullVolumeEqualsTheFileBitForBit(_ isFloat: Bool) async throws {
    let rig = try await Rig()
    var random = SeededGenerator(seed: 24)
    let samples = (0..<38_400).map { _ in
      isFloat
        ? Float.random(in: -1...1, using: &random)
        : Float(Int.random(in: -8_388_608...8_388_607, using: &random)) / 8_388_608
    }
    var path = rig.files.file("fine.wav")
    try writeHighResolutionWAV(path, samples, isFloat: isFloat)
    if !isFloat {
      let flac = rig.files.file("fine.flac")
      try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-i", path, flac])
      path = flac
    }
    let item = rig.item(path)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    let heard = zip(rig.heard.left, rig.heard.right).drop { $0 == 0 && $1 == 0 }.prefix(19_200)
    #expect(heard.flatMap { [$0.bitPattern, $1.bitPattern] } == samples.map(\.bitPattern))
  }

  /// A WAV file of two channels: float32, or 24 bits.
  private func writeHighResolutionWAV(_ path: String, _ samples: [Float], isFloat: Bool) throws {
    var bytes = Data("RIFF".utf8)
    func append(_ value: Int, _ count: Int) {
      for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }
    let width = isFloat ? 4 : 3
    append(36 + samples.count * width, 4)
    bytes += Data("WAVEfmt ".utf8)
    for (value, count) in [
      (16, 4), (isFloat ? 3 : 1, 2), (2, 2), (48_000, 4), (48_000 * 2 * width, 4), (2 * width, 2), (8 * width, 2),
    ] { append(value, count) }
    bytes += Data("data".utf8)
    append(samples.count * width, 4)
    for sample in samples { append(isFloat ? Int(sample.bitPattern) : Int(sample * 8_388_608), width) }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  /// The second item has been decoded before the player is muted, and the third begins while it is muted.
  @Test func mutePersistsAcrossItems() async throws {
    let rig = try await Rig()
    let items = try (0..<3).map { _ in
      rig.item(try rig.level(0.5, frames: 48_000).asset.path ?? "")
    }
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    await rig.run { $0.setMuted(true) }
    _ = await heard(rig, milliseconds: 20)
    expectGain(await heard(rig, milliseconds: 700)) { _ in (0, 0) }
    #expect(await rig.run { $0.state.currentItemID } == items[1].id)
    await rig.run { $0.advanceToNextItem() }
    expectGain(await heard(rig, milliseconds: 300)) { _ in (0, 0) }
    let state = await rig.run { $0.state }
    #expect(state.currentItemID == items[2].id && state.isMuted && state.timeControlStatus == .playing)
    await rig.run { $0.setMuted(false) }
    expectGain(await heard(rig, milliseconds: 100)) { index in
      let gain = min(1, Double(index) / 240)
      return (gain, gain)
    }
  }

  @Test func invalidVolumePanAndFadesAreRejectedAndChangeNothing() async throws {
    try await withPlayingRig { rig in
      try await rig.run { try $0.setPan(0.25) }
      let state = await rig.run { $0.state }
      for volume in [-0.1, 1.001, .nan, .infinity, -.infinity] as [Float] {
        #expect(await rig.error { try $0.setVolume(volume) } == .invalidArgument)
        #expect(await rig.error { try $0.fade(to: volume, duration: .zero) } == .invalidArgument)
      }
      for pan in [-1.001, 1.001, .nan, .infinity, -.infinity] as [Float] {
        #expect(await rig.error { try $0.setPan(pan) } == .invalidArgument)
      }
      let tooLong = MediaTime(value: 86_401, timescale: 1)
      for duration in [MediaTime(value: -1, timescale: 1), tooLong, .invalid, .indefinite, .positiveInfinity] {
        #expect(await rig.error { try $0.fade(to: 0.5, duration: duration) } == .invalidTime)
      }
      #expect(await rig.run { $0.state } == state)
      expectGain(Array(await heard(rig, milliseconds: 20)[240...])) { _ in (Double(0.9238795), 1) }
    }
  }
}
