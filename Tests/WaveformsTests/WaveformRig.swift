import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport

@testable import PlayheadWaveforms

/// A waveform computed sample by sample, as the reference for reductions.
struct PlainWaveform {
  var minima: [Int] = []
  var maxima: [Int] = []
  var squares: [Double] = []

  /// Computes the waveform of interleaved 16-bit audio between edges.
  init(_ pcm: [Int16], channelCount: Int, edges: [Int]) {
    for (start, end) in zip(edges, edges.dropFirst()) {
      for channel in 0..<channelCount {
        let samples = (start..<end).map { Int(pcm[$0 * channelCount + channel]) }
        minima.append(samples.min() ?? 0)
        maxima.append(samples.max() ?? 0)
        let sum = samples.reduce(0.0) { $0 + Double($1) * Double($1) }
        squares.append((sum / Double(max(1, samples.count))).squareRoot() / 32_768)
      }
    }
  }
}

/// Test files and their content.
enum WaveformRig {
  /// Noise with `channelCount` channels, encoded by ffmpeg.
  static func noise(
    _ files: TemporaryDirectory, _ name: String, frameCount: Int, channelCount: Int = 2, rate: Int = 44_100
  ) throws -> String {
    let path = files.file(name)
    let sources = (0..<channelCount).map { "random(\($0))*\(0.9 / Double($0 + 1))-0.4/\($0 + 1)" }
    try Fixtures.ffmpeg([
      "-nostdin", "-v", "error", "-f", "lavfi", "-i",
      "aevalsrc=\(sources.joined(separator: "|")):s=\(rate):nb_samples=1024", "-af", "atrim=end_sample=\(frameCount)",
      "-c:a", name.hasSuffix("wav") ? "pcm_s16le" : "flac", "-sample_fmt", "s16", "-y", path,
    ])
    return path
  }

  /// The samples that ffmpeg decodes from a file.
  static func pcm(_ files: TemporaryDirectory, _ path: String) throws -> [Int16] {
    let raw = files.file("raw.s16")
    try Fixtures.ffmpeg(["-nostdin", "-v", "error", "-i", path, "-f", "s16le", "-y", raw])
    let data = try Data(contentsOf: URL(fileURLWithPath: raw))
    return data.withUnsafeBytes { buffer in
      (0..<buffer.count / 2).map { Int16(littleEndian: buffer.loadUnaligned(fromByteOffset: 2 * $0, as: Int16.self)) }
    }
  }

  static func result(_ path: String, _ request: WaveformRequest = WaveformRequest()) async throws -> Waveform {
    try await WaveformScan(Asset(path: path), request).result().waveform
  }
}
