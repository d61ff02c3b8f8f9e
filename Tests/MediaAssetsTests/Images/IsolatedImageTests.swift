import Foundation
import Glibc
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadRealtimeAudio
import PlayheadWholeFiles
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Images from a worker process equal those of this process.
@Suite(.timeLimit(.minutes(10))) struct IsolatedImageTests {
  private static let x264 = VideoFixture.x264
  private static let film = VideoFixture.film
  /// Noise does not compress: the file of one image is longer than a chunk.
  private static let noise = VideoFixture(
    "noise.avi", source: ["-f", "lavfi", "-i", "color=gray:size=1600x900:rate=4:duration=1,noise=alls=100:allf=t"],
    ["-c:v", "mjpeg", "-q:v", "1", "-pix_fmt", "yuvj420p"])

  private static func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 100) }

  private static func location(_ path: String) -> AssetLocation { .path(Array(path.utf8)) }

  private static func settings(
    exact: Bool = true, width: Int? = nil, isUpright: Bool = false, mode: ImageSettings.ApertureMode = .cleanAperture
  ) -> ImageSettings {
    var settings = ImageSettings()
    if exact { (settings.toleranceBefore, settings.toleranceAfter) = (.zero, .zero) }
    (settings.maximumWidth, settings.appliesPreferredTrackTransform) = (width, isUpright)
    settings.apertureMode = mode
    return settings
  }

  private static func maker(
    _ location: AssetLocation, _ isolation: Asset.Isolation, _ task: ImageTask
  ) throws -> any ImageMaker {
    let asset = Asset(location: location, isolation: isolation)
    _ = try asset.load()
    let maker = try ImageMakers.open(asset, task, interrupt: Interrupt())
    #expect((maker is IsolatedImageMaker) == (isolation != .none))
    return maker
  }

  private static func file(_ maker: any ImageMaker) throws -> (bytes: [UInt8], chunkCount: Int) {
    var (bytes, count) = ([UInt8](), 0)
    while let chunk = try maker.nextBytes() {
      bytes += chunk
      count += 1
      if maker is IsolatedImageMaker { #expect(chunk.count <= 1 << 20) }
    }
    return (bytes, count)
  }

  /// The result of a call: the image's description and its file, or the error.
  private struct Outcome: Equatable, CustomStringConvertible {
    var image: [Int64] = []
    var actualTime = MediaTime.invalid
    var bytes: [UInt8] = []
    var error: MediaError?

    init(_ maker: any ImageMaker, _ body: (any ImageMaker) throws -> ImageDescription) throws {
      do {
        let made = try body(maker)
        image = [Int64(made.width), Int64(made.height), Int64(made.byteCount)]
        actualTime = made.actualTime
        bytes = try file(maker).bytes
        #expect(bytes.count == made.byteCount)
      } catch let error as MediaError { self.error = error }
    }

    var description: String { "\(image) \(actualTime.decimalDescription) \(bytes.count) \(error?.code.name ?? "")" }
  }

  /// Checks that a worker makes the same images as this process. Returns the times of images without an error.
  @discardableResult
  private static func compare(
    _ location: AssetLocation, _ task: ImageTask, _ times: [MediaTime], _ name: String, isDamaged: Bool = false
  ) throws -> [MediaTime] {
    let makers = try [Asset.Isolation.none, .opening].map { try maker(location, $0, task) }
    #expect(makers[0].timeRange == makers[1].timeRange, "\(name)")
    var actualTimes: [MediaTime] = []
    for wanted in times {
      let outcomes = try makers.map { maker in try Outcome(maker) { try $0.makeImage(at: wanted) } }
      #expect(outcomes[0] == outcomes[1], "\(name) \(wanted.decimalDescription)")
      if outcomes[0].error == nil { actualTimes.append(outcomes[0].actualTime) }
    }
    let faults = try makers.map { try $0.popFault() }
    #expect(faults[0] == faults[1], "\(name)")
    #expect((faults[0] != nil) == isDamaged, "\(name)")
    return actualTimes
  }

  // MARK: - The same images

  static let sources = VideoFixture.samples

  @Test(arguments: sources) func workerMakesTheSameImagesFromFilesMemoryAndSources(_ source: VideoFixture) throws {
    let folder = try TemporaryFolder()
    let path = try source.make(in: folder)
    let bytes = try readFile(path)
    let locations: [(String, AssetLocation)] = [
      ("file", Self.location(path)), ("memory", .data(bytes)),
      ("source", .source(name: path) { () throws(MediaError) in ClosableBytes(bytes) }),
    ]
    let times = [150, 0, 1, 77, 199, 100, 900, -1].map(Self.time) + [.invalid]
    let tasks: [ImageTask] = [
      ImageTask(settings: Self.settings(), format: .png),
      ImageTask(settings: Self.settings(exact: false), format: .png),
      ImageTask(settings: Self.settings(width: 40, isUpright: true), format: .jpeg(quality: 50)),
      ImageTask(settings: Self.settings(isUpright: true, mode: .encodedPixels), format: .jpeg()),
    ]
    for (name, location) in locations {
      for task in name == "file" ? tasks : [tasks[1]] {
        let actual = try Self.compare(location, task, times, "\(source.name) \(name)")
        #expect(actual.count >= 4, "\(source.name) \(name)")
      }
    }
  }

  @Test func workerAppliesTheSameTolerances() throws {
    let folder = try TemporaryFolder()
    let location = Self.location(try Self.film.make(in: folder))
    let rows: [(before: MediaTime, after: MediaTime, actual: Int64)] = [
      (.positiveInfinity, .positiveInfinity, 144), (.positiveInfinity, .zero, 96), (Self.time(10), .zero, 128),
      (.zero, Self.time(20), 144), (.zero, .zero, 128),
    ]
    for row in rows {
      var settings = ImageSettings()
      (settings.toleranceBefore, settings.toleranceAfter) = (row.before, row.after)
      let task = ImageTask(settings: settings, format: .png)
      #expect(try Self.compare(location, task, [Self.time(130)], "\(row)") == [Self.time(row.actual)])
    }
  }

  @Test func serverFileHasTheSameImagesAndAStreamHasNone() throws {
    let (server, folder) = (try HTTPServer(), try TemporaryFolder())
    let path = try Self.film.make(in: folder)
    try server.write(try readFile(path), to: "film.mp4")
    try Tool.ffmpeg(
      "-i", path, "-f", "lavfi", "-i", "sine=duration=2", "-c:v", "copy", "-c:a", "aac", "-f", "hls",
      "-hls_playlist_type",
      "vod", server.files.file("film.m3u8"))
    func location(_ name: String) throws -> AssetLocation {
      .url(try HTTPURL("\(server.address)/\(name)"), HTTPOptions())
    }
    let task = ImageTask(settings: Self.settings(), format: .png)
    #expect(try Self.compare(try location("film.mp4"), task, [Self.time(150), .zero], "server").count == 2)
    let errors = try [Asset.Isolation.none, .opening].map { isolation in
      let location = try location("film.m3u8")
      return #expect(throws: MediaError.self) { try Self.maker(location, isolation, task) }
    }
    #expect(errors[0] == errors[1] && errors[0]?.code == .unsupportedLocation)
  }

  @Test func imagesOfACompositionAreEncodedInThisProcess() throws {
    let folder = try TemporaryFolder()
    let asset = Asset(location: Self.location(try Self.film.make(in: folder)), isolation: .opening)
    var composition = Composition()
    try composition.insertTimeRange(TimeRange(start: Self.time(50), end: Self.time(150)), of: asset, at: .zero)
    let task = ImageTask(settings: Self.settings(), format: .png)
    let together = try ImageMakers.open(
      Asset(location: .composition(composition), isolation: .opening), task, interrupt: Interrupt())
    #expect(together is LocalImageMaker)
    _ = try together.makeImage(at: Self.time(50))
    let alone = try Self.maker(asset.location, .opening, task)
    _ = try alone.makeImage(at: Self.time(100))
    #expect(try Self.file(together).bytes == Self.file(alone).bytes)
  }

  @Test func damagedVideoReportsTheSameFault() throws {
    let folder = try TemporaryFolder()
    var bytes = try readFile(try VideoFixture("part2.avi", ["-c:v", "mpeg4", "-g", "12"]).make(in: folder))
    for index in bytes.count / 3..<bytes.count / 3 + 2_000 { bytes[index] = UInt8(truncatingIfNeeded: index * 7) }
    let task = ImageTask(settings: Self.settings(), format: .png)
    try Self.compare(.data(bytes), task, stride(from: 0, to: 200, by: 20).map(Self.time), "damaged", isDamaged: true)
  }

  @Test func largeImageFileArrivesInChunks() throws {
    let folder = try TemporaryFolder()
    let task = ImageTask(settings: Self.settings(), format: .png)
    let maker = try Self.maker(Self.location(try Self.noise.make(in: folder)), .opening, task)
    let made = try maker.makeImage(at: .zero)
    let (bytes, chunkCount) = try Self.file(maker)
    print("isolated image | \(made.byteCount) bytes in \(chunkCount) chunks")
    #expect(bytes.count == made.byteCount && chunkCount == (made.byteCount + (1 << 20) - 1) >> 20 && chunkCount > 1)
    #expect(try maker.nextBytes() == nil)
    // The next image replaces a file that was not read.
    _ = try maker.makeImage(at: Self.time(50))
    let other = try maker.makeImage(at: .zero)
    #expect(other.byteCount == made.byteCount)
    #expect(try Self.file(maker).bytes == bytes)
  }

  @Test func exportsWriteTheSameFilesWithEveryIsolation() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    var sheet = ContactSheet(columns: 3, rows: 2)
    (sheet.gap, sheet.background) = (7, .init(red: 1, green: 200, blue: 30))
    for format in [ImageFileFormat.png, .jpeg(quality: 70)] {
      var files: [[[UInt8]]] = []
      var results: [ImageExport.Result] = []
      for isolation in [Asset.Isolation.none, .opening, .playback] {
        let asset = Asset(location: Self.location(path), isolation: isolation)
        let names = (0..<4).map { folder.file("\(isolation)-\($0)") }
        let images = ImageExport.Request.Content.images(
          [(Self.time(10), Self.file(names[0])), (Self.time(133), Self.file(names[1]))])
        let settings = Self.settings(width: 88)
        results.append(try Self.export(asset, .init(images, settings: settings, format: format)))
        for (times, name) in [([], names[2]), ([Self.time(50), Self.time(7)], names[3])] {
          let content = ImageExport.Request.Content.sheet(sheet, times: times, file: Self.file(name))
          results.append(try Self.export(asset, .init(content, settings: settings, format: format)))
        }
        files.append(try names.map(readFile))
        for name in names { unlink(name) }
      }
      #expect(files[0] == files[1] && files[0] == files[2])
      for index in 3..<9 {
        let (one, other) = (results[index % 3], results[index])
        #expect(one.images == other.images && one.width == other.width && one.height == other.height)
        #expect(one.fault == other.fault)
      }
      #expect(results.map(\.images.count) == [2, 6, 2, 2, 6, 2, 2, 6, 2])
    }
  }

  // MARK: - Errors

  @Test func failedExportsReportTheSameErrorsAndLeaveNoFile() throws {
    let folder = try TemporaryFolder()
    let film = try Self.film.make(in: folder)
    let (audio, text) = (folder.file("a.wav"), try folder.write(Array("no media".utf8), as: "a.mp4"))
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=1", audio)
    var (late, small) = (ImageSettings(), ImageSettings())
    (late.toleranceBefore, small.maximumHeight) = (Self.time(-1), -1)
    let rows: [(path: String, time: Int64, settings: ImageSettings, format: ImageFileFormat, code: Int)] = [
      (audio, 0, Self.settings(), .png, 3003), (text, 0, Self.settings(), .png, 3002),
      (film, 900, Self.settings(), .png, 1002), (film, 0, late, .png, 1002), (film, 0, small, .png, 1001),
      (film, 0, Self.settings(), .jpeg(quality: 0), 1001), (folder.file("none.mp4"), 0, Self.settings(), .png, 2001),
    ]
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for row in rows {
      let errors = [Asset.Isolation.none, .opening].map { isolation in
        let content = ImageExport.Request.Content.images(
          [(Self.time(0), Self.file(folder.file("1"))), (Self.time(row.time), Self.file(folder.file("2")))])
        return #expect(throws: MediaError.self) {
          _ = try Self.export(
            Asset(location: Self.location(row.path), isolation: isolation),
            .init(content, settings: row.settings, format: row.format))
        }
      }
      #expect(errors[0] == errors[1], "\(row)")
      #expect(errors[0]?.code.rawValue == row.code, "\(row)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }
  }

  @Test func missingTrackReportsNoSuchTrack() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    for isolation in [Asset.Isolation.none, .opening] {
      let task = ImageTask(trackID: 5, settings: ImageSettings(), format: .png)
      expectError(.noSuchTrack) { try Self.maker(Self.location(path), isolation, task) }
    }
  }

  @Test("an image that needs more memory than a worker has is an error, and the next image works")
  func imageTooLargeForAWorkerIsAnErrorAndTheNextWorks() throws {
    let folder = try TemporaryFolder()
    let giant = folder.file("giant.mp4")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "color=red:size=8192x8192:rate=1:duration=2", "-c:v", "libx264", "-preset", "ultrafast",
      "-pix_fmt", "yuv420p", giant)
    func export(_ path: String, _ content: ImageExport.Request.Content, width: Int?) throws -> ImageExport.Result {
      try Self.export(
        Asset(location: Self.location(path), isolation: .opening),
        .init(content, settings: Self.settings(width: width)))
    }
    let (one, sheet) = (folder.file("1"), folder.file("s"))
    let error = #expect(throws: MediaError.self) {
      _ = try export(giant, .images([(.zero, Self.file(one))]), width: nil)
    }
    #expect(
      error?.code == .mediaLimitExceeded && error?.message.contains("at most 35651584 pixels (got 67108864") == true)
    expectError(.mediaLimitExceeded) {
      let content = ImageExport.Request.Content.sheet(
        ContactSheet(columns: 4, rows: 4), times: [.zero], file: Self.file(sheet))
      _ = try export(giant, content, width: 2_000)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["giant.mp4"])
    // The decoded video frames fit, and the image is small.
    #expect(try export(giant, .images([(.zero, Self.file(one))]), width: 320).width == 320)
  }

  @Test("a worker that crashes is an error, and the next image works", arguments: ["open", "second"])
  func workerCrashIsAnErrorAndTheNextExportWorks(_ moment: String) throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    let content = ImageExport.Request.Content.images(
      (0..<3).map { (Self.time(60 * $0), Self.file(folder.file("\($0)"))) })
    let asset = Asset(location: Self.location(path), isolation: .opening)
    let (completion, killed) = (ConditionMutex<Result<ImageExport.Result, MediaError>?>(nil), ConditionMutex(0))
    ImageExport(asset, .init(content)).start { done in
      guard let done, (moment == "open") == (done == 0), done < 0.5 else { return }
      for worker in WorkerProcesses.having(path) {
        kill(worker, SIGSEGV)
        killed.update { $0 += 1 }
      }
    } completion: { result in
      completion.update { $0 = result }
    }
    let error = #expect(throws: MediaError.self) { try #require(completion.wait { $0 }).get() }
    #expect(killed.withState { $0 } == 1)
    #expect(error?.code == .damagedFile && error?.underlying == "SIGSEGV")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.mp4"])
    #expect(try Self.export(asset, .init(content)).images.count == 3)
  }

  // MARK: - Cancellation

  private static func longFilm(in folder: TemporaryFolder) throws -> [UInt8] {
    try readFile(
      try VideoFixture(
        "long.avi", source: VideoFixture.pattern("640x480", seconds: "4"), ["-c:v", "mjpeg", "-q:v", "2"]
      ).make(in: folder))
  }

  @Test func cancellationEndsAnExportThatWaitsForBytes() throws {
    let (folder, out) = (try TemporaryFolder(), try TemporaryFolder())
    let bytes = ClosableBytes(try Self.longFilm(in: folder))
    let asset = Asset(location: .source(name: "long.avi") { () throws(MediaError) in bytes }, isolation: .opening)
    let content = ImageExport.Request.Content.images([(Self.time(300), Self.file(out.file("1")))])
    let export = ImageExport(asset, .init(content, settings: Self.settings()))
    let codes = ConditionMutex<[Int]>([])
    export.start { _ in
      bytes.close()
    } completion: { result in
      let code = errorCode { _ = try result.get() }
      codes.update { $0.append(code) }
    }
    bytes.waitUntilBlocked()
    export.cancel()
    #expect(codes.wait { $0.isEmpty ? nil : $0 } == [6015])
    bytes.waitUntilCancelled()
    #expect(try FileManager.default.contentsOfDirectory(atPath: out.path) == [])
    bytes.open()
    _ = try Self.export(asset, .init(content, settings: Self.settings()))
    #expect(try FileManager.default.contentsOfDirectory(atPath: out.path) == ["1"])
  }

  @Test func cancelledImageIsNotACrashAndItsWorkerIsNotBusy() throws {
    let folder = try TemporaryFolder()
    let pool = try WorkerPool.make()
    let (bytes, interrupt) = (ClosableBytes(try Self.longFilm(in: folder)), Interrupt())
    let source = try FileSource(opened: bytes, hint: "long.avi", interrupt: interrupt)
    let task = ImageTask(settings: Self.settings(), format: .png)
    do {
      let maker = try IsolatedImageMaker(pool, source: source, displayName: "long.avi", task)
      #expect(try maker.makeImage(at: .zero).width == 640)
      #expect(pool.statistics.busyCount == 1)
      bytes.onBlocked { interrupt.cancel() }
      bytes.close()
      expectError(.cancelled) { try maker.makeImage(at: Self.time(300)) }
      expectError(.cancelled) { try maker.makeImage(at: .zero) }
    }
    let statistics = pool.statistics
    #expect(statistics.busyCount == 0 && statistics.crashCount == 0)
  }

  @Test func finishedMakerReturnsItsWorker() throws {
    let folder = try TemporaryFolder()
    let pool = try WorkerPool.make()
    let path = try Self.film.make(in: folder)
    for trackID in [nil, nil, 5, nil] as [Int?] {
      let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
      let task = ImageTask(trackID: trackID, settings: ImageSettings(), format: .png)
      let maker = try? IsolatedImageMaker(pool, source: source, displayName: path, task)
      #expect((maker == nil) == (trackID == 5))
    }
    let statistics = pool.statistics
    #expect(statistics.busyCount == 0 && statistics.idleCount == 1 && statistics.startedCount == 1)
    #expect(WorkerProcesses.having(path) == [])
  }

  // MARK: - Messages

  @Test func tasksAreUnchangedByEncodingAndDecoding() throws {
    var sheet = ContactSheet(columns: 3, rows: 9)
    sheet.background = .init(red: 1, green: 2, blue: 3)
    let formats = [ImageFileFormat.png, .jpeg(), .jpeg(quality: 3)]
    for (format, sheet) in zip(formats, [nil, sheet, nil] as [ContactSheet?]) {
      let task = ImageTask(
        trackID: 7, settings: Self.settings(width: 5, mode: .encodedPixels), format: format, sheet: sheet)
      let other = try MessageDecoder.value(ImageTask.self, from: MessageEncoder.bytes(of: task))
      #expect(other.trackID == 7 && other.settings == task.settings && other.format == format && other.sheet == sheet)
    }
  }

  // MARK: - Exports

  private static func export(_ asset: Asset, _ request: ImageExport.Request) throws -> ImageExport.Result {
    let completion = ConditionMutex<Result<ImageExport.Result, MediaError>?>(nil)
    ImageExport(asset, request).start { result in completion.update { $0 = result } }
    return try #require(completion.wait { $0 }).get()
  }

  private static func file(_ path: String) -> WholeFile { WholeFile(path: Array(path.utf8), replaces: false, hint: "") }
}
