import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// Files with wrong metadata in a queue. Each is reported with an error number, the position stays exact, and the next
/// item follows without a missing or an extra sample.
@Suite struct DamagedItemTests {
  /// Plays `damaged`, 4 s of file number 1, and then 0.1 s of file number 2; compares the log with a golden. The item
  /// is longer than the audio decoded before playback, so that the reports of its end always come in the same order.
  private func expectPlaybackGolden(
    _ name: String, milliseconds: Int64 = 4_600, _ damaged: (Rig) throws -> PlayerItem
  ) async throws {
    let rig = try await Rig()
    // One after the other, because opening and decoding use different threads.
    for item in [try damaged(rig), try rig.wav(file: 2, frames: 4_800)] {
      try await rig.run { try $0.append([item]) }
      await rig.settle()
    }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: milliseconds)
    for line in rig.faults { rig.log("fault \(line)") }
    try expectGolden(rig.dump, name)
  }

  @Test func undecodablePacketPlaysAsSilence() async throws {
    try await expectPlaybackGolden("undecodable-packet") { rig in
      var data = try rig.bytes(of: rig.flac(file: 1, frames: 192_000))
      for offset in 0..<40 { data[data.count / 2 + offset] ^= 0x5a }
      return try rig.write(data, as: "hit.flac")
    }
  }

  @Test func backwardTimestampJumpIsIgnored() async throws {
    try await expectPlaybackGolden("jumping-timestamps") { rig in try fileWithJump(rig, byMilliseconds: -900) }
  }

  @Test func forwardTimestampJumpPlaysAsSilence() async throws {
    try await expectPlaybackGolden("timestamps-with-a-hole") { rig in try fileWithJump(rig, byMilliseconds: 500) }
  }

  /// FLAC in Matroska whose clusters have shifted times from 2.5 s.
  private func fileWithJump(_ rig: Rig, byMilliseconds jump: Int) throws -> PlayerItem {
    let source = try rig.flac(file: 1, frames: 192_000)
    let path = rig.files.file("whole.mka")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", source.asset.path ?? "", "-c:a", "copy",
      "-cluster_time_limit", "300", path,
    ])
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    var count = 0
    for offset in 0..<(data.count - 24) where Array(data[offset..<(offset + 4)]) == [0x1f, 0x43, 0xb6, 0x75] {
      let timeOffsets = (offset + 4)..<(offset + 20)
      guard let timeOffset = timeOffsets.first(where: { data[$0] == 0xe7 && data[$0 + 1] == 0x82 }) else { continue }
      let time = Int(data[timeOffset + 2]) << 8 | Int(data[timeOffset + 3])
      guard time >= 2_500 else { continue }
      data[timeOffset + 2] = UInt8((time + jump) >> 8)
      data[timeOffset + 3] = UInt8((time + jump) & 0xff)
      count += 1
    }
    #expect(count > 1)
    return try rig.write(data, as: "jump.mka")
  }

  @Test func durationOfATooShortHeaderIsCorrected() async throws {
    try await expectPlaybackGolden("header-too-short") { rig in
      var data = try rig.bytes(of: rig.flac(file: 1, frames: 192_000))
      // The number of samples in STREAMINFO: half of the real one.
      data.replaceSubrange(22..<26, with: [0, 1, 0x77, 0])
      return try rig.write(data, as: "short.flac")
    }
  }

  @Test func durationOfATooLongHeaderIsCorrected() async throws {
    try await expectPlaybackGolden("header-too-long") { rig in
      var data = try rig.bytes(of: rig.flac(file: 1, frames: 192_000))
      data.replaceSubrange(22..<26, with: [0, 5, 0xdc, 0])
      return try rig.write(data, as: "long.flac")
    }
  }

  /// An estimated duration becomes exact when the end has been read during playback.
  @Test func estimatedDurationIsCorrectedDuringPlayback() async throws {
    try await expectPlaybackGolden("estimated-duration") { rig in
      try fileWithEstimate(rig, frames: 192_000, milliseconds: 4_400)
    }
  }

  /// FLAC in Matroska with a stated duration of `milliseconds`.
  private func fileWithEstimate(_ rig: Rig, frames: Int, milliseconds: Double) throws -> PlayerItem {
    let source = try rig.flac(file: 1, frames: frames)
    let path = rig.files.file("estimate.mka")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-i", source.asset.path ?? "", "-c:a", "copy",
      path,
    ])
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    // Duration: a float of 8 bytes, in milliseconds.
    let offset = try #require((0..<2_000).first { Array(data[$0..<($0 + 3)]) == [0x44, 0x89, 0x88] })
    data.replaceSubrange(
      (offset + 3)..<(offset + 11), with: withUnsafeBytes(of: milliseconds.bitPattern.bigEndian) { Data($0) })
    return try rig.write(data, as: "estimate.mka")
  }

  /// The file is long enough not to be read to its end before the seek. If the stated duration is too long, playback
  /// starts at the last sample; if it is too short, at the end known so far.
  @Test(arguments: [40_900, 39_000] as [Double])
  func reversePlaybackFromAnEstimatedEndHasNoGap(_ milliseconds: Double) async throws {
    let rig = try await Rig()
    let frames = 1_920_000
    let item = try fileWithEstimate(rig, frames: frames, milliseconds: milliseconds)
    try await rig.run { player in
      try player.append([item])
      try player.setActionAtItemEnd(.pause)
    }
    await rig.settle()
    #expect(item.duration == MediaTime(value: Int64(milliseconds), timescale: 1_000))
    try await rig.run { try $0.seek(to: .positiveInfinity, toleranceBefore: .zero, toleranceAfter: .zero) { _ in } }
    await rig.settle()
    rig.heard.removeAll()
    try await rig.run { try $0.setRate(-1) }
    await rig.advance(milliseconds: 500)
    let end = min(frames, Int(milliseconds) * 48)
    let heard = rig.heard.all.drop { $0 == .silence }.prefix(24_000)
    let expected = (end - 24_000..<end).reversed().map { TimeCode.frame(file: 1, index: $0) }
    #expect(Array(heard) == expected)
    #expect(item.status == .readyToPlay)
    #expect(await rig.run { $0.currentTime() } == MediaTime(value: Int64(end - 24_000), timescale: 48_000))
  }

  /// Longer than the audio decoded ahead, so that the end is lost during playback.
  @Test func fileTruncatedDuringPlaybackEndsAtTheTruncation() async throws {
    let rig = try await Rig()
    let frames = 480_000
    let item = try rig.wav(file: 1, frames: frames)
    for item in [item, try rig.wav(file: 2, frames: 4_800)] {
      try await rig.run { try $0.append([item]) }
      await rig.settle()
    }
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    // 5 s remain.
    #expect(truncate(item.asset.path ?? "", 44 + 240_000 * 4) == 0)
    await rig.advance(milliseconds: 6_000)
    try expectGolden(rig.dump, "shrinking-file")
  }

  /// Creates two seconds of video and audio in a file `name`.
  private func videoFile(_ rig: Rig, _ name: String, _ options: [String] = []) throws -> String {
    let path = rig.files.file(name)
    try Fixtures.ffmpeg(
      [
        "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2", "-f", "lavfi", "-i",
        "sine=duration=2", "-c:v", "libx264", "-c:a", "aac",
      ] + options + [path])
    return path
  }

  @Test func itemWithoutAnAudioDecoderFailsAlthoughItsVideoDecodes() async throws {
    let rig = try await Rig()
    var data = try Data(contentsOf: URL(fileURLWithPath: videoFile(rig, "film.mkv")))
    let codec = try #require(data.range(of: Data("A_AAC".utf8)))
    data.replaceSubrange(codec, with: Data("A_NUL".utf8))
    let item = try rig.write(data, as: "unknown.mkv")
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    #expect(item.error?.code == .unknownCodec)
    // With the audio deselected, it plays like a file without audio.
    let withoutAudio = rig.item(rig.files.file("unknown.mkv"))
    let tracks = try await withoutAudio.asset.load(.tracks)
    #expect(tracks.count == 2)
    let group = try #require(withoutAudio.mediaSelectionGroups.first { $0.characteristic == .audible })
    try withoutAudio.select(nil, in: group)
    try await rig.run { try $0.append([withoutAudio]) }
    await rig.settle()
    #expect(withoutAudio.status == .readyToPlay)
  }

  /// Removes the media data box of an MP4, or keeps `byteCount` bytes of it.
  private func withoutMedia(_ path: String, keeping byteCount: Int?, _ rig: Rig) throws -> PlayerItem {
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    let box = try #require(data.range(of: Data("mdat".utf8))).lowerBound
    return try rig.write(data.prefix(byteCount.map { box + 4 + $0 } ?? box - 4), as: "no-media.mp4")
  }

  /// Plays the item and expects it to fail with `damaged-file` before its end.
  private func expectDamage(_ item: PlayerItem, _ rig: Rig) async throws {
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 500)
    #expect(item.error?.code == .damagedFile, "\(rig.dump)")
    #expect(!rig.dump.contains("playedToEnd"))
  }

  @Test(arguments: [nil, 0] as [Int?], [["-vn"], []])
  func itemWithoutMediaDataFailsAsDamaged(_ byteCount: Int?, _ options: [String]) async throws {
    let rig = try await Rig()
    let path = try videoFile(rig, "film.mp4", options + ["-movflags", "+faststart"])
    let item = try withoutMedia(path, keeping: byteCount, rig)
    try await expectDamage(item, rig)
  }

  @Test func itemWithoutAudioPacketsFailsAsDamaged() async throws {
    let rig = try await Rig()
    let path = try videoFile(rig, "film.mkv")
    let copy = rig.files.file("none.mkv")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-i", path, "-c", "copy", "-bsf:a", "noise=drop=1", copy])
    let item = rig.item(copy)
    try await expectDamage(item, rig)
  }
}
