import Foundation
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadControlLoop
@testable import PlayheadPlayback

/// Silence of a player, on virtual time.
@Suite struct SilenceTests {
  private final class Reports: Sendable {
    private let values = Mutex<[PlayerSilence]>([])
    func add(_ silence: PlayerSilence) { values.withLock { $0.append(silence) } }
    var all: [PlayerSilence] { values.withLock { $0 } }
    /// The phases and frames.
    var lines: [String] { all.map { "\($0.phase.rawValue) \($0.outputFrame.map { "\($0)" } ?? "-")" } }
  }

  /// A file with a constant value in these frames, and silence in the others.
  private func item(_ rig: Rig, value: Int16 = 1_000, loud: [Range<Int>], frames: Int) throws -> PlayerItem {
    try rig.wave("silence-\(value)-\(frames).wav", frames: frames) { index in
      loud.contains { $0.contains(index) } ? StereoFrame(left: 0, right: value) : StereoFrame(left: 0, right: 0)
    }
  }

  /// Observes the event of a player with a detection.
  private func detect(_ rig: Rig, _ detection: SilenceDetection) async throws -> Reports {
    let reports = Reports()
    try await rig.run { player in
      try player.setSilenceDetection(detection)
      _ = player.addEventObserver { event in if case .silence(let silence) = event { reports.add(silence) } }
    }
    return reports
  }

  private func milliseconds(_ time: HostTime) -> Int64 { (time.nanoseconds + 500_000) / 1_000_000 }

  @Test func silenceInAnItemHasItsFirstAndLastFrame() async throws {
    let rig = try await Rig()
    let item = try item(rig, loud: [0..<48_000, 144_000..<240_000], frames: 240_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    let reports = try await detect(rig, SilenceDetection(duration: .milliseconds(500)))
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_400)
    #expect(reports.lines == [])
    await rig.advance(milliseconds: 200)
    #expect(reports.lines == ["began 48000"])
    await rig.advance(milliseconds: 1_300)
    #expect(reports.lines == ["began 48000"])
    await rig.advance(milliseconds: 400)
    #expect(reports.lines == ["began 48000", "ended 144000"])
    // The item ends after 5 s, and the queue is empty.
    await rig.advance(milliseconds: 2_600)
    #expect(reports.lines == ["began 48000", "ended 144000", "began 240000"])
    let all = reports.all
    #expect(all.map { milliseconds($0.hostTime) } == [1_000, 3_000, 5_000])
    #expect(all.count == 3 && abs(all[1].durationNanoseconds - 2_000_000_000) < 1_000_000)
    #expect(all.allSatisfy { $0.durationNanoseconds >= 499_000_000 })
  }

  /// The values are 30.3 and 50.3 dB below full scale.
  @Test(arguments: [(Int16(1_000), Float(-40), [String]()), (100, -40, ["began 0"]), (100, -60, [])])
  func levelIsComparedWithTheThreshold(value: Int16, threshold: Float, expected: [String]) async throws {
    let rig = try await Rig()
    let item = try item(rig, value: value, loud: [0..<480_000], frames: 480_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    let reports = try await detect(rig, SilenceDetection(duration: .seconds(1), threshold: threshold))
    await rig.advance(milliseconds: 5_000)
    #expect(reports.lines.map { $0.hasPrefix("began") } == expected.map { $0.hasPrefix("began") })
  }

  @Test func mutedAndPausedPlayersAreSilent() async throws {
    let rig = try await Rig()
    let item = try item(rig, loud: [0..<960_000], frames: 960_000)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    let reports = try await detect(rig, SilenceDetection(duration: .seconds(1)))
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 3_000)
    #expect(reports.lines == [])
    await rig.run { $0.setMuted(true) }
    await rig.advance(milliseconds: 1_500)
    await rig.run { $0.setMuted(false) }
    await rig.advance(milliseconds: 500)
    #expect(reports.all.map(\.phase) == [.began, .ended])
    await rig.run { $0.pause() }
    await rig.advance(milliseconds: 2_000)
    #expect(reports.all.map(\.phase) == [.began, .ended, .began])
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    #expect(reports.all.map(\.phase) == [.began, .ended, .began, .ended])
    // Muted at 3 s, audible again at 4.5 s, paused at 5 s, resumed at 7 s.
    let expected: [Int64] = [3_000, 4_500, 5_000, 7_000]
    for (silence, time) in zip(reports.all, expected) {
      #expect((time - 20...time + 120).contains(milliseconds(silence.hostTime)), "\(silence)")
    }
  }

  @Test func playerWithoutItemIsSilentSinceTheRequest() async throws {
    let rig = try await Rig()
    await rig.advance(milliseconds: 5_000)
    let reports = try await detect(rig, SilenceDetection(duration: .seconds(2)))
    await rig.advance(milliseconds: 1_900)
    #expect(reports.lines == [])
    await rig.advance(milliseconds: 200)
    #expect(reports.lines == ["began -"])
    #expect(reports.all.first.map { milliseconds($0.hostTime) } == 5_000)
    await rig.advance(milliseconds: 60_000)
    #expect(reports.all.count == 1)
  }

  @Test func silenceIsReportedOnlyWhileDetectionIsOn() async throws {
    let rig = try await Rig()
    let reports = try await detect(rig, SilenceDetection(duration: .seconds(1)))
    try await rig.run { try $0.setSilenceDetection(.off) }
    await rig.advance(milliseconds: 3_000)
    #expect(reports.all == [])
    let observed = Reports()
    let token = try await rig.run { try $0.addSilenceObserver(lasting: .seconds(1)) { observed.add($0) } }
    await rig.advance(milliseconds: 1_500)
    #expect(observed.all.map(\.phase) == [.began] && reports.all == [])
    try await rig.run { try $0.removeSilenceObserver(token) }
    await #expect(throws: MediaError.self) { try await rig.run { try $0.removeSilenceObserver(token) } }
  }

  @Test func valuesOutOfRangeAreErrorsAndChangeNothing() async throws {
    let rig = try await Rig()
    let valid = SilenceDetection(duration: .seconds(5), threshold: -50)
    try await rig.run { try $0.setSilenceDetection(valid) }
    for (duration, threshold, code) in [
      (MediaTime.milliseconds(99), -60, .invalidTime), (.seconds(86_401), -60, .invalidTime),
      (.indefinite, -60, .invalidTime), (.seconds(1), 0.1, .invalidArgument), (.seconds(1), -101, .invalidArgument),
      (.seconds(1), .nan, .invalidArgument), (nil, 1, .invalidArgument),
    ] as [(MediaTime?, Float, MediaError.Code)] {
      do {
        try await rig.run { try $0.setSilenceDetection(SilenceDetection(duration: duration, threshold: threshold)) }
        Issue.record("no error")
      } catch { #expect((error as? MediaError)?.code == code) }
    }
    #expect(await rig.player.silenceDetection == valid)
    #expect(await rig.player.state.silenceDetection == valid)
  }
}
