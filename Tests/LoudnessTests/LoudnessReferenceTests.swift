import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadLoudness

/// Measurements compared with FFmpeg's filter `ebur128`, for formats, rates and channels. Prints a table.
@Suite struct LoudnessReferenceTests {
  private struct Row {
    var name: String
    /// The expression for FFmpeg's filter `aevalsrc`.
    var signal: String
    var encoding: [String]
    var suffix: String
  }

  /// Noise with four loudness levels, which affect the gates and the range.
  private static func noise(_ index: Int) -> String {
    "(random(\(index))-0.5)*(0.08+0.3*gt(mod(t,4),1)+0.5*gt(mod(t,4),3)*mod(floor(t/4),2))"
  }

  private static func source(_ channels: [String], _ layout: String, rate: Int, seconds: Int = 10) -> String {
    // Below a quarter of the rate, like music. Near half of the rate, different interpolations find different true
    // peaks.
    let limits = repeatElement("lowpass=f=\(rate / 6)", count: 3).joined(separator: ",")
    return "aevalsrc=exprs='\(channels.joined(separator: "|"))':c=\(layout):s=\(rate):d=\(seconds),\(limits)"
  }

  private static let stereo = source([noise(0), noise(1)], "stereo", rate: 48_000)
  private static let surround = [noise(0), noise(1), noise(2), noise(3), noise(4), noise(5)]

  private static let rows = [
    Row(name: "wav 48k stereo", signal: stereo, encoding: ["-c:a", "pcm_s16le"], suffix: "wav"),
    Row(
      name: "wav 44.1k mono", signal: source([noise(0)], "mono", rate: 44_100), encoding: ["-c:a", "pcm_s16le"],
      suffix: "wav"),
    Row(
      name: "wav 8k mono", signal: source([noise(0)], "mono", rate: 8_000), encoding: ["-c:a", "pcm_s16le"],
      suffix: "wav"),
    Row(
      name: "wav 22.05k float", signal: source([noise(0), "0"], "stereo", rate: 22_050),
      encoding: ["-c:a", "pcm_f32le"], suffix: "wav"),
    Row(
      name: "wav 192k stereo", signal: source([noise(0), noise(1)], "stereo", rate: 192_000, seconds: 6),
      encoding: ["-c:a", "pcm_s24le"], suffix: "wav"),
    Row(
      name: "flac 96k 24 bit", signal: source([noise(0), noise(1)], "stereo", rate: 96_000),
      encoding: ["-c:a", "flac", "-sample_fmt", "s32"], suffix: "flac"),
    Row(
      name: "flac 44.1k", signal: source([noise(0), noise(1)], "stereo", rate: 44_100), encoding: ["-c:a", "flac"],
      suffix: "flac"),
    Row(
      name: "mp3 44.1k", signal: source([noise(0), noise(1)], "stereo", rate: 44_100),
      encoding: ["-c:a", "libmp3lame", "-b:a", "192k"], suffix: "mp3"),
    Row(name: "aac m4a", signal: stereo, encoding: ["-c:a", "aac", "-aac_pns", "0"], suffix: "m4a"),
    Row(name: "opus", signal: stereo, encoding: ["-c:a", "libopus"], suffix: "opus"),
    Row(
      name: "vorbis", signal: source([noise(0), noise(1)], "stereo", rate: 44_100), encoding: ["-c:a", "libvorbis"],
      suffix: "ogg"),
    Row(name: "wavpack", signal: stereo, encoding: ["-c:a", "wavpack"], suffix: "wv"),
    Row(
      name: "flac 5.1", signal: source(surround, "5.1", rate: 48_000), encoding: ["-c:a", "flac"], suffix: "flac"),
    Row(
      name: "wav 5.1(side)", signal: source(surround, "5.1(side)", rate: 48_000), encoding: ["-c:a", "pcm_s16le"],
      suffix: "wav"),
    Row(
      name: "flac 5.1, only LFE loud",
      signal: source(["0", "0", "0.02*" + noise(2), noise(3), "0", "0"], "5.1", rate: 48_000),
      encoding: ["-c:a", "flac"], suffix: "flac"),
    Row(
      name: "flac 5.1, only back", signal: source(["0", "0", "0", "0", noise(4), noise(5)], "5.1", rate: 48_000),
      encoding: ["-c:a", "flac"], suffix: "flac"),
    Row(
      name: "flac 3.0", signal: source([noise(0), noise(1), noise(2)], "3.0", rate: 48_000),
      encoding: ["-c:a", "flac"], suffix: "flac"),
    // FFmpeg weights the back channels of 7.1 with 1.5 dB more than the standard, so they are silent here.
    Row(
      name: "wav 7.1, back silent",
      signal: source([noise(0), noise(1), noise(2), noise(3), "0", "0", noise(4), noise(5)], "7.1", rate: 48_000),
      encoding: ["-c:a", "pcm_s16le"], suffix: "wav"),
    Row(name: "mka", signal: stereo, encoding: ["-c:a", "flac"], suffix: "mka"),
  ]

