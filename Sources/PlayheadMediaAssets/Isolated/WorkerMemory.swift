// The memory of a worker that decodes video.
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

extension WorkerLimits {
  /// The limits of a worker for the largest video frames and images.
  static var large: WorkerLimits {
    var limits = WorkerLimits()
    limits.dataByteCount = 1_024 << 20
    return limits
  }
}

extension VideoTrackReader {
  /// The maximum number of decoded frames in memory: a decoder of H.264 or H.265 retains 16 frames and decodes another
  /// one, and the reader has two.
  private static let retainedFrameCount = 19
  /// The number of bytes that the frames and their images may have in a worker with the default limits. The rest of its
  /// memory is for the decoder's tables, the container and the libraries.
  private static let workerByteCount = 320 << 20

  /// Returns whether the frames and their images may exceed the memory of a worker with the default limits. Blocks.
  ///
  /// A header may declare a size that no frame has. Therefore, if the declared frames exceed the memory, a key frame is
  /// decoded, and the result depends on this frame.
  ///
  /// - Parameters:
  ///   - settings: The settings of the images.
  ///   - imageByteCount: Returns the memory for the images of frames with a width and a height, in bytes; nil if such
  ///     images need a worker with more memory.
  func needsLargeWorker(
    _ settings: ImageSettings, imageByteCount: (ImageRenderer.Plan, _ width: Int, _ height: Int) -> Int?
  ) -> Bool {
    func isLarge(
      _ width: Int, _ height: Int, _ pixelFormatName: String?, _ ratio: FormatDescription.Video.PixelAspectRatio?
    ) -> Bool {
      let plan = ImageRenderer.plan(
        width: width, height: height, pixelAspectRatio: ratio, format: format, settings: settings)
      guard width * height <= LocalImageMaker.Limits.worker.pixelCount,
        let imageByteCount = imageByteCount(plan, width, height)
      else { return true }
      let frameByteCount = pixelFormatName.flatMap { name in
        Frame.byteCount(pixelFormatName: name, width: width, height: height)
      }
      return (frameByteCount ?? 2 * width * height) * Self.retainedFrameCount + imageByteCount > Self.workerByteCount
    }
    // After an error, the first read fails in the same way.
    guard isLarge(format.width, format.height, format.pixelFormatName, nil),
      let properties = try? decodeKeyFrame()?.properties
    else { return false }
    return isLarge(properties.width, properties.height, properties.pixelFormatName, properties.pixelAspectRatio)
  }
}
