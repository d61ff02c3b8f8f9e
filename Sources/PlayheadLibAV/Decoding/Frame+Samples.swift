import CPlayheadFFmpeg

extension Frame {
  /// Copies a part of a frame of interleaved audio without conversion.
  ///
  /// - Parameters:
  ///   - range: The audio frames to copy.
  ///   - output: Memory for as many frames.
  package func copySamples(_ range: Range<Int>, into output: UnsafeMutableRawPointer) {
    guard let layout else { return }
    precondition(!layout.format.isPlanar, "planar samples are not contiguous")
    precondition(range.lowerBound >= 0 && range.upperBound <= frameCount, "the range must be within the frame")
    guard !range.isEmpty, let samples = pointer.pointee.extended_data?[0] else { return }
    let frameByteCount = layout.channelCount * layout.format.byteCount
    output.copyMemory(from: samples + range.lowerBound * frameByteCount, byteCount: range.count * frameByteCount)
  }
}
