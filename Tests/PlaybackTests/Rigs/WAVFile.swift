import Foundation

/// Writes interleaved `samples` as a WAV file of 16 bits.
func writeWAV(_ path: String, _ samples: [Float], sampleRateHz: Int, channelCount: Int = 1) throws {
  var bytes = Data()
  func append(_ value: Int, _ count: Int) {
    for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
  }
  bytes += Data("RIFF".utf8)
  append(36 + samples.count * 2, 4)
  bytes += Data("WAVEfmt ".utf8)
  let bytesPerFrame = channelCount * 2
  for (value, count) in [
    (16, 4), (1, 2), (channelCount, 2), (sampleRateHz, 4), (sampleRateHz * bytesPerFrame, 4), (bytesPerFrame, 2),
    (16, 2),
  ] { append(value, count) }
  bytes += Data("data".utf8)
  append(samples.count * 2, 4)
  samples.map { Int16(($0 * 32_767).rounded()).littleEndian }.withUnsafeBytes { bytes.append(contentsOf: $0) }
  try bytes.write(to: URL(fileURLWithPath: path))
}
