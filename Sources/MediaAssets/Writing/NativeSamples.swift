import LibAV
import MediaCore

/// Plain numbers of any encoding, as FFmpeg takes and gives them: interleaved, in this machine's order, in whole machine words.
enum NativeSamples {
  /// What numbers of an encoding become; nil for one that there is nothing for.
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

  /// Whether the bytes are that already.
  static func areNative(_ encoding: PCMEncoding) -> Bool {
    encoding.isInterleaved && !encoding.isBigEndian && encoding.bitsPerSample != 24
  }

  /// Bytes of whole frames; 24 bits become the upper ones of 32.
  static func bytes(_ data: [UInt8], _ encoding: PCMEncoding, channelCount: Int) -> [UInt8] {
    if areNative(encoding) { return data }
    let width = encoding.bitsPerSample / 8
    let written = width == 3 ? 4 : width
    let count = data.count / width
    let frameCount = count / max(1, channelCount)
    return [UInt8](unsafeUninitializedCapacity: count * written) { output, filled in
      for index in 0..<count {
        let source =
          encoding.isInterleaved ? index : index % channelCount * frameCount + index / channelCount
        if written > width { output[index * written] = 0 }
        for byte in 0..<width {
          output[index * written + written - width + byte] =
            data[source * width + (encoding.isBigEndian ? width - 1 - byte : byte)]
        }
      }
      filled = count * written
    }
  }

  /// What numbers of an encoding are as FFmpeg has them: `bytes` of them.
  static func native(of encoding: PCMEncoding) -> PCMEncoding {
    PCMEncoding(encoding.kind, bitsPerSample: encoding.bitsPerSample == 24 ? 32 : encoding.bitsPerSample)
  }

  /// The other way round: whole frames as FFmpeg has them become those of an encoding. Of 32 bits the upper 24 are kept.
  static func packed(_ data: [UInt8], _ encoding: PCMEncoding, channelCount: Int) -> [UInt8] {
    if areNative(encoding) { return data }
    let written = encoding.bitsPerSample / 8
    let width = written == 3 ? 4 : written
    let count = data.count / width
    let frameCount = count / max(1, channelCount)
    return [UInt8](unsafeUninitializedCapacity: count * written) { output, filled in
      for index in 0..<count {
        let target =
          encoding.isInterleaved ? index : index % channelCount * frameCount + index / channelCount
        for byte in 0..<written {
          output[target * written + (encoding.isBigEndian ? written - 1 - byte : byte)] =
            data[index * width + width - written + byte]
        }
      }
      filled = count * written
    }
  }
}
