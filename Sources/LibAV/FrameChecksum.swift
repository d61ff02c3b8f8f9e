import CFFmpeg
import CMediaShims

/// The checksum at the end of a FLAC frame (RFC 9639, 9.3: polynomial x^16 + x^15 + x^2 + 1, from 0, the highest bit first).
enum FrameChecksum {
  /// Whether a frame is as it was written: that the remainder of all of it is 0.
  static func holds(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let base = bytes.baseAddress, let table = av_crc_get_table(AV_CRC_16_ANSI) else { return false }
    // FFmpeg's own takes a quarter of the time of decoding; most of the frame is made short first.
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { residue in
      guard let room = residue.baseAddress else { return false }
      let done = media_shims_fold_crc16(base, bytes.count, room)
      let start = done > 0 ? av_crc(table, 0, room, 64) : 0
      return av_crc(table, start, base + done, bytes.count - done) == 0
    }
  }
}
