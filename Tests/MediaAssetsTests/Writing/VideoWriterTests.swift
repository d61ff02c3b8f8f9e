import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Writing video.
@Suite struct VideoWriterTests {
  private static let containers: [WritableContainer] = [.mp4, .mov, .matroska]

  @Test("frames of every pixel format keep their times in every container", arguments: containers)
  func framesOfEveryFormatKeepTheirTimes(_ container: WritableContainer) throws {
    let folder = try TemporaryFolder()
    for format in PixelFormat.allCases {
      let path = folder.file("\(format).\(container)")
      let row = Comment(rawValue: "\(container) \(format)")
      try VideoRig.write(path, container, times: VideoRig.times(60), format: VideoRig.format(format))
      let file = try WrittenFile(path)
      let stream = try #require(file.streams("video").first)
      #expect(stream["codec_name"] as? String == "h264" && stream["width"] as? Int == 128, row)
      #expect(try file.decodingWarnings() == "", row)
      #expect(try VideoRig.numbers(path) == Array(0..<60), row)
      let milliseconds: [Double] = file.times(of: stream).map { ($0 * 1_000).rounded() }
      let expected: [Double] = (0..<60).map { (number: Int) -> Double in Double(40 * number) }
      #expect(milliseconds == expected, row)
      #expect(abs(file.duration - 2.4) < 0.001, row)
      print("\(container)\th264 from \(format)\t60 frames, their times, \(file.duration) s")
    }
  }

  @Test("irregular times are exact to the tick, and the last frame lasts until the end of the session")
  func irregularTimesAreExactToTheTick() throws {
    let folder = try TemporaryFolder()
    let values: [Int64] = [0, 1_001, 1_500, 9_000, 9_001, 30_000, 45_003]
    let times = values.map { MediaTime(value: $0, timescale: 30_000) }
    for container in [WritableContainer.mp4, .mov] {
      let path = folder.file("film.\(container)")
      try VideoRig.write(
        path, container, times: times, end: MediaTime(value: 60_000, timescale: 30_000), mediaTimescale: 30_000)
      #expect(try WrittenFile.frames(path, timescale: 30_000).map { Int64($0.ticks) } == values)
      #expect(try VideoRig.numbers(path) == Array(0..<7))
      let file = try WrittenFile(path)
      #expect(abs(file.duration - 2) < 0.000_1)
      let warnings = try file.decodingWarnings()
      #expect(warnings.isEmpty, "\(warnings)")
    }
  }

  @Test("the key frame interval, profile, level, size and aspect ratio are as requested")
  func keyFramesAndEncoderSettingsAreAsRequested() throws {
    let folder = try TemporaryFolder()
    print("profile              checked")
    for profile in VideoOutputSettings.Profile.allCases {
      let path = folder.file("\(profile).mp4")
      let settings = VideoRig.settings {
        $0.profile = profile
        $0.level = "3.1"
        $0.keyFrameInterval = 10
        $0.maximumThreadCount = 2
        ($0.width, $0.height) = (64, 48)
        $0.pixelAspectRatio = .init(horizontal: 4, vertical: 3)
      }
      // All frames are alike, so the encoder inserts no key frames at scene cuts.
      try VideoRig.write(path, .mp4, times: VideoRig.times(45), settings) { _ in 5 }
      let file = try WrittenFile(path)
      let stream = try #require(file.streams("video").first)
      let names = [VideoOutputSettings.Profile.baseline: "Constrained Baseline", .main: "Main", .high: "High"]
      #expect(stream["profile"] as? String == names[profile])
      #expect(stream["level"] as? Int == 31)
      #expect(stream["width"] as? Int == 64 && stream["height"] as? Int == 48)
      #expect(stream["sample_aspect_ratio"] as? String == "4:3")
      #expect((stream["has_b_frames"] as? Int == 0) == (profile == .baseline))
      #expect(file.keyTimes(of: stream).map { ($0 * 25).rounded() } == [0, 10, 20, 30, 40])
      let warnings = try file.decodingWarnings()
      #expect(warnings.isEmpty, "\(warnings)")
      print("\(profile)\tprofile, level 3.1, 64 x 48, 4:3, key frames every 10 frames")
    }
  }

