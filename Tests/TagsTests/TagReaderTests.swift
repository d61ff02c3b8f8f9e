import Foundation
import RigSupport
import Testing

@testable import PlayheadTags

/// The tags of small files, whole and truncated.
@Suite struct TagReaderTests {
  private func read(_ file: SmallFiles.File) -> TagReading { TagReader.read(file.container, data: file.bytes) }

  private func items(_ description: String) throws -> [TagItem] {
    let file = try #require(SmallFiles.all.first { $0.description == description })
    let reading = read(file)
    #expect(reading.warnings.isEmpty)
    return reading.items
  }

  private func texts(_ items: [TagItem], _ key: String) -> [String] {
    items.compactMap { item in
      guard item.key == key, case .text(let text) = item.value else { return nil }
      return text
    }
  }

  @Test(arguments: ["ID3v2.3, APEv2 and ID3v1", "ID3v2.4"])
  func id3FramesKeepLanguagesOwnersAndDescriptions(_ name: String) throws {
    let items = try items(name)
    #expect(texts(items, "TIT2") == ["A"])
    let text = try #require(items.first { $0.key == "TXXX" })
    #expect(text.value == .text("v") && text.description == "k")
    let comment = try #require(items.first { $0.key == "COMM" })
    #expect(comment.value == .text("Wort") && comment.language == "deu")
    let lyrics = try #require(items.first { $0.key == "USLT" })
    #expect(lyrics.value == .text("la la") && lyrics.language == "eng")
    let rating = try #require(items.first { $0.key == "POPM" })
    #expect(rating.value == .number(128) && rating.secondNumber == 7 && rating.owner == "x@y")
    let identifier = try #require(items.first { $0.key == "UFID" })
    #expect(identifier.value == .data(Array("id".utf8)) && identifier.owner == "o")
    let image = try #require(items.first { $0.key == "APIC" })
    #expect(image.artworkType == 3 && image.mediaType == "image/png" && image.description == "d")
    #expect(texts(items, "RVA2") == ["-1.50 dB"])
    #expect(items.first { $0.key == "PRIV" }?.value == .data([1, 2, 3]))
    #expect(items.first { $0.key == "WXXX" }?.description == "d")
  }

  @Test func tagsAtTheEndFollowThoseAtTheStart() throws {
    let items = try items("ID3v2.3, APEv2 and ID3v1")
    let spaces: [TagItem.Space] = items.map(\.space).reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    #expect(spaces == [.id3v2, .ape, .id3v1])
    #expect(texts(items, "Artist") == ["B", "C"])
  }

  @Test(arguments: ["FLAC", "Ogg Vorbis", "Opus", "Speex"])
  func repeatedVorbisCommentsKeepAllValues(_ name: String) throws {
    let items = try items(name)
    #expect(texts(items, "TITLE") == ["A"])
    #expect(texts(items, "ARTIST") == ["B", "C"])
    #expect(items.contains { $0.artworkType == 3 } == (name == "FLAC"))
  }

  @Test func repeatedMP4ItemsAreAllRead() throws {
    let items = try items("MP4")
    #expect(texts(items, "©ART") == ["B", "C", "D"])
    let track = try #require(items.first { $0.key == "trkn" })
    #expect(track.value == .number(3) && track.secondNumber == 12)
    #expect(texts(items, "----:com.apple.iTunes:LABEL") == ["L"])
    #expect(items.last { $0.key == "covr" } != nil)
  }

  @Test func tagsInWAVAndAIFFChunksAndASFObjectsAreRead() throws {
    let wav = try items("WAV")
    #expect(texts(wav, "INAM") == ["A"] && texts(wav, "TIT2") == ["A"])
    let aiff = try items("AIFF")
    #expect(texts(aiff, "NAME") == ["A"] && texts(aiff, "TIT2") == ["A"])
    let asf = try items("ASF")
    #expect(texts(asf, "WM/Genre") == ["G"])
  }

  @Test func mp4TagsKeepTheOrderOfTheFile() throws {
    let names = ["\u{A9}wrt", "\u{A9}nam", "cprt", "\u{A9}ART", "aART"]
    let atoms = names.flatMap { name in
      TagBytes.atom(name, TagBytes.value(Array(name.utf8)))
    }
    let reading = TagReader.read(.mp4, data: TagBytes.mp4(atoms))
    #expect(reading.items.map(\.key) == names)
  }

