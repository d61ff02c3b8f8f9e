import Foundation
import MediaCore
import MediaTesting
import RigSupport
import Testing

@testable import MediaAssets

/// What an asset says of its tracks, and which of them can be chosen.
@Suite struct AssetTrackTests {
  /// Video at 30000/1001 with pixels that are not square, two sound tracks and subtitles.
  private func movie(_ folder: TemporaryFolder, _ name: String, subtitles: String) throws -> AssetProperties {
    try folder.write(Array("1\n00:00:00,000 --> 00:00:02,000\nHello\n".utf8), as: "a.srt")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "testsrc=duration=2:size=64x48:rate=30000/1001,setsar=4/3", "-f", "lavfi", "-i",
      "sine=duration=2:sample_rate=48000", "-f", "lavfi", "-i", "anoisesrc=duration=2:sample_rate=44100", "-i",
      folder.file("a.srt"), "-map", "0", "-map", "1", "-map", "2", "-map", "3", "-c:v", "mpeg4", "-c:a:0", "aac",
      "-ac:a:0",
      "6", "-c:a:1", "flac", "-strict", "-2", "-c:s", subtitles, "-metadata:s:a:0", "language=eng", "-metadata:s:a:1",
      "language=deu", "-metadata:s:a:1", "title=Kommentar", "-metadata:s:s:0", "language=fra", "-disposition:a:0",
      "default", "-disposition:a:1", "comment", folder.file(name))
    return try Asset(path: folder.file(name)).load()
  }

  @Test(arguments: [("a.mkv", "srt"), ("a.mp4", "mov_text")])
  func tracksSayWhatTheyAre(_ name: String, _ subtitles: String) throws {
    let folder = try TemporaryFolder()
    let properties = try movie(folder, name, subtitles: subtitles)
    let tracks = properties.tracks
    #expect(tracks.map(\.mediaType) == [.video, .audio, .audio, .subtitle])
    #expect(tracks[0].frameRate?.description == "30000/1001")
    #expect(tracks[0].naturalSize == AssetTrack.NaturalSize(width: 85, height: 48))
    #expect(tracks[1].channelLayoutName == "5.1" && tracks[2].channelLayoutName == "mono")
    #expect(tracks[1].sampleFormatName == "fltp" && tracks[1].audioFormat?.sampleRateHz == 48_000)
    #expect(tracks.map(\.languageCode)[1...] == ["eng", "deu", "fra"])
    #expect(tracks[1].isDefault && !tracks[2].isDefault && tracks[1].isEnabled)
    #expect(tracks[2].isEnabled == (name == "a.mkv"), "MP4 has a flag for it")
    #expect(tracks[2].audioFormat?.sampleRateHz == 44_100)
    #expect(tracks.allSatisfy { !$0.isProtected && $0.isDecodable })
    #expect(tracks[1].frameRate == nil && tracks[0].sampleFormatName == nil)
    if name == "a.mkv" {
      #expect(tracks[2].title == "Kommentar" && tracks[2].characteristics == [.isAuxiliaryContent])
    } else {
      #expect(tracks.map(\.codecTag) == ["mp4v", "mp4a", "fLaC", "tx3g"])
    }
    for track in tracks { print(name, track.id, track.codecName, track.timeRange.duration.decimalDescription) }
  }

  @Test func groupsHaveOptionsADefaultAndSayWhetherNothingCanBeChosen() throws {
    let folder = try TemporaryFolder()
    let properties = try movie(folder, "a.mkv", subtitles: "srt")
    let audible = try #require(properties.mediaSelectionGroup(for: .audible))
    let legible = try #require(properties.mediaSelectionGroup(for: .legible))
    #expect(audible.options.map(\.trackID) == [1, 2] && audible.defaultOption?.trackID == 1)
    #expect(legible.options.map(\.trackID) == [3] && legible.defaultOption == nil && legible.allowsEmptySelection)
    #expect(audible.allowsEmptySelection, "there is video")
    #expect(properties.mediaSelectionGroup(for: .describesVideo) == nil)
    #expect(properties.mediaSelectionGroups.map(\.characteristic) == [.audible, .legible])
    func chosen(_ languages: [String], _ characteristics: Set<MediaCharacteristic> = []) -> Int? {
      audible.option(
        matching: MediaSelectionCriteria(preferredLanguages: languages, preferredCharacteristics: characteristics)
      )?.trackID
    }
    #expect(chosen([]) == 1 && chosen(["de"]) == 2 && chosen(["ger"]) == 2 && chosen(["deu"]) == 2)
    #expect(chosen(["en-GB"]) == 1 && chosen(["fr", "de", "en"]) == 2 && chosen(["fr"]) == nil)
    #expect(chosen([], [.isAuxiliaryContent]) == 2 && chosen(["en"], [.isAuxiliaryContent]) == nil)
    let sound = try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: 8_000, frameCount: 800), as: "a.wav")
    let only = try #require(Asset(path: sound).load().mediaSelectionGroup(for: .audible))
    #expect(!only.allowsEmptySelection && only.defaultOption?.trackID == 0)
  }

  /// What a player presents by itself: principal characteristics before languages before preferred characteristics.
  @Test func criteriaPreferOptionsInTheirOrder() throws {
    let folder = try TemporaryFolder()
    let properties = try movie(folder, "a.mkv", subtitles: "srt")
    let audible = try #require(properties.mediaSelectionGroup(for: .audible))
    let legible = try #require(properties.mediaSelectionGroup(for: .legible))
    func preferred(
      _ group: MediaSelectionGroup, _ languages: [String] = [], _ preferred: Set<MediaCharacteristic> = [],
      principal: Set<MediaCharacteristic> = []
    ) -> Int? {
      group.preferredOption(
        by: MediaSelectionCriteria(
          preferredLanguages: languages, preferredCharacteristics: preferred, principalCharacteristics: principal)
      )?.trackID
    }
    // Track 1 is English and the default, 2 a German commentary.
    #expect(preferred(audible) == 1 && preferred(audible, ["de", "en"]) == 2 && preferred(audible, ["en", "de"]) == 1)
    #expect(preferred(audible, ["fr"]) == 1, "no match: the default one")
    #expect(preferred(audible, [], [.isAuxiliaryContent]) == 2)
    #expect(preferred(audible, ["en"], [.isAuxiliaryContent]) == 1, "languages come first")
    #expect(preferred(audible, ["en"], principal: [.isAuxiliaryContent]) == 1, "the commentary is not English")
    #expect(preferred(audible, ["en", "de"], principal: [.isAuxiliaryContent]) == 2)
    #expect(preferred(audible, [], principal: [.describesVideo]) == 1)
    #expect(preferred(audible, [], [.describesVideo]) == 1)
    #expect(preferred(legible) == nil && preferred(legible, ["fr"]) == 3 && preferred(legible, ["de"]) == nil)
    #expect(preferred(legible, [], [.describesVideo]) == nil && preferred(legible, [], principal: [.legible]) == 3)
  }

  @Test func everySoundTrackCanBeRead() throws {
    let folder = try TemporaryFolder()
    _ = try movie(folder, "a.mkv", subtitles: "srt")
    let asset = Asset(path: folder.file("a.mkv"))
    let second = try AudioTrackReader(asset: asset, trackID: 2)
    #expect(second.format == AudioFormat(sampleRateHz: 44_100, channelCount: 1) && second.trackID == 2)
    #expect(try second.readToEnd().count == 88_200)
    #expect(try AudioTrackReader(asset: asset).trackID == 1)
    for id in [0, 3, 4, -1, .max] { expectError(.noSuchTrack) { try AudioTrackReader(asset: asset, trackID: id) } }
  }

  @Test func whatIsEncryptedIsSaidToBe() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key",
      "76a6c65c5ea762046bd749a2e632ccbb", "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8", folder.file("a.mp4"))
    let properties = try Asset(path: folder.file("a.mp4")).load()
    #expect(properties.hasProtectedContent && !properties.isPlayable && !properties.isReadable)
    #expect(!properties.isComposable)
  }

  @Test func theMoviesOwnHeaderSaysHowFastAndHowLoud() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac", folder.file("a.m4a"))
    #expect(try Asset(path: folder.file("a.m4a")).load().preferredRate == 1)
    var bytes = try readFile(folder.file("a.m4a"))
    let name = Array("mvhd".utf8)
    let header = try #require(bytes.indices.dropLast(4).first { bytes[$0..<($0 + 4)].elementsEqual(name) })
    // Behind version, flags, two dates, the timescale and the duration.
    bytes.replaceSubrange((header + 24)..<(header + 30), with: [0, 1, 0x80, 0, 0, 0x40])
    let changed = try Asset(path: folder.write(bytes, as: "b.m4a")).load()
    #expect(changed.preferredRate == 1.5 && changed.preferredVolume == 0.25)
  }
}
