import PlayheadMediaCore

/// Appends single video frames to an input, and provides memory for them.
///
/// <!-- listing: write-video -->
/// ```swift
/// var settings = VideoOutputSettings(.h264)
/// (settings.constantQuality, settings.keyFrameInterval) = (20, 48)
/// let frames = AssetWriterInput(settings: settings, sourceFormat: .pixels(.bgra, width: 1_280, height: 720))
/// let adaptor = try AssetWriterInputPixelBufferAdaptor(assetWriterInput: frames)
/// try adaptor.append(waiting: pixels, withPresentationTime: MediaTime(value: 1, timescale: 24))
/// ```
///
/// Threading: any thread.
public final class AssetWriterInputPixelBufferAdaptor: Sendable {
  /// The input to which the frames are appended.
  public let assetWriterInput: AssetWriterInput

  /// Creates an adaptor of an input that encodes video frames.
  ///
  /// - Throws: `invalidArgument` for any other input.
  public init(assetWriterInput: AssetWriterInput) throws(MediaError) {
    guard case .video = assetWriterInput.settings, assetWriterInput.pixelBufferPool != nil else {
      throw MediaError(.invalidArgument, "the input does not encode video frames", operation: "init")
    }
    self.assetWriterInput = assetWriterInput
  }

  /// The memory pool for frames of the input's `sourceFormat`; nil while the writer is not writing.
  public var pixelBufferPool: PixelBufferPool? {
    assetWriterInput.isWriting ? assetWriterInput.pixelBufferPool : nil
  }

  /// Appends a frame, which is shown until the next one. Shares its bytes without a copy. Does not block.
  ///
  /// - Throws: The errors of ``AssetWriterInput/append(_:)``.
  public func append(_ pixels: PixelBuffer, withPresentationTime time: MediaTime) throws(MediaError) {
    try assetWriterInput.append(
      SampleBuffer(pixels: pixels, like: assetWriterInput.sourceFormat.video, presentationTime: time))
  }

  /// Appends a frame as ``append(_:withPresentationTime:)`` does, but blocks until the input is ready.
  public func append(waiting pixels: PixelBuffer, withPresentationTime time: MediaTime) throws(MediaError) {
    try assetWriterInput.append(
      waiting: SampleBuffer(pixels: pixels, like: assetWriterInput.sourceFormat.video, presentationTime: time))
  }
}
