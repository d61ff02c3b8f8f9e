import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadLibAV

/// The comments that are masked for FFmpeg, and the unchanged audio after them. One row per container.
@Suite struct CommentMaskTests {
  struct Container: Sendable, CustomTestStringConvertible {
    let name: String
    /// The options for ffmpeg, which writes the file.
    var options: [String] = []
    /// Inserts the comments into the file where ffmpeg cannot write arbitrary names.
    var edit: (@Sendable ([UInt8], Int) throws -> [UInt8])?
    /// Whether FFmpeg estimates the duration from the file's size.
    var hasEstimatedDuration = false

    var testDescription: String { name }
  }

  static let containers = [
    Container(name: "a.flac"), Container(name: "a.opus"), Container(name: "a.ogg", options: ["-c:a", "libvorbis"]),
    Container(name: "flac.ogg", options: ["-c:a", "flac"]), Container(name: "a.spx", options: ["-c:a", "libspeex"]),
    Container(name: "a.mka", options: ["-c:a", "flac"]), Container(name: "a.caf"), Container(name: "a.wma"),
    Container(name: "a.wv"), Container(name: "a.m4a", options: ["-c:a", "aac", "-movflags", "use_metadata_tags"]),
    Container(name: "itunes.m4a", options: ["-c:a", "aac"], edit: addITunesItems),
    Container(name: "a.wav", edit: addInfoTexts),
    Container(name: "a.avi", options: ["-c:a", "pcm_s16le"], edit: addInfoTexts, hasEstimatedDuration: true),
  ]

  private static func commentNames(_ count: Int) -> [String] {
    (0..<count).map { "NAME\(String($0 + 100_000))" }
  }

