import PlayheadMediaCore
import PlayheadTags
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// The memory limit for artwork and long texts, per asset and in total.
@Suite struct TagDataBudgetTests {
  private func artworkTag(_ byteCount: Int, excess: Int? = nil) -> TagItem {
    var item = TagItem(
      space: .id3v2, key: "APIC", value: .image([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 0, count: byteCount - 3)))
    (item.artworkType, item.mediaType, item.excessiveByteCount) = (3, "image/png", excess)
    return item
  }

  private func metadata(_ tags: [TagItem]) -> AssetMetadata {
    var reading = TagReading()
    reading.items = tags
    var metadata = AssetMetadata()
    metadata.add(reading)
    return metadata
  }

  @Test func oversizedArtworkIsListedWithoutItsData() throws {
    let found = metadata([artworkTag(64, excess: 17 << 20)])
    let item = try #require(found.items.first)
    #expect(item.omission?.byteCount == 17 << 20 && item.omission?.error.code == .imageTooLarge)
    #expect(item.value == .data([]) && item.dataValue == nil && item.stringValue == nil)
    // Its first bytes identify its format.
    #expect(item.extraAttributes[.mediaType] == "image/jpeg" && item.extraAttributes[.artworkType] == "frontCover")
    let artwork = try #require(found.artwork.first)
    #expect(artwork.data.isEmpty && artwork.byteCount == 17 << 20 && artwork.omission?.code == .imageTooLarge)
    #expect(artwork.mediaType == "image/jpeg" && item.artworkIndex == 0)
  }

  @Test func allAssetsTogetherStayWithinTheBudget() throws {
    let budget = TagDataBudget(byteCount: 1_000)
    let text = String(repeating: "x", count: TagDataBudget.smallestTextByteCount)
    var first = metadata([artworkTag(600), TagItem(space: .id3v2, key: "USLT", value: .text(text))])
    #expect(first.fit(into: budget) == 600 && budget.reservedByteCount == 600)
    #expect(first.artwork[0].data.count == 600 && first.items[0].dataValue?.count == 600)
    #expect(first.items[1].omission?.error.code == .tagDataLimit && first.items[1].value == .string(""))
    #expect(first.items[1].omission?.byteCount == text.utf8.count)
    var second = metadata([artworkTag(500), artworkTag(400)])
    #expect(second.fit(into: budget) == 400 && budget.reservedByteCount == 1_000)
    #expect(second.artwork.map(\.data.count) == [0, 400] && second.artwork.map(\.byteCount) == [500, 400])
    #expect(second.artwork[0].omission?.code == .tagDataLimit && second.items[0].dataValue == nil)
    budget.release(600)
    var third = metadata([artworkTag(600)])
    #expect(third.fit(into: budget) == 600)
    // Small texts do not count.
    var small = metadata([TagItem(space: .id3v2, key: "TIT2", value: .text("title"))])
    #expect(small.fit(into: budget) == 0 && small.items[0].omission == nil)
  }

  /// Thousands of short texts, long names and descriptions count like one long text.
  @Test(arguments: ["texts", "names", "descriptions"]) func manySmallValuesCountTowardsTheBudget(_ kind: String) {
    let budget = TagDataBudget(byteCount: 100_000)
    let tags = (0..<1_000).map { number -> TagItem in
      let text = String(repeating: "x", count: 1_000)
      var tag = TagItem(space: .vorbis, key: kind == "names" ? text : "K", value: .text(kind == "texts" ? text : ""))
      if kind == "descriptions" { tag.description = text }
      return tag
    }
    var first = metadata(tags)
    let used = first.fit(into: budget)
    #expect(used == budget.reservedByteCount && used <= 100_000 && used > 90_000)
    #expect((160...165).contains(first.items.count), "64 KiB that do not count, and 100,000 bytes that do")
    #expect(first.warnings.map(\.error.code) == [.tagDataLimit])
    // Another asset has its 64 KiB, and no more.
    var second = metadata(tags + [artworkTag(64)])
    #expect(second.fit(into: budget) + used <= 100_000 && (64...66).contains(second.items.count))
    #expect(second.artwork.count == 1, "the artwork stays listed")
  }

