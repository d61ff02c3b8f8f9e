import Foundation
import PlayheadLibAV
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// The iteration over MPEG audio headers finds the packets that FFmpeg reads, in intact and damaged files.
@Suite struct MPEGAudioWalkerTests {
  /// A packet, as counted by both.
  struct CountedPacket: Equatable {
    var byte: Int64
    var frame: Int64
  }

  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String]
    var testDescription: String { "\(name) \(options.joined(separator: " "))" }
  }

  static let rows: [Row] = [
    Row(name: "cbr.mp3", options: ["-c:a", "libmp3lame", "-b:a", "128k"]),
    Row(name: "mono.mp3", options: ["-c:a", "libmp3lame", "-b:a", "64k", "-ac", "1", "-ar", "48000"]),
    Row(name: "xing.mp3", options: ["-c:a", "libmp3lame", "-q:a", "2"]),
    Row(name: "no-header.mp3", options: ["-c:a", "libmp3lame", "-q:a", "4", "-write_xing", "0"]),
    Row(name: "untagged.mp3", options: ["-c:a", "libmp3lame", "-q:a", "4", "-write_xing", "0", "-id3v2_version", "0"]),
    Row(name: "tags.mp3", options: ["-c:a", "libmp3lame", "-metadata", "title=Long", "-write_id3v1", "1"]),
    Row(name: "low.mp3", options: ["-c:a", "libmp3lame", "-b:a", "8k", "-ar", "16000", "-ac", "1"]),
    Row(name: "lowest.mp3", options: ["-c:a", "libmp3lame", "-b:a", "8k", "-ar", "8000", "-ac", "1"]),
    Row(name: "thin.mp3", options: ["-c:a", "libmp3lame", "-b:a", "8k", "-ar", "24000", "-ac", "1"]),
    Row(name: "layer2.mp2", options: ["-c:a", "mp2", "-b:a", "192k"]),
  ]

  private static let audioSource = "aevalsrc=0.4*sin(2*PI*(200+150*t)*t)+0.1*random(0):d=6:s=44100"

  /// The packets of a read from the start.
  private func read(_ path: String) throws -> (packets: [CountedPacket], rate: Int) {
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    let stream = try #require(demuxer.streams.first { $0.mediaType == .audio })
    let rate = try #require(stream.sampleRateHz)
    let base = try #require(TimeBase(sampleRateHz: rate))
    let packet = try Packet()
    var packets: [CountedPacket] = []
    while try demuxer.readPacket(into: packet) == .packet {
      let pts = try #require(packet.pts)
      let frame = try #require(base.ticks(from: pts, of: stream.timeBase, rounding: .nearest))
      packets.append(CountedPacket(byte: try #require(packet.bytePosition), frame: frame))
    }
    return (packets, rate)
  }

  private func walk(_ path: String, from firstByte: Int64) throws -> [MPEGAudioWalker.Packet] {
    let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
    var walker = MPEGAudioWalker(source: source, from: PacketIndex.Entry(byte: firstByte, frame: 0))
    var packets: [MPEGAudioWalker.Packet] = []
    while let packet = try walker.next() { packets.append(packet) }
    return packets
  }

  /// The first difference between both; nil if there is none. FFmpeg treats bytes after the last frame as a packet,
  /// which is ignored.
  private func difference(_ path: String) throws -> String? {
    let read = try read(path)
    guard let first = read.packets.first else { return nil }
    let walked = try walk(path, from: first.byte).map { CountedPacket(byte: $0.byte, frame: $0.frame - 0) }
    for (index, pair) in zip(read.packets, walked).enumerated() where pair.0 != pair.1 {
      return "packet \(index) of \(read.packets.count): read \(pair.0), walked \(pair.1)"
    }
    guard (0...1).contains(read.packets.count - walked.count) else {
      return "read \(read.packets.count) packets, walked \(walked.count)"
    }
    return nil
  }

  @Test(arguments: rows)
  func walkerFindsThePacketsOfFFmpegsParser(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(row.name)
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", Self.audioSource] + row.options + [path])
    #expect(try read(path).packets.count > 80)
    #expect(try difference(path) == nil)
  }

  @Test(arguments: [rows[0], rows[2], rows[3], rows[6]])
  func packetsAroundGarbageEqualThoseOfARead(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(row.name)
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", Self.audioSource] + row.options + [path])
    let bytes = try readFile(path)
    var random = SplitMix64(state: 5)
    func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
    let packets = try read(path).packets
    let boundary = Int(packets[packets.count / 2].byte)
    let files: [(String, [UInt8])] = [
      ("front", noise(3_000) + bytes), ("boundary", bytes[..<boundary] + noise(5_000) + bytes[boundary...]),
      ("inside", bytes[..<(boundary + 50)] + noise(777) + bytes[(boundary + 50)...]),
      ("missing", Array(bytes[..<(boundary + 20)] + bytes[(boundary + 720)...])),
      ("zeros", bytes[..<boundary] + [UInt8](repeating: 0, count: 4_096) + bytes[boundary...]),
      ("tag", bytes[..<boundary] + Array("ID3".utf8) + [3, 0, 0, 0, 0, 2, 0] + noise(256) + bytes[boundary...]),
      ("twice", bytes + bytes), ("cut", Array(bytes.prefix(boundary + 100))), ("end", bytes + noise(500)),
    ]
    for (name, bytes) in files {
      let path = try folder.write(bytes, as: "\(name).mp3")
      let difference = try difference(path)
      #expect(difference == nil, "\(name)")
    }
  }

  @Test func packetsOfFilesWithChangedBytesEqualThoseOfARead() throws {
    let folder = try TemporaryFolder()
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", Self.audioSource, "-c:a", "libmp3lame", "-q:a", "6", "-write_xing", "0",
      folder.file("a.mp3"))
    let original = try readFile(folder.file("a.mp3"))
    var random = SplitMix64(state: 17)
    for round in 0..<60 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...60, using: &random) {
        bytes[Int.random(in: 2_000..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let path = try folder.write(bytes, as: "changed.mp3")
      let difference = try difference(path)
      #expect(difference == nil, "round \(round)")
    }
  }

  /// For any bytes, the iteration ends, and its packets are in order.
  @Test func walkOverNoiseEndsWithPacketsInOrder() throws {
    let folder = try TemporaryFolder()
    var random = SplitMix64(state: 23)
    for round in 0..<20 {
      var bytes = (0..<60_000).map { _ in UInt8.random(in: 0...255, using: &random) }
      // With many headers in between.
      for _ in 0..<(round * 100) {
        let offset = Int.random(in: 0..<(bytes.count - 4), using: &random)
        bytes[offset] = 0xff
        bytes[offset + 1] |= 0xe0
      }
      let packets = try walk(folder.write(bytes, as: "noise"), from: 0)
      let isOrdered = zip(packets, packets.dropFirst()).allSatisfy { $0.byte < $1.byte && $0.frame < $1.frame }
      #expect(isOrdered && packets.allSatisfy { $0.mainDataByteCount >= 0 && $0.frameCount > 0 })
    }
    #expect(try walk(folder.write([], as: "empty"), from: 0).isEmpty)
    #expect(try walk(folder.write([0xff, 0xfb], as: "short"), from: 0).isEmpty)
    #expect(try walk(folder.write([0xff, 0xfb, 0x90, 0], as: "beyond"), from: 5_000).isEmpty)
  }

  @Test(arguments: [
    (0xfffb_9000, 417, 1_152, 44_100), (0xfffb_9200, 418, 1_152, 44_100), (0xffe3_18c4, 72, 576, 8_000),
    (0xfff3_14c4, 24, 576, 24_000), (0xfffd_a000, 626, 1_152, 44_100), (0xffff_9000, 312, 384, 44_100),
  ])
  func headerGivesSizeFrameCountAndSampleRate(_ bits: UInt32, _ byteCount: Int, _ frameCount: Int, _ rate: Int) throws {
    let header = try #require(MPEGAudioHeader(bits))
    #expect(header.byteCount == byteCount && header.frameCount == frameCount && header.sampleRateHz == rate)
  }

  /// No sync, reserved version, reserved layer, free format, forbidden bit rate, reserved sampling rate.
  @Test(
    arguments: [0xffdb_9000, 0xffeb_9000, 0xfff9_9000, 0xfffb_0000, 0xfffb_f000, 0xfffb_9c00, 0, 0x4944_3303]
      as [UInt32])
  func invalidHeadersAreRejected(_ bits: UInt32) { #expect(MPEGAudioHeader(bits) == nil) }

  /// Bytes of a layer III packet that later frames may use, by its header (ISO/IEC 11172-3 and 13818-3, 2.4.1).
  private func mainDataByteCount(_ packet: Range<Int>, of bytes: [UInt8]) -> Int {
    let (version, mode) = (bytes[packet.lowerBound + 1], bytes[packet.lowerBound + 3])
    let isMono = mode >> 6 == 3
    let side = version & 0x08 != 0 ? (isMono ? 17 : 32) : (isMono ? 9 : 17)
    return packet.count - 4 - (version & 1 == 0 ? 2 : 0) - side
  }

  /// More than a dozen packets at 8 kbit/s: the preroll is measured in bytes, not packets.
  @Test func prerollIsMeasuredInBytesOfMainData() throws {
    let folder = try TemporaryFolder()
    for (options, expected, reservoir) in [
      (["-b:a", "8k", "-ar", "24000", "-ac", "1"], 20...30, 255),
      (["-b:a", "8k", "-ar", "16000", "-ac", "1"], 10...20, 255),
      (["-b:a", "64k", "-ar", "22050"], 3...6, 255), (["-b:a", "320k", "-ar", "44100"], 3...3, 511),
      (["-b:a", "32k", "-ar", "48000", "-ac", "1"], 8...12, 511), (["-q:a", "4", "-ar", "44100"], 3...6, 511),
    ] {
      let path = folder.file("a.mp3")
      try Tool.ffmpeg(
        arguments: ["-f", "lavfi", "-i", Self.audioSource, "-c:a", "libmp3lame", "-write_xing", "0"] + options + [path])
      let read = try read(path)
      let source = try FileSource(path: Array(path.utf8), interrupt: Interrupt())
      let identity = try #require(try source.identity())
      let index = PacketIndex(
        identity: identity, streamIndex: 0, firstByte: try #require(read.packets.first).byte,
        spacingFrames: Int64(read.rate))
      let target = 100
      let start = try #require(
        try MPEGAudioLocator.locate(frame: read.packets[target].frame, index: index, source: source))
      let chosen = try #require(read.packets.firstIndex { $0.byte == start.byte })
      #expect(read.packets[chosen].frame == start.frame)
      #expect(expected.contains(target - chosen), "\(options): \(target - chosen) packets")
      // The two frames before the target are for its overlap and filter bank. The packets before them supply the data
      // that the first of the two may refer to.
      let bytes = try readFile(path)
      let mainData = (chosen..<(target - 2)).map { index in
        mainDataByteCount(Int(read.packets[index].byte)..<Int(read.packets[index + 1].byte), of: bytes)
      }
      let sum = mainData.reduce(0, +)
      #expect(sum >= reservoir, "\(options): \(sum) bytes")
      #expect(sum - (mainData.first ?? 0) < reservoir, "\(options): one packet less would do")
      #expect(try MPEGAudioLocator.locate(frame: 1 << 40, index: index, source: source) == nil)
      #expect(try MPEGAudioLocator.locate(frame: -5, index: index, source: source)?.frame == 0)
    }
  }
}
