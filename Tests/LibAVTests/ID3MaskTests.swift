import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadLibAV

/// The tags that are masked for FFmpeg, and the unchanged position of the audio after them.
@Suite struct ID3MaskTests {
  private static let large = Int(ID3Mask.harmlessByteCount)

  private func ranges(_ bytes: [UInt8]) throws -> [Range<Int64>] {
    ID3Mask.ranges(of: try FileSource(bytes: bytes, interrupt: Interrupt())).ranges
  }

  private static func frames(_ count: Int, _ version: UInt8 = 3, bytes: Int = 54) -> [UInt8] {
    let frame = TagBytes.frame(version, "PRIV", [UInt8](repeating: 1, count: bytes))
    return (0..<count).flatMap { _ in frame }
  }

  private static let artwork = TagBytes.frame(3, "APIC", [UInt8](repeating: 7, count: large))

  /// Examples of legitimate tags.
  private static let ordinaryTags: [[UInt8]] = [
    [], Array("fLaC".utf8), TagBytes.id3v2(3, frames(2_000)),
    TagBytes.id3v2(3, frames(12) + artwork), TagBytes.id3v2(3, artwork + [UInt8](repeating: 0, count: 2 * large)),
    TagBytes.id3v2(4, TagBytes.frame(4, "APIC", [UInt8](repeating: 7, count: large)) + frames(3, 4)),
    // Frame sizes of ID3v2.4 with eight bits per byte, as some programs write them.
    TagBytes.id3v2(4, artwork + frames(2, 4)),
    TagBytes.id3v2(3, [0, 0, 0, 6, 0, 0, 0, 0, 0, 0] + artwork, flags: 0x40),
    TagBytes.id3v2(
      2,
      Array("PIC".utf8) + TagBytes.bigEndian(large, bytes: 3) + [UInt8](repeating: 7, count: large)
        + Array("TT2".utf8) + [0, 0, 1, 0]),
    // The file ends before the tag.
    TagBytes.id3v2(3, artwork, claiming: 3 * large),
  ]

  @Test("ordinary tags are not masked", arguments: ordinaryTags.indices)
  func ordinaryTagsAreNotMasked(_ index: Int) throws { #expect(try ranges(Self.ordinaryTags[index]) == []) }

  @Test("tags with too many frames or without frames are masked")
  func tagsWithTooManyFramesOrWithoutFramesAreMasked() throws {
    let many = TagBytes.id3v2(3, Self.frames(5_000))
    #expect(try ranges(many) == [10..<Int64(many.count)])
    let none = TagBytes.id3v2(3, [UInt8](repeating: 1, count: 2 * Self.large))
    #expect(try ranges(none) == [10..<Int64(none.count)])
    // Two consecutive tags.
    let first = TagBytes.id3v2(3, Self.frames(3))
    #expect(
      try ranges(first + many + none) == [
        Int64(first.count + 10)..<Int64(first.count + many.count),
        Int64(first.count + many.count + 10)..<Int64(first.count + many.count + none.count),
      ])
  }

  @Test("FFmpeg finds the audio after a masked tag, but not the tag")
  func ffmpegFindsTheAudioAfterAMaskedTagButNotTheTag() throws {
    let folder = try TemporaryDirectory("mask")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=duration=1", "-id3v2_version", "0", "-c:a",
      "libmp3lame", folder.file("a.mp3"),
    ])
    let audio = Array(try Data(contentsOf: URL(fileURLWithPath: folder.file("a.mp3"))))
    let title = TagBytes.text(3, "TIT2", "a title")
    for (frames, isShown) in [(Self.frames(9), true), (Self.frames(5_000), false)] {
      let file = TagBytes.id3v2(3, title + frames) + audio
      let demuxer = try Demuxer(source: FileSource(bytes: file, interrupt: Interrupt()))
      #expect(demuxer.formatName == "mp3")
      #expect(demuxer.tag("title") == (isShown ? "a title" : nil))
      let packet = try Packet()
      #expect(try demuxer.readPacket(into: packet) == .packet)
      #expect(packet.bytePosition.map { $0 >= Int64(file.count - audio.count) } == true)
    }
  }
}
