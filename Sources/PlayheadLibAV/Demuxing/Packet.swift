import CPlayheadFFmpeg

/// An owner of an `AVPacket`: a block of coded data. The object is reused for each read; FFmpeg counts the references
/// to the data.
///
/// Threading: one thread at a time.
package final class Packet {
  let pointer: UnsafeMutablePointer<AVPacket>

  package init() throws(AVFailure) { pointer = try check(av_packet_alloc(), "av_packet_alloc") }

  /// Creates a packet with a copy of `bytes`.
  package convenience init(bytes: [UInt8]) throws(AVFailure) {
    try self.init()
    try bytes.withUnsafeBufferPointer { bytes throws(AVFailure) in try fill(bytes) }
  }

  deinit {
    var released: UnsafeMutablePointer<AVPacket>? = pointer
    av_packet_free(&released)
  }

  /// The index of the packet's stream.
  package var streamIndex: Int { Int(pointer.pointee.stream_index) }
  /// The presentation time, in the stream's ticks.
  package var pts: Int64? { optionalTimestamp(pointer.pointee.pts) }
  /// The decoding time, in the stream's ticks.
  package var dts: Int64? { optionalTimestamp(pointer.pointee.dts) }
  /// The duration, in the stream's ticks; nil when unknown.
  package var duration: Int64? { optionalCount(pointer.pointee.duration) }
  /// The position of the packet in the file, in bytes; nil when unknown.
  package var bytePosition: Int64? { pointer.pointee.pos >= 0 ? pointer.pointee.pos : nil }
  package var byteCount: Int { Int(max(0, pointer.pointee.size)) }
  /// Returns the data; nil when it has more than `limit` bytes.
  package func data(limit: Int) -> [UInt8]? {
    guard byteCount <= limit else { return nil }
    guard let data = pointer.pointee.data else { return byteCount == 0 ? [] : nil }
    return Array(UnsafeBufferPointer(start: data, count: byteCount))
  }

  /// Whether decoding can begin with this packet (`AV_PKT_FLAG_KEY`).
  package var isKeyFrame: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }

  /// Whether the packet is decoded, but its frames are not presented (`AV_PKT_FLAG_DISCARD`).
  package var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

  /// Returns another packet that shares the data.
  package func copied() throws(AVFailure) -> Packet {
    let copy = try Packet()
    try check(av_packet_ref(copy.pointer, pointer), "av_packet_ref")
    return copy
  }

  /// Moves the content of `other` into this packet; `other` is empty afterwards.
  package func move(from other: Packet) {
    clear()
    av_packet_move_ref(pointer, other.pointer)
  }

  /// Whether the demuxer found missing or wrong bytes.
  package var isMarkedCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

  /// The number of decoded frames to remove at the start and the end, as set by the demuxer
  /// (`AV_PKT_DATA_SKIP_SAMPLES`). The decoder removes them.
  package var trimmedFrames: (start: Int64, end: Int64) {
    var byteCount = 0
    guard let data = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &byteCount), byteCount >= 8 else {
      return (0, 0)
    }
    // Two little-endian 32-bit numbers.
    func number(at offset: Int) -> Int64 {
      (0..<4).reduce(Int64(0)) { $0 | Int64(data[offset + $1]) << (8 * Int64($1)) }
    }
    return (number(at: 0), number(at: 4))
  }

  /// Sets the presentation time and the decoding time, in the stream's ticks.
  package func setTimestamps(_ ticks: Int64) {
    pointer.pointee.pts = ticks
    pointer.pointee.dts = ticks
  }

  /// Whether the packet begins like a frame of MPEG audio (ISO/IEC 11172-3, 2.4.1.3; ISO/IEC 14496-3, 1.A.3.2.1).
  package var beginsWithSyncWord: Bool {
    guard byteCount >= 2, let data = pointer.pointee.data else { return false }
    return data[0] == 0xff && data[1] & 0xe0 == 0xe0
  }

  /// The first four bytes as a little-endian number; nil when there are fewer.
  var leadingUInt32: UInt32? {
    guard byteCount >= 4, let data = pointer.pointee.data else { return nil }
    return (0..<4).reduce(0) { $0 | UInt32(data[$1]) << (8 * $1) }
  }

  /// Removes the timestamps. Readers then treat the decoded frames as a continuation of the previous ones.
  package func clearTimestamps() { setTimestamps(shim_AV_NOPTS_VALUE()) }

  /// Cancels the trimming that the demuxer requested (`AV_PKT_DATA_SKIP_SAMPLES`).
  package func clearTrims() {
    var byteCount = 0
    if let data = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &byteCount) {
      data.update(repeating: 0, count: byteCount)
    }
  }

  /// Sets the number of decoded frames to remove at the start and the end (`AV_PKT_DATA_SKIP_SAMPLES`).
  package func setTrims(start: Int64, end: Int64) throws(AVFailure) {
    let data = try check(av_packet_new_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, 10), "av_packet_new_side_data")
    data.update(repeating: 0, count: 10)
    for byte in 0..<4 {
      data[byte] = UInt8(truncatingIfNeeded: start >> (8 * Int64(byte)))
      data[4 + byte] = UInt8(truncatingIfNeeded: end >> (8 * Int64(byte)))
    }
  }

  /// Replaces the content with a copy of `bytes`, without times and flags.
  package func fill(_ bytes: UnsafeBufferPointer<UInt8>) throws(AVFailure) {
    clear()
    guard let count = Int32(exactly: bytes.count) else { throw AVFailure(errno: EINVAL, call: "av_new_packet") }
    try check(av_new_packet(pointer, count), "av_new_packet")
    if let base = bytes.baseAddress, let data = pointer.pointee.data { data.update(from: base, count: bytes.count) }
  }

  /// Sets the presentation time, the decoding time and the duration (0: unknown), in the stream's ticks.
  package func setTimestamps(pts: Int64, dts: Int64, duration: Int64) {
    pointer.pointee.pts = pts
    pointer.pointee.dts = dts
    pointer.pointee.duration = duration
  }

  /// Sets whether decoding can begin with this packet.
  package func setKeyFrame(_ isKeyFrame: Bool) { pointer.pointee.flags = isKeyFrame ? AV_PKT_FLAG_KEY : 0 }

  /// Releases the data.
  func clear() { av_packet_unref(pointer) }
}
