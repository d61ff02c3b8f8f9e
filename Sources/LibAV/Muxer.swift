// A container being written: AVFormatContext over an AVIOContext of our own, which writes to one open descriptor. One thread uses
// a muxer at a time. It opens nothing; the file, its name and what becomes of it on a failure are its user's.
import CFFmpeg
import FileAccess
import Glibc

/// Puts packets together to a container.
public final class Muxer {
  /// How a container is written.
  public struct Options: Sendable, Hashable {
    /// MP4 and its kin: the index lies before the media, so that playing can begin before all of it has come.
    public var movesIndexToFront = false
    /// MP4 and its kin: fragments of so many microseconds, each of which can be read without what comes behind; nil: one index, at
    /// the end.
    public var fragmentMicroseconds: Int?
    /// What the container's tags say, as FFmpeg names them.
    public var tags: [String: String] = [:]
    /// MP4 and its kin: ticks a second of the edit lists; nil: FFmpeg's own, milliseconds.
    public var movieTimescale: Int32?
    /// So far a stream may be ahead of another, whose packets are then no longer waited for; what is ahead is kept in memory. Whatever the
    /// codecs are, and when a stream ends, too.
    public var interleavingMicroseconds: Int64 = 10_000_000
    /// Times below zero are written as they are, where the container has such; else they are FFmpeg's to move, all streams' together.
    public var keepsNegativeTimes = false
    /// What has been written for so many microseconds of media reaches the file, so that no more is lost with the process; nil: when a buffer
    /// is full. Ogg's pages are as long.
    public var flushMicroseconds: Int64?
    /// In order.
    public var chapters: [Chapter] = []

    /// A container with one index and no tags.
    public init() {}
  }

  /// A part of the file that has a name.
  public struct Chapter: Sendable, Hashable {
    /// In microseconds.
    public var start: Int64
    /// In microseconds.
    public var end: Int64
    public var title: String

    public init(start: Int64, end: Int64, title: String) {
      self.start = start
      self.end = end
      self.title = title
    }
  }

  /// What is to be known of a stream besides its codec.
  public struct StreamOptions: Sendable, Hashable {
    /// ISO 639-2 code; nil: not said.
    public var languageCode: String?
    /// The one of its type to choose.
    public var isDefault = true
    /// What the stream's tags say, as FFmpeg names them.
    public var tags: [String: String] = [:]
    /// By how much pictures are to be turned clockwise to stand upright: 0, 90, 180 or 270 degrees.
    public var rotationDegrees = 0
    /// What a picture lasts on average, in seconds.
    public var frameDuration: TimeBase?

    /// A stream of no language, to be chosen.
    public init() {}
  }

  /// FFmpeg's name of the format, such as `ipod`.
  public let formatName: String
  /// Encoders are to leave their headers to the container.
  public var wantsGlobalHeader: Bool { context.pointee.oformat.pointee.flags & AVFMT_GLOBALHEADER != 0 }

  private let context: UnsafeMutablePointer<AVFormatContext>
  private let io: UnsafeMutablePointer<AVIOContext>
  private let descriptor: Int32
  private let options: Options
  private var nextOffset: Int64 = 0
  private var writeFailure: AVFailure?
  /// Of each stream's packets, as they are given; the container has its own.
  private var timeBases: [TimeBase] = []
  /// Nil where FFmpeg's own bound holds.
  private var interleaving: Interleaving?
  /// Streams that are one picture, and the picture: written first of all.
  private var pictures: [(streamIndex: Int, bytes: [UInt8])] = []
  private var isHeaderWritten = false
  /// Up to where the media has reached the file, in microseconds.
  private var flushedMicroseconds: Int64 = 0

  /// A container to be written to an open file, from its first byte on. Writes nothing yet.
  ///
  /// - Parameter descriptor: stays the caller's, and open for as long as the muxer lives; for reading too when the index is to be
  ///   moved.
  /// Throws `noEncoder` when this FFmpeg does not write such a container.
  public init(formatName: String, descriptor: Int32, options: Options = Options()) throws(AVFailure) {
    _ = LibAV.isQuiet
    guard let format = av_guess_format(formatName, nil, nil), format.pointee.flags & AVFMT_NOFILE == 0 else {
      throw AVFailure(code: shim_AVERROR_MUXER_NOT_FOUND(), call: "av_guess_format")
    }
    var made: UnsafeMutablePointer<AVFormatContext>?
    try check(avformat_alloc_output_context2(&made, format, nil, nil), "avformat_alloc_output_context2")
    let context = try check(made, "avformat_alloc_output_context2")
    let buffer = av_malloc(Int(Self.bufferByteCount))
    guard let buffer,
      let io = avio_alloc_context(
        buffer.assumingMemoryBound(to: UInt8.self), Self.bufferByteCount, 1, nil, nil, Self.writeCallback,
        Self.seekCallback)
    else {
      av_free(buffer)
      avformat_free_context(context)
      throw AVFailure(errno: ENOMEM, call: "avio_alloc_context")
    }
    (self.context, self.io, self.descriptor, self.options, self.formatName) = (
      context, io, descriptor, options, formatName
    )
    context.pointee.pb = io
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    shim_allow_rereading(context, options.movesIndexToFront ? descriptor : -1)
    io.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
    // FFmpeg offers to write after each packet (libavformat/mux.c, flush_if_needed); only a full buffer is worth it, or a fragment.
    io.pointee.min_packet_size = options.fragmentMicroseconds == nil ? Self.bufferByteCount : 0
    context.pointee.max_interleave_delta = options.interleavingMicroseconds
    if options.keepsNegativeTimes { context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED }
    try Self.set(options.tags, in: &context.pointee.metadata)
    for (index, chapter) in options.chapters.enumerated() {
      let tags = try Self.dictionary(["title": chapter.title])
      try check(
        shim_add_chapter(
          context, Int64(index) + 1, TimeBase.microseconds.rational, chapter.start, chapter.end, tags),
        "av_dynarray_add_nofree")
    }
  }

