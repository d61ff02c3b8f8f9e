import Foundation
import MediaTesting
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Testing

/// A kind of file that FFmpeg creates, and the expected audio of such files in sequence.
struct CodecFile: Sendable, CustomTestStringConvertible {
  /// Decoded audio, interleaved.
  typealias DecodedAudio = (format: AudioFormat, samples: [Float])

  var name: String
  var suffix: String
  var arguments: [String]
  var rate = 48_000
  var channels = 2
  /// Whether it has a video track in addition to the audio.
  var hasVideo = false

  var testDescription: String { "\(name) \(suffix) \(rate) \(channels)" }

  /// One of each common codec.
  static func common(_ rate: Int, _ channels: Int) -> [CodecFile] {
    [
      CodecFile(
        name: "mp3", suffix: "mp3", arguments: ["-c:a", "libmp3lame", "-b:a", "96k"], rate: rate, channels: channels),
      CodecFile(
        name: "aac", suffix: "m4a", arguments: ["-c:a", "aac", "-aac_pns", "0"], rate: rate, channels: channels),
      CodecFile(
        name: "adts", suffix: "aac", arguments: ["-c:a", "aac", "-aac_pns", "0"], rate: rate, channels: channels),
      CodecFile(name: "vorbis", suffix: "ogg", arguments: ["-c:a", "libvorbis"], rate: rate, channels: channels),
      CodecFile(name: "alac", suffix: "m4a", arguments: ["-c:a", "alac"], rate: rate, channels: channels),
      CodecFile(name: "flac", suffix: "flac", arguments: ["-c:a", "flac"], rate: rate, channels: channels),
      CodecFile(name: "wav", suffix: "wav", arguments: ["-c:a", "pcm_s16le"], rate: rate, channels: channels),
    ]
  }

  static let opus = CodecFile(name: "opus", suffix: "opus", arguments: ["-c:a", "libopus", "-b:a", "96k"])

  /// Kinds that the common ones do not cover: other containers, audio with video, and six channels.
  static let other = [
    CodecFile(name: "flac", suffix: "mka", arguments: ["-c:a", "flac"]),
    CodecFile(name: "pcm", suffix: "aiff", arguments: []),
    CodecFile(name: "wavpack", suffix: "wv", arguments: []),
    CodecFile(name: "alac", suffix: "caf", arguments: ["-c:a", "alac"]),
    CodecFile(name: "opus", suffix: "webm", arguments: ["-c:a", "libopus", "-b:a", "96k"]),
    CodecFile(
      name: "aac", suffix: "mp4", arguments: ["-c:v", "mpeg4", "-c:a", "aac", "-aac_pns", "0"], hasVideo: true),
    CodecFile(name: "ac3", suffix: "ac3", arguments: ["-c:a", "ac3"]),
    CodecFile(name: "ac3", suffix: "mp4", arguments: ["-c:a", "ac3"]),
    CodecFile(name: "flac", suffix: "flac", arguments: ["-c:a", "flac"], channels: 6),
  ]

  /// Creates a file with `frames` frames of noise. With more than two channels, each channel has a different tone.
  func make(_ path: String, frames: Int, seed: Int) throws {
    let source =
      switch channels {
      case 1: "anoisesrc=r=\(rate):a=0.4:seed=\(seed):c=pink,aformat=channel_layouts=mono"
      case 2: "anoisesrc=r=\(rate):a=0.4:seed=\(seed):c=pink,aformat=channel_layouts=stereo"
      default:
        "aevalsrc=\((1...channels).map { "0.1*sin(2*PI*\(211 * seed + 130 * $0)*t)" }.joined(separator: "|"))"
          + ":s=\(rate):c=5.1"
      }
    let video = hasVideo ? ["-f", "lavfi", "-i", "testsrc=duration=0.3:size=64x48:rate=25"] : []
    try Fixtures.ffmpeg(
      ["-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", source] + video
        + ["-frames:a", "1000000", "-af", "atrim=end_sample=\(frames)"] + arguments + [path])
  }

  /// Returns FFmpeg's trim values for a file at 48,000 Hz with packets of one size: the number of frames to omit before
  /// the audio, and at the end of the last packet.
  static func packetEdges(_ path: String) throws -> (before: Int, after: Int) {
    let packetList = path + ".packets"
    try ChildProcess.run([
      "/bin/sh", "-c", "ffprobe -v error -select_streams a -show_packets \"$0\" >\"$1\"", path, packetList,
    ])
    var values: [String: [Double]] = [:]
    for line in try String(contentsOfFile: packetList, encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: "=")
      if parts.count == 2, let value = Double(parts[1]) { values[String(parts[0]), default: []].append(value) }
    }
    let sizes = values["duration_time", default: []].map { Int(($0 * 48_000).rounded()) }
    let before = Int(values["skip_samples"]?.max() ?? 0)
    let discarded = Int(values["discard_padding"]?.max() ?? 0)
    // Some formats specify it by the length of the last packet.
    let shortened = (sizes.max() ?? 0) - (sizes.last ?? 0)
    return (before, max(discarded, shortened))
  }

  /// Decodes the whole file, before the conversion to the output's two channels.
  static func decode(_ path: String) throws -> DecodedAudio {
    let reader = try AudioTrackReader(asset: Asset(path: path))
    var samples: [Float] = []
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: 4_096 * reader.format.channelCount)
    defer { buffer.deallocate() }
    while case .frames(let count, _) = try reader.read(into: buffer, capacityFrames: 4_096) {
      samples += UnsafeBufferPointer(start: buffer, count: count * reader.format.channelCount)
    }
    return (reader.format, samples)
  }

  /// The expected output for parts in sequence. Those of one format are converted as one; otherwise each is converted
  /// separately and cut to its exact length.
  static func heard(_ parts: [DecodedAudio]) throws -> [StereoFrame] {
    guard let first = parts.first else { return [] }
    let samples =
      if parts.allSatisfy({ $0.format == first.format }) {
        try converted(first.format, parts.flatMap(\.samples))
      } else {
        try parts.flatMap { try converted($0.format, $0.samples) }
      }
    return stride(from: 0, to: samples.count, by: 2).map { index in
      StereoFrame(left: HeardSamples.sample(samples[index]), right: HeardSamples.sample(samples[index + 1]))
    }
  }

  private static func converted(_ format: AudioFormat, _ samples: [Float]) throws -> [Float] {
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
}
