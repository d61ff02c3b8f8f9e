import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Durations, sample counts, bit rates, tags and artwork for every format, compared with FFmpeg's programs and mutagen.
/// Each difference has a reason that names the wrong program.
@Suite struct FormatMatrixTests {
  /// The description of a file by write-formats.py.
  struct File: Decodable {
    struct FFmpeg: Decodable {
      var duration: Double
      /// The frames that FFmpeg's program decodes.
      var frames: Int
      var rate: Int
      var bitRate: Int64?
      var tags: [String: String]
      var artwork: String?
    }
    struct Mutagen: Decodable {
      var duration: Double
      var tags: [String: String]
      var artwork: String?
    }
    var name: String
    var made: String
    var file: String
    /// The frames of the original.
    var frames: Int
    var ffprobe: FFmpeg
    var mutagen: Mutagen?
  }

  /// The reasons for differences. A reason without a difference is an error.
  struct Row {
    var name: String
    /// Decoded frames in addition to those of the original.
    var extra = 0
    var extraBecause = ""
    var ffmpegDecodes = ""
    var ffprobeDuration = ""
    var mutagenDuration = ""
    var ffprobeTags = ""
    /// Tags that the format does not support.
    var missing = ""
    var mutagenReads = true
  }

  private static let noTrim = "the file does not declare its padding"
  private static let estimate = "estimated from the size"
  private static let uncut = "the padding of the encoder is counted"
  private static let noEnd = "the end is not trimmed"
  private static let noWords = "it reads the artwork of the tag, not its text"
  private static let noYear = "no date: the year has another name"
  private static let noAlbum = "no album and no date: they have other names"
  private static let twoBlocks = "ffmpeg's decoder takes off two blocks that its encoder did not put in"
  private static let noPadding = "the muxer writes no DiscardPadding"

  static let rows: [Row] = [
    Row(name: "wav, ffmpeg", ffprobeTags: noWords), Row(name: "wav 24 bits, sox"),
    Row(name: "rf64, ffmpeg", missing: "artwork", mutagenReads: false),
    Row(name: "aiff, ffmpeg"), Row(name: "aiff, sox"),
    Row(name: "caf pcm, ffmpeg", missing: "artwork", mutagenReads: false),
    Row(name: "caf alac, ffmpeg", ffprobeDuration: uncut, missing: "artwork", mutagenReads: false),
    Row(name: "flac, flac"), Row(name: "flac, ffmpeg"),
    Row(name: "mp3 cbr, lame", ffprobeDuration: uncut), Row(name: "mp3 vbr, lame", ffprobeDuration: uncut),
    Row(name: "mp3 abr, ffmpeg", ffprobeDuration: uncut, mutagenDuration: uncut),
    Row(name: "mp3 cbr, no Xing, lame", extra: 1_987, extraBecause: noTrim),
    Row(
      name: "mp3 vbr, no Xing, lame", extra: 1_987, extraBecause: noTrim, ffprobeDuration: estimate,
      mutagenDuration: estimate),
    Row(
      name: "aac adts, ffmpeg", extra: 1_603, extraBecause: noTrim, ffprobeDuration: estimate, mutagenDuration: estimate
    ),
    Row(name: "m4a aac, ffmpeg", ffmpegDecodes: noEnd, mutagenDuration: uncut), Row(name: "m4a alac, ffmpeg"),
    Row(
      name: "mp4 in fragments, ffmpeg", ffmpegDecodes: "neither end is trimmed", ffprobeDuration: uncut,
      mutagenDuration: "it reads no fragments", missing: "artwork"),
    Row(name: "mp4 with video, ffmpeg", ffmpegDecodes: noEnd, mutagenDuration: uncut),
    Row(name: "ogg vorbis, oggenc"), Row(name: "ogg vorbis, ffmpeg"),
    Row(name: "opus, opusenc", ffprobeDuration: uncut), Row(name: "opus, ffmpeg", ffprobeDuration: uncut),
    Row(name: "ogg flac, flac"), Row(name: "ogg flac, ffmpeg"),
    Row(name: "wavpack, wavpack", ffprobeTags: noYear), Row(name: "wavpack, ffmpeg", ffprobeTags: noYear),
    Row(name: "monkey's audio, this test", ffprobeTags: noYear), Row(name: "tta, ffmpeg", ffprobeTags: noWords),
    Row(name: "matroska flac, ffmpeg", mutagenReads: false),
    Row(
      name: "matroska mp3, mkvmerge", extra: 1_987, extraBecause: noTrim, ffprobeTags: noAlbum, mutagenReads: false),
    Row(name: "matroska opus, mkvmerge", ffprobeDuration: uncut, ffprobeTags: noAlbum, mutagenReads: false),
    Row(name: "webm opus, ffmpeg", ffprobeDuration: uncut, missing: "artwork", mutagenReads: false),
    Row(
      name: "webm vorbis, ffmpeg", extra: 515, extraBecause: noPadding,
      ffprobeDuration: "the header has less than the packets", missing: "artwork", mutagenReads: false),
    Row(name: "ac-3, ffmpeg", extra: 67, extraBecause: noTrim, missing: "tags and artwork"),
    Row(
      name: "e-ac-3, ffmpeg", extra: 67, extraBecause: noTrim, ffprobeDuration: estimate, mutagenDuration: estimate,
      missing: "tags and artwork"),
    Row(
      name: "wma 2, ffmpeg", extra: -445, extraBecause: twoBlocks, ffprobeDuration: uncut, mutagenDuration: uncut,
      ffprobeTags: noYear),
    Row(
      name: "wma 1, ffmpeg", extra: -445, extraBecause: twoBlocks, ffprobeDuration: uncut, mutagenDuration: uncut,
      ffprobeTags: noYear),
  ]

