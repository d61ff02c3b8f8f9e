import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadLibAV

/// The conversion of video frames to other layouts: the memory that is read, and the resulting values.
@Suite struct ImageScalerTests {
  private struct Row {
    var format: PixelFormat
    var width: Int
    var height: Int
    var newWidth: Int
    var newHeight: Int
  }

  private static let rows = [
    Row(format: .nv12, width: 66, height: 48, newWidth: 66, newHeight: 48),
    Row(format: .nv12, width: 101, height: 51, newWidth: 64, newHeight: 32),
    Row(format: .bgra, width: 101, height: 51, newWidth: 50, newHeight: 26),
    Row(format: .bgra, width: 3, height: 5, newWidth: 2, newHeight: 2),
    Row(format: .i420, width: 1, height: 1, newWidth: 64, newHeight: 48),
    Row(format: .i420, width: 103, height: 77, newWidth: 40, newHeight: 30),
  ]

  @Test("no byte after the image's last byte is read")
  func noByteAfterTheLastByteOfTheImageIsRead() throws {
    print("image            becomes, with an unreadable page after it")
    for row in Self.rows {
      let byteCount = row.format.byteCount(width: row.width, height: row.height)
      let page = Int(sysconf(Int32(_SC_PAGESIZE)))
      let room = (byteCount + page - 1) / page * page
      let memory = try #require(mmap(nil, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
      defer { munmap(memory, room + page) }
      try #require(memory != MAP_FAILED && mprotect(memory + room, page, PROT_NONE) == 0)
      let data = (memory + room - byteCount).bindMemory(to: UInt8.self, capacity: byteCount)
      data.update(repeating: 100, count: byteCount)
      let scaler = try ImageScaler(
        from: ImageLayout(pixelFormatName: row.format.name, width: row.width, height: row.height),
        to: ImageLayout(pixelFormatName: "yuv420p", width: row.newWidth, height: row.newHeight))
      let frame = try Frame()
      try frame.allocateImage(PixelFormat.i420.avFormat, width: row.newWidth, height: row.newHeight)
      try scaler.convert(data, planes: row.format.planes(width: row.width, height: row.height), into: frame)
      let pixels = try frame.copiedPixels(.i420)
      let luma = Set(pixels.data.prefix(row.newWidth * row.newHeight))
      // Gray of 100 is 16 + 100 * 219 / 255 where luma ranges from 16 to 235.
      let expected = row.format == .bgra ? 102 : 100
      #expect(luma.allSatisfy { abs(Int($0) - expected) <= 1 }, "\(row): \(luma)")
      print("\(row.format) \(row.width) x \(row.height)\t\(row.newWidth) x \(row.newHeight), luma \(luma.sorted())")
    }
  }

  @Test("luma is converted between limited and full range for every size and format")
  func lumaIsConvertedBetweenLimitedAndFullRange() throws {
    print("from  to       size     range          luma of 16, 126, 235 or 0, 128, 255")
    for format in [PixelFormat.i420, .nv12] {
      for (newWidth, newHeight) in [(96, 32), (48, 16)] {
        for target in [PixelFormat.i420, .nv12] {
          for isWidened in [true, false] {
            let (givenLuma, expected) =
              isWidened ? ([16, 126, 235], [0, 128, 255]) : ([0, 128, 255], [16, 126, 235])
            let pixels = try Self.columns(givenLuma.map { UInt8($0) }, format)
            var layouts = [
              ImageLayout(pixelFormatName: format.name, width: 96, height: 32),
              ImageLayout(pixelFormatName: target.name, width: newWidth, height: newHeight),
            ]
            for (index, isFull) in [!isWidened, isWidened].enumerated() {
              layouts[index].color.isFullRange = isFull
              layouts[index].color.matrix = 6
            }
            let scaler = try ImageScaler(from: layouts[0], to: layouts[1])
            let frame = try Frame()
            try frame.allocateImage(target.avFormat, width: newWidth, height: newHeight)
            try pixels.data.withUnsafeBufferPointer { bytes in
              try scaler.convert(try #require(bytes.baseAddress), planes: pixels.planes, into: frame)
            }
            let luma = try Self.luma(of: frame.copiedPixels(target))
            #expect(
              zip(luma, expected).allSatisfy { abs($0 - $1) <= 1 },
              "\(format) \(target) \(newWidth) \(isWidened): \(luma)")
            print("\(format)  \(target)\t\(newWidth) x \(newHeight)\t\(isWidened ? "widened" : "narrowed")\t\(luma)")
          }
        }
      }
    }
  }

  @Test("the luma of a JPEG is full range, for every range and matrix of the image")
  func lumaOfAJPEGIsFullRangeForEveryImageRange() throws {
    let folder = try TemporaryDirectory()
    print("format  range    matrix  luma")
    for format in [PixelFormat.i420, .nv12] {
      for matrix in [6, 1] {
        for isFull in [false, true] {
          var color = FormatDescription.Video.ColorProperties()
          (color.isFullRange, color.matrix) = (isFull, matrix)
          let givenLuma = isFull ? [0, 128, 255] : [16, 126, 235]
          let file = try ImageEncoder.encode(
            Self.columns(givenLuma.map { UInt8($0) }, format), as: .jpeg(quality: 100), color: color)
          let path = "\(folder.path)/image"
          try Data(file).write(to: URL(fileURLWithPath: path + ".jpg"))
          try Fixtures.ffmpeg([
            "-nostdin", "-v", "error", "-i", path + ".jpg", "-f", "rawvideo", "-y", path + ".raw",
          ])
          let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + ".raw")))
          let luma = try Self.luma(of: PixelBuffer(.i420, width: 96, height: 32, data: bytes))
          #expect(zip(luma, [0, 128, 255]).allSatisfy { abs($0 - $1) <= 2 }, "\(format) \(color): \(luma)")
          print("\(format)\t\(isFull ? "full" : "limited")\t\(matrix)\t\(luma)")
        }
      }
    }
  }

  // MARK: - Tools

  /// Generates three columns with one luma each, without colour.
  private static func columns(_ luma: [UInt8], _ format: PixelFormat) throws -> PixelBuffer {
    var data = [UInt8](repeating: 128, count: format.byteCount(width: 96, height: 32))
    for row in 0..<32 {
      for column in 0..<96 { data[row * 96 + column] = luma[column / 32] }
    }
    return try PixelBuffer(format, width: 96, height: 32, data: data)
  }

  /// Returns the luma in the middle of each column.
  private static func luma(of pixels: PixelBuffer) -> [Int] {
    (0..<3).map { Int(pixels.data[pixels.height / 2 * pixels.width + $0 * pixels.width / 3 + pixels.width / 6]) }
  }
}
