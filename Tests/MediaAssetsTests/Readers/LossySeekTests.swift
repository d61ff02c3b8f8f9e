import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Seeks in lossy files, compared with a read from the start.
@Suite struct LossySeekTests {
  /// The options for a file, and the maximum difference of a sample after a seek.
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var options: [String]
    var allowedDeviation: Float = 0
    var testDescription: String { "\(name) \(options.joined(separator: " "))" }
  }

  static let rows: [Row] = [
    Row(name: "cbr.mp3", options: ["-c:a", "libmp3lame", "-b:a", "128k"]),
    Row(name: "vbr.mp3", options: ["-c:a", "libmp3lame", "-q:a", "2"]),
    Row(name: "no-header.mp3", options: ["-c:a", "libmp3lame", "-q:a", "4", "-write_xing", "0"]),
    Row(name: "low.mp3", options: ["-c:a", "libmp3lame", "-b:a", "8k", "-ar", "16000"]),
    Row(name: "aac.m4a", options: ["-c:a", "aac", "-aac_pns", "0"]),
    Row(name: "adts.aac", options: ["-c:a", "aac", "-aac_pns", "0"]),
    Row(name: "vorbis.ogg", options: ["-c:a", "libvorbis"]),
    Row(name: "opus.opus", options: ["-c:a", "libopus"], allowedDeviation: 1 / 32_768),
    Row(name: "mp3.mp4", options: ["-c:a", "libmp3lame"]),
  ]

  @Test(arguments: rows)
  func audioAfterASeekEqualsAReadFromTheStart(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(row.name)
    let source = "aevalsrc=0.4*sin(2*PI*(200+150*t)*t)+0.1*random(0):d=8:s=44100"
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source] + row.options + [path])
    let reference = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    let reader = try AudioTrackReader(asset: Asset(path: path))
    let rate = reader.format.sampleRateHz
    #expect(reader.format.channelCount == 1)
    var random = SplitMix64(state: 11)
    let edges = [0, 1, 1_151, 1_152, reference.count - 1_000]
    for target in edges + (0..<25).map({ _ in Int.random(in: 0..<(reference.count - 3_000), using: &random) }) {
      let landed = try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: rate))
      #expect(landed == MediaTime(frame: Int64(target), rate: rate))
      let (position, samples) = try reader.readFrames(min(3_000, reference.count - target))
      #expect(position == Int64(target))
      let deviation = SampleComparison.largestDifference(samples, reference[target...])
      #expect(deviation <= row.allowedDeviation, "target \(target)")
    }
  }

  /// Compares the reference for seeks with FFmpeg's program: equal in every bit, from the first frame to the last.
  /// FFmpeg keeps the padding of M4A's last packet; here it is removed, so that the original's length remains.
  @Test(arguments: [
    Row(name: "cbr.mp3", options: ["-c:a", "libmp3lame", "-b:a", "128k"]),
    Row(name: "vbr.mp3", options: ["-c:a", "libmp3lame", "-q:a", "2"]),
    Row(name: "a.ogg", options: ["-c:a", "libvorbis"]), Row(name: "a.flac", options: ["-c:a", "flac"]),
    Row(name: "a.wav", options: ["-c:a", "pcm_s16le"]), Row(name: "deep.wav", options: ["-c:a", "pcm_s24le"]),
    Row(name: "a.aiff", options: ["-c:a", "pcm_s16be"]), Row(name: "a.wv", options: ["-c:a", "wavpack"]),
    Row(name: "ima.wav", options: ["-c:a", "adpcm_ima_wav"]), Row(name: "ms.wav", options: ["-c:a", "adpcm_ms"]),
    Row(name: "a.m4a", options: ["-c:a", "aac", "-aac_pns", "0"]),
    Row(name: "lossless.m4a", options: ["-c:a", "alac"]),
  ])
  func readFromTheStartEqualsFFmpegsDecode(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(row.name)
    let frameCount = 355_400
    let expression = "0.4*sin(2*PI*(200+150*t)*t)+0.1*random(0)|0.3*sin(2*PI*(900-50*t)*t)+0.1*random(1)"
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "aevalsrc=exprs='\(expression)':d=9:s=44100,atrim=end_sample=\(frameCount)"]
        + row.options + [path])
    let played = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    let decoded = try Tool.decode(path)
    let padding = decoded.count / 2 - frameCount
    let packet = ["a.m4a": 1_024, "ima.wav": 1_017, "ms.wav": 1_012][row.name] ?? 1
    #expect((0..<packet).contains(padding), "\(padding) frames more")
    // FFmpeg writes ADPCM in whole blocks, and no position of the end in the last block.
    #expect(played.count == (row.options[1].hasPrefix("adpcm") ? decoded.count : 2 * frameCount))
    let isSame = played == Array(decoded.prefix(played.count))
    #expect(isSame)
  }

  /// FFmpeg writes the end of an edit in milliseconds, rounded down. When reading, it drops a last packet with few
  /// frames that starts after that end. The engine plays this packet.
  @Test(arguments: [(false, 1), (false, 3), (false, 19), (false, 27), (false, 32), (true, 1), (true, 5)])
  func lastPacketAfterTheEndOfTheEditIsPlayed(_ isMP3: Bool, _ lastFrames: Int) throws {
    let folder = try TemporaryFolder()
    let priming = isMP3 ? 1_105 : 1_024
    let frameCount = (isMP3 ? 300 * 1_152 : 348 * 1_024) - priming + lastFrames
    let path = folder.file("a.mp4")
    let source = "anoisesrc=d=9:r=44100:a=0.3:seed=5,atrim=end_sample=\(frameCount)"
    let codec = isMP3 ? ["libmp3lame"] : ["aac", "-aac_pns", "0"]
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source, "-c:a"] + codec + [path])
    let isDropped = try Tool.decode(path).count < frameCount
    #expect(isDropped == (lastFrames < 20), "by FFmpeg")
    let asset = Asset(path: path)
    let reader = try AudioTrackReader(asset: asset)
    let played = try reader.readToEnd()
    let media = try EditList.media(of: path)
    let isSame = played == Array(media[priming..<(priming + frameCount)])
    #expect(played.count == frameCount && isSame)
    #expect(reader.startTrim.frameCount == Int64(priming))
    let properties = try asset.load()
    #expect(properties.duration == MediaTime(frame: Int64(frameCount), rate: 44_100))
    for target in [
      frameCount - 1, frameCount - lastFrames, frameCount - lastFrames - 1, 0, 100_000, frameCount - 3_000,
    ] {
      let time = MediaTime(frame: Int64(target), rate: 44_100)
      #expect(try reader.seekExactly(to: time) == time)
      let (position, samples) = try reader.readFrames(min(3_000, frameCount - target))
      let isSame = samples == Array(played[target..<min(frameCount, target + 3_000)])
      #expect(position == Int64(target) && isSame, "\(target)")
    }
    #expect(try reader.seekExactly(to: .positiveInfinity) == MediaTime(frame: Int64(frameCount), rate: 44_100))
  }

  /// Encoder delay is not played: the original's first sample is the first sample.
  @Test(arguments: [
    Row(name: "a.mp3", options: ["-c:a", "libmp3lame"]), Row(name: "a.m4a", options: ["-c:a", "aac"]),
    Row(name: "a.ogg", options: ["-c:a", "libvorbis"]), Row(name: "a.opus", options: ["-c:a", "libopus"]),
    Row(name: "a.mp4", options: ["-c:a", "aac"]),
  ])
  func timeZeroIsTheFirstSampleOfTheOriginal(_ row: Row) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(row.name)
    // A click in silence, at 0.5 s.
    let source = "aevalsrc=if(between(n\\,24000\\,24003)\\,0.9\\,0):d=3:s=48000"
    try Tool.ffmpeg(arguments: ["-f", "lavfi", "-i", source] + row.options + [path])
    let samples = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    #expect(samples.count == 144_000)
    let loudest = samples.indices.max { abs(samples[$0]) < abs(samples[$1]) } ?? 0
    #expect(abs(loudest - 24_001) <= 4)
  }

  /// Timestamps are in milliseconds, and with video nothing can be counted. Frame sizes determine the position.
  @Test(arguments: [
    ("a.mka", "flac", false), ("a.mkv", "flac", true), ("b.mkv", "aac", true), ("c.mkv", "libvorbis", true),
  ])
  func seeksInMatroskaAreExactDespiteRoundedTimestamps(_ name: String, _ codec: String, _ hasVideo: Bool) throws {
    let folder = try TemporaryFolder()
    let path = folder.file(name)
    let video = hasVideo ? ["-f", "lavfi", "-i", "testsrc=duration=8:size=64x48:rate=25", "-c:v", "mpeg4"] : []
    let audio = ["-f", "lavfi", "-i", "aevalsrc=0.4*sin(2*PI*(200+150*t)*t)+0.1*random(0):d=8:s=44100"]
    let options = ["-c:a", codec] + (codec == "aac" ? ["-aac_pns", "0"] : [])
    try Tool.ffmpeg(arguments: audio + video + options + [path])
    let asset = Asset(path: path)
    let reference = try AudioTrackReader(asset: asset).readToEnd()
    let reader = try AudioTrackReader(asset: asset)
    var random = SplitMix64(state: 19)
    for target in [5_000, 123_456, 1, 250_001] + (0..<20).map({ _ in Int.random(in: 0..<300_000, using: &random) }) {
      try reader.seekExactly(to: MediaTime(frame: Int64(target), rate: 44_100))
      let (position, samples) = try reader.readFrames(2_000)
      let isSame = samples == Array(reference[target..<(target + 2_000)])
      #expect(position == Int64(target) && isSame, "target \(target)")
    }
  }

  @Test func audioOfVideoFilesPlaysFromThePresentationStart() throws {
    let folder = try TemporaryFolder()
    for name in ["a.mp4", "a.mkv", "a.ts"] {
      let path = folder.file(name)
      try Tool.ffmpeg(
        "-f", "lavfi", "-i", "testsrc=duration=3:size=64x48:rate=25", "-f", "lavfi", "-i",
        "sine=duration=3:sample_rate=48000", "-c:v", "mpeg4", "-c:a", "aac", path)
      let asset = Asset(path: path)
      let properties = try asset.load()
      #expect(properties.hasAudio && properties.hasVideo)
      #expect(abs(properties.duration.seconds - 3) < 0.1)
      let reader = try AudioTrackReader(asset: asset)
      let (first, samples) = try reader.readFrames(10_000)
      #expect(first == 0 && samples.count == 10_000)
      try reader.seekExactly(to: MediaTime(value: 2, timescale: 1))
      #expect(try reader.readFrames(10).position == 96_000)
    }
  }
}
