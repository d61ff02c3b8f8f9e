import Foundation
import MediaTesting
import PlayheadLibAV
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Files that are damaged in the middle: times stay correct, and the damage is reported.
@Suite struct DamagedFileTests {
  private static let frameCount = 441_000

  private func makeFLAC(_ folder: TemporaryFolder) throws -> [UInt8] {
    let wav = IndexedAudio.wav(.signed16, sampleRateHz: 44_100, frameCount: Self.frameCount)
    try Tool.ffmpeg("-i", folder.write(wav, as: "a.wav"), folder.file("a.flac"))
    return try readFile(folder.file("a.flac"))
  }

  private func index(_ samples: [Float], _ frame: Int) -> Int64? {
    IndexedAudio.index(left: samples[2 * frame], right: samples[2 * frame + 1])
  }

  @Test func truncatedFLACIsReadToTheCutAndReportsDamage() throws {
    let folder = try TemporaryFolder()
    let bytes = try makeFLAC(folder)
    let path = try folder.write(Array(bytes.prefix(bytes.count / 3)), as: "cut.flac")
    let asset = Asset(path: path)
    #expect(try asset.load().duration == MediaTime(value: 10, timescale: 1))
    let reader = try AudioTrackReader(asset: asset)
    var frames: Int64 = 0
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: 2_000)
    defer { buffer.deallocate() }
    let code = errorCode {
      while case .frames(let count, let position) = try reader.read(into: buffer, capacityFrames: 1_000) {
        #expect(position == frames)
        #expect(IndexedAudio.index(left: buffer[0], right: buffer[1]) == frames)
        frames += Int64(count)
      }
    }
    #expect(code == 3004)
    #expect(frames > 100_000 && frames < 200_000 && frames % 4_608 == 0, "whole FLAC frames, to the last good one")
    #expect(try reader.read(into: buffer, capacityFrames: 1_000) == .endOfTrack, "reported once")

