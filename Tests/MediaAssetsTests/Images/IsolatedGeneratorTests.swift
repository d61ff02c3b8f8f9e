import Glibc
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Images of a generator whose video a worker process decodes equal those of this process.
@Suite(.timeLimit(.minutes(10))) struct IsolatedGeneratorTests {
  private static let x264 = VideoFixture.x264
  private static let film = VideoFixture.film

  private static func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 100) }

  private static func location(_ path: String) -> AssetLocation { .path(Array(path.utf8)) }

  private static func settings(
    exact: Bool = true, width: Int? = nil, height: Int? = nil, isUpright: Bool = false,
    mode: ImageSettings.ApertureMode = .cleanAperture
  ) -> ImageSettings {
    var settings = ImageSettings()
    if exact { (settings.toleranceBefore, settings.toleranceAfter) = (.zero, .zero) }
    (settings.maximumWidth, settings.maximumHeight) = (width, height)
    (settings.appliesPreferredTrackTransform, settings.apertureMode) = (isUpright, mode)
    return settings
  }

  /// The result of a request.
  private struct Outcome: Equatable, CustomStringConvertible {
    var image: PixelBuffer?
    var actualTime = MediaTime.invalid
    var error: MediaError?

    init(_ generator: AssetImageGenerator, _ time: MediaTime, _ settings: ImageSettings) {
      generator.imageSettings = settings
      do throws(MediaError) { (image, actualTime) = try generator.image(at: time) } catch { self.error = error }
    }

    var description: String {
      "\(image?.width ?? 0) x \(image?.height ?? 0) \(actualTime.decimalDescription) \(error?.description ?? "")"
    }
  }

  /// Checks that generators with and without isolation return the same images, times and errors for all settings. Both
  /// make all images, one after another. Returns the number of images without an error.
  @discardableResult
  private static func compare(
    _ location: AssetLocation, _ allSettings: [ImageSettings], _ times: [MediaTime], _ name: String,
    workerCount: Int = 1
  ) throws -> Int {
    let pool = try WorkerPool.make()
    var count = 0
    do {
      let local = AssetImageGenerator(asset: Asset(location: location, isolation: .none))
      let isolated = AssetImageGenerator(asset: Asset(location: location, isolation: .opening), pool: pool)
      for settings in allSettings {
        for wanted in times {
          let outcomes = [local, isolated].map { Outcome($0, wanted, settings) }
          // A failed comparison must not print all pixels.
          let isSame = outcomes[0] == outcomes[1]
          #expect(isSame, "\(name) \(wanted.decimalDescription): \(outcomes)")
          if outcomes[0].error == nil { count += 1 }
        }
      }
    }
    print("isolated generator | \(name): \(count) images, \(pool.statistics.startedCount) workers")
    #expect(pool.statistics.startedCount == workerCount && pool.statistics.crashCount == 0)
    return count
  }

  // MARK: - The same images

  static let sources =
    VideoFixture.samples + [
      VideoFixture("odd.mkv", source: VideoFixture.oddPattern, ["-c:v", "ffv1"]),
      VideoFixture("deep.mkv", ["-c:v", "ffv1", "-pix_fmt", "yuv422p10le"]),
      VideoFixture("rgb.mkv", ["-c:v", "ffv1", "-pix_fmt", "bgr0"]),
      VideoFixture("grey.mkv", ["-c:v", "ffv1", "-pix_fmt", "gray16le"]),
      VideoFixture("jpeg.mov", ["-c:v", "mjpeg", "-pix_fmt", "yuvj444p"]),
      VideoFixture("mono.mov", ["-c:v", "png", "-pix_fmt", "monob"]),
      VideoFixture("one.mov", source: VideoFixture.pattern("16x2", seconds: "1"), ["-c:v", "png"]),
      // Several chunks of shared memory.
      VideoFixture("large.mp4", source: VideoFixture.pattern("1280x720", seconds: "1"), x264),
    ]

  @Test(arguments: sources) func workerMakesTheSameImages(_ source: VideoFixture) throws {
    let folder = try TemporaryFolder()
    let path = try source.make(in: folder)
    let times = [150, 0, 1, 77, 99, 50, 900, -1].map(Self.time) + [.invalid]
    let allSettings = [
      Self.settings(), Self.settings(exact: false), Self.settings(width: 40, isUpright: true),
      Self.settings(exact: false, height: 31, isUpright: true, mode: .encodedPixels),
      Self.settings(width: 20, height: 20, mode: .productionAperture), Self.settings(width: -1),
    ]
    let count = try Self.compare(Self.location(path), allSettings, times, source.name)
    #expect(count >= 20, "\(source.name)")
  }

  @Test func workerMakesTheSameImagesOfMemorySourcesAndServers() throws {
    let (folder, server) = (try TemporaryFolder(), try HTTPServer())
    let bytes = try readFile(try Self.film.make(in: folder))
    try server.write(bytes, to: "film.mp4")
    let locations: [(String, AssetLocation)] = [
      ("memory", .data(bytes)), ("source", .source(name: "film.mp4") { () throws(MediaError) in ClosableBytes(bytes) }),
      ("server", .url(try HTTPURL("\(server.address)/film.mp4"), HTTPOptions())),
    ]
    let times = [150, 0, 77].map(Self.time)
    for (name, location) in locations {
      #expect(try Self.compare(location, [Self.settings(), Self.settings(exact: false)], times, name) == 6)
    }
  }

  @Test func imagesAreCroppedToTheCleanAperture() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture(
      "clap.mov", source: VideoFixture.pattern("64x48"), ["-c:v", "rawvideo", "-pix_fmt", "uyvy422"]
    ).make(in: folder)
    var bytes = try readFile(path)
    let box = try #require(bytes.firstRange(of: Array("clap".utf8))).upperBound
    // 32 x 24, shifted by four to the right and two up.
    let numbers: [Int32] = [32, 1, 24, 1, 4, 1, -2, 1]
    bytes.replaceSubrange(
      box..<box + 32,
      with: numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * Int32($0))) } })
    let cropped = try folder.write(bytes, as: "cropped.mov")
    let generator = AssetImageGenerator(asset: Asset(location: Self.location(cropped), isolation: .none))
    let image = try generator.image(at: .zero).image
    #expect(image.width == 32 && image.height == 24)
    let allSettings = [ImageSettings.ApertureMode.cleanAperture, .productionAperture, .encodedPixels].flatMap { mode in
      [Self.settings(mode: mode), Self.settings(width: 15, mode: mode)]
    }
    #expect(try Self.compare(Self.location(cropped), allSettings, [.zero, Self.time(150)], "cropped") == 12)
  }

  @Test func workerMakesTheSameImagesOfDamagedVideo() throws {
    let folder = try TemporaryFolder()
    var bytes = try readFile(try VideoFixture("part2.avi", ["-c:v", "mpeg4", "-g", "12"]).make(in: folder))
    for index in bytes.count / 3..<bytes.count / 3 + 2_000 { bytes[index] = UInt8(truncatingIfNeeded: index * 7) }
    let times = stride(from: 0, to: 200, by: 20).map(Self.time)
    try Self.compare(.data(bytes), [Self.settings()], times, "damaged")
    try Self.compare(.data(Array(bytes.prefix(bytes.count / 2))), [Self.settings()], times, "truncated")
  }

  @Test func inputWithoutReadableVideoHasTheSameErrors() throws {
    let folder = try TemporaryFolder()
    let audio = folder.file("audio.flac")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=1", audio)
    let text = try folder.write(Array("no media".utf8), as: "text.mp4")
    for (path, workerCount) in [(audio, 1), (text, 1), (folder.file("missing.mp4"), 0)] {
      let times = [MediaTime.zero, Self.time(50)]
      #expect(try Self.compare(Self.location(path), [Self.settings()], times, path, workerCount: workerCount) == 0)
    }
  }

  @Test func imagesOfACompositionAreMadeInWorkers() throws {
    let folder = try TemporaryFolder()
    let paths = [
      try Self.film.make(in: folder),
      try VideoFixture("other.mkv", source: VideoFixture.pattern("64x48"), ["-c:v", "ffv1"]).make(in: folder),
    ]
    let pool = try WorkerPool.make()
    func generator(_ isolation: Asset.Isolation) throws -> AssetImageGenerator {
      var composition = Composition()
      for (index, path) in paths.enumerated() {
        let asset = Asset(location: Self.location(path), isolation: isolation)
        try composition.insertTimeRange(
          TimeRange(start: Self.time(50), end: Self.time(150)), of: asset, at: Self.time(100 * Int64(index)))
      }
      return AssetImageGenerator(
        asset: Asset(location: .composition(composition), isolation: isolation), pool: pool)
    }
    let generators = [try generator(.none), try generator(.opening)]
    for time in [0, 99, 100, 20, 199].map(Self.time) {
      let outcomes = generators.map { Outcome($0, time, Self.settings()) }
      let isSame = outcomes[0] == outcomes[1]
      #expect(isSame && outcomes[0].error == nil, "\(time.decimalDescription): \(outcomes)")
    }
    #expect(pool.statistics.leaseCount == 4 && pool.statistics.crashCount == 0)
  }

  // MARK: - Large images

  @Test func aLargerWorkerMakesImagesOf8KVideo() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture(
      "film.mov", source: ["-f", "lavfi", "-i", "testsrc2=size=7680x4320:rate=25", "-frames:v", "2"],
      ["-c:v", "mjpeg", "-q:v", "5", "-pix_fmt", "yuvj420p"]
    ).make(in: folder)
    let allSettings = [Self.settings(), Self.settings(width: 320)]
    #expect(try Self.compare(Self.location(path), allSettings, [Self.time(4), .zero], "8K", workerCount: 2) == 4)
  }

  @Test func anImageAboveTheLimitIsAnErrorAndTheNextImageWorks() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture(
      "giant.mov", source: ["-f", "lavfi", "-i", "testsrc2=size=8192x4360:rate=25", "-frames:v", "1"],
      ["-c:v", "mjpeg", "-q:v", "5", "-pix_fmt", "yuvj420p"]
    ).make(in: folder)
    let generator = AssetImageGenerator(asset: Asset(location: Self.location(path), isolation: .opening))
    let error = #expect(throws: MediaError.self) { _ = try generator.image(at: .zero) }
    #expect(error?.code == .mediaLimitExceeded && error?.message.contains("at most 35651584 pixels") == true)
    generator.maximumSize = .init(width: 640, height: 0)
    #expect(try generator.image(at: .zero).image.width == 640)
  }

  // MARK: - Crashes

  @Test func aCrashIsAnErrorOfTheRequestAndTheNextRequestStartsAWorker() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    let pool = try WorkerPool.make()
    let generator = AssetImageGenerator(asset: Asset(location: Self.location(path), isolation: .opening), pool: pool)
    for crashCount in 1...2 {
      let image = try generator.image(at: Self.time(50)).image
      let processes = WorkerProcesses.having(path)
      #expect(processes.count == 1)
      for process in processes { kill(process, SIGSEGV) }
      let error = #expect(throws: MediaError.self) { _ = try generator.image(at: Self.time(150)) }
      #expect(error?.code == .damagedFile && error?.underlying == "SIGSEGV")
      #expect(try generator.image(at: Self.time(50)).image == image)
      #expect(pool.statistics.crashCount == crashCount && pool.statistics.startedCount == crashCount + 1)
    }
  }

  @Test func releasedGeneratorReturnsItsWorker() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    let pool = try WorkerPool.make()
    for _ in 0..<3 {
      let generator = AssetImageGenerator(asset: Asset(location: Self.location(path), isolation: .opening), pool: pool)
      for value in 0..<100 { _ = try generator.image(at: Self.time(Int64(value))) }
      #expect(pool.statistics.busyCount == 1)
    }
    while pool.statistics.busyCount > 0 { sched_yield() }
    let statistics = pool.statistics
    // A generator may start before the previous one has returned its worker.
    #expect(statistics.leaseCount == 3 && statistics.idleCount == statistics.startedCount)
    #expect(WorkerProcesses.having(path) == [])
  }

  // MARK: - Cancellation

  @Test func cancellationInterruptsTheWorkerAndLaterRequestsUseItAgain() throws {
    let folder = try TemporaryFolder()
    let file = try VideoFixture(
      "long.avi", source: VideoFixture.pattern("640x480", seconds: "4"), ["-c:v", "mjpeg", "-q:v", "2"]
    ).make(in: folder)
    let (bytes, pool) = (ClosableBytes(try readFile(file)), try WorkerPool.make())
    let asset = Asset(location: .source(name: "long.avi") { () throws(MediaError) in bytes }, isolation: .opening)
    let generator = AssetImageGenerator(asset: asset, pool: pool)
    generator.imageSettings = Self.settings()
    let first = try generator.image(at: .zero).image
    for _ in 0..<2 {
      bytes.close()
      let outcomes = ConditionMutex<[String]>([])
      generator.generateImagesAsynchronously(forTimes: [Self.time(300), Self.time(100)]) { _, outcome in
        let name = if case .cancelled = outcome { "cancelled" } else { "\(outcome)" }
        outcomes.update { $0.append(name) }
      }
      bytes.waitUntilBlocked()
      generator.cancelAllImageGeneration()
      #expect(outcomes.wait { $0.count == 2 ? $0 : nil } == ["cancelled", "cancelled"])
      bytes.open()
      #expect(try generator.image(at: .zero).image == first)
    }
    // The function ended in time, so the worker was not killed.
    #expect(pool.statistics.startedCount == 1 && pool.statistics.crashCount == 0)
  }

  // MARK: - Lying workers

  @Test(
    "claims of a worker are checked, and its crash is an error of the file",
    arguments: [
      "crash-open", "crash-frame", "crash-image", "claims-rotation", "claims-aperture", "claims-rate", "claims-large",
      "claims-width", "claims-height", "claims-pixels", "claims-ratio", "claims-color", "claims-time", "claims-epoch",
      "claims-duration", "no-frame", "wrong-outcome", "no-bytes", "short-chunk", "long-chunk", "endless-chunk",
      "negative-chunk", "fails", "honest",
    ]) func claimsOfAWorkerAreChecked(_ name: String) throws
  {
    let folder = try TemporaryFolder()
    let path = try folder.write(Array("some bytes".utf8), as: name)
    let pool = try WorkerPool.makeLying()
    do {
      let asset = Asset(location: Self.location(path), isolation: .opening)
      let generator = AssetImageGenerator(asset: asset, pool: pool)
      for _ in 0..<2 {
        let outcome = Outcome(generator, .zero, Self.settings())
        print("isolated generator | \(name): \(outcome)")
        switch name {
        case "honest":
          #expect(outcome.image?.width == 4 && outcome.image?.height == 2 && outcome.image?.data.count == 32)
        case "fails": #expect(outcome.error?.code == .decodeFailed && outcome.error?.message == "no image")
        default: #expect(outcome.error?.code == .damagedFile)
        }
      }
    }
    while pool.statistics.busyCount > 0 { sched_yield() }
    #expect(pool.statistics.crashCount == (name.hasPrefix("crash") ? 2 : 0))
    let isValid = ["honest", "fails"].contains(name)
    if isValid { #expect(pool.statistics.leaseCount == 1) }
    // No other file is read with a worker that has lied. Only the second worker of a large video must not claim that it
    // needs more memory.
    #expect(pool.statistics.idleCount == (isValid || name == "claims-large" ? 1 : 0))
  }

  @Test("a frame that is converted for a track output is checked, too") func claimsAboutTrackFramesAreChecked() throws {
    let folder = try TemporaryFolder()
    for name in ["crash-image", "claims-width", "short-chunk", "fails", "honest"] {
      let path = try folder.write(Array("some bytes".utf8), as: name)
      let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
      let reader = try IsolatedVideoReader(try WorkerPool.makeLying(), source: source, displayName: path, trackID: nil)
      let track = try VideoTrackSource(reader, VideoReadSettings(.bgra))
      let code = errorCode {
        try track.start(TimeRange(start: .zero, duration: .positiveInfinity))
        #expect(try track.read()?.data.count == 32)
      }
      print("isolated generator | track of \(name): \(code)")
      #expect((code == 0) == (name == "honest"))
    }
  }
}
