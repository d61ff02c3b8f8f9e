// A container being read: AVFormatContext over our own FileSource. One thread uses a demuxer at a time; only the
// Interrupt, which it shares, may be touched from elsewhere. It opens nothing but the file it was given.
import CFFmpeg

/// Takes a container apart into packets.
public final class Demuxer {
  /// Bounds on what opening may cost, whatever the file says.
  public struct Options: Sendable, Codable {
    /// Bytes read to find out what the streams are.
    public var probeByteCount: Int64 = 5_000_000
    /// Media time looked at to find out what the streams are, in microseconds.
    public var analyzeMicroseconds: Int64 = 5_000_000
    public var maximumStreamCount = 256
    /// Bytes that may be read until the file is open, all reads of the same byte counted. Opening throws a failure of the kind
    /// `limit` beyond that.
    public var openingByteCount = OpeningLimits.byteCount
    /// MP4: packets come as they lie in the media, from its first on, whatever edit lists say.
    public var ignoresEditLists = false
    /// Seeks may land by an estimate, where the exact place could only be found by reading all that lies before it.
    public var seeksByEstimate = false
    /// Formats that have no packets of their own (WAV, Wave64) give twice as much at once as FFmpeg does by itself.
    public var prefersLargePackets = false
    /// Only tags are wanted: where the header describes the only audio track, nothing is decoded to find out more about it.
    public var isForTags = false

    public init() {}
  }

  /// What reading a packet, or opening, came to.
  public enum ReadResult: Sendable, Hashable {
    case packet, endOfFile, cancelled
  }

  /// How the container's duration was found.
  public enum DurationSource: Sendable {
    /// Written in the container.
    case container
    /// From the first and last timestamps.
    case timestamps
    /// Guessed from the size and the bit rate.
    case bitRate
  }

  /// FFmpeg's name of the format, such as `flac` or `mov,mp4,m4a,3gp,3g2,mj2`.
  public let formatName: String
  public let formatLongName: String
  /// Little but the file's name spoke for this format.
  public let isFormatGuessed: Bool
  public let streams: [StreamInfo]
  /// First timestamp of all streams, in microseconds.
  public let startMicroseconds: Int64?
  public let durationMicroseconds: Int64?
  public let durationSource: DurationSource
  public let bitRate: Int64?
  /// As the file has them: in any order, and perhaps without sense. At most `ChapterInfo.maximumCount`.
  public let chapters: [ChapterInfo]
  /// How many chapters the file has.
  public let chapterCount: Int

  /// The file; reading its bytes by themselves does not disturb the demuxer.
  public let source: FileSource
  private var options: Options
  /// Bytes that may be read for one packet; nil: no bound but that of single allocations.
  private var packetByteCount: Int?
  let context: UnsafeMutablePointer<AVFormatContext>

  /// It comes from a source that neither goes back nor knows how much there is.
  public var isEndless: Bool { source.byteSource != nil && !source.isSeekable && source.byteCount == nil }

  /// Packets come as they lie in the media, whatever edit lists say.
  public var ignoresEditLists: Bool { options.ignoresEditLists }

