// Writes a container: an AVFormatContext over a custom AVIOContext, which writes to one open descriptor. One thread at
// a time uses a muxer. The caller creates the file, and removes it after a failure.
import CPlayheadFFmpeg
import CPlayheadMediaShims
import Glibc
import PlayheadFileAccess

/// Combines packets to a container.
package final class Muxer {
  /// The options of a container.
  package struct Options: Sendable, Hashable {
    /// MP4 family: whether the index is before the media, so that playback can begin before the whole file has arrived.
    package var movesIndexToFront = false
    /// MP4 family: the duration of a fragment, in microseconds. Each fragment can be read without the following ones.
    /// Nil: one index, at the end.
    package var fragmentMicroseconds: Int?
    /// The container's tags, by FFmpeg's names.
    package var tags: [String: String] = [:]
    /// MP4 family: the time scale of the edit lists, in ticks per second; nil: FFmpeg's default, milliseconds.
    package var movieTimescale: Int32?
    /// The maximum interleaving distance, in microseconds, for all codecs, also after a stream has ended. Packets are
    /// buffered until every stream has reached them, or until one stream is this far ahead.
    package var interleavingMicroseconds: Int64 = 10_000_000
    /// Whether negative times are written unchanged, if the container supports them; otherwise FFmpeg shifts the times
    /// of all streams together.
    package var keepsNegativeTimes = false
    /// The interval, in microseconds of media, at which written data is flushed to the file. It limits the loss if the
    /// process dies, and sets the length of Ogg pages. Nil: when a buffer is full.
    package var flushMicroseconds: Int64?
    /// The chapters, in order.
    package var chapters: [Chapter] = []

    /// Creates options for a container with one index and no tags.
    package init() {}
  }

  /// A named part of the file.
  package struct Chapter: Sendable, Hashable {
    /// The start, in microseconds.
    package var start: Int64
    /// The end, in microseconds.
    package var end: Int64
    package var title: String

    package init(start: Int64, end: Int64, title: String) {
      self.start = start
      self.end = end
      self.title = title
    }
  }

  /// The properties of a stream beyond its codec.
  package struct StreamOptions: Sendable, Hashable {
    /// The ISO 639-2 code; nil: none.
    package var languageCode: String?
    /// Whether players should choose this stream among those of its type.
    package var isDefault = true
    /// The stream's tags, by FFmpeg's names.
    package var tags: [String: String] = [:]
    /// The clockwise rotation for upright display: 0, 90, 180 or 270 degrees.
    package var rotationDegrees = 0
    /// The average duration of a video frame, in seconds.
    package var frameDuration: TimeBase?

    /// Creates options for a default stream without a language.
    package init() {}
  }

  /// FFmpeg's name of the format, such as `ipod`.
  package let formatName: String
  /// Whether the container stores the encoders' headers, instead of the packets (`AVFMT_GLOBALHEADER`).
  package var wantsGlobalHeader: Bool { context.pointee.oformat.pointee.flags & AVFMT_GLOBALHEADER != 0 }

  /// The call in the failure of `finish` if the container cannot represent the end of the audio.
  package static let unrepresentedEndCall = "Muxer.finish"

  private let context: UnsafeMutablePointer<AVFormatContext>
  private let io: UnsafeMutablePointer<AVIOContext>
  private let descriptor: Int32
  private let options: Options
  private var nextOffset: Int64 = 0
  private var writeFailure: AVFailure?
  /// The time base of each stream's packets, as set by the caller. The container may use another one.
  private var timeBases: [TimeBase] = []
  /// The custom interleaving limit; nil if FFmpeg's limit is sufficient.
  private var interleaving: Interleaving?
  /// The streams that consist of one image, with the image; written directly after the header.
  private var attachedPictures: [(streamIndex: Int, bytes: [UInt8])] = []
  private var isHeaderWritten = false
  /// Matroska with True Audio: the times that the duration of the file must represent.
  private var trueAudio: TrueAudioTimes?
  /// The time up to which the media has been flushed to the file, in microseconds.
  private var flushedMicroseconds: Int64 = 0

  /// Creates a container in an open file, from its first byte on. Writes nothing yet.
  ///
  /// - Parameter descriptor: Owned by the caller; it must stay open as long as the muxer lives. It must be readable
  ///   when the index is moved to the front, and for True Audio in Matroska.
  /// - Throws: `noEncoder` when this FFmpeg has no such muxer.
  package init(formatName: String, descriptor: Int32, options: Options = Options()) throws(AVFailure) {
    _ = LibAV.discardLogByDefault
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
    // FFmpeg may write after each packet (libavformat/mux.c, flush_if_needed). The minimum size delays the write until
    // the buffer is full. A fragment is written when it is complete.
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

  /// Returns whether a container supports a codec, by FFmpeg's names of both. FFmpeg may report support for a codec
  /// that does not work.
  package static func supports(codecName: String, formatName: String) -> Bool {
    _ = LibAV.discardLogByDefault
    guard let format = av_guess_format(formatName, nil, nil),
      let codec = avcodec_descriptor_get_by_name(codecName)
    else { return false }
    return avformat_query_codec(format, codec.pointee.id, FF_COMPLIANCE_NORMAL) == 1
  }

  // MARK: - Writing

  /// Writes the container's header. Afterwards no streams can be added.
  ///
  /// - Throws: The format's failure, for example for a codec that it does not support.
  package func writeHeader() throws(AVFailure) {
    var settings = try formatOptions()
    defer { av_dict_free(&settings) }
    let result = avformat_write_header(context, &settings)
    try checkWritten(result, "avformat_write_header")
    isHeaderWritten = true
    if options.flushMicroseconds != nil { try flush() }
    interleaving = makeInterleaving()
    if formatName == "matroska" { trueAudio = TrueAudioTimes(sampleRatesHz: trueAudioRates()) }
    try writeAttachedPictures()
  }

  /// Returns the options of the format.
  private func formatOptions() throws(AVFailure) -> OpaquePointer? {
    // Formats use the options that they know, and ignore the others.
    var settings = ["rf64": "auto"]
    var flags: [String] = []
    if options.movesIndexToFront { flags.append("faststart") }
    if let duration = options.fragmentMicroseconds {
      // The file begins with an empty index, which is written when the codec parameters are known.
      flags += ["empty_moov", "delay_moov", "default_base_moof"]
      settings["frag_duration"] = "\(duration)"
    }
    settings["page_duration"] = options.flushMicroseconds.map { "\($0)" }
    settings["movie_timescale"] = options.movieTimescale.map { "\($0)" }
    if !flags.isEmpty { settings["movflags"] = flags.joined(separator: "+") }
    return try Self.dictionary(settings)
  }

  /// Writes a packet, or buffers it until the packets before it have arrived. Afterwards `packet` is empty.
  ///
  /// - Parameter streamIndex: The index that `addStream` returned; the packet's times are in the time base given there.
  /// - Throws: The failure of the write, also for decoding times that are not in order.
  package func write(_ packet: Packet, streamIndex: Int) throws(AVFailure) {
    guard isHeaderWritten, timeBases.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex]
    else {
      throw AVFailure(errno: EINVAL, call: "av_interleaved_write_frame")
    }
    packet.pointer.pointee.stream_index = Int32(streamIndex)
    packet.pointer.pointee.pos = -1
    trueAudio?.append(packet, streamIndex: streamIndex, timeBase: timeBases[streamIndex])
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

  /// Writes the buffered packets and the data after the media. Call it once, after the header; then the file is
  /// complete.
  ///
  /// - Throws: The failure of the write, also for True Audio in Matroska that is shorter than the file.
  package func finish() throws(AVFailure) {
    guard isHeaderWritten else { throw AVFailure(errno: EINVAL, call: "av_write_trailer") }
    isHeaderWritten = false
    let result = av_write_trailer(context)
    avio_flush(io)
    try checkWritten(result, "av_write_trailer")
    if let milliseconds = try trueAudio?.fileMilliseconds() { try replaceDuration(milliseconds) }
  }

  /// Replaces the duration of a Matroska file, which FFmpeg rounds.
  private func replaceDuration(_ milliseconds: Double) throws(AVFailure) {
    var count = 0
    let start = [UInt8](unsafeUninitializedCapacity: MatroskaHeader.maximumByteCount) { buffer, filled in
      count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
      filled = max(0, count)
    }
    guard count >= 0 else { throw AVFailure(errno: errno, call: "read") }
    var header = MatroskaHeader(start)
    guard let changed = header.replaceDuration(milliseconds) else { throw AVFailure(invalidDataIn: "av_write_trailer") }
    nextOffset = Int64(changed.lowerBound)
    let result = header.bytes[changed].withUnsafeBufferPointer { bytes in
      bytes.baseAddress.map { write($0, count: bytes.count) } ?? 0
    }
    try checkWritten(result, "write")
  }

  // MARK: - Internals

  package static let bufferByteCount: Int32 = 65_536

  /// Adds a stream, before the header.
  func newStream(timeBase: TimeBase, options: StreamOptions) throws(AVFailure) -> UnsafeMutablePointer<AVStream> {
    guard !isHeaderWritten else { throw AVFailure(errno: EINVAL, call: "avformat_new_stream") }
    let stream = try check(avformat_new_stream(context, nil), "avformat_new_stream")
    // A request: FFmpeg chooses the time base when it writes the header.
    stream.pointee.time_base = timeBase.rational
    stream.pointee.disposition = options.isDefault ? AV_DISPOSITION_DEFAULT : 0
    timeBases.append(timeBase)
    try Self.set(options.tags, in: &stream.pointee.metadata)
    if let language = options.languageCode { try Self.set(["language": language], in: &stream.pointee.metadata) }
    return stream
  }

  /// Returns the custom interleaving limit for codecs that need it. FFmpeg 5.1 waits indefinitely for VP8, VP9 and the
  /// subtitles of discs, because it expects few packets of them (libavformat/mux.c, ff_interleave_packet_per_dts).
  private func makeInterleaving() -> Interleaving? {
    let streams = (0..<streamCount).compactMap { index in
      context.pointee.streams[index].flatMap { stream in
        stream.pointee.codecpar.map {
          (index: index, isAttachedPicture: shim_stream_is_attached_picture(stream) != 0, $0.pointee)
        }
      }
    }
    let affectedCodecs = [AV_CODEC_ID_VP8, AV_CODEC_ID_VP9, AV_CODEC_ID_HDMV_PGS_SUBTITLE]
    guard streams.contains(where: { affectedCodecs.contains($0.2.codec_id) }) else { return nil }
    return Interleaving(
      streams.filter { !$0.isAttachedPicture && $0.2.codec_type != AVMEDIA_TYPE_ATTACHMENT }.map(\.index),
      limitMicroseconds: options.interleavingMicroseconds)
  }

  /// Returns the sample rates of the streams of True Audio, by the index of the stream.
  private func trueAudioRates() -> [Int: Int32] {
    let rates = (0..<streamCount).compactMap { index in
      context.pointee.streams[index]?.pointee.codecpar.flatMap {
        $0.pointee.codec_id == AV_CODEC_ID_TTA ? (index, $0.pointee.sample_rate) : nil
      }
    }
    return Dictionary(uniqueKeysWithValues: rates)
  }

  /// The number of streams.
  var streamCount: Int { timeBases.count }

  /// Stores the image of a stream that consists of one image, to be written after the header.
  func storeAttachedPicture(_ bytes: [UInt8], streamIndex: Int) { attachedPictures.append((streamIndex, bytes)) }

  private func writeAttachedPictures() throws(AVFailure) {
    for image in attachedPictures {
      let packet = try Packet(bytes: image.bytes)
      packet.setTimestamps(0)
      packet.setKeyFrame(true)
      try write(packet, streamIndex: image.streamIndex)
    }
    attachedPictures = []
  }

  /// Creates a dictionary, which the caller must free; nil when it is empty.
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

  /// Throws the failure of a write, or else the failure of `result`.
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
    let byteCount = media_shims_fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
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