  @Test func matroskaTagsHaveTargetLevelAndLanguage() throws {
    let items = try items("Matroska")
    #expect(items.map(\.key) == ["TITLE", "TITLE", "ARTIST", "ARTIST/SORT_WITH", "ARTIST", "KEY"])
    #expect(items.map(\.targetLevel) == [50, 30, 30, 30, 30, 30])
    #expect(items.map(\.language) == [nil, "ger", nil, nil, "en-GB", nil])
    #expect(texts(items, "TITLE") == ["The album", "A"] && texts(items, "ARTIST") == ["B", "C"])
    #expect(texts(items, "ARTIST/SORT_WITH") == ["B, the"] && items.last?.value == .data([1, 2, 3]))
  }

  @Test(arguments: SmallFiles.all)
  func fileCutAtAnyByteHasNoMoreItemsThanTheWhole(_ file: SmallFiles.File) {
    let whole = read(file).items
    var partial = 0
    for count in 0..<file.bytes.count {
      let reading = TagReader.read(file.container, data: Array(file.bytes.prefix(count)))
      #expect(reading.items.count <= whole.count, "\(count) bytes of \(file.bytes.count)")
      if !reading.items.isEmpty { partial += 1 }
    }
    print("\(file): \(file.bytes.count) cuts, \(partial) with some of the \(whole.count) items")
  }

  @Test(arguments: SmallFiles.all)
  func fileWithAnyByteChangedIsReadSafely(_ file: SmallFiles.File) {
    for index in file.bytes.indices {
      for value: UInt8 in [0, 0x7F, 0xFF] {
        var bytes = file.bytes
        bytes[index] = value
        let reading = TagReader.read(file.container, data: bytes)
        #expect(reading.items.count <= 64)
      }
    }
  }

