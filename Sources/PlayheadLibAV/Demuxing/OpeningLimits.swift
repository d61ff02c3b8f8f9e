import CPlayheadFFmpeg
import Synchronization

/// Limits of the resources for opening one file.
///
/// The limits apply to the whole process: to items, assets, segments and scans. Threading: any thread.
package enum OpeningLimits {
  private static let current = Atomic<Int>(64 << 20)

  /// The number of bytes that FFmpeg may read until a file is open: its header, tags and index. Default: 64 MiB; range:
  /// 1 MiB to 1 TiB.
  package static var byteCount: Int {
    get { current.load(ordering: .relaxed) }
    set { current.store(min(max(newValue, 1 << 20), 1 << 40), ordering: .relaxed) }
  }
}

/// The limit of single allocations of FFmpeg (`av_max_alloc`, libavutil/mem.h).
///
/// Without this limit, FFmpeg's parsers collect up to 2 GiB until the next frame begins. The largest video frame that
/// is decoded (8192 x 8192) needs 256 MiB with four bytes per pixel.
enum FFmpegMemory {
  static let maximumByteCount = 320 << 20

  private static let isLimited: Void = av_max_alloc(maximumByteCount)

  /// Sets the limit, once for the process.
  static func limit() { isLimited }
}
