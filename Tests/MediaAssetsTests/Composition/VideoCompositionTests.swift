import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Composited video frames, compared with manually computed pixels.
@Suite struct VideoCompositionTests {
  private static func time(_ value: Int64, _ timescale: Int32 = 100) -> MediaTime {
    MediaTime(value: value, timescale: timescale)
  }

  /// An image with one row for each list of grey pixels. Default: opaque.
  private static func grey(_ rows: [[UInt8]], alpha: UInt8 = 255) throws -> PixelBuffer {
    try PixelBuffer(
      .bgra, width: rows[0].count, height: rows.count, data: rows.flatMap { $0.flatMap { [$0, $0, $0, alpha] } })
  }

  /// The blue value of each pixel.
  private static func values(_ canvas: ImageCanvas) throws -> [[Int]] {
    let image = try canvas.image()
    return (0..<image.height).map { row in
      (0..<image.width).map { Int(image.data[4 * (row * image.width + $0)]) }
    }
  }

  @Test func drawnPixelsEqualManuallyComputedOnes() throws {
    let dot = try Self.grey([[200]])
    let pair = try Self.grey([[100, 200], [10, 20]])
    let black = RGBColor.black
    let rows: [(String, PixelBuffer, ImageTransform, Double, ImageRectangle?, [[Int]])] = [
      ("unchanged", pair, .identity, 1, nil, [[100, 200, 0], [10, 20, 0]]),
      ("moved", pair, .translation(x: 1, y: 1), 1, nil, [[0, 0, 0], [0, 100, 200]]),
      ("moved out", pair, .translation(x: -1, y: 0), 1, nil, [[200, 0, 0], [20, 0, 0]]),
      ("far away", pair, .translation(x: 1e12, y: 0), 1, nil, [[0, 0, 0], [0, 0, 0]]),
      // (100 * 128 + 127) / 255, because 0.5 of 255 is 128.
      ("half", pair, .identity, 0.5, nil, [[50, 100, 0], [5, 10, 0]]),
      ("a quarter", dot, .identity, 0.25, nil, [[50, 0, 0], [0, 0, 0]]),
      ("invisible", pair, .identity, 0, nil, [[0, 0, 0], [0, 0, 0]]),
      ("cut", pair, .identity, 1, .init(x: 1, y: 0, width: 1, height: 1), [[0, 200, 0], [0, 0, 0]]),
      ("cut to nothing", pair, .identity, 1, .init(x: 5, y: 0, width: 1, height: 1), [[0, 0, 0], [0, 0, 0]]),
      // The centre of the first pixel is at a quarter pixel of the image: (0.25, 0.75, 1.25) of it.
      ("twice as wide", try Self.grey([[100, 200]]), .scale(x: 2, y: 1), 1, nil, [[100, 125, 175], [0, 0, 0]]),
      // Between two pixels: the mean of both. The centre of the first is on the edge, where the nearest pixel is used.
      ("half a pixel", try Self.grey([[100, 200]]), .translation(x: 0.5, y: 0), 1, nil, [[100, 150, 0], [0, 0, 0]]),
      (
        "rotated by 90", pair, .upright(rotationDegrees: 90, width: 2, height: 2), 1, nil,
        [[10, 100, 0], [20, 200, 0]]
      ),
      (
        "rotated by 180", pair, .upright(rotationDegrees: 180, width: 2, height: 2), 1, nil,
        [[20, 10, 0], [200, 100, 0]]
      ),
      (
        "rotated by 270", pair, .upright(rotationDegrees: 270, width: 2, height: 2), 1, nil,
        [[200, 20, 0], [100, 10, 0]]
      ),
      ("a line", pair, .scale(x: 0, y: 1), 1, nil, [[0, 0, 0], [0, 0, 0]]),
    ]
    for (name, image, transform, opacity, crop, wanted) in rows {
      var canvas = ImageCanvas(width: 3, height: 2)
      canvas.clear(black)
      canvas.draw(image, transform: transform, opacity: opacity, crop: crop)
      let found = try Self.values(canvas)
      print("\(name): \(found)")
      #expect(found == wanted, "\(name)")
    }
  }

