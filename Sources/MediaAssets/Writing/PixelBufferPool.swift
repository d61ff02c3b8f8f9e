import MediaCore
import Synchronization

/// Memory of pictures of one shape, used again and again: as CVPixelBufferPool. What the writer has encoded comes back here; no more
/// than a few pictures are kept. A picture that someone else still has is never written over: pictures are values.
///
/// Threading: any thread.
public final class PixelBufferPool: Sendable {
  /// How the pixels lie.
  public let pixelFormat: PixelFormat
  /// Pixels in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// Pictures' memory that is kept for later at most.
  public let maximumKeptCount = 4
  private let byteCount: Int
  private let kept = Mutex<[[UInt8]]>([])

  /// Nil for sizes that no picture has.
  init?(_ format: FormatDescription) {
    guard let video = format.video, format.codecName == FormatDescription.pixelsCodecName,
      let pixelFormat = video.pixelFormatName.flatMap(PixelFormat.init(name:))
    else { return nil }
    byteCount = pixelFormat.byteCount(width: video.width, height: video.height)
    guard byteCount > 0 else { return nil }
    (self.pixelFormat, width, height) = (pixelFormat, video.width, video.height)
  }

  /// A picture to be filled: what its bytes are is anything.
  ///
  /// Errors: none that happen; it is made as every picture is.
  public func makePixelBuffer() throws(MediaError) -> PixelBuffer {
    let data = kept.withLock { $0.popLast() } ?? [UInt8](repeating: 0, count: byteCount)
    return try PixelBuffer(pixelFormat, width: width, height: height, data: data)
  }

  /// Pictures' memory that is kept at present.
  var keptCount: Int { kept.withLock { $0.count } }

  /// Takes the memory of a picture that is encoded.
  func giveBack(_ buffer: SampleBuffer) {
    guard buffer.data.count == byteCount else { return }
    kept.withLock { if $0.count < maximumKeptCount { $0.append(buffer.data) } }
  }
}
