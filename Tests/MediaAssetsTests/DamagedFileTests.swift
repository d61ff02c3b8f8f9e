import Foundation
import LibAV
import MediaCore
import Testing

@testable import MediaAssets

/// Files that are damaged in the middle: time stays true and it is said.
@Suite struct DamagedFileTests {
  private static let frameCount = 441_000

  private func makeFLAC(_ folder: TemporaryFolder) throws -> [UInt8] {
    let wav = TimeCode.wav(.signed16, sampleRateHz: 44_100, frameCount: Self.frameCount)
    try Tool.ffmpeg("-i", folder.write(wav, as: "a.wav"), folder.file("a.flac"))
    return try readFile(folder.file("a.flac"))
  }

  private func index(_ samples: [Float], _ frame: Int) -> Int64? {
    TimeCode.index(left: samples[2 * frame], right: samples[2 * frame + 1])
  }

  @Test func aTruncatedFLACPlaysUpToWhereItIsCutAndSaysSo() throws {
    let folder = try TemporaryFolder()
    let bytes = try makeFLAC(folder)
    let path = try folder.write(Array(bytes.prefix(bytes.count / 3)), as: "cut.flac")
    let asset = Asset(path: path)
    #expect(try asset.load().duration == MediaTime(value: 10, timescale: 1))
    let reader = try AudioTrackReader(asset: asset)
    var frames: Int64 = 0
    let piece = UnsafeMutablePointer<Float>.allocate(capacity: 2_000)
    defer { piece.deallocate() }
    let code = errorCode {
      while case .frames(let count, let position) = try reader.read(into: piece, capacityFrames: 1_000) {
        #expect(position == frames)
        #expect(TimeCode.index(left: piece[0], right: piece[1]) == frames)
        frames += Int64(count)
      }
    }
    #expect(code == 3004)
    #expect(frames > 100_000 && frames < 200_000 && frames % 4_608 == 0, "whole FLAC frames, to the last good one")
    #expect(try reader.read(into: piece, capacityFrames: 1_000) == .endOfTrack, "said once")

    // What is there can still be sought.
    try reader.seekExactly(to: MediaTime(frame: 50_001, rate: 44_100))
    let (position, samples) = try reader.readFrames(10)
    #expect(position == 50_001 && index(samples, 0) == 50_001)
    // What is not there is an end that is said.
    try reader.seekExactly(to: MediaTime(value: 9, timescale: 1))
    #expect(errorCode { _ = try reader.read(into: piece, capacityFrames: 10) } == 3004)
  }

  @Test func aDamagedPacketIsSkippedAndSaidAndTimeStaysTrue() throws {
    let folder = try TemporaryFolder()
    var bytes = try makeFLAC(folder)
    // The middle of some FLAC frame, far from its header.
    for offset in 0..<40 { bytes[bytes.count / 2 + offset] ^= 0x5a }
    let reader = try AudioTrackReader(asset: Asset(path: folder.write(bytes, as: "hit.flac")))
    let samples = try reader.readToEnd()
    #expect(samples.count == 2 * Self.frameCount)
    let wrong = (0..<Self.frameCount).filter { index(samples, $0) != Int64($0) }
    let first = try #require(wrong.first)
    let last = try #require(wrong.last)
    #expect(first % 4_608 == 0 && (last - first) < 3 * 4_608, "only the frames that were hit")
    #expect(wrong.allSatisfy { samples[2 * $0] == 0 && samples[2 * $0 + 1] == 0 }, "silence in their place")
    let report = try #require(reader.takeSkippedPackets())
    #expect(report.count >= 1 && report.error?.code == .decodeFailed)
    #expect(reader.takeSkippedPackets() == nil, "said once")

    // A seek behind it and one into it.
    try reader.seekExactly(to: MediaTime(frame: Int64(last) + 1, rate: 44_100))
    #expect(index(try reader.readFrames(1).samples, 0) == Int64(last) + 1)
    try reader.seekExactly(to: MediaTime(frame: Int64(first) + 10, rate: 44_100))
    let (position, hole) = try reader.readFrames(10)
    #expect(position == Int64(first) + 10 && hole.allSatisfy { $0 == 0 })
  }

  @Test(arguments: ["a.wav", "a.flac"])
  func aFileThatShrinksWhileItPlaysEndsWithAnError(_ name: String) throws {
    let folder = try TemporaryFolder()
    _ = try makeFLAC(folder)
    let reader = try AudioTrackReader(asset: Asset(path: folder.file(name)))
    #expect(try reader.readFrames(1_000).samples.count == 2_000)
    #expect(truncate(folder.file(name), try readFile(folder.file(name)).count / 2) == 0)
    #expect(errorCode { _ = try reader.readToEnd() } == 3004)
    #expect(reader.position > 1_000 && reader.position < Int64(Self.frameCount))
  }

  @Test func theFileThatWasOpenedIsReadThoughItsNameIsGone() throws {
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
