// Rotates by right angles and crops frames and their descriptions. No pixel values are computed.
import PlayheadMediaCore

extension PixelBuffer {
  /// Returns a part of the frame, which must be within the frame. BGRA only.
  func cropped(x: Int, y: Int, width: Int, height: Int) -> PixelBuffer {
    precondition(
      pixelFormat == .bgra && x >= 0 && y >= 0 && x + width <= self.width && y + height <= self.height,
      "the part must be within the frame, which must be BGRA")
    return rearranged(width: width, height: height) { columns, _, column, row in (y + row) * columns + x + column }
  }

  /// Returns the frame rotated clockwise by multiples of 90 degrees.
  ///
  /// Subsampled chroma is moved without interpolation. At odd sizes it then belongs to other pairs of pixels.
  func rotated(quarterTurns: Int) -> PixelBuffer {
    switch (quarterTurns % 4 + 4) % 4 {
    case 1:
      rearranged(width: height, height: width) { columns, rows, column, row in (rows - 1 - column) * columns + row }
    case 2:
      rearranged(width: width, height: height) { columns, rows, column, row in
        (rows - 1 - row) * columns + columns - 1 - column
      }
    case 3:
      rearranged(width: height, height: width) { columns, _, column, row in column * columns + columns - 1 - row }
    default: self
    }
  }

  /// Returns a frame whose samples are rearranged from this one.
  ///
  /// - Parameter source: returns the index of a sample's source, counted row by row in a plane with the given columns
  ///   and rows.
  private func rearranged(
    width: Int, height: Int, source: (_ columns: Int, _ rows: Int, _ column: Int, _ row: Int) -> Int
  ) -> PixelBuffer {
    let byteCount = pixelFormat.byteCount(width: width, height: height)
    let targets = pixelFormat.planes(width: width, height: height)
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { target, count in
      data.withUnsafeBytes { samples in
        for (index, (from, to)) in zip(planes, targets).enumerated() {
          let from = UnsafeRawBufferPointer(
            rebasing: samples[from.offset..<from.offset + from.bytesPerRow * from.rowCount])
          let part = UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(target)[to.offset..<to.offset + to.bytesPerRow * to.rowCount])
          let shape = planes[index]
          switch pixelFormat.bytesPerSample(plane: index) {
          case 4: Self.move(UInt32.self, from, shape, part, to, source)
          case 2: Self.move(UInt16.self, from, shape, part, to, source)
          default: Self.move(UInt8.self, from, shape, part, to, source)
          }
        }
      }
      count = byteCount
    }
    guard let pixels = try? PixelBuffer(pixelFormat, width: width, height: height, data: bytes) else {
      preconditionFailure("a part of a frame has a valid size")
    }
    return pixels
  }

  @inline(__always)
  private static func move<Sample: FixedWidthInteger & BitwiseCopyable>(
    _: Sample.Type, _ samples: UnsafeRawBufferPointer, _ shape: PixelFormat.Plane,
    _ target: UnsafeMutableRawBufferPointer,
    _ targetShape: PixelFormat.Plane, _ source: (Int, Int, Int, Int) -> Int
  ) {
    let size = MemoryLayout<Sample>.size
    let (columns, targetColumns) = (shape.bytesPerRow / size, targetShape.bytesPerRow / size)
    var targetOffset = 0
    for row in 0..<targetShape.rowCount {
      for column in 0..<targetColumns {
        let sample = samples.loadUnaligned(
          fromByteOffset: size * source(columns, shape.rowCount, column, row), as: Sample.self)
        target.storeBytes(of: sample, toByteOffset: targetOffset, as: Sample.self)
        targetOffset += size
      }
    }
  }
}

extension PixelFormat {
  /// The size of a sample that is moved as a unit: a pixel, a luma value, or a pair of chroma values.
  fileprivate func bytesPerSample(plane: Int) -> Int {
    switch self {
    case .bgra: 4
    case .nv12: plane == 0 ? 1 : 2
    case .i420: 1
    }
  }
}

extension FormatDescription.Video {
  /// The description of the frames after they have been rotated upright.
  var upright: FormatDescription.Video {
    var upright = self
    upright.rotationDegrees = 0
    if rotationDegrees % 180 != 0 {
      (upright.width, upright.height) = (height, width)
      upright.pixelAspectRatio = pixelAspectRatio.map { .init(horizontal: $0.vertical, vertical: $0.horizontal) }
    }
    upright.cleanAperture = cleanAperture?.rotated(clockwiseDegrees: rotationDegrees)
    return upright
  }
}

extension FormatDescription.Video.CleanAperture {
  /// Returns the same part of the rotated frame.
  fileprivate func rotated(clockwiseDegrees degrees: Int) -> Self {
    switch degrees {
    case 90: Self(width: height, height: width, horizontalOffset: -verticalOffset, verticalOffset: horizontalOffset)
    case 180:
      Self(width: width, height: height, horizontalOffset: -horizontalOffset, verticalOffset: -verticalOffset)
    case 270: Self(width: height, height: width, horizontalOffset: verticalOffset, verticalOffset: -horizontalOffset)
    default: self
    }
  }
}