  @Test func loudnessRangeAndPeakMatchFFmpegsFilter() async throws {
    let files = try TemporaryDirectory()
    var lines = ["file                       LUFS     ffmpeg |   LU  ffmpeg |  dBTP  ffmpeg"]
    for (index, row) in Self.rows.enumerated() {
      let path = files.file("\(index).\(row.suffix)")
      try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", row.signal] + row.encoding + [path])
      let measurement = try #require(try await LoudnessScan([Asset(path: path)]).report().files.first).get()
      let reference = try Self.ffmpegMeasurement(path, files)
      let loudness = try #require(measurement.integratedLoudness, "\(row.name)")
      let range = try #require(measurement.loudnessRange, "\(row.name)")
      let peak = 20 * log10(measurement.truePeak)
      lines.append(
        [
          row.name.padding(toLength: 24, withPad: " ", startingAt: 0), Self.text(loudness),
          Self.text(reference.loudness), "|", Self.text(range), Self.text(reference.range), "|", Self.text(peak),
          Self.text(reference.peak),
        ].joined(separator: " "))
      #expect(abs(loudness - reference.loudness) <= 0.1, "\(row.name): \(loudness), FFmpeg \(reference.loudness)")
      #expect(abs(range - reference.range) <= 0.3, "\(row.name): \(range), FFmpeg \(reference.range)")
      #expect(abs(peak - reference.peak) <= 0.05, "\(row.name): \(peak), FFmpeg \(reference.peak)")
    }
    print(lines.joined(separator: "\n"))
  }

  /// True peaks: cases 15 to 19 of EBU Tech 3341, with its tolerance. An abrupt start would be a peak, too.
  @Test(arguments: [(4.0, 0.0, 0.5, -6.0), (4, 45, 0.5, -6), (6, 60, 0.5, -6), (8, 67.5, 0.5, -6), (4, 45, 1.41, 3)])
  func truePeaksAreWithinTheToleranceOfEBUTech3341(
    _ period: Double, _ degrees: Double, _ amplitude: Double, _ expected: Double
  ) async throws {
    let files = try TemporaryDirectory()
    let path = files.file("sine.wav")
    let phase = degrees / 180 * Double.pi
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i",
      "aevalsrc=exprs='\(amplitude)*sin(2*PI*n/\(period)+\(phase))':c=mono:s=48000:d=1,afade=d=0.1,afade=t=out:st=0.9:d=0.1",
      "-c:a", "pcm_f32le", path,
    ])
    let report = try #require(try await LoudnessScan([Asset(path: path)]).report().files.first).get()
    let peak = 20 * log10(report.truePeak)
    print("true peak of a sine of 1/\(period) of the rate at \(degrees) degrees: \(peak) dBTP, wanted \(expected)")
    #expect(peak <= expected + 0.2 && peak >= expected - 0.4)
  }

  private static func text(_ value: Double) -> String {
    let text = String(format: "%.2f", value)
    return String(repeating: " ", count: max(0, 7 - text.count)) + text
  }

  /// The output of FFmpeg's filter at the end of the file: loudness and range with three decimals, and the peak of each
  /// channel.
  private static func ffmpegMeasurement(
    _ path: String, _ files: TemporaryDirectory
  ) throws -> (loudness: Double, range: Double, peak: Double) {
    let log = files.file("ebur128.txt")
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-y", "-i", path, "-map", "0:a", "-af",
      "ebur128=metadata=1:peak=true,ametadata=mode=print:file=\(log)", "-f", "null", "-",
    ])
    var values: [String: Double] = [:]
    for line in try String(contentsOf: URL(fileURLWithPath: log), encoding: .utf8).split(separator: "\n") {
      let parts = line.split(separator: "=")
      guard parts.count == 2, let value = Double(parts[1]) else { continue }
      values[String(parts[0])] = value
    }
    let peaks = values.filter { $0.key.hasPrefix("lavfi.r128.true_peaks_ch") }.map(\.value)
    return (
      try #require(values["lavfi.r128.I"]), try #require(values["lavfi.r128.LRA"]),
      20 * log10(try #require(peaks.max()))
    )
  }
}
