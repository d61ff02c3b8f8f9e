import PlayheadMediaCore
import Synchronization

/// A pool of memory for video frames of one format and size, as CVPixelBufferPool. The writer returns the memory of
/// each encoded frame to the pool. The pool keeps at most ``maximumIdleCount`` frames. Frames are values, so that a
/// frame in use is never overwritten.
///
/// Threading: any thread.
public final class PixelBufferPool: Sendable {
  /// The layout of the pixels.
  public let pixelFormat: PixelFormat
  /// Pixels per row.
  public let width: Int
  /// The number of rows.
  public let height: Int
  /// Maximum number of frames whose memory is kept.
  public let maximumIdleCount = 4
  private let byteCount: Int
  private let idleBuffers = Mutex<[[UInt8]]>([])

  /// Creates a pool for frames of a format; nil for a format without pixels, and for unsupported sizes.
  init?(_ format: FormatDescription) {
    guard let video = format.video, format.codecName == FormatDescription.pixelsCodecName,
      let pixelFormat = video.pixelFormatName.flatMap(PixelFormat.init(name:))
    else { return nil }
    byteCount = pixelFormat.byteCount(width: video.width, height: video.height)
    guard byteCount > 0 else { return nil }
    (self.pixelFormat, width, height) = (pixelFormat, video.width, video.height)
  }

  /// Returns a frame to be filled. The contents of its memory are undefined.
  ///
  /// - Throws: Nothing in practice: the pool's sizes are valid.
  public func makePixelBuffer() throws(MediaError) -> PixelBuffer {
    let data = idleBuffers.withLock { $0.popLast() } ?? [UInt8](repeating: 0, count: byteCount)
    return try PixelBuffer(pixelFormat, width: width, height: height, data: data)
  }

  /// The number of frames whose memory is kept at present.
  var idleCount: Int { idleBuffers.withLock { $0.count } }

  /// Accepts the memory of an encoded frame.
  func recycle(_ buffer: SampleBuffer) {
    guard buffer.data.count == byteCount else { return }
    idleBuffers.withLock { if $0.count < maximumIdleCount { $0.append(buffer.data) } }
  }
}
