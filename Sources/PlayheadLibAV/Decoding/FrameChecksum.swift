import CPlayheadFFmpeg
import CPlayheadMediaShims

/// The checksum at the end of a FLAC frame (RFC 9639, 9.3: polynomial x^16 + x^15 + x^2 + 1, initial value 0, highest
/// bit first).
enum FrameChecksum {
  /// Returns whether a frame is intact: the remainder over the whole frame is 0.
  static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = bytes.baseAddress, let table = av_crc_get_table(AV_CRC_16_ANSI) else { return false }
    // FFmpeg's function alone would need a quarter of the decoding time. Most of the frame is therefore folded to a
    // short residue first.
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { residue in
      guard let output = residue.baseAddress else { return false }
      let done = media_shims_fold_crc16(base, bytes.count, output)
      let start = done > 0 ? av_crc(table, 0, output, 64) : 0
      return av_crc(table, start, base + done, bytes.count - done) == 0
    }
  }
}
