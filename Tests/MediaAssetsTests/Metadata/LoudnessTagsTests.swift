import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Loudness tags, as known after a file has been opened.
@Suite struct LoudnessTagsTests {
  /// A file of a format, made by write-tags.py.
  private struct File: Decodable {
    var format: String
    var file: String
  }

  @Test func everyFormatReportsTheGainsOfItsTags() throws {
    let folder = try TemporaryFolder()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("write-tags.py")
    try Tool.run("/usr/bin/python3", [script.path, folder.path])
    let files = try JSONDecoder().decode([File].self, from: Data(readFile(folder.file("files.json"))))
    var withGains = 0
    for file in files {
      let asset = Asset(path: file.file)
      let atOpen = try asset.load().loudnessTags
      let levels = try #require(try AssetOpening().loudnessTags(of: asset))
      #expect(atOpen.replayGain.isEmpty || atOpen == levels, "\(file.format)")
      #expect(try levels.isComplete && AssetOpening().loudnessTags(of: asset) == levels)
      let metadata = try asset.loadMetadata(interrupt: Interrupt())
      #expect(levels.replayGain == metadata.replayGain, "\(file.format)")
      withGains += metadata.replayGain.isEmpty ? 0 : 1
      guard metadata.commonMetadata.contains(where: { $0.commonKey == .trackNumber }) else { continue }
      #expect(levels.albumPosition?.album == metadata.strings(.albumName).first, "\(file.format)")
      #expect(levels.albumPosition?.track == 3, "\(file.format)")
      #expect(levels.albumPosition?.disc == 1, "\(file.format)")
    }
    #expect(withGains > 10)
  }

  /// A file with a gain of -7.25 dB by mp3gain: APEv2 after the audio. Only TagLib reads it.
  private func apeFile(in folder: TemporaryFolder) throws -> String {
    let path = folder.file("plain.mp3")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", "-id3v2_version", "0", "-write_id3v1", "0", path)
    let audio = try readFile(path)
    let entry = Array("REPLAYGAIN_TRACK_GAIN".utf8) + [0] + Array("-7.25 dB".utf8)
    func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let body = little(8) + little(0) + entry
    let footer =
      Array("APETAGEX".utf8) + little(2_000) + little(body.count + 32) + little(1) + little(0) + little(0) + little(0)
    return try folder.write(audio + body + footer, as: "ape.mp3")
  }

