import Foundation
import MediaAssets
import MediaCore
import Playback
import RigSupport
import Testing

/// Items of every codec behind each other: what is heard is what decoding one after the other gives, sample for sample.
@Suite struct TransitionTests {
  struct Source: Sendable, CustomTestStringConvertible {
    var name: String
    var suffix: String
    var arguments: [String]
    var rate = 48_000
    var channels = 2

    var testDescription: String { "\(name) \(rate) \(channels)" }
  }

  private static func sources(_ rate: Int, _ channels: Int) -> [Source] {
    [
      Source(
        name: "mp3", suffix: "mp3", arguments: ["-c:a", "libmp3lame", "-b:a", "96k"], rate: rate, channels: channels),
      Source(name: "aac", suffix: "m4a", arguments: ["-c:a", "aac", "-aac_pns", "0"], rate: rate, channels: channels),
      Source(name: "adts", suffix: "aac", arguments: ["-c:a", "aac", "-aac_pns", "0"], rate: rate, channels: channels),
      Source(name: "vorbis", suffix: "ogg", arguments: ["-c:a", "libvorbis"], rate: rate, channels: channels),
      Source(name: "alac", suffix: "m4a", arguments: ["-c:a", "alac"], rate: rate, channels: channels),
      Source(name: "flac", suffix: "flac", arguments: ["-c:a", "flac"], rate: rate, channels: channels),
      Source(name: "wav", suffix: "wav", arguments: ["-c:a", "pcm_s16le"], rate: rate, channels: channels),
    ]
  }

  static let pairs: [(Source, Source)] = {
    let full = sources(48_000, 2)
    let opus = Source(name: "opus", suffix: "opus", arguments: ["-c:a", "libopus", "-b:a", "96k"])
    var pairs = (full + [opus]).map { ($0, $0) }
    pairs += zip(full, full.dropFirst() + [opus]).map { ($0, $1) }
    pairs += sources(44_100, 2).map { ($0, $0) }
    // Mono and stereo, one rate and the other.
    pairs += zip(sources(44_100, 1), full).map { ($0, $1) }
    pairs += zip(full.reversed(), sources(44_100, 1)).map { ($0, $1) }
    pairs += zip(sources(22_050, 1), sources(22_050, 1)).map { ($0, $1) }
    return pairs
  }()

  /// A file of noise.
  private func make(_ source: Source, _ path: String, frames: Int, seed: Int) throws {
    let noise =
      "anoisesrc=r=\(source.rate):a=0.4:seed=\(seed):c=pink,aformat=channel_layouts=\(source.channels == 1 ? "mono" : "stereo")"
    try ChildProcess.run(
      [
        "ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", noise, "-frames:a", "1000000", "-af",
        "atrim=end_sample=\(frames)",
      ]
        + source.arguments + [path])
  }

  /// All of a file, as the output's two channels hear it before conversion.
  private func decode(_ path: String) throws -> (format: AudioFormat, samples: [Float]) {
    let reader = try AudioTrackReader(asset: Asset(path: path))
    var samples: [Float] = []
    let room = UnsafeMutablePointer<Float>.allocate(capacity: 4_096 * reader.format.channelCount)
    defer { room.deallocate() }
    while case .frames(let count, _) = try reader.read(into: room, capacityFrames: 4_096) {
      samples += UnsafeBufferPointer(start: room, count: count * reader.format.channelCount)
    }
    return (reader.format, samples)
  }

  /// Both as one where they have one format, otherwise each by itself, cut to its exact length.
  private func expected(_ parts: [(format: AudioFormat, samples: [Float])]) throws -> [Float] {
    guard parts.count == 2, parts[0].format == parts[1].format else {
      return try parts.count == 1
        ? converted(parts[0].format, parts[0].samples) : parts.flatMap { try converted($0.format, $0.samples) }
    }
    return try converted(parts[0].format, parts[0].samples + parts[1].samples)
  }

  private func converted(_ format: AudioFormat, _ samples: [Float]) throws -> [Float] {
    guard format != Rig.format else { return samples }
    let count = samples.count / format.channelCount
    let exact = (count * Rig.format.sampleRateHz + format.sampleRateHz - 1) / format.sampleRateHz
    let converter = try AudioConverter(from: format, to: Rig.format)
    var output = [Float](repeating: 0, count: (exact + 5_000) * 2)
    let written = try output.withUnsafeMutableBufferPointer { output in
      let base = try #require(output.baseAddress)
      var written = try samples.withUnsafeBufferPointer {
        try converter.convert(
          try #require($0.baseAddress), frameCount: count, into: base, capacityFrames: exact + 5_000)
      }
      while case let more = try converter.drain(into: base + written * 2, capacityFrames: exact + 5_000 - written),
        more > 0
      {
        written += more
      }
      return written
    }
    #expect(written >= exact - 1)
    return Array(output.prefix(exact * 2))
  }

  @Test(arguments: Self.pairs) func itemsFollowWithoutAMissingOrAnExtraSample(_ first: Source, _ second: Source)
    async throws
  {
    let rig = try await Rig()
    let paths = [rig.files.file("a.\(first.suffix)"), rig.files.file("b.\(second.suffix)")]
    try make(first, paths[0], frames: 13_007, seed: 1)
    try make(second, paths[1], frames: 9_001, seed: 2)
    let items = paths.map { rig.item($0) }
    try await rig.run { try $0.append(items) }
    await rig.settle()
    await rig.run { $0.play() }
    await rig.advance(milliseconds: 1_500)
    let whole = try expected(try paths.map(decode))
    let heard = rig.heard.all
    let wanted = stride(from: 0, to: whole.count, by: 2).map { index in
      StereoFrame(left: HeardSamples.sample(whole[index]), right: HeardSamples.sample(whole[index + 1]))
    }
    #expect(heard.count >= wanted.count)
    #expect(heard.prefix(wanted.count).elementsEqual(wanted))
    #expect(heard.dropFirst(wanted.count).allSatisfy { $0 == .silence }, "something extra")
    #expect(rig.dump.contains("event seam 1 to 2"))
    #expect(rig.dump.contains("inserted 0"))
    await rig.close()
  }
}