  deinit {
    avformat_free_context(context)
    av_free(io.pointee.buffer)
    var released: UnsafeMutablePointer<AVIOContext>? = io
    avio_context_free(&released)
  }

  /// Whether a container is written with a codec, by FFmpeg's names of both; its own word, which is at times too much.
  public static func canHold(codecName: String, formatName: String) -> Bool {
    _ = LibAV.isQuiet
    guard let format = av_guess_format(formatName, nil, nil),
      let codec = avcodec_descriptor_get_by_name(codecName)
    else { return false }
    return avformat_query_codec(format, codec.pointee.id, FF_COMPLIANCE_NORMAL) == 1
  }

  // MARK: - Writing

  /// Writes what stands before the media; then streams are no longer added.
  ///
  /// Throws what the format said to the streams: that it does not hold such a codec, for one.
  public func writeHeader() throws(AVFailure) {
    var settings = try formatOptions()
    defer { av_dict_free(&settings) }
    let result = avformat_write_header(context, &settings)
    try checkWritten(result, "avformat_write_header")
    isHeaderWritten = true
    if options.flushMicroseconds != nil { try flush() }
    interleaving = makeInterleaving()
    try writePictures()
  }

  /// What the format's own options are told.
  private func formatOptions() throws(AVFailure) -> OpaquePointer? {
    // Formats take what they know, and leave the rest be.
    var settings = ["rf64": "auto"]
    var flags: [String] = []
    if options.movesIndexToFront { flags.append("faststart") }
    if let duration = options.fragmentMicroseconds {
      // An index of nothing at the beginning, once all that it has to say is known.
      flags += ["empty_moov", "delay_moov", "default_base_moof"]
      settings["frag_duration"] = "\(duration)"
    }
    settings["page_duration"] = options.flushMicroseconds.map { "\($0)" }
    settings["movie_timescale"] = options.movieTimescale.map { "\($0)" }
    if !flags.isEmpty { settings["movflags"] = flags.joined(separator: "+") }
    return try Self.dictionary(settings)
  }