  @Test("key frames are at most the requested duration apart, also with irregular times")
  func keyFramesAreAtMostTheRequestedDurationApart() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("film.mp4")
    let settings = VideoRig.settings { $0.keyFrameIntervalDuration = MediaTime(value: 1, timescale: 2) }
    let values: [Int64] = Array(0..<10).map { $0 * 100 } + Array(0..<40).map { 1_000 + $0 * 20 }
    try VideoRig.write(path, .mp4, times: values.map { MediaTime(value: $0, timescale: 1_000) }, settings)
    let file = try WrittenFile(path)
    let keys = file.keyTimes(of: try #require(file.streams("video").first))
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $1 - $0 <= 0.500_1 })
    #expect(keys.count == 4, "\(keys)")
  }

  @Test("the encoder follows the bit rate, the constant quality and the permission to reorder frames")
  func encoderFollowsBitRateQualityAndReordering() throws {
    let folder = try TemporaryFolder()
    func size(_ change: (inout VideoOutputSettings) -> Void) throws -> Int {
      let path = folder.file("film.mp4")
      var options = AssetWriter.Options()
      options.replacesFile = true
      try VideoRig.write(path, .mp4, times: VideoRig.times(50), VideoRig.settings(change), options: options)
      return try readFile(path).count
    }
    #expect(try size { $0.constantQuality = 10 } > size { $0.constantQuality = 40 })
    let low = try size { ($0.constantQuality, $0.bitRate) = (nil, 20_000) }
    #expect(try size { ($0.constantQuality, $0.bitRate) = (nil, 400_000) } > low)
    let path = folder.file("order.mp4")
    try VideoRig.write(path, .mp4, times: VideoRig.times(30), VideoRig.settings { $0.allowsFrameReordering = false })
    #expect(try WrittenFile(path).streams("video").first?["has_b_frames"] as? Int == 0)
  }

  @Test("RGB is converted to the color of the settings and marked accordingly")
  func rgbIsConvertedToTheColorOfTheSettings() throws {
    let folder = try TemporaryFolder()
    var wide = FormatDescription.Video.ColorProperties()
    (wide.primaries, wide.transfer, wide.matrix, wide.isFullRange) = (9, 14, 9, true)
    print("settings  marked                decoded red")
    for (name, color) in [("nothing", nil), ("BT.2020", wide)] as [(String, FormatDescription.Video.ColorProperties?)] {
      let path = folder.file("\(name).mp4")
      let input = AssetWriterInput(
        settings: VideoRig.settings { ($0.color, $0.constantQuality) = (color, 5) },
        sourceFormat: VideoRig.format(.bgra))
      let writer = AssetWriter(path: path, container: .mp4)
      try writer.add(input)
      try writer.startWriting()
      try writer.startSession(atSourceTime: .zero)
      let red = try PixelBuffer(
        .bgra, width: 128, height: 96, data: (0..<128 * 96).flatMap { _ in [30, 20, 220, 255] as [UInt8] })
      try input.append(SampleBuffer(pixels: red, presentationTime: .zero))
      try writer.finishWriting()
      let stream = try #require(WrittenFile(path).streams("video").first)
      let written = ["color_primaries", "color_transfer", "color_space", "color_range"].map { stream[$0] as? String }
      #expect(
        written
          == (color == nil
            ? ["smpte170m", "smpte170m", "smpte170m", "tv"] : ["bt2020", "bt2020-10", "bt2020nc", "pc"]))
      try Tool.ffmpeg(
        "-i", path, "-vf", "scale=flags=accurate_rnd+full_chroma_int", "-pix_fmt", "bgra", "-f", "rawvideo",
        path + ".raw")
      let pixel = try readFile(path + ".raw").prefix(4)
      #expect(zip(pixel, [30, 20, 220, 255]).allSatisfy { abs(Int($0) - $1) <= 4 }, "\(Array(pixel))")
      print("\(name)\t \(written.compactMap(\.self).joined(separator: " "))\t\(Array(pixel))")
    }
  }

  @Test("the shown pixels are exactly those of the clean aperture")
  func shownPixelsAreThoseOfTheCleanAperture() throws {
    let folder = try TemporaryFolder()
    for container in Self.containers {
      let path = folder.file("film.\(container)")
      let settings = VideoRig.settings {
        $0.cleanAperture = .init(width: 64, height: 48, horizontalOffset: -16, verticalOffset: 4)
      }
      try VideoRig.write(path, container, times: VideoRig.times(10), settings)
      let stream = try #require(WrittenFile(path).streams("video").first)
      #expect(stream["width"] as? Int == 64 && stream["height"] as? Int == 48)
      // Columns 16 to 80 of 128: bits 1 to 4 of the number. FFmpeg's program keeps pixels on the left unless unaligned
      // rows are allowed.
      try Tool.ffmpeg("-flags", "+unaligned", "-i", path, "-pix_fmt", "gray", "-f", "rawvideo", path + ".raw")
      let bytes = try readFile(path + ".raw")
      #expect(bytes.count == 10 * 64 * 48)
      for number in 0..<10 {
        let row = bytes[(number * 64 * 48)..<(number * 64 * 48 + 64)]
        let bits = (0..<4).map { row[row.startIndex + $0 * 16 + 8] > 120 }
        #expect(bits == (1...4).map { number >> $0 & 1 == 1 }, "\(container) \(number)")
      }
    }
  }

  @Test("the rotation of a track is written and read back", arguments: [90, 180, 270])
  func rotationIsWrittenAndReadBack(_ degrees: Int) throws {
    let folder = try TemporaryFolder()
    var format = VideoRig.format()
    format.video?.rotationDegrees = degrees
    for container in [WritableContainer.mp4, .mov] {
      let path = folder.file("film.\(container)")
      try VideoRig.write(path, container, times: VideoRig.times(3), format: format)
      let stream = try #require(WrittenFile(path).streams("video").first)
      let side = (stream["side_data_list"] as? [WrittenFile.Object])?.compactMap { $0["rotation"] as? Int }
      // FFmpeg rotates in the opposite direction.
      #expect(side == [degrees == 270 ? 90 : degrees == 90 ? -90 : -180])
      #expect(try StoredSamples(path).format.video?.rotationDegrees == degrees)
      let copy = folder.file("copy.\(container)")
      try PacketCopy.copy(path, to: copy, container)
      #expect(try StoredSamples(copy).format.video?.rotationDegrees == degrees)
    }
  }

  // MARK: - Sessions

  @Test(
    "frames before the session are not shown, a frame across its start begins there, and a late first frame stays late"
  )
  func framesBeforeTheSessionAreNotShown() throws {
    let folder = try TemporaryFolder()
    print("container  first frame  shown frames, in ms")
    for container in Self.containers {
      let early = folder.file("early.\(container)")
      // Frames 0 to 19 from 1 s on, every 100 ms. The session starts at 1.25 s, within frame 2.
      let times = (0..<20).map { MediaTime(value: 1_000 + Int64($0) * 100, timescale: 1_000) }
      try VideoRig.write(early, container, times: times, start: MediaTime(value: 1_250, timescale: 1_000))
      #expect(try VideoRig.numbers(early) == Array(2..<20))
      let shown = try WrittenFile.frames(early, timescale: 1_000).map(\.ticks)
      #expect(shown == [0] + (0..<17).map { 50 + $0 * 100 }, "\(container)")
      let late = folder.file("late.\(container)")
      try VideoRig.write(late, container, times: times, start: .zero)
      let lateShown = try WrittenFile.frames(late, timescale: 1_000).map(\.ticks)
      #expect(lateShown == (0..<20).map { 1_000 + $0 * 100 }, "\(container)")
      #expect(try WrittenFile(late).decodingWarnings() == "")
      print("\(container)\tearly\(shown.prefix(3))\tlate \(lateShown.prefix(3))")
    }
  }

  @Test("audio and video are interleaved, also with fragments and with the index at the front", arguments: containers)
  func audioAndVideoAreInterleaved(_ container: WritableContainer) throws {
    let folder = try TemporaryFolder()
    let variants: [(String, (inout AssetWriter.Options) -> Void)] = [
      ("plain", { _ in }), ("front", { $0.shouldOptimizeForNetworkUse = true }),
      ("fragments", { $0.movieFragmentInterval = MediaTime(value: 1, timescale: 2) }),
    ]
    for (name, change) in variants where container.isMovie || name == "plain" {
      var options = AssetWriter.Options()
      change(&options)
      let path = folder.file("\(name).\(container)")
      let (audio, video) = (
        WriterRig.audio(container.isMovie ? .aac : .flac),
        AssetWriterInput(settings: VideoRig.settings(), sourceFormat: VideoRig.format())
      )
      let writer = try WriterRig.writer(path, container, [audio, video], options: options)
      for second in 0..<4 {
        try audio.append(waiting: WriterRig.buffer(second * 48_000..<(second + 1) * 48_000))
        for time in VideoRig.times(25, from: Int64(second) * 25) {
          try video.append(
            waiting: SampleBuffer(pixels: VideoRig.image(Int(time.value)), presentationTime: time))
        }
      }
      try writer.finishWriting()
      let file = try WrittenFile(path)
      #expect(file.streams("audio").count == 1 && file.streams("video").count == 1)
      #expect(try file.decodingWarnings() == "", "\(container) \(name)")
      #expect(try VideoRig.numbers(path) == Array(0..<100))
      let decoded = try WrittenFile.decodedAudio(path)
      #expect(decoded.count / 8 == 4 * 48_000, "\(container) \(name)")
      // In the file, a frame and the audio of its time are at most the interleaving distance apart.
      let packets = file.packets.compactMap { packet -> (Double, Int)? in
        guard let time = (packet["dts_time"] as? String ?? packet["pts_time"] as? String).flatMap(Double.init),
          let byteOffset = (packet["pos"] as? String).flatMap(Int.init)
        else { return nil }
        return (time, byteOffset)
      }.sorted { $0.1 < $1.1 }
      let largestStepBack = zip(packets, packets.dropFirst()).map { $0.0 - $1.0 }.max() ?? 0
      #expect(largestStepBack < (name == "fragments" ? 1 : 0.2), "\(container) \(name): \(largestStepBack) s")
      print("\(container)\t\(name)\t100 video frames, 192000 frames of audio, \(largestStepBack) s apart at most")
    }
  }

  @Test("an input without data does not block the other one", .timeLimit(.minutes(2)))
  func inputWithoutDataDoesNotBlockTheOther() throws {
    let folder = try TemporaryFolder()
    for delaysAudio in [true, false] {
      let path = folder.file("film\(delaysAudio).mp4")
      let (audio, video) = (
        WriterRig.audio(.aac), AssetWriterInput(settings: VideoRig.settings(), sourceFormat: VideoRig.format())
      )
      let writer = try WriterRig.writer(path, .mp4, [audio, video])
      func appendAudio() throws {
        for second in 0..<15 { try audio.append(waiting: WriterRig.buffer(second * 48_000..<(second + 1) * 48_000)) }
        audio.markAsFinished()
      }
      func appendVideo() throws {
        for (number, time) in VideoRig.times(375).enumerated() {
          try video.append(waiting: SampleBuffer(pixels: VideoRig.image(number & 255), presentationTime: time))
        }
        video.markAsFinished()
      }
      if delaysAudio {
        try appendVideo()
        try appendAudio()
      } else {
        try appendAudio()
        try appendVideo()
      }
      try writer.finishWriting()
      #expect(try WrittenFile(path).decodingWarnings() == "")
      #expect(try VideoRig.numbers(path) == (0..<375).map { $0 & 255 })
      #expect(try WrittenFile.decodedAudio(path).count / 8 == 15 * 48_000)
    }
  }

  @Test("a real-time input accepts frames while its larger queue has room, and then throws an error")
  func realTimeInputAcceptsFramesWhileItsQueueHasRoom() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("film.mp4")
    let settings = VideoRig.settings { $0.preset = .slow }
    let format = VideoRig.format()
    let input = AssetWriterInput(settings: settings, sourceFormat: format, expectsMediaDataInRealTime: true)
    let offlineInput = AssetWriterInput(settings: settings, sourceFormat: format)
    let frameByteCount = PixelFormat.i420.byteCount(width: 128, height: 96)
    #expect(input.queueByteLimit == 16 * frameByteCount && offlineInput.queueByteLimit == 3 * frameByteCount)
    let large = VideoRig.format(width: 8_192, height: 4_320)
    #expect(
      AssetWriterInput(settings: settings, sourceFormat: large, expectsMediaDataInRealTime: true).queueByteLimit
        <= 128 << 20)
    let writer = try WriterRig.writer(path, .mp4, [input])
    let buffers = try VideoRig.times(250).enumerated().map { number, time in
      try SampleBuffer(pixels: VideoRig.image(number), presentationTime: time)
    }
    var accepted: [Int] = []
    for (number, buffer) in buffers.enumerated() {
      let isReady = input.isReadyForMoreMediaData
      do throws(MediaError) {
        try input.append(buffer)
        accepted.append(number)
      } catch {
        // It may have become ready in between, but not the reverse.
        #expect(!isReady && error.code == .invalidState)
      }
    }
    #expect(accepted.starts(with: 0..<16))
    #expect(accepted.count < 250, "no frame was rejected")
    try writer.finishWriting()
    #expect(try VideoRig.numbers(path) == accepted)
    #expect(try WrittenFile.frames(path, timescale: 1_000).map(\.ticks) == accepted.map { $0 * 40 })
  }

  // MARK: - The pool

  @Test("the adaptor's pool exists while the writer writes, and reuses its memory")
  func pixelBufferPoolExistsWhileWriting() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("film.mp4")
    let input = AssetWriterInput(settings: VideoRig.settings(), sourceFormat: VideoRig.format())
    let adaptor = try AssetWriterInputPixelBufferAdaptor(assetWriterInput: input)
    #expect(adaptor.pixelBufferPool == nil)
    let writer = AssetWriter(path: path, container: .mp4)
    try writer.add(input)
    #expect(adaptor.pixelBufferPool == nil)
    try writer.startWriting()
    try writer.startSession(atSourceTime: .zero)
    let pool = try #require(adaptor.pixelBufferPool)
    for (number, time) in VideoRig.times(40).enumerated() {
      var pixels = try pool.makePixelBuffer()
      pixels.data = try VideoRig.image(number).data
      try adaptor.append(waiting: pixels, withPresentationTime: time)
      #expect(pool.idleCount <= pool.maximumIdleCount)
    }
    try writer.finishWriting()
    #expect(pool.idleCount > 0)
    #expect(adaptor.pixelBufferPool == nil)
    #expect(try VideoRig.numbers(path) == Array(0..<40))
    expectError(.invalidArgument) { try AssetWriterInputPixelBufferAdaptor(assetWriterInput: WriterRig.audio(.aac)) }
  }
}
