import DaemonTesting
import Glibc
import PlayheadPlayerModel
import RigSupport
import Testing

/// Consecutive items of every codec on a real PulseAudio. For a queue its device plays the same samples as for each
/// file alone.
///
/// In real time, because the next file must be open before the device needs its first sample.
@Suite(.serialized) struct GaplessRigTests {
  struct Source: Sendable, CustomTestStringConvertible {
    var name: String
    var suffix: String
    var codec: String
    var rate = 48_000
    var channels = 2
    /// Whether FFmpeg's file states its exact length in samples. M4A files have milliseconds (the movie's timescale),
    /// and Vorbis files lack the first half block.
    var statesExactLength = true

    var testDescription: String { "\(name) \(rate) Hz \(channels)" }

    /// A tone with a DC offset, so that no decoded sample is silent, different for each file.
    func write(_ path: String, frameCount: Int, hertz: Int) throws {
      let tone = "0.4+0.2*sin(2*PI*\(hertz)*t)"
      let source = "aevalsrc=\(channels == 1 ? tone : "\(tone)|\(tone)"):s=\(rate)"
      try Fixtures.ffmpeg(
        [
          "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", source, "-af",
          "atrim=end_sample=\(frameCount)",
        ]
          + codec.split(separator: " ").map(String.init) + [path])
    }
  }

  static let transitions: [(Source, Source)] = {
    let mp3 = Source(name: "mp3", suffix: "mp3", codec: "-c:a libmp3lame -b:a 128k")
    let aac = Source(name: "aac", suffix: "m4a", codec: "-c:a aac -aac_pns 0", statesExactLength: false)
    let opus = Source(name: "opus", suffix: "opus", codec: "-c:a libopus")
    let vorbis = Source(name: "vorbis", suffix: "ogg", codec: "-c:a libvorbis", statesExactLength: false)
    let alac = Source(name: "alac", suffix: "m4a", codec: "-c:a alac")
    let mono = Source(name: "wav", suffix: "wav", codec: "-c:a pcm_s16le", channels: 1)
    let flac = Source(name: "flac", suffix: "flac", codec: "-c:a flac")
    let flac44 = Source(name: "flac", suffix: "flac", codec: "-c:a flac", rate: 44_100)
    return [
      (mp3, mp3), (aac, aac), (opus, opus), (vorbis, vorbis), (alac, alac), (mono, flac), (flac44, flac),
      (flac, flac44),
      (mp3, opus), (vorbis, aac),
    ]
  }()

  @Test(arguments: Self.transitions)
  func queuePlaysTheSameSamplesAsItsFilesSeparately(_ first: Source, _ second: Source) throws {
    let rig = try PlaybackRig()
    let paths = [rig.daemon.folder.file("a.\(first.suffix)"), rig.daemon.folder.file("b.\(second.suffix)")]
    let (firstCount, secondCount) = (first.rate * 4 / 5 + 7, second.rate / 2 + 11)
    try first.write(paths[0], frameCount: firstCount, hertz: 440)
    try second.write(paths[1], frameCount: secondCount, hertz: 777)
    let separate = try paths.map { try rig.heard([$0]) }
    let together = try rig.heard(paths)
    let exact = [(firstCount, first.rate), (secondCount, second.rate)].map { ($0 * 48_000 + $1 - 1) / $1 }
    print(
      "transition \(first.testDescription) to \(second.testDescription): separately \(separate.map(\.count)) of"
        + " \(exact), together \(together.count)")
    for audio in separate + [together] { #expect(gaps(of: audio) == []) }
    #expect(together.count == separate[0].count + separate[1].count, "missing or extra samples")
    #expect(together == separate[0] + separate[1])
    for (source, (count, exact)) in zip([first, second], zip(separate.map(\.count), exact))
    where source.statesExactLength {
      #expect(count == exact, "\(source.testDescription): padding is played")
    }
  }

  /// Silent ranges of more than a few frames. The files have none.
  private func gaps(of audio: [StereoFrame]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for (index, frame) in audio.enumerated() where frame == .silence {
      let start = ranges.last?.upperBound == index ? ranges.removeLast().lowerBound : index
      ranges.append(start..<index + 1)
    }
    return ranges.filter { $0.count > 4 }
  }

  @Test func loopAndRepeatedQueueHaveNoGap() throws {
    let rig = try PlaybackRig()
    let path = rig.daemon.folder.file("1.flac")
    try TimeCode.writeFLAC(path: path, file: 1, frameCount: 96_000)
    let short = rig.daemon.folder.file("2.wav")
    try TimeCode.writeWAV(path: short, file: 2, frameCount: 4_801)
    try rig.client.reply("load \(path) \(short) wait=ready")
    #expect(
      try rig.client.reply("loop 24001/48000 36007/48000 count=20")
        == "ok item=1 start=0.500020833 end=0.750145833 count=20 passes=0")
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, index: 40_000)
    #expect(try rig.client.reply("repeat all") == "ok repeat=all")
    var next = 0
    for _ in 0..<3 { next = try rig.server.capture.waitForCode(file: 2, index: 4_800, from: next) + 1 }
    let runs = rig.server.capture.runs()
    let gaps = zip(runs, runs.dropFirst()).map { $1.position - $0.endPosition }
    print("loop of 12,006 frames 20 times, queue of 2 files 3 times: gaps \(Set(gaps))")
    #expect(Set(gaps) == [0])
    #expect(runs.prefix(20).map(\.count) == [36_007] + Array(repeating: 12_006, count: 19))
    #expect(runs.prefix(22).map(\.firstIndex) == [0] + Array(repeating: 24_001, count: 20) + [0])
    #expect(runs[20].count == 96_000 - 24_001)
    #expect(runs[21..<26].map(\.count) == [4_801, 96_000, 4_801, 96_000, 4_801])
  }

  /// Five seconds of files, more than the player decodes ahead. Playback starts after the player has decoded ahead as
  /// far as possible. A busy machine may need longer than the first 20 ms to open the next files.
  @Test func filesOfTwentyMillisecondsPlayWithoutAGap() throws {
    let rig = try PlaybackRig()
    let count = 250
    let paths = try (0..<count).map { number in
      let path = rig.daemon.folder.file("\(number).wav")
      try TimeCode.writeWAV(path: path, file: 1, frameCount: 960, firstIndex: number * 960)
      return path
    }
    let observer = try rig.daemon.connect()
    try observer.reply("observe item.isPlaybackBufferFull")
    try rig.client.reply("load \(paths.joined(separator: " "))")
    while field("new", try #require(try observer.line())) != "true" {}
    try rig.client.reply("play")
    try rig.server.capture.waitForCode(file: 1, index: count * 960 - 1)
    let runs = rig.server.capture.runs()
    print("\(count) files of 20 ms: \(runs)")
    #expect(runs.map(\.count) == [count * 960])
  }
}
