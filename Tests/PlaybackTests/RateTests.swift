import Foundation
import MediaCore
import MediaTesting
import RigSupport
import Synchronization
import Testing

@testable import Playback

/// Rates of a player, as heard. Items are ramps: each sample says its place, at whatever rate it is played.
@Suite struct RateTests {
  private static let outputRate = 48_000.0

  /// A rig that plays a ramp of `frames` frames.
  private func rig(frames: Int, sampleRateHz: Int = 48_000, playing: Bool = true) async throws -> Rig {
    let rig = try await Rig()
    let item = try rig.ramp(frames: frames, rate: sampleRateHz)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    if playing { await rig.run { $0.play() } }
    return rig
  }

  /// The places, in the item's frames, of what was heard; silence at the beginning is left out.
  private func places(_ rig: Rig, frames: Int) -> [Double] {
    rig.heard.left.drop { $0 == 0 }.map { Ramp.place(of: $0, frames: frames) }
  }

  private func seconds(_ value: Double) -> MediaTime { MediaTime(seconds: value, preferredTimescale: 1_000_000) }

  // MARK: - Varispeed

  @Test(arguments: [0.03125, 0.5, 0.75, 1.1, 1.234567, 2, 3.7, 32])
  func whatIsHeardAtAFrameIsItsTimeTimesTheRate(_ rate: Double) async throws {
    let frames = 1_000_000
    for sampleRateHz in [44_100, 48_000] {
      let rig = try await rig(frames: frames, sampleRateHz: sampleRateHz, playing: false)
      try await rig.run { player in
        try player.seek(to: MediaTime(value: 1, timescale: 4), toleranceBefore: .zero, toleranceAfter: .zero) { _ in }
      }
      await rig.settle()
      rig.heard.removeAll()
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: 500)
      let step = rate * Double(sampleRateHz) / Self.outputRate
      let heard = places(rig, frames: frames)
      #expect(heard.count > 20_000)
      var worst = 0.0
      for (index, place) in heard.enumerated() {
        worst = max(worst, abs(place - (Double(sampleRateHz) / 4 + Double(index) * step)))
      }
      // Where it begins it is up to a frame of the output behind the time that was asked for.
      #expect(worst < step + 1, "at \(sampleRateHz) Hz")
      await expectTimeIsHeard(rig, frames: frames, sampleRateHz: sampleRateHz, rate: rate)
      await rig.close()
    }
  }

  /// How far the current time is from the sample that is heard next, in seconds.
  private func deviation(_ rig: Rig, frames: Int, sampleRateHz: Int) async -> Double {
    let time = await rig.run { $0.currentTime() }
    let left = rig.heard.left.suffix(2)
    guard left.count == 2, let last = left.last, let before = left.first else { return .infinity }
    let (place, earlier) = (Ramp.place(of: last, frames: frames), Ramp.place(of: before, frames: frames))
    return time.seconds - (2 * place - earlier) / Double(sampleRateHz)
  }

  private func expectTimeIsHeard(
    _ rig: Rig, frames: Int, sampleRateHz: Int, rate: Double, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let deviation = await deviation(rig, frames: frames, sampleRateHz: sampleRateHz)
    #expect(abs(deviation) * Self.outputRate < max(1, rate), sourceLocation: sourceLocation)
  }

  @Test func aChangeWhilePlayingIsHeardWithin80MillisecondsWithoutAClick() async throws {
    let frames = 1_000_000
    let rig = try await rig(frames: frames)
    await rig.advance(milliseconds: 500)
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(2) }
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [2, 1])
    await rig.advance(milliseconds: 500)
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [2, 2])
    let heard = places(rig, frames: frames)
    #expect(heard.count == 24_000)
    let steps = zip(heard.dropFirst(), heard).map { $0 - $1 }
    let change = try #require(steps.firstIndex { $0 > 1.5 })
    print("rate change: heard \(Double(change) / 48) ms after it was asked for")
    #expect(change <= 80 * 48)
    // Nothing is missing, repeated or loud: from one sample to the next it goes on by what it did before or does then.
    // Within the cross-fade of two lines their sum is up to as much again away from them.
    #expect(steps.allSatisfy { $0 > 0.9 && $0 < 3.1 })
    let (before, after) = (steps[..<(change - 240)], steps[(change + 240)...])
    #expect(before.allSatisfy { abs($0 - 1) < 0.1 })
    #expect(after.allSatisfy { abs($0 - 2) < 0.2 })
    await expectTimeIsHeard(rig, frames: frames, sampleRateHz: 48_000, rate: 2)
    await rig.close()
  }

  @Test func atRate1AgainWhatIsHeardIsBitExact() async throws {
    let rig = try await Rig()
    let item = try rig.wav(file: 3, frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    for rate in [1, 1.5, 1] {
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: 300)
    }
    rig.heard.removeAll()
    await rig.advance(milliseconds: 300)
    #expect(rig.heard.runs.count == 1)
    #expect(rig.heard.runs.first?.count == 14_400)
    await rig.close()
  }

  // MARK: - What follows from time

  @Test func statement21_periodicObserverFollowsItemTime() async throws {
    for (rate, gap) in [(2.0, 0.5), (0.5, 2)] {
      let rig = try await rig(frames: 960_000, playing: false)
      let told = Mutex<[(time: Double, at: HostTime, rate: Double, late: Int64)]>([])
      let loop = rig.loop
      try await rig.run { player in
        _ = try player.addPeriodicTimeObserver(forInterval: MediaTime(value: 1, timescale: 1)) { observation in
          guard observation.reason == .periodic else { return }
          told.withLock {
            $0.append((observation.time.seconds, loop.now, observation.rate, observation.lateNanoseconds))
          }
        }
        try player.setRate(rate)
      }
      await rig.advance(milliseconds: 6_400)
      let ticks = told.withLock { $0 }
      let multiples = (1...(rate == 2 ? 12 : 3)).map { Double($0) }
      #expect(ticks.map(\.time) == multiples)
      #expect(ticks.allSatisfy { $0.rate == rate })
      #expect(ticks.allSatisfy { $0.late < 1_000_000 })
      for (next, tick) in zip(ticks.dropFirst(), ticks) {
        let passed = Double(next.at.nanoseconds(since: tick.at)) / 1e9
        #expect(abs(passed - gap) < 0.001)
      }
      await rig.close()
    }
  }

  @Test func endsLoopsAndSeamsComeWhereTheSoundSaysAtAnyRate() async throws {
    let rig = try await Rig()
    let items = [try rig.ramp(frames: 48_000), try rig.ramp(frames: 44_100, rate: 44_100)]
    let ends = Mutex<[String]>([])
    try await rig.run { player in
      _ = player.addEventObserver { event in
        switch event {
        case .playedToEnd(_, let time): ends.withLock { $0.append("end \(time.decimalDescription)") }
        case .seam(let seam):
          ends.withLock { $0.append("seam \(seam.time.decimalDescription) inserted \(seam.insertedFrameCount)") }
        default: break
        }
      }
      try player.append(items)
    }
    await rig.settle()
    let loop = TimeRange(start: MediaTime(value: 1, timescale: 10), end: MediaTime(value: 3, timescale: 10))
    try await rig.run { player in
      try player.setLoop(loop, count: 2)
      try player.setRate(2)
    }
    await rig.advance(milliseconds: 3_000)
    // 1 s, twice 0.2 s of it again, and another second: 1.2 s at twice the speed.
    let sounded = rig.heard.left.drop { $0 == 0 }.prefix { $0 != 0 }.count
    #expect((57_599...57_601).contains(sounded))
    let told = ends.withLock { $0 }
    #expect(
      told == [
        "seam 0.1 inserted 0", "seam 0.1 inserted 0", "end 1", "seam 0 inserted 0", "end 1",
      ])
    await rig.close()
  }

  @Test func boundariesAreCrossedOnceThoughTheRateChanges() async throws {
    let rig = try await rig(frames: 480_000)
    let told = Mutex<[Double]>([])
    try await rig.run { player in
      _ = try player.addBoundaryTimeObserver(forTimes: (1...40).map { MediaTime(value: $0, timescale: 10) }) {
        crossing in
        told.withLock { $0.append(crossing.time.seconds) }
      }
    }
    for rate in [2.0, 0.25, 1, 3, 0.5, 1.5] {
      try await rig.run { try $0.setRate(rate) }
      await rig.advance(milliseconds: 450)
    }
    let reached = await rig.run { $0.currentTime().seconds }
    let times = (1...40).map { Double($0) / 10 }.filter { $0 <= reached }
    #expect(told.withLock { $0 } == times)
    await rig.close()
  }

  @Test func aSeekAtAnotherRateLandsWithinASample() async throws {
    let rig = try await rig(frames: 480_000)
    try await rig.run { try $0.setRate(1.7) }
    await rig.advance(milliseconds: 300)
    let target = MediaTime(value: 123_457, timescale: 48_000)
    let result = try await rig.player.seek(to: target, toleranceBefore: .zero, toleranceAfter: .zero)
    #expect(result.finished && result.isExact)
    let off = (result.time - target).seconds
    #expect(off >= 0 && off < 1.7 / 48_000)
    await rig.advance(milliseconds: 300)
    await expectTimeIsHeard(rig, frames: 480_000, sampleRateHz: 48_000, rate: 1.7)
    await rig.close()
  }

  // MARK: - Rates as state

  @Test func statement8_waitingHasARateButNoTimePasses() async throws {
    let rig = try await Rig()
    try await rig.run { try $0.setRate(2) }
    await rig.advance(milliseconds: 100)
    let state = await rig.run { $0.state }
    #expect(state.rate == 2 && state.timeControlStatus == .waiting && state.timebaseRate == 0)
    #expect(await rig.run { $0.currentTime() } == .zero)
    let item = try rig.ramp(frames: 96_000)
    try await rig.run { try $0.append([item]) }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.state.timebaseRate } == 2)
    await rig.close()
  }

  @Test func statement12_playReturnsToTheDefaultRate() async throws {
    let rig = try await rig(frames: 960_000, playing: false)
    try await rig.run { try $0.setRate(2) }
    await rig.advance(milliseconds: 200)
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { [$0.state.rate, $0.state.timebaseRate] } == [0, 0])
    let before = await rig.run { $0.currentTime() }
    await rig.run { $0.play() }
    #expect(await rig.run { $0.state.rate } == 1)
    await rig.advance(milliseconds: 200)
    // From the first sample on.
    let after = await rig.run { $0.currentTime() }
    let passed = (after - before).seconds
    #expect(abs(passed - 0.2) < 1.0 / 48_000)
    try await rig.run { player in
      player.pause()
      try player.setDefaultRate(2)
      player.play()
    }
    #expect(await rig.run { [$0.state.rate, $0.state.defaultRate] } == [2, 2])
    await rig.close()
  }

  @Test func aRateForTheNextPlayStartsNothingAndIsUsedOnce() async throws {
    let rig = try await rig(frames: 960_000, playing: false)
    try await rig.run { try $0.setRate(3, startsPlayback: false) }
    await rig.advance(milliseconds: 100)
    #expect(await rig.run { $0.state.rate } == 0)
    #expect(await rig.run { $0.currentTime() } == .zero)
    var rates: [Double] = []
    for _ in 0..<2 {
      await rig.run { $0.play() }
      rates.append(await rig.run { $0.state.rate })
      await rig.run { $0.pause() }
    }
    #expect(rates == [3, 1])
    await rig.close()
  }

  @Test func ratesThatAreNoneAreErrorsAndChangeNothing() async throws {
    let rig = try await rig(frames: 480_000)
    try await rig.run { try $0.setRate(1.5) }
    await rig.advance(milliseconds: 200)
    let state = await rig.run { $0.state }
    for rate in [Double.nan, .infinity, -.infinity, 32.001, 0.03, -33, 1e-300, 1e300] {
      #expect(await rig.error { try $0.setRate(rate) } == .unsupportedRate)
      #expect(await rig.error { try $0.setRate(rate, startsPlayback: false) } == .unsupportedRate)
      #expect(await rig.error { try $0.setDefaultRate(rate) } == .unsupportedRate)
    }
    #expect(await rig.error { try $0.setDefaultRate(0) } == .unsupportedRate)
    #expect(await rig.run { $0.state } == state)
    await rig.close()
  }
}

