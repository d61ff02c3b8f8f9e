import PlayheadMediaCore

/// The planes of an image with the padding that swscale needs: it writes beyond the end of rows, and to full blocks of
/// rows.
struct PaddedPlanes {
  /// The alignment of rows in bytes, for the widest vector instructions.
  private static let rowAlignment = 64
  /// The alignment of the number of rows, as in FFmpeg's frames.
  private static let rowCountAlignment = 32

  struct Plane {
    /// The offset of the first byte from an aligned address.
    let offset: Int
    /// The number of bytes from one row to the next.
    let stride: Int
  }

  let planes: [Plane]
  /// The number of bytes of memory at any address that suffices for the planes.
  let byteCount: Int

  /// - Parameter planes: The planes without padding.
  init(_ planes: [PixelFormat.Plane]) {
    var offset = 0
    self.planes = planes.map { plane in
      let stride = Self.aligned(plane.bytesPerRow, to: Self.rowAlignment)
      defer { offset += stride * Self.aligned(plane.rowCount, to: Self.rowCountAlignment) }
      return Plane(offset: offset, stride: stride)
    }
    // Reserve one unit for the alignment of the start, and one after the end.
    byteCount = offset + 2 * Self.rowAlignment
  }

  /// Returns the first aligned address in memory of `byteCount` bytes; nil without memory.
  func alignedStart(of memory: UnsafeMutableBufferPointer<UInt8>) -> UnsafeMutablePointer<UInt8>? {
    memory.baseAddress.map { base in
      base + (Self.aligned(Int(bitPattern: base), to: Self.rowAlignment) - Int(bitPattern: base))
    }
  }

  /// Moves the rows together, to the beginning of the memory. Returns the number of bytes without padding.
  ///
  /// - Parameters:
  ///   - start: The start of the padded planes.
  ///   - target: The planes without padding.
  func removePadding(
    from start: UnsafeMutablePointer<UInt8>, to memory: UnsafeMutableBufferPointer<UInt8>,
    _ target: [PixelFormat.Plane]
  ) -> Int {
    guard let base = memory.baseAddress else { return 0 }
    var count = 0
    for (from, to) in zip(planes, target) {
      // No row moves to a higher address, so none overwrites a row that moves later.
      for row in 0..<to.rowCount {
        (base + to.offset + row * to.bytesPerRow)
          .update(from: start + from.offset + row * from.stride, count: to.bytesPerRow)
      }
      count = to.offset + to.rowCount * to.bytesPerRow
    }
    return count
  }

  private static func aligned(_ number: Int, to alignment: Int) -> Int { (number + alignment - 1) & ~(alignment - 1) }
}
