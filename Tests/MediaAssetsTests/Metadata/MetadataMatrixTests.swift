import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// The same tags in every format that supports them: the values equal the written ones and those that mutagen reads.
/// The printed table has FFmpeg's dictionary, too.
@Suite struct MetadataMatrixTests {
  /// The description of a file by write-tags.py.
  struct File: Decodable {
    var format: String
    var file: String
    var expected: [String: [String]]
    var mutagen: [String: [String]]
    var ffprobe: [String: String]
  }

  /// The formats of which there must be a file.
  private static let formats = [
    "mp3 ID3v2.3", "mp3 ID3v2.4", "mp3 ID3v2.2", "mp3 ID3v1", "mp3 ID3v2 and v1", "wav ID3v2.4", "aiff ID3v2.4",
    "tta ID3v2.4",
    "aac ID3v2.4",
    "mp3 APEv2", "wavpack APEv2", "ogg vorbis", "ogg opus", "ogg flac", "flac", "m4a iTunes", "wma ASF", "wav INFO",
    "matroska", "mov mdta", "mov udta", "aiff chunks",
  ]

  /// Ordered values: an ASF file keeps the first value of a key and the others in different objects, in any order.
  private static func ordered(_ values: [String], of format: String) -> [String] {
    format == "wma ASF" ? values.sorted() : values
  }

  /// Values that differ in mutagen, with the reason.
  private static let mutagenDiffers: Set<String> = [
    // ID3v1 cannot store both a full comment and a track; mutagen returns them as ID3v2 frames.
    "mp3 ID3v1 comment"
  ]

  @Test func everyFormatReturnsTheWrittenTags() throws {
    let folder = try TemporaryFolder()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("write-tags.py")
    // Debian's Python, which has Debian's mutagen.
    try Tool.run("/usr/bin/python3", [script.path, folder.path])
    let files = try JSONDecoder().decode([File].self, from: Data(readFile(folder.file("files.json"))))
    #expect(files.map(\.format).sorted() == Self.formats.sorted(), "each format has its file")

    var rows: [String] = ["format          key            ours | written | mutagen | ffprobe"]
    var counts = (values: 0, mutagen: 0, ffprobeSame: 0, ffprobeLess: 0, ffprobeNone: 0)
    for file in files {
      let metadata = try Self.read(file.file)
      #expect(metadata.warnings.isEmpty, "\(file.format): \(metadata.warnings)")
      let ours = Self.canonical(metadata)
      for key in Set(file.expected.keys).union(ours.keys).sorted() {
        func values(_ values: [String]?) -> [String] { Self.ordered(values ?? [], of: file.format) }
        let written = values(file.expected[key])
        let found = values(ours[key])
        #expect(found == written, "\(file.format) \(key)")
        counts.values += 1
        if !file.mutagen.isEmpty, !Self.mutagenDiffers.contains("\(file.format) \(key)") {
          #expect(values(file.mutagen[key]) == found, "\(file.format) \(key): mutagen")
          counts.mutagen += 1
        }
        let theirs = file.ffprobe[key]
        if theirs == nil {
          counts.ffprobeNone += 1
        } else if found == [theirs] {
          counts.ffprobeSame += 1
        } else {
          counts.ffprobeLess += 1
        }
        func column(_ values: [String]?) -> String {
          guard let values, !values.isEmpty else { return "-" }
          return values == found ? "same" : values.joined(separator: "; ")
        }
        rows.append(
          file.format.padding(toLength: 16, withPad: " ", startingAt: 0)
            + key.padding(toLength: 15, withPad: " ", startingAt: 0)
            + "\(found.joined(separator: "; ").replacing("\n", with: "⏎")) | \(column(written)) | "
            + "\(column(values(file.mutagen[key]))) | \(column(theirs.map { [$0] }))")
      }
    }
    print(rows.joined(separator: "\n"))
    print(
      "\(counts.values) values of \(files.count) formats; mutagen has \(counts.mutagen) of them, the same; FFmpeg's dictionary",
      "has \(counts.ffprobeSame) the same, \(counts.ffprobeLess) otherwise and \(counts.ffprobeNone) not")
    #expect(counts.values >= 250 && counts.mutagen >= 220)
  }

  /// A file's metadata.
  static func read(_ path: String) throws -> AssetMetadata {
    let demuxer = try openFile(Asset(path: path), interrupt: Interrupt())
    return try MetadataReader.read(demuxer, displayPath: path)
  }

  /// The values by their names in write-tags.py.
  static func canonical(_ metadata: AssetMetadata) -> [String: [String]] {
    var found: [String: [String]] = [:]
    let common: [String: MetadataCommonKey] = [
      "title": .title, "artist": .artist, "album": .albumName, "albumArtist": .albumArtist, "composer": .creator,
      "genre": .type, "date": .creationDate, "comment": .description, "lyrics": .lyrics, "copyright": .copyrights,
    ]
    for (name, key) in common { found[name] = metadata.strings(key) }
    for (name, key) in [("track", MetadataCommonKey.trackNumber), ("disc", .discNumber)] {
      found[name] = metadata.commonMetadata.filter { $0.commonKey == key }.map { item in
        let number = item.numberValue.map { "\(Int($0))" } ?? "?"
        return item.extraAttributes[.total].map { "\(number)/\($0)" } ?? number
      }
    }
    for item in metadata.items where item.key == "POPM" {
      let attributes = item.extraAttributes
      found["rating"] = [
        "\(item.stringValue ?? "") by \(attributes[.owner] ?? "") played \(attributes[.playCount] ?? "")"
      ]
    }
    for item in metadata.items where item.key == "UFID" {
      found["ufid"] = ["\(item.stringValue ?? "") of \(item.extraAttributes[.owner] ?? "")"]
    }
    let customKeys = [
      "MOOD": "MOOD", "REPLAYGAIN_TRACK_GAIN": "trackGain", "REPLAYGAIN_TRACK_PEAK": "trackPeak",
      "REPLAYGAIN_ALBUM_GAIN": "albumGain", "REPLAYGAIN_ALBUM_PEAK": "albumPeak", "R128_TRACK_GAIN": "r128TrackGain",
      "R128_ALBUM_GAIN": "r128AlbumGain",
    ]
    for item in metadata.items {
      let name =
        item.key == "TXXX"
        ? item.extraAttributes[.info] ?? ""
        : item.keySpace == .iTunesLong ? String(item.key.split(separator: ".").last ?? "") : item.key
      guard let key = customKeys[name.uppercased()], let text = item.stringValue else { continue }
      found[key, default: []].append(text)
    }
    found["artwork"] = metadata.artwork.map { image in
      "\(image.type.rawValue) \(image.mediaType.replacing("image/", with: "")) \(image.data.count) \(checksum(image.data))"
    }
    return found.filter { !$0.value.isEmpty }
  }

  /// The checksum of ISO 3309, as in zlib.
  private static func checksum(_ data: [UInt8]) -> String {
    var value: UInt32 = .max
    for byte in data {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
    return String(format: "%08x", ~value)
  }
}
