import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Copies of video that is stored in unusual ways. `ffprobe` and `ffmpeg` compare the frames.
@Suite(.timeLimit(.minutes(5))) struct CopiedVideoTests {
  private static let testVideo = ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=2"]
  private static let x264 = ["-c:v", "libx264", "-g", "12", "-bf", "3", "-x264-params", "scenecut=0:open-gop=1"]

  /// The checksums of a file's decoded frames, in presentation order.
  private static func frames(_ path: String, in folder: TemporaryFolder) throws -> [String] {
    let output = folder.file("frames")
    try Tool.ffmpeg("-i", path, "-map", "0:v:0", "-vsync", "passthrough", "-f", "framemd5", output)
    return String(decoding: try readFile(output), as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.compactMap { $0.split(separator: " ").last.map(String.init) }
  }

  private static func copy(
    _ source: String, to target: String, _ container: WritableContainer, _ range: TimeRange? = nil
  ) async throws {
    var settings = ExportSettings.passthrough(container)
    if let range { settings.timeRange = range }
    let outcome = try await AssetExportSession(
      Asset(path: source), to: target, settings, replacesFile: true
    ).outcome()
    #expect(outcome.fault == nil)
  }

  /// H.264 in MP4 or MOV with 49 frames. The last B-frame has a negative composition offset (`ctts` of version 1): its
  /// decoding time is 512 ticks after its presentation time. FFmpeg's demuxer does not shift the decoding times for the
  /// last entry.
  private static func withNegativeOffset(_ folder: TemporaryFolder, _ ending: String) throws -> String {
    let source = folder.file("source.\(ending)")
    try Tool.ffmpeg(
      arguments: testVideo + [
        "-frames:v", "49", "-c:v", "libx264", "-g", "60", "-bf", "1", "-b_strategy", "0", "-x264-params",
        "scenecut=0", source,
      ])
    let durations = [(47, 512), (1, 1_024), (1, 512)]
    var bytes = try MovieBoxes.withSampleDurations(durations, duration: 50 * 512, in: readFile(source))
    let table = try MovieBoxes.range(of: ["moov", "trak", "mdia", "minf", "stbl", "ctts"], in: bytes)
    bytes[table.lowerBound + 8] = 1
    #expect(MovieBoxes.number(bytes, table.upperBound - 8) == 1 && MovieBoxes.number(bytes, table.upperBound - 4) == 0)
    bytes.replaceSubrange(table.upperBound - 4..<table.upperBound, with: MovieBoxes.bigEndian(Int32(-512)))
    return try folder.write(bytes, as: "negative.\(ending)")
  }

  @Test(
    "a copy of video with a negative composition offset has every frame, also in a range", arguments: ["mp4", "mov"])
  func copyOfVideoWithANegativeOffsetHasEveryFrame(_ ending: String) async throws {
    let folder = try TemporaryFolder()
    let source = try Self.withNegativeOffset(folder, ending)
    let packets = try ProbedPacket.all(source, stream: 0).packets
    #expect(packets.last.map { ($0.pts ?? 0) < ($0.dts ?? 0) } == true, "the file has no negative offset")
    let frames = try Self.frames(source, in: folder)
    #expect(frames.count == 49)
    for container in [WritableContainer.mp4, .mov, .matroska] {
      let target = folder.file("copy.\(container)")
      try await Self.copy(source, to: target, container)
      #expect(try Self.frames(target, in: folder) == frames, "\(container)")
      // The frame of 47 / 25 s is stored last, with a decoding time at the end of the range.
      let range = TimeRange(start: .zero, end: MediaTime(value: 48, timescale: 25))
      try await Self.copy(source, to: target, container, range)
      #expect(try Self.frames(target, in: folder).prefix(48) == frames.prefix(48), "\(container)")
    }
  }

  /// VP9 in IVF whose hidden frames are separate packets, with the time of the next shown frame.
  private static func withHiddenFrames(_ folder: TemporaryFolder) throws -> String {
    let source = folder.file("source.ivf")
    for pass in ["1", "2"] {
      try Tool.ffmpeg(
        arguments: testVideo + [
          "-c:v", "libvpx-vp9", "-auto-alt-ref", "1", "-lag-in-frames", "25", "-g", "60", "-b:v", "100k", "-pass", pass,
          "-passlogfile", folder.file("log"), source,
        ])
    }
    let bytes = try readFile(source)
    func number(_ offset: Int, _ count: Int, in bytes: [UInt8]) -> Int {
      (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
    var (result, offset, splitCount) = (Array(bytes.prefix(32)), 32, 0)
    while offset < bytes.count {
      let byteCount = number(offset, 4, in: bytes)
      let time = bytes[offset + 4..<offset + 12]
      let frame = Array(bytes[offset + 12..<offset + 12 + byteCount])
      offset += 12 + byteCount
      var sizes = [frame.count]
      // The index at the end of a superframe (VP9 Bitstream Specification, annex B).
      if let last = frame.last, last & 0xE0 == 0xC0 {
        let (width, count) = (Int(last >> 3 & 3) + 1, Int(last & 7) + 1)
        let index = frame.count - 2 - width * count
        sizes = (0..<count).map { number(index + 1 + width * $0, width, in: frame) }
        splitCount += 1
      }
      var begin = 0
      for size in sizes {
        result += (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) } + time + frame[begin..<begin + size]
        begin += size
      }
    }
    #expect(splitCount > 0, "the encoder made no hidden frame")
    return try folder.write(result, as: "hidden.ivf")
  }

  @Test("a copy of VP9 whose hidden frames are separate packets has every frame")
  func copyOfVP9WithSeparateHiddenFramesHasEveryFrame() async throws {
    let folder = try TemporaryFolder()
    let source = try Self.withHiddenFrames(folder)
    let frames = try Self.frames(source, in: folder)
    #expect(frames.count == 50)
    for container in [WritableContainer.webm, .matroska, .mp4] {
      let target = folder.file("copy.\(container)")
      try await Self.copy(source, to: target, container)
      #expect(try Self.frames(target, in: folder) == frames, "\(container)")
      #expect(try WrittenFile(target).decodingWarnings() == "")
    }
  }

  /// Files with estimated or unknown durations: two seconds of noise, then four without change.
  @Test(
    "a whole copy and a whole encode have every video frame and all audio, whatever the estimated duration is",
    arguments: [("a.ts", []), ("a.flv", ["-flvflags", "no_duration_filesize"]), ("a.mkv", ["-live", "1"])])
  func wholeExportHasEveryFrameDespiteAnEstimatedDuration(_ name: String, _ options: [String]) async throws {
    let folder = try TemporaryFolder()
    let source = folder.file(name)
    let audio = "if(lt(t,2),0.5*(random(0)-0.5),0.05*sin(2*PI*(200+90*t)*t))"
    try Tool.ffmpeg(
      arguments: [
        "-f", "lavfi", "-i",
        "testsrc2=size=64x48:rate=25:duration=2,noise=alls=60:allf=t,tpad=stop_mode=clone:stop=100",
        "-f", "lavfi", "-i", "aevalsrc='\(audio)':d=6:s=48000",
      ] + Self.x264 + ["-c:a", "aac", "-aac_pns", "0"] + options + [source])
    let frames = try Self.frames(source, in: folder)
    #expect(frames.count == 150)
    let whole = try AudioTrackReader(asset: Asset(path: source)).readToEnd()
    let estimate = try await Asset(path: source).load(.duration)
    print("\(name): estimated \(estimate.seconds) s, \(frames.count) video frames, \(whole.count) audio frames")
    for container in [WritableContainer.mp4, .matroska] {
      let target = folder.file("copy.\(container)")
      try await Self.copy(source, to: target, container)
      #expect(try Self.frames(target, in: folder) == frames, "\(container)")
      let copied = try AudioTrackReader(asset: Asset(path: target)).readToEnd()
      #expect(copied.count == whole.count, "\(container)")
      #expect(SampleComparison.largestDifference(copied, whole[...]) <= 1e-4, "\(container)")
    }
    let target = folder.file("encoded.mov")
    let settings = ExportSettings(.mov, audio: .encode(AudioOutputSettings(.pcm(.float32))))
    let outcome = try await AssetExportSession(Asset(path: source), to: target, settings).outcome()
    #expect(outcome.fault == nil)
    #expect(try Self.frames(target, in: folder).count == frames.count)
    let encoded = try AudioTrackReader(asset: Asset(path: target)).readToEnd()
    #expect(encoded.count == whole.count)
    #expect(SampleComparison.largestDifference(encoded, whole[...]) <= 1e-6)
  }

  @Test("a copied range has its last frame", arguments: ["a.mp4", "a.mov", "a.mkv", "a.ts", "a.flv"])
  func copiedRangeHasItsLastFrame(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.file(name)
    try Tool.ffmpeg(arguments: Self.testVideo + Self.x264 + [source])
    let frames = try Self.frames(source, in: folder)
    #expect(frames.count == 50)
    let origin = try await Asset(path: source).load(.tracks)[0].timeRange.start
    for container in [WritableContainer.mp4, .matroska] {
      let target = folder.file("copy.\(container)")
      // Two frames of every group of four are shown before a frame that is stored before them.
      for end in [50, 49, 48, 47, 46, 45, 31, 2, 1] {
        let range = TimeRange(start: .zero, end: origin + MediaTime(value: Int64(end), timescale: 25))
        try await Self.copy(source, to: target, container, range)
        let copied = try Self.frames(target, in: folder)
        #expect(Array(copied.prefix(end)) == Array(frames.prefix(end)), "\(container) up to frame \(end)")
        // Frames after the range are there only if the frames within it refer to them.
        #expect(copied.count <= end + 4, "\(container): \(copied.count) frames up to frame \(end)")
      }
    }
  }
}
