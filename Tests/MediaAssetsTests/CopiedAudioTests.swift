import Foundation
import MediaTesting
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadMediaAssets

/// Copies of packets decode to the audio of the original.
@Suite struct CopiedAudioTests {
  @Test(arguments: [
    ("a.mp3", ["-c:a", "libmp3lame", "-write_xing", "0"], WritableContainer.mp3),
    ("low.mp3", ["-c:a", "libmp3lame", "-write_xing", "0", "-ar", "22050"], .mp3),
    ("a.avi", ["-c:a", "libmp3lame"], .mp3), ("b.mka", ["-c:a", "libmp3lame"], .mp3),
    ("b.flv", ["-c:a", "libmp3lame"], .mp3),
    ("c.mka", ["-c:a", "eac3"], .mp4), ("c.wma", ["-c:a", "eac3"], .mp4),
    ("d.mka", ["-c:a", "dca", "-strict", "-2", "-ar", "48000"], .mp4),
    ("d.wma", ["-c:a", "dca", "-strict", "-2", "-ar", "48000"], .mp4),
    ("e.mka", ["-c:a", "truehd", "-strict", "-2", "-ar", "48000"], .matroska),
    ("f.mka", ["-c:a", "libspeex", "-ar", "16000", "-ac", "1"], .ogg),
    ("g.mp4", ["-c:a", "libopus", "-ar", "48000", "-movflags", "+frag_keyframe+empty_moov"], .ogg),
    ("h.ismv", ["-c:a", "libvorbis"], .ogg), ("i.mka", ["-c:a", "tta"], .matroska),
  ])
  func aCopyDecodesToTheSameAudio(_ name: String, _ options: [String], _ container: WritableContainer) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file(name)
    try Tool.ffmpeg(
      arguments: ["-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):d=3:s=44100"] + options
        + [path])
    let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    let target = folder.file("copy.\(container.rawValue)")
    _ = try await AssetExportSession(Asset(path: path), to: target, .passthrough(container)).outcome()
    let copy = try AudioTrackReader(asset: Asset(path: target)).readToEnd()
    #expect(copy.count == whole.count)
    let worst = SampleComparison.largestDifference(copy, whole[...])
    #expect(worst <= 1e-4)
  }

  /// A decoder of True Audio must know the length of the last frame. The other frames have 46,080 samples at 44,100 Hz.
  @Test(arguments: [
    (1, 44_100), (100, 44_100), (22_051, 44_100), (46_079, 44_100), (46_080, 44_100), (46_081, 44_100),
    (92_160, 44_100), (132_333, 44_100), (441_018, 44_100), (100_003, 96_000), (33_333, 22_050), (400_001, 192_000),
  ])
  func aCopyOfTrueAudioHasItsLength(_ frameCount: Int, _ rate: Int) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.tta")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):d=11:s=\(rate)", "-af",
      "atrim=end_sample=\(frameCount)", "-c:a", "tta", path)
    let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    #expect(whole.count == frameCount)
    let decoded = try Tool.decode(path)
    var source = path
    for name in ["first.mka", "second.mka"] {
      let target = folder.file(name)
      var settings = ExportSettings.passthrough(.matroska)
      // Its length must not matter: the duration is after the tags.
      settings.metadata = ["title": String(repeating: "Title ", count: 20_000)]
      _ = try await AssetExportSession(Asset(path: source), to: target, settings).outcome()
      #expect(try AudioTrackReader(asset: Asset(path: target)).readToEnd() == whole)
      #expect(
        try Asset(path: target, prefersPreciseDuration: true).load().duration
          == MediaTime(frame: Int64(frameCount), rate: rate))
      #expect(try Tool.decode(target) == decoded)
      source = target
    }
  }

  /// FFmpeg derives the length of the last frame from the duration of the file, which a longer track determines.
  @Test(arguments: [(132_300, true), (132_299, false), (110_000, false), (92_160, true)])
  func aCopyOfTrueAudioMustBeAsLongAsTheFile(_ frameCount: Int, _ isWritten: Bool) throws {
    let folder = try TemporaryFolder()
    let (first, second, target) = (folder.file("a.tta"), folder.file("b.tta"), folder.file("copy.mka"))
    for (path, count) in [(first, 132_300), (second, frameCount)] {
      try Tool.ffmpeg(
        "-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):d=3:s=44100", "-af",
        "atrim=end_sample=\(count)", "-c:a", "tta", path)
    }
    let tracks = try [first, second].map { try StoredSamples($0) }
    let inputs = tracks.map { AssetWriterInput(settings: .passthrough, sourceFormat: $0.format) }
    let writer = try WriterRig.writer(target, .matroska, inputs)
    for (input, track) in zip(inputs, tracks) {
      for buffer in track.buffers { try input.append(waiting: buffer) }
      input.markAsFinished()
    }
    if isWritten {
      try writer.finishWriting()
      for (index, path) in [first, second].enumerated() {
        let reader = try AudioTrackReader(asset: Asset(path: target), trackID: AssetTrack.ID(index))
        #expect(try reader.readToEnd() == AudioTrackReader(asset: Asset(path: path)).readToEnd())
      }
    } else {
      expectError(.unsupportedEdit) { try writer.finishWriting() }
      #expect(!FileManager.default.fileExists(atPath: target))
    }
  }

  /// The timestamps of the first packets are not exactly a packet apart.
  @Test(arguments: [1, 259, 1_022, 1_023, 1_035])
  func aCopyWithAnIrregularStartDecodesToTheSameAudio(_ delta: Int) async throws {
    let folder = try TemporaryFolder()
    let (original, path, target) = (folder.file("original.m4a"), folder.file("a.m4a"), folder.file("copy.m4a"))
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):d=3:s=44100", "-c:a", "aac",
      "-aac_pns", "0", original)
    try MediaPatch.apply("mp4_first_delta(data, \(delta))", from: original, to: path)
    let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    _ = try await AssetExportSession(Asset(path: path), to: target, .passthrough(.m4a)).outcome()
    #expect(try AudioTrackReader(asset: Asset(path: target)).readToEnd() == whole)
  }

  /// MP4 states one codec for all layers of MPEG audio.
  @Test func aCopyOfLayerIIToMP3IsRefused() async throws {
    let folder = try TemporaryFolder()
    let (path, target) = (folder.file("a.mp4"), folder.file("copy.mp3"))
    try Tool.ffmpeg("-f", "lavfi", "-i", "sine=d=1:r=48000", "-c:a", "mp2", path)
    await #expect(throws: MediaError.self) {
      _ = try await AssetExportSession(Asset(path: path), to: target, .passthrough(.mp3)).outcome()
    }
    #expect(!FileManager.default.fileExists(atPath: target))
  }

  /// Missing packets are silence in a copy, as in a read.
  @Test func aCopyHasTheGapsOfTheOriginal() async throws {
    let folder = try TemporaryFolder()
    let (original, path, target) = (folder.file("original.mka"), folder.file("a.mka"), folder.file("copy.m4a"))
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*(200+90*t)*t)+0.1*random(0):d=3:s=44100", "-c:a", "aac",
      "-aac_pns", "0", original)
    for count in [1, 5] {
      try MediaPatch.apply("matroska_without_blocks(data, 0.4, \(count))", from: original, to: path)
      let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
      _ = try await AssetExportSession(
        Asset(path: path), to: target, .passthrough(.m4a), replacesFile: true
      ).outcome()
      let copy = try AudioTrackReader(asset: Asset(path: target)).readToEnd()
      #expect(copy.count == whole.count && zip(copy, whole).allSatisfy { abs($0 - $1) <= 1e-4 }, "\(count)")
    }
  }

  /// The decoder of MP2 has floating-point output, which exceeds full scale where the encoder adds noise.
  @Test func anExportOfMP2IsNotClipped() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("a.mp2")
    try Tool.ffmpeg(
      "-f", "lavfi", "-i", "aevalsrc=0.999*sgn(sin(2*PI*440*t)):d=1:s=48000", "-c:a", "mp2", "-b:a", "64k", path)
    let whole = try AudioTrackReader(asset: Asset(path: path)).readToEnd()
    #expect(whole.contains { abs($0) > 1 })
    let target = folder.file("out.wav")
    let settings = ExportSettings(.wav, audio: .encode(AudioOutputSettings(.pcm(.float32))))
    _ = try await AssetExportSession(Asset(path: path), to: target, settings).outcome()
    #expect(try AudioTrackReader(asset: Asset(path: target)).readToEnd() == whole)
  }
}
