import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadRecording

/// The file formats of recordings.
@Suite struct RecordingFormatTests {
  struct Case: Sendable, CustomStringConvertible {
    var name: String
    var change: @Sendable (inout RecordingSettings) -> Void = { _ in }
    /// The codec that FFmpeg's program reports.
    var codec: String
    /// Whether 16-bit samples are preserved exactly.
    var isExact = true
    var description: String { "\(name) \(codec)" }

    init(
      _ name: String, _ codec: String, isExact: Bool = true,
      _ change: @escaping @Sendable (inout RecordingSettings) -> Void = { _ in }
    ) {
      (self.name, self.codec, self.isExact, self.change) = (name, codec, isExact, change)
    }
  }

  static let cases: [Case] = [
    Case("a.wav", "pcm_s16le"),
    Case("a.wav", "pcm_u8", isExact: false) { $0.bitDepth = 8 },
    Case("a.wav", "pcm_s24le") { $0.bitDepth = 24 },
    Case("a.wav", "pcm_s32le") { $0.bitDepth = 32 },
    Case("a.wav", "pcm_f32le") { $0.isFloat = true },
    Case("a.wav", "pcm_f64le") { ($0.isFloat, $0.bitDepth) = (true, 64) },
    Case("a.wav", "pcm_mulaw", isExact: false) { $0.format = .ulaw },
    Case("a.wav", "pcm_alaw", isExact: false) { $0.format = .alaw },
    Case("a.caf", "pcm_s16le"),
    Case("a.caf", "pcm_s16be") { $0.isBigEndian = true },
    Case("a.caf", "pcm_s8", isExact: false) { $0.bitDepth = 8 },
    Case("a.caf", "pcm_s24be") { ($0.bitDepth, $0.isBigEndian) = (24, true) },
    Case("a.caf", "pcm_s32le") { $0.bitDepth = 32 },
    Case("a.caf", "pcm_f32be") { ($0.isFloat, $0.isBigEndian) = (true, true) },
    Case("a.caf", "pcm_mulaw", isExact: false) { $0.format = .ulaw },
    Case("a.caf", "pcm_alaw", isExact: false) { $0.format = .alaw },
    Case("a.caf", "adpcm_ima_qt", isExact: false) { $0.format = .ima4 },
    Case("a.flac", "flac"),
    Case("a.flac", "flac") { $0.bitDepth = 24 },
    Case("a.m4a", "alac") { $0.format = .alac },
    Case("a.m4a", "alac") { ($0.format, $0.bitDepth) = (.alac, 24) },
    Case("a.m4a", "aac", isExact: false),
    Case("a.m4a", "aac", isExact: false) { $0.quality = .max },
    Case("a.opus", "opus", isExact: false),
    Case("a.ogg", "opus", isExact: false) { $0.bitRate = 64_000 },
    // A name without an extension gets the default container.
    Case("memo", "flac") { $0.format = .flac },
  ]

  @Test(arguments: cases) func everyFormatIsRecordedAndDecodable(_ testCase: Case) throws {
    var settings = RecordingSettings()
    testCase.change(&settings)
    let rig = try RecorderRig(testCase.name, settings: settings)
    try rig.begin()
    rig.deliver(0..<48_000)
    let outcome = try rig.recorder.stop()
    #expect(outcome.error == nil)
    #expect(outcome.duration == MediaTime(value: 1, timescale: 1))
    #expect(try Probe.codec(rig.path) == testCase.codec)
    let frames = try Decoded.frames(rig.path)
    if testCase.isExact {
      #expect(TimeCode.runs(in: frames) == [TimeCode.Run(file: 1, firstIndex: 0, count: 48_000, position: 0)])
    } else {
      // FFmpeg's program keeps up to one more packet of padding.
      #expect(frames.count >= 48_000 && frames.count < 48_000 + 3_000)
    }
  }

  @Test func sampleRateAndChannelsAreConverted() throws {
    var settings = RecordingSettings()
    (settings.sampleRateHz, settings.channelCount) = (16_000, 1)
    let rig = try RecorderRig("a.flac", settings: settings)
    try rig.begin()
    // A tone of 500 Hz at -6 dBFS on both channels.
    rig.source.deliver(
      (0..<96_000).flatMap { index -> [Float] in
        let value = 0.5 * Float(sin(2 * Double.pi * 500 * Double(index) / 48_000))
        return [value, value]
      })
    try rig.recorder.stop()
    #expect(try Probe.stream(rig.path, "sample_rate") == "16000")
    #expect(try Probe.stream(rig.path, "channels") == "1")
    let frames = try Decoded.frames(rig.path)
    #expect(abs(frames.count - 32_000) <= 1)
    // FFmpeg's program splits one channel into two, each 3 dB quieter.
    let peak = frames.dropFirst(1_000).prefix(20_000).map { Int($0.left).magnitude }.max() ?? 0
    #expect((11_300...11_900).contains(peak))
  }