  @Test func blendedAlphaEqualsManuallyComputedValues() throws {
    var canvas = ImageCanvas(width: 1, height: 1)
    canvas.clear(.init(red: 30, green: 20, blue: 10))
    #expect(try canvas.image().data == [10, 20, 30, 255])
    // 128 of 255: (200 * 128 + 10 * 127 + 127) / 255.
    canvas.draw(try Self.grey([[200]], alpha: 128), transform: .identity, opacity: 1)
    #expect(try canvas.image().data == [105, 110, 115, 255])
    // Over transparency it is unchanged, with its alpha.
    canvas.clear(.init(red: 0, green: 0, blue: 0, alpha: 0))
    canvas.draw(try Self.grey([[200]], alpha: 128), transform: .identity, opacity: 1)
    #expect(try canvas.image().data == [200, 200, 200, 128])
    // 128 of 100 over 128 * 127 / 255 of 200; opaque to 128 + 64.
    canvas.draw(try Self.grey([[100]], alpha: 128), transform: .identity, opacity: 1)
    #expect(try canvas.image().data == [133, 133, 133, 192])
  }

  @Test func rampsAreLinearAndKeepTheirEndValue() throws {
    var layer = VideoCompositionLayer(trackID: 1)
    try layer.setOpacityRamp(from: 0, to: 1, timeRange: TimeRange(start: Self.time(100), end: Self.time(200)))
    try layer.setOpacity(0.25, at: Self.time(400))
    for (at, wanted) in [(0, nil), (100, 0), (150, 0.5), (199, 0.99), (200, 1), (399, 1), (400, 0.25), (900, 0.25)]
      as [(Int64, Double?)]
    {
      #expect(layer.opacities.value(at: Self.time(at)) == wanted, "\(at)")
    }
    try layer.setTransformRamp(
      from: .identity, to: .translation(x: 10, y: -4), timeRange: TimeRange(start: .zero, end: Self.time(200)))
    #expect(layer.transforms.value(at: Self.time(50)) == .translation(x: 2.5, y: -1))
    try layer.setCropRamp(
      from: .init(x: 0, y: 0, width: 8, height: 8), to: .init(x: 4, y: 4, width: 0, height: 0),
      timeRange: TimeRange(start: .zero, end: Self.time(200)))
    #expect(layer.crops.value(at: Self.time(100)) == .init(x: 2, y: 2, width: 4, height: 4))
    for (start, end, code) in [(150, 250, 1001), (50, 120, 1001), (-10, 10, 1002), (300, 290, 1002)]
      as [(Int64, Int64, Int)]
    {
      let range = TimeRange(start: Self.time(start), duration: Self.time(end - start))
      #expect(errorCode { try layer.setOpacityRamp(from: 0, to: 1, timeRange: range) } == code, "\(start)..<\(end)")
    }
    for opacity in [-0.1, 1.1, .nan] { expectError(.invalidArgument) { try layer.setOpacity(opacity, at: .zero) } }
    expectError(.invalidArgument) { try layer.setTransform(.translation(x: .infinity, y: 0), at: Self.time(900)) }
  }

  @Test func invalidCompositionsAreRejected() throws {
    let second = TimeRange(start: .zero, duration: Self.time(100))
    let good = VideoComposition(
      renderSize: .init(width: 8, height: 8), frameDuration: Self.time(4), instructions: [.init(timeRange: second)])
    try good.check()
    var wrong = [good, good, good, good, good]
    wrong[0].renderSize.width = 0
    wrong[1].frameDuration = .zero
    wrong[2].instructions = []
    wrong[3].instructions = [
      .init(timeRange: second), .init(timeRange: TimeRange(start: Self.time(99), duration: Self.time(9))),
    ]
    wrong[4].instructions = [.init(timeRange: TimeRange(start: Self.time(-1), duration: Self.time(9)))]
    for (composition, code) in zip(wrong, [1001, 1002, 1001, 1001, 1002]) {
      #expect(errorCode { try composition.check() } == code)
    }
  }

  // MARK: - Files

  /// A red track of a second and a blue one that starts a second later, lossless; 25 frames a second.
  private static func makeTwoTrackVideo(_ folder: TemporaryFolder) throws -> String {
    let path = folder.file("two.mkv")
    try Tool.ffmpeg(
      arguments: [
        "-f", "lavfi", "-i", "color=c=0xff0000:size=8x4:rate=25:duration=1,format=gbrp", "-itsoffset", "0.2", "-f",
        "lavfi", "-i",
        "color=c=0x0000ff:size=4x4:rate=25:duration=1,format=gbrp", "-map", "0", "-map", "1", "-c:v", "ffv1",
        "-pix_fmt", "bgr0",
        "-vsync", "passthrough", path,
      ])
    return path
  }

  private static func render(
    _ asset: Asset, _ composition: VideoComposition, _ format: PixelFormat = .bgra, range: TimeRange? = nil
  ) throws -> [SampleBuffer] {
    let reader = AssetReader(asset: asset)
    let output = AssetReaderVideoCompositionOutput(videoComposition: composition, pixelFormat: format)
    if let range { try reader.setTimeRange(range) }
    try reader.add(output)
    try reader.startReading()
    let buffers = output.remainder()
    #expect(reader.status == .completed && output.fault == nil)
    return buffers
  }

