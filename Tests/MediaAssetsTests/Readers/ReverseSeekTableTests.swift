import Foundation
import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// The seek table for reverse reading. For every codec and container, reading from the end backwards returns each frame
/// once, in the reverse order of a read from the start. `swift test --filter ReverseSeekTableTests` prints the table.
@Suite struct ReverseSeekTableTests {
  @Test(arguments: SeekRow.all)
  func reverseReadEqualsAForwardReadReversed(_ row: SeekRow) throws {
    let folder = try TemporaryFolder()
    let path = try row.make(in: folder)
    let forwards = try AudioTrackReader(asset: Asset(path: path))
    let (reference, channelCount) = (try forwards.readToEnd(), forwards.format.channelCount)
    let frameCount = reference.count / channelCount
    // From the end, which this reader has not seen, and from an arbitrary position.
    for start in [
      MediaTime.positiveInfinity, MediaTime(frame: Int64(frameCount - 12_345), rate: forwards.format.sampleRateHz),
    ] {
      let asset = Asset(path: path)
      let reader = ReverseAudioReader(try AudioTrackReader(asset: asset), duration: try asset.load().duration)
      let first = start.isNumeric ? frameCount - 12_345 : frameCount
      #expect(try reader.seek(to: start) == MediaTime(frame: Int64(first), rate: forwards.format.sampleRateHz))
      let (chunks, samples) = try readAll(reader, channelCount: channelCount)
      #expect(chunks.areContiguous && chunks.first == Int64(first), "\(row.name) begins at \(chunks.first ?? -1)")
      try #require(samples.count == first * channelCount, "\(row.name): \(samples.count / channelCount) frames")
      let reversed = SampleComparison.reversed(reference[..<(first * channelCount)], channelCount: channelCount)
      let largest = SampleComparison.largestDifference(samples, reversed[...]) * 32_768
      print(
        "reverse table | \(row.name) | from \(first) | \(samples.count / channelCount) frames | difference \(largest)")
      // Every sample is compared, not only some positions, so irreproducible decoder state shows up to twice the
      // difference.
      #expect(largest <= row.expectation.allowedSteps * 2, "\(row.name) differs by \(largest) steps")
    }
  }

