import Foundation
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback

@Suite struct MeterTests {
  /// A square wave of 500 Hz.
  private func square(_ rig: Rig, level: Double, frames: Int) throws -> PlayerItem {
    let value = Int16(clamping: Int((level * 32_768).rounded()))
    return try rig.wave("square-\(value).wav", frames: frames) { index in
      index / 48 % 2 == 0 ? StereoFrame(left: value, right: 0) : StereoFrame(left: -value, right: 0)
    }
  }

  /// The measured levels: average and peak of the left channel, then of the right.
  private func levels(_ rig: Rig) async throws -> [Float] {
    try await rig.run { player in
      try [0, 1].flatMap { [try player.averagePower(forChannel: $0), try player.peakPower(forChannel: $0)] }
    }
  }

  @Test func statement37_metersChangeOnlyOnUpdateMeters() async throws {
    let rig = try await Rig()
    let silence: [Float] = [-160, -160, -160, -160]
    let item = try square(rig, level: 1, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 200)
    // Metering is off by default.
    await rig.run { $0.updateMeters() }
    #expect(try await levels(rig) == silence)
    await rig.run { $0.setMeteringEnabled(true) }
    await rig.advance(milliseconds: 200)
    #expect(try await levels(rig) == silence)
    await rig.run { $0.updateMeters() }
    // A full-scale square is 0 dBFS; silence is -160.
    for level in try await levels(rig).prefix(2) { #expect(abs(level) < 0.001) }
    #expect(try await levels(rig).suffix(2) == silence.suffix(2))
    try await rig.run { try $0.setVolume(0.5) }
    await rig.advance(milliseconds: 200)
    for level in try await levels(rig).prefix(2) { #expect(abs(level) < 0.001) }
    await rig.run { $0.updateMeters() }
    for level in try await levels(rig).prefix(2) { #expect(abs(level + 6.0206) < 0.001) }
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 200)
    await rig.run { $0.updateMeters() }
    #expect(try await levels(rig) == silence)
    for channel in [-1, 2, .max] {
      #expect(await rig.error { _ = try $0.averagePower(forChannel: channel) } == .invalidArgument)
    }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 200)
    await rig.run { $0.updateMeters() }
    #expect(try await levels(rig) != silence)
    await rig.run { $0.setMeteringEnabled(false) }
    #expect(try await levels(rig) == silence)
  }

  @Test func observersGetLevelsWhenTheyAreHeardAndSilenceOnce() async throws {
    let rig = try await Rig()
    let item = try square(rig, level: 0.5, frames: 48_000)
    try await rig.run { player in
      try player.append([item])
      _ = try player.addMeterObserver(rate: 20) { [log = rig.log] in log("meter \(Self.text($0))") }
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 175)
    try await rig.run { try $0.fade(to: 0.5, duration: MediaTime(value: 1, timescale: 10)) }
    await rig.advance(milliseconds: 200)
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 200)
    try await rig.run { player in
      try player.setPan(1)
      player.play()
    }
    await rig.advance(milliseconds: 125)
    try await rig.run { player in
      try player.setPan(0)
      try player.seek(to: .zero, toleranceBefore: .zero, toleranceAfter: .zero) { _ in rig.log("seek") }
    }
    await rig.advance(milliseconds: 1_500)
    try expectGolden(rig.dump, "meters")
  }

  @Test func observerRateNeedNotDivide100() async throws {
    let rig = try await Rig()
    let item = try square(rig, level: 0.5, frames: 480_000)
    let tokens = try await rig.run { player in
      try player.append([item])
      return try [1, 30, 100].map { rate in
        try player.addMeterObserver(rate: rate) { [log = rig.log] _ in log("rate \(rate)") }
      }
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 2_000)
    let lines = rig.dump.split(separator: "\n")
    #expect(lines.count { $0 == "rate 1.0" } == 2)
    #expect(lines.count { $0 == "rate 30.0" } == 60)
    #expect(lines.count { $0 == "rate 100.0" } == 200)
    try await rig.run { player in
      for token in tokens { try player.removeMeterObserver(token) }
    }
    #expect(await rig.error { try $0.removeMeterObserver(tokens[0]) } == .noSuchObserver)
    await rig.advance(milliseconds: 1_000)
    #expect(rig.dump.split(separator: "\n").count { $0.hasPrefix("rate") && $0 != "rate 1.0 (request)" } == 262)
  }

  @Test func invalidObserverRatesAreRejected() async throws {
    let rig = try await Rig()
    for rate in [0, 0.99, 100.01, -1, .nan, .infinity] {
      #expect(await rig.error { _ = try $0.addMeterObserver(rate: rate) { _ in } } == .invalidArgument)
    }
  }

  @Test func meterScaleRunsFromMinus60DecibelsToFullScale() {
    #expect(MeterLevels.scale(-160) == 0)
    #expect(MeterLevels.scale(-60) == 0)
    #expect(MeterLevels.scale(0) == 1)
    #expect(MeterLevels.scale(3) == 1)
    #expect(abs(MeterLevels.scale(-6.0206) - 0.70675) < 1e-4)
    #expect(MeterLevels.decibels(0) == -160)
    #expect(MeterLevels.decibels(1) == 0)
    #expect(MeterLevels.decibels(2) > 6)
  }

  private static func text(_ observation: MeterObservation) -> String {
    func text(_ values: [Float]) -> String { values.map { String(format: "%.2f", $0) }.joined(separator: ",") }
    return "item \(observation.itemID ?? 0) time \(observation.time.decimalDescription) average"
      + " \(text(observation.levels.averagePower)) peak \(text(observation.levels.peakPower)) late"
      + " \(observation.lateNanoseconds)"
  }
}
