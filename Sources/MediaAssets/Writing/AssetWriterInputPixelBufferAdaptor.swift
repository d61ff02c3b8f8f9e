import MediaCore

/// Appends pictures to an input, one by one, and has memory for them.
///
/// Threading: any thread.
public final class AssetWriterInputPixelBufferAdaptor: Sendable {
  /// What the pictures are appended to.
  public let assetWriterInput: AssetWriterInput

  /// An adaptor of an input whose pictures are encoded.
  ///
  /// Errors: `invalidArgument` for one that takes something else.
  public init(assetWriterInput: AssetWriterInput) throws(MediaError) {
    guard case .video = assetWriterInput.settings, assetWriterInput.pixelBufferPool != nil else {
      throw MediaError(.invalidArgument, "the input takes no pictures to encode", operation: "init")
    }
    self.assetWriterInput = assetWriterInput
  }

  /// Memory for pictures as the input's `sourceFormat` says; nil while the writer is not writing.
  public var pixelBufferPool: PixelBufferPool? {
    assetWriterInput.isWriting ? assetWriterInput.pixelBufferPool : nil
  }

  /// Gives the writer a picture, which is shown until the next is. Its bytes are shared, not copied. Does not block.
  ///
  /// Errors: those of `AssetWriterInput.append`.
  public func append(_ pixels: PixelBuffer, withPresentationTime time: MediaTime) throws(MediaError) {
    try assetWriterInput.append(
      SampleBuffer(pixels: pixels, like: assetWriterInput.sourceFormat.video, presentationTime: time))
  }

  /// As `append`, but waits until the input is ready.
  public func append(waiting pixels: PixelBuffer, withPresentationTime time: MediaTime) throws(MediaError) {
    try assetWriterInput.append(
      waiting: SampleBuffer(pixels: pixels, like: assetWriterInput.sourceFormat.video, presentationTime: time))
  }
}