  @Test func gainsThatOnlyTagLibReadsAreReadOnRequest() throws {
    let folder = try TemporaryFolder()
    let path = try apeFile(in: folder)
    let asset = Asset(path: path)
    #expect(try AssetOpening().loudnessTags(of: asset) == nil)
    let atOpen = try asset.load().loudnessTags
    #expect(atOpen.replayGain.isEmpty && !atOpen.isComplete)
    #expect(try AssetOpening().loudnessTags(of: asset)?.replayGain.trackGainDecibels == -7.25)
    #expect(try asset.loaded?.get().loudnessTags.isComplete == true)
    // FLAC has all its tags at once.
    let flac = folder.file("a.flac")
    try Tool.ffmpeg("-i", path, "-metadata", "REPLAYGAIN_TRACK_GAIN=-3 dB", flac)
    #expect(
      try Asset(path: flac).load().loudnessTags
        == LoudnessTags(
          replayGain: ReplayGain(items: [
            MetadataItem(keySpace: .vorbis, key: "REPLAYGAIN_TRACK_GAIN", value: .string("-3 dB"))
          ])))
  }

  /// An MP3 file with an ID3v2.3 tag that has comments with these descriptions.
  private func mp3(_ comments: [(String, String)], in folder: TemporaryFolder, _ name: String) throws -> String {
    let path = folder.file("plain.mp3")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", "-id3v2_version", "0", "-write_id3v1", "0", path)
    let frames = comments.flatMap { description, text -> [UInt8] in
      let content = [0] + Array("eng".utf8) + Array(description.utf8) + [0] + Array(text.utf8)
      return Array("COMM".utf8) + [0, 0, 0, UInt8(content.count), 0, 0] + content
    }
    let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, UInt8(frames.count >> 7), UInt8(frames.count & 0x7F)] + frames
    return try folder.write(tag + readFile(path), as: name)
  }

  @Test func soundCheckIsTheTrackGainWithoutReplayGain() throws {
    let folder = try TemporaryFolder()
    // 0x7D0 is 2,000 thousandths: 3 dB too loud.
    let norm = " 000003E8 000007D0 00001111 00002222 00000000 00000000 00003333 00004444 00000000 00000000"
    let expected = -10 * log10(2.0)
    let mp3 = Asset(path: try mp3([("iTunNORM", norm)], in: folder, "a.mp3"))
    #expect(try mp3.load().loudnessTags.replayGain.trackGainDecibels == expected)
    // APEv2 might have a better value.
    #expect(try mp3.load().loudnessTags.isComplete == false)
    let levels = try #require(try AssetOpening().loudnessTags(of: mp3))
    #expect(levels.replayGain.trackGainDecibels == expected && levels.replayGain.trackPeak == nil)
    #expect(try mp3.loadMetadata(interrupt: Interrupt()).replayGain == levels.replayGain)
    let m4a = folder.file("a.m4a")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", m4a)
    let script = """
      import sys; from mutagen.mp4 import MP4
      file = MP4(sys.argv[1]); file.tags["----:com.apple.iTunes:iTunNORM"] = [sys.argv[2].encode()]; file.save()
      """
    try Tool.run("/usr/bin/python3", ["-c", script, m4a, norm])
    let movie = Asset(path: m4a)
    #expect(try movie.load().loudnessTags.replayGain.trackGainDecibels == expected)
    #expect(try movie.loadMetadata(interrupt: Interrupt()).replayGain.trackGainDecibels == expected)
  }

  @Test(
    arguments: [
      ("00000000 00000000", nil), ("000003E8", nil), ("FFFFFFFFF 1", nil), ("x y", nil), ("", nil),
      ("3e8 1", 0.0), ("FFFFFFFF FFFFFFFF 0", -10 * log10(4_294_967.295)),
    ] as [(String, Double?)])
  func invalidSoundCheckIsIgnored(_ text: String, _ gain: Double?) throws {
    let item = MetadataItem(keySpace: .iTunesLong, key: "com.apple.iTunes.iTunNORM", value: .string(text))
    let found = ReplayGain(items: [item]).trackGainDecibels
    #expect(found.map { ($0 * 1e6).rounded() } == gain.map { ($0 * 1e6).rounded() })
    let better = MetadataItem(
      keySpace: .id3, key: "TXXX", value: .string("-2 dB"), extraAttributes: [.info: "replaygain_track_gain"])
    #expect(ReplayGain(items: [item, better]).trackGainDecibels == -2)
    let r128 = MetadataItem(keySpace: .vorbis, key: "R128_TRACK_GAIN", value: .string("256"))
    #expect(ReplayGain(items: [item, r128]).trackGainDecibels == nil)
  }

  private func isComplete(_ asset: Asset) throws -> Bool? { try asset.loaded?.get().loudnessTags.isComplete }

  @Test func cancelledOrFailedReadIsRepeatedNextTime() throws {
    let folder = try TemporaryFolder()
    let path = try apeFile(in: folder)
    let asset = Asset(path: path)
    _ = try asset.load()
    let cancelled = AssetOpening()
    cancelled.cancel()
    #expect(throws: MediaError(.cancelled, "the operation was cancelled")) { try cancelled.loudnessTags(of: asset) }
    #expect(try isComplete(asset) == false)
    let elsewhere = folder.file("elsewhere.mp3")
    #expect(rename(path, elsewhere) == 0)
    expectError(.fileNotFound) { try AssetOpening().loudnessTags(of: asset) }
    #expect(try isComplete(asset) == false)
    #expect(rename(elsewhere, path) == 0)
    #expect(try AssetOpening().loudnessTags(of: asset)?.replayGain.trackGainDecibels == -7.25)
  }

  /// A concurrent request gets the result of the running one.
  @Test(.timeLimit(.minutes(1))) func concurrentRequestsReadTheTagsOnce() throws {
    let folder = try TemporaryFolder()
    let path = try apeFile(in: folder)
    let asset = Asset(path: path)
    _ = try asset.load()
    let (started, found) = (ConditionMutex(0), ConditionMutex<[Double?]>([]))
    try asset.state.loadingLock.withLock { _ in
      for _ in 0..<3 {
        NamedThread.detached(name: "tags") {
          started.update { $0 += 1 }
          let levels = try? AssetOpening().loudnessTags(of: asset)
          found.update { $0.append(levels?.replayGain.trackGainDecibels) }
        }
      }
      _ = started.wait { $0 == 3 ? true : nil } as Bool?
      // Like the thread that has the lock.
      var levels = try #require(try asset.loaded?.get().loudnessTags)
      levels.replayGain.trackGainDecibels = -1
      levels.isComplete = true
      asset.set(levels)
    }
    #expect(found.wait { $0.count == 3 ? $0 : nil } == [-1, -1, -1])
  }
}
