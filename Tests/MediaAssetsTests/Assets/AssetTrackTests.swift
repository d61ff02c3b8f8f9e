import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// The properties of an asset's tracks, and their selection groups.
@Suite struct AssetTrackTests {
  /// Video at 30000/1001 with pixels that are not square, two audio tracks, and subtitles.
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
  func tracksReportTheirProperties(_ name: String, _ subtitles: String) throws {
    let folder = try TemporaryFolder()
    let properties = try movie(folder, name, subtitles: subtitles)
    let tracks = properties.tracks
    #expect(tracks.map(\.mediaType) == [.video, .audio, .audio, .subtitle])
    #expect(tracks[0].frameRate?.description == "30000/1001")
    #expect(tracks[0].naturalSize == PixelSize(width: 85, height: 48))
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

  @Test func selectionGroupsListOptionsDefaultAndEmptySelection() throws {
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
    let audioFile = try folder.write(IndexedAudio.wav(.signed16, sampleRateHz: 8_000, frameCount: 800), as: "a.wav")
    let only = try #require(Asset(path: audioFile).load().mediaSelectionGroup(for: .audible))
    #expect(!only.allowsEmptySelection && only.defaultOption?.trackID == 0)
  }

  /// Automatic selection: principal characteristics, then languages, then preferred characteristics.
  @Test func criteriaRankPrincipalThenLanguagesThenPreferredCharacteristics() throws {
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
    // Track 1 is English and the default, track 2 is a German commentary.
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

  @Test func everyAudioTrackCanBeRead() throws {
    let folder = try TemporaryFolder()
    _ = try movie(folder, "a.mkv", subtitles: "srt")
    let asset = Asset(path: folder.file("a.mkv"))
    let second = try AudioTrackReader(asset: asset, trackID: 2)
    #expect(second.format == AudioFormat(sampleRateHz: 44_100, channelCount: 1) && second.trackID == 2)
    #expect(try second.readToEnd().count == 88_200)
    #expect(try AudioTrackReader(asset: asset).trackID == 1)
    for id in [0, 3, 4, -1, .max] { expectError(.noSuchTrack) { try AudioTrackReader(asset: asset, trackID: id) } }
  }

  @Test func encryptedFileReportsProtectedContent() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac", "-encryption_scheme", "cenc-aes-ctr", "-encryption_key",
      "76a6c65c5ea762046bd749a2e632ccbb", "-encryption_kid", "a7e61c373e219033c21091fa607bf3b8", folder.file("a.mp4"))
    let properties = try Asset(path: folder.file("a.mp4")).load()
    #expect(properties.hasProtectedContent && !properties.isPlayable && !properties.isReadable)
    #expect(!properties.isComposable)
  }

