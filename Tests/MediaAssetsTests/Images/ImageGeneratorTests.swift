import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadWholeFiles
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Images at times, and their actual times.
@Suite struct ImageGeneratorTests {
  private static let x264 = [
    "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "12", "-keyint_min", "12", "-sc_threshold", "0",
    "-pix_fmt",
    "yuv420p",
  ]
  private static let film = VideoFixture("film.mp4", x264)

  private static func time(_ value: Int64, _ timescale: Int32 = 100) -> MediaTime {
    MediaTime(value: value, timescale: timescale)
  }

  private static func exact(_ path: String) -> AssetImageGenerator {
    let generator = AssetImageGenerator(asset: Asset(path: path))
    (generator.requestedTimeToleranceBefore, generator.requestedTimeToleranceAfter) = (.zero, .zero)
    return generator
  }

  // MARK: - Times

  static let sources = [
    film, VideoFixture("film.mkv", x264), VideoFixture("film.ts", x264),
    VideoFixture("film.webm", ["-c:v", "libvpx", "-g", "12"]),
    VideoFixture("ntsc.mov", source: VideoFixture.pattern(rate: "30000/1001"), x264),
    VideoFixture("uneven.mp4", source: VideoFixture.pattern() + ["-vf", "select='mod(n,3)'", "-vsync", "vfr"], x264),
    VideoFixture("part2.avi", ["-c:v", "mpeg4", "-g", "12"]),
  ]

  @Test(arguments: sources) func exactTimeReturnsTheVideoFrameThatCoversIt(_ source: VideoFixture) throws {
    let folder = try TemporaryFolder()
    let path = try source.make(in: folder)
    let (ticks, base) = try Tool.frameTicks(path, in: folder)
    let origin = try Asset(path: path).load().timelineOrigin
    let times = ticks.map { MediaTime(value: $0 * base.0, timescale: Int32(base.1)) - origin }
    let generator = Self.exact(path)
    generator.maximumSize = .init(width: 32, height: 32)
    let all = try readVideo(path, VideoReadSettings(.bgra)).buffers
    for wanted in [
      Self.time(150), .zero, Self.time(1), Self.time(77), Self.time(778, 1_000), Self.time(199), times[20],
      Self.time(100),
    ] {
      let (image, actual) = try generator.image(at: wanted)
      let expected = times.last { $0 <= wanted } ?? times[0]
      print("\(source.name): \(wanted.decimalDescription): \(actual.decimalDescription)")
      #expect(actual == expected, "\(source.name): \(wanted)")
      #expect(image.width == 32 && image.height == 26)
      #expect(all.contains { $0.presentationTime == actual })
    }
    // With unlimited size, the image is the video frame.
    generator.maximumSize = .init(width: 0, height: 0)
    let (image, actual) = try generator.image(at: Self.time(113))
    #expect(image == all.first { $0.presentationTime == actual }?.pixels)
  }

