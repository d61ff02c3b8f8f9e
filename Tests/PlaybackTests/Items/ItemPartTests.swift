import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadPlaylists
import RigSupport
import Testing

/// Items that are parts of files, and the transitions between them.
@Suite struct ItemPartTests {
  private static let sectors: [Int64] = [0, 40, 41, 90, 150]
  private static let frameCount = 48_000 * 2 + 777

  /// Adjacent parts of one file, as in a CUE sheet: the last one continues to the file's end.
  private func parts(_ rig: Rig, _ path: String) -> [PlayerItem] {
    let asset = Asset(path: path)
    return Self.sectors.indices.map { index in
      let start = MediaTime(value: Self.sectors[index], timescale: 75)
      let range =
        index + 1 < Self.sectors.count
        ? TimeRange(start: start, end: MediaTime(value: Self.sectors[index + 1], timescale: 75))
        : TimeRange(start: start, duration: .positiveInfinity)
      return PlayerItem(asset: asset, timeRange: range, id: UInt64(index + 1))
    }
  }

  @Test(arguments: ["wav", "flac"])
  func consecutivePartsOfAFilePlayWithoutAGap(suffix: String) async throws {
    let rig = try await Rig()
    let path = rig.files.file("album.\(suffix)")
    if suffix == "wav" {
      try TimeCode.writeWAV(path: path, file: 3, frameCount: Self.frameCount)
    } else {
      try TimeCode.writeFLAC(path: path, file: 3, frameCount: Self.frameCount)
    }
    let items = parts(rig, path)
    try await rig.run { try $0.append(items) }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 2_600)
    // One run: no frame is missing or repeated, and there is no gap.
    let runs = rig.heard.runs
    let missing = Self.frameCount - runs.reduce(0) { $0 + $1.count }
    print("parts of a \(suffix): \(runs.count) run, \(missing) frames missing, \(max(0, -missing)) extra")
    #expect(runs.map { [$0.file, $0.firstIndex, $0.count] } == [[3, 0, Self.frameCount]])
    let transitions = rig.dump.split(separator: "\n").filter { $0.hasPrefix("event transition") }
    #expect(
      transitions == [
        "event transition 1 to 2 at 0 trimmed 0 by none and 0 by none inserted 0",
        "event transition 2 to 3 at 0 trimmed 0 by none and 0 by none inserted 0",
        "event transition 3 to 4 at 0 trimmed 0 by none and 0 by none inserted 0",
        "event transition 4 to 5 at 0 trimmed 0 by none and 0 by none inserted 0",
      ])
    // Each item has the duration of its part.
    #expect(items.map(\.duration).prefix(4) == [40, 1, 49, 60].map { MediaTime(value: $0, timescale: 75) }[...])
    #expect(items[4].duration == MediaTime(value: 777, timescale: 48_000))
    #expect(!items.map(\.providesPreciseDuration).contains(false))
  }

  @Test func timesOfAPartAreRelativeToItsStart() async throws {
    let rig = try await Rig()
    let path = rig.files.file("album.wav")
    try TimeCode.writeWAV(path: path, file: 3, frameCount: Self.frameCount)
    let item = parts(rig, path)[3]
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    try await rig.run { try $0.seek(to: MediaTime(value: 1, timescale: 2)) { _ in } }
    await rig.settle()
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: 1, timescale: 2))
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_000)
    // From half a second into the part to its end.
    let first = 90 * 640 + 24_000
    #expect(rig.heard.runs.map { [$0.firstIndex, $0.count] } == [[first, 150 * 640 - first]])
    #expect(rig.dump.contains("event playedToEnd item 4 at 0.8"))
  }

  @Test func partPlaysInReverse() async throws {
    let rig = try await Rig()
    let path = rig.files.file("album.wav")
    try TimeCode.writeWAV(path: path, file: 3, frameCount: Self.frameCount)
    let item = parts(rig, path)[2]
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    try await rig.run { try $0.seek(to: MediaTime(value: 49, timescale: 75)) { _ in } }
    await rig.settle()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 1_000)
    let indices = rig.heard.runs.flatMap { run in (0..<run.count).map { run.firstIndex + $0 } }
    #expect(indices == Array((41 * 640..<90 * 640).reversed()))
  }

  @Test(arguments: [
    TimeRange(start: MediaTime(value: 10, timescale: 1), duration: .positiveInfinity), .invalid, .zero,
    TimeRange(start: MediaTime(value: -1, timescale: 1), duration: MediaTime(value: 2, timescale: 1)),
  ])
  func partOutsideTheFileFails(range: TimeRange) async throws {
    let rig = try await Rig()
    let path = rig.files.file("short.wav")
    try TimeCode.writeWAV(path: path, file: 1, frameCount: 4_800)
    let items = [
      PlayerItem(asset: Asset(path: path), timeRange: range, id: 1), PlayerItem(asset: Asset(path: path), id: 2),
    ]
    try await rig.run { try $0.append(items) }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    #expect(items[0].error?.code == .invalidTime)
    // The next item is heard.
    #expect(rig.heard.runs.map { [$0.firstIndex, $0.count] } == [[0, 4_800]])
  }

  @Test func playlistBecomesItems() async throws {
    let files = try TemporaryDirectory()
    try TimeCode.writeWAV(path: files.file("a.wav"), file: 1, frameCount: 48_000)
    let sheet =
      "TITLE Disc\nFILE a.wav WAVE\nTRACK 1 AUDIO\nTITLE One\nINDEX 01 0:0:0\nTRACK 2 AUDIO\nINDEX 01 0:0:37\n"
    try Data(sheet.utf8).write(to: URL(fileURLWithPath: files.file("disc.cue")))
    try Data("#EXTM3U\n#EXTINF:5,Nowhere\ngone.mp3\ngopher://h/x\ndisc.cue\n".utf8).write(
      to: URL(fileURLWithPath: files.file("all.m3u8")))
    let (items, skippedCount) = try await PlayerItem.items(ofPlaylistAt: files.file("all.m3u8"))
    #expect(skippedCount == 1)
    #expect(items.map(\.asset.displayPath) == ["gone.mp3", "a.wav", "a.wav"].map { files.file($0) })
    #expect(items.map { $0.playlistEntry?.title } == ["Nowhere", "One", nil])
    #expect(items[1].asset === items[2].asset)
    #expect(items[1].timeRange?.end == MediaTime(value: 37, timescale: 75))
    #expect(items[1].copy().timeRange == items[1].timeRange)
    await expectError(.notAFile) { try await PlayerItem.items(ofPlaylistAt: "/dev/zero") }
    await expectError(.notAPlaylist) { try await PlayerItem.items(ofPlaylistAt: files.file("a.wav")) }
  }
}