  /// The first frame ends within the tolerances, and its reported position is correct.
  @Test(arguments: SeekRow.all)
  func seekWithTolerancesLandsWithinThemAndReportsItsPosition(_ row: SeekRow) throws {
    let folder = try TemporaryFolder()
    let path = try row.make(in: folder)
    let forwards = try AudioTrackReader(asset: Asset(path: path))
    let (reference, format) = (try forwards.readToEnd(), forwards.format)
    let frameCount = reference.count / format.channelCount
    let asset = Asset(path: path)
    let reader = ReverseAudioReader(try AudioTrackReader(asset: asset), duration: try asset.load().duration)
    func milliseconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1_000) }
    let middle =
      MediaTime(frame: Int64(frameCount / 2), rate: format.sampleRateHz) + MediaTime(value: 1, timescale: 7_919_000)
    for (before, after) in [
      (milliseconds(100), milliseconds(0)), (milliseconds(0), milliseconds(100)), (milliseconds(60), milliseconds(40)),
      (.zero, .zero), (.positiveInfinity, .positiveInfinity), (milliseconds(1), milliseconds(1)),
    ] {
      let reached = try reader.seek(to: middle, toleranceBefore: before, toleranceAfter: after)
      let frame = MediaTime(frame: 1, rate: format.sampleRateHz)
      #expect(reached >= middle - before, "\(row.name) \(reached)")
      // Without a tolerance it is the frame that contains the time.
      #expect(reached <= middle + (before > .zero ? after : max(after, frame)), "\(row.name) \(reached)")
      let first = try #require(reached.frameIndex(rate: format.sampleRateHz, rounding: .halfAwayFromZero))
      #expect(reader.position == first)
      var chunk = [Float](repeating: 0, count: 512 * format.channelCount)
      let result = try chunk.withUnsafeMutableBufferPointer { chunk throws(MediaError) in
        try chunk.baseAddress.map { base throws(MediaError) in try reader.read(into: base, capacityFrames: 512) }
      }
      guard case .frames(let count, first)? = result else {
        Issue.record("\(row.name) reads \(String(describing: result))")
        continue
      }
      var largest: Float = 0
      for index in 0..<count * format.channelCount {
        let (sourceFrame, channel) = (Int(first) - 1 - index / format.channelCount, index % format.channelCount)
        largest = max(largest, abs(chunk[index] - reference[sourceFrame * format.channelCount + channel]) * 32_768)
      }
      #expect(largest <= row.expectation.allowedSteps * 2, "\(row.name) differs by \(largest) steps")
      print(
        "reverse tolerances | \(row.name) | \(before.decimalDescription) \(after.decimalDescription) | reached",
        "\((reached - middle).decimalDescription) | difference \(largest)")
    }
  }

  /// Most of the declared audio is missing: the end is where the file is cut, from any start after it.
  @Test(arguments: [
    ("a.flac", ["-c:a", "flac"]), ("alac.m4a", ["-c:a", "alac", "-movflags", "faststart"]),
    ("a.ogg", ["-c:a", "libvorbis"]), ("a.mp3", ["-c:a", "libmp3lame"]),
  ])
  func truncatedFileIsReadBackwardsFromItsEnd(_ name: String, _ options: [String]) throws {
    let folder = try TemporaryFolder()
    let source = "anoisesrc=d=10:r=44100:c=white:a=0.3:s=1"
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source] + options + [folder.file(name)])
    let bytes = try readFile(folder.file(name))
    let path = try folder.write(Array(bytes.prefix(bytes.count / 3)), as: "cut-\(name)")
    var reference: [Float] = []
    let forwards = try AudioTrackReader(asset: Asset(path: path))
    let code = errorCode { try forwards.readToEnd(into: &reference) }
    #expect(code == MediaError.Code.damagedFile.rawValue)
    try #require(reference.count > 100_000 && reference.count < 200_000)
    let declaredDuration = MediaTime(value: 10, timescale: 1)
    for start in [MediaTime.positiveInfinity, MediaTime(value: 9, timescale: 1)] {
      let reader = ReverseAudioReader(try AudioTrackReader(asset: Asset(path: path)), duration: declaredDuration)
      #expect(try reader.seek(to: start) == MediaTime(frame: Int64(reference.count), rate: 44_100))
      let (chunks, samples) = try readAll(reader, channelCount: 1)
      #expect(chunks.areContiguous && chunks.first == Int64(reference.count))
      let worst = SampleComparison.largestDifference(
        samples, SampleComparison.reversed(reference[...], channelCount: 1)[...])
      #expect(samples.count == reference.count && worst <= 1 / 32_768, "differs by \(worst)")
    }
  }

  /// All audio of the reader, and whether chunks are contiguous.
  private func readAll(
    _ reader: ReverseAudioReader, channelCount: Int
  ) throws -> (chunks: (first: Int64?, areContiguous: Bool), samples: [Float]) {
    var samples: [Float] = []
    var (first, next, areContiguous) = (Int64?.none, Int64?.none, true)
    var chunk = [Float](repeating: 0, count: 3_000 * channelCount)
    while true {
      let result = try chunk.withUnsafeMutableBufferPointer { chunk throws(MediaError) in
        try chunk.baseAddress.map { base throws(MediaError) in try reader.read(into: base, capacityFrames: 3_000) }
      }
      guard case .frames(let count, let position)? = result else { break }
      if let next, next != position { areContiguous = false }
      first = first ?? position
      next = position - Int64(count)
      samples += chunk[..<(count * channelCount)]
    }
    return ((first, areContiguous && next == 0), samples)
  }
}
