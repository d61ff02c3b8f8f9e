import Testing

@testable import PlayheadMediaAssets

/// MP4's times, read from boxes that are intact, truncated anywhere, or wrong.
@Suite struct MovieTrackTimesTests {
  private typealias Edit = (duration: UInt64, start: Int64)

  private func times(_ bytes: [UInt8], trackID: Int = 2) -> MovieTrackTimes? {
    MovieTrackTimes(trackID: trackID, readsLastSample: true) { offset, count in
      guard offset >= 0, offset < bytes.count else { return [] }
      return Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + count)])
    }
  }

  /// A file with two tracks, of which the second is audio at 48 kHz, in a movie with ticks of a millisecond.
  private func movie(
    _ edits: [Edit], duration: UInt64, version: UInt8 = 0, movieTimescale: UInt32 = 1_000, rate: UInt32 = 0x1_0000,
    samples: [(count: UInt32, duration: UInt32)] = []
  ) -> [UInt8] {
    func number(_ value: UInt64, _ version: UInt8) -> [UInt8] {
      version == 1 ? MovieBoxes.bigEndian(value) : MovieBoxes.bigEndian(UInt32(truncatingIfNeeded: value))
    }
    func header(_ name: String, _ timescale: UInt32, _ duration: UInt64) -> [UInt8] {
      MovieBoxes.box(
        name, [version, 0, 0, 0] + number(7, version) + number(8, version), MovieBoxes.bigEndian(timescale),
        number(duration, version), [UInt8](repeating: 0, count: 4))
    }
    let durations = samples.flatMap { MovieBoxes.bigEndian($0.count) + MovieBoxes.bigEndian($0.duration) }
    let table = MovieBoxes.box(
      "minf",
      MovieBoxes.box(
        "stbl", MovieBoxes.box("stts", [0, 0, 0, 0], MovieBoxes.bigEndian(UInt32(samples.count)), durations)))
    func track(_ id: UInt32, _ edits: [Edit], _ timescale: UInt32, _ duration: UInt64) -> [UInt8] {
      let list = edits.flatMap {
        number($0.duration, version) + number(UInt64(bitPattern: $0.start), version) + MovieBoxes.bigEndian(rate)
      }
      let box = MovieBoxes.box("elst", [version, 0, 0, 0], MovieBoxes.bigEndian(UInt32(edits.count)), list)
      return MovieBoxes.box(
        "trak",
        MovieBoxes.box(
          "tkhd", [version, 0, 0, 0] + number(7, version) + number(8, version), MovieBoxes.bigEndian(id),
          [UInt8](repeating: 0, count: 12)),
        edits.isEmpty ? [] : MovieBoxes.box("edts", box),
        MovieBoxes.box("mdia", header("mdhd", timescale, duration), samples.isEmpty ? [] : table))
    }
    return MovieBoxes.box("ftyp", Array("isom".utf8))
      + MovieBoxes.bigEndian(UInt32(1)) + Array("mdat".utf8) + MovieBoxes.bigEndian(UInt64(20)) + [1, 2, 3, 4]
      + MovieBoxes.box(
        "moov", header("mvhd", movieTimescale, 10_302), track(1, [(10_000, 0)], 12_800, 128_000),
        track(2, edits, 48_000, duration))
  }

  @Test(arguments: [UInt8(0), 1])
  func editThatEndsWithinATickOfTheMediaEndsWithTheMedia(_ version: UInt8) throws {
    let whole = try #require(times(movie([(478, -1), (10_302, 0)], duration: 494_462, version: version)))
    #expect(whole.movieTimescale == 1_000 && whole.mediaTimescale == 48_000 && whole.mediaDuration == 494_462)
    #expect(whole.edits.map(\.duration) == [478, 10_302] && whole.edits.map(\.mediaStart) == [-1, 0])
    #expect(whole.mediaOrigin == 22_944 && whole.mediaEnd == 22_944 + 494_462)
    // The edit is 32 frames shorter than the media, in milliseconds.
    let short = try #require(times(movie([(10_298, 256)], duration: 494_592, version: version)))
    #expect(short.mediaOrigin == -256 && short.mediaEnd == 494_336)
  }

  /// The edit is 32 frames shorter than the media: FFmpeg drops a last packet of at most that length.
  @Test func lastSampleAfterTheEndOfTheEditIsDetected() throws {
    func last(_ duration: UInt32, of edit: Edit = (10_298, 256)) throws -> Int64? {
      let found = try #require(
        times(movie([edit], duration: 494_592, samples: [(482, 1_024), (1, 1_024 - duration), (1, duration)])))
      #expect((EditedTimeline(found, sampleRateHz: 48_000) != nil) == found.losesLastSample)
      return found.losesLastSample ? found.lastSampleStart.map { 494_592 - $0 } : nil
    }
    #expect(try last(32) == 32)
    #expect(try last(1) == 1)
    #expect(try last(33) == nil)
    // The edit ends with the media, or after it, or elsewhere.
    #expect(try last(32, of: (10_304, 0)) == nil)
    #expect(try last(1, of: (10_299, 256)) == nil)
    #expect(try last(32, of: (10_000, 256)) == nil)
    // The durations of the samples exceed the duration in the header.
    let whole = try #require(times(movie([(10_298, 256)], duration: 494_592, samples: [(483, 1_030), (1, 1)])))
    #expect(whole.lastSampleStart == 497_490 && whole.losesLastSample)
    let timeline = try #require(EditedTimeline(whole, sampleRateHz: 48_000))
    #expect(timeline.segments == [EditedTimeline.Segment(start: 0, end: 494_336, mediaStart: 256)])
    #expect(times(movie([(10_298, 256)], duration: 494_592))?.lastSampleStart == nil)
    #expect(times(movie([(10_298, 256)], duration: 494_592, samples: [(0, 10)]))?.lastSampleStart == nil)
    let many = [(count: UInt32, duration: UInt32)](repeating: (1, 1), count: MovieTrackTimes.maximumDurationCount + 1)
    #expect(times(movie([(10_298, 256)], duration: 494_592, samples: many))?.lastSampleStart == nil)
  }

  @Test func editThatEndsElsewhereHasNoMediaEnd() throws {
    #expect(try #require(times(movie([(10_297, 256)], duration: 494_592))).mediaEnd == nil)
    #expect(try #require(times(movie([(10_300, 256)], duration: 494_592))).mediaEnd == nil)
    // Ticks as fine as frames are unambiguous.
    #expect(try #require(times(movie([(999, 0)], duration: 1_000, movieTimescale: 48_000))).mediaEnd == nil)
    #expect(try #require(times(movie([(1_000, 0)], duration: 1_000, movieTimescale: 48_000))).mediaEnd == 1_000)
  }

  @Test func fragmentedMovieHasAnOriginAndNoEnd() throws {
    let fragmented = try #require(times(movie([(0, 1_024)], duration: 0)))
    #expect(fragmented.mediaOrigin == -1_024 && fragmented.mediaEnd == nil)
    let plain = try #require(times(movie([], duration: 494_462)))
    #expect(plain.edits.isEmpty && plain.mediaOrigin == nil && plain.mediaEnd == nil)
    #expect(try #require(times(movie([(10_302, 0)], duration: .init(UInt32.max)))).mediaDuration == 0)
  }

  @Test func severalEditsOtherRatesAndMissingTracksHaveNoOrigin() throws {
    #expect(try #require(times(movie([(100, 0), (100, 9_600)], duration: 494_462))).mediaOrigin == nil)
    #expect(try #require(times(movie([(100, -1)], duration: 494_462))).mediaOrigin == nil)
    let fast = try #require(times(movie([(10_302, 0)], duration: 494_462, rate: 0x2_0000)))
    #expect(fast.mediaOrigin == nil && fast.edits.map(\.rate) == [0x2_0000])
    #expect(times(movie([(10_302, -2)], duration: 494_462)) == nil)
    #expect(times(movie([(10_302, 0)], duration: 494_462), trackID: 3) == nil)
    #expect(times(movie([(10_302, 0)], duration: 494_462, movieTimescale: 0)) == nil)
    let many = [Edit](repeating: (1, -1), count: MovieTrackTimes.maximumEditCount + 1)
    #expect(times(movie(many, duration: 494_462)) == nil)
    let boxes = [[UInt8]](repeating: MovieBoxes.box("free"), count: MovieTrackTimes.maximumBoxCount)
    #expect(times(boxes.flatMap { $0 } + movie([(10_302, 0)], duration: 494_462)) == nil)
  }

  @Test func overflowingTimesHaveNoOriginAndNoEnd() throws {
    let huge = UInt64(Int64.max)
    #expect(try #require(times(movie([(huge, -1), (huge, 0)], duration: 9, version: 1))).mediaOrigin == nil)
    #expect(try #require(times(movie([(huge / 2, -1), (9, 0)], duration: 9, version: 1))).mediaOrigin == nil)
    #expect(try #require(times(movie([(huge, 0)], duration: 1 << 61, version: 1))).mediaEnd == nil)
    #expect(try #require(times(movie([(9, Int64.max)], duration: 1 << 61, version: 1))).mediaEnd == nil)
    #expect(times(movie([(UInt64.max, 0)], duration: 9, version: 1)) == nil)
  }

  /// Ranges are contiguous and not empty, and only the last may have no end.
  private func check(_ timeline: EditedTimeline?) {
    guard let timeline else { return }
    var end: Int64? = 0
    for segment in timeline.segments {
      #expect(segment.start == end && segment.end.map { $0 > segment.start } ?? true)
      #expect(segment.mediaStart.map { $0 >= 0 } ?? true)
      end = segment.end
    }
    #expect(!timeline.segments.isEmpty && timeline.endFrame == end)
  }

  @Test func stretchesAreContiguousForAnyEditList() throws {
    let huge = UInt64(Int64.max)
    let lists: [[Edit]] = [
      [(100, 0), (100, 9_600)], [(0, 5), (7, 5)], [(100, 5), (0, 5)], [(3, 0), (0, 100_000_000)], [(5, 0), (9, -1)],
      [(huge, 0), (huge, 0)], [(huge / 48_000, 0), (huge / 48_000, 0), (1, 0)], [(9, Int64.max), (9, 0)],
      [(1, 0), (0, -1), (1, 2), (1, 2)], [Edit](repeating: (494_462 / 48, 0), count: 200), [(100, -1), (100, 494_462)],
    ]
    for list in lists {
      for version in [UInt8(0), 1] {
        let found = times(movie(list, duration: 494_462, version: version))
        check(found.flatMap { EditedTimeline($0, sampleRateHz: 44_100) })
      }
    }
    func timeline(_ edits: [Edit], _ duration: UInt64, _ rate: Int) -> EditedTimeline? {
      times(movie(edits, duration: duration)).flatMap { EditedTimeline($0, sampleRateHz: rate) }
    }
    let two = try #require(timeline([(1, 0), (1, 0)], 9_999, 44_100))
    // The sums are rounded, not the lengths: 44.1 and 88.2.
    #expect(two.segments.map(\.start) == [0, 44] && two.endFrame == 88)
    #expect(two.index(at: 43) == 0 && two.index(at: 44) == 1 && two.index(at: 88) == nil)
    let later = two.delayed(byFrames: 10)
    #expect(later.segments.map(\.start) == [0, 10, 54] && later.firstAudioFrame == 10 && later.endFrame == 98)
    #expect(timeline([(9, -1), (9, 5)], 494_462, 48_000) == nil)
    #expect(timeline([(9, -1)], 494_462, 48_000) == nil)
  }

  /// Truncated at every byte, and with every byte changed, it is read or rejected, but never read wrongly.
  @Test(arguments: [UInt8(0), 1])
  func fileCutOrChangedAtAnyByteIsReadCorrectlyOrRejected(_ version: UInt8) throws {
    let bytes = movie([(478, -1), (10_302, 0)], duration: 494_462, version: version)
    let whole = try #require(times(bytes))
    for count in bytes.indices {
      let cut = times(Array(bytes.prefix(count)))
      // The track's edit list and header are at the end.
      #expect(cut == nil || cut == whole, "cut at \(count)")
    }
    let short = movie([(10_298, 256)], duration: 494_592, version: version, samples: [(482, 1_024), (1, 20)])
    for count in short.indices {
      check(times(Array(short.prefix(count))).flatMap { EditedTimeline($0, sampleRateHz: 48_000) })
    }
    for (bytes, offset) in bytes.indices.map({ (bytes, $0) }) + short.indices.map({ (short, $0) }) {
      for value in [UInt8(0), 1, 0x7f, 0x80, 0xff] {
        var changed = bytes
        changed[offset] = value
        guard let found = times(changed) else { continue }
        #expect(found.movieTimescale > 0 && found.mediaTimescale > 0 && found.mediaDuration >= 0)
        #expect(found.mediaEnd.map { $0 >= found.mediaOrigin ?? .max } ?? true)
        check(EditedTimeline(found, sampleRateHz: 48_000))
      }
    }
  }
}
