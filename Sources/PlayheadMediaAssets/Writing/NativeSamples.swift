import PlayheadLibAV
import PlayheadMediaCore

/// Converts PCM of any encoding to and from FFmpeg's sample formats: interleaved, little-endian, in words of 8, 16, 32
/// or 64 bits.
enum NativeSamples {
  /// Returns the sample format for an encoding; nil if there is none.
  static func format(of encoding: PCMEncoding) -> SampleFormat? {
    switch (encoding.kind, encoding.bitsPerSample) {
    case (.unsignedInteger, 8): .unsigned8
    case (.signedInteger, 16): .signed16
    case (.signedInteger, 24), (.signedInteger, 32): .signed32
    case (.float, 32): .float32
    case (.float, 64): .float64
    default: nil
    }
  }

  /// Whether bytes of this encoding need no conversion.
  static func areNative(_ encoding: PCMEncoding) -> Bool {
    encoding.isInterleaved && !encoding.isBigEndian && encoding.bitsPerSample != 24
  }

  /// Converts whole frames to FFmpeg's sample format. A 24-bit sample becomes the upper bits of a 32-bit word.
  static func bytes(_ data: [UInt8], _ encoding: PCMEncoding, channelCount: Int) -> [UInt8] {
    if areNative(encoding) { return data }
    let width = encoding.bitsPerSample / 8
    let outputWidth = width == 3 ? 4 : width
    let count = data.count / width
    let frameCount = count / max(1, channelCount)
    return [UInt8](unsafeUninitializedCapacity: count * outputWidth) { output, filled in
      for index in 0..<count {
        let source =
          encoding.isInterleaved ? index : index % channelCount * frameCount + index / channelCount
        if outputWidth > width { output[index * outputWidth] = 0 }
        for byte in 0..<width {
          output[index * outputWidth + outputWidth - width + byte] =
            data[source * width + (encoding.isBigEndian ? width - 1 - byte : byte)]
        }
      }
      filled = count * outputWidth
    }
  }

  /// Returns the encoding of the result of `bytes`.
  static func native(of encoding: PCMEncoding) -> PCMEncoding {
    PCMEncoding(encoding.kind, bitsPerSample: encoding.bitsPerSample == 24 ? 32 : encoding.bitsPerSample)
  }

  /// Converts whole frames from FFmpeg's sample format to an encoding: the reverse of `bytes`. A 24-bit sample consists
  /// of the upper bits of a 32-bit word.
  static func packed(_ data: [UInt8], _ encoding: PCMEncoding, channelCount: Int) -> [UInt8] {
    if areNative(encoding) { return data }
    let outputWidth = encoding.bitsPerSample / 8
    let width = outputWidth == 3 ? 4 : outputWidth
    let count = data.count / width
    let frameCount = count / max(1, channelCount)
    return [UInt8](unsafeUninitializedCapacity: count * outputWidth) { output, filled in
      for index in 0..<count {
        let target =
          encoding.isInterleaved ? index : index % channelCount * frameCount + index / channelCount
        for byte in 0..<outputWidth {
          output[target * outputWidth + (encoding.isBigEndian ? outputWidth - 1 - byte : byte)] =
            data[index * width + width - outputWidth + byte]
        }
      }
      filled = count * outputWidth
    }
  }
}
