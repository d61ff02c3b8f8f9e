import Foundation
import PlayheadMediaCore
import PlayheadPlayback
import RigSupport
import Testing

/// Files whose audio begins later than their video. The silence before it counts as part of the item.
@Suite struct LateAudioTests {
  private static let frames = 24_000
  /// 0.3 s.
  private static let delay = 14_400

  /// Creates a file with video, and noise that begins with a delay.
  private func createFile(_ name: String, _ codec: [String], _ rig: Rig) throws -> String {
    let path = rig.files.file(name)
    try Fixtures.ffmpeg(
      [
        "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=duration=1:size=64x48:rate=25",
        "-itsoffset", "0.3", "-f", "lavfi", "-i",
        "anoisesrc=r=48000:a=0.4:seed=3:c=pink,aformat=channel_layouts=stereo",
        "-map", "0:v", "-map", "1:a", "-frames:a", "1000000", "-af", "atrim=end_sample=\(Self.frames)", "-c:v", "mpeg4",
      ] + codec + [path])
    return path
  }

  /// The audio alone, from its first sample, as FFmpeg decodes it.
  private func decodedAudio(_ path: String) throws -> [StereoFrame] {
    let raw = path + ".raw"
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-i", path, "-map", "0:a", "-f", "s16le", "-c:a", "pcm_s16le", raw,
    ])
    return try Data(contentsOf: URL(fileURLWithPath: raw)).withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 4).map { offset in
        StereoFrame(
          left: Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self)),
          right: Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 2, as: Int16.self)))
      }
    }
  }

  @Test(arguments: [
    ("late.mp4", ["-c:a", "alac", "-sample_fmt", "s16p"]), ("late.mov", ["-c:a", "pcm_s16le"]),
    ("late.mkv", ["-c:a", "flac", "-sample_fmt", "s16"]),
  ])
  func silenceIsHeardUntilTheAudioBegins(_ name: String, _ codec: [String]) async throws {
    let rig = try await Rig()
    let path = try createFile(name, codec, rig)
    let decodedAudio = try decodedAudio(path)
    #expect(decodedAudio.count == Self.frames)
    let item = rig.item(path)
    let boundary = MediaTime(value: Int64(Self.delay), timescale: 48_000)
    try await rig.run { player in
      _ = try player.addBoundaryTimeObserver(forTimes: [boundary]) { [log = rig.log] in log(Rig.text($0)) }
      try player.append([item])
    }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 299)
    #expect(!rig.dump.contains("crossed"))
    #expect(rig.heard.all.allSatisfy { $0 == .silence })
    await rig.advance(milliseconds: 1_001)
    #expect(rig.dump.contains("crossed item 1 time 0.3 late 0"))
    let heard = rig.heard.all
    #expect(heard.prefix(Self.delay).allSatisfy { $0 == .silence })
    #expect(heard.dropFirst(Self.delay).prefix(Self.frames).elementsEqual(decodedAudio))
    #expect(heard.dropFirst(Self.delay + Self.frames).allSatisfy { $0 == .silence })
  }

  /// A position within the silence, and one in the audio after it.
  @Test(arguments: [
    ("late.mp4", ["-c:a", "alac", "-sample_fmt", "s16p"]), ("late.mov", ["-c:a", "pcm_s16le"]),
    ("late.mkv", ["-c:a", "flac", "-sample_fmt", "s16"]),
  ])
  func seeksIntoTheLeadingSilenceAndAfterItAreExact(_ name: String, _ codec: [String]) async throws {
    let rig = try await Rig()
    let path = try createFile(name, codec, rig)
    let whole = Array(repeating: StereoFrame.silence, count: Self.delay) + (try decodedAudio(path))
    let item = rig.item(path)
    try await rig.run { try $0.append([item]) }
    await rig.settle()
    await rig.run { $0.play() }
    for frame in [14_000, 20_001, 4_801] {
      rig.heard.removeAll()
      let time = MediaTime(value: Int64(frame), timescale: 48_000)
      let result = try await rig.player.seek(to: time, toleranceBefore: .zero, toleranceAfter: .zero)
      #expect(result.isExact && result.time == time)
      await rig.advance(milliseconds: 250)
      #expect(rig.heard.all.prefix(12_000).elementsEqual(whole[frame..<(frame + 12_000)]), "from \(frame)")
    }
  }
}
