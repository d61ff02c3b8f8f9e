import Foundation
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// A precise duration is that of the audio that exists, whatever the header states.
@Suite struct PreciseDurationTests {
  @Test(arguments: [
    ("a.mp3", ["-c:a", "libmp3lame"], "truncate(data, 0.4)"), ("a.flac", ["-c:a", "flac"], "truncate(data, 0.5)"),
    ("a.flac", ["-c:a", "flac"], "flac_sample_count(data, 30000)"),
    ("a.flac", ["-c:a", "flac"], "flac_sample_count(data, 5000000)"),
    ("a.flac", ["-c:a", "flac"], "flac_without_first_frames(data, 3)"),
    ("a.wv", ["-c:a", "wavpack"], "truncate(data, 0.6)"),
    ("a.ogg", ["-c:a", "libvorbis"], "chain(ogg_serial(data, 2), ogg_serial(data, 2))"),
    ("a.opus", ["-c:a", "libopus"], "chain(ogg_serial(data, 2), ogg_serial(data, 3))"),
    ("b.mp3", ["-c:a", "libmp3lame", "-q:a", "4"], "mp3_with_vbri(data, 100000)"),
    ("a.ape", ["-f", "wav"], "monkeys_audio(data, 73728)"), ("a.ape", ["-f", "wav"], "monkeys_audio(data, 500000)"),
    ("a.dff", ["-f", "wav", "-t", "1"], "dsdiff(data)"),
    ("c.mp3", ["-c:a", "libmp3lame", "-q:a", "4"], "mp3_with_vbri(data, 1)"),
    ("a.ts", ["-c:a", "aac"], "ts_step(data, 4, -90000)"), ("a.w64", ["-c:a", "wmav2"], "data"),
    ("b.w64", ["-c:a", "g726", "-ar", "8000", "-ac", "1"], "data"), ("c.w64", ["-c:a", "libmp3lame"], "data"),
    ("b.mka", ["-c:a", "alac"], "remove_range(data, 0.45, 188)"),
    ("b.opus", ["-c:a", "libopus"], "ogg_without_end_flag(data)"),
    ("d.flac", ["-c:a", "flac"], "set_bytes(data, 18, bytes(2))"),
    (
      "b.spx", ["-c:a", "libspeex", "-ar", "16000"],
      "repeat_block(data, 0, data.find(b'OggS', data.find(b'OggS', 4) + 4))"
    ),
    ("a.spx", ["-c:a", "libspeex", "-ar", "16000"], "data"), ("a.m4a", ["-c:a", "aac"], "data"),
  ])
  func countsTheAudioThatExists(_ name: String, _ options: [String], _ edit: String) throws {
    let folder = try TemporaryFolder()
    let original = folder.file("original-\(name)")
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):d=4:s=44100"] + options
        + [original])
    let path = folder.file(name)
    try MediaPatch.apply(edit, from: original, to: path)
    let properties = try Asset(path: path, prefersPreciseDuration: true).load()
    let reader = try AudioTrackReader(asset: Asset(path: path))
    var samples: [Float] = []
    // A truncated file ends with an error.
    _ = errorCode { try reader.readToEnd(into: &samples) }
    #expect(properties.providesPreciseDuration)
    #expect(properties.duration == MediaTime(frame: Int64(samples.count), rate: reader.format.sampleRateHz))
  }

  /// The number of samples in the header is right, but a header with another sample rate than the frames is damaged.
  @Test(arguments: [
    ("a.flac", "set_bytes(data, 18, bytes(2))"), ("a.flac", "set_bytes(data, 18, bytes([11, 184, 0]))"),
  ])
  func aWrongSampleRateMakesTheDurationAnEstimate(_ name: String, _ edit: String) throws {
    let folder = try TemporaryFolder()
    let (original, path) = (folder.file("original-\(name)"), folder.file(name))
    try Tool.ffmpeg("-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t):d=4:s=44100", "-c:a", "flac", original)
    try MediaPatch.apply(edit, from: original, to: path)
    let (right, wrong) = (try Asset(path: original).load(), try Asset(path: path).load())
    #expect(right.providesPreciseDuration && !wrong.providesPreciseDuration)
    #expect(wrong.tracks.map(\.providesPreciseDuration) == [false])
    #expect(wrong.duration == MediaTime(value: 4, timescale: 1) && right.duration == wrong.duration)
  }

  /// FFmpeg ends with an error where the codec of a chain changes.
  @Test func countsTheAudioBeforeAnotherCodec() throws {
    let folder = try TemporaryFolder()
    let (first, second) = (folder.file("a.ogg"), folder.file("b.opus"))
    let source = ["-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t):d=2:s=48000"]
    try Tool.ffmpeg(arguments: source + ["-c:a", "libvorbis", first])
    try Tool.ffmpeg(arguments: source + ["-c:a", "libopus", second])
    let path = try folder.write(readFile(first) + readFile(second), as: "chain.ogg")
    let count = try AudioTrackReader(asset: Asset(path: first)).readToEnd().count
    #expect(
      try Asset(path: path, prefersPreciseDuration: true).load().duration
        == MediaTime(frame: Int64(count), rate: 48_000))
  }
}
