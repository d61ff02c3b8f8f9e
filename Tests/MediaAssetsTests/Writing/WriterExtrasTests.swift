import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Content in addition to tracks: tags, artwork, chapters, alternate tracks.
@Suite struct WriterExtrasTests {
  private static func codec(_ container: WritableContainer) -> AudioOutputSettings.Codec {
    switch container {
    case .wav, .caf: .pcm(.signed16)
    case .flac: .flac
    case .m4a, .mp4, .mov: .aac
    case .matroska: .flac
    case .webm, .ogg: .opus
    case .mp3: .mp3
    }
  }

  private static func chapter(_ title: String, _ start: Int64, _ end: Int64) -> AssetChapter {
    AssetChapter(
      title: title,
      timeRange: TimeRange(
        start: MediaTime(value: start, timescale: 1_000), duration: MediaTime(value: end - start, timescale: 1_000)))
  }

  /// Three seconds of audio.
  private static func write(
    _ path: String, _ container: WritableContainer, _ options: AssetWriter.Options
  ) throws {
    let input = WriterRig.audio(codec(container), language: container.isMovie ? "fra" : nil)
    let writer = try WriterRig.writer(path, container, [input], options: options)
    for second in 0..<3 { try input.append(waiting: WriterRig.buffer(second * 48_000..<(second + 1) * 48_000)) }
    try writer.finishWriting()
  }

  /// Metadata of a FLAC file is written into other containers, and read there with the same common keys.
  @Test(arguments: [WritableContainer.flac, .m4a, .mp3, .ogg, .matroska])
  func metadataThatWasReadCanBeWritten(container: WritableContainer) async throws {
    let folder = try TemporaryFolder()
    var options = AssetWriter.Options()
    options.metadata = [
      "title": "Ein Lied", "artist": "Jemand", "album": "Viele", "date": "1999", "track": "3/9", "genre": "Jazz",
    ]
    let source = folder.file("source.flac")
    try Self.write(source, .flac, options)
    let items = try await Asset(path: source).load(.metadata)
    var copied = AssetWriter.Options()
    copied.setMetadata(items + [MetadataItem(keySpace: .common, key: "data", value: .data([1, 2]))])
    let path = folder.file("copy.\(container)")
    try Self.write(path, container, copied)
    func common(_ path: String) async throws -> [String] {
      let keys: [MetadataCommonKey] = [.title, .artist, .albumName, .trackNumber, .type]
      return try await Asset(path: path).load(.commonMetadata).compactMap { item in
        guard let key = item.commonKey, keys.contains(key) else { return nil }
        return "\(key.rawValue)=\(item.stringValue ?? "-")/\(item.extraAttributes[.total] ?? "-")"
      }.sorted()
    }
    let (expected, found) = (try await common(source), try await common(path))
    #expect(expected.count == 5 && found == expected)
  }

