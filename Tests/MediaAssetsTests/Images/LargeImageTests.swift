import Foundation
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Images that need more memory than a worker has by default: 8K video frames, and sheets of that size.
@Suite(.timeLimit(.minutes(10))) struct LargeImageTests {
  /// The largest video frames that fit: level 6.2 of H.264 and H.265.
  private static let limit = 35_651_584

  /// An open video, and the workers that opened it.
  private struct Opened {
    let pool: WorkerPool
    let maker: IsolatedImageMaker
    let path: String

    init(_ path: String, width: Int? = nil, sheet: ContactSheet? = nil) throws {
      (pool, self.path) = (try WorkerPool.make(), path)
      var settings = ImageSettings()
      (settings.toleranceBefore, settings.toleranceAfter, settings.maximumWidth) = (.zero, .zero, width)
      maker = try IsolatedImageMaker(
        pool, source: try FileSource(path: Array(path.utf8), interrupt: Interrupt()), displayName: path,
        ImageTask(settings: settings, format: .jpeg(), sheet: sheet))
    }

    /// The number of workers started so far: 2 if the images needed a larger one.
    var workerCount: Int { pool.statistics.startedCount }

    /// The maximum resident memory of the worker so far, in bytes.
    var memoryByteCount: Int {
      get throws {
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { pid in
          let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")) ?? []
          return pid != "\(getpid())" && pid.allSatisfy(\.isNumber)
            && files.contains {
              (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)")) == path
            }
        }
        let status = try String(contentsOfFile: "/proc/\(try #require(processes.first))/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }) * 1_024
      }
    }
  }

  private static func video(
    _ name: String, _ size: String, frameCount: Int = 1, _ encoding: [String], in folder: TemporaryFolder
  ) throws -> String {
    try VideoFixture(
      name, source: ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25", "-frames:v", "\(frameCount)"], encoding
    ).make(in: folder)
  }

  private static let x264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]
  private static let jpeg = ["-c:v", "mjpeg", "-q:v", "5", "-pix_fmt", "yuvj420p"]

  @Test func aLargerWorkerMakesImagesOf8KVideoWithLessThan400MB() throws {
    let folder = try TemporaryFolder()
    let path = try Self.video("film.mp4", "7680x4320", frameCount: 4, Self.x264, in: folder)
    let opened = try Opened(path)
    for index in [0, 2, 1] as [Int64] {
      let time = MediaTime(value: index, timescale: 25)
      let image = try opened.maker.makeImage(at: time)
      #expect(image.width == 7_680 && image.height == 4_320 && image.actualTime == time)
      var byteCount = 0
      while let bytes = try opened.maker.nextBytes() { byteCount += bytes.count }
      #expect(byteCount == image.byteCount && byteCount > 100_000)
    }
    #expect(opened.workerCount == 2)
    #expect(try opened.memoryByteCount < 400_000_000)
  }

  @Test func imageOf8KVideoIsThatOfThisProcess() throws {
    let folder = try TemporaryFolder()
    let path = try Self.video("film.mov", "7680x4320", Self.jpeg, in: folder)
    let opened = try Opened(path)
    _ = try opened.maker.makeImage(at: .zero)
    var bytes: [UInt8] = []
    while let chunk = try opened.maker.nextBytes() { bytes += chunk }
    let local = try ImageMakers.open(
      Asset(location: .path(Array(path.utf8)), isolation: .none),
      ImageTask(settings: ImageSettings(), format: .jpeg()), interrupt: Interrupt())
    _ = try local.makeImage(at: .zero)
    #expect(try local.nextBytes() == bytes)
  }

  @Test func workerWithDefaultMemoryMakesSmallerImages() throws {
    let folder = try TemporaryFolder()
    let path = try Self.video("film.mov", "3840x2160", Self.jpeg, in: folder)
    for (width, workerCount) in [(3_840, 2), (1_920, 1)] {
      let opened = try Opened(path, width: width)
      #expect(try opened.maker.makeImage(at: .zero).width == width)
      #expect(opened.workerCount == workerCount)
    }
  }

  /// A decoder that retains 16 of the frames with 10 bits needs 400 MB.
  @Test func manyRetainedFramesHaveALargerWorker() throws {
    let folder = try TemporaryFolder()
    for (pixelFormat, width, workerCount) in [("yuv420p", 640, 1), ("yuv420p10le", 640, 2), ("yuv420p10le", 3_840, 2)] {
      let opened = try Opened(try VideoFixture.manyReferences(pixelFormat).make(in: folder), width: width)
      // Decodes all frames.
      let image = try opened.maker.makeImage(at: MediaTime(value: 25, timescale: 25))
      #expect(image.width == width && image.actualTime == MediaTime(value: 25, timescale: 25), "\(pixelFormat)")
      #expect(try opened.maker.popFault() == nil)
      #expect(opened.workerCount == workerCount && opened.pool.statistics.crashCount == 0, "\(pixelFormat)")
    }
  }

  @Test func aLargerWorkerMakesASheetAboveTheDefaultLimit() throws {
    let folder = try TemporaryFolder()
    let path = try Self.video("film.mov", "2560x1440", Self.jpeg, in: folder)
    let opened = try Opened(path, sheet: ContactSheet(columns: 3, rows: 3))
    _ = try opened.maker.addSheetImage(at: .zero, index: 4)
    let sheet = try opened.maker.finishSheet()
    #expect(sheet.width == 7_696 && sheet.height == 4_336)
    #expect(opened.workerCount == 2)
    #expect(try opened.memoryByteCount < 400_000_000)
  }

  @Test func imagesAndSheetsAboveTheLimitAreAnErrorThatNamesIt() throws {
    let folder = try TemporaryFolder()
    let giant = try Self.video("giant.mov", "8192x4360", Self.jpeg, in: folder)
    for sheet in [nil, ContactSheet(columns: 2, rows: 2)] {
      let error = #expect(throws: MediaError.self) {
        _ = try Opened(giant, width: sheet == nil ? nil : 8_000, sheet: sheet)
      }
      #expect(error?.code == .mediaLimitExceeded && error?.message.contains("at most \(Self.limit) pixels") == true)
    }
    // The frames fit, and the image is small.
    #expect(try Opened(giant, width: 640).maker.makeImage(at: .zero).width == 640)
    let largest = try Self.video("largest.mov", "8192x4352", Self.jpeg, in: folder)
    #expect(try Opened(largest).maker.makeImage(at: .zero).height == 4_352)
  }

  @Test("a file that declares larger frames than it has gets no larger worker", arguments: [false, true])
  func fileThatDeclaresLargerFramesGetsNoLargerWorker(_ isDamaged: Bool) throws {
    let folder = try TemporaryFolder()
    var bytes = try readFile(try Self.video("film.mov", "64x48", Self.jpeg, in: folder))
    // The width and height in the sample description.
    let size = try #require(bytes.firstRange(of: Array("jpeg".utf8))).lowerBound + 28
    #expect(Array(bytes[size..<size + 4]) == [0, 64, 0, 48])
    bytes.replaceSubrange(size..<size + 4, with: [0x1E, 0, 0x10, 0xE0])
    if isDamaged {
      let data = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
      for index in data..<data + 500 { bytes[index] = 0 }
    }
    let opened = try Opened(try folder.write(bytes, as: "declared.mov"))
    if isDamaged {
      expectError(.decodeFailed) { try opened.maker.makeImage(at: .zero) }
    } else {
      #expect(try opened.maker.makeImage(at: .zero).width == 64)
    }
    #expect(opened.workerCount == 1)
  }
}
