import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Decoded video frames equal those of FFmpeg's program, bit for bit, at the times that `ffprobe` reports, from any
/// start.
@Suite struct VideoReaderTests {
  private static let x264 = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"]
  private static let x264WithB = [
    "-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-b_strategy", "0", "-g", "12", "-pix_fmt", "yuv420p",
  ]
  private static let openGOP = x264WithB + ["-x264-params", "open-gop=1:keyint=12:min-keyint=12:scenecut=0"]
  private static let live = ["-f", "matroska", "-live", "1"]

  static let fixtures: [VideoFixture] = [
    VideoFixture("b.mp4", x264WithB),
    VideoFixture("b.mov", x264WithB),
    VideoFixture("fragments.mp4", x264WithB + ["-movflags", "frag_keyframe+empty_moov"]),
    VideoFixture("b.mkv", x264WithB),
    VideoFixture("without-index.mkv", x264WithB + live),
    VideoFixture("b.ts", x264WithB),
    VideoFixture("open.mp4", openGOP),
    VideoFixture("open.ts", openGOP),
    VideoFixture("one-key.ts", ["-c:v", "libx264", "-preset", "veryfast", "-g", "999", "-pix_fmt", "yuv420p"]),
    VideoFixture("mpeg2.ts", ["-c:v", "mpeg2video", "-bf", "2", "-g", "12"]),
    VideoFixture("part2.mp4", ["-c:v", "mpeg4", "-bf", "2", "-g", "12"]),
    VideoFixture("part2.avi", ["-c:v", "mpeg4", "-g", "12"]),
    VideoFixture("vp9.webm", ["-c:v", "libvpx-vp9", "-cpu-used", "8", "-deadline", "realtime", "-g", "12"]),
    VideoFixture("motion.avi", ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"], raw: "yuvj420p"),
    VideoFixture(
      "odd.mkv", source: VideoFixture.oddPattern, ["-c:v", "ffv1", "-pix_fmt", "yuv420p", "-g", "5"]),
    VideoFixture(
      "odd-nv12.mkv", source: VideoFixture.oddPattern, ["-c:v", "ffv1", "-pix_fmt", "yuv420p"], .nv12),
    VideoFixture(
      "odd-bgra.mkv", source: VideoFixture.oddPattern, ["-c:v", "ffv1", "-pix_fmt", "yuv420p"], .bgra,
      scalerFlags: "bicubic+accurate_rnd+full_chroma_int+full_chroma_inp"),
    VideoFixture("bgra.mp4", x264WithB, .bgra, scalerFlags: "bicubic+accurate_rnd"),
    VideoFixture("nv12.mp4", x264WithB, .nv12),
    VideoFixture("ten-bit.mkv", ["-c:v", "ffv1", "-pix_fmt", "yuv420p10le"]),
    VideoFixture("half.mkv", ["-c:v", "ffv1", "-pix_fmt", "yuv422p"]),
    VideoFixture(
      "rgb.mov", ["-c:v", "qtrle", "-pix_fmt", "argb"], .bgra, scalerFlags: "bicubic+accurate_rnd"),
    VideoFixture("film.mkv", source: VideoFixture.pattern(rate: "24000/1001"), x264),
    // Every third frame is dropped.
    VideoFixture(
      "uneven.mkv", source: VideoFixture.pattern() + ["-vf", "select='mod(n,3)'", "-vsync", "vfr"], x264WithB),
    VideoFixture(
      "uneven.mp4", source: VideoFixture.pattern() + ["-vf", "select='mod(n,3)'", "-vsync", "vfr"], x264WithB),
    VideoFixture(
      "late.mp4", source: ["-f", "lavfi", "-i", "sine=duration=2", "-itsoffset", "0.5"] + VideoFixture.pattern(),
      x264WithB + ["-c:a", "aac", "-vsync", "passthrough"]),
  ]

  @Test(arguments: fixtures) func framesEqualThoseOfFFmpeg(_ fixture: VideoFixture) throws {
    let folder = try TemporaryFolder()
    let path = try fixture.make(in: folder)
    let (buffers, reader, output) = try readVideo(path, VideoReadSettings(fixture.pixelFormat))
    #expect(reader.status == .completed && reader.error == nil && output.fault == nil)
    let raw = try fixture.rawBytes(path)
    let first = try #require(buffers.first?.pixels)
    if fixture.name.hasPrefix("odd") { #expect(first.width == 175 && first.height == 143) }
    #expect(raw.count == buffers.count * first.data.count, "\(fixture.name): \(buffers.count) frames")
    for (index, buffer) in buffers.enumerated() {
      let start = index * first.data.count
      guard start + first.data.count <= raw.count else { break }
      #expect(buffer.data.elementsEqual(raw[start..<start + first.data.count]), "\(fixture.name): frame \(index)")
    }
    let origin = try Asset(path: path).load().timelineOrigin
    let (ticks, base) = try Tool.frameTicks(path, in: folder)
    let times = ticks.map { MediaTime(value: $0 * base.0, timescale: Int32(base.1)) - origin }
    #expect(buffers.map(\.presentationTime) == times)
    for (one, next) in zip(buffers, buffers.dropFirst()) { #expect(one.endTime == next.presentationTime) }
    let last = try #require(buffers.last)
    #expect(last.duration > .zero && last.duration <= MediaTime(value: 1, timescale: 8))
    print("\(fixture.name): \(buffers.count) frames, the last at \(last.presentationTime.decimalDescription)")
  }

  @Test(arguments: fixtures) func everyFrameIsFoundByASeekFromAnyPosition(_ fixture: VideoFixture) throws {
    let folder = try TemporaryFolder()
    let path = try fixture.make(in: folder)
    let reader = try VideoTrackReader(asset: Asset(path: path), interrupt: Interrupt())
    let converter = try ImageConverter()
    var all: [(time: MediaTime, end: MediaTime, pixels: PixelBuffer)] = []
    while let shot = try reader.next() {
      all.append((shot.time, shot.end, try shot.converted(converter)))
    }
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<30 {
      let index = Int.random(in: 0..<all.count, using: &generator)
      let wanted = all[index]
      // The start of the frame, or a time within it.
      let inside = wanted.time + (wanted.end - wanted.time).halved
      try reader.seek(to: index % 2 == 0 ? wanted.time : inside)
      let found = try #require(try reader.next(), "\(fixture.name): frame \(index)")
      #expect(found.time == wanted.time && found.end == wanted.end, "\(fixture.name): frame \(index)")
      #expect(try found.converted(converter) == wanted.pixels, "\(fixture.name): frame \(index)")
      let next = try reader.next()
      #expect(next?.time == (index + 1 < all.count ? all[index + 1].time : nil))
    }
    let last = try #require(all.last)
    try reader.seek(to: last.end + MediaTime(value: 100, timescale: 1))
    #expect(try reader.next() == nil)
    #expect(reader.currentFrame == nil || reader.currentFrame?.time == last.time)
    try reader.seek(to: .zero)
    #expect(try reader.next()?.time == all.first?.time)
    #expect(reader.popFault() == nil)
  }
}

extension MediaTime {
  /// Half of the time.
  fileprivate var halved: MediaTime { MediaTime(value: value, timescale: timescale * 2) }
}

extension VideoFrame {
  /// Returns the pixels of a frame that was decoded in this process.
  fileprivate func converted(_ converter: ImageConverter) throws -> PixelBuffer {
    guard case .decoded(let frame) = pixels else { throw MediaError(.invalidState, "decoded in a worker") }
    return try converter.convert(frame, to: .i420)
  }
}
