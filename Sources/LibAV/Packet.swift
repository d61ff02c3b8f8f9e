import CFFmpeg

/// One owner of an `AVPacket`: a piece of coded data. Reused from read to read; the data is counted by FFmpeg.
///
/// Used by one thread at a time.
public final class Packet {
  let pointer: UnsafeMutablePointer<AVPacket>

  public init() throws(AVFailure) { pointer = try check(av_packet_alloc(), "av_packet_alloc") }

  /// A packet with a copy of some bytes.
  public convenience init(bytes: [UInt8]) throws(AVFailure) {
    try self.init()
    try bytes.withUnsafeBufferPointer { bytes throws(AVFailure) in try fill(bytes) }
  }

  deinit {
    var released: UnsafeMutablePointer<AVPacket>? = pointer
    av_packet_free(&released)
  }

  /// Index of the stream that it belongs to.
  public var streamIndex: Int { Int(pointer.pointee.stream_index) }
  /// Presentation time in the stream's ticks.
  public var pts: Int64? { optionalTimestamp(pointer.pointee.pts) }
  /// Decoding time in the stream's ticks.
  public var dts: Int64? { optionalTimestamp(pointer.pointee.dts) }
  /// In the stream's ticks; nil when not known.
  public var duration: Int64? { optionalCount(pointer.pointee.duration) }
  /// Where it begins in the file.
  public var bytePosition: Int64? { pointer.pointee.pos >= 0 ? pointer.pointee.pos : nil }
  public var byteCount: Int { Int(max(0, pointer.pointee.size)) }
  /// Its data; nil when it has more bytes than `limit`.
  public func data(limit: Int) -> [UInt8]? {
    guard byteCount <= limit else { return nil }
    guard let data = pointer.pointee.data else { return byteCount == 0 ? [] : nil }
    return Array(UnsafeBufferPointer(start: data, count: byteCount))
  }

  /// Decoding can begin with it (`AV_PKT_FLAG_KEY`).
  public var isKeyFrame: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }

  /// It is decoded, but nothing that comes of it is presented (`AV_PKT_FLAG_DISCARD`).
  public var isDiscarded: Bool { pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

  /// Another packet with the same data, which is shared.
  public func copied() throws(AVFailure) -> Packet {
    let copy = try Packet()
    try check(av_packet_ref(copy.pointer, pointer), "av_packet_ref")
    return copy
  }

  /// Becomes what another packet is, which is empty then.
  public func take(_ other: Packet) {
    clear()
    av_packet_move_ref(pointer, other.pointer)
  }

  /// The demuxer found that bytes are missing or wrong.
  public var isMarkedCorrupt: Bool { pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

  /// Decoded frames that are to be cut off its start and its end, as the demuxer says (`AV_PKT_DATA_SKIP_SAMPLES`); the
  /// decoder does it.
  public var trimmedFrames: (start: Int64, end: Int64) {
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

  /// Gives a packet without timestamps one, in the stream's ticks; the decoded frame gets it.
  public func stamp(_ ticks: Int64) {
    pointer.pointee.pts = ticks
    pointer.pointee.dts = ticks
  }

  /// It begins as a frame of MPEG audio does (ISO/IEC 11172-3, 2.4.1.3; ISO/IEC 14496-3, 1.A.3.2.1).
  public var beginsWithSyncWord: Bool {
    guard byteCount >= 2, let data = pointer.pointee.data else { return false }
    return data[0] == 0xff && data[1] & 0xe0 == 0xe0
  }

  /// Its first four bytes as a little-endian number; nil when it has fewer.
  var leadingUInt32: UInt32? {
    guard byteCount >= 4, let data = pointer.pointee.data else { return nil }
    return (0..<4).reduce(0) { $0 | UInt32(data[$1]) << (8 * $1) }
  }

  /// Takes its timestamps away: the frames that it decodes to follow those before.
  public func clearTimestamps() { stamp(shim_AV_NOPTS_VALUE()) }

  /// Lets the decoder cut nothing off that the demuxer wants cut off (`AV_PKT_DATA_SKIP_SAMPLES`).
  public func clearTrims() {
    var byteCount = 0
    if let data = av_packet_get_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, &byteCount) {
      data.update(repeating: 0, count: byteCount)
    }
  }

  /// Says how many decoded frames are to be cut off its start and its end (`AV_PKT_DATA_SKIP_SAMPLES`).
  public func setTrims(start: Int64, end: Int64) throws(AVFailure) {
    let data = try check(av_packet_new_side_data(pointer, AV_PKT_DATA_SKIP_SAMPLES, 10), "av_packet_new_side_data")
    data.update(repeating: 0, count: 10)
    for byte in 0..<4 {
      data[byte] = UInt8(truncatingIfNeeded: start >> (8 * Int64(byte)))
      data[4 + byte] = UInt8(truncatingIfNeeded: end >> (8 * Int64(byte)))
    }
  }

  /// Replaces what it held by a copy of some bytes, without times and marks.
  public func fill(_ bytes: UnsafeBufferPointer<UInt8>) throws(AVFailure) {
    clear()
    guard let count = Int32(exactly: bytes.count) else { throw AVFailure(errno: EINVAL, call: "av_new_packet") }
    try check(av_new_packet(pointer, count), "av_new_packet")
    if let base = bytes.baseAddress, let data = pointer.pointee.data { data.update(from: base, count: bytes.count) }
  }

  /// Says when it is shown, when it is decoded, and for how long it lasts, 0 when not known; in the stream's ticks.
  public func stamp(pts: Int64, dts: Int64, duration: Int64) {
    pointer.pointee.pts = pts
    pointer.pointee.dts = dts
    pointer.pointee.duration = duration
  }

  /// Says whether decoding can begin with it.
  public func mark(isKeyFrame: Bool) { pointer.pointee.flags = isKeyFrame ? AV_PKT_FLAG_KEY : 0 }

  /// Lets go of the data.
  func clear() { av_packet_unref(pointer) }
}
