import LibAV

/// Goes through AAC in ADTS from header to header (ISO/IEC 13818-7, 6.2) for as long as each frame follows right behind the
/// one before; what comes after damage is counted by FFmpeg, packet by packet.
///
/// Every header counts as one packet of `frameCount` frames, whatever it says of the number of its blocks: FFmpeg's decoder
/// decodes the first and counts one.
enum ADTSWalker {
  /// Walks on from the furthest known place until `target`, noting what it passes. Blocks.
  ///
  /// Throws what `FileSource.read` throws, `cancelled` among it.
  static func extend(
    _ index: PacketIndex, to target: Int64, packetFrames: Int64, source: FileSource
  ) throws(AVFailure) {
    let reach = index.reach
    guard packetFrames > 0, reach.last.frame < target else { return }
    var window = FileWindow(source: source)
    var place = reach.last
    var nextNoted = place.frame + reach.spacingFrames
    var fixed: UInt64?
    while place.frame <= target {
      guard let bytes = try window.bytes(at: place.byte, count: 8) else { return }
      let bits = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      let byteCount = Int64(bits >> 21 & 0x1fff)
      guard bits >> 52 == 0xfff, bits >> 49 & 3 == 0, byteCount > 7, ((fixed ?? bits) ^ bits) & fixedMask == 0 else {
        return
      }
      fixed = bits
      if place.frame >= nextNoted {
        index.note(place)
        nextNoted = place.frame + reach.spacingFrames
      }
      place.byte += byteCount
      place.frame += packetFrames
    }
  }

  /// Sync word, layer, profile and sampling rate.
  private static let fixedMask: UInt64 = 0xfff6_fc00_0000_0000
}
