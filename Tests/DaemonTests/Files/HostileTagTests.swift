import DaemonTesting
import Glibc
import RigSupport
import Testing

/// Files with tags designed to use memory, time or the stack, through the daemon. Skipped tags are reported, and the
/// file and the next entry play. Each test prints its row. The tags alone: `TagsTests.HostileTagTests`.
@Suite(.timeLimit(.minutes(3))) struct HostileTagTests {
  struct Row: Sendable {
    var name: String
    /// The plain file from which it is made.
    var file: String
    /// An expected part of a row of `asset.metadata`. Nil for a tag that is only unusual.
    var expectedText: String?
    /// The error code if the file cannot be played, because its audio cannot be found after such a tag.
    var code: Int?
    var edit: @Sendable ([UInt8]) throws -> [UInt8]

    init(
      _ name: String, _ file: String, expectedText: String? = nil, code: Int? = nil,
      edit: @escaping @Sendable ([UInt8]) throws -> [UInt8]
    ) {
      (self.name, self.file, self.expectedText, self.code, self.edit) = (name, file, expectedText, code, edit)
    }
  }

  private static let megabyte = 1 << 20

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  /// Prepends an ID3 tag.
  private static func id3(_ version: UInt8, _ frames: [UInt8], claiming size: Int? = nil)
    -> @Sendable ([UInt8]) -> [UInt8]
  {
    { TagBytes.id3v2(version, frames, claiming: size) + $0 }
  }

  private static func artwork(_ byteCount: Int, claiming size: Int? = nil) -> [UInt8] {
    TagBytes.frame(4, "APIC", [0] + Array("image/png\0".utf8) + [3, 0] + zeros(byteCount), claiming: size)
  }

  /// Inserts blocks after the stream information of a FLAC file.
  private static func blocks(_ blocks: [(kind: UInt8, data: [UInt8], claiming: Int?)]) -> @Sendable ([UInt8]) -> [UInt8]
  {
    { bytes in
      Array(bytes[..<42])
        + blocks.flatMap { [$0.kind] + TagBytes.bigEndian($0.claiming ?? $0.data.count, bytes: 3) + $0.data }
        + bytes[42...]
    }
  }

  /// Appends boxes to an MP4 file's `moov`, which is its last box.
  private static func inMovie(_ boxes: [UInt8]) -> @Sendable ([UInt8]) throws -> [UInt8] {
    { bytes in
      let position = try position(of: Array("moov".utf8), in: bytes) - 4
      let size = TagBytes.bigEndian(bytes.count - position + boxes.count)
      return bytes[..<position] + size + bytes[(position + 4)...] + boxes
    }
  }

  private static func list(_ items: [UInt8]) -> [UInt8] {
    TagBytes.atom(
      "udta",
      TagBytes.atom(
        "meta",
        TagBytes.bigEndian(0) + TagBytes.atom("hdlr", zeros(8) + Array("mdirappl".utf8) + zeros(9))
          + TagBytes.atom("ilst", items)))
  }

  private static func position(of bytes: [UInt8], in file: [UInt8]) throws -> Int {
    try #require(file.firstRange(of: bytes)?.lowerBound)
  }

  /// Overwrites bytes at an offset after the first occurrence of `mark`.
  private static func over(_ mark: [UInt8], at offset: Int = 0, _ bytes: [UInt8])
    -> @Sendable ([UInt8]) throws -> [UInt8]
  {
    { file in
      let start = try position(of: mark, in: file) + offset
      return file[..<start] + bytes + file[(start + bytes.count)...]
    }
  }

  /// Updates the checksum of the Ogg page (RFC 3533) that contains an offset.
  private static func withChecksum(_ file: [UInt8], at position: Int) throws -> [UInt8] {
    var file = file
    let start = try #require((0...position).last { file[$0...].starts(with: "OggS".utf8) })
    let count = Int(file[start + 26])
    let end = start + 27 + count + file[(start + 27)..<(start + 27 + count)].reduce(0) { $0 + Int($1) }
    file.replaceSubrange((start + 22)..<(start + 26), with: zeros(4))
    var sum: UInt32 = 0
    for byte in file[start..<end] {
      sum ^= UInt32(byte) << 24
      for _ in 0..<8 { sum = sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }
    file.replaceSubrange((start + 22)..<(start + 26), with: TagBytes.littleEndian(Int(sum)))
    return file
  }

  /// Appends chunks to a WAV file.
  private static func chunks(_ chunks: [UInt8]) -> @Sendable ([UInt8]) -> [UInt8] {
    { bytes in bytes[..<4] + TagBytes.littleEndian(bytes.count - 8 + chunks.count) + bytes[8...] + chunks }
  }

  private static let title = Array("An ordinary title".utf8)
  /// Tables of contents that refer to each other and themselves, and a chapter that refers to nothing.
  private static let circularContents: [UInt8] =
    TagBytes.frame(3, "CTOC", Array("a\0".utf8) + [3, 3] + Array("b\0a\0c\0".utf8))
    + TagBytes.frame(3, "CTOC", Array("b\0".utf8) + [1, 200] + Array("a\0".utf8))
    + TagBytes.frame(3, "CHAP", Array("c\0".utf8) + zeros(4) + TagBytes.bigEndian(500) + zeros(8))
    + TagBytes.frame(3, "CHAP", Array("c\0".utf8) + TagBytes.bigEndian(500) + TagBytes.bigEndian(-1) + zeros(8))

  static let rows: [Row] = [
    Row(
      "ID3v2: the tag claims 256 MiB", "a.mp3", code: 3004,
      edit: id3(4, TagBytes.text(4, "TIT2", "A"), claiming: 1 << 28 - 1)),
    Row("ID3v2: an image claims 200 MiB", "a.mp3", edit: id3(4, artwork(100, claiming: 200 * megabyte))),
    Row("ID3v2: an image of 40 MiB", "a.mp3", expectedText: "image", edit: id3(4, artwork(40 * megabyte))),
    Row("ID3v2: circular tables of contents", "a.mp3", edit: id3(3, circularContents)),
    Row(
      "ID3v2: invalid encodings", "a.mp3",
      edit: id3(
        3,
        TagBytes.frame(3, "TIT2", [9] + title) + TagBytes.frame(3, "TPE1", [1, 0xFF, 0xFE, 0x00, 0xD8, 0x41])
          + TagBytes.frame(3, "TALB", [3, 0xFF, 0xC0, 0x80]))),
    Row(
      "ID3v2: 20,000 empty frames", "a.mp3",
      edit: { file in
        TagBytes.id3v2(3, (0..<20_000).flatMap { _ in TagBytes.frame(3, "PRIV", [0]) }) + file
      }),
    Row(
      "ID3v2: 1,000,000 empty frames", "a.mp3",
      edit: { file in
        let frame = TagBytes.frame(3, "PRIV", [0])
        return TagBytes.id3v2(3, (0..<1_000_000).flatMap { _ in frame }) + file
      }),
    Row("APEv2: an item claims 4 GiB", "a.mp3", expectedText: "exceeds the tag") { file in
      var tag = TagBytes.ape([("Title", 0, Array("A".utf8))])
      tag.replaceSubrange(0..<4, with: [0xFF, 0xFF, 0xFF, 0xFF])
      return file + tag
    },
    Row("APEv2: the tag claims 3 GiB", "a.mp3", expectedText: "the file is shorter") {
      $0 + TagBytes.ape([("Title", 0, Array("A".utf8))], size: 3 << 30)
    },
    Row("APEv2: a cover of 20 MiB", "a.mp3", expectedText: "image") {
      $0 + TagBytes.ape([("Cover Art (Front)", 2, Array("f.png\0".utf8) + zeros(20 * megabyte))])
    },
    Row("APEv2: invalid text", "a.mp3") {
      $0 + TagBytes.ape([("Title", 0, [0xFF, 0xC0, 0x80, 0xED, 0xA0, 0x80])])
    },
    Row(
      "FLAC: 4 billion comments are claimed", "a.flac",
      edit: blocks([(4, TagBytes.vorbisComment([Array("A=B".utf8)], claiming: 0xFFFF_FFFF), nil)])),
    // FFmpeg compares each with all before: it needed more than ten minutes.
    Row(
      "FLAC: 1,000,000 comments with distinct names", "a.flac", expectedText: "more than 10000",
      edit: blocks([(4, TagBytes.vorbisComment((0..<1_000_000).map { Array("\($0)=".utf8) }), nil)])),
    Row("MP4: 200,000 values with distinct names", "a.m4a", expectedText: "size or depth limit") {
      let domain = TagBytes.atom("mean", TagBytes.bigEndian(0) + Array("a".utf8))
      let items = (0..<200_000).flatMap { number in
        TagBytes.atom(
          "----",
          domain + TagBytes.atom("name", TagBytes.bigEndian(0) + Array("\(number)".utf8)) + TagBytes.value([65]))
      }
      return try inMovie(list(items))($0)
    },
    Row("WAV: 300,000 texts with distinct names", "a.wav", expectedText: "3000004 bytes") { file in
      let texts = (0..<300_000).flatMap { number -> [UInt8] in
        let name = [0, 5, 10, 15].map { UInt8(65 + number >> $0 & 31) }
        return name + [2, 0, 0, 0, 65, 0]
      }
      return chunks(Array("LIST".utf8) + TagBytes.littleEndian(texts.count + 4) + Array("INFO".utf8) + texts)(file)
    },
    Row(
      "FLAC: an image claims 2 GiB", "a.flac",
      edit: blocks([(6, TagBytes.flacPicture(zeros(100), claiming: 0x7FFF_FFFF), nil)])),
    Row(
      "FLAC: invalid text", "a.flac",
      edit: blocks([(4, TagBytes.vorbisComment([Array("TITLE=".utf8) + [0xFF, 0xC0, 0x80]]), nil)])),
    Row("Ogg: a comment claims 4 GiB", "a.ogg") { file in
      let position = try position(of: title, in: file) - 10
      return try withChecksum(file[..<position] + [0xFF, 0xFF, 0xFF, 0xFF] + file[(position + 4)...], at: position)
    },
    Row("MP4: a cover claims 2 GiB", "a.m4a") {
      try inMovie(list(TagBytes.atom("covr", TagBytes.value(zeros(1_000), kind: 14), claiming: Int(Int32.max))))($0)
    },
    Row("MP4: a cover of 20 MiB", "a.m4a") {
      try inMovie(list(TagBytes.atom("covr", TagBytes.value(zeros(20 * megabyte), kind: 14))))($0)
    },
    Row("MP4: 5,000 nested atoms", "a.m4a", code: 3004) { file in
      var atoms: [UInt8] = []
      for depth in 0..<5_000 { atoms += TagBytes.bigEndian(8 * (5_000 - depth)) + Array("udta".utf8) }
      return try inMovie(atoms)(file)
    },
    Row("MP4: a track that is its own chapters, and therefore has no audio", "a.m4a", code: 3003) { file in
      let reference = TagBytes.atom("tref", TagBytes.atom("chap", TagBytes.bigEndian(1)))
      var file = file
      let track = try position(of: Array("trak".utf8), in: file) - 4
      let size = file[track..<(track + 4)].reduce(0) { $0 << 8 | Int($1) }
      file.replaceSubrange((track + size)..<(track + size), with: reference)
      file.replaceSubrange(track..<(track + 4), with: TagBytes.bigEndian(size + reference.count))
      let movie = try position(of: Array("moov".utf8), in: file) - 4
      file.replaceSubrange(movie..<(movie + 4), with: TagBytes.bigEndian(file.count - movie))
      return file
    },
    Row("MP4: invalid text", "a.m4a") {
      try inMovie(list(TagBytes.atom("\u{A9}nam", TagBytes.value([0xFF, 0xC0, 0x80]))))($0)
    },
    Row("Matroska: invalid text", "a.mka", edit: over(title, [0xFF, 0xC0, 0x80])),
    Row("Matroska: a value claims more than its tag", "a.mka", edit: over(title, at: -1, [0xFE])),
    Row("WAV: a list claims 3 GiB", "a.wav") {
      chunks(
        Array("LIST".utf8) + TagBytes.littleEndian(3 << 30) + Array("INFOINAM".utf8) + TagBytes.littleEndian(4) + [
          65, 0, 0, 0,
        ])($0)
    },
    Row("WAV: 300,000 empty chunks", "a.wav") { file in
      chunks((0..<300_000).flatMap { _ in Array("abcd".utf8) + [0, 0, 0, 0] })(file)
    },
    Row(
      "ASF: a description claims 16 EiB", "a.wma",
      edit: over(
        [0x33, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], at: 16, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F])),
  ]

  @Test func hostileTagsAreOmittedAndTheQueueContinues() throws {
    let daemon = try TestDaemon.recording()
    let client = try daemon.connect()
    let folder = daemon.folder
    for (name, options) in [
      ("a.mp3", ["-id3v2_version", "0"]), ("a.flac", []), ("a.m4a", ["-c:a", "aac"]), ("a.ogg", ["-c:a", "libvorbis"]),
      ("a.mka", ["-c:a", "flac"]), ("a.wav", []), ("a.wma", ["-c:a", "wmav2"]),
    ] {
      try Fixtures.ffmpeg(
        [
          "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=0.5", "-metadata",
          "title=An ordinary title",
        ]
          + options + [folder.file(name)])
    }
    let good = try daemon.wave(2, frameCount: 4_800)
    try client.reply("observe item.events")
    for (index, row) in Self.rows.enumerated() {
      let bytes = try row.edit(try Files.read(folder.file(row.file)))
      let path = try folder.write("\(index)-\(row.file)", bytes)
      try "5".withCString { text in
        let descriptor = open("/proc/\(daemon.process.id)/clear_refs", O_WRONLY)
        defer { close(descriptor) }
        try #require(write(descriptor, text, 1) == 1)
      }
      let before = try peakKilobytes(daemon)
      let opened = try client.ask("asset.open \(path)")
      let number = try #require(field("asset", opened.last ?? "") ?? field("id", opened.last ?? ""), "\(opened)")
      let tags = try client.ask("asset.metadata \(number)").filter { !$0.hasPrefix("*") }
      try client.reply("asset.close \(number)")
      var lines = try client.ask("load \(path) \(good)")
      let items = try #require(field("items", lines.last ?? ""), "\(lines)").split(separator: ",").map(String.init)
      lines += try client.ask("play") + client.ask("wait status=playing timeout=60") + client.ask("clock.advance 3")
      let growth = try peakKilobytes(daemon) - before
      let ended = lines.filter { $0.hasPrefix("* played-to-end ") }.compactMap { field("item", $0) }
      let skipped = lines.filter { $0.hasPrefix("* item-skipped ") }.compactMap { field("code", $0) }
      let warnings = tags.filter {
        $0.contains("reason=") || $0.hasPrefix("error") || $0.contains("omitted") || $0.contains("warning")
      }
      print(
        "hostile tags | \(row.name) | \(bytes.count >> 10) KiB | \(tags.count - 1) rows | \(warnings.first ?? "-") |",
        "skipped: \(skipped) | to their ends: \(ended == items ? "both" : "\(ended)") | peak +\(growth >> 10) MiB")
      #expect(ended == (row.code == nil ? items : Array(items.dropFirst())), "\(row.name): \(lines)")
      #expect(skipped == (row.code.map { ["\($0)"] } ?? []), "\(row.name): \(lines)")
      if let words = row.expectedText { #expect(tags.contains { $0.contains(words) }, "\(row.name): \(tags)") }
      #expect(growth < 192 << 10, "\(row.name)")
      try client.reply("clear")
      unlink(path)
    }
  }

  /// The peak memory since the last reset, in kB.
  private func peakKilobytes(_ daemon: TestDaemon) throws -> Int {
    let status = String(decoding: try Files.read("/proc/\(daemon.process.id)/status"), as: UTF8.self)
    return try #require(
      status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }.flatMap { Int($0.filter(\.isNumber)) })
  }
}