  /// Looks at the file's beginning, opens it and finds its streams' parameters. Blocks for as long as that takes.
  ///
  /// Throws `cancelled` when the source's interrupt was used, `invalidData` when no format fits or the file is damaged.
  public init(source: FileSource, options: Options = Options()) throws(AVFailure) {
    self.source = source
    self.options = options
    _ = LibAV.isQuiet
    FFmpegMemory.limit()
    source.remainingByteCount = options.openingByteCount
    defer { source.remainingByteCount = nil }
    source.veils = Veil.all(of: source)
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

  /// Index of the sound stream to play: the one that the file marks as default, else the best that has a decoder.
  public var preferredAudioStreamIndex: Int? {
    let index = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
    guard index >= 0 else {
      // Without stream information FFmpeg may not know the format of the only track.
      return options.isForTags ? streams.first { $0.mediaType == .audio && $0.hasDecoder }?.index : nil
    }
    if streams[Int(index)].hasDecoder { return Int(index) }
    return streams.first { $0.mediaType == .audio && $0.hasDecoder }?.index
  }

  /// What the container's tags say under a name, as FFmpeg names it, in any case; nil when they do not.
  public func tag(_ name: String) -> String? {
    av_dict_get(context.pointee.metadata, name, nil, 0).map { String(cString: $0.pointee.value) }
  }

  /// The timestamp of the last packet of a stream in the container's own index, in the stream's ticks; nil when the
  /// container has no index (or none that was read when it was opened).
  public func lastIndexedTicks(streamIndex: Int) -> Int64? {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else { return nil }
    let count = avformat_index_get_entries_count(stream)
    guard count > 0, let entry = avformat_index_get_entry(stream, count - 1) else { return nil }
    return optionalTimestamp(entry.pointee.timestamp)
  }

  /// The packets nearest to a timestamp, in the container's own index, from which decoding can begin: at or before it, and at or
  /// behind it; in the stream's ticks. Nil where the index has none; it may be a part of the file only.
  ///
  /// Some indices have decoding times: what the first of them is off by is taken to be so of all.
  public func indexedKeyTicks(streamIndex: Int, around ticks: Int64) -> (before: Int64?, after: Int64?) {
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

  /// What the container says by now that a stream lasts, in its ticks: of fragmented MP4 up to the end of the fragment that was
  /// begun last. Nil when nothing.
  public func presentDurationTicks(streamIndex: Int) -> Int64? {
    guard streams.indices.contains(streamIndex), let stream = context.pointee.streams[streamIndex] else { return nil }
    return optionalTimestamp(stream.pointee.duration).flatMap(optionalCount)
  }

  /// Bytes of the file from `offset` on, fewer at its end or when they cannot be read. Reading packets is not disturbed.
  /// Blocks.
  public func bytes(at offset: Int64, count: Int) -> [UInt8] { source.bytes(at: offset, count: count) }

  /// Bytes in the file now, however many there were when it was opened; nil when that cannot be found out.
  public var presentByteCount: Int64? { source.presentByteCount }

  /// Lets the demuxer skip every stream but this one, without reading it where the container allows.
  ///
  /// - Parameter others: those that are read besides.
  public func select(streamIndex: Int, and others: [Int] = []) {
    let isAudio = streams.indices.contains(streamIndex) && streams[streamIndex].mediaType == .audio
    packetByteCount = isAudio && others.isEmpty ? Self.audioPacketByteCount : nil
    for index in 0..<Int(context.pointee.nb_streams) {
      let isRead = index == streamIndex || others.contains(index)
      context.pointee.streams[index]?.pointee.discard = isRead ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Bytes that may be read for one packet of audio, those of other streams between two packets included.
  ///
  /// Parsers collect a frame until the next one begins. In a file that continues with zeros, the frame is the rest of the file.
  private static let audioPacketByteCount = 48 << 20

  /// As `Options.prefersLargePackets`, from the next packet on.
  public func preferLargePackets() {
    options.prefersLargePackets = true
    guard Self.sampleFormats.contains(formatName) else { return }
    // What is larger no longer stays near the processor.
    av_opt_set_int(context.pointee.priv_data, "max_size", 8_192, 0)
  }

  /// Reads the next packet of a selected stream. Blocks.
  ///
  /// After `cancelled` the demuxer may stand inside a packet: it answers nothing else until `seek` or `reopened`. Throws what the source said when
  /// it could not be read, and a failure of the kind `limit` when 48 MiB have no packet of the one audio stream that is read; a damaged packet is
  /// not an error here.
  public func readPacket(into packet: Packet) throws(AVFailure) -> ReadResult {
    packet.clear()
    if source.interrupt.isCancelled || source.wasInterrupted { return .cancelled }
    source.remainingByteCount = packetByteCount
    defer { source.remainingByteCount = nil }
    let result = av_read_frame(context, packet.pointer)
    // A packet that was being read may have come short, without an error.
    if source.wasInterrupted || result == shim_AVERROR_EXIT() { return .cancelled }
    if result >= 0 { return .packet }
    // A demuxer may take a failed read for the end.
    if let failure = source.readFailure { throw failure }
    if result == shim_AVERROR_EOF() || source.io.pointee.eof_reached != 0 { return .endOfFile }
    throw AVFailure(code: result, call: "av_read_frame")
  }

  /// Reads on after `cancelled`, from wherever the source is: a packet may be lost.
  public func goOn() { source.clearErrors() }

  /// Goes to a timestamp of a stream, as near to `target` as can be, but not before `earliest` or after `latest`; in
  /// the stream's ticks. Blocks. Where it lands the next packets tell; containers promise little.
  public func seek(streamIndex: Int, earliest: Int64, target: Int64, latest: Int64) throws(AVFailure) {
    source.clearErrors()
    try check(
      avformat_seek_file(context, Int32(clamping: streamIndex), earliest, target, latest, 0), "avformat_seek_file")
  }

  /// Goes to a byte of the file, where a packet of the stream should begin. Blocks. The next packets have no timestamps where
  /// FFmpeg only counts; whether they begin there, `Packet.bytePosition` tells.
  ///
  /// Throws when the format cannot be entered in the middle.
  public func seek(streamIndex: Int, toByte byte: Int64) throws(AVFailure) {
    source.clearErrors()
    try check(
      av_seek_frame(context, Int32(clamping: streamIndex), byte, AVSEEK_FLAG_BYTE), "av_seek_frame")
  }

  /// The same file, opened anew from its start, so that what follows is read as if for the first time: seeks to the
  /// start give other timestamps in some formats; with this one's options. This demuxer must not be used afterwards. Blocks.
  public func reopened() throws(AVFailure) -> Demuxer { try Demuxer(source: source.reopened(), options: options) }

  /// As `reopened()`, but with edit lists followed or not.
  public func reopened(ignoringEditLists: Bool) throws(AVFailure) -> Demuxer {
    var options = options
    options.ignoresEditLists = ignoringEditLists
    return try Demuxer(source: source.reopened(), options: options)
  }

  // MARK: - Opening

  /// What FFmpeg may call the file: only its ending matters to it, as a hint for the format.
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

  /// Whether a probe score is evidence enough for a format. Below the minimum, the content and the extension must both speak for it.
  ///
  /// A score of 1 is the extension alone: FFmpeg takes any text called x.mp3 for audio. MP3 streams that begin inside a frame
  /// score no better, and are accepted; opening them finds frames or fails.
  private static func isCredible(_ format: UnsafePointer<AVInputFormat>, score: Int32, name: [CChar]) -> Bool {
    if score >= minimumScore { return true }
    if score <= 1 { return String(cString: format.pointee.name) == "mp3" }
    return format.pointee.extensions.map { av_match_ext(name, $0) != 0 } ?? false
  }

  /// Formats that may be samples and nothing else.
  private static let sampleFormats: Set = ["wav", "w64"]

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
    if sampleFormats.contains(String(cString: format.pointee.name)) {
      // Looks for DTS and S/PDIF that pretend to be PCM; FFmpeg's 2,500 packets would be most of a minute of sound.
      context.pointee.max_probe_packets = 16
    }
    if options.seeksByEstimate { context.pointee.flags |= AVFMT_FLAG_FAST_SEEK }
    context.pointee.max_streams = Int32(clamping: options.maximumStreamCount)
    shim_refuse_further_files(context)
    var settings: OpaquePointer?
    defer { av_dict_free(&settings) }
    try check(av_dict_set(&settings, "protocol_whitelist", "file", 0), "av_dict_set")
    // Nor is there a format within the format: what was found by its beginning, and nothing else.
    try check(av_dict_set(&settings, "format_whitelist", format.pointee.name, 0), "av_dict_set")
    // Other formats do not know it, and leave it be.
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

  /// Pixels of a video frame, and of all artwork of a file together, that FFmpeg may decode to find parameters that the
  /// container does not state: 64 MiB of memory. A larger video has no pixel format until its first frame is decoded.
  private static let analyzedPixelCount: Int64 = 1 << 24

  /// Finds the parameters of the streams. Streams without an allowed decoder are not parsed.
  /// Whether the header names all streams, and there is no choice among several of audio.
  private static func isDescribedByHeader(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
    let audioCount = (0..<Int(context.pointee.nb_streams)).count { index in
      context.pointee.streams[index]?.pointee.codecpar?.pointee.codec_type == AVMEDIA_TYPE_AUDIO
    }
    return context.pointee.ctx_flags & AVFMTCTX_NOHEADER == 0 && audioCount == 1
  }

  private static func findStreamInfo(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ source: FileSource
  ) throws(AVFailure) {
    let count = Int(context.pointee.nb_streams)
    let streams = (0..<count).map { context.pointee.streams[$0] }
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
    // FFmpeg takes what it has for all that there is.
    if let failure = source.readFailure, source.byteSource != nil || failure.kind == .limit { throw failure }
    try check(source.wasInterrupted ? shim_AVERROR_EXIT() : result, "avformat_find_stream_info")
  }

  private static func close(_ context: UnsafeMutablePointer<AVFormatContext>) {
    var released: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&released)
  }
}
