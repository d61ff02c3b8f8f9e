import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Features of a reader's video output other than returning all frames.
@Suite struct VideoOutputTests {
  private static let film = VideoFixture(
    "film.mp4", ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"])

  private static func time(_ value: Int64, _ timescale: Int32 = 100) -> MediaTime {
    MediaTime(value: value, timescale: timescale)
  }

  @Test func rangeBeginsWithTheFrameThatContainsItsStart() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    let all = try readVideo(path, VideoReadSettings(.i420)).buffers
    // Frames start every 0.04 s. The range, and the index of the first frame with the ends of the shown part.
    let rows: [(start: Int64, end: Int64, first: Int, count: Int)] = [
      (0, 8, 0, 2), (50, 60, 12, 3), (52, 60, 13, 2), (51, 52, 12, 1), (50, 51, 12, 1), (50, 50, 12, 0), (0, 0, 0, 0),
      (198, 400, 49, 1), (200, 300, 0, 0), (190, 192, 47, 1),
    ]
    for row in rows {
      let range = TimeRange(start: Self.time(row.start), end: Self.time(row.end))
      let found = try readVideo(path, VideoReadSettings(.i420), range: range).buffers
      print("\(row.start)..<\(row.end): \(found.map { "\($0.presentationTime.seconds)+\($0.duration.seconds)" })")
      #expect(found.count == row.count, "\(row)")
      for (index, buffer) in found.enumerated() {
        let whole = all[row.first + index]
        #expect(buffer.data == whole.data, "\(row)")
        #expect(buffer.presentationTime == max(whole.presentationTime, range.start))
        #expect(buffer.endTime == min(whole.endTime, range.end))
      }
    }
  }