  @Test func readErrorIsPassedToTheCaller() {
    struct Failure: Error, Equatable { var offset: Int64 }
    #expect(throws: Failure(offset: 0)) {
      try TagReader.read(.mp4, byteCount: 1_000) { (_, offset) throws(Failure) -> Int in throw Failure(offset: offset) }
    }
  }

  /// The seeds of `make fuzz` are these files. PLAYHEAD_UPDATE_GOLDENS=1 rewrites them.
  @Test func fuzzSeedsEqualTheSmallFiles() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../Fuzz/seeds/tags")
    for (index, file) in SmallFiles.all.enumerated() {
      let kind = try #require(TagContainer.allCases.firstIndex(of: file.container))
      let seed = Data([UInt8(kind)] + file.bytes)
      let seedFile = folder.appendingPathComponent("\(index)-\(file.container)")
      if ProcessInfo.processInfo.environment["PLAYHEAD_UPDATE_GOLDENS"] != nil { try seed.write(to: seedFile) }
      #expect(try Data(contentsOf: seedFile) == seed, "\(file)")
    }
  }

  // MARK: - Order and bounds

  @Test(arguments: [TagContainer.flac, .ogg]) func vorbisCommentsKeepTheOrderOfTheFile(_ container: TagContainer) {
    let entries = ["TITLE=t", "artist=b", "ALBUM=x", "Artist=a", "no field", "=nothing", "ARTIST=c"]
    let comment = TagBytes.vorbisComment(entries.map { Array($0.utf8) })
    let bytes =
      container == .flac
      ? TagBytes.flac([(4, comment, nil)])
      : TagBytes.ogg([Array("OpusHead".utf8) + [UInt8](repeating: 0, count: 11), Array("OpusTags".utf8) + comment])
    let items = TagReader.read(container, data: bytes).items
    #expect(items.map(\.key) == ["TITLE", "ARTIST", "ALBUM", "ARTIST", "ARTIST"])
    #expect(items.map(\.value) == ["t", "b", "x", "a", "c"].map { .text($0) })
  }

  @Test func everyTextOfAWAVInfoListIsRead() {
    func field(_ key: String, _ text: [UInt8]) -> [UInt8] {
      Array(key.utf8) + TagBytes.littleEndian(text.count) + text + (text.count % 2 == 1 ? [0] : [])
    }
    let list =
      Array("INFO".utf8) + field("ISFT", Array("me\0".utf8)) + field("INAM", [0x47, 0x72, 0xFC, 0])
      + field("IART", Array("B\0".utf8)) + field("IART", Array("Grü".utf8)) + field("IALB", [])
    let reading = TagReader.read(.wav, data: TagBytes.riff("WAVE", [("LIST", list, nil)]))
    #expect(reading.items.map(\.key) == ["ISFT", "INAM", "IART", "IART"])
    #expect(reading.items.map(\.value) == ["me", "Grü", "B", "Grü"].map { .text($0) })
    #expect(reading.warnings.map(\.subject) == ["IALB"])
    // A text that claims to be longer than the list.
    let truncated =
      Array("INFO".utf8) + field("INAM", Array("A\0".utf8)) + Array("IART".utf8) + [0xFF, 0xFF, 0xFF, 0xFF, 0x41]
    let rest = TagReader.read(.wav, data: TagBytes.riff("WAVE", [("LIST", truncated, nil)]))
    #expect(rest.items.map(\.key) == ["INAM"] && rest.warnings.map(\.subject) == ["IART"])
  }

  @Test func keysAndWarningSubjectsAreBounded() throws {
    let long = [UInt8](repeating: 0x58, count: 200_000)
    let entries = [long + Array("=value".utf8), long + [0xFF], Array("TITLE=t".utf8)]
    let reading = TagReader.read(.flac, data: TagBytes.flac([(4, TagBytes.vorbisComment(entries), nil)]))
    #expect(reading.items.allSatisfy { $0.key.utf8.count <= 65_536 } && texts(reading.items, "TITLE") == ["t"])
    #expect(!reading.warnings.isEmpty && reading.warnings.allSatisfy { $0.subject.utf8.count <= 1_024 })
    let comment = TagBytes.frame(4, "COMM", [3] + Array("eng".utf8) + long + [0] + Array("text".utf8))
    let described = TagReader.read(.edges, data: TagBytes.id3v2(4, comment))
    #expect(described.items.first?.description?.utf8.count == 65_536)
    #expect(described.warnings.map(\.isLimit) == [true] && described.warnings.first?.subject == "COMM")
  }

  // MARK: - Encodings

  @Test func textThatIsInvalidInItsEncodingIsRepaired() {
    let lone = TagReader.read(
      .edges, data: TagBytes.id3v2(4, TagBytes.frame(4, "TIT2", [1, 0xFF, 0xFE, 0x41, 0, 0x3D, 0xD8, 0x42, 0])))
    #expect(texts(lone.items, "TIT2") == ["A\u{FFFD}B"])
    let vorbis = TagReader.read(
      .flac, data: TagBytes.flac([(4, TagBytes.vorbisComment([Array("TITLE=a".utf8) + [0xFF, 0x62]]), nil)]))
    #expect(texts(vorbis.items, "TITLE") == ["a\u{FFFD}b"])
    #expect(vorbis.warnings.map(\.subject) == ["TITLE"])
    let ape = TagReader.read(.edges, data: TagBytes.ape([("Title", 0, [0x61, 0xC3, 0x62])]))
    #expect(texts(ape.items, "Title") == ["a\u{FFFD}b"])
    // A text that TagLib drops causes a warning, so that FFmpeg's dictionary supplies it.
    let utf8 = TagReader.read(.edges, data: TagBytes.id3v2(4, TagBytes.frame(4, "TIT2", [3, 0x61, 0xFF])))
    #expect(utf8.items.isEmpty && utf8.warnings.map(\.subject) == ["TIT2"])
    let latin = TagReader.read(.edges, data: TagBytes.id3v1(title: [0x47, 0x72, 0xFC]))
    #expect(texts(latin.items, "title") == ["Grü"])
    let utf8InLatin1 = TagReader.read(.edges, data: TagBytes.id3v1(title: Array("Grü".utf8)))
    #expect(texts(utf8InLatin1.items, "title") == ["Grü"])
  }
}
