/// Stereo audio whose samples encode the index of their frame: the low 15 bits on the left, the others on the right.
package enum IndexedAudio {
  package enum Encoding: String, CaseIterable, Sendable {
    case signed16, signed24, float32

    /// Bytes of a sample.
    package var byteCount: Int {
      switch self {
      case .signed16: 2
      case .signed24: 3
      case .float32: 4
      }
    }

    /// The bytes of a code, little-endian.
    fileprivate func bits(of code: Int) -> UInt32 {
      switch self {
      case .signed16: UInt32(code)
      case .signed24: UInt32(code << 8)
      case .float32: (Float(code) / 32_768).bitPattern
      }
    }
  }

  /// Returns a WAV file with `frameCount` frames.
  package static func wav(_ encoding: Encoding, sampleRateHz: Int, frameCount: Int) -> [UInt8] {
    let frameByteCount = 2 * encoding.byteCount
    let byteCount = frameCount * frameByteCount
    var bytes: [UInt8] = []
    bytes.reserveCapacity(44 + byteCount)
    func append(_ value: Int, count: Int) {
      for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
    bytes += Array("RIFF".utf8)
    append(36 + byteCount, count: 4)
    bytes += Array("WAVEfmt ".utf8)
    append(16, count: 4)
    append(encoding == .float32 ? 3 : 1, count: 2)
    append(2, count: 2)
    append(sampleRateHz, count: 4)
    append(sampleRateHz * frameByteCount, count: 4)
    append(frameByteCount, count: 2)
    append(8 * encoding.byteCount, count: 2)
    bytes += Array("data".utf8)
    append(byteCount, count: 4)
    for index in 0..<frameCount {
      append(Int(encoding.bits(of: index & 0x7fff)), count: encoding.byteCount)
      append(Int(encoding.bits(of: index >> 15)), count: encoding.byteCount)
    }
    return bytes
  }

  /// Returns the index that an interleaved frame encodes; nil for other samples.
  package static func index(left: Float, right: Float) -> Int64? {
    guard let low = Int64(exactly: left * 32_768), let high = Int64(exactly: right * 32_768), low >= 0, high >= 0
    else { return nil }
    return high << 15 | low
  }
}