  @Test func resetReadsFurtherRangesInOrder() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    let all = try readVideo(path, VideoReadSettings(.nv12)).buffers
    let reader = AssetReader(asset: Asset(path: path))
    let output = AssetReaderVideoOutput(settings: VideoReadSettings(.nv12), supportsRandomAccess: true)
    try reader.setTimeRange(TimeRange(start: Self.time(160), end: Self.time(164)))
    try reader.add(output)
    try reader.startReading()
    #expect(output.remainder().map(\.data) == [all[40].data])
    try output.reset(forReadingTimeRanges: [
      TimeRange(start: Self.time(8), end: Self.time(12)), TimeRange(start: Self.time(100), end: Self.time(108)),
    ])
    let more = output.remainder()
    #expect(more.map(\.data) == [all[2].data, all[25].data, all[26].data])
    #expect(more.map(\.attachments.isDiscontinuity) == [true, true, false])
    output.markConfigurationAsFinal()
    #expect(reader.status == .completed)
  }

  @Test func buffersDescribeAspectRatioRotationAndColor() throws {
    let folder = try TemporaryFolder()
    let fixture = VideoFixture(
      "wide.mp4", source: VideoFixture.pattern("160x120") + ["-vf", "setsar=4/3"],
      [
        "-c:v", "libx264", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc",
        "bt709", "-color_range", "tv",
      ],
      rotationDegrees: 90)
    let path = try fixture.make(in: folder)
    let plain = try #require(try readVideo(path, VideoReadSettings(.nv12)).buffers.first?.format.video)
    #expect(plain.width == 160 && plain.height == 120 && plain.pixelFormatName == "nv12")
    #expect(plain.pixelAspectRatio == .init(horizontal: 4, vertical: 3) && plain.rotationDegrees == 270)
    #expect(plain.color.matrix == 1 && plain.color.primaries == 1 && plain.color.isFullRange == false)
    #expect(plain.frameDuration == Self.time(4))
    let small = try #require(
      try readVideo(path, VideoReadSettings(.bgra, size: .init(width: 80, height: 120))).buffers.first)
    #expect(small.pixels?.width == 80 && small.pixels?.height == 120)
    #expect(small.format.video?.pixelAspectRatio == .init(horizontal: 8, vertical: 3))
    #expect(small.format.video?.color.matrix == 0 && small.format.video?.color.isFullRange == true)
    expectError(.invalidArgument) { try readVideo(path, VideoReadSettings(.bgra, size: .init(width: 0, height: 120))) }
  }

  @Test("frames are rotated as FFmpeg rotates them", arguments: [90, 180, 270], PixelFormat.allCases)
  func framesAreRotatedLikeByFFmpeg(_ degrees: Int, _ format: PixelFormat) throws {
    let folder = try TemporaryFolder()
    let isWide = degrees == 180
    let fixture = VideoFixture(
      "turned.mp4", source: VideoFixture.pattern("64x48", seconds: "0.2") + ["-vf", "setsar=4/3"],
      ["-c:v", "libx264", "-qp", "0", "-pix_fmt", format == .bgra ? "yuv444p" : "yuv420p"], format,
      scalerFlags: format == .bgra ? "bicubic+accurate_rnd+full_chroma_int+full_chroma_inp" : nil,
      rotationDegrees: degrees)
    let path = try fixture.make(in: folder)
    var settings = VideoReadSettings(format)
    settings.appliesPreferredTrackTransform = true
    let buffers = try readVideo(path, settings).buffers
    let isSame = buffers.flatMap(\.data) == (try fixture.rawBytes(path, upright: true))
    #expect(isSame && buffers.count == 5)
    let video = try #require(buffers.first?.format.video)
    #expect(video.rotationDegrees == 0 && (video.width, video.height) == (isWide ? (64, 48) : (48, 64)))
    #expect(video.pixelAspectRatio == (isWide ? .init(horizontal: 4, vertical: 3) : .init(horizontal: 3, vertical: 4)))
    settings.size = .init(width: 20, height: 40)
    let small = try #require(try readVideo(path, settings).buffers.first)
    #expect(small.pixels?.width == 20 && small.pixels?.height == 40)
    let shape = try #require(small.format.video?.pixelAspectRatio)
    // The display aspect ratio is unchanged.
    let wanted = isWide ? (256, 144) : (144, 256)
    let (width, height) = (shape.horizontal * 20, shape.vertical * 40)
    #expect(width * wanted.1 == height * wanted.0)
  }

  @Test("the clean aperture rotates with the frame") func cleanApertureRotatesWithTheFrame() {
    var video = FormatDescription.Video(width: 100, height: 60)
    video.cleanAperture = .init(width: 80, height: 40, horizontalOffset: 10, verticalOffset: -5)
    func upright(_ degrees: Int) -> FormatDescription.Video.CleanAperture? {
      video.rotationDegrees = degrees
      return video.upright.cleanAperture
    }
    #expect(upright(0) == video.cleanAperture)
    #expect(upright(90) == .init(width: 40, height: 80, horizontalOffset: 5, verticalOffset: 10))
    #expect(upright(180) == .init(width: 80, height: 40, horizontalOffset: -10, verticalOffset: 5))
    #expect(upright(270) == .init(width: 40, height: 80, horizontalOffset: -5, verticalOffset: -10))
  }

  /// A known colour in its matrix and range is converted to the same colour.
  @Test(arguments: [
    ("bt709", "tv", 1), ("smpte170m", "tv", 6), ("bt709", "pc", 1), ("smpte170m", "pc", 6), ("bt2020nc", "tv", 9),
  ]) func conversionUsesTheMatrixAndRangeOfTheFrame(_ matrix: String, _ range: String, _ number: Int) throws {
    let folder = try TemporaryFolder()
    let filter =
      "format=gbrp,scale=out_color_matrix=\(matrix == "bt2020nc" ? "bt2020" : matrix):out_range=\(range),format=yuv444p"
    let fixture = VideoFixture(
      "colour.mkv", source: ["-f", "lavfi", "-i", "color=c=0x2080d0:size=64x48:duration=0.1", "-vf", filter],
      ["-c:v", "ffv1", "-colorspace", matrix, "-color_range", range])
    let path = try fixture.make(in: folder)
    let image = try #require(try readVideo(path, VideoReadSettings(.bgra)).buffers.first?.pixels)
    let pixel = image.data.prefix(4).map { Int($0) }
    for (found, wanted) in zip(pixel, [0xd0, 0x80, 0x20, 0xff]) {
      #expect(abs(found - wanted) <= 2, "\(matrix): \(pixel)")
    }
    let luma = try #require(try readVideo(path, VideoReadSettings(.i420)).buffers.first?.format.video)
    #expect(luma.color.matrix == number && luma.color.isFullRange == (range == "pc"))
  }

  @Test func audioAndVideoShareOneTimeline() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("both.ts")
    try Tool.ffmpeg(
      arguments: VideoFixture.pattern() + ["-f", "lavfi", "-i", "sine=duration=2"]
        + ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-bf", "2", "-c:a", "mp2", path])
    let asset = Asset(path: path)
    let reader = AssetReader(asset: asset)
    let (video, audio) = (AssetReaderVideoOutput(), AssetReaderTrackOutput())
    for output in [video, audio] as [AssetReaderOutput] { try reader.add(output) }
    try reader.startReading()
    // One output is read to its end before the other.
    let frames = video.remainder()
    let audioBuffers = audio.remainder()
    #expect(reader.status == .completed)
    #expect(frames.count == 50 && !audioBuffers.isEmpty)
    let tracks = try asset.load().tracks
    let (videoStart, audioStart) = (tracks[0].timeRange.start, tracks[1].timeRange.start)
    #expect(min(videoStart, audioStart) == .zero)
    #expect(frames.first?.presentationTime == videoStart)
  }

  @Test func undecodablePacketsAreReported() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture("whole.avi", ["-c:v", "mjpeg"]).make(in: folder)
    var bytes = try readFile(path)
    // Frames start with these four bytes. The tenth loses its tables.
    let starts = bytes.indices.dropLast(4).filter { bytes[$0...].starts(with: [0xff, 0xd8, 0xff]) }
    for index in starts[10] + 2..<starts[10] + 600 { bytes[index] = 0 }
    let (buffers, reader, output) = try readVideo(try folder.write(bytes, as: "hurt.avi"), VideoReadSettings())
    #expect(reader.status == .completed && (48...49).contains(buffers.count), "\(buffers.count)")
    #expect(output.fault?.code == .decodeFailed)
    for (one, next) in zip(buffers, buffers.dropFirst()) { #expect(one.endTime == next.presentationTime) }
  }

  @Test func truncatedFileIsReadUpToItsEnd() throws {
    let folder = try TemporaryFolder()
    let whole = try readFile(try VideoFixture("whole.mkv", ["-c:v", "ffv1"]).make(in: folder))
    let path = try folder.write(Array(whole.prefix(whole.count / 2)), as: "half.mkv")
    let buffers = try readVideo(path, VideoReadSettings()).buffers
    #expect((20...30).contains(buffers.count), "\(buffers.count)")
  }

  @Test func fileWithoutVideoIsRejected() throws {
    let folder = try TemporaryFolder()
    let audio = folder.file("audio.flac")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", audio)
    let cover = folder.file("cover.m4a")
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "sine=duration=0.2"] + VideoFixture.pattern(seconds: "0.04") + [
        "-map", "0", "-map", "1", "-c:v", "mjpeg", "-disposition:v", "attached_pic", cover,
      ])
    let film = try Self.film.make(in: folder)
    for (path, trackID, code) in [(audio, nil, 3003), (cover, nil, 3003), (film, 7, 1012)] as [(String, Int?, Int)] {
      let reader = AssetReader(asset: Asset(path: path))
      try reader.add(AssetReaderVideoOutput(trackID: trackID))
      #expect(errorCode { try reader.startReading() } == code, "\(path)")
      #expect(reader.status == .failed)
    }
  }

  @Test("cancellation ends a read in progress", .timeLimit(.minutes(2)))
  func cancellationEndsAReadInProgress() throws {
    let folder = try TemporaryFolder()
    let path = try Self.film.make(in: folder)
    let reader = AssetReader(asset: Asset(path: path))
    let output = AssetReaderVideoOutput(
      settings: VideoReadSettings(size: .init(width: 1_920, height: 1_080)), supportsRandomAccess: true)
    try reader.add(output)
    try reader.startReading()
    #expect(output.copyNextSampleBuffer() != nil)
    let read = ConditionMutex(0)
    let film = TimeRange(start: .zero, end: Self.time(200))
    NamedThread.detached(name: "copies") {
      // Reads the film again and again, so that reading does not end before it is cancelled.
      while reader.status == .reading {
        while output.copyNextSampleBuffer() != nil { read.update { $0 = max(1, $0) } }
        try? output.reset(forReadingTimeRanges: [film])
      }
      read.update { $0 = 2 }
    }
    _ = read.wait { $0 > 0 ? true : nil } as Bool?
    reader.cancelReading()
    _ = read.wait { $0 == 2 ? true : nil } as Bool?
    #expect(output.copyNextSampleBuffer() == nil && reader.status == .cancelled)
  }
}
