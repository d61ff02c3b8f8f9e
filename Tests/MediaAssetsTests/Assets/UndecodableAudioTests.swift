import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Files whose video decodes and whose audio does not.
@Suite(.timeLimit(.minutes(5))) struct UndecodableAudioTests {
  /// A file of two seconds of video, and the error of its audio.
  struct Row: CustomTestStringConvertible {
    let name: String
    let code: MediaError.Code
    let make: @Sendable (TemporaryFolder) throws -> String

    var testDescription: String { name }
  }

  private static let coded = [
    "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2", "-f", "lavfi", "-i", "sine=duration=2", "-c:v",
    "libx264", "-c:a", "aac", "-metadata", "title=Silent",
  ]

  /// A Matroska file whose audio has a codec that does not exist.
  private static func unknownCodec(_ folder: TemporaryFolder) throws -> String {
    let source = folder.file("source.mkv")
    try Tool.ffmpeg(arguments: coded + [source])
    var bytes = Data(try readFile(source))
    let codec = try #require(bytes.range(of: Data("A_AAC".utf8)))
    bytes.replaceSubrange(codec, with: Data("A_NUL".utf8))
    return try folder.write(Array(bytes), as: "unknown.mkv")
  }

  /// A transport stream that declares AAC without any packet of it.
  private static func withoutPackets(_ folder: TemporaryFolder) throws -> String {
    let source = folder.file("source.mkv")
    try Tool.ffmpeg(arguments: coded + [source])
    try Tool.ffmpeg("-i", source, "-c", "copy", "-bsf:a", "noise=drop=1", folder.file("none.ts"))
    return folder.file("none.ts")
  }

  private static func load(_ asset: Asset) throws -> AssetProperties { try asset.load() }

  static let rows = [
    Row(name: "no decoder", code: .unknownCodec, make: unknownCodec),
    Row(name: "no packets", code: .damagedFile, make: withoutPackets),
  ]

  @Test("a file whose audio cannot be decoded opens, and gives images, tracks and tags", arguments: rows)
  func fileWithUndecodableAudioOpens(_ row: Row) async throws {
    let folder = try TemporaryFolder()
    let path = try row.make(folder)
    for isolation in [Asset.Isolation.none, .opening] {
      let asset = Asset(path: Array(path.utf8), isolation: isolation)
      let properties = try Self.load(asset)
      #expect(properties.tracks.map(\.mediaType) == [.video, .audio])
      #expect(properties.audioFault?.code == row.code && !properties.hasAudio && properties.hasVideo)
      #expect(!properties.isPlayable && !properties.isReadable)
      #expect(abs(properties.duration.seconds - 2) < 0.1)
      if path.hasSuffix("mkv") {
        #expect(try await asset.load(.commonMetadata).contains { $0.stringValue == "Silent" })
      }
      let generator = AssetImageGenerator(asset: asset)
      let (image, _) = try await generator.image(at: MediaTime(value: 1, timescale: 1))
      #expect(image.width == 64 && image.height == 48)
      expectError(row.code) { _ = try AudioTrackReader(asset: asset) }
    }
  }

  @Test("an export that needs the audio fails with the error of the audio and leaves no file", arguments: rows)
  func exportOfUndecodableAudioFails(_ row: Row) async throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try row.make(folder))
    let target = folder.file("out.mp4")
    await expectExportError(row.code) {
      _ = try await AssetExportSession(asset, to: target, ExportSettings(.mp4)).outcome()
    }
    #expect(!FileManager.default.fileExists(atPath: target))
    _ = try await AssetExportSession(asset, to: target, ExportSettings(.mp4, audio: .none)).outcome()
    #expect(try Self.load(Asset(path: target)).tracks.map(\.mediaType) == [.video])
  }

  @Test("a copy of a track without packets fails and leaves no file", arguments: ["none.ts", "none.mkv"])
  func copyOfATrackWithoutPacketsFails(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.file("source.mkv")
    try Tool.ffmpeg(arguments: Self.coded + [source])
    try Tool.ffmpeg("-i", source, "-c", "copy", "-bsf:a", "noise=drop=1", folder.file(name))
    for container in [WritableContainer.mp4, .matroska] {
      let target = folder.file("out")
      await expectExportError(.damagedFile) {
        _ = try await AssetExportSession(
          Asset(path: folder.file(name)), to: target, .passthrough(container)
        ).outcome()
      }
      #expect(!FileManager.default.fileExists(atPath: target))
    }
  }

  private func expectExportError(
    _ code: MediaError.Code, _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    do {
      try await body()
      Issue.record("no error", sourceLocation: sourceLocation)
    } catch {
      #expect((error as? MediaError)?.code == code, "\(error)", sourceLocation: sourceLocation)
    }
  }
}
