import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Images that a task awaits.
@Suite struct AwaitedImageTests {
  private static let film = VideoFixture("film.mp4", ["-c:v", "mpeg4", "-g", "12"])
  private static let times = [150, 0, 77].map { MediaTime(value: $0, timescale: 100) }

  private static func generator(_ path: String) -> AssetImageGenerator {
    let generator = AssetImageGenerator(asset: Asset(path: path))
    (generator.requestedTimeToleranceBefore, generator.requestedTimeToleranceAfter) = (.zero, .zero)
    return generator
  }

  @Test func sequenceHasEachImageInOrderAndRetainsTheGenerator() async throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    var requested: [MediaTime] = []
    for await (time, outcome) in Self.generator(path).images(for: Self.times) {
      requested.append(time)
      guard case .succeeded(let image, let actualTime) = outcome else {
        Issue.record("\(time): \(outcome)")
        continue
      }
      let awaited = try await Self.generator(path).image(at: time)
      #expect(awaited.actualTime == actualTime && awaited.image.data == image.data)
    }
    #expect(requested == Self.times)
    for await (time, _) in Self.generator(path).images(for: []) { Issue.record("an image at \(time)") }
  }

  @Test func errorsOfImagesAreThrown() async throws {
    let folder = try TemporaryFolder()
    let generator = Self.generator(folder.file("none.mp4"))
    await expectError(.fileNotFound) { _ = try await generator.image(at: .zero) }
    for await (_, outcome) in generator.images(for: [.zero]) {
      guard case .failed(let error) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(error.code == .fileNotFound)
    }
  }

  @Test func awaitedExportWritesItsFilesOrThrows() async throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try Self.film.make(in: folder))
    let request = ImageExport.Request.images([(time: .zero, path: folder.file("one.png"))])
    let result = try await ImageExport(asset, request).result()
    #expect(result.images.map(\.requestedTime) == [.zero])
    #expect(FileManager.default.fileExists(atPath: folder.file("one.png")))
    await expectError(.fileExists) { _ = try await ImageExport(asset, request).result() }
  }
}
