import PlayheadTags
import RigSupport

/// A small file of each container, with each kind of tag that it supports.
enum SmallFiles {
  struct File: Sendable, CustomStringConvertible {
    var description: String
    var container: TagContainer
    var bytes: [UInt8]
  }

  private static let image: [UInt8] = [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A, 1, 2, 3]
  private static let comment = TagBytes.vorbisComment([
    Array("TITLE=A".utf8), Array("ARTIST=B".utf8), Array("artist=C".utf8),
  ])

  private static func id3(_ version: UInt8) -> [UInt8] {
    TagBytes.id3v2(
      version,
      TagBytes.text(version, "TIT2", "A") + TagBytes.frame(version, "TXXX", [0] + Array("k\0v".utf8))
        + TagBytes.frame(version, "COMM", [0] + Array("deu\0Wort".utf8))
        + TagBytes.frame(version, "USLT", [0] + Array("eng\0la la".utf8))
        + TagBytes.frame(version, "POPM", Array("x@y\0".utf8) + [128, 0, 0, 0, 7])
        + TagBytes.frame(version, "UFID", Array("o\0id".utf8))
        + TagBytes.frame(version, "APIC", [0] + Array("image/png\0".utf8) + [3] + Array("d\0".utf8) + image)
        + TagBytes.frame(version, "RVA2", Array("album\0".utf8) + [1, 0xFD, 0x00, 0])
        + TagBytes.frame(version, "CHAP", Array("c\0".utf8) + [UInt8](repeating: 0, count: 16))
        + TagBytes.frame(version, "WXXX", [0] + Array("d\0http://x".utf8))
        + TagBytes.frame(version, "PRIV", Array("me\0".utf8) + [1, 2, 3]))
  }

  private static let ape = TagBytes.ape([
    ("Title", 0, Array("A".utf8)), ("Artist", 0, Array("B\0C".utf8)),
    ("Cover Art (Front)", 2, Array("f.png\0".utf8) + image),
  ])

  static let all: [File] = [
    File(
      description: "ID3v2.3, APEv2 and ID3v1", container: .edges,
      bytes: id3(3) + [UInt8](repeating: 0xFF, count: 20) + ape + TagBytes.id3v1(title: Array("A".utf8))),
    File(description: "ID3v2.4", container: .edges, bytes: id3(4)),
    File(
      description: "FLAC", container: .flac,
      bytes: TagBytes.flac([(4, comment, nil), (1, [0, 0], nil), (6, TagBytes.flacPicture(image), nil)])),
    File(
      description: "Ogg Vorbis", container: .ogg,
      bytes: TagBytes.ogg([[1] + Array("vorbis".utf8), [3] + Array("vorbis".utf8) + comment, [5, 5]])),
    File(
      description: "Opus", container: .ogg,
      bytes: TagBytes.ogg([Array("OpusHead".utf8), Array("OpusTags".utf8) + comment])),
    File(description: "Speex", container: .ogg, bytes: TagBytes.ogg([Array("Speex   ".utf8), comment])),
    File(
      description: "MP4", container: .mp4,
      bytes: TagBytes.mp4(
        TagBytes.atom("\u{A9}nam", TagBytes.value(Array("A".utf8)))
          + TagBytes.atom("\u{A9}ART", TagBytes.value(Array("B".utf8)) + TagBytes.value(Array("C".utf8)))
          + TagBytes.atom("\u{A9}ART", TagBytes.value(Array("D".utf8)))
          + TagBytes.atom("trkn", TagBytes.value([0, 0, 0, 3, 0, 12, 0, 0], kind: 0))
          + TagBytes.atom("covr", TagBytes.value(image, kind: 14))
          + TagBytes.atom(
            "----",
            TagBytes.atom("mean", TagBytes.bigEndian(0) + Array("com.apple.iTunes".utf8))
              + TagBytes.atom("name", TagBytes.bigEndian(0) + Array("LABEL".utf8)) + TagBytes.value(Array("L".utf8))))),
    File(
      description: "WAV", container: .wav,
      bytes: TagBytes.riff(
        "WAVE",
        [
          ("fmt ", [UInt8](repeating: 0, count: 16), nil),
          ("LIST", Array("INFO".utf8) + Array("INAM".utf8) + TagBytes.littleEndian(2) + Array("A\0".utf8), nil),
          ("data", [1, 2, 3], nil), ("id3 ", id3(4), nil),
        ])),
    File(
      description: "AIFF", container: .aiff,
      bytes: TagBytes.riff("AIFF", [("NAME", Array("A".utf8), nil), ("SSND", [0, 0, 0], nil), ("ID3 ", id3(3), nil)])),
    File(
      description: "ASF", container: .asf,
      bytes: TagBytes.asf([
        TagBytes.asfObject(
          TagBytes.asfDescriptionsGUID,
          TagBytes.littleEndian(2, bytes: 2) + TagBytes.asfText("Title", "A") + TagBytes.asfText("WM/Genre", "G"))
      ])),
    File(
      description: "Matroska", container: .matroska,
      bytes: TagBytes.matroska(
        TagBytes.element(
          0x7373,
          TagBytes.element(0x63C0, TagBytes.element(0x68CA, [50])) + TagBytes.simpleTag("TITLE", "The album"))
          + TagBytes.element(
            0x7373,
            TagBytes.element(
              0x63C0, TagBytes.element(0x68CA, [30]) + TagBytes.element(0x63C5, [9]) + TagBytes.element(0x63C5, [7]))
              + TagBytes.simpleTag("TITLE", "A", TagBytes.element(0x447A, Array("ger".utf8)))
              + TagBytes.simpleTag("ARTIST", "B", TagBytes.simpleTag("SORT_WITH", "B, the"))
              + TagBytes.simpleTag("ARTIST", "C", TagBytes.element(0x447B, Array("en-GB".utf8)))
              + TagBytes.element(
                0x67C8, TagBytes.element(0x45A3, Array("KEY".utf8)) + TagBytes.element(0x4485, [1, 2, 3])))
          + TagBytes.element(
            0x7373,
            TagBytes.element(0x63C0, TagBytes.element(0x63C5, [9])) + TagBytes.simpleTag("TITLE", "of another track")))),
    File(
      description: "APEv2, ID3v2.4 and ID3v1", container: .apeEdges,
      bytes: id3(4) + [UInt8](repeating: 0xFF, count: 20) + ape + TagBytes.id3v1(title: Array("A".utf8))),
    File(
      description: "DSDIFF", container: .dsd,
      bytes: TagBytes.dsdiff([("FVER", [1, 5, 0, 0]), ("DSD ", [0x69, 0x69, 0x69]), ("ID3 ", id3(3))])),
    File(description: "DSF", container: .dsd, bytes: TagBytes.dsf(id3(3))),
  ]
}
