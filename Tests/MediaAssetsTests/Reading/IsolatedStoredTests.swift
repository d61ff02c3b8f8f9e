import Glibc
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Stored samples that a worker process reads equal those of this process.
@Suite(.timeLimit(.minutes(10))) struct IsolatedStoredTests {
  private static func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 100) }

  private static func location(_ path: String) -> AssetLocation { .path(Array(path.utf8)) }

  private static let lavfi = [
    "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=3", "-f", "lavfi", "-i", "sine=r=44100:duration=3",
  ]

  /// Files with all kinds of tracks, with the options that encode them.
  private static let sources: [(name: String, options: [String])] = [
    ("h264-aac.mp4", ["-c:v", "libx264", "-bf", "3", "-g", "12", "-c:a", "aac"]),
    ("h264-mp3.mkv", ["-c:v", "libx264", "-bf", "2", "-g", "12", "-c:a", "libmp3lame"]),
    ("mpeg2-mp2.ts", ["-c:v", "mpeg2video", "-g", "12", "-c:a", "mp2"]),
    (
      "fragmented.mp4",
      ["-c:v", "libx264", "-g", "12", "-c:a", "aac", "-movflags", "frag_keyframe+empty_moov"]
    ),
    ("raw-pcm.mov", ["-c:v", "rawvideo", "-pix_fmt", "uyvy422", "-c:a", "pcm_s16be"]),
    ("mjpeg-adpcm.avi", ["-c:v", "mjpeg", "-c:a", "adpcm_ms"]),
    ("vp8-vorbis.webm", ["-c:v", "libvpx", "-g", "12", "-c:a", "libvorbis"]),
    ("opus.ogg", ["-vn", "-c:a", "libopus", "-ar", "48000"]), ("flac.flac", ["-vn", "-c:a", "flac"]),
    ("pcm.wav", ["-vn", "-c:a", "pcm_s24le"]), ("mp3.mp3", ["-vn", "-c:a", "libmp3lame"]),
    ("edited.mp4", ["-ss", "0.7", "-c", "copy"]),
  ]

  /// Makes one of the files and returns its path.
  private static func make(_ row: Int, in folder: TemporaryFolder) throws -> String {
    let path = folder.file(sources[row].name)
    guard sources[row].name == "edited.mp4" else {
      try Tool.ffmpeg(arguments: lavfi + sources[row].options + [path])
      return path
    }
    let whole = try make(0, in: folder)
    try Tool.ffmpeg(arguments: ["-ss", "0.7", "-i", whole, "-c", "copy", path])
    return path
  }

  @discardableResult
  private static func compare(
    _ name: String, _ location: AssetLocation, _ trackID: AssetTrack.ID?, _ ranges: [TimeRange] = []
  ) throws -> WholeReading {
    let readings = try [Asset.Isolation.none, .opening].map { isolation in
      try WholeReading(
        Asset(location: location, isolation: isolation),
        AssetReaderStoredOutput(trackID: trackID, supportsRandomAccess: !ranges.isEmpty), ranges: ranges)
    }
    // A failed comparison must not print all bytes.
    let isSame = readings[0] == readings[1]
    print("isolated samples | \(name) track \(trackID ?? -1): \(readings[1])")
    #expect(isSame, "\(name): \(readings)")
    return readings[1]
  }

  @Test(arguments: sources.indices) func workerReadsTheSameSamples(_ row: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder)
    let (name, location) = (Self.sources[row].name, Self.location(path))
    for track in try Asset(location: location, isolation: .none).load().tracks {
      let whole = try Self.compare(name, location, track.id)
      #expect(whole.buffers.count >= 10 && whole.status == .completed, "\(name)")
      let ranges = [
        TimeRange(start: Self.time(120), end: Self.time(160)), TimeRange(start: Self.time(5), end: Self.time(6)),
        TimeRange(start: Self.time(250), duration: .positiveInfinity),
      ]
      let parts = try Self.compare("\(name) ranges", location, track.id, ranges)
      #expect(parts.buffers.count >= whole.buffers.count && parts.status == .completed, "\(name)")
    }
  }

  @Test func memorySourcesAndServersHaveTheSameSamples() throws {
    let (folder, server) = (try TemporaryFolder(), try HTTPServer())
    let bytes = try readFile(try Self.make(0, in: folder))
    try server.write(bytes, to: "a.mp4")
    let locations: [(String, AssetLocation)] = [
      ("memory", .data(bytes)), ("source", .source(name: "a.mp4") { () throws(MediaError) in ClosableBytes(bytes) }),
      ("server", .url(try HTTPURL("\(server.address)/a.mp4"), HTTPOptions())),
    ]
    for (name, location) in locations {
      for trackID in [0, 1] {
        #expect(try Self.compare(name, location, trackID).buffers.count >= 75)
      }
    }
  }

  @Test func damagedFilesAndMissingTracksHaveTheSameFaultsAndErrors() throws {
    let folder = try TemporaryFolder()
    let whole = try readFile(try Self.make(0, in: folder))
    let matroska = try readFile(try Self.make(1, in: folder))
    var damaged = matroska
    for index in damaged.count / 2..<damaged.count / 2 + 3_000 { damaged[index] = UInt8(truncatingIfNeeded: index * 7) }
    // The index of an MP4 file is at its end.
    let rows: [(String, [UInt8], AssetTrack.ID?, isError: Bool)] = [
      ("truncated", Array(whole.prefix(whole.count / 2)), 0, true),
      ("truncated mkv", Array(matroska.prefix(matroska.count / 2)), 0, false), ("damaged", damaged, 0, false),
      ("damaged audio", damaged, 1, false), ("no track", whole, 9, true), ("text", Array("no media".utf8), nil, true),
    ]
    for (name, bytes, trackID, isError) in rows {
      let reading = try Self.compare(name, .data(bytes), trackID)
      #expect((reading.error != nil) == isError, "\(name)")
    }
    let composition = Asset(location: .composition(Composition()), isolation: .opening)
    let reader = AssetReader(asset: composition)
    try reader.add(AssetReaderStoredOutput())
    #expect(errorCode { try reader.startReading() } != 0)
  }

  @Test func packetsOfSeveralChunksAreTheSame() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("raw.mov")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=5:duration=1", "-c:v", "rawvideo", "-pix_fmt", "uyvy422", path)
    let reading = try Self.compare("raw", Self.location(path), 0)
    #expect(reading.buffers.map(\.data.count) == Array(repeating: 2 * 1_280 * 720, count: 5))
  }

  // MARK: - Workers

  @Test func samplesAreReadByOneWorkerThatIsReturned() throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(0, in: folder)
    let pool = try WorkerPool.make()
    for trackID in [0, 1] {
      let source = try StoredSampleSources.open(
        Asset(location: Self.location(path), isolation: .opening), trackID: trackID, isCounted: trackID == 1,
        interrupt: Interrupt(), log: nil, pool: pool)
      try source.start(TimeRange(start: .zero, duration: .positiveInfinity))
      var count = 0
      while try source.read() != nil { count += 1 }
      #expect(source is IsolatedStoredSource && count >= 75 && pool.statistics.busyCount == 1)
      #expect(WorkerProcesses.having(path).count == 1)
    }
    #expect(pool.statistics.busyCount == 0 && pool.statistics.startedCount == 1)
  }

  @Test func cancellationInterruptsTheWorker() throws {
    let folder = try TemporaryFolder()
    let bytes = ClosableBytes(try readFile(try Self.make(4, in: folder)))
    let pool = try WorkerPool.make()
    let asset = Asset(location: .source(name: "a.mov") { () throws(MediaError) in bytes }, isolation: .opening)
    let interrupt = Interrupt()
    do {
      let source = try StoredSampleSources.open(
        asset, trackID: 0, isCounted: false, interrupt: interrupt, log: nil, pool: pool)
      bytes.onBlocked { interrupt.cancel() }
      bytes.close()
      expectError(.cancelled) {
        try source.start(TimeRange(start: .zero, duration: .positiveInfinity))
        while try source.read() != nil {}
      }
    }
    #expect(pool.statistics.busyCount == 0 && pool.statistics.crashCount == 0 && pool.statistics.startedCount == 1)
  }

  @Test(
    "claims of a worker are checked, and its crash is an error of the file",
    arguments: [
      "crash-open", "crash-read", "crash-bytes", "claims-rotation", "claims-bytes", "claims-no-bytes", "claims-samples",
      "claims-more-samples-than-bytes", "claims-large-batch", "claims-time", "claims-trim", "sends-nothing",
      "sends-too-much", "wrong-reply", "short-chunk", "long-chunk", "negative-chunk", "fails", "honest",
    ]) func claimsOfAWorkerAreChecked(_ name: String) throws
  {
    let folder = try TemporaryFolder()
    let path = try folder.write(Array("some bytes".utf8), as: name)
    let pool = try WorkerPool.makeLying()
    let asset = Asset(location: Self.location(path), isolation: .opening)
    let code = errorCode {
      let source = try StoredSampleSources.open(
        asset, trackID: 0, isCounted: false, interrupt: Interrupt(), log: nil, pool: pool)
      try source.start(TimeRange(start: .zero, duration: .positiveInfinity))
      #expect(try source.read()?.data.count == 100)
      #expect(try source.read() == nil)
    }
    print("isolated samples | \(name): \(code)")
    let expected: MediaError.Code? = name == "honest" ? nil : name == "fails" ? .readFailed : .damagedFile
    #expect(code == expected?.rawValue ?? 0)
    #expect(pool.statistics.crashCount == (name.hasPrefix("crash") ? 1 : 0) && pool.statistics.busyCount == 0)
    // No other file is read with a worker that has lied.
    #expect(pool.statistics.idleCount == (["honest", "fails"].contains(name) ? 1 : 0))
  }
}
