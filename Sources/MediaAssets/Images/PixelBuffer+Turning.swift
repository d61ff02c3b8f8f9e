import MediaCore

/// Pictures in BGRA, moved about pixel by pixel.
extension PixelBuffer {
  /// A part of it, which lies within it.
  func cropped(x: Int, y: Int, width: Int, height: Int) -> PixelBuffer {
    rearranged(width: width, height: height) { column, row in (y + row) * self.width + x + column }
  }

  /// Turned clockwise, so many times by 90 degrees.
  func turned(quarterTurns: Int) -> PixelBuffer {
    let (width, height) = (width, height)
    return switch (quarterTurns % 4 + 4) % 4 {
    case 1: rearranged(width: height, height: width) { column, row in (height - 1 - column) * width + row }
    case 2:
      rearranged(width: width, height: height) { column, row in (height - 1 - row) * width + width - 1 - column }
    case 3: rearranged(width: height, height: width) { column, row in column * width + width - 1 - row }
    default: self
    }
  }

  /// A picture whose pixels are this one's: `source` tells where each is from, counted row by row.
  private func rearranged(width: Int, height: Int, source: (_ column: Int, _ row: Int) -> Int) -> PixelBuffer {
    precondition(pixelFormat == .bgra, "only whole pixels are moved")
    let bytes = [UInt8](unsafeUninitializedCapacity: 4 * width * height) { target, count in
      data.withUnsafeBytes { pixels in
        let target = UnsafeMutableRawBufferPointer(target)
        var place = 0
        for row in 0..<height {
          for column in 0..<width {
            let pixel = pixels.loadUnaligned(fromByteOffset: 4 * source(column, row), as: UInt32.self)
            target.storeBytes(of: pixel, toByteOffset: place, as: UInt32.self)
            place += 4
          }
        }
      }
      count = 4 * width * height
    }
    guard let picture = try? PixelBuffer(.bgra, width: width, height: height, data: bytes) else {
      preconditionFailure("a part of a picture is one")
    }
    return picture
  }
}
