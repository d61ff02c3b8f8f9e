import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Invalid input of a writer: an error code, and no file.
@Suite struct WriterBadInputTests {
  private static func names(in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  @Test("inputs that do not fit the container or their source format are rejected when they are added")
  func unsuitableInputsAreRejectedWhenAdded() throws {
    let folder = try TemporaryFolder()
    func coded(_ name: String, _ type: FormatDescription.MediaType = .audio) -> FormatDescription {
      FormatDescription(
        mediaType: type, codecName: name, audio: type == .audio ? .init(sampleRateHz: 48_000, channelCount: 2) : nil,
        video: type == .video ? .init(width: 64, height: 48) : nil)
    }
    func stored(_ name: String, _ type: FormatDescription.MediaType = .audio) -> AssetWriterInput {
      AssetWriterInput(settings: .passthrough, sourceFormat: coded(name, type))
    }
    func video(
      _ width: Int = 64, _ height: Int = 48, _ change: @escaping (inout VideoOutputSettings) -> Void = { _ in }
    ) -> AssetWriterInput {
      AssetWriterInput(settings: VideoRig.settings(change), sourceFormat: VideoRig.format(width: width, height: height))
    }
    func rotated(_ degrees: Int, _ format: FormatDescription = VideoRig.format()) -> AssetWriterInput {
      var format = format
      format.video?.rotationDegrees = degrees
      let isCoded = format.codecName != FormatDescription.pixelsCodecName
      return AssetWriterInput(
        settings: isCoded ? .passthrough : .video(VideoRig.settings()), sourceFormat: format)
    }
    func withAudio(_ format: FormatDescription, _ settings: AssetWriterInput.Settings) -> AssetWriterInput {
      var format = format
      format.audio = .init(sampleRateHz: 0, channelCount: 2)
      if format.video == nil { format.video = .init(width: 64, height: 48) }
      return AssetWriterInput(settings: settings, sourceFormat: format)
    }
    let rows: [(String, WritableContainer, AssetWriterInput)] = [
      ("video with audio", .mp4, withAudio(VideoRig.format(), .video(VideoRig.settings()))),
      ("coded video with audio", .mp4, withAudio(coded("h264", .video), .passthrough)),
      ("audio with video", .mp4, withAudio(coded("aac"), .passthrough)),
      ("rotated video in Matroska", .matroska, rotated(90)),
      ("rotated coded video in Matroska", .matroska, rotated(270, coded("h264", .video))),
      ("rotated coded video in WebM", .webm, rotated(180, coded("vp9", .video))),
      ("video rotated by 45 degrees", .mp4, rotated(45)),
      ("coded video rotated by 45 degrees", .mp4, rotated(45, coded("h264", .video))),
      ("AAC in CAF", .caf, stored("aac")), ("AAC in Ogg", .ogg, stored("aac")), ("MP3 in FLAC", .flac, stored("mp3")),
      ("Opus in M4A", .m4a, stored("opus")), ("Vorbis in MOV", .mov, stored("vorbis")),
      ("AAC in WebM", .webm, stored("aac")),
      ("AAC in WAV", .wav, stored("aac")), ("Opus in MP3", .mp3, stored("opus")), ("FLAC in MP4", .mp4, stored("flac")),
      ("H.264 in WebM", .webm, stored("h264", .video)), ("H.264 in M4A", .m4a, stored("h264", .video)),
      ("VP9 in MOV", .mov, stored("vp9", .video)), ("ProRes in MOV", .mov, stored("prores", .video)),
      ("an unknown codec", .matroska, stored("no such codec")), ("subtitles", .matroska, stored("subrip", .subtitle)),
      ("video in WAV", .wav, video()), ("video in WebM", .webm, video()),
      ("video in Ogg", .ogg, video()),
      ("an odd width", .mp4, video(65, 48)), ("an odd height", .mp4, video(64, 47)),
      ("an odd output width", .mp4, video { $0.width = 33 }), ("no width", .mp4, video(0, 48)),
      ("a huge width", .mp4, video(1 << 20, 48)), ("a negative output width", .mp4, video { $0.width = -2 }),
      ("bit rate and quality", .mp4, video { $0.bitRate = 100_000 }),
      ("quality", .mp4, video { $0.constantQuality = 52 }),
      ("not a number", .mp4, video { $0.constantQuality = .nan }),
      ("a level", .mp4, video { $0.level = "9" }), ("key frames", .mp4, video { $0.keyFrameInterval = 0 }),
      ("key frames' time", .mp4, video { $0.keyFrameIntervalDuration = .zero }),
      ("threads", .mp4, video { $0.maximumThreadCount = 0 }),
      ("an aperture that is too large", .mp4, video { $0.cleanAperture = .init(width: 66, height: 48) }),
      ("an odd aperture", .mp4, video { $0.cleanAperture = .init(width: 61, height: 48) }),
      ("an aperture outside", .mp4, video { $0.cleanAperture = .init(width: 32, height: 48, horizontalOffset: 40) }),
      ("a pixel", .mp4, video { $0.pixelAspectRatio = .init(horizontal: 0, vertical: 1) }),
      (
        "a color", .mp4,
        video {
          $0.color = .init()
          $0.color?.matrix = 99
        }
      ),
      (
        "settings for video, audio", .mp4,
        AssetWriterInput(settings: VideoRig.settings(), sourceFormat: WriterRig.source)
      ),
      (
        "settings for audio, video", .mp4,
        AssetWriterInput(settings: AudioOutputSettings(.aac), sourceFormat: VideoRig.format())
      ),
      (
        "coded video to be encoded", .mp4,
        AssetWriterInput(settings: VideoRig.settings(), sourceFormat: coded("h264", .video))
      ),
      (
        "audio without a description", .mp4,
        AssetWriterInput(settings: .passthrough, sourceFormat: FormatDescription(mediaType: .audio, codecName: "aac"))
      ),
      (
        "video without a description", .mp4,
        AssetWriterInput(settings: .passthrough, sourceFormat: FormatDescription(mediaType: .video, codecName: "h264"))
      ),
      (
        "no ticks", .mp4,
        AssetWriterInput(settings: VideoRig.settings(), sourceFormat: VideoRig.format(), mediaTimescale: 0)
      ),
    ]
    for (name, container, input) in rows {
      let writer = AssetWriter(path: folder.file("file"), container: container)
      var message = ""
      do throws(MediaError) { try writer.add(input) } catch { message = "\(error)" }
      #expect(!message.isEmpty && (message.hasPrefix("1001 ") || message.hasPrefix("4003 ")), "\(name): \(message)")
      print("\(name)\t\(message)")
    }
    #expect(try Self.names(in: folder) == [])
  }

  @Test("frames of another format, and times out of order, are rejected, and the file continues without them")
  func invalidFramesAreRejectedAndWritingContinues() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("film.mp4")
    let input = AssetWriterInput(settings: VideoRig.settings(), sourceFormat: VideoRig.format())
    let writer = AssetWriter(path: path, container: .mp4)
    func buffer(_ number: Int, _ format: PixelFormat = .i420, width: Int = 128, at time: MediaTime? = nil) throws
      -> SampleBuffer
    {
      try SampleBuffer(
        pixels: VideoRig.image(number, format, width: width),
        presentationTime: time ?? MediaTime(value: Int64(number), timescale: 25))
    }
    expectError(.invalidState, "without a writer") { try input.append(waiting: buffer(0)) }
    try writer.add(input)
    try writer.startWriting()
    expectError(.invalidState, "before the session") { try input.append(waiting: buffer(0)) }
    try writer.startSession(atSourceTime: .zero)
    try input.append(waiting: buffer(0))
    try input.append(waiting: buffer(1))
    let short = try SampleBuffer(
      format: VideoRig.format(), data: [UInt8](repeating: 0, count: 100),
      presentationTime: MediaTime(value: 2, timescale: 25))
    let rows: [(String, MediaError.Code, SampleBuffer)] = [
      ("another format", .invalidArgument, try buffer(2, .nv12)),
      ("another size", .invalidArgument, try buffer(2, width: 64)),
      ("too few bytes", .invalidArgument, short), ("audio", .invalidArgument, try WriterRig.buffer(0..<100)),
      ("the same time", .invalidTime, try buffer(1)), ("an earlier time", .invalidTime, try buffer(0)),
      (
        "less than a tick later", .invalidTime,
        try buffer(2, at: MediaTime(value: 40_000_001, timescale: 1_000_000_000))
      ),
      ("too far", .invalidTime, try buffer(2, at: MediaTime(value: .max, timescale: 1))),
    ]
    for (name, expected, buffer) in rows {
      expectError(expected, "\(name)") { try input.append(waiting: buffer) }
      print("\(name)\t\(expected)")
    }
    try input.append(waiting: buffer(2))
    try writer.endSession(atSourceTime: MediaTime(value: 3, timescale: 25))
    expectError(.invalidState, "after the end") { try input.append(waiting: buffer(3)) }
    try writer.finishWriting()
    expectError(.invalidState, "after it is finished") { try input.append(waiting: buffer(4)) }
    #expect(try VideoRig.numbers(path) == [0, 1, 2])
  }