    // Seeks in the remaining audio still work.
    try reader.seekExactly(to: MediaTime(frame: 50_001, rate: 44_100))
    let (position, samples) = try reader.readFrames(10)
    #expect(position == 50_001 && index(samples, 0) == 50_001)
    // A seek beyond it reports the error.
    try reader.seekExactly(to: MediaTime(value: 9, timescale: 1))
    expectError(.damagedFile) { try reader.read(into: buffer, capacityFrames: 10) }
  }

  @Test func damagedPacketIsSilentAndReportedAndKeepsTimesCorrect() throws {
    let folder = try TemporaryFolder()
    var bytes = try makeFLAC(folder)
    // The middle of a FLAC frame, far from its header.
    for offset in 0..<40 { bytes[bytes.count / 2 + offset] ^= 0x5a }
    let reader = try AudioTrackReader(asset: Asset(path: folder.write(bytes, as: "hit.flac")))
    let samples = try reader.readToEnd()
    #expect(samples.count == 2 * Self.frameCount)
    let wrong = (0..<Self.frameCount).filter { index(samples, $0) != Int64($0) }
    let first = try #require(wrong.first)
    let last = try #require(wrong.last)
    #expect(first % 4_608 == 0 && (last - first) < 3 * 4_608, "only the frames that were hit")
    #expect(wrong.allSatisfy { samples[2 * $0] == 0 && samples[2 * $0 + 1] == 0 }, "silence instead")
    let report = try #require(reader.popSkippedPackets())
    #expect(report.count >= 1 && report.error.code == .decodeFailed)
    #expect(reader.popSkippedPackets() == nil, "reported once")

    // A seek into the damage does not claim to be exact; a seek that decodes none of it does.
    try reader.seekExactly(to: MediaTime(frame: Int64(first + 10), rate: 44_100))
    #expect(reader.positionDoubt == .damage)
    try reader.seekExactly(to: MediaTime(frame: Int64(last + 88_200), rate: 44_100))
    #expect(reader.positionDoubt == nil)

    // A seek after the damage, and one into it.
    try reader.seekExactly(to: MediaTime(frame: Int64(last) + 1, rate: 44_100))
    #expect(index(try reader.readFrames(1).samples, 0) == Int64(last) + 1)
    try reader.seekExactly(to: MediaTime(frame: Int64(first) + 10, rate: 44_100))
    let (position, silence) = try reader.readFrames(10)
    #expect(position == Int64(first) + 10 && silence.allSatisfy { $0 == 0 })
  }

  /// Noise, so that there are enough bytes to remove after FFmpeg's read-ahead.
  private func makeNoise(_ name: String, _ options: [String], _ folder: TemporaryFolder) throws -> [UInt8] {
    let source = "anoisesrc=d=10:r=48000:c=white:a=0.3:s=1"
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source, "-ac", "2"] + options + [folder.file(name)])
    return try readFile(folder.file(name))
  }

  static let filesWithDeclaredLength: [(String, [String])] = [
    ("a.wav", []), ("a.flac", []), ("a.aiff", []), ("a.wv", []), ("a.mp3", ["-b:a", "192k"]),
    ("a.m4a", ["-c:a", "aac", "-b:a", "256k", "-movflags", "faststart"]),
    ("alac.m4a", ["-c:a", "alac", "-movflags", "faststart"]), ("a.ogg", ["-c:a", "libvorbis", "-q:a", "8"]),
    ("a.opus", ["-c:a", "libopus", "-b:a", "256k"]), ("a.mka", ["-c:a", "flac"]),
    ("opus.mka", ["-c:a", "libopus", "-b:a", "256k"]),
  ]
  static let filesWithoutDeclaredLength: [(String, [String])] = [
    ("a.aac", ["-c:a", "aac", "-b:a", "256k"]), ("plain.mp3", ["-b:a", "192k", "-write_xing", "0"]),
    ("a.ac3", ["-b:a", "448k"]), ("a.ts", ["-c:a", "aac", "-b:a", "256k"]),
  ]

  @Test(arguments: filesWithDeclaredLength)
  func truncatedFileIsReadToTheCutAndReportsDamage(_ name: String, _ options: [String]) throws {
    let folder = try TemporaryFolder()
    let bytes = try makeNoise(name, options, folder)
    let whole = try AudioTrackReader(asset: Asset(path: folder.file(name))).readToEnd()
    let reader = try AudioTrackReader(
      asset: Asset(path: folder.write(Array(bytes.prefix(bytes.count / 2)), as: "cut-\(name)")))
    var read: [Float] = []
    expectError(.damagedFile) { try reader.readToEnd(into: &read) }
    #expect(read.count > whole.count / 4 && read.count < whole.count * 3 / 4)
    // The last packet may be cut, too.
    let comparedCount = max(0, read.count - 2 * 8_192)
    let isSame = Array(read[..<comparedCount]) == Array(whole[..<comparedCount])
    #expect(isSame)
    #expect(reader.position == Int64(read.count / 2) && reader.end?.frame == reader.position)
  }

  /// Files without a declared duration end at their end.
  @Test(arguments: filesWithoutDeclaredLength)
  func truncatedFileWithoutDeclaredLengthEndsWithoutAnError(_ name: String, _ options: [String]) throws {
    let folder = try TemporaryFolder()
    let bytes = try makeNoise(name, options, folder)
    let reader = try AudioTrackReader(
      asset: Asset(path: folder.write(Array(bytes.prefix(bytes.count / 2 + 17)), as: "cut-\(name)")))
    let count = try reader.readToEnd().count
    #expect(count > 2 * 200_000 && count < 2 * 280_000)
    #expect(reader.end?.frame == reader.position)
  }

  @Test(arguments: filesWithDeclaredLength + filesWithoutDeclaredLength)
  func fileThatShrinksDuringReadingReportsDamage(_ name: String, _ options: [String]) throws {
    let folder = try TemporaryFolder()
    let bytes = try makeNoise(name, options, folder)
    let reader = try AudioTrackReader(asset: Asset(path: folder.file(name)))
    #expect(try reader.readFrames(1_000).samples.count == 2_000)
    #expect(truncate(folder.file(name), bytes.count / 2) == 0)
    var read: [Float] = []
    expectError(.damagedFile) { try reader.readToEnd(into: &read) }
    #expect(reader.position > 1_000 && reader.position < 280_000)
    #expect(reader.position == Int64(1_000 + read.count / 2))
  }

  // MARK: - Packets that do not decode

  static let packetRows: [(String, [String])] = [
    ("a.flac", []), ("a.m4a", ["-c:a", "aac", "-aac_pns", "0"]), ("a.mka", ["-c:a", "aac", "-aac_pns", "0"]),
    ("mp3.mka", ["-c:a", "libmp3lame"]), ("flac.mka", ["-c:a", "flac"]),
  ]

  /// A packet at the start, in the middle or at the end.
  @Test(arguments: packetRows, [0.0, 0.5, 1.0])
  func undecodablePacketIsReplacedBySilence(_ row: (String, [String]), _ relativePosition: Double) throws {
    let folder = try TemporaryFolder()
    var bytes = try makeNoise(row.0, row.1, folder)
    let whole = try AudioTrackReader(asset: Asset(path: folder.file(row.0))).readToEnd()
    let packets = try Self.packets(of: folder.file(row.0))
    let hit = packets[Int(Double(packets.count - 1) * relativePosition)]
    // FLAC's parser must find the frame to detect the damage.
    let start = hit.byte + (row.0 == "a.flac" ? 20 : 0)
    for offset in start..<min(bytes.count, hit.byte + hit.byteCount) { bytes[offset] = 0xff }
    let reader = try AudioTrackReader(asset: Asset(path: folder.write(bytes, as: "hit-\(row.0)")))
    let samples = try reader.readToEnd()
    #expect(samples.count == whole.count)
    if let wrong = SampleComparison.inequalities(samples, whole).range {
      #expect(wrong.upperBound - wrong.lowerBound < 2 * 4 * 4_608, "only what depends on the packet")
    }
    let skipped = try #require(reader.popSkippedPackets())
    #expect(skipped.count >= 1 && skipped.error.code == .decodeFailed)
    #expect(abs(skipped.time.seconds - 10 * relativePosition) < 0.3)
    #expect(reader.popWarning() == nil)
  }

  static func packets(of path: String) throws -> [(byte: Int, byteCount: Int)] {
    let demuxer = try Demuxer(source: FileSource(path: Array(path.utf8), interrupt: Interrupt()))
    let packet = try Packet()
    var packets: [(byte: Int, byteCount: Int)] = []
    while try demuxer.readPacket(into: packet) == .packet {
      // Matroska gives the position of the block, whose header has a few bytes.
      let header = demuxer.formatName.hasPrefix("matroska") ? 24 : 0
      packets.append((Int(try #require(packet.bytePosition)) + header, packet.byteCount - header))
    }
    return packets
  }

  @Test func openedFileIsReadAfterItIsUnlinked() throws {
    let folder = try TemporaryFolder()
    _ = try makeFLAC(folder)
    try Tool.ffmpeg("-i", folder.file("a.wav"), "-q:a", "5", folder.file("a.mp3"))
    let reader = try AudioTrackReader(asset: Asset(path: folder.file("a.mp3")))
    #expect(unlink(folder.file("a.mp3")) == 0)
    try reader.seekExactly(to: MediaTime(value: 5, timescale: 1))
    try reader.seekExactly(to: MediaTime(value: 1, timescale: 1))
    #expect(try reader.readFrames(10).position == 44_100)
  }
}
