import Foundation
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Video frames and the settings for writing them.
enum VideoRig {
  /// An image whose luma encodes a number: one bright or dark column for each bit.
  static func image(
    _ number: Int, _ format: PixelFormat = .i420, width: Int = 128, height: Int = 96
  ) throws -> PixelBuffer {
    var data = [UInt8](repeating: 128, count: format.byteCount(width: width, height: height))
    for row in 0..<height {
      for column in 0..<width {
        let luma: UInt8 = number >> (column * 8 / width) & 1 == 1 ? 200 : 40
        if format == .bgra {
          for byte in 0..<3 { data[(row * width + column) * 4 + byte] = luma }
          data[(row * width + column) * 4 + 3] = 255
        } else {
          data[row * width + column] = luma
        }
      }
    }
    return try PixelBuffer(format, width: width, height: height, data: data)
  }

  /// The numbers of a file's frames, in presentation order.
  static func numbers(_ path: String, width: Int = 128, height: Int = 96) throws -> [Int] {
    try Tool.ffmpeg(
      "-i", path, "-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base", "1/720000", "-pix_fmt", "gray", "-f",
      "rawvideo", path + ".gray")
    let bytes = try readFile(path + ".gray")
    return stride(from: 0, to: bytes.count - width * height + 1, by: width * height).map { start in
      (0..<8).reduce(0) { number, bit in
        let offset = start + height / 2 * width + bit * width / 8 + width / 16
        return number | (bytes[offset] > 120 ? 1 << bit : 0)
      }
    }
  }

  static func format(
    _ pixels: PixelFormat = .i420, width: Int = 128, height: Int = 96, rate: Int32 = 25
  ) -> FormatDescription {
    var video = FormatDescription.Video(width: width, height: height)
    video.frameDuration = MediaTime(value: 1, timescale: rate)
    return .pixels(pixels, width: width, height: height, like: video)
  }

  /// Fast settings.
  static func settings(_ change: (inout VideoOutputSettings) -> Void = { _ in }) -> VideoOutputSettings {
    var settings = VideoOutputSettings(.h264)
    settings.preset = .veryfast
    settings.constantQuality = 18
    change(&settings)
    return settings
  }

  /// Writes a file with frames 0, 1, 2, ... at these times, in one session from `start`.
  @discardableResult
  static func write(
    _ path: String, _ container: WritableContainer, times: [MediaTime], _ settings: VideoOutputSettings = settings(),
    format: FormatDescription = format(), start: MediaTime = .zero, end: MediaTime? = nil, mediaTimescale: Int32? = nil,
    options: AssetWriter.Options = AssetWriter.Options(), number: (Int) -> Int = { $0 }
  ) throws -> AssetWriter {
    let input = AssetWriterInput(settings: settings, sourceFormat: format, mediaTimescale: mediaTimescale)
    let writer = AssetWriter(path: path, container: container, options: options)
    try writer.add(input)
    try writer.startWriting()
    try writer.startSession(atSourceTime: start)
    let video = try #require(format.video)
    let pixelFormat = try #require(video.pixelFormatName.flatMap(PixelFormat.init(name:)))
    for (index, time) in times.enumerated() {
      let pixels = try image(number(index), pixelFormat, width: video.width, height: video.height)
      try input.append(waiting: SampleBuffer(pixels: pixels, presentationTime: time))
    }
    if let end { try writer.endSession(atSourceTime: end) }
    try writer.finishWriting()
    return writer
  }

  /// `count` evenly spaced times.
  static func times(_ count: Int, rate: Int32 = 25, from first: Int64 = 0) -> [MediaTime] {
    (0..<Int64(count)).map { MediaTime(value: first + $0, timescale: rate) }
  }
}