  private static let tags = ["title": "Grüße, 世界", "artist": "Wer", "album": "Das Album", "date": "2003", "track": "3"]

  /// Equal to a millisecond, the resolution of container headers.
  private static func isEqual(_ first: Double, _ second: Double) -> Bool { abs(first - second) <= 0.001 }

  /// Checks that two values agree, or that there is a reason for the difference. Returns the text for the table.
  private static func compare(_ isSame: Bool, _ reason: String, _ subject: String) -> String {
    #expect(isSame == reason.isEmpty, "\(subject): \(reason.isEmpty ? "differs" : "is the same: \(reason)")")
    return isSame ? "same" : reason
  }

  @Test func lengthsBitRatesTagsAndArtworkEqualThoseOfOtherPrograms() throws {
    let folder = try TemporaryFolder()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("write-formats.py")
    try Tool.run("/usr/bin/python3", [script.path, folder.path])
    let files = try JSONDecoder().decode([File].self, from: Data(readFile(folder.file("formats.json"))))
    #expect(
      files.map { "\($0.name), \($0.made)" } == Self.rows.map(\.name), "each row has its file, and each file its row")
    print("format, made with | seconds ours/ffprobe/mutagen | frames ours/original/ffmpeg | bit rate | tags | artwork")
    for (file, row) in zip(files, Self.rows) { try check(file, row) }
  }

  private func check(_ file: File, _ row: Row) throws {
    let asset = Asset(path: file.file, prefersPreciseDuration: true)
    let properties = try asset.load()
    let reader = try AudioTrackReader(asset: asset)
    let frames = try reader.readToEnd().count / reader.format.channelCount
    let duration = properties.duration.seconds
    #expect(reader.popWarning() == nil && reader.popSkippedPackets() == nil, "\(row.name)")
    #expect(reader.format.sampleRateHz == file.ffprobe.rate, "\(row.name)")
    #expect(properties.duration == MediaTime(frame: Int64(frames), rate: file.ffprobe.rate), "\(row.name): duration")
    #expect(frames - file.frames == row.extra, "\(row.name): \(frames) frames of \(file.frames)")
    #expect((row.extra == 0) == row.extraBecause.isEmpty, "\(row.name)")

    let probed = Self.compare(
      Self.isEqual(duration, file.ffprobe.duration), row.ffprobeDuration, "\(row.name): ffprobe's duration")
    let decoded = Self.compare(frames == file.ffprobe.frames, row.ffmpegDecodes, "\(row.name): ffmpeg's frames")
    var measured = "-"
    #expect((file.mutagen != nil) == row.mutagenReads, "\(row.name)")
    if let mutagen = file.mutagen {
      measured = Self.compare(
        Self.isEqual(duration, mutagen.duration), row.mutagenDuration, "\(row.name): mutagen's duration")
    }
    let bitRate = properties.tracks.first { $0.id == reader.trackID }?.bitRate
    #expect(bitRate == file.ffprobe.bitRate, "\(row.name): bit rate")

    // From a position in the middle, the remaining frames.
    let position = frames - 50_001
    try reader.seekExactly(to: MediaTime(frame: Int64(position), rate: file.ffprobe.rate))
    let rest = try reader.readToEnd().count / reader.format.channelCount
    let isCoarse = ["matroska", "webm"].contains { row.name.hasPrefix($0) }
    #expect(abs(rest - 50_001) <= (isCoarse ? file.ffprobe.rate / 1_000 : 0), "\(row.name): after a seek")

    let metadata = try MetadataMatrixTests.read(file.file)
    #expect(metadata.warnings.isEmpty, "\(row.name): \(metadata.warnings)")
    let canonical = MetadataMatrixTests.canonical(metadata)
    let ours = canonical.filter { Self.tags[$0.key] != nil }.mapValues { $0.joined(separator: ";") }
    let artwork = canonical["artwork"]?.first.map { $0.split(separator: " ").suffix(2).joined(separator: " ") }
    #expect(ours == (row.missing == "tags and artwork" ? [:] : Self.tags), "\(row.name): tags")
    #expect((artwork == nil) == row.missing.hasSuffix("artwork"), "\(row.name): artwork")
    var sameTags = Self.compare(ours == file.ffprobe.tags, row.ffprobeTags, "\(row.name): ffprobe's tags")
    var sameArtwork = Self.compare(artwork == file.ffprobe.artwork, "", "\(row.name): ffprobe's artwork")
    if let mutagen = file.mutagen {
      #expect(mutagen.tags == ours, "\(row.name): mutagen's tags")
      #expect(mutagen.artwork == artwork, "\(row.name): mutagen's artwork")
    }
    if sameTags == "same" { sameTags = ours.isEmpty ? "none" : "\(ours.count) same" }
    if sameArtwork == "same" { sameArtwork = artwork ?? "none" }
    func text(_ seconds: Double) -> String { String(format: "%.4f", seconds) }
    print(
      "\(row.name) | \(text(duration))/\(text(file.ffprobe.duration)) \(probed)/\(file.mutagen.map { text($0.duration) } ?? "") \(measured)",
      "| \(frames)/\(file.frames) \(row.extraBecause)/\(file.ffprobe.frames) \(decoded) | \(bitRate.map(String.init) ?? "-")",
      "| \(sameTags) | \(sameArtwork)")
  }
}