  /// Inserts values with custom names at the end of the movie, which is the file's last atom.
  @Sendable private static func addITunesItems(_ file: [UInt8], count: Int) throws -> [UInt8] {
    let items = commentNames(count).flatMap { name in
      TagBytes.atom(
        "----",
        TagBytes.atom("mean", TagBytes.bigEndian(0) + Array("com.apple.iTunes".utf8))
          + TagBytes.atom("name", TagBytes.bigEndian(0) + Array(name.utf8))
          + TagBytes.value(Array("value".utf8)))
    }
    let handler = TagBytes.atom("hdlr", zeros(8) + Array("mdirappl".utf8) + zeros(9))
    let list = TagBytes.atom(
      "udta", TagBytes.atom("meta", TagBytes.bigEndian(0) + handler + TagBytes.atom("ilst", items)))
    let moovOffset = try #require(file.firstRange(of: Array("moov".utf8))).lowerBound - 4
    let size = TagBytes.bigEndian(file.count - moovOffset + list.count)
    return file[..<moovOffset] + size + file[(moovOffset + 4)...] + list
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  /// Appends a list of texts.
  @Sendable private static func addInfoTexts(_ file: [UInt8], count: Int) throws -> [UInt8] {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    let texts = (0..<count).flatMap { index -> [UInt8] in
      [letters[index % 26], letters[index / 26 % 26], letters[index / 676 % 26], letters[index / 17_576 % 26]]
        + TagBytes.littleEndian(6) + Array("value\0".utf8)
    }
    let list = Array("LIST".utf8) + TagBytes.littleEndian(texts.count + 4) + Array("INFO".utf8) + texts
    return file[..<4] + TagBytes.littleEndian(file.count - 8 + list.count) + file[8...] + list
  }

  /// Creates a short file with `count` comments.
  private func file(_ container: Container, comments count: Int, in folder: TemporaryDirectory) throws -> [UInt8] {
    let texts = folder.file("comments")
    let writtenNames = container.edit == nil ? Self.commentNames(count) : []
    let text = ";FFMETADATA1\n" + writtenNames.map { "\($0)=value\n" }.joined()
    try text.write(toFile: texts, atomically: false, encoding: .utf8)
    let path = folder.file(container.name)
    try Fixtures.ffmpeg(
      [
        "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=0.5:sample_rate=48000", "-i",
        texts,
        "-map", "0", "-map_metadata", "1", "-fflags", "+bitexact",
      ] + container.options + [path])
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    return try container.edit.map { try $0(bytes, count) } ?? bytes
  }

  private struct ProbedAudio: Equatable {
    var format: String
    var packets: [Int]
    var duration: Int64?
  }

  /// Reads the file with FFmpeg: the audio, and the number of comments.
  private func probe(_ bytes: [UInt8]) throws -> (audio: ProbedAudio, commentCount: Int) {
    let demuxer = try Demuxer(source: FileSource(bytes: bytes, interrupt: Interrupt()))
    var packets: [Int] = []
    let packet = try Packet()
    while try demuxer.readPacket(into: packet) == .packet { packets.append(packet.byteCount) }
    return (
      ProbedAudio(format: demuxer.formatName, packets: packets, duration: demuxer.durationMicroseconds),
      demuxer.metadata.count + demuxer.streams.reduce(0) { $0 + demuxer.metadata(ofStream: $1.index).count }
    )
  }

  @Test(arguments: containers)
  func excessCommentsAreMaskedAndTheAudioIsUnchanged(_ container: Container) throws {
    let folder = try TemporaryDirectory("mask")
    let (allowedCount, excessCount) = (40, 6_000)
    let plain = try probe(file(container, comments: 0, in: folder))
    #expect(!plain.audio.packets.isEmpty)
    let shown = try file(container, comments: allowedCount, in: folder)
    #expect(try masks(shown) == [])
    let all = try probe(shown)
    #expect(all.commentCount >= allowedCount)
    let bytes = try file(container, comments: excessCount, in: folder)
    let hidden = try probe(bytes)
    let list = try masks(bytes)
    print(
      "comments | \(container.name) | \(allowedCount): \(all.commentCount) shown |",
      "\(excessCount): \(hidden.commentCount) shown |",
      "\(list.reduce(0) { $0 + $1.range.count }) bytes of \(bytes.count) are masked")
    #expect(!list.isEmpty)
    #expect(hidden.commentCount < allowedCount)
    var expected = plain.audio
    if container.hasEstimatedDuration { expected.duration = hidden.audio.duration }
    #expect(hidden.audio == expected)
  }

  private func masks(_ bytes: [UInt8]) throws -> [Mask] {
    CommentMask.masks(of: try FileSource(bytes: bytes, interrupt: Interrupt()), from: 0)
  }

  @Test func commentsInSeveralBlocksShareOneLimit() throws {
    let folder = try TemporaryDirectory("mask")
    let file = try file(Self.containers[0], comments: 0, in: folder)
    let comment = TagBytes.vorbisComment([[UInt8](repeating: 65, count: 40) + Array("=1".utf8)])
    let block = [4] + TagBytes.bigEndian(comment.count, bytes: 3) + comment
    func fileWithBlocks(_ count: Int) -> [UInt8] { file[..<42] + (0..<count).flatMap { _ in block } + file[42...] }
    #expect(try masks(fileWithBlocks(1_000)) == [])
    // With too many blocks, the last examined one is masked as the last of all.
    let list = try masks(fileWithBlocks(5_000))
    #expect(list.last == Mask(range: Int64(42 + 4_095 * block.count)..<Int64(43 + 4_095 * block.count), bytes: [0x81]))
    #expect(try probe(fileWithBlocks(5_000)).audio.packets.count > 1)
  }

  @Test func artworkOverTheTotalSizeLimitIsMasked() throws {
    let folder = try TemporaryDirectory("mask")
    let file = try file(Self.containers[0], comments: 0, in: folder)
    let artwork = TagBytes.flacPicture([UInt8](repeating: 1, count: 15 << 20))
    let block = [6] + TagBytes.bigEndian(artwork.count, bytes: 3) + artwork
    let bytes = file[..<42] + (0..<6).flatMap { _ in block } + file[42...]
    let maskedOffsets = (4..<6).map { Int64(42 + $0 * block.count) }
    #expect(try masks(Array(bytes)) == maskedOffsets.map { Mask(range: $0..<$0 + 1, bytes: [1]) })
  }
}
