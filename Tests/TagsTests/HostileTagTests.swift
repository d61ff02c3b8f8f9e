import Foundation
import RigSupport
import Testing

@testable import PlayheadTags

/// Tags designed to use memory, time or the stack, and the measured cost of each.
@Suite(.serialized) struct HostileTagTests {
  struct Attack: Sendable, CustomStringConvertible {
    var description: String
    var container: TagContainer
    /// An expected part of a warning, and whether a limit is the reason. Nil for a tag that is only unusual.
    var warning: String?
    var isLimit: Bool
    /// The maximum number of resulting items.
    var maximumItems: Int
    var bytes: @Sendable () -> [UInt8]

    init(
      _ description: String, _ container: TagContainer, warning: String? = nil, isLimit: Bool = false,
      maximumItems: Int = 0,
      bytes: @escaping @Sendable () -> [UInt8]
    ) {
      self.description = description
      self.container = container
      self.warning = warning
      self.isLimit = isLimit
      self.maximumItems = maximumItems
      self.bytes = bytes
    }
  }

  private static let megabyte = 1 << 20

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: bytes.count * count) { buffer, filled in
      filled = bytes.count * count
      guard let base = buffer.baseAddress else { return }
      for index in 0..<count { memcpy(base + index * bytes.count, bytes, bytes.count) }
    }
  }

  /// Atoms `moov`, each within the previous one, to any depth.
  private static func nestedAtoms(_ depth: Int) -> [UInt8] {
    (0..<depth).flatMap { TagBytes.bigEndian(8 * (depth - $0)) + Array("moov".utf8) }
  }

  /// Nested chapters, to any depth.
  private static func nestedChapters(_ depth: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // Header by header, from the outermost: 10 bytes of header, 18 of chapter.
    for level in 0..<depth {
      bytes +=
        Array("CHAP".utf8) + TagBytes.bigEndian(28 * (depth - level) - 10) + [0, 0] + Array("c\0".utf8) + zeros(16)
    }
    return bytes
  }

  /// Zeros compressed by zlib (in Python), 1,000 times smaller.
  private static func deflatedZeros(_ count: Int) throws -> [UInt8] {
    let folder = try TemporaryDirectory("tags")
    let path = folder.path + "/zeros"
    try ChildProcess.run([
      "/usr/bin/python3", "-c",
      "import sys,zlib; open(sys.argv[1],'wb').write(zlib.compress(bytes(int(sys.argv[2])),9))",
      path, "\(count)",
    ])
    return try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// A frame that inflates to 1 GiB.
  private static let bomb = Result {
    try TagBytes.id3v2(
      4, TagBytes.frame(4, "PRIV", TagBytes.syncSafe(1 << 27) + deflatedZeros(1 << 30), flags: [0, 0x09]))
  }

  static let attacks: [Attack] = [
    Attack("ID3v2 declares 256 MiB, the file has 1 MiB", .edges, warning: "the file is shorter", maximumItems: 1) {
      TagBytes.id3v2(4, TagBytes.text(4, "TIT2", "A") + zeros(megabyte), claiming: 1 << 28 - 1)
    },
    Attack("ID3v2 of 100 MiB", .edges, warning: "size or depth limit", isLimit: true) {
      TagBytes.id3v2(4, zeros(100 * megabyte))
    },
    Attack("a frame declares 200 MiB", .edges, maximumItems: 1) {
      TagBytes.id3v2(3, TagBytes.text(3, "TIT2", "A") + TagBytes.frame(3, "APIC", zeros(100), claiming: 200 * megabyte))
    },
    Attack("an image of 40 MiB", .edges, warning: "the image has", isLimit: true, maximumItems: 2) {
      TagBytes.id3v2(
        4,
        TagBytes.text(4, "TIT2", "A")
          + TagBytes.frame(4, "APIC", [0] + Array("image/png\0".utf8) + [3, 0] + zeros(40 * megabyte)))
    },
    Attack("four images of 15 MiB", .edges, maximumItems: 4) {
      TagBytes.id3v2(
        3,
        (0..<4).flatMap { _ in
          TagBytes.frame(3, "APIC", [0] + Array("image/png\0".utf8) + [3, 0] + [1] + zeros(15 * megabyte))
        })
    },
    Attack("private data of 20 MiB", .edges, warning: "the data has", isLimit: true, maximumItems: 1) {
      TagBytes.id3v2(3, TagBytes.frame(3, "PRIV", Array("me\0".utf8) + zeros(20 * megabyte)))
    },
    Attack("an MP4 cover of 20 MiB", .mp4, warning: "the image has", isLimit: true, maximumItems: 1) {
      TagBytes.mp4(TagBytes.atom("covr", TagBytes.value(zeros(20 * megabyte), kind: 14)))
    },
    Attack("an APEv2 cover of 20 MiB", .edges, warning: "the image has", isLimit: true, maximumItems: 1) {
      TagBytes.ape([("Cover Art (Front)", 2, Array("f.png\0".utf8) + zeros(20 * megabyte))])
    },
    Attack("10,000 images of a byte", .edges, warning: "more than 10000", isLimit: true, maximumItems: 10_000) {
      TagBytes.id3v2(3, repeated(TagBytes.frame(3, "APIC", [0] + Array("image/png\0".utf8) + [3, 0, 1]), 12_000))
    },
    Attack("three images of 20 MiB", .edges, warning: "the image has", isLimit: true, maximumItems: 3) {
      TagBytes.id3v2(
        3,
        (0..<3).flatMap { _ in
          TagBytes.frame(3, "APIC", [0] + Array("image/png\0".utf8) + [3, 0] + [1] + zeros(20 * megabyte))
        })
    },
    Attack("2,000,000 empty frames", .edges, warning: "more than 10000 frames", isLimit: true, maximumItems: 10_000) {
      TagBytes.id3v2(3, repeated(TagBytes.frame(3, "PRIV", [0]), 2_000_000))
    },
    Attack("a text of 8,000,000 parts", .edges, warning: "texts have more than", isLimit: true) {
      TagBytes.id3v2(3, TagBytes.frame(3, "TPE1", [0] + repeated([0x61, 0], 8_000_000)))
    },
    Attack("a text of 400,000 parts", .edges, warning: "more than 1000 values", isLimit: true, maximumItems: 1_000) {
      TagBytes.id3v2(3, TagBytes.frame(3, "TPE1", [0] + repeated([0x61, 0], 400_000)))
    },
    Attack("a frame that inflates to 1 GiB", .edges, warning: "compressed", isLimit: true) { (try? bomb.get()) ?? [] },
    Attack("the same in a WAV file", .wav, warning: "compressed", isLimit: true) {
      TagBytes.riff("WAVE", [("id3 ", (try? bomb.get()) ?? [], nil)])
    },
    Attack("100,000 nested chapters", .edges) { TagBytes.id3v2(3, nestedChapters(100_000)) },
    Attack("the same in an AIFF file", .aiff) {
      TagBytes.riff("AIFF", [("ID3 ", TagBytes.id3v2(3, nestedChapters(100_000)), nil)])
    },
    Attack("200,000 nested atoms", .mp4, warning: "size or depth limit", isLimit: true) {
      nestedAtoms(200_000)
    },
    Attack("an atom of 0 bytes, and one of -1", .mp4) {
      TagBytes.atom("moov", TagBytes.atom("udta", [], claiming: 0) + TagBytes.atom("free", [], claiming: -1))
    },
    Attack("an item of 2,000,000 values", .mp4, warning: "more than 1000 values", isLimit: true) {
      TagBytes.mp4(TagBytes.atom("\u{A9}ART", repeated(TagBytes.value([0x61]), 2_000_000)))
    },
    Attack("60,000 items", .mp4, warning: "more than 10000 items", isLimit: true, maximumItems: 10_000) {
      TagBytes.mp4(repeated(TagBytes.atom("\u{A9}ART", TagBytes.value([0x61])), 60_000))
    },
    Attack("an item declares 2 GiB", .mp4, warning: "the file is shorter", maximumItems: 2) {
      TagBytes.mp4(TagBytes.atom("covr", TagBytes.value(zeros(1_000), kind: 14), claiming: Int(Int32.max)))
    },
    Attack("300,000 comments", .flac, warning: "more than 10000 entries", isLimit: true, maximumItems: 10_000) {
      TagBytes.ogg([])
        + TagBytes.flac([(4, TagBytes.vorbisComment((0..<300_000).map { _ in Array("A=B".utf8) }), nil)])
    },
    Attack("a comment declares 4 billion entries", .flac, warning: "exceeds the tag", maximumItems: 1) {
      TagBytes.flac([(4, TagBytes.vorbisComment([Array("TITLE=A".utf8)], claiming: 0xFFFF_FFFF), nil)])
    },
    Attack("a FLAC artwork block declares 1 GiB", .flac, warning: "damaged") {
      TagBytes.flac([(6, TagBytes.flacPicture([1, 2, 3], claiming: 1 << 30), nil)])
    },
    Attack("a FLAC artwork block declares 4 GiB", .flac, maximumItems: 1) {
      TagBytes.flac([(6, TagBytes.flacPicture([1, 2, 3], claiming: 0xFFFF_FFFF), nil)])
    },
    Attack("a FLAC block declares 16 MiB", .flac, warning: "the file is shorter") {
      TagBytes.flac([(4, TagBytes.vorbisComment([]), 0xFF_FFFF)])
    },
    Attack("2,500,000 FLAC blocks", .flac, warning: "size or depth limit", isLimit: true) {
      TagBytes.flac([]) + repeated([1, 0, 0, 0], 2_500_000)
    },
    Attack("100,000 pages of one packet", .ogg, warning: "size or depth limit", isLimit: true) {
      let page = TagBytes.ogg([zeros(255 * 4)])
      // A packet that continues on the next page, and never ends.
      var open = page
      open[26] = 4
      open.removeSubrange(31..<32)
      return repeated(open, 100_000)
    },
    Attack("an Ogg page, and 70 MiB of nothing", .ogg) {
      TagBytes.ogg([[1] + Array("vorbis".utf8)]) + zeros(70 * megabyte)
    },
    Attack("an APEv2 item declares 4 GiB", .edges, warning: "exceeds the tag") {
      var tag = TagBytes.ape([("Title", 0, Array("A".utf8))])
      tag.replaceSubrange(0..<4, with: [0xFF, 0xFF, 0xFF, 0xFF])
      return tag
    },
    Attack("an APEv2 tag declares 3 GiB", .edges, warning: "the file is shorter") {
      TagBytes.ape([("Title", 0, Array("A".utf8))], size: 3 << 30)
    },
    Attack("100,000 APEv2 items", .edges, warning: "more than 10000 items", isLimit: true, maximumItems: 10_000) {
      let items = (0..<100_000).map { ("k\($0)", 0, [] as [UInt8]) }
      return TagBytes.ape(items)
    },
    Attack("an APEv2 text of 8,000,000 parts", .edges, warning: "values", isLimit: true) {
      TagBytes.ape([("Artist", 0, repeated([0x61, 0], 8_000_000))])
    },
    Attack("6,000,000 empty chunks", .wav, warning: "size or depth limit", isLimit: true) {
      TagBytes.riff("WAVE", []) + repeated(Array("abcd".utf8) + [0, 0, 0, 0], 6_000_000)
    },
    Attack("INFO of 8 MiB", .wav, warning: "the chunk has", isLimit: true) {
      TagBytes.riff(
        "WAVE", [("LIST", Array("INFO".utf8) + repeated(Array("INAM".utf8) + [0, 0, 0, 0], megabyte), nil)])
    },
    Attack("an ASF header with 4 billion objects of 0 bytes", .asf, maximumItems: 1) {
      TagBytes.asf([TagBytes.asfObject(TagBytes.asfDescriptionsGUID, [0, 0], claiming: 0)], count: 0xFFFF_FFFF)
    },
    Attack("an ASF extension whose objects have 0 bytes", .asf, maximumItems: 1) {
      TagBytes.asf([
        TagBytes.asfObject(
          TagBytes.asfExtensionGUID,
          zeros(18) + TagBytes.littleEndian(0x7FFF_FFFF)
            + repeated(TagBytes.asfObject(zeros(16), [], claiming: 0), 500_000))
      ])
    },
    Attack(
      "65,535 ASF attributes in each of 8 objects", .asf, warning: "size or depth limit", isLimit: true,
      maximumItems: 10_000
    ) {
      let attribute = TagBytes.asfText("a", "b")
      let object = TagBytes.asfObject(
        TagBytes.asfDescriptionsGUID, TagBytes.littleEndian(65_535, bytes: 2) + repeated(attribute, 65_535))
      return TagBytes.asf((0..<8).map { _ in object })
    },
    Attack(
      "Matroska: 4,000 nested tags", .matroska, warning: "depth limit", isLimit: true,
      maximumItems: 8
    ) {
      var tag = TagBytes.simpleTag("A", "a")
      for _ in 0..<4_000 { tag = TagBytes.simpleTag("A", "a", tag) }
      return TagBytes.matroska(TagBytes.element(0x7373, tag))
    },
    Attack(
      "Matroska: 40,000 tags of one name", .matroska, warning: "exceed the limit", isLimit: true,
      maximumItems: 1_000
    ) {
      TagBytes.matroska(TagBytes.element(0x7373, repeated(TagBytes.simpleTag("A", ""), 40_000)))
    },
    Attack("Matroska: tags of 100 MiB", .matroska, warning: "bytes", isLimit: true) {
      TagBytes.matroska(zeros(100 * megabyte))
    },
    Attack("Matroska: data of 20 MiB", .matroska, warning: "the data exceeds", isLimit: true, maximumItems: 1) {
      TagBytes.matroska(
        TagBytes.element(
          0x7373,
          TagBytes.element(
            0x67C8, TagBytes.element(0x45A3, Array("A".utf8)) + TagBytes.element(0x4485, zeros(20 * megabyte)))))
    },
    Attack("Matroska: a tag declares 32 PiB", .matroska, maximumItems: 1) {
      TagBytes.matroska(
        TagBytes.element(0x7373, TagBytes.element(0x67C8, TagBytes.element(0x45A3, Array("A".utf8)), claiming: 1 << 55))
      )
    },
    Attack("Matroska: 30 million elements in tags", .matroska, warning: "the number of tags exceeds", isLimit: true) {
      TagBytes.matroska(repeated([0xEC, 0x80], 30_000_000))
    },
    Attack("Matroska: 100,000 seek entries that point to the seek head itself", .matroska, maximumItems: 1) {
      TagBytes.matroska(
        TagBytes.element(0x7373, TagBytes.simpleTag("A", "a")),
        seekEntries: (0..<100_000).map { _ in (id: 0x114D_9B74, position: 0) })
    },
  ]

  /// The peak memory is that of all attacks so far. Each must stay within the bound, so separate processes are not
  /// needed.
  @Test(arguments: attacks)
  func hostileTagStaysWithinMemoryAndReadLimits(_ attack: Attack) throws {
    let bytes = attack.bytes()
    let limits = TagLimits()
    var suppliedBytes: Int64 = 0
    var calls = 0
    let before = try Self.peakKilobytes()
    let clock = ContinuousClock()
    let start = clock.now
    let reading = TagReader.read(attack.container, byteCount: Int64(bytes.count)) {
      (buffer, offset) throws(Never) -> Int in
      calls += 1
      let first = Int(offset)
      let chunk = bytes[first..<min(bytes.count, first + buffer.count)]
      buffer.copyBytes(from: chunk)
      suppliedBytes += Int64(chunk.count)
      return chunk.count
    }
    let elapsed = start.duration(to: clock.now)
    let growth = try Self.peak() - before
    let milliseconds = elapsed.components.seconds * 1_000 + elapsed.components.attoseconds / 1_000_000_000_000_000
    print(
      "\(attack): \(bytes.count >> 10) KiB; \(reading.items.count) items, \(suppliedBytes >> 10) KiB in \(calls) reads, "
        + "\(milliseconds) ms, peak +\(growth >> 10) MiB: \(reading.warnings.first.map { "\($0.subject): \($0.reason)" } ?? "no warning")"
    )
    #expect(reading.items.count <= attack.maximumItems)
    for item in reading.items {
      let value: [UInt8]
      switch item.value {
      case .data(let bytes), .image(let bytes): value = bytes
      case .text, .number: continue
      }
      #expect(value.count <= limits.dataByteCount)
      if let byteCount = item.excessiveByteCount { #expect(value.count <= 64 && byteCount > limits.dataByteCount) }
    }
    if let warning = attack.warning {
      #expect(
        reading.warnings.contains { $0.reason.contains(warning) && $0.isLimit == attack.isLimit }, "\(reading.warnings)"
      )
    }
    // Bytes at the end of the file are read together with the bytes before them, at most once per read.
    #expect(suppliedBytes <= Int64(limits.byteCount) + Int64(limits.readCount) * 8_192)
    #expect(calls <= limits.readCount)
    #expect(growth <= 256 << 10, "peak memory")
  }

  /// The peak memory of this process since the last reset, in kB.
  private static func peakKilobytes() throws -> Int {
    try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .ascii)
    return try peak()
  }

  private static func peak() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber)))
  }
}
