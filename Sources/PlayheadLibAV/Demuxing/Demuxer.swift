// Reads a container: an AVFormatContext over a FileSource. One thread at a time uses a demuxer. Other threads may only
// use the Interrupt of its FileSource. FFmpeg can open no further files.
import CPlayheadFFmpeg

/// Splits a container into packets.
package final class Demuxer {
  /// Limits and preferences for opening a file.
  package struct Options: Sendable, Codable {
    /// The maximum number of bytes read to identify the streams.
    package var probeByteCount: Int64 = 5_000_000
    /// The maximum media time analyzed to identify the streams, in microseconds.
    package var analyzeMicroseconds: Int64 = 5_000_000
    package var maximumStreamCount = 256
    /// The maximum number of bytes read until the file is open; repeated reads of a byte count again. Beyond this
    /// number, opening throws a failure of the kind `limit`.
    package var openingByteCount = OpeningLimits.byteCount
    /// MP4: whether to return the packets as they are stored, from the first one on, regardless of edit lists.
    package var ignoresEditLists = false
    /// Whether seeks may use an estimate if the exact position requires reading everything before it.
    package var seeksByEstimate = false
    /// Whether formats without packets (WAV, Wave64) return packets twice as large as FFmpeg's default.
    package var prefersLargePackets = false
    /// Whether only tags are needed. If the header describes the only audio track, nothing is then decoded to identify
    /// it further.
    package var isForTags = false

    package init() {}
  }

  /// The result of reading a packet.
  package enum ReadResult: Sendable, Hashable {
    case packet, endOfFile, cancelled
  }

  /// The source of the container's duration.
  package enum DurationSource: Sendable {
    /// The container states the duration.
    case container
    /// The first and last timestamps.
    case timestamps
    /// An estimate from the size and the bit rate.
    case bitRate
  }

  /// FFmpeg's name of the format, such as `flac` or `mov,mp4,m4a,3gp,3g2,mj2`.
  package let formatName: String
  package let formatLongName: String
  /// Whether the format follows from little more than the extension of the file's name (a probe score of at most 1).
  package let isFormatGuessed: Bool
  package let streams: [StreamInfo]
  /// The first timestamp of all streams, in microseconds.
  package let startMicroseconds: Int64?
  package let durationMicroseconds: Int64?
  package let durationSource: DurationSource
  package let bitRate: Int64?
  /// The chapters as stored in the file: in any order, possibly invalid. At most `ChapterInfo.maximumCount`.
  package let chapters: [ChapterInfo]
  /// The number of chapters in the file.
  package let chapterCount: Int

  /// The file. Reading its bytes directly does not disturb the demuxer.
  package let source: FileSource
  private var options: Options
  /// The maximum number of bytes read for one packet; nil: only single allocations are limited.
  private var packetByteCount: Int?
  let context: UnsafeMutablePointer<AVFormatContext>

  /// Whether the source can neither seek nor report its size.
  package var isEndless: Bool { source.byteSource != nil && !source.isSeekable && source.byteCount == nil }

  /// Whether packets are returned as they are stored, regardless of edit lists.
  package var ignoresEditLists: Bool { options.ignoresEditLists }

  /// Probes the file, opens it and identifies its streams. Blocks until that is done.
  ///
  /// - Throws: `cancelled` when the source's interrupt was used, `invalidData` when no format matches or the file is
  ///   damaged.
  package init(source: FileSource, options: Options = Options()) throws(AVFailure) {
    self.source = source
    self.options = options
    _ = LibAV.discardLogByDefault
    FFmpegMemory.limit()
    source.remainingByteCount = options.openingByteCount
    defer { source.remainingByteCount = nil }
    source.masks = Mask.all(of: source)
    let name = Self.name(of: source)
    let (format, isGuessed) = try Self.probe(source, name: name, options: options)
    context = try Self.open(source, name: name, format: format, options: options)
    if !options.isForTags || !Self.isDescribedByHeader(context) {
      do throws(AVFailure) { try Self.findStreamInfo(context, source) } catch {
        Self.close(context)
        throw error
      }
    }
    isFormatGuessed = isGuessed
    formatName = String(cString: format.pointee.name)
    formatLongName = format.pointee.long_name.map { String(cString: $0) } ?? ""
    let context = context
    streams = (0..<Int(context.pointee.nb_streams)).compactMap { index in
      context.pointee.streams[index].map { StreamInfo($0) }
    }
    startMicroseconds = optionalTimestamp(context.pointee.start_time)
    durationMicroseconds = optionalTimestamp(context.pointee.duration).flatMap(optionalCount)
    durationSource =
      switch context.pointee.duration_estimation_method {
      case AVFMT_DURATION_FROM_BITRATE: .bitRate
      case AVFMT_DURATION_FROM_PTS: .timestamps
      default: .container
      }
    bitRate = optionalCount(context.pointee.bit_rate)
    chapterCount = Int(context.pointee.nb_chapters)
    chapters = (0..<min(chapterCount, ChapterInfo.maximumCount)).compactMap { index in
      context.pointee.chapters[index].map { ChapterInfo($0) }
    }
    if options.prefersLargePackets { preferLargePackets() }
  }

  deinit { Self.close(context) }

  // MARK: - Reading

  /// The index of the audio stream to play: the one that the file marks as default, otherwise the best one that has a
  /// decoder.
  package var preferredAudioStreamIndex: Int? {
    let index = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
    guard index >= 0 else {
      // Without stream information FFmpeg may not know the format of the only track.
      return options.isForTags ? streams.first { $0.mediaType == .audio && $0.hasDecoder }?.index : nil
    }
    if streams[Int(index)].hasDecoder { return Int(index) }
    return streams.first { $0.mediaType == .audio && $0.hasDecoder }?.index
  }

  /// Returns the container's tag of the given name, as FFmpeg names it, ignoring case; nil if there is none.
  package func tag(_ name: String) -> String? {
    av_dict_get(context.pointee.metadata, name, nil, 0).map { String(cString: $0.pointee.value) }
  }

  /// Returns the timestamp of the last packet of a stream in the container's index, in the stream's ticks. Nil when the
  /// container has no index, or opening did not read it.
  package func lastIndexedTicks(streamIndex: Int) -> Int64? {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else { return nil }
    let count = avformat_index_get_entries_count(stream)
    guard count > 0, let entry = avformat_index_get_entry(stream, count - 1) else { return nil }
    return optionalTimestamp(entry.pointee.timestamp)
  }

  /// Whether the container's index has all packets that the container counts. False if it counts none.
  ///
  /// FFmpeg leaves out the packets of an MP4 file that begin after the end of its edit list (`mov_fix_index`).
  package func indexesAllPackets(streamIndex: Int) -> Bool {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else { return false }
    let count = stream.pointee.nb_frames
    return count > 0 && avformat_index_get_entries_count(stream) >= count
  }

  /// Returns the timestamp of the second packet in the container's index, in the stream's ticks; nil if there is none.
  package func secondIndexedTicks(streamIndex: Int) -> Int64? {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else { return nil }
    return avformat_index_get_entry(stream, 1).flatMap { optionalTimestamp($0.pointee.timestamp) }
  }

  /// Returns the number of packets in the container's index from the third packet to the one at `last`, and the
  /// timestamp of the third packet; in the stream's ticks. Nil if there are fewer packets.
  ///
  /// The count begins with the third packet, because writers give the first packets other durations.
  package func indexedPackets(streamIndex: Int, to last: Int64) -> (count: Int, firstTicks: Int64)? {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex],
      let first = avformat_index_get_entry(stream, 2), let ticks = optionalTimestamp(first.pointee.timestamp)
    else { return nil }
    let number = av_index_search_timestamp(stream, last, AVSEEK_FLAG_ANY | AVSEEK_FLAG_BACKWARD)
    return number >= 2 ? (Int(number) - 2, ticks) : nil
  }

  /// Returns the first timestamp in the container's index with the byte position of the entry at or before `ticks`: in
  /// Matroska, that of a cluster. Nil if there is no such entry.
  package func firstIndexedTicks(streamIndex: Int, inGroupAt ticks: Int64) -> Int64? {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else { return nil }
    var number = av_index_search_timestamp(stream, ticks, AVSEEK_FLAG_ANY | AVSEEK_FLAG_BACKWARD)
    guard number >= 0, var entry = avformat_index_get_entry(stream, number) else { return nil }
    let position = entry.pointee.pos
    while number > 0, let earlier = avformat_index_get_entry(stream, number - 1), earlier.pointee.pos == position {
      (number, entry) = (number - 1, earlier)
    }
    return optionalTimestamp(entry.pointee.timestamp)
  }

  /// Returns the byte position of the entry at or before `ticks` in the container's index; nil if there is none.
  package func indexedBytePosition(streamIndex: Int, at ticks: Int64) -> Int64? {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else { return nil }
    let number = av_index_search_timestamp(stream, ticks, AVSEEK_FLAG_ANY | AVSEEK_FLAG_BACKWARD)
    return number >= 0 ? avformat_index_get_entry(stream, number)?.pointee.pos : nil
  }

  /// Returns the timestamps of the key packets in the container's index that are nearest to `ticks`: at or before it,
  /// and at or after it; in the stream's ticks. Nil where the index has none; the index may cover only a part of the
  /// file.
  ///
  /// Some indexes contain decoding times. The offset of the first entry is then applied to all entries.
  package func indexedKeyTicks(streamIndex: Int, around ticks: Int64) -> (before: Int64?, after: Int64?) {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else {
      return (nil, nil)
    }
    let first = avformat_index_get_entry(stream, 0).flatMap { optionalTimestamp($0.pointee.timestamp) }
    let offset = optionalTimestamp(stream.pointee.start_time).flatMap { start in first.map { start &- $0 } } ?? 0
    func entry(_ flags: Int32) -> Int64? {
      let index = av_index_search_timestamp(stream, ticks &- offset, flags)
      guard index >= 0, let entry = avformat_index_get_entry(stream, index) else { return nil }
      return optionalTimestamp(entry.pointee.timestamp).map { $0 &+ offset }
    }
    return (entry(AVSEEK_FLAG_BACKWARD), entry(0))
  }

  /// Returns the duration of a stream that the container reports now, in its ticks; nil if it reports none. For
  /// fragmented MP4, it extends to the end of the last fragment begun.
  package func currentDurationTicks(streamIndex: Int) -> Int64? {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else { return nil }
    return optionalTimestamp(stream.pointee.duration).flatMap(optionalCount)
  }

  /// Returns bytes of the file from `offset` on, fewer at its end or when they cannot be read. Does not disturb the
  /// reading of packets. Blocks.
  package func bytes(at offset: Int64, count: Int) -> [UInt8] { source.bytes(at: offset, count: count) }

  /// The current size of the file, in bytes; nil when it cannot be determined.
  package var currentByteCount: Int64? { source.currentByteCount }

  /// Makes the demuxer skip all other streams, without reading them where the container allows.
  ///
  /// - Parameter others: Further streams to read.
  package func select(streamIndex: Int, and others: [Int] = []) {
    let isAudio = streams.indices.contains(streamIndex) && streams[streamIndex].mediaType == .audio
    packetByteCount = isAudio && others.isEmpty ? Self.audioPacketByteCount : nil
    for index in 0..<Int(context.pointee.nb_streams) {
      let isRead = index == streamIndex || others.contains(index)
      context.pointee.streams[index]?.pointee.discard = isRead ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// The maximum number of bytes read for one packet of audio, including packets of other streams in between.
  ///
  /// A parser collects bytes until the next frame begins. If only zeros follow a frame, the parser would collect the
  /// rest of the file.
  private static let audioPacketByteCount = 48 << 20

  /// Applies `Options.prefersLargePackets` from the next packet on.
  package func preferLargePackets() {
    options.prefersLargePackets = true
    guard Self.packetlessFormatNames.contains(formatName) else { return }
    // Larger packets no longer fit in the processor's cache.
    av_opt_set_int(context.pointee.priv_data, "max_size", 8_192, 0)
  }

  /// Reads the next packet of a selected stream. Blocks.
  ///
  /// After `cancelled` the position may be inside a packet: the demuxer returns only `cancelled` until `seek`,
  /// `resumeReading` or `reopened`. A damaged packet is not an error.
  ///
  /// - Throws: The source's failure when it could not be read; a failure of the kind `limit` when 48 MiB contain no
  ///   packet of the only selected audio stream.
  package func readPacket(into packet: Packet) throws(AVFailure) -> ReadResult {
    packet.clear()
    if source.interrupt.isCancelled || source.wasInterrupted { return .cancelled }
    source.remainingByteCount = packetByteCount
    defer { source.remainingByteCount = nil }
    let result = av_read_frame(context, packet.pointer)
    discardNewStreams()
    // The interruption may have truncated the packet without an error.
    if source.wasInterrupted || result == shim_AVERROR_EXIT() { return .cancelled }
    if result >= 0 { return .packet }
    // A demuxer may interpret a failed read as the end.
    if let failure = source.readFailure { throw failure }
    if result == shim_AVERROR_EOF() || source.io.pointee.eof_reached != 0 { return .endOfFile }
    throw AVFailure(code: result, call: "av_read_frame")
  }

  /// Skips streams that began after opening: nothing selects them, so that FFmpeg must not parse them.
  private func discardNewStreams() {
    for index in streams.count..<max(streams.count, Int(context.pointee.nb_streams)) {
      context.pointee.streams[index]?.pointee.discard = AVDISCARD_ALL
    }
  }

  /// Continues reading after `cancelled`, at the current position of the source: a packet may be lost.
  package func resumeReading() { source.clearErrors() }

  /// Seeks to a timestamp of a stream, as near to `target` as possible, but not before `earliest` or after `latest`; in
  /// the stream's ticks. Blocks. Only the next packets show the position that was reached; containers guarantee little.
  package func seek(streamIndex: Int, earliest: Int64, target: Int64, latest: Int64) throws(AVFailure) {
    source.clearErrors()
    try check(
      avformat_seek_file(context, Int32(clamping: streamIndex), earliest, target, latest, 0), "avformat_seek_file")
  }

  /// Seeks to a byte of the file at which a packet of the stream should begin. Blocks. In formats whose timestamps
  /// FFmpeg only counts, the next packets have none. `Packet.bytePosition` shows whether they begin at `byte`.
  ///
  /// - Throws: A failure when the format does not support starting in the middle.
  package func seek(streamIndex: Int, toByte byte: Int64) throws(AVFailure) {
    source.clearErrors()
    try check(
      av_seek_frame(context, Int32(clamping: streamIndex), byte, AVSEEK_FLAG_BYTE), "av_seek_frame")
  }

  /// Reopens the same file from its start, with the same options, so that it is read as if for the first time. In some
  /// formats, a seek to the start gives other timestamps. This demuxer must not be used afterwards. Blocks.
  package func reopened() throws(AVFailure) -> Demuxer { try Demuxer(source: source.reopened(), options: options) }

  /// Reopens the file as `reopened()` does, with edit lists applied or ignored.
  package func reopened(ignoringEditLists: Bool) throws(AVFailure) -> Demuxer {
    var options = options
    options.ignoresEditLists = ignoringEditLists
    return try Demuxer(source: source.reopened(), options: options)
  }

  // MARK: - Opening

  /// Returns the file's name for FFmpeg, which uses only its extension, as a hint for the format.
  private static func name(of source: FileSource) -> [CChar] {
    (Array("file:".utf8) + source.path + [0]).map(CChar.init(bitPattern:))
  }

  private static func probe(
    _ source: FileSource, name: [CChar], options: Options
  ) throws(AVFailure) -> (UnsafePointer<AVInputFormat>, isGuessed: Bool) {
    if let format = FormatSignature.format(of: source) { return (format, false) }
    var found: UnsafePointer<AVInputFormat>?
    let probeByteCount = UInt32(clamping: options.probeByteCount)
    let score = av_probe_input_buffer2(source.io, &found, name, nil, 0, probeByteCount)
    if let failure = source.readFailure { throw failure }
    if score < 0 {
      throw AVFailure(
        code: source.wasInterrupted ? shim_AVERROR_EXIT() : shim_AVERROR_INVALIDDATA(),
        call: "av_probe_input_buffer2")
    }
    guard let found, FormatAllowList.contains(found), isCredible(found, score: score, name: name) else {
      throw AVFailure(code: shim_AVERROR_INVALIDDATA(), call: "av_probe_input_buffer2")
    }
    return (found, score <= 1)
  }

  /// The lowest score that FFmpeg's tools accept without reading more (`AVPROBE_SCORE_RETRY` + 1).
  private static let minimumScore: Int32 = 26

  /// Returns whether a probe score is sufficient evidence for a format. Below the minimum, both the content and the
  /// extension must match.
  ///
  /// A score of 1 is the extension alone: FFmpeg identifies any text called x.mp3 as audio. MP3 streams that begin
  /// inside a frame get no better score, and are accepted; opening them finds frames or fails.
  private static func isCredible(_ format: UnsafePointer<AVInputFormat>, score: Int32, name: [CChar]) -> Bool {
    if score >= minimumScore { return true }
    if score <= 1 { return String(cString: format.pointee.name) == "mp3" }
    return format.pointee.extensions.map { av_match_ext(name, $0) != 0 } ?? false
  }

  /// Formats that store raw samples, without packets.
  private static let packetlessFormatNames: Set = ["wav", "w64"]

  private static func open(
    _ source: FileSource, name: [CChar], format: UnsafePointer<AVInputFormat>, options: Options
  ) throws(AVFailure) -> UnsafeMutablePointer<AVFormatContext> {
    let context = try check(avformat_alloc_context(), "avformat_alloc_context")
    context.pointee.pb = source.io
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    context.pointee.interrupt_callback = AVIOInterruptCB(
      callback: Interrupt.callback, opaque: Unmanaged.passUnretained(source.interrupt).toOpaque())
    context.pointee.probesize = max(32, options.probeByteCount)
    context.pointee.max_analyze_duration = max(0, options.analyzeMicroseconds)
    if packetlessFormatNames.contains(String(cString: format.pointee.name)) {
      // Detects DTS and S/PDIF disguised as PCM; FFmpeg's default of 2,500 packets would be most of a minute of audio.
      context.pointee.max_probe_packets = 16
    }
    if options.seeksByEstimate { context.pointee.flags |= AVFMT_FLAG_FAST_SEEK }
    context.pointee.max_streams = Int32(clamping: options.maximumStreamCount)
    shim_refuse_further_files(context)
    var settings: OpaquePointer?
    defer { av_dict_free(&settings) }
    try check(av_dict_set(&settings, "protocol_whitelist", "file", 0), "av_dict_set")
    // No nested formats: only the detected format is allowed.
    try check(av_dict_set(&settings, "format_whitelist", format.pointee.name, 0), "av_dict_set")
    // Other formats ignore this option.
    if options.ignoresEditLists { try check(av_dict_set(&settings, "ignore_editlist", "1", 0), "av_dict_set") }
    // FFmpeg opens decoders to find missing parameters of streams.
    try check(av_dict_set(&settings, "codec_whitelist", FormatAllowList.decoderList, 0), "av_dict_set")
    var opened: UnsafeMutablePointer<AVFormatContext>? = context
    let result = avformat_open_input(&opened, name, format, &settings)
    // On failure FFmpeg has freed the context.
    if result < 0 {
      if let failure = source.readFailure { throw failure }
      throw AVFailure(code: source.wasInterrupted ? shim_AVERROR_EXIT() : result, call: "avformat_open_input")
    }
    return context
  }

  /// The maximum number of pixels that FFmpeg may decode to find parameters that the container does not state: 64 MiB
  /// of memory. It applies per video frame, and to all artwork of a file together. A larger video has no pixel format
  /// until its first frame is decoded.
  private static let analyzedPixelCount: Int64 = 1 << 24

  /// Returns whether the header lists all streams and there is exactly one audio stream.
  private static func isDescribedByHeader(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
    let audioCount = (0..<Int(context.pointee.nb_streams)).count { index in
      context.pointee.streams[index]?.pointee.codecpar?.pointee.codec_type == AVMEDIA_TYPE_AUDIO
    }
    return context.pointee.ctx_flags & AVFMTCTX_NOHEADER == 0 && audioCount == 1
  }

  /// Identifies the parameters of the streams. Streams without an allowed decoder are not parsed.
  private static func findStreamInfo(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ source: FileSource
  ) throws(AVFailure) {
    let count = Int(context.pointee.nb_streams)
    let streams = (0..<count).map { context.pointee.streams[$0] }
    let sizes = streams.map { stream in
      let parameters = stream?.pointee.codecpar?.pointee
      return (width: parameters?.width ?? 0, height: parameters?.height ?? 0)
    }
    let attachedCount = streams.count { $0.map { shim_stream_is_attached_picture($0) != 0 } ?? false }
    var settings = [OpaquePointer?](repeating: nil, count: count)
    defer { for index in settings.indices { av_dict_free(&settings[index]) } }
    for (index, stream) in streams.enumerated() {
      guard let stream, let parameters = stream.pointee.codecpar else { continue }
      let isAttached = shim_stream_is_attached_picture(stream) != 0
      let pixelCount = analyzedPixelCount / Int64(isAttached ? attachedCount : 1)
      try check(av_dict_set_int(&settings[index], "max_pixels", pixelCount, 0), "av_dict_set_int")
      let isCoded =
        parameters.pointee.codec_type == AVMEDIA_TYPE_AUDIO || parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO
      if isCoded, parameters.pointee.codec_id != AV_CODEC_ID_NONE,
        FormatAllowList.decoder(for: parameters.pointee.codec_id) == nil
      {
        stream.pointee.discard = AVDISCARD_ALL
      }
    }
    let result = settings.withUnsafeMutableBufferPointer { avformat_find_stream_info(context, $0.baseAddress) }
    // FFmpeg reports no failure: it treats the bytes read so far as the whole file.
    if let failure = source.readFailure, source.byteSource != nil || failure.kind == .limit { throw failure }
    try check(source.wasInterrupted ? shim_AVERROR_EXIT() : result, "avformat_find_stream_info")
    // FFmpeg discards a size above `max_pixels`, even if the container states it.
    for (stream, size) in zip(streams, sizes) {
      guard let parameters = stream?.pointee.codecpar, parameters.pointee.width == 0, size.width > 0 else { continue }
      (parameters.pointee.width, parameters.pointee.height) = size
    }
  }

  private static func close(_ context: UnsafeMutablePointer<AVFormatContext>) {
    var released: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&released)
  }
}