  /// The red and blue values of a pixel.
  private static func color(_ buffer: SampleBuffer, _ x: Int, _ y: Int) -> [UInt8] {
    let offset = 4 * (y * (buffer.format.video?.width ?? 0) + x)
    return [buffer.data[offset + 2], buffer.data[offset]]
  }

  @Test func tracksAreCompositedInLayerOrder() throws {
    let folder = try TemporaryFolder()
    let asset = Asset(path: try Self.makeTwoTrackVideo(folder))
    var top = VideoCompositionLayer(trackID: 1)
    try top.setTransform(.translation(x: 4, y: 0), at: .zero)
    try top.setOpacityRamp(from: 1, to: 0, timeRange: TimeRange(start: Self.time(40), end: Self.time(80)))
    let composition = VideoComposition(
      renderSize: .init(width: 10, height: 4), frameDuration: Self.time(10),
      instructions: [
        .init(
          timeRange: TimeRange(start: .zero, end: Self.time(80)), backgroundColor: .init(red: 0, green: 9, blue: 0),
          layers: [VideoCompositionLayer(trackID: 0), top]),
        .init(timeRange: TimeRange(start: Self.time(90), end: Self.time(200)), layers: [top]),
      ])
    let buffers = try Self.render(asset, composition)
    #expect(buffers.map(\.presentationTime) == (0..<12).map { Self.time(10 * $0) })
    #expect(buffers.allSatisfy { $0.duration == Self.time(10) })
    // The upper track has not started; then it covers the right half; at 0.6 s its opacity is half: 128 of 255.
    #expect(Self.color(buffers[0], 0, 0) == [255, 0] && Self.color(buffers[0], 5, 0) == [255, 0])
    #expect(Self.color(buffers[0], 9, 3) == [0, 0] && buffers[0].data[4 * 9 + 1] == 9)
    #expect(Self.color(buffers[2], 3, 0) == [255, 0] && Self.color(buffers[2], 4, 0) == [0, 255])
    #expect(Self.color(buffers[6], 4, 0) == [127, 128] && Self.color(buffers[6], 3, 3) == [255, 0])
    // Between instructions it is black, and after the end of the ramp nothing is visible.
    #expect(Self.color(buffers[8], 0, 0) == [0, 0] && buffers[8].data[4 * 9 + 1] == 0)
    #expect(Self.color(buffers[11], 4, 0) == [0, 0])
    let rangeBuffers = try Self.render(
      asset, composition, range: TimeRange(start: Self.time(25), end: Self.time(45)))
    #expect(rangeBuffers.map(\.presentationTime) == [Self.time(25), Self.time(30), Self.time(40)])
    #expect(rangeBuffers.map(\.duration) == [Self.time(5), Self.time(10), Self.time(5)])
    #expect(rangeBuffers.map(\.data) == buffers[2...4].map(\.data))
    let luma = try Self.render(asset, composition, .nv12)
    #expect(
      luma.count == 12 && luma[0].format.video?.pixelFormatName == "nv12" && luma[0].format.video?.color.matrix == 6)
    // Red in BT.601: 16 + 219 * 0.299.
    #expect(abs(Int(luma[0].data[0]) - 81) <= 1)
    let reader = AssetReader(asset: asset)
    var strange = composition
    strange.instructions[0].layers.append(VideoCompositionLayer(trackID: 9))
    try reader.add(AssetReaderVideoCompositionOutput(videoComposition: strange))
    expectError(.noSuchTrack) { try reader.startReading() }
  }

  @Test func lastVideoFrameIsShownUntilTheEndOfTheAudio() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("long-audio.mp4")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=1", "-f", "lavfi", "-i", "sine=r=48000:d=3",
      "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", path)
    var composition = Composition()
    try composition.insertTimeRange(TimeRange(start: .zero, end: Self.time(300)), of: Asset(path: path), at: .zero)
    // The video of the file ends before the inserted range; then the track ends before the audio.
    for end in [300, 200, 90] as [Int64] {
      if end < 300, let video = composition.tracks.first(where: { $0.mediaType == .video }) {
        try composition.removeTimeRange(TimeRange(start: Self.time(end), end: Self.time(300)), fromTrack: video.id)
      }
      let generator = AssetImageGenerator(asset: Asset(composition: composition))
      (generator.requestedTimeToleranceBefore, generator.requestedTimeToleranceAfter) = (.zero, .zero)
      for wanted in [150, 250, 300, 50, 299] as [Int64] {
        let found = try generator.image(at: Self.time(wanted)).actualTime
        #expect(found == (wanted == 50 ? Self.time(48) : end == 90 ? Self.time(88) : Self.time(96)), "\(end) \(wanted)")
      }
    }
  }

  @Test func failedReadLeavesNoVideoFrameOfAnotherTime() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture(
      "film.mp4", ["-c:v", "libx264", "-preset", "ultrafast", "-g", "12", "-pix_fmt", "yuv420p"]
    ).make(in: folder)
    let source = Asset(path: path)
    var composition = Composition()
    let track = try composition.addTrack(.video)
    try composition.insertTimeRange(
      TimeRange(start: .zero, end: Self.time(100)), ofTrack: nil, of: source, at: .zero, inTrack: track)
    let reader = try CompositionVideoReader(composition, interrupt: Interrupt(), trackID: nil, log: nil)
    #expect(try reader.next()?.time == .zero)
    #expect(try reader.next()?.time == Self.time(4))
    reader.cancel()
    expectError(.cancelled) { try reader.next() }
    #expect(reader.currentFrame == nil)
    reader.resetCancellation()
    #expect(try reader.next()?.time == Self.time(8))
    try reader.seek(to: Self.time(50))
    #expect(reader.currentFrame?.time == Self.time(48))
    #expect(try reader.next()?.time == Self.time(48))
    #expect(try reader.next()?.time == Self.time(52))
  }

  @Test func segmentsOfACompositionAreReadInOrder() throws {
    let folder = try TemporaryFolder()
    let path = try VideoFixture(
      "film.mp4", ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "12", "-pix_fmt", "yuv420p"]
    ).make(in: folder)
    let source = Asset(path: path)
    let all = try readVideo(path, VideoReadSettings(.i420)).buffers
    var composition = Composition()
    let track = try composition.addTrack(.video)
    // Frames 25 to 29, then 2 to 4 (the first and the last partly), a gap of 0.1 s, then 10 and 11 at half the rate.
    for (start, end, at) in [(100, 120, 0), (10, 20, 20), (40, 48, 40)] as [(Int64, Int64, Int64)] {
      try composition.insertTimeRange(
        TimeRange(start: Self.time(start), end: Self.time(end)), ofTrack: nil, of: source, at: Self.time(at),
        inTrack: track)
    }
    try composition.scaleTimeRange(
      TimeRange(start: Self.time(40), duration: Self.time(8)), toDuration: Self.time(16), inTrack: track)
    let asset = Asset(composition: composition)
    let reader = AssetReader(asset: asset)
    let output = AssetReaderVideoOutput(settings: VideoReadSettings(.i420), supportsRandomAccess: true)
    try reader.add(output)
    try reader.startReading()
    let found = output.remainder()
    let frameIndices = [25, 26, 27, 28, 29, 2, 3, 4, 10, 11]
    #expect(found.map(\.data) == frameIndices.map { all[$0].data })
    let starts: [Int64] = [0, 4, 8, 12, 16, 20, 22, 26, 40, 48]
    #expect(found.map(\.presentationTime) == starts.map { Self.time($0) })
    #expect(found.map(\.duration) == [4, 4, 4, 4, 4, 2, 4, 4, 8, 8].map { Self.time($0) })
    try output.reset(forReadingTimeRanges: [TimeRange(start: Self.time(18), end: Self.time(42))])
    let part = output.remainder()
    #expect(part.map(\.data) == [29, 2, 3, 4, 10].map { all[$0].data })
    #expect(part.first?.presentationTime == Self.time(18) && part.last?.endTime == Self.time(42))
    let generator = AssetImageGenerator(asset: asset)
    #expect(try generator.image(at: Self.time(50)).actualTime == Self.time(48))
    #expect(try generator.image(at: Self.time(56)).actualTime == Self.time(48))
    #expect(try generator.image(at: Self.time(21)).actualTime == Self.time(20))
    #expect(try generator.image(at: .zero).actualTime == .zero)
    // Composited over black, every 0.1 s: there is no frame at 0.3 s.
    let rendered = try Self.render(
      asset,
      VideoComposition(
        renderSize: .init(width: 176, height: 144), frameDuration: Self.time(10),
        instructions: [
          .init(
            timeRange: TimeRange(start: .zero, duration: .positiveInfinity),
            layers: [VideoCompositionLayer(trackID: track)])
        ]))
    let plain = try readVideo(path, VideoReadSettings(.bgra)).buffers
    #expect(rendered.count == 6)
    #expect(
      rendered[0].data == plain[25].data && rendered[2].data == plain[2].data && rendered[5].data == plain[11].data)
    #expect(rendered[3].data.enumerated().allSatisfy { $1 == ($0 % 4 == 3 ? 255 : 0) })
  }
}
