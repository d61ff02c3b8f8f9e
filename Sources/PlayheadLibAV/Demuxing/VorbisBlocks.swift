import CPlayheadFFmpeg

/// The block sizes of a Vorbis stream's packets, by the modes that its setup header lists (Vorbis I, section 4.2.4).
///
/// A packet states its mode in its first byte, and the mode selects one of two block sizes.
///
/// Threading: one thread at a time.
package final class VorbisBlocks {
  /// The sizes of the two blocks in frames, the shorter one first; powers of two from 64 to 8,192.
  package let sizes: (short: Int64, long: Int64)
  private let context: OpaquePointer

  /// Creates an instance for a stream of `demuxer`, to which this object does not refer afterwards; nil when the
  /// stream's headers are invalid.
  package convenience init?(demuxer: Demuxer, streamIndex: Int) {
    guard demuxer.streams.indices.contains(streamIndex), let stream = demuxer.context.pointee.streams[streamIndex],
      let parameters = stream.pointee.codecpar, parameters.pointee.codec_id == AV_CODEC_ID_VORBIS,
      let data = parameters.pointee.extradata, parameters.pointee.extradata_size > 0
    else { return nil }
    self.init(UnsafeBufferPointer(start: data, count: Int(parameters.pointee.extradata_size)))
  }

  /// Creates an instance from an identification header and a setup header; nil when they are invalid.
  package convenience init?(identification: [UInt8], setup: [UInt8]) {
    guard setup.count <= UInt16.max, identification.count == 30 else { return nil }
    // Each header follows its length; the comments may be empty.
    let count = [UInt8(setup.count >> 8), UInt8(setup.count & 255)]
    let headers = [0, 30] + identification + [0, 0] + count + setup
    let padding = [UInt8](repeating: 0, count: Int(AV_INPUT_BUFFER_PADDING_SIZE))
    let padded = headers + padding
    guard
      let made = padded.withUnsafeBufferPointer({ Self.parsed(UnsafeBufferPointer(rebasing: $0[..<headers.count])) })
    else { return nil }
    self.init(made)
  }

  private convenience init?(_ headers: UnsafeBufferPointer<UInt8>) {
    guard let made = Self.parsed(headers) else { return nil }
    self.init(made)
  }

  private init(_ parsed: (sizes: (short: Int64, long: Int64), context: OpaquePointer)) {
    (sizes, context) = parsed
  }

  private static func parsed(
    _ headers: UnsafeBufferPointer<UInt8>
  ) -> (sizes: (short: Int64, long: Int64), context: OpaquePointer)? {
    guard let sizes = sizes(headers),
      let context = av_vorbis_parse_init(headers.baseAddress, Int32(clamping: headers.count))
    else { return nil }
    return (sizes, context)
  }

  deinit {
    var released: OpaquePointer? = context
    av_vorbis_parse_free(&released)
  }

  /// The kind of a packet.
  package enum Kind: Sendable, Hashable {
    /// Audio, with its block size in frames.
    case audio(size: Int64)
    case identification, setup
    /// Comments, or invalid.
    case other
  }

  /// Returns the kind of a packet, from its first byte (Vorbis I, sections 4.2.1 and 4.3.1).
  package func kind(of packet: Packet) -> Kind {
    guard packet.byteCount > 0, let data = packet.pointer.pointee.data else { return .other }
    if data[0] & 1 != 0 { return data[0] == 1 ? .identification : data[0] == 5 ? .setup : .other }
    // After a reset, the parser assumes that the previous block is short. The result is half a short block only if this
    // block is short, too.
    av_vorbis_parse_reset(context)
    let frameCount = Int64(av_vorbis_parse_frame(context, data, 1))
    if frameCount < 0 { return .other }
    return .audio(size: frameCount == sizes.short / 2 ? sizes.short : sizes.long)
  }

  /// Returns the sizes in the identification header (Vorbis I, section 4.2.2), which is the first of the three headers.
  static func sizes(_ headers: UnsafeBufferPointer<UInt8>) -> (short: Int64, long: Int64)? {
    let name: [UInt8] = [1] + Array("vorbis".utf8)
    let header = headers.prefix(64)
    guard let start = header.indices.first(where: { header[$0...].starts(with: name) }), start + 28 < header.endIndex
    else { return nil }
    let (short, long) = (header[start + 28] & 15, header[start + 28] >> 4)
    return short >= 6 && short <= long && long <= 13 ? (1 << Int64(short), 1 << Int64(long)) : nil
  }
}