  /// Invalid settings, which are rejected before a file exists.
  static let invalidSettings: [(String, MediaError.Code, @Sendable (inout RecordingSettings) -> Void)] = [
    ("a.wav", .unsupportedAudioFormat, { $0.format = .ilbc }),
    ("a.wav", .unsupportedAudioFormat, { $0.format = .amr }),
    ("a.txt", .invalidArgument, { _ in }),
    ("memo", .invalidArgument, { _ in }),
    ("a.mp3", .invalidArgument, { _ in }),
    ("a.mkv", .invalidArgument, { $0.format = .flac }),
    ("a.aiff", .invalidArgument, { $0.format = .pcm }),
    ("a.AIF", .invalidArgument, { $0.format = .alac }),
    ("a.aac", .invalidArgument, { $0.format = .aac }),
    ("a.flac", .invalidArgument, { $0.format = .aac }),
    ("a.m4a", .invalidArgument, { $0.format = .flac }),
    ("a.caf", .invalidArgument, { $0.format = .alac }),
    ("a.wav", .invalidArgument, { $0.format = .ima4 }),
    ("a.wav", .invalidArgument, { $0.isBigEndian = true }),
    ("a.wav", .invalidArgument, { $0.isNonInterleaved = true }),
    ("a.wav", .invalidArgument, { $0.bitDepth = 12 }),
    ("a.wav", .invalidArgument, { ($0.isFloat, $0.bitDepth) = (true, 24) }),
    ("a.flac", .invalidArgument, { $0.isFloat = true }),
    ("a.flac", .invalidArgument, { $0.bitDepth = 8 }),
    ("a.flac", .invalidArgument, { $0.channelCount = 9 }),
    ("a.m4a", .invalidArgument, { $0.bitRate = 5 }),
    ("a.m4a", .invalidArgument, { $0.sampleRateHz = 12_345 }),
    ("a.opus", .invalidArgument, { $0.sampleRateHz = 44_100 }),
    ("a.wav", .invalidArgument, { $0.channelCount = 0 }),
    ("a.caf", .invalidArgument, { ($0.format, $0.channelCount) = (.ima4, 3) }),
  ]

  /// Settings in AVAudioRecorder's documentation and books are hints if the format does not use them.
  @Test func hintsThatAFormatDoesNotUseAreIgnored() throws {
    let source = AudioFormat(sampleRateHz: 44_100, channelCount: 1)
    for (name, format) in [
      ("a.caf", RecordingSettings.Format.ima4), ("a.caf", .ulaw), ("a.m4a", .aac), ("a.flac", .flac), ("a.wav", .pcm),
    ] {
      var settings = RecordingSettings()
      (settings.format, settings.bitDepth, settings.quality, settings.bitRate) = (format, 16, .medium, 64_000)
      let resolved = try settings.resolve(fileName: Array(name.utf8), source: source)
      #expect(resolved.output.bitRate == (format == .aac ? 64_000 : nil), "\(format)")
    }
  }

  @Test(arguments: invalidSettings.indices)
  func incompatibleSettingsAreRejectedBeforeAnythingIsWritten(_ index: Int) throws {
    let (name, code, change) = Self.invalidSettings[index]
    var settings = RecordingSettings()
    change(&settings)
    // The source cannot be opened, which shows that the settings are checked first.
    let unavailable = MediaError(.sourceUnavailable, "there is no source")
    let rig = try RecorderRig(name, settings: settings, openingError: unavailable)
    var error: MediaError?
    do throws(MediaError) { try rig.recorder.prepareToRecord() } catch let caught { error = caught }
    #expect(error?.code == code)
    print("settings \(index): \(name): \(error.map { "\($0.code.rawValue) \($0.message)" } ?? "accepted")")
    #expect(try FileManager.default.contentsOfDirectory(atPath: rig.folder.path).isEmpty)
    #expect(rig.recorder.status.state == .stopped && !rig.source.isRunning)
  }
}

/// The output of FFmpeg's program for a file.
enum Probe {
  static func codec(_ path: String) throws -> String { try stream(path, "codec_name") }

  static func stream(_ path: String, _ entry: String) throws -> String {
    let folder = try TemporaryDirectory("probe")
    let text = folder.file("text")
    try ChildProcess.run([
      "sh", "-c", "ffprobe -v error -show_entries stream=\(entry) -of csv=p=0 \"$1\" >\"$2\"", "sh", path, text,
    ])
    return try String(contentsOfFile: text, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