  @Test("packets out of order, of another codec, or with a cut that no container can store are rejected")
  func invalidPacketsAreRejected() throws {
    let folder = try TemporaryFolder()
    let source = folder.file("audio.m4a")
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=r=48000:d=1", "-ac", "2", "-c:a", "aac", source)
    let output = AssetReaderStoredOutput()
    let reader = AssetReader(asset: Asset(path: source))
    try reader.add(output)
    try reader.startReading()
    var buffers: [SampleBuffer] = []
    while let buffer = output.copyNextSampleBuffer() { buffers.append(buffer) }
    let format = try #require(output.format)
    func changed(
      _ index: Int, at time: MediaTime? = nil,
      _ change: (inout SampleBuffer.Attachments, inout FormatDescription) -> Void = { _, _ in }
    ) throws -> SampleBuffer {
      var (attachments, format) = (buffers[index].attachments, format)
      change(&attachments, &format)
      return try SampleBuffer(
        format: format, data: buffers[index].data, presentationTime: time ?? buffers[index].presentationTime,
        duration: buffers[index].duration, attachments: attachments)
    }
    let cut = MediaTime(value: 100, timescale: 48_000)
    let rows: [(String, MediaError.Code, SampleBuffer)] = [
      ("an earlier packet", .invalidTime, buffers[1]),
      ("packets that never end", .invalidTime, try changed(3) { $1.audio?.framesPerPacket = .max }),
      ("packets that are too long", .invalidTime, try changed(3) { $1.audio?.framesPerPacket = 1 << 52 }),
      ("packets of no frames", .invalidTime, try changed(3) { $1.audio?.framesPerPacket = 0 }),
      ("packets that go back", .invalidTime, try changed(3) { $1.audio?.framesPerPacket = .min }),
      ("another codec", .invalidArgument, try changed(3) { $1.codecName = "mp3" }),
      ("other setup data", .invalidArgument, try changed(3) { $1.setupData = [1, 2] }),
      ("another rate", .invalidArgument, try changed(3) { $1.audio?.sampleRateHz = 44_100 }),
      ("a cut in the middle", .unsupportedEdit, try changed(3) { attachments, _ in attachments.trimAtStart = cut }),
      (
        "video", .invalidArgument,
        try SampleBuffer(pixels: VideoRig.image(1), presentationTime: MediaTime(value: 1, timescale: 1))
      ),
    ]
    let input = AssetWriterInput(settings: .passthrough, sourceFormat: format)
    let path = folder.file("copy.m4a")
    let writer = try WriterRig.writer(path, .m4a, [input])
    for buffer in buffers.prefix(3) { try input.append(waiting: buffer) }
    for (name, code, buffer) in rows {
      expectError(code, "\(name)") { try input.append(waiting: buffer) }
      print("\(name)\t\(code)")
    }
    for buffer in buffers.dropFirst(3) { try input.append(waiting: buffer) }
    let later = try changed(buffers.count - 1, at: MediaTime(value: 2, timescale: 1)) { attachments, _ in
      attachments.trimAtEnd = .zero
    }
    expectError(.unsupportedEdit, "after a cut end") { try input.append(waiting: later) }
    try writer.finishWriting()
    #expect(try WrittenFile.decodedAudio(path) == WrittenFile.decodedAudio(source))
    // A file without timestamps has no gaps.
    try Tool.ffmpeg("-i", source, "-c:a", "libmp3lame", folder.file("audio.mp3"))
    let mp3 = try StoredSamples(folder.file("audio.mp3"))
    let other = AssetWriterInput(settings: .passthrough, sourceFormat: mp3.format)
    let second = try WriterRig.writer(folder.file("gap.mp3"), .mp3, [other])
    try other.append(waiting: mp3.buffers[0])
    expectError(.unsupportedEdit) { try other.append(waiting: mp3.buffers[20]) }
    second.cancelWriting()
    expectError(.cancelled) { try second.finishWriting() }
    #expect(!FileManager.default.fileExists(atPath: folder.file("gap.mp3")))
  }

