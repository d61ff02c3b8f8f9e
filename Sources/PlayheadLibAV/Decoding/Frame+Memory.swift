import CPlayheadFFmpeg

// Audio frames in memory that is shared between processes: all planes, one after another.
extension Frame {
  /// The size of all planes of the frame, in bytes; 0 without audio.
  package var sampleByteCount: Int { layout.map { frameCount * $0.channelCount * $0.format.byteCount } ?? 0 }

  /// Copies all planes, one after another.
  ///
  /// - Parameter output: Memory for `sampleByteCount` bytes.
  package func copyPlanes(into output: UnsafeMutableRawPointer) {
    guard let layout, frameCount > 0, let planes = pointer.pointee.extended_data else { return }
    let (planeCount, planeByteCount) = Self.planes(of: layout, frameCount: frameCount)
    for index in 0..<planeCount {
      guard let plane = planes[index] else { continue }
      (output + index * planeByteCount).copyMemory(from: plane, byteCount: planeByteCount)
    }
  }

  /// Replaces the frame's content with samples that `copyPlanes` copied.
  ///
  /// - Parameters:
  ///   - layout: 1 to 64 channels, and a sample rate of at least 1.
  ///   - frameCount: At least 1.
  ///   - input: The bytes of all planes.
  /// - Throws: `limit` when no memory is available; `invalidData` for values outside these ranges.
  package func fill(
    _ layout: SampleLayout, frameCount: Int, pts: Int64?, from input: UnsafeRawPointer
  ) throws(AVFailure) {
    clear()
    guard let count = Int32(exactly: frameCount), let rate = Int32(exactly: layout.sampleRateHz), count > 0, rate > 0,
      (1...64).contains(layout.channelCount)
    else { throw AVFailure(invalidDataIn: "av_frame_get_buffer") }
    pointer.pointee.format = layout.format.rawValue
    (pointer.pointee.nb_samples, pointer.pointee.sample_rate) = (count, rate)
    pointer.pointee.pts = pts ?? shim_AV_NOPTS_VALUE()
    if let mask = layout.channelMask {
      try check(av_channel_layout_from_mask(&pointer.pointee.ch_layout, mask), "av_channel_layout_from_mask")
    } else {
      shim_channel_layout_unspecified(&pointer.pointee.ch_layout, Int32(layout.channelCount))
    }
    guard Int(pointer.pointee.ch_layout.nb_channels) == layout.channelCount else {
      clear()
      throw AVFailure(invalidDataIn: "av_channel_layout_from_mask")
    }
    try check(av_frame_get_buffer(pointer, 0), "av_frame_get_buffer")
    let (planeCount, planeByteCount) = Self.planes(of: layout, frameCount: frameCount)
    for index in 0..<planeCount {
      guard let plane = pointer.pointee.extended_data?[index] else { continue }
      UnsafeMutableRawPointer(plane).copyMemory(from: input + index * planeByteCount, byteCount: planeByteCount)
    }
  }

  private static func planes(of layout: SampleLayout, frameCount: Int) -> (count: Int, byteCount: Int) {
    let channelByteCount = frameCount * layout.format.byteCount
    return layout.format.isPlanar
      ? (layout.channelCount, channelByteCount) : (1, channelByteCount * layout.channelCount)
  }
}
