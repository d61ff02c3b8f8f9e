import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// Items that are composed of parts of files, as heard.
@Suite struct CompositionTests {
  private static func frames(_ frame: Int) -> MediaTime { MediaTime(frame: Int64(frame), rate: 48_000) }

  private static func range(_ start: Int, _ end: Int) -> TimeRange {
    TimeRange(start: frames(start), end: frames(end))
  }

  /// 30,000 frames of file 1 from 100, 20,000 of file 2 from 7, and 10,001 of file 1 again.
  private static let parts = [(1, 100, 30_000), (2, 7, 20_000), (1, 44_000, 10_001)]

  private func item(_ rig: Rig) throws -> PlayerItem {
    let paths = [rig.files.file("1.wav"), rig.files.file("2.flac")]
    try TimeCode.writeWAV(path: paths[0], file: 1, frameCount: 60_000)
    try TimeCode.writeFLAC(path: paths[1], file: 2, frameCount: 60_000)
    let assets = paths.map { Asset(path: $0) }
    var composition = Composition()
    let track = try composition.addTrack(.audio)
    for (file, first, count) in Self.parts {
      let end = try #require(composition.track(track)?.duration)
      try composition.insertTimeRange(
        Self.range(first, first + count), ofTrack: nil, of: assets[file - 1], at: end, inTrack: track)
    }
    return PlayerItem(asset: Asset(composition: composition), id: 1)
  }

  @Test func compositionPlaysItsSegmentsSampleForSample() async throws {
    let rig = try await Rig()
    let item = try item(rig)
    let other = try rig.wav(file: 3, frames: 4_800)
    try await rig.run { try $0.append([item]) }
    try await rig.run { try $0.append([PlayerItem(asset: other.asset, id: 2)]) }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    let runs = rig.heard.runs
    print("composition that is played: \(runs.map { "\($0.count) of \($0.file)" }.joined(separator: ", "))")
    #expect(
      runs.map { [$0.file, $0.firstIndex, $0.count] } == Self.parts.map { [$0.0, $0.1, $0.2] } + [[3, 0, 4_800]])
    // In sequence, without a frame in between.
    #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.position + $0.count == $1.position })
    #expect(item.duration == Self.frames(60_001) && item.providesPreciseDuration)
    #expect(rig.dump.contains("event playedToEnd item 1 at \(Self.frames(60_001).decimalDescription)"))
  }

  @Test func seekLandsInTheSegmentThatContainsTheTime() async throws {
    let rig = try await Rig()
    let item = try item(rig)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    _ = try await rig.player.seek(to: Self.frames(45_000), toleranceBefore: .zero, toleranceAfter: .zero)
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_000)
    #expect(rig.heard.runs.map { [$0.file, $0.firstIndex, $0.count] } == [[2, 15_007, 5_000], [1, 44_000, 10_001]])
  }

  @Test func looperRepeatsAComposition() async throws {
    let rig = try await Rig()
    let item = try item(rig)
    let looper = try PlayerLooper(player: rig.player, item: item)
    await rig.settle()
    await rig.player.play()
    await rig.advance(milliseconds: 2_700)
    let pass = Self.parts.map { [$0.0, $0.1, $0.2] }
    #expect(rig.heard.runs.prefix(6).map { [$0.file, $0.firstIndex, $0.count] } == pass + pass)
    looper.disableLooping()
  }

  @Test func missingSourceFailsTheItemWhenPlaybackReachesIt() async throws {
    let rig = try await Rig()
    let item = try item(rig)
    try FileManager.default.removeItem(atPath: rig.files.file("2.flac"))
    try await rig.run { try $0.append([item]) }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    #expect(rig.heard.runs.map { [$0.file, $0.firstIndex, $0.count] } == [[1, 100, 30_000]])
    #expect(rig.dump.contains("failedToPlayToEnd item 1 at 0.625: 2001 file-not-found"))
  }
}
