import Foundation
import PlayheadFoundation

let (width, height, frameCount, sampleRate) = (320, 180, 50, 48_000)

/// Draws a frame into memory of the pool.
func image(_ number: Int, _ pool: PixelBufferPool?) throws -> PixelBuffer? {
  var pixels = try pool?.makePixelBuffer()
  pixels?.data.withUnsafeMutableBytes { bytes in
    for row in 0..<height {
      for column in 0..<width {
        let isBar = (number * 6..<number * 6 + 20).contains(column)
        // Blue, green, red and alpha.
        bytes.storeBytes(
          of: isBar ? 0xFFFF_FFFF : 0xFF00_00A0, toByteOffset: 4 * (row * width + column), as: UInt32.self)
      }
    }
  }
  return pixels
}

/// Returns a second of a tone of 440 Hz.
func secondOfTone() -> [UInt8] {
  (0..<sampleRate).flatMap { index -> [UInt8] in
    let sample = UInt16(bitPattern: Int16(8_000 * sin(2 * .pi * 440 * Double(index) / Double(sampleRate))))
    return [UInt8(sample & 0xFF), UInt8(sample >> 8)]
  }
}
