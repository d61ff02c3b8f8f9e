import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// A video file for a test, made by `ffmpeg`, and its properties according to FFmpeg's programs.
struct VideoFixture: Sendable, CustomTestStringConvertible {
  let name: String
  /// The input with its options, and the encoder's options.
  let source: [String]
  let encoding: [String]
  /// FFmpeg's name of the compared pixel format.
  let rawFormat: String
  let pixelFormat: PixelFormat
  /// The flags of FFmpeg's scaler for conversions.
  var scalerFlags: String?
  /// The counterclockwise rotation in degrees, as in the program's option.
  var rotationDegrees: Int?

  var testDescription: String { name }

  /// A test pattern in which every frame differs.
  static func pattern(_ size: String = "176x144", rate: String = "25", seconds: String = "2") -> [String] {
    ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=\(rate):duration=\(seconds)"]
  }

  /// H.264 of 3840 x 2160 pixels with 26 frames, whose decoder retains 16 frames.
  static func manyReferences(_ pixelFormat: String) -> VideoFixture {
    VideoFixture(
      "\(pixelFormat).mp4", source: pattern("3840x2160", seconds: "1.04"),
      [
        "-c:v", "libx264", "-preset", "ultrafast", "-x264-params", "ref=16:bframes=6:b-pyramid=normal", "-pix_fmt",
        pixelFormat,
      ])
  }

  /// A pattern with odd width and height; the generator alone rounds them down.
  /// H.264 with reordered frames and a key frame every half second.
  static let x264 = [
    "-c:v", "libx264", "-preset", "veryfast", "-bf", "2", "-g", "12", "-keyint_min", "12", "-sc_threshold", "0",
    "-pix_fmt", "yuv420p",
  ]
  static let film = VideoFixture("film.mp4", x264)
  /// The film in several containers and codecs, rotated, and with pixels that are not square.
  static let samples = [
    film, VideoFixture("film.mkv", x264), VideoFixture("film.ts", x264),
    VideoFixture("film.webm", ["-c:v", "libvpx", "-g", "12"]),
    VideoFixture("part2.avi", ["-c:v", "mpeg4", "-g", "12"]),
    VideoFixture("turned.mp4", source: VideoFixture.pattern("64x48"), x264, rotationDegrees: 90),
    VideoFixture("wide.mp4", source: VideoFixture.pattern() + ["-vf", "setsar=4/3"], x264),
  ]
  static let oddPattern = pattern() + ["-vf", "scale=175:143"]

  init(
    _ name: String, source: [String] = pattern(), _ encoding: [String], _ pixelFormat: PixelFormat = .i420,
    raw: String? = nil, scalerFlags: String? = nil, rotationDegrees: Int? = nil
  ) {
    (self.name, self.source, self.encoding) = (name, source, encoding)
    (self.pixelFormat, self.scalerFlags, self.rotationDegrees) = (pixelFormat, scalerFlags, rotationDegrees)
    rawFormat = raw ?? pixelFormat.name
  }

  /// Makes the file in a folder and returns its path.
  func make(in folder: TemporaryFolder) throws -> String {
    let path = folder.file(name)
    try Tool.ffmpeg(arguments: source + encoding + [path])
    guard let rotationDegrees else { return path }
    // The program sets the rotation only when it copies.
    let rotated = folder.file("turned-\(name)")
    try Tool.ffmpeg("-i", path, "-c", "copy", "-metadata:s:v", "rotate=\(rotationDegrees)", rotated)
    return rotated
  }

  /// The bytes of all frames as FFmpeg's program decodes them. With `upright`, rotated as the file specifies.
  func rawBytes(_ path: String, upright: Bool = false) throws -> [UInt8] {
    let flags = scalerFlags.map { ["-sws_flags", $0] } ?? []
    let raw = path + ".raw"
    try Tool.ffmpeg(
      arguments: (upright ? [] : ["-noautorotate"]) + ["-i", path, "-map", "0:v:0"] + flags
        + ["-vsync", "passthrough", "-pix_fmt", rawFormat, "-f", "rawvideo", raw])
    return try readFile(raw)
  }
}

extension Tool {
  /// The lines that a tool writes to its standard output.
  static func lines(_ command: [String], in folder: TemporaryFolder) throws -> [String] {
    let output = folder.file("lines-\(UUID().uuidString)")
    try run("sh", ["-c", "out=$1; shift; exec \"$@\" > \"$out\"", "sh", output] + command)
    return String(decoding: try readFile(output), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The presentation times of a file's frames according to `ffprobe`, in the track's ticks, in order.
  static func frameTicks(_ path: String, in folder: TemporaryFolder) throws -> (
    ticks: [Int64], timeBase: (Int64, Int64)
  ) {
    let probe = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-of", "csv=p=0"]
    let base = try lines(probe + ["-show_entries", "stream=time_base", path], in: folder)
    let parts = try #require(base.first).split(whereSeparator: { $0 == "/" || $0 == "," }).compactMap { Int64($0) }
    let frames = try lines(probe + ["-show_entries", "frame=best_effort_timestamp", path], in: folder)
    return (frames.compactMap { Int64($0.prefix { $0.isNumber || $0 == "-" }) }, (parts[0], parts[1]))
  }
}

extension AssetReaderOutput {
  /// All remaining samples of the current ranges.
  func remainder() -> [SampleBuffer] {
    var buffers: [SampleBuffer] = []
    while let buffer = copyNextSampleBuffer() { buffers.append(buffer) }
    return buffers
  }
}

/// All frames of a file.
func readVideo(
  _ path: String, _ settings: VideoReadSettings, range: TimeRange? = nil
) throws -> (buffers: [SampleBuffer], reader: AssetReader, output: AssetReaderVideoOutput) {
  let reader = AssetReader(asset: Asset(path: path))
  let output = AssetReaderVideoOutput(settings: settings)
  if let range { try reader.setTimeRange(range) }
  try reader.add(output)
  try reader.startReading()
  return (output.remainder(), reader, output)
}