  @Test("cancelling or releasing a writer leaves no file", .timeLimit(.minutes(2)))
  func cancelledOrReleasedWriterLeavesNoFile() throws {
    let folder = try TemporaryFolder()
    for isReleased in [true, false] {
      let (audio, video) = (
        WriterRig.audio(.aac), AssetWriterInput(settings: VideoRig.settings(), sourceFormat: VideoRig.format())
      )
      var writer: AssetWriter? = try WriterRig.writer(folder.file("film.mp4"), .mp4, [audio, video])
      for second in 0..<2 {
        try audio.append(waiting: WriterRig.buffer(second * 48_000..<(second + 1) * 48_000))
        for time in VideoRig.times(25, from: Int64(second) * 25) {
          try video.append(waiting: SampleBuffer(pixels: VideoRig.image(Int(time.value)), presentationTime: time))
        }
      }
      if isReleased {
        let shared = writer?.shared
        writer = nil
        // Its thread ends by itself; pending calls get an error.
        let late = try SampleBuffer(pixels: VideoRig.image(1), presentationTime: MediaTime(value: 100, timescale: 1))
        expectError(.cancelled) { try video.append(waiting: late) }
        _ = shared?.wait { $0.hasEnded ? true : nil }
      } else {
        writer?.cancelWriting()
        expectError(.cancelled) { try writer?.finishWriting() }
      }
      #expect(try Self.names(in: folder) == [])
    }
  }

