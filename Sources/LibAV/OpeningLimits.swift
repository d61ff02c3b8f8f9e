import CFFmpeg
import Synchronization

/// Bounds on the resources that opening one file may use.
///
/// One set of bounds holds for the process: files are opened on many paths (items, assets, segments, scans), and each honours
/// them. Threading: any.
public enum OpeningLimits {
  private static let present = Atomic<Int>(64 << 20)

  /// Bytes that FFmpeg may read until a file is open: its header, tags and index. Default: 64 MiB; range: 1 MiB to 1 TiB.
  public static var byteCount: Int {
    get { present.load(ordering: .relaxed) }
    set { present.store(min(max(newValue, 1 << 20), 1 << 40), ordering: .relaxed) }
  }
}

/// The bound on single allocations of FFmpeg (`av_max_alloc`, libavutil/mem.h).
///
/// FFmpeg's parsers collect a frame until the next one begins, up to 2 GiB. A frame of the largest video that is decoded
/// (8192 x 8192) needs 256 MiB with four bytes a pixel.
enum FFmpegMemory {
  static let maximumByteCount = 320 << 20

  private static let isLimited: Void = av_max_alloc(maximumByteCount)

  /// Sets the bound, once for the process.
  static func limit() { isLimited }
}
