import PlayheadLibAV

/// Walks through AAC in ADTS from header to header (ISO/IEC 13818-7, 6.2), while each frame directly follows the
/// previous one. Damage ends the walk; the packets after it are counted as FFmpeg reads them.
///
/// Every header counts as one packet of `packetFrames` frames, even if it states more blocks: FFmpeg's decoder decodes
/// the first block and counts one.
enum ADTSWalker {
  /// Walks from the last indexed packet to `target` and adds packets to the index. Blocks.
  ///
  /// - Throws: the errors of `FileSource.read`, `cancelled` included.
  static func extend(
    _ index: PacketIndex, to target: Int64, packetFrames: Int64, source: FileSource
  ) throws(AVFailure) {
    let tail = index.tail
    guard packetFrames > 0, tail.last.frame < target else { return }
    var window = FileWindow(source: source)
    var entry = tail.last
    var nextEntryFrame = entry.frame + tail.spacingFrames
    var fixed: UInt64?
    while entry.frame <= target {
      guard let bytes = try window.bytes(at: entry.byte, count: 8) else { return }
      let bits = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      let byteCount = Int64(bits >> 21 & 0x1fff)
      guard bits >> 52 == 0xfff, bits >> 49 & 3 == 0, byteCount > 7, ((fixed ?? bits) ^ bits) & fixedMask == 0 else {
        return
      }
      fixed = bits
      if entry.frame >= nextEntryFrame {
        index.add(entry)
        nextEntryFrame = entry.frame + tail.spacingFrames
      }
      entry.byte += byteCount
      entry.frame += packetFrames
    }
  }

  /// The bits of the sync word, layer, profile and sampling rate.
  private static let fixedMask: UInt64 = 0xfff6_fc00_0000_0000
}