  /// A FLAC file with artwork, a title and an artist.
  private func flac(_ folder: borrowing TemporaryFolder, _ name: String) throws -> String {
    try Tool.ffmpeg("-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1", folder.file("\(name).png"))
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "sine=duration=0.1", "-i", folder.file("\(name).png"), "-map", "0", "-map", "1", "-c:v",
      "copy",
      "-disposition:v", "attached_pic", "-metadata", "title=T", "-metadata", "artist=A", folder.file("\(name).flac"))
    return folder.file("\(name).flac")
  }

  @Test func artworkFoundOnlyByFFmpegIsBounded() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg("-f", "lavfi", "-i", "color=red:s=16x16", "-frames:v", "1", folder.file("small.png"))
    for (name, count) in [("small", 0), ("large", 17 << 20)] {
      let image = try readFile(folder.file("small.png")) + [UInt8](repeating: 0, count: count)
      let cover = try folder.write(image, as: "cover.png")
      try Tool.ffmpeg(
        "-f", "lavfi", "-i", "sine=duration=0.1", "-attach", cover, "-metadata:s:t", "mimetype=image/png", "-c:a",
        "flac", folder.file("\(name).mka"))
      let metadata = try MetadataMatrixTests.read(folder.file("\(name).mka"))
      let found = try #require(metadata.artwork.first)
      let item = try #require(metadata.items.first { $0.artworkIndex == 0 })
      #expect(found.mediaType == "image/png" && found.byteCount == image.count)
      #expect(found.data.count == (count == 0 ? image.count : 0) && item.dataValue?.count ?? 0 == found.data.count)
      #expect(found.omission?.code == (count == 0 ? nil : .imageTooLarge))
      #expect(item.omission?.byteCount == (count == 0 ? nil : image.count))
    }
  }

  @Test func assetFreesItsBudgetOnReleaseAndRereadsOmittedArtwork() async throws {
    let folder = try TemporaryFolder()
    let path = try flac(folder, "a")
    func asset(_ budget: TagDataBudget) -> Asset {
      Asset(location: .path(Array(path.utf8)), prefersPreciseDuration: false, workers: .shared, tagData: budget)
    }
    let budget = TagDataBudget(byteCount: 1 << 20)
    var retained: Asset? = asset(budget)
    #expect(retained?.loadedTitles == nil)
    let items = try await #require(retained).load(.metadata)
    let data = try #require(items.first { $0.artworkIndex == 0 }?.dataValue)
    #expect(budget.reservedByteCount == data.count && Artwork.mediaType(of: data) == "image/png")
    #expect(retained?.loadedTitles?.title == "T" && retained?.loadedTitles?.artist == "A")
    #expect(try retained?.loadArtwork().1.data == data)
    expectError(.noSuchArtwork) { try retained?.loadArtwork(1) }
    retained = nil
    // The loading thread may release the asset slightly later. `scripts/test` ends an endless wait.
    while budget.reservedByteCount != 0 { await Task.yield() }
    // Without space, it is listed, and read again on request.
    let none = TagDataBudget(byteCount: 10)
    let unbudgeted = asset(none)
    let listed = try await unbudgeted.load(.metadata).first { $0.artworkIndex == 0 }
    #expect(listed?.omission?.error.code == .tagDataLimit && listed?.omission?.byteCount == data.count)
    #expect(none.reservedByteCount == 0)
    #expect(try unbudgeted.loadArtwork(0).1.data == data)
    #expect(try asset(none).loadArtwork().index == 0)
  }

  @Test func titlesUseAtMostHalfOfTheBudget() async throws {
    let folder = try TemporaryFolder()
    let path = try flac(folder, "a")
    func asset(_ path: String, _ budget: TagDataBudget) -> Asset {
      Asset(location: .path(Array(path.utf8)), prefersPreciseDuration: false, workers: .shared, tagData: budget)
    }
    let budget = TagDataBudget(byteCount: 4)
    var retained: Asset? = asset(path, budget)
    #expect(retained?.titles == nil)
    #expect(AssetOpening().readTitles(of: try #require(retained)))
    #expect(retained?.titles?.title == "T" && retained?.titles?.artist == "A" && retained?.titles?.album == nil)
    #expect(budget.reservedByteCount == 2 && retained?.loaded == nil && retained?.status(of: .metadata).value == nil)
    #expect(!AssetOpening().readTitles(of: try #require(retained)), "known titles are not read again")
    // Without space there are no titles until the asset is opened.
    let other = asset(path, budget)
    #expect(!AssetOpening().readTitles(of: other) && other.titles == AssetTitles())
    _ = try await other.load(.duration)
    #expect(other.titles?.title == "T")
    // All tags replace the titles in the budget.
    _ = try await #require(retained).load(.metadata)
    #expect(retained?.titles?.title == "T" && budget.reservedByteCount == 0)
    retained = nil
    for name in ["missing.flac", "."] {
      let unreadable = asset(folder.file(name), budget)
      #expect(!AssetOpening().readTitles(of: unreadable) && unreadable.titles == AssetTitles())
    }
    let (cancelled, opening) = (asset(path, budget), AssetOpening())
    opening.cancel()
    #expect(!opening.readTitles(of: cancelled) && cancelled.titles == nil)
  }
}