  /// Writes a packet, or keeps it until those that come before it are there. What `packet` held is gone afterwards.
  ///
  /// - Parameter streamIndex: from `addStream`; times are in the time base that was said there.
  /// Throws for times that go back, too.
  public func write(_ packet: Packet, streamIndex: Int) throws(AVFailure) {
    guard isHeaderWritten, timeBases.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex]
    else {
      throw AVFailure(errno: EINVAL, call: "av_interleaved_write_frame")
    }
    packet.pointer.pointee.stream_index = Int32(streamIndex)
    packet.pointer.pointee.pos = -1
    av_packet_rescale_ts(packet.pointer, timeBases[streamIndex].rational, stream.pointee.time_base)
    let time = optionalTimestamp(packet.pointer.pointee.dts) ?? optionalTimestamp(packet.pointer.pointee.pts)
    let microseconds = time.map { av_rescale_q($0, stream.pointee.time_base, TimeBase.microseconds.rational) }
    try checkWritten(av_interleaved_write_frame(context, packet.pointer), "av_interleaved_write_frame")
    if let microseconds { try flush(at: microseconds) }
    guard let microseconds, interleaving?.append(streamIndex: streamIndex, at: microseconds) == true else { return }
    try checkWritten(av_interleaved_write_frame(context, nil), "av_interleaved_write_frame")
  }

  private func flush(at microseconds: Int64) throws(AVFailure) {
    guard let interval = options.flushMicroseconds, microseconds - flushedMicroseconds >= interval else { return }
    flushedMicroseconds = microseconds
    try flush()
  }

  private func flush() throws(AVFailure) {
    avio_flush(io)
    try checkWritten(0, "avio_flush")
  }

  /// Writes what is still kept, and what stands behind the media. Once, after the header; then it is whole.
  public func finish() throws(AVFailure) {
    guard isHeaderWritten else { throw AVFailure(errno: EINVAL, call: "av_write_trailer") }
    isHeaderWritten = false
    let result = av_write_trailer(context)
    avio_flush(io)
    try checkWritten(result, "av_write_trailer")
  }

  // MARK: - Internals

  package static let bufferByteCount: Int32 = 65_536

  /// Streams are added before the header.
  func newStream(timeBase: TimeBase, options: StreamOptions) throws(AVFailure) -> UnsafeMutablePointer<AVStream> {
    guard !isHeaderWritten else { throw AVFailure(errno: EINVAL, call: "avformat_new_stream") }
    let stream = try check(avformat_new_stream(context, nil), "avformat_new_stream")
    // A wish; the header has the last word.
    stream.pointee.time_base = timeBase.rational
    stream.pointee.disposition = options.isDefault ? AV_DISPOSITION_DEFAULT : 0
    timeBases.append(timeBase)
    try Self.set(options.tags, in: &stream.pointee.metadata)
    if let language = options.languageCode { try Self.set(["language": language], in: &stream.pointee.metadata) }
    return stream
  }

  /// FFmpeg 5.1 waits for ever for VP8, VP9 and the subtitles of discs, whose packets it takes to be few (libavformat/mux.c,
  /// ff_interleave_packet_per_dts).
  private func makeInterleaving() -> Interleaving? {
    let streams = (0..<streamCount).compactMap { index in
      context.pointee.streams[index].flatMap { stream in
        stream.pointee.codecpar.map {
          (index: index, isPicture: shim_stream_is_attached_picture(stream) != 0, $0.pointee)
        }
      }
    }
    let waitedFor = [AV_CODEC_ID_VP8, AV_CODEC_ID_VP9, AV_CODEC_ID_HDMV_PGS_SUBTITLE]
    guard streams.contains(where: { waitedFor.contains($0.2.codec_id) }) else { return nil }
    return Interleaving(
      streams.filter { !$0.isPicture && $0.2.codec_type != AVMEDIA_TYPE_ATTACHMENT }.map(\.index),
      limitMicroseconds: options.interleavingMicroseconds)
  }

  /// How many streams there are.
  var streamCount: Int { timeBases.count }

  /// A stream is one picture, which is written when the header has been.
  func keep(picture bytes: [UInt8], streamIndex: Int) { pictures.append((streamIndex, bytes)) }

  private func writePictures() throws(AVFailure) {
    for picture in pictures {
      let packet = try Packet(bytes: picture.bytes)
      packet.stamp(0)
      packet.mark(isKeyFrame: true)
      try write(packet, streamIndex: picture.streamIndex)
    }
    pictures = []
  }

  /// The caller's to free; nil when it is empty.
  static func dictionary(_ values: [String: String]) throws(AVFailure) -> OpaquePointer? {
    var dictionary: OpaquePointer?
    do throws(AVFailure) { try set(values, in: &dictionary) } catch {
      av_dict_free(&dictionary)
      throw error
    }
    return dictionary
  }

  static func set(_ values: [String: String], in dictionary: inout OpaquePointer?) throws(AVFailure) {
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      try check(av_dict_set(&dictionary, name, value, 0), "av_dict_set")
    }
  }

  /// What could not be written is the reason, whatever FFmpeg makes of it.
  private func checkWritten(_ result: Int32, _ call: String) throws(AVFailure) {
    if let writeFailure { throw writeFailure }
    try check(result, call)
    try check(io.pointee.error, call)
  }

  private func write(_ bytes: UnsafePointer<UInt8>, count: Int) -> Int32 {
    if let writeFailure { return writeFailure.code }
    guard WritableSpace.allows(growing: descriptor, to: nextOffset + Int64(count)) else {
      let failure = AVFailure(errno: EDQUOT, call: "write")
      writeFailure = failure
      return failure.code
    }
    var done = 0
    while done < count {
      let written = pwrite(descriptor, bytes + done, count - done, off_t(nextOffset))
      if written < 0, errno == EINTR { continue }
      guard written > 0 else {
        let failure = AVFailure(errno: written < 0 ? errno : EIO, call: "write")
        writeFailure = failure
        return failure.code
      }
      done += written
      nextOffset += Int64(written)
    }
    return Int32(count)
  }

  private func seek(to offset: Int64, whence: Int32) -> Int64 {
    var status = stat()
    let byteCount = fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
    if whence & AVSEEK_SIZE != 0 { return byteCount ?? Int64(shim_AVERROR(EIO)) }
    let base: Int64? =
      switch whence & ~AVSEEK_FORCE {
      case SEEK_SET: 0
      case SEEK_CUR: nextOffset
      case SEEK_END: byteCount
      default: nil
      }
    guard let (target, overflow) = base?.addingReportingOverflow(offset), !overflow, target >= 0 else {
      return Int64(shim_AVERROR(EINVAL))
    }
    nextOffset = target
    return target
  }

  private static let writeCallback:
    @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = { opaque, bytes, count in
      guard let opaque, let bytes else { return shim_AVERROR(EINVAL) }
      return Unmanaged<Muxer>.fromOpaque(opaque).takeUnretainedValue().write(bytes, count: Int(max(0, count)))
    }

  private static let seekCallback: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = {
    opaque, offset, whence in
    guard let opaque else { return Int64(shim_AVERROR(EINVAL)) }
    return Unmanaged<Muxer>.fromOpaque(opaque).takeUnretainedValue().seek(to: offset, whence: whence)
  }
}