  @Test("every container stores the tags, artwork and chapters that it supports, and rejects the others before writing")
  func everyContainerStoresWhatItSupportsAndRejectsTheRest() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-f", "lavfi", "-i", "testsrc=size=32x24", "-frames:v", "1", folder.file("p.png"))
    try Tool.ffmpeg("-f", "lavfi", "-i", "testsrc=size=40x30", "-frames:v", "1", folder.file("p.jpg"))
    let images = [try readFile(folder.file("p.png")), try readFile(folder.file("p.jpg"))]
    print("container  title  artwork  chapters")
    for container in WritableContainer.allCases {
      let row = Comment(rawValue: container.rawValue)
      var columns: [String] = [container.rawValue]
      var options = AssetWriter.Options()
      options.metadata = ["title": "Ein Lied"]
      // Tags.
      let tagged = folder.file("tags.\(container)")
      try Self.write(tagged, container, options)
      let tags = try WrittenFile(tagged)
      let title = tags.tags["title"] ?? tags.streams.first.flatMap { WrittenFile.tags($0)["title"] }
      if container != .caf { #expect(title == "Ein Lied", row) }
      if container.isMovie { #expect(WrittenFile.tags(tags.streams[0])["language"] == "fra", row) }
      columns.append(title == nil ? "no" : "yes")
      // Artwork.
      options.artwork = [Artwork(images[0], description: "Titel")]
      if container.artworkStorage != .tag { options.artwork.append(Artwork(images[1], type: .backCover)) }
      let withArtwork = folder.file("artwork.\(container)")
      if container.artworkStorage == .none {
        expectError(.invalidArgument, row) { try Self.startWriting(withArtwork, container, options) }
        #expect(!FileManager.default.fileExists(atPath: withArtwork))
        columns.append("rejected")
      } else {
        try Self.write(withArtwork, container, options)
        let file = try WrittenFile(withArtwork)
        let count = options.artwork.count
        #expect(file.streams.count == 1 + count, row)
        let warnings = try file.decodingWarnings()
        #expect(warnings.isEmpty, "\(row): \(warnings)")
        let found = try Asset(path: withArtwork).loadMetadata(interrupt: Interrupt()).artwork
        #expect(found.map(\.data) == Array(images.prefix(count)), row)
        #expect(try WrittenFile.decodedAudio(withArtwork) == WrittenFile.decodedAudio(tagged), row)
        columns.append("\(count)")
      }
      // Chapters.
      options.artwork = []
      options.chapters = [
        Self.chapter("Eins", 0, 1_000), Self.chapter("Zwei", 1_000, 1_500), Self.chapter("Drei", 2_000, 3_000),
      ]
      let withChapters = folder.file("chapters.\(container)")
      if container.hasChapters {
        try Self.write(withChapters, container, options)
        let file = try WrittenFile(withChapters)
        let starts = file.chapters.compactMap { ($0["start_time"] as? String).flatMap(Double.init) }
        #expect(starts == [0, 1, 2], row)
        #expect(file.chapters.map { WrittenFile.tags($0)["title"] } == ["Eins", "Zwei", "Drei"], row)
        #expect(try WrittenFile.decodedAudio(withChapters) == WrittenFile.decodedAudio(tagged), row)
        columns.append("3")
      } else {
        expectError(.invalidArgument, row) { try Self.startWriting(withChapters, container, options) }
        columns.append("rejected")
      }
      print(columns.joined(separator: "\t"))
    }
  }

  /// Starts writing.
  private static func startWriting(
    _ path: String, _ container: WritableContainer, _ options: AssetWriter.Options
  ) throws(MediaError) {
    let writer = AssetWriter(path: path, container: container, options: options)
    try writer.add(WriterRig.audio(codec(container)))
    try writer.startWriting()
  }

  @Test(
    "invalid artwork, and chapters that overlap, are out of order or start after the end, are rejected without a file")
  func invalidArtworkAndChaptersAreRejected() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("audio.m4a")
    let gif = Artwork(Array("GIF89a".utf8) + [UInt8](repeating: 0, count: 100))
    let rows: [(String, MediaError.Code, (inout AssetWriter.Options) -> Void)] = [
      ("a GIF", .invalidArgument, { $0.artwork = [gif] }),
      ("no artwork", .invalidArgument, { $0.artwork = [Artwork([])] }),
      ("text", .invalidArgument, { $0.artwork = [Artwork(Array("hello".utf8))] }),
      (
        "too large", .imageTooLarge,
        { $0.artwork = [Artwork([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: 16 << 20))] }
      ),
      ("overlap", .invalidTime, { $0.chapters = [Self.chapter("a", 0, 1_000), Self.chapter("b", 900, 2_000)] }),
      ("order", .invalidTime, { $0.chapters = [Self.chapter("a", 1_000, 2_000), Self.chapter("b", 0, 500)] }),
      ("below zero", .invalidTime, { $0.chapters = [Self.chapter("a", -1_000, 2_000)] }),
      (
        "no end", .invalidTime,
        {
          $0.chapters = [AssetChapter(title: "a", timeRange: TimeRange(start: .zero, duration: .indefinite))]
        }
      ),
      (
        "fragments", .invalidArgument,
        {
          $0.chapters = [Self.chapter("a", 0, 1_000)]
          $0.movieFragmentInterval = MediaTime(value: 1, timescale: 1)
        }
      ),
    ]
    for (name, code, change) in rows {
      var options = AssetWriter.Options()
      change(&options)
      expectError(code, "\(name)") { try Self.startWriting(path, .m4a, options) }
      print("\(name)\t\(code)")
    }
    var options = AssetWriter.Options()
    options.chapters = [Self.chapter("a", 0, 1_000), Self.chapter("b", 3_000, 4_000)]
    expectError(.invalidTime) { try Self.write(path, .m4a, options) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test(
    "of alternate tracks only the default one is enabled, and languages are written",
    arguments: [WritableContainer.mp4, .mov, .matroska])
  func onlyTheDefaultAlternateTrackIsEnabled(_ container: WritableContainer) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("film.\(container)")
    let languages = ["deu", "eng", "fra"]
    let inputs = languages.map { WriterRig.audio(container == .matroska ? .flac : .aac, language: $0) }
    let writer = AssetWriter(path: path, container: container)
    let other = WriterRig.audio(.aac)
    let foreign = try AssetWriterInputGroup(inputs: [inputs[0], other])
    for input in inputs { try writer.add(input) }
    expectError(.invalidArgument) { try writer.add(foreign) }
    try writer.add(try AssetWriterInputGroup(inputs: inputs, defaultInput: inputs[1]))
    let again = try AssetWriterInputGroup(inputs: [inputs[0], inputs[1]])
    expectError(.invalidArgument) { try writer.add(again) }
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)
    for input in inputs { try input.append(waiting: WriterRig.buffer(0..<48_000)) }
    try writer.finishWriting()
    let file = try WrittenFile(path)
    #expect(
      file.streams.map { WrittenFile.tags($0)["language"] } == (container == .mov ? ["ger", "eng", "fra"] : languages))
    #expect(file.streams.map { ($0["disposition"] as? [String: Int])?["default"] } == [0, 1, 0])
    expectError(.invalidArgument) { try AssetWriterInputGroup(inputs: [inputs[0]]) }
    expectError(.invalidArgument) { try AssetWriterInputGroup(inputs: [inputs[0], inputs[0]]) }
    expectError(.invalidArgument) { try AssetWriterInputGroup(inputs: [inputs[0], inputs[1]], defaultInput: other) }
    if container != .matroska {
      // tkhd: the alternate group is 34 bytes after the start of its fields in version 0, 46 in version 1.
      let bytes = try readFile(path)
      let marks = bytes.indices.dropLast(100).filter { Array(bytes[$0..<$0 + 4]) == Array("tkhd".utf8) }
      let numbers = marks.map { mark in
        Int(bytes[mark + (bytes[mark + 4] == 0 ? 38 : 50)]) << 8 | Int(bytes[mark + (bytes[mark + 4] == 0 ? 39 : 51)])
      }
      #expect(numbers.count == 3 && numbers.allSatisfy { $0 == 1 }, "\(numbers)")
    }
  }
}