/// Sound whose samples say where they are: a straight line from just above 0 to 1.
enum Ramp {
  private static let files = Mutex<[String: Data]>([:])

  /// A WAV file of a ramp on both channels, in float32.
  static func file(frames: Int, rate: Int) -> Data {
    files.withLock { files in
      let name = "\(frames) at \(rate)"
      if let made = files[name] { return made }
      var bytes = Data("RIFF".utf8)
      func append(_ value: Int, _ count: Int) {
        for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
      }
      append(36 + frames * 8, 4)
      bytes += Data("WAVEfmt ".utf8)
      for (value, count) in [(16, 4), (3, 2), (2, 2), (rate, 4), (rate * 8, 4), (8, 2), (32, 2)] {
        append(value, count)
      }
      bytes += Data("data".utf8)
      append(frames * 8, 4)
      let samples = [Float](unsafeUninitializedCapacity: frames * 2) { room, count in
        for index in 0..<frames * 2 { room[index] = sample(index / 2, frames: frames) }
        count = frames * 2
      }
      samples.withUnsafeBytes { bytes.append(contentsOf: $0) }
      files[name] = bytes
      return bytes
    }
  }

  /// The sample of a frame.
  static func sample(_ index: Int, frames: Int) -> Float { Float(index + 1) / Float(frames + 1) }

  /// The place, in frames, at which a ramp has this sample.
  static func place(of sample: Float, frames: Int) -> Double { Double(sample) * Double(frames + 1) - 1 }
}

extension Rig {
  /// An item that is a ramp on both channels, in float32.
  func ramp(frames: Int, rate: Int = 48_000) throws -> PlayerItem {
    let path = files.file("ramp-\(frames)-\(rate).wav")
    let bytes = Ramp.file(frames: frames, rate: rate)
    try bytes.write(to: URL(fileURLWithPath: path))
    return item(path)
  }
}
