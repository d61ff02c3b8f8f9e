import Glibc
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// The samples of a reader whose video a worker process decodes equal those of this process.
@Suite(.timeLimit(.minutes(10))) struct IsolatedReaderTests {
  private static let x264 = VideoFixture.x264
  private static let film = VideoFixture.film

  private static func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 100) }

  private static func location(_ path: String) -> AssetLocation { .path(Array(path.utf8)) }

  /// Checks that both isolations return the same.
  @discardableResult
  private static func compare(
    _ name: String, _ read: (Asset.Isolation) throws -> WholeReading
  ) throws -> WholeReading {
    let readings = try [Asset.Isolation.none, .opening].map(read)
    // A failed comparison must not print all pixels.
    let isSame = readings[0] == readings[1]
    print("isolated reader | \(name): \(readings[0])")
    #expect(isSame, "\(name): \(readings)")
    return readings[1]
  }

  private static let ranges = [
    TimeRange(start: time(51), end: time(99)), TimeRange(start: time(10), end: time(13)),
    TimeRange(start: time(198), duration: .positiveInfinity),
  ]

  // MARK: - Decoded video

  static let sources = [
    film, VideoFixture("film.mkv", x264), VideoFixture("film.ts", x264),
    VideoFixture("film.webm", ["-c:v", "libvpx", "-g", "12"]),
    VideoFixture("part2.avi", ["-c:v", "mpeg4", "-g", "12"]),
    VideoFixture("turned.mp4", source: VideoFixture.pattern("64x48"), x264, rotationDegrees: 90),
    VideoFixture("wide.mp4", source: VideoFixture.pattern() + ["-vf", "setsar=4/3"], x264),
    VideoFixture("odd.mkv", source: VideoFixture.oddPattern, ["-c:v", "ffv1"]),
    VideoFixture("deep.mkv", ["-c:v", "ffv1", "-pix_fmt", "yuv422p10le"]),
    VideoFixture("mono.mov", ["-c:v", "png", "-pix_fmt", "monob"]),
  ]

  @Test(arguments: sources) func workerReadsTheSameVideoFrames(_ source: VideoFixture) throws {
    let folder = try TemporaryFolder()
    let path = try source.make(in: folder)
    var (turned, resized) = (VideoReadSettings(.nv12), VideoReadSettings(.bgra, size: .init(width: 90, height: 31)))
    (turned.appliesPreferredTrackTransform, resized.appliesPreferredTrackTransform) = (true, true)
    for settings in [VideoReadSettings(.bgra), VideoReadSettings(.i420), turned, resized] {
      let reading = try Self.compare("\(source.name) \(settings.pixelFormat)") { isolation in
        try WholeReading(
          Asset(location: Self.location(path), isolation: isolation), AssetReaderVideoOutput(settings: settings))
      }
      #expect(reading.buffers.count >= 45 && reading.status == .completed)
    }
    let parts = try Self.compare("\(source.name) ranges") { isolation in
      try WholeReading(
        Asset(location: Self.location(path), isolation: isolation), AssetReaderVideoOutput(supportsRandomAccess: true),
        TimeRange(start: Self.time(150), end: Self.time(170)), ranges: Self.ranges)
    }
    #expect(parts.buffers.count >= 10 && parts.status == .completed)
  }

  @Test func damagedAndUnreadableVideoHasTheSameFaultsAndErrors() throws {
    let folder = try TemporaryFolder()
    var bytes = try readFile(try VideoFixture("part2.avi", ["-c:v", "mpeg4", "-g", "12"]).make(in: folder))
    let whole = bytes
    for index in bytes.count / 3..<bytes.count / 3 + 2_000 { bytes[index] = UInt8(truncatingIfNeeded: index * 7) }
    let audio = folder.file("audio.flac")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=1", audio)
    let rows: [(String, AssetLocation, AssetTrack.ID?)] = [
      ("damaged", .data(bytes), nil), ("truncated", .data(Array(whole.prefix(whole.count / 2))), nil),
      ("text", .data(Array("no media".utf8)), nil), ("audio", Self.location(audio), nil),
      ("no such track", .data(whole), 7), ("missing", Self.location(folder.file("missing")), nil),
    ]
    for (name, location, trackID) in rows {
      let reading = try Self.compare(name) { isolation in
        try WholeReading(Asset(location: location, isolation: isolation), AssetReaderVideoOutput(trackID: trackID))
      }
      #expect((reading.error == nil) == ["damaged", "truncated"].contains(name))
      #expect((reading.fault != nil) == (reading.error == nil))
    }
  }

  @Test func compositionsAndCompositedTracksAreTheSame() throws {
    let folder = try TemporaryFolder()
    let (path, audio) = (try Self.film.make(in: folder), folder.file("audio.wav"))
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=r=48000:duration=2", audio)
    func composition(_ isolation: Asset.Isolation) throws -> Asset {
      var composition = Composition()
      let (film, sine) = (
        Asset(location: Self.location(path), isolation: isolation),
        Asset(location: Self.location(audio), isolation: isolation)
      )
      try composition.insertTimeRange(TimeRange(start: .zero, end: Self.time(100)), of: sine, at: .zero)
      try composition.insertTimeRange(
        TimeRange(start: Self.time(50), end: Self.time(90)), of: film, at: Self.time(10))
      try composition.insertTimeRange(
        TimeRange(start: Self.time(10), end: Self.time(30)), of: film, at: Self.time(70))
      return Asset(location: .composition(composition), isolation: isolation)
    }
    var layer = VideoCompositionLayer(trackID: 0)
    try layer.setOpacityRamp(from: 1, to: 0.2, timeRange: TimeRange(start: .zero, end: Self.time(100)))
    let video = VideoComposition(
      renderSize: .init(width: 100, height: 90), frameDuration: Self.time(4),
      instructions: [.init(timeRange: TimeRange(start: .zero, end: Self.time(200)), layers: [layer])])
    let outputs: [(String, (Asset.Isolation) throws -> Asset, () -> AssetReaderOutput, Int)] = [
      ("composition", composition, { AssetReaderVideoOutput() }, 15),
      ("audio of a composition", composition, { AssetReaderTrackOutput() }, 2),
      ("mixed audio of a composition", composition, { AssetReaderAudioMixOutput() }, 2),
      (
        "video composition", { Asset(location: Self.location(path), isolation: $0) },
        { AssetReaderVideoCompositionOutput(videoComposition: video) }, 50
      ),
    ]
    for (name, asset, output, count) in outputs {
      let reading = try Self.compare(name) { try WholeReading(asset($0), output()) }
      #expect(reading.buffers.count >= count && reading.status == .completed, "\(name)")
    }
  }

  @Test func streamsThatCannotSeekBackAreTheSame() throws {
    let folder = try TemporaryFolder()
    for name in ["film.ts", "film.mkv"] {
      let bytes = try readFile(try VideoFixture(name, Self.x264).make(in: folder))
      let location = AssetLocation.source(name: name) { () throws(MediaError) in
        ClosableBytes(bytes, isSeekable: false)
      }
      for output in [{ AssetReaderVideoOutput() }, { AssetReaderStoredOutput() }] as [() -> AssetReaderOutput] {
        let reading = try Self.compare(name) { try WholeReading(Asset(location: location, isolation: $0), output()) }
        #expect(reading.buffers.count == 50 && reading.status == .completed, "\(name)")
      }
      let outcomes = [Asset.Isolation.none, .opening].map { isolation -> [String] in
        let generator = AssetImageGenerator(asset: Asset(location: location, isolation: isolation))
        (generator.requestedTimeToleranceBefore, generator.requestedTimeToleranceAfter) = (.zero, .zero)
        return [50, 150, 20, 160].map { (value: Int64) in
          do throws(MediaError) {
            let (image, time) = try generator.image(at: Self.time(value))
            return "\(time.decimalDescription) \(image.hashValue)"
          } catch { return error.description }
        }
      }
      print("isolated reader | images of the stream \(name): \(outcomes[0])")
      #expect(outcomes[0] == outcomes[1] && outcomes[0][2].contains("cannot seek"), "\(name)")
    }
  }

  @Test func enlargedFramesHaveALargerWorker() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture("film.mp4", source: VideoFixture.pattern(seconds: "0.08"), Self.x264).make(in: folder)
    let settings = VideoReadSettings(.i420, size: .init(width: 5_000, height: 4_000))
    let reading = try Self.compare("5000 x 4000") { isolation in
      try WholeReading(
        Asset(location: Self.location(path), isolation: isolation), AssetReaderVideoOutput(settings: settings))
    }
    #expect(reading.buffers.count == 2)
  }

  /// A decoder that retains 16 of these frames needs 400 MB.
  @Test func manyRetainedFramesHaveALargerWorker() throws {
    let folder = try TemporaryFolder()
    for (pixelFormat, workerCount) in [("yuv420p", 1), ("yuv420p10le", 2)] {
      let path = try VideoFixture.manyReferences(pixelFormat).make(in: folder)
      let pool = try WorkerPool.make()
      let reader = try VideoReaders.open(
        Asset(location: Self.location(path), isolation: .opening), interrupt: Interrupt(), trackID: nil, log: nil,
        pool: pool)
      let track = try VideoTrackSource(reader, VideoReadSettings(.bgra))
      try track.start(TimeRange(start: .zero, duration: .positiveInfinity))
      var count = 0
      while try track.read() != nil { count += 1 }
      #expect(count == 26 && reader.popFault() == nil, "\(pixelFormat)")
      #expect(pool.statistics.startedCount == workerCount && pool.statistics.crashCount == 0, "\(pixelFormat)")
    }
  }

  // MARK: - Workers

  @Test func videoIsDecodedInAWorker() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    let pool = try WorkerPool.make()
    do {
      let asset = Asset(location: Self.location(path), isolation: .playback)
      let reader = try VideoReaders.open(asset, interrupt: Interrupt(), trackID: nil, log: nil, pool: pool)
      var count = 0
      while try reader.next() != nil { count += 1 }
      #expect(reader is IsolatedVideoReader && count == 50)
      #expect(pool.statistics.busyCount == 1 && WorkerProcesses.having(path).count == 1)
    }
    #expect(pool.statistics.busyCount == 0 && pool.statistics.startedCount == 1)
  }

  @Test func aCrashEndsReadingWithAnError() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture("film.mp4", source: VideoFixture.pattern("640x480", seconds: "8"), Self.x264)
      .make(in: folder)
    let asset = Asset(location: Self.location(path), isolation: .opening)
    let reader = AssetReader(asset: asset)
    let output = AssetReaderVideoOutput()
    try reader.add(output)
    try reader.startReading()
    #expect(output.copyNextSampleBuffer() != nil)
    let processes = WorkerProcesses.having(path)
    for process in processes { kill(process, SIGSEGV) }
    let count = output.remainder().count
    print("isolated reader | crash: \(processes.count) processes, \(count) more frames, \(reader.status)")
    #expect(processes.count == 1 && count < 100)
    #expect(reader.status == .failed && reader.error?.code == .damagedFile && reader.error?.underlying == "SIGSEGV")
    let next = try WholeReading(asset, AssetReaderVideoOutput())
    #expect(next.buffers.count == 200 && next.status == .completed)
  }

  @Test func cancellationInterruptsTheWorker() throws {
    let folder = try TemporaryFolder()
    let bytes = ClosableBytes(
      try readFile(
        try VideoFixture(
          "long.avi", source: VideoFixture.pattern("640x480", seconds: "4"), ["-c:v", "mjpeg", "-q:v", "2"]
        ).make(in: folder)))
    let pool = try WorkerPool.make()
    let asset = Asset(location: .source(name: "long.avi") { () throws(MediaError) in bytes }, isolation: .opening)
    let interrupt = Interrupt()
    let reader = try VideoReaders.open(asset, interrupt: interrupt, trackID: nil, log: nil, pool: pool)
    let first = try #require(try reader.next())
    #expect(first.time == .zero)
    bytes.onBlocked { interrupt.cancel() }
    bytes.close()
    expectError(.cancelled) { try reader.seek(to: Self.time(300)) }
    expectError(.cancelled) { try reader.seek(to: .zero) }
    bytes.open()
    reader.resetCancellation()
    try reader.seek(to: Self.time(200))
    #expect(try reader.next()?.time == Self.time(200))
    #expect(pool.statistics.startedCount == 1 && pool.statistics.crashCount == 0)
  }
}