  @Test func toleranceAllowsAKeyFrame() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    // Key frames are at 0, 0.48, 0.96, 1.44 and 1.92.
    let rows: [(wanted: Int64, before: MediaTime, after: MediaTime, actual: Int64)] = [
      (100, .positiveInfinity, .positiveInfinity, 96), (130, .positiveInfinity, .positiveInfinity, 144),
      (130, .positiveInfinity, .zero, 96), (130, Self.time(10), .zero, 128), (130, .zero, Self.time(20), 144),
      (130, .zero, .zero, 128), (500, .positiveInfinity, .zero, 192), (10, .positiveInfinity, .positiveInfinity, 0),
    ]
    let asset = Asset(path: path)
    for row in rows {
      let generator = AssetImageGenerator(asset: asset)
      (generator.requestedTimeToleranceBefore, generator.requestedTimeToleranceAfter) = (row.before, row.after)
      let actual = try generator.image(at: Self.time(row.wanted)).actualTime
      print("\(row): \(actual.decimalDescription)")
      #expect(actual == Self.time(row.actual), "\(row)")
    }
  }

  @Test func timesOutsideTheVideoAreRejected() throws {
    let folder = try TemporaryFolder()
    let generator = Self.exact(try Self.film.make(in: folder))
    #expect(try generator.image(at: Self.time(200)).actualTime == Self.time(196), "the end is the last video frame")
    for wanted in [Self.time(201), Self.time(9_999_999), Self.time(-1), .invalid, .indefinite, .positiveInfinity] {
      expectError(.invalidTime, "\(wanted)") { try generator.image(at: wanted) }
    }
    generator.requestedTimeToleranceBefore = Self.time(-1)
    expectError(.invalidTime) { try generator.image(at: .zero) }
    generator.requestedTimeToleranceBefore = .zero
    generator.maximumSize = .init(width: -1, height: 0)
    expectError(.invalidArgument) { try generator.image(at: .zero) }
  }

  // MARK: - Shapes

  @Test(arguments: [0, 90, 180, 270]) func imagesAreRotatedByTheTrackTransform(_ degrees: Int) throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture(
      "turned.mp4", source: VideoFixture.pattern("64x48", seconds: "0.2"),
      ["-c:v", "libx264", "-qp", "0", "-pix_fmt", "yuv444p"], rotationDegrees: degrees
    ).make(in: folder)
    let generator = Self.exact(path)
    let plain = try generator.image(at: .zero).image
    #expect(plain.width == 64 && plain.height == 48)
    generator.appliesPreferredTrackTransform = true
    let turned = try generator.image(at: .zero).image
    // As rotated by FFmpeg's program.
    let raw = folder.file("turned.raw")
    try Tool.ffmpeg(
      "-i", path, "-frames:v", "1", "-sws_flags", "bicubic+accurate_rnd+full_chroma_int+full_chroma_inp", "-pix_fmt",
      "bgra", "-f", "rawvideo", raw)
    #expect(turned.width == (degrees % 180 == 0 ? 64 : 48))
    #expect(turned.data == (try readFile(raw)))
    generator.maximumSize = .init(width: 24, height: 0)
    let small = try generator.image(at: .zero).image
    #expect(small.width == 24 && small.height == (degrees % 180 == 0 ? 18 : 32))
  }

  @Test func imagesHaveSquarePixelsAndAreNeverEnlarged() throws {
    let video = FormatDescription.Video(width: 180, height: 144)
    var clean = video
    clean.cleanAperture = .init(width: 170, height: 140, horizontalOffset: 5, verticalOffset: -9)
    let rows: [(FormatDescription.Video, ImageSettings.ApertureMode, Int?, Int?, x: Int, y: Int, w: Int, h: Int)] = [
      (video, .cleanAperture, nil, nil, 0, 0, 240, 144), (video, .encodedPixels, nil, nil, 0, 0, 180, 144),
      (video, .cleanAperture, 120, nil, 0, 0, 120, 72), (video, .cleanAperture, 120, 36, 0, 0, 60, 36),
      (video, .cleanAperture, 1_000, 1_000, 0, 0, 240, 144), (video, .cleanAperture, nil, 1, 0, 0, 2, 1),
      (clean, .cleanAperture, nil, nil, 10, 0, 227, 140), (clean, .productionAperture, nil, nil, 0, 0, 240, 144),
    ]
    for row in rows {
      var settings = ImageSettings()
      (settings.apertureMode, settings.maximumWidth, settings.maximumHeight) = (row.1, row.2, row.3)
      let plan = ImageRenderer.plan(
        width: 180, height: 144, pixelAspectRatio: .init(horizontal: 4, vertical: 3), format: row.0,
        settings: settings)
      print("\(row.1) \(row.2 ?? 0)x\(row.3 ?? 0): \(plan)")
      #expect(plan.x == row.x && plan.y == row.y && plan.scaledWidth == row.w && plan.scaledHeight == row.h, "\(row)")
    }
  }

  @Test func imagesAreCroppedToTheCleanAperture() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture(
      "clap.mov", source: VideoFixture.pattern("64x48", seconds: "0.2"), ["-c:v", "rawvideo", "-pix_fmt", "uyvy422"]
    ).make(in: folder)
    var bytes = try readFile(path)
    let offset = try #require(bytes.indices.dropLast(36).first { bytes[$0...].starts(with: Array("clap".utf8)) })
    // 32 x 24, shifted by four to the right and two up.
    let numbers: [Int32] = [32, 1, 24, 1, 4, 1, -2, 1]
    for (index, number) in numbers.enumerated() {
      for byte in 0..<4 {
        bytes[offset + 4 + 4 * index + byte] = UInt8(truncatingIfNeeded: number >> (24 - 8 * Int32(byte)))
      }
    }
    let generator = Self.exact(try folder.write(bytes, as: "cut.mov"))
    let cut = try generator.image(at: .zero).image
    #expect(cut.width == 32 && cut.height == 24)
    generator.apertureMode = .productionAperture
    let whole = try generator.image(at: .zero).image
    #expect(whole.width == 64 && whole.height == 48)
    #expect(cut == whole.cropped(x: 20, y: 10, width: 32, height: 24))
  }

  @Test func cropsAndQuarterTurnsMoveEveryPixel() throws {
    // The blue value identifies the pixel.
    let image = try PixelBuffer(.bgra, width: 3, height: 2, data: (0..<6).flatMap { [UInt8($0), 1, 2, 255] })
    func blues(_ image: PixelBuffer) -> [[UInt8]] {
      (0..<image.height).map { row in (0..<image.width).map { image.data[4 * (row * image.width + $0)] } }
    }
    #expect(blues(image) == [[0, 1, 2], [3, 4, 5]])
    #expect(blues(image.rotated(quarterTurns: 1)) == [[3, 0], [4, 1], [5, 2]])
    #expect(blues(image.rotated(quarterTurns: 2)) == [[5, 4, 3], [2, 1, 0]])
    #expect(blues(image.rotated(quarterTurns: 3)) == [[2, 5], [1, 4], [0, 3]])
    #expect(
      image.rotated(quarterTurns: 4) == image && image.rotated(quarterTurns: -1) == image.rotated(quarterTurns: 3))
    #expect(blues(image.cropped(x: 1, y: 1, width: 2, height: 1)) == [[4, 5]])
  }

  // MARK: - Requests

  private final class OutcomeLog: Sendable {
    let all = ConditionMutex<[(MediaTime, String)]>([])

    func record(_ time: MediaTime, _ outcome: AssetImageGenerator.Outcome) {
      let text =
        switch outcome {
        case .succeeded(let image, let actual): "\(actual.decimalDescription) \(image.width)"
        case .failed(let error): error.code.name
        case .cancelled: "cancelled"
        }
      all.update { $0.append((time, text)) }
    }

    func wait(_ count: Int) -> [String] { all.wait { $0.count >= count ? $0.map(\.1) : nil } ?? [] }
  }

  @Test("each time is reported once, even if it is requested twice", .timeLimit(.minutes(2)))
  func everyRequestedTimeIsReportedOnce() throws {
    let folder = try TemporaryFolder()
    let generator = Self.exact(try Self.film.make(in: folder))
    let log = OutcomeLog()
    generator.maximumSize = .init(width: 44, height: 0)
    let times = [Self.time(50), Self.time(50), Self.time(900), .zero, Self.time(50)]
    generator.generateImagesAsynchronously(forTimes: times) { log.record($0, $1) }
    // Does not affect earlier requests.
    generator.maximumSize = .init(width: 22, height: 0)
    generator.generateImagesAsynchronously(forTimes: []) { log.record($0, $1) }
    generator.generateImagesAsynchronously(forTimes: [Self.time(4)]) { log.record($0, $1) }
    #expect(log.wait(6) == ["0.48 44", "0.48 44", "invalid-time", "0 44", "0.48 44", "0.04 22"])
    #expect(log.all.withState { $0.map(\.0) } == times + [Self.time(4)])
    #expect(try generator.image(at: Self.time(8)).actualTime == Self.time(8))
    #expect(log.wait(6).count == 6)
  }

  @Test("each cancelled image is reported once, and later requests are served", .timeLimit(.minutes(2)))
  func cancelledImagesAreReportedOnceAndLaterOnesAreMade() throws {
    let bytes = HangingBytes()
    let generator = AssetImageGenerator(asset: bytes.asset())
    let log = OutcomeLog()
    generator.generateImagesAsynchronously(forTimes: [.zero, .zero, Self.time(1)]) { log.record($0, $1) }
    bytes.waitUntilRead(1)
    generator.cancelAllImageGeneration()
    #expect(log.wait(3) == ["cancelled", "cancelled", "cancelled"])
    generator.cancelAllImageGeneration()
    var another: AssetImageGenerator? = AssetImageGenerator(asset: bytes.asset())
    another?.generateImagesAsynchronously(forTimes: [.zero, .zero]) { log.record($0, $1) }
    bytes.waitUntilRead(2)
    another = nil
    #expect(log.wait(5) == Array(repeating: "cancelled", count: 5))

    let folder = try TemporaryFolder()
    let film = Self.exact(try Self.film.make(in: folder))
    let later = OutcomeLog()
    film.generateImagesAsynchronously(forTimes: (0..<40).map { Self.time(5 * Int64($0)) }) { later.record($0, $1) }
    _ = later.wait(1)
    film.cancelAllImageGeneration()
    #expect(try film.image(at: Self.time(48)).actualTime == Self.time(48))
    let outcomes = later.wait(40)
    #expect(outcomes.count == 40 && outcomes[0] == "0 176")
    // After the first cancelled image, all are cancelled.
    #expect(outcomes.drop { $0 != "cancelled" }.allSatisfy { $0 == "cancelled" })
  }

  @Test func inputWithoutReadableVideoIsRejected() throws {
    let folder = try TemporaryFolder()
    let audio = folder.file("audio.flac")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", audio)
    let image = folder.file("image.png")
    try Tool.ffmpeg(arguments: VideoFixture.pattern(seconds: "0.04") + [image])
    let whole = try readFile(try Self.film.make(in: folder))
    let cut = try folder.write(Array(whole.prefix(whole.count / 2)), as: "cut.mp4")
    var noise = whole
    let data = try #require(noise.indices.dropLast(8).first { noise[$0...].starts(with: Array("mdat".utf8)) })
    for index in data + 8..<min(noise.count - 3_000, data + 60_000) { noise[index] = 0x55 }
    let damaged = try folder.write(noise, as: "noise.mp4")
    for (path, codes) in [
      (audio, [3003]), (image, [3002]), (cut, [3002, 3004]), (damaged, [4002, 3004]),
      (folder.file("none.mp4"), [2001]),
      (try folder.write(Array("no film".utf8), as: "text.mp4"), [3002]),
      (try folder.write([], as: "empty.mp4"), [3001]),
    ] as [(String, [Int])] {
      let code = errorCode { _ = try Self.exact(path).image(at: .zero) }
      print("\(path.split(separator: "/").last ?? ""): \(code)")
      #expect(codes.contains(code), "\(path): \(code)")
    }
  }

  // MARK: - Files

  private static func decoded(_ path: String, _ folder: TemporaryFolder) throws -> [UInt8] {
    let raw = folder.file("\(UUID().uuidString).raw")
    try Tool.ffmpeg(
      "-i", path, "-sws_flags", "bicubic+accurate_rnd+full_chroma_int", "-pix_fmt", "bgra", "-f", "rawvideo", raw)
    return try readFile(raw)
  }

  @Test func encodedFilesAreDecodedByFFmpeg() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture("odd.mkv", source: VideoFixture.oddPattern, ["-c:v", "ffv1"]).make(in: folder)
    let image = try Self.exact(path).image(at: .zero).image
    #expect(try Self.decoded(try folder.write(image.encoded(as: .png), as: "a.png"), folder) == image.data)
    var translucent = image
    for index in stride(from: 3, to: translucent.data.count, by: 8) { translucent.data[index] = 77 }
    #expect(try Self.decoded(try folder.write(translucent.encoded(as: .png), as: "b.png"), folder) == translucent.data)
    var sizes: [Int] = []
    for (quality, maximumDifference) in [(100, 4.0), (75, 9), (1, 40)] {
      let file = try image.encoded(as: .jpeg(quality: quality))
      sizes.append(file.count)
      let found = try Self.decoded(try folder.write(file, as: "\(quality).jpg"), folder)
      #expect(found.count == image.data.count)
      let difference = zip(found, image.data).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
      print("quality \(quality): \(file.count) bytes, \(Double(difference) / Double(found.count)) off")
      #expect(Double(difference) / Double(found.count) < maximumDifference)
    }
    #expect(sizes == sizes.sorted(by: >))
    for quality in [0, 101] { expectError(.invalidArgument) { try image.encoded(as: .jpeg(quality: quality)) } }
  }

  @Test func contactSheetHasItsImagesInRows() throws {
    var sheet = ContactSheet(columns: 2, rows: 2)
    sheet.gap = 1
    sheet.background = .init(red: 9, green: 8, blue: 7)
    let times = sheet.times(in: TimeRange(start: Self.time(100), duration: Self.time(400)))
    #expect(times == [Self.time(150), Self.time(250), Self.time(350), Self.time(450)])
    let images = try (1...3).map { number in
      try PixelBuffer(.bgra, width: 2, height: 1, data: [UInt8](repeating: UInt8(10 * number), count: 8))
    }
    let image = try sheet.image(of: images)
    #expect(image.width == 7 && image.height == 5)
    let rows = (0..<5).map { row in (0..<7).map { Int(image.data[4 * (7 * row + $0)]) } }
    #expect(
      rows == [
        [7, 7, 7, 7, 7, 7, 7], [7, 10, 10, 7, 20, 20, 7], [7, 7, 7, 7, 7, 7, 7], [7, 30, 30, 7, 7, 7, 7],
        [7, 7, 7, 7, 7, 7, 7],
      ])
    #expect(image.data.prefix(4) == [7, 8, 9, 255])
    for (columns, count, code) in [(0, 1, 1001), (21, 20, 1001), (2, 0, 1001)] {
      #expect(errorCode { _ = try ContactSheet(columns: columns, rows: count).image(of: images) } == code)
    }
    let large = try PixelBuffer(.bgra, width: 4_000, height: 3_000, data: [UInt8](repeating: 0, count: 48_000_000))
    expectError(.mediaLimitExceeded) { try ContactSheet(columns: 4, rows: 4).image(of: [large]) }
    expectError(.invalidArgument) { try sheet.image(of: []) }
  }

  private static func export(_ asset: Asset, _ request: ImageExport.Request) throws -> ImageExport.Result {
    let completion = ConditionMutex<Result<ImageExport.Result, MediaError>?>(nil)
    ImageExport(asset, request).start { result in completion.update { $0 = result } }
    return try #require(completion.wait { $0 }).get()
  }

  private static func file(_ path: String, replaces: Bool = false) -> WholeFile {
    WholeFile(path: Array(path.utf8), replaces: replaces, hint: "")
  }

  @Test func exportWritesAllImagesOrNone() throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try Self.film.make(in: folder))
    var settings = ImageSettings()
    (settings.toleranceBefore, settings.toleranceAfter, settings.maximumWidth) = (.zero, .zero, 88)
    let (one, two) = (folder.file("1.png"), folder.file("2.png"))
    func images(_ second: MediaTime, replaces: Bool = false) -> ImageExport.Request.Content {
      .images([(Self.time(10), Self.file(one, replaces: replaces)), (second, Self.file(two, replaces: replaces))])
    }
    expectError(.invalidTime) { try Self.export(asset, .init(images(Self.time(900)), settings: settings)) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["film.mp4"])
    let result = try Self.export(asset, .init(images(Self.time(20)), settings: settings))
    #expect(
      result.images.map(\.actualTime) == [Self.time(8), Self.time(20)] && result.images.map(\.width) == [88, 88])
    #expect(result.fault == nil)
    expectError(.fileExists) { try Self.export(asset, .init(images(Self.time(20)), settings: settings)) }
    _ = try Self.export(asset, .init(images(Self.time(20), replaces: true), settings: settings))
    let sheet = try Self.export(
      asset,
      .init(
        .sheet(ContactSheet(columns: 3, rows: 2), times: [], file: Self.file(folder.file("s.jpg"))), settings: settings,
        format: .jpeg()))
    #expect(sheet.width == 3 * 92 + 4 && sheet.height == 2 * 76 + 4 && sheet.images.count == 6)
    #expect(try Self.decoded(folder.file("s.jpg"), folder).count == 4 * sheet.width * sheet.height)
    expectError(.writeFailed) { try Self.export(asset, .init(.images([(.zero, Self.file(folder.file("no/x.png")))]))) }
    expectError(.invalidArgument) { try Self.export(asset, .init(.images([]))) }
  }

  @Test("a full disk is an error and leaves no file", .timeLimit(.minutes(2)))
  func fullDiskReportsWriteFailedAndLeavesNoFile() throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try Self.film.make(in: folder))
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try #require(mount("none", disk, "tmpfs", 0, "size=16k") == 0, "a tmpfs needs root")
    defer { umount2(disk, Int32(2)) }
    let content = ImageExport.Request.Content.images(
      (0..<9).map { (Self.time(4 * $0), Self.file("\(disk)/\($0).png")) })
    expectError(.writeFailed) { try Self.export(asset, .init(content)) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == [])
  }

  @Test("a cancelled export ends at once and leaves no file", .timeLimit(.minutes(2)))
  func cancelledExportEndsAtOnceAndLeavesNoFile() throws {
    let folder = try TemporaryFolder()
    let bytes = HangingBytes()
    let export = ImageExport(bytes.asset(), .init(.images([(.zero, Self.file(folder.file("x.png")))])))
    let codes = ConditionMutex<[Int]>([])
    export.start { result in
      let code = errorCode { _ = try result.get() }
      codes.update { $0.append(code) }
    }
    bytes.waitUntilRead(1)
    export.cancel()
    export.cancel()
    #expect(codes.wait { $0.isEmpty ? nil : $0 } == [6015])
    bytes.waitUntilEnded(1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}