  @Test func movieHeaderGivesThePreferredRateAndVolume() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=1", "-c:a", "aac", folder.file("a.m4a"))
    #expect(try Asset(path: folder.file("a.m4a")).load().preferredRate == 1)
    var bytes = try readFile(folder.file("a.m4a"))
    let name = Array("mvhd".utf8)
    let header = try #require(bytes.indices.dropLast(4).first { bytes[$0..<($0 + 4)].elementsEqual(name) })
    // After version, flags, two dates, the timescale and the duration.
    bytes.replaceSubrange((header + 24)..<(header + 30), with: [0, 1, 0x80, 0, 0, 0x40])
    let changed = try Asset(path: folder.write(bytes, as: "b.m4a")).load()
    #expect(changed.preferredRate == 1.5 && changed.preferredVolume == 0.25)
  }

  // MARK: - Video and captions

  private static let testVideo = ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2"]

  @Test("a video track has its coded size, its size in square pixels, and its rotation", arguments: ["a.mp4", "a.mkv"])
  func videoTrackReportsCodedSizeNaturalSizeAndRotation(_ name: String) throws {
    let folder = try TemporaryFolder()
    // The container's pixel aspect ratio differs from that in the codec's header.
    let plain = folder.file("plain.mp4")
    try Tool.ffmpeg(arguments: Self.testVideo + ["-vf", "setsar=1", "-c:v", "libx264", plain])
    let path = folder.file(name)
    try Tool.ffmpeg(
      "-i", plain, "-c", "copy", "-aspect", "16:9", "-metadata:s:v", name == "a.mp4" ? "rotate=270" : "x=y", path)
    let track = try #require(try Asset(path: path).load().tracks.first)
    #expect(track.codedWidth == 64 && track.codedHeight == 48)
    #expect(track.naturalSize == PixelSize(width: 85, height: 48))
    #expect(track.rotationDegrees == (name == "a.mp4" ? 90 : 0))
  }

  /// H.264 with an SEI message of captions before each frame (ATSC A/53 part 4, 6.2.3).
  private static func captioned(_ folder: TemporaryFolder, _ entries: [[UInt8]]) throws -> String {
    let plain = folder.file("plain.h264")
    try Tool.ffmpeg(arguments: testVideo + ["-c:v", "libx264", "-bsf:v", "h264_mp4toannexb", plain])
    let bytes = try readFile(plain)
    let payload =
      [0xB5, 0x00, 0x31] + Array("GA94".utf8) + [0x03, 0x40 | UInt8(entries.count), 0xFF]
      + entries.flatMap { $0 } + [0xFF]
    let message: [UInt8] = [0, 0, 1, 0x06, 0x04, UInt8(payload.count)] + payload + [0x80]
    var result: [UInt8] = []
    for index in bytes.indices {
      let isStart = index + 3 < bytes.count && bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1
      if isStart, [1, 5].contains(bytes[index + 3] & 0x1F) { result += message }
      result.append(bytes[index])
    }
    return try folder.write(result, as: "captioned.h264")
  }

  @Test("captions within H.264 are listed", arguments: ["mp4", "mkv", "ts"])
  func captionsWithinH264AreListed(_ kind: String) throws {
    let folder = try TemporaryFolder()
    // Valid entries of field 1 of CEA-608 and of CEA-708; an entry that is not valid.
    let rows: [([[UInt8]], [ClosedCaptionFormat])] = [
      ([[0xFC, 0x94, 0x20]], [.cea608]), ([[0xFC, 0x80, 0x80], [0xFE, 0x41, 0x42]], [.cea608, .cea708]),
      ([[0xFA, 0x11, 0x11]], []),
    ]
    for (entries, expected) in rows {
      let source = try Self.captioned(folder, entries)
      let movie = folder.file("captioned.mp4")
      try Tool.ffmpeg("-r", "25", "-i", source, "-c", "copy", movie)
      let path = folder.file("a.\(kind)")
      try Tool.ffmpeg("-i", movie, "-c", "copy", path)
      for isolation in [Asset.Isolation.none, .opening] {
        let tracks = try Asset(path: Array(path.utf8), isolation: isolation).load().tracks
        #expect(tracks.map(\.closedCaptions) == [expected], "\(kind) \(entries)")
      }
    }
    let plain = folder.file("plain.mp4")
    try Tool.ffmpeg(arguments: Self.testVideo + ["-c:v", "libx264", plain])
    #expect(try Asset(path: plain).load().tracks.map(\.closedCaptions) == [[]])
  }

  @Test("CEA-608 in a track of MOV, and WebVTT as mkvmerge stores it, are listed as subtitles with their codecs")
  func captionAndWebVTTTracksAreListedAsSubtitles() throws {
    let folder = try TemporaryFolder()
    let text = folder.file("a.vtt")
    try folder.write(Array("WEBVTT\n\n00:00.500 --> 00:01.500\nHello\n".utf8), as: "a.vtt")
    let movie = folder.file("text.mov")
    try Tool.ffmpeg(arguments: Self.testVideo + ["-i", text, "-c:v", "libx264", "-c:s", "mov_text", movie])
    var bytes = Data(try readFile(movie))
    // The sample entry of the second track.
    let table = try #require(bytes.range(of: Data("stsd".utf8), options: .backwards))
    let tag = try #require(bytes.range(of: Data("text".utf8), in: table.upperBound..<bytes.count))
    bytes.replaceSubrange(tag.lowerBound..<tag.lowerBound + 4, with: Data("c608".utf8))
    let caption = try folder.write(Array(bytes), as: "caption.mov")
    let tracks = try Asset(path: caption).load().tracks
    #expect(tracks.map(\.mediaType) == [.video, .subtitle] && tracks.last?.codecName == "eia_608")

    let source = folder.file("text.mkv")
    try Tool.ffmpeg(arguments: Self.testVideo + ["-i", text, "-c:v", "libx264", "-c:s", "srt", source])
    let merged = folder.file("merged.mkv")
    try Tool.run("mkvmerge", ["-q", "-o", merged, "-S", source, text])
    let subtitles = try Asset(path: merged).load().tracks.filter { $0.mediaType == .subtitle }
    #expect(subtitles.map(\.codecName) == ["webvtt"] && subtitles.allSatisfy(\.isDecodable))
  }

  @Test("subtitles that begin before the video have no negative start")
  func subtitlesBeforeTheVideoHaveNoNegativeStart() throws {
    let folder = try TemporaryFolder()
    let text = try folder.write(Array("1\n00:00:00,000 --> 00:00:00,500\nHello\n".utf8), as: "a.srt")
    let path = folder.file("a.mkv")
    try Tool.ffmpeg(
      arguments: ["-itsoffset", "1"] + Self.testVideo + ["-i", text, "-c:v", "libx264", "-c:s", "srt", path])
    let tracks = try Asset(path: path).load().tracks
    #expect(tracks.map(\.mediaType) == [.video, .subtitle])
    #expect(tracks.allSatisfy { $0.timeRange.start >= .zero }, "\(tracks.map(\.timeRange))")
  }
}
