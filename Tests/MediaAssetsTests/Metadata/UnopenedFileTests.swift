import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Tags of files whose audio FFmpeg does not open, and the encoding of tags without a declared one.
@Suite struct UnopenedFileTests {
  struct File: Sendable, CustomStringConvertible {
    var description: String
    var bytes: [UInt8]
    /// Nil: there is no tag, and opening fails.
    var title: String?
    /// The error of opening the file.
    var loadError = MediaError.Code.unknownFormat
  }

  private static let noise = (0..<4_000).map { UInt8(truncatingIfNeeded: $0 * 7 % 251) & 0x7F }
  private static let ape = TagBytes.ape([("Title", 0, Array("A".utf8))])
  private static let id3 = TagBytes.id3v2(3, TagBytes.text(3, "TIT2", "A"))

  static let files: [File] = [
    File(description: "OptimFROG", bytes: Array("OFR ".utf8) + noise + ape, title: "A"),
    File(description: "an unknown format with ID3v2", bytes: id3 + noise, title: "A"),
    File(
      description: "FLAC without audio",
      bytes: TagBytes.flac([(4, TagBytes.vorbisComment([Array("TITLE=A".utf8)]), nil)]),
      title: "A", loadError: .damagedFile),
    File(
      description: "ID3v2 in front of FLAC without audio",
      bytes: TagBytes.id3v2(3, TagBytes.text(3, "TIT2", "B"))
        + TagBytes.flac([(4, TagBytes.vorbisComment([Array("TITLE=A".utf8)]), nil)]), title: "A",
      loadError: .damagedFile),
    File(
      description: "MP4 without tracks",
      bytes: TagBytes.mp4(TagBytes.atom("\u{A9}nam", TagBytes.value(Array("A".utf8)))),
      title: "A", loadError: .noPlayableTracks),
    File(
      description: "DSDIFF without audio", bytes: TagBytes.dsdiff([("ID3 ", id3)]), title: "A", loadError: .damagedFile),
    File(description: "a text", bytes: Array(String(repeating: "Nothing of the kind. ", count: 200).utf8), title: nil),
  ]

  @Test(arguments: files) func tagsAreReadFromFilesThatFailToOpen(_ file: File) throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(file.bytes, as: "file.bin")
    for isolation in [Asset.Isolation.none, .opening] {
      let asset = Asset(path: Array(path.utf8), isolation: isolation)
      expectError(file.loadError) { try asset.load() }
      guard let title = file.title else {
        expectError(.unknownFormat) { try asset.loadMetadata(interrupt: Interrupt()) }
        continue
      }
      let metadata = try asset.loadMetadata(interrupt: Interrupt())
      #expect(metadata.strings(.title) == [title], "\(isolation)")
    }
  }

  /// The tag follows the audio. FFmpeg reads DSDIFF, but does not write it.
  @Test(arguments: [Asset.Isolation.none, .opening]) func dsdiffWithAudioHasItsTagAndItsAudio(
    _ isolation: Asset.Isolation
  ) throws {
    let folder = try TemporaryFolder()
    let (source, path) = (folder.file("a.wav"), folder.file("a.dff"))
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=d=0.5:r=44100", "-ac", "2", "-bitexact", source)
    let tag = Self.id3.map(String.init).joined(separator: ",")
    try MediaPatch.apply("dsdiff(data, bytes([\(tag)]))", from: source, to: path)
    let asset = Asset(path: Array(path.utf8), isolation: isolation)
    #expect(try asset.loadMetadata(interrupt: Interrupt()).strings(.title) == ["A"])
    let samples = try AudioTrackReader(asset: asset).readToEnd()
    #expect(samples.count == 352_800 && samples.contains { abs($0) > 0.1 })
    #expect(try samples == Tool.decode(path))
  }

  @Test(arguments: [Asset.Isolation.none, .opening]) func tagEncodingCanBeChosenPerAsset(_ isolation: Asset.Isolation)
    throws
  {
    let folder = try TemporaryFolder()
    let title: [UInt8] = [0xCA, 0xEE, 0xED, 0xFC]
    let path = try folder.write(
      TagBytes.id3v2(3, TagBytes.frame(3, "TIT2", [0] + title)) + Self.noise, as: "a.mp3")
    let asset = Asset(path: Array(path.utf8), isolation: isolation)
    func titles() throws -> [String] { try asset.loadMetadata(interrupt: Interrupt()).strings(.title) }
    #expect(asset.tagCharset == Asset.standardTagCharset)
    #expect(try titles() == ["Конь"])
    asset.tagCharset = .latin1
    #expect(asset.loadedTitles == nil)
    #expect(try titles() == ["Êîíü"] && asset.loadedTitles?.title == "Êîíü")
    asset.tagCharset = .windows1251
    #expect(try titles() == ["Конь"])
    for charset in TextCharset.allCases {
      asset.tagCharset = charset
      #expect(try titles().first?.isEmpty == false, "\(charset)")
    }
  }
}
