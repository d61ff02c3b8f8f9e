import Foundation
import LibAV
import MediaCore
import Testing

@testable import MediaAssets

/// What decides how loud a file is played, as it is known when the file has been opened.
@Suite struct LevelTagsTests {
  /// A format's file, as write-tags.py writes it.
  private struct File: Decodable {
    var format: String
    var file: String
  }

  @Test func everyFormatGivesTheGainsThatItsTagsSay() throws {
    let folder = try TemporaryFolder()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("write-tags.py")
    try Tool.run("/usr/bin/python3", [script.path, folder.path])
    let files = try JSONDecoder().decode([File].self, from: Data(readFile(folder.file("files.json"))))
    var withGains = 0
    for file in files {
      let asset = Asset(path: file.file)
      let atOnce = try asset.load().levelTags
      let levels = try #require(asset.completeLevelTags())
      #expect(atOnce.replayGain.isEmpty || atOnce == levels, "\(file.format)")
      #expect(levels.isComplete && asset.completeLevelTags() == levels)
      let metadata = try asset.loadMetadata(interrupt: Interrupt())
      #expect(levels.replayGain == metadata.replayGain, "\(file.format)")
      withGains += metadata.replayGain.isEmpty ? 0 : 1
      guard metadata.commonMetadata.contains(where: { $0.commonKey == .trackNumber }) else { continue }
      #expect(levels.albumPlace?.album == metadata.strings(.albumName).first, "\(file.format)")
      #expect(levels.albumPlace?.track == 3, "\(file.format)")
      #expect(levels.albumPlace?.disc == 1, "\(file.format)")
    }
    #expect(withGains > 10)
  }

  @Test func whatOnlyTagLibReadsIsReadForWhoWantsIt() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("plain.mp3")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", "-id3v2_version", "0", "-write_id3v1", "0", path)
    let sound = try readFile(path)
    // As mp3gain writes it: APEv2 behind the sound.
    let entry = Array("REPLAYGAIN_TRACK_GAIN".utf8) + [0] + Array("-7.25 dB".utf8)
    func little(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let body = little(8) + little(0) + entry
    let footer =
      Array("APETAGEX".utf8) + little(2_000) + little(body.count + 32) + little(1) + little(0) + little(0) + little(0)
    let asset = Asset(path: try folder.write(sound + body + footer, as: "ape.mp3"))
    #expect(asset.completeLevelTags() == nil)
    let atOnce = try asset.load().levelTags
    #expect(atOnce.replayGain.isEmpty && !atOnce.isComplete)
    #expect(asset.completeLevelTags()?.replayGain.trackGainDecibels == -7.25)
    #expect(try asset.loaded?.get().levelTags.isComplete == true)
    // FLAC has all that it has at once.
    let flac = folder.file("a.flac")
    try Tool.ffmpeg("-i", path, "-metadata", "REPLAYGAIN_TRACK_GAIN=-3 dB", flac)
    #expect(
      try Asset(path: flac).load().levelTags
        == LevelTags(
          replayGain: ReplayGain(items: [
            MetadataItem(keySpace: .vorbis, key: "REPLAYGAIN_TRACK_GAIN", value: .string("-3 dB"))
          ])))
  }
}