  @Test("a full disk is an error and leaves no file", .timeLimit(.minutes(2)))
  func fullDiskIsAnErrorAndLeavesNoFile() throws {
    let folder = try TemporaryFolder()
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try #require(mount("none", disk, "tmpfs", 0, "size=64k") == 0, "a tmpfs needs root")
    defer { umount2(disk, Int32(2)) }
    for variant in ["plain", "fragments", "front"] {
      var options = AssetWriter.Options()
      options.shouldOptimizeForNetworkUse = variant == "front"
      if variant == "fragments" { options.movieFragmentInterval = MediaTime(value: 1, timescale: 2) }
      let settings = VideoRig.settings { ($0.constantQuality, $0.preset) = (1, .ultrafast) }
      let input = AssetWriterInput(settings: settings, sourceFormat: VideoRig.format())
      let writer = try WriterRig.writer(disk + "/film.mp4", .mp4, [input], options: options)
      var (failure, seed): (MediaError?, UInt64) = (nil, 1)
      for time in VideoRig.times(400) where failure == nil {
        // Incompressible data.
        let data = (0..<128 * 96 * 3 / 2).map { _ -> UInt8 in
          seed = seed &* 6_364_136_223_846_793_005 &+ 1
          return UInt8(truncatingIfNeeded: seed >> 56)
        }
        let buffer = try SampleBuffer(
          pixels: PixelBuffer(.i420, width: 128, height: 96, data: data), presentationTime: time)
        do throws(MediaError) { try input.append(waiting: buffer) } catch { failure = error }
      }
      #expect(failure?.code == .writeFailed && failure?.underlying?.contains("No space left") == true, "\(variant)")
      expectError(.writeFailed, "\(variant)") { try writer.finishWriting() }
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == [], "\(variant)")
    }
  }

  @Test("a path that cannot be written or exists already is an error before encoding")
  func unwritableOrExistingPathFailsBeforeEncoding() throws {
    let folder = try TemporaryFolder()
    let disk = folder.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try #require(mount("none", disk, "tmpfs", UInt(MS_RDONLY), "size=64k") == 0, "a tmpfs needs root")
    defer { umount2(disk, Int32(2)) }
    try folder.write([1], as: "film.mp4")
    let rows: [(String, String, MediaError.Code)] = [
      ("read only", disk + "/film.mp4", .writeFailed), ("no folder", folder.file("no/film.mp4"), .writeFailed),
      ("a folder", disk, .fileExists), ("existing", folder.file("film.mp4"), .fileExists),
    ]
    for (name, path, code) in rows {
      let writer = AssetWriter(path: path, container: .mp4)
      try writer.add(AssetWriterInput(settings: VideoRig.settings(), sourceFormat: VideoRig.format()))
      expectError(code, "\(name)") { try writer.startWriting() }
      #expect(writer.status == .failed, "\(name)")
    }
    #expect(try readFile(folder.file("film.mp4")) == [1])
  }
}

/// The stored samples of a file.
struct StoredSamples {
  let format: FormatDescription
  let buffers: [SampleBuffer]

  init(_ path: String, _ range: TimeRange? = nil, track: AssetTrack.ID? = nil) throws {
    let output = AssetReaderStoredOutput(trackID: track)
    let reader = AssetReader(asset: Asset(path: path))
    if let range { try reader.setTimeRange(range) }
    try reader.add(output)
    try reader.startReading()
    var buffers: [SampleBuffer] = []
    while let buffer = output.copyNextSampleBuffer() { buffers.append(buffer) }
    self.buffers = buffers
    format = try #require(output.format)
  }
}
