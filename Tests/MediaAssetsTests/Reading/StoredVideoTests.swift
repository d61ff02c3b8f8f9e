import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Reading stored video.
@Suite struct StoredVideoTests {
  /// Files with reordered frames, with the options that convert the first file.
  private static let sources: [(name: String, options: [String])] = [
    ("plain.mp4", ["-c", "copy"]), ("edited.mp4", ["-ss", "0.7", "-c", "copy"]), ("mkv", ["-c", "copy"]),
    ("frag.mp4", ["-c", "copy", "-movflags", "frag_keyframe+empty_moov"]), ("ts", ["-c", "copy"]),
    ("late.mp4", ["-c", "copy", "-output_ts_offset", "0.5"]), ("mov", ["-c", "copy"]),
  ]

  /// 75 frames with a key frame every 12, up to three B-frames in sequence, and audio.
  private static func make(_ row: Int, in folder: TemporaryFolder) throws -> String {
    let first = folder.file("first.mkv")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=3", "-f", "lavfi", "-i", "sine=duration=3", "-c:v",
      "libx264",
      "-preset", "veryfast", "-bf", "3", "-g", "12", "-x264-params", "scenecut=0:open-gop=1", "-c:a", "aac", first)
    let path = folder.file("a.\(sources[row].name)")
    let isInput = sources[row].options.first == "-ss"
    let options = isInput ? Array(sources[row].options.dropFirst(2)) : sources[row].options
    try Tool.ffmpeg(
      arguments: (isInput ? Array(sources[row].options.prefix(2)) : []) + ["-i", first] + options + [path])
    return path
  }

  private static func video(_ path: String) throws -> AssetTrack {
    try #require(Asset(path: path).load().tracks.first { $0.mediaType == .video })
  }

  @Test(arguments: sources.indices)
  func storedVideoPacketsEqualThoseOfFFprobe(_ row: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder)
    let track = try Self.video(path)
    let reading = try StoredReading(Asset(path: path), trackID: track.id)
    let (packets, timeBase, _) = try ProbedPacket.all(path, stream: track.id)
    print("stored | \(Self.sources[row].name) | \(packets.count) frames by ffprobe, \(reading.buffers.count) read")
    #expect(reading.status == .completed && reading.fault == nil && packets.count > 50)
    #expect(reading.buffers.map(\.data.count) == packets.map(\.byteCount))
    #expect(reading.buffers.map { ProbedPacket.checksum($0.data) } == packets.map(\.checksum))
    #expect(reading.buffers.map(\.attachments.isSync) == packets.map(\.isSync))
    // Times are those of the file, apart from the origin.
    let origin =
      try #require(packets.first?.pts.map { timeBase.time(ofTicks: $0) }) - reading.buffers[0].presentationTime
    for (buffer, packet) in zip(reading.buffers, packets) {
      #expect(buffer.presentationTime == packet.pts.map { timeBase.time(ofTicks: $0) - origin })
      #expect(buffer.decodeTime == packet.dts.map { timeBase.time(ofTicks: $0) - origin } ?? .invalid)
      #expect(!packet.isDiscarded || buffer.outputDuration == .zero)
    }
    #expect(origin == .zero || !path.hasSuffix("mp4") && !path.hasSuffix("mov"))
    let shown = reading.buffers.filter { $0.outputDuration > .zero }.map(\.presentationTime).min()
    #expect(shown.map { abs(($0 - track.timeRange.start).seconds) < 0.021 } == true)
    let video = try #require(reading.format?.video)
    #expect(reading.format?.codecName == "h264" && reading.format?.setupData.isEmpty == false)
    #expect(video.width == 64 && video.height == 48 && video.pixelFormatName == "yuv420p")
    #expect(abs(video.frameDuration.seconds - 0.04) < 0.003)
  }

  @Test(arguments: sources.indices)
  func rangeContainsEveryPacketThatItsFramesNeed(_ row: Int) throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(row, in: folder)
    let track = try Self.video(path)
    let whole = try StoredReading(Asset(path: path), trackID: track.id).buffers
    for (start, end) in [(0.0, 0.3), (0.5, 0.501), (0.95, 1.4), (1.013, 1.9), (1.7, 60)] {
      let range = TimeRange(
        start: MediaTime(seconds: start, preferredTimescale: 90_000),
        end: MediaTime(seconds: end, preferredTimescale: 90_000))
      let part = try StoredReading(Asset(path: path), trackID: track.id, range)
      let wanted = whole.filter {
        $0.outputDuration > .zero && $0.endTime > range.start && $0.presentationTime < range.end
      }
      // No frame is shown yet.
      if wanted.isEmpty { #expect(part.buffers.allSatisfy { $0.outputDuration == .zero }) }
      guard !wanted.isEmpty else { continue }
      let first = try #require(whole.firstIndex { $0.data == part.buffers.first?.data })
      // In the order of the file, from a key frame at or before the start.
      #expect(part.buffers.map(\.data) == whole[first..<first + part.buffers.count].map(\.data))
      #expect(part.buffers.first?.attachments.isSync == true)
      #expect(start == 0 || part.buffers.first.map { $0.presentationTime <= range.start } == true)
      // Every frame that is shown in the range is present, and frames that are not shown are marked.
      let shown = part.buffers.filter { $0.outputDuration > .zero }
      #expect(Set(shown.map(\.presentationTime)) == Set(wanted.map(\.presentationTime)), "\(start) to \(end)")
      for buffer in shown {
        #expect(
          buffer.outputPresentationTime >= range.start
            && buffer.outputPresentationTime + buffer.outputDuration <= range.end)
      }
      print(
        "stored | \(Self.sources[row].name) | \(start) to \(end) | \(part.buffers.count) packets for \(shown.count) frames"
      )
      #expect(part.buffers.count <= shown.count + 12 + 13 + 4)
    }
  }

  @Test func formatReportsRotationAspectRatioColorAndFrameDuration() throws {
    let folder = try TemporaryFolder()
    let first = folder.file("first.mp4")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30000/1001:duration=1", "-c:v", "libx264", "-vf", "setsar=4/3",
      "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv", first)
    // A quarter turn clockwise (ISO/IEC 14496-12, 8.3.2): the matrix is 40 bytes after the header's name.
    var bytes = try readFile(first)
    let header = try #require(Data(bytes).range(of: Data("tkhd".utf8)))
    let matrix: [UInt32] = [0, 0x1_0000, 0, 0xffff_0000, 0, 0]
    for (index, byte) in matrix.flatMap({ number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) } }
    )
    .enumerated() {
      bytes[header.upperBound + 40 + index] = byte
    }
    let path = try folder.write(bytes, as: "turned.mp4")
    #expect(try StoredReading(Asset(path: path)).format?.video?.rotationDegrees == 90)
    let video = try #require(StoredReading(Asset(path: first)).format?.video)
    #expect(video.pixelAspectRatio == .init(horizontal: 4, vertical: 3))
    #expect(video.color.primaries == 1 && video.color.transfer == 1 && video.color.matrix == 1)
    #expect(video.color.isFullRange == false && video.rotationDegrees == 0)
    #expect(video.frameDuration == MediaTime(value: 1_001, timescale: 30_000))
  }

  @Test func damagedPacketIsReturnedAndReported() throws {
    let folder = try TemporaryFolder()
    let path = try Self.make(try #require(Self.sources.firstIndex { $0.name == "ts" }), in: folder)
    let track = try Self.video(path)
    let whole = try StoredReading(Asset(path: path), trackID: track.id)
    // A missing part of a frame: packets of 188 bytes (ISO/IEC 13818-1, 2.4.3), of which the second does not start a
    // frame.
    var bytes = try readFile(path)
    let identifier = (bytes.count / 188 / 2..<bytes.count / 188).first { packet in
      let header = bytes[(188 * packet)..<(188 * packet + 3)]
      return header[188 * packet + 1] & 0x5f == 0x01 && header[188 * packet + 2] == 0x00
    }
    let packet = try #require(identifier)
    bytes.removeSubrange((188 * packet)..<(188 * packet + 188))
    let damaged = try folder.write(bytes, as: "damaged.ts")
    let reading = try StoredReading(Asset(path: damaged), trackID: track.id)
    print(
      "stored | a part is missing | \(reading.buffers.count) packets | \(reading.fault.map { "\($0)" } ?? "no fault")")
    #expect(reading.status == .completed && reading.fault?.code == .damagedFile)
    #expect(reading.buffers.count == whole.buffers.count)
  }
}
