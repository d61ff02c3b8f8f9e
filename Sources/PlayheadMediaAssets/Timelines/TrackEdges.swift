import PlayheadLibAV
import PlayheadMediaCore

/// The encoder's padding before and after a track's audio, as stated by the file, before anything is decoded.
///
/// Usually FFmpeg trims the padding, by the side data of packets or inside the decoder. If not, `uncutStartFrames` and
/// `audioFrameCount` state the frames that remain to be trimmed.
struct TrackEdges: Sendable, Hashable, Codable {
  /// The number of frames before the audio that FFmpeg does not trim.
  private(set) var uncutStartFrames: Int64 = 0
  /// The number of frames before the audio that the decoder trims, so that no packet states them.
  private(set) var decoderCutFrames: Int64 = 0
  /// The number of audio frames between both edges, if the file states it in addition to the track's duration.
  private(set) var audioFrameCount: Int64?
  /// The start of the audio in the stream's ticks, if the decoder trims the priming and no edit list states it.
  private(set) var firstAudioTicks: Int64?
  /// The end of the audio in the stream's ticks, if the container states it more precisely than the track's duration.
  private(set) var endTicks: Int64?
  /// Whether the audio must be cut at `audioFrameCount`, because FFmpeg does not do so, or not always.
  private(set) var endsAtAudioFrameCount = false
  /// The part of `uncutStartFrames` that is no padding: an information frame that decodes to silence.
  private(set) var informationFrames: Int64 = 0
  /// The sources of the trims, if frames are trimmed.
  private(set) var startSource = EdgeTrim.Source.none
  private(set) var endSource = EdgeTrim.Source.none
  /// The edit list of an MP4 file; nil if FFmpeg follows it.
  private(set) var edits: EditedTimeline?
  /// Whether time 0 is the first audio, even in a container that defines a timeline.
  private(set) var beginsAtFirstAudio = false
  /// Whether the file was truncated: it has no last page (Ogg), or less data than its data chunk states (WAV).
  private(set) var isCutOff = false
  /// Whether the header of an MP3 file states a number of frames that the file does not have. The number then defines
  /// neither the length nor the start of the padding.
  private(set) var hasWrongLength = false
  /// The last pages of all streams of an Ogg file, as far as they are near the file's end.
  private(set) var lastPages: [LastPage] = []
  /// Whether the file's last page belongs to none of the streams that begin at the file's start.
  ///
  /// Then streams follow each other in a chain (RFC 3533, section 4), and the container's duration
  /// is that of the last one.
  private(set) var isChain = false

  /// A page that ends a stream (RFC 3533, section 6).
  struct LastPage: Sendable, Hashable, Codable {
    /// The position of the page's first byte in the file.
    var byte: Int64
    /// The granule position of the page, which is the end of the stream; 1 or more. Nil if it is lower than that of the
    /// page before, and therefore wrong.
    var granule: Int64?
  }

  /// Whether the last page of an Ogg file has a wrong granule position, so that the end is unknown.
  var hasUnknownEnd: Bool { lastPages.first.map { $0.granule == nil } ?? false }

  /// The largest magnitude of all numbers of frames and ticks.
  var largestNumber: Int64 {
    var numbers = [
      uncutStartFrames, decoderCutFrames, audioFrameCount, informationFrames, edits?.mediaFrameCount, firstAudioTicks,
    ]
    for segment in edits?.segments ?? [] { numbers += [segment.start, segment.end, segment.mediaStart] }
    return numbers.compactMap { $0 }.map { $0 == .min ? .max : abs($0) }.max() ?? 0
  }

  init(demuxer: Demuxer, stream: StreamInfo, format: ContainerFormat, byteCount: Int64) {
    switch format {
    case .mp3: readMP3(demuxer, byteCount: byteCount)
    case .movie: readMovie(demuxer, stream)
    case .ogg:
      startSource = stream.codecName == "opus" ? .opusPreSkip : .granulePosition
      endSource = .granulePosition
      readLastPages(demuxer, byteCount: byteCount, startGranule: stream.initialPaddingFrames ?? 0)
    case .matroska:
      startSource = .codecDelay
      endSource = .discardPadding
      // FFmpeg's Opus decoder trims its pre-skip; for other codecs FFmpeg trims nothing.
      let delay = stream.initialPaddingFrames ?? 0
      if stream.codecName == "opus" { decoderCutFrames = delay } else { uncutStartFrames = delay }
    case .wav: readWAV(demuxer, stream, byteCount: byteCount)
    case .flac:
      // The header counts samples, and FFmpeg's ticks are samples.
      if format.hasWrongRateInHeader(of: stream) { audioFrameCount = stream.durationTicks }
    case .aiff, .numberedFrames, .caf, .adts, .coarse, .untimed, .frameTable, .programStream, .other: break
    }
  }

  private mutating func readMP3(_ demuxer: Demuxer, byteCount: Int64) {
    let found = Self.findInfoFrame(demuxer)
    let info = found?.info
    hasWrongLength =
      found.map { !Self.hasPlausibleLength($0.info, at: $0.byte, demuxer, byteCount: byteCount) } ?? false
    audioFrameCount = hasWrongLength ? nil : info?.audioFrameCount
    if let found, let info, found.location != .first {
      // FFmpeg reads the information frame only directly after the tags.
      informationFrames = found.location == .decoded ? info.framesPerMPEGFrame : 0
      uncutStartFrames =
        informationFrames + (info.padding.map { $0.startFrames + MP3InfoFrame.decoderDelayFrames } ?? 0)
    }
    if info?.padding != nil {
      // FFmpeg trims the end, too, but only if it counts packets from the file's start.
      endsAtAudioFrameCount = audioFrameCount != nil
      (startSource, endSource) = (.lameTag, .lameTag)
    } else if let comment = ITunesGaplessComment(demuxer.tag(ITunesGaplessComment.name)) {
      uncutStartFrames += comment.startFrames + MP3InfoFrame.decoderDelayFrames
      audioFrameCount = comment.audioFrameCount
      endsAtAudioFrameCount = comment.audioFrameCount != nil
      (startSource, endSource) = (.iTunSMPB, .iTunSMPB)
    }
  }

  private enum InfoFrameLocation {
    /// Directly after the ID3v2 tags, where FFmpeg reads it.
    case first
    /// After garbage, where FFmpeg decodes it as audio, or skips it if its header differs from the following ones.
    case decoded, skipped
  }

  private static func hasPlausibleLength(
    _ info: MP3InfoFrame, at byte: Int64, _ demuxer: Demuxer, byteCount: Int64
  ) -> Bool {
    info.hasPlausibleLength(availableByteCount: byteCount - byte) { offset in
      var start = byte + offset
      let tag = demuxer.bytes(at: start, count: 10)
      if tag.starts(with: Array("TAG".utf8)) { start += 128 }
      if tag.count == 10, tag.starts(with: Array("ID3".utf8)) { start += id3v2ByteCount(tag) }
      return firstFrame(in: demuxer.bytes(at: start, count: 8_192)) != nil
    }
  }

  /// The length of an ID3v2 tag with its header (ID3v2.4, section 3.1).
  private static func id3v2ByteCount(_ header: [UInt8]) -> Int64 {
    let length = header[6..<10].reduce(Int64(0)) { $0 << 7 | Int64($1 & 0x7f) }
    return length + (header[5] & 0x10 != 0 ? 20 : 10)
  }

  private static func findInfoFrame(
    _ demuxer: Demuxer
  ) -> (info: MP3InfoFrame, location: InfoFrameLocation, byte: Int64)? {
    var offset: Int64 = 0
    while true {
      let header = demuxer.bytes(at: offset, count: 10)
      guard header.count == 10, header.starts(with: Array("ID3".utf8)) else { break }
      offset += id3v2ByteCount(header)
    }
    let start = demuxer.bytes(at: offset, count: 8_192)
    if let header = BigEndianBytes(start).header(at: 0), MPEGAudioHeader(header) != nil {
      return MP3InfoFrame(bytes: start).map { ($0, .first, offset) }
    }
    let bytes = demuxer.bytes(at: offset, count: maximumGarbageByteCount + 8_192)
    guard let first = firstFrame(in: bytes), let header = BigEndianBytes(bytes).header(at: first),
      let parsed = MPEGAudioHeader(header)
    else { return nil }
    if let info = MP3InfoFrame(bytes: Array(bytes[first..<min(bytes.count, first + parsed.byteCount)])) {
      return (info, .decoded, offset + Int64(first))
    }
    // Searches the frame that ends at `first`; the largest frame has 2,881 bytes.
    for index in max(0, first - 2_881)..<first where bytes[index] == 0xff {
      guard let header = BigEndianBytes(bytes).header(at: index), let parsed = MPEGAudioHeader(header),
        index + parsed.byteCount == first, let info = MP3InfoFrame(bytes: Array(bytes[index..<first]))
      else { continue }
      return (info, .skipped, offset + Int64(index))
    }
    return nil
  }

  /// The search range of FFmpeg (`mp3_read_header`).
  private static let maximumGarbageByteCount = 65_536

  /// Returns the first header that leads to a similar header, by FFmpeg's rule; nil if there is none.
  private static func firstFrame(in bytes: [UInt8]) -> Int? {
    let reader = BigEndianBytes(bytes)
    // All bits except the bit rate, the padding, and the stereo mode.
    let sameMask: UInt32 = 0xfffe_0ccf
    return (0..<min(bytes.count, maximumGarbageByteCount)).first { offset in
      guard bytes[offset] == 0xff, let bits = reader.header(at: offset), let header = MPEGAudioHeader(bits),
        let next = reader.header(at: offset + header.byteCount)
      else { return false }
      return MPEGAudioHeader(next) != nil && (bits ^ next) & sameMask == 0
    }
  }

  private mutating func readMovie(_ demuxer: Demuxer, _ stream: StreamInfo) {
    (startSource, endSource) = (.editList, .trackDuration)
    if demuxer.ignoresEditLists { return }
    // Only a packet that FFmpeg left out can be a lost last sample.
    let times = MovieTrackTimes(
      trackID: stream.containerID, readsLastSample: !demuxer.indexesAllPackets(streamIndex: stream.index)
    ) { demuxer.bytes(at: $0, count: $1) }
    if let times, TimeBase(sampleRateHz: Int(times.mediaTimescale)) == stream.timeBase {
      edits = stream.sampleRateHz.flatMap { EditedTimeline(times, sampleRateHz: $0) }
      if edits != nil { return }
      endTicks = times.mediaEnd
      // In fragmented files FFmpeg retains what the edit list trims, at negative times.
      if let start = stream.startTicks, start < 0, start == times.mediaOrigin, let rate = stream.sampleRateHz {
        endTicks = stream.durationTicks.map { start + $0 }
        uncutStartFrames =
          (MediaTime.zero - stream.timeBase.time(ofTicks: start)).frameIndex(rate: rate, rounding: .halfAwayFromZero)
          ?? 0
      }
    }
    if times?.edits.isEmpty ?? false { readDecoderPriming(demuxer, stream) }
    guard let comment = ITunesGaplessComment(demuxer.tag(ITunesGaplessComment.name)), comment.startFrames > 0,
      let rate = stream.sampleRateHz, let start = stream.startTicks,
      // FFmpeg applies the comment only without an edit list: the first audio is then late by that number of frames.
      stream.timeBase.time(ofTicks: start) == MediaTime(frame: comment.startFrames, rate: rate)
    else { return }
    beginsAtFirstAudio = true
    audioFrameCount = comment.audioFrameCount
    (startSource, endSource) = (.iTunSMPB, .iTunSMPB)
  }

  /// Finds the priming that the decoder trims in a file without an edit list, as FFmpeg writes with `empty_moov`.
  ///
  /// The pre-skip of Opus and the first packet of Vorbis (Vorbis I, 4.3.8) produce no audio. Muxers move their negative
  /// times to 0, so time 0 of the encoder is the audio after them.
  private mutating func readDecoderPriming(_ demuxer: Demuxer, _ stream: StreamInfo) {
    guard stream.startTicks == 0 else { return }
    switch stream.codecName {
    case "opus":
      guard let delay = stream.initialPaddingFrames, let rate = stream.sampleRateHz,
        let frameBase = TimeBase(sampleRateHz: rate)
      else { return }
      decoderCutFrames = delay
      firstAudioTicks = stream.timeBase.ticks(from: delay, of: frameBase, rounding: .nearest)
      startSource = .opusPreSkip
    case "vorbis": firstAudioTicks = demuxer.secondIndexedTicks(streamIndex: stream.index)
    default: return
    }
    beginsAtFirstAudio = firstAudioTicks != nil
  }

  /// Reads the number of frames and the length of the data of a WAV file.
  ///
  /// - The `fact` chunk of a compressed RIFF or RF64 file counts frames, but FFmpeg decodes the last block to its end.
  /// - The file may end before its data chunk does. FFmpeg then uses the file's length.
  /// - Writers store 0 or all ones if the length is unknown.
  /// - FFmpeg writes W64 data whose length includes the padding to a multiple of 8 bytes.
  private mutating func readWAV(_ demuxer: Demuxer, _ stream: StreamInfo, byteCount: Int64) {
    let bytes = demuxer.bytes(at: 0, count: 65_536)
    func number(_ offset: Int, _ count: Int) -> Int64? {
      guard offset + count <= bytes.count else { return nil }
      return bytes[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | Int64($1) }
    }
    if bytes.starts(with: Array("riff".utf8)) {
      // A chunk of W64 has an ID of 16 bytes and a length of 8, which includes both, and begins at a multiple of 8.
      var offset = 40
      while let length = number(offset + 16, 7), length >= 24, length < 65_536 {
        if bytes[offset..<(offset + 4)].elementsEqual("fact".utf8) { readFact(number(offset + 24, 7), stream) }
        offset += (Int(length) + 7) & ~7
      }
      return
    }
    guard bytes.starts(with: Array("RIFF".utf8)) || bytes.starts(with: Array("RF64".utf8)) else { return }
    var offset = 12
    var longCount: Int64?
    while offset + 8 <= bytes.count, let count = number(offset + 4, 4) {
      let name = String(decoding: bytes[offset..<(offset + 4)], as: UTF8.self)
      // EBU Tech 3306: the data chunk's length in 64 bits, after the file's length.
      if name == "ds64" { longCount = number(offset + 16, 7) }
      if name == "fact" { readFact(number(offset + 8, 4), stream) }
      if name == "data" {
        let length = count == 0xffff_ffff ? longCount ?? 0 : count
        isCutOff = byteCount > 0 && length > 0 && Int64(offset) + 8 + length > byteCount
        return
      }
      offset += 8 + Int(count) + Int(count & 1)
    }
  }

  /// Takes the end of the audio from the number in a `fact` chunk, if it is plausible.
  ///
  /// Some writers count the samples of all channels. Others count bytes; then no candidate fits, and the last block
  /// counts as whole.
  private mutating func readFact(_ samples: Int64?, _ stream: StreamInfo) {
    guard !stream.codecName.hasPrefix("pcm_"), let samples, samples < Int64.max / 8,
      let declared = stream.durationTicks, let channelCount = stream.channelCount,
      let frames = [samples, samples / Int64(channelCount)].first(where: { frames in
        frames > 0 && (0..<Int64(max(1, stream.blockFrameCount ?? 1))).contains(declared - frames)
      })
    else { return }
    audioFrameCount = frames
    endsAtAudioFrameCount = true
    endSource = .trackDuration
  }

  /// Finds the pages at the end of the file that end a stream. If none does (RFC 3533, section
  /// 6), the file is truncated.
  ///
  /// - Parameter startGranule: the granule position of time 0.
  private mutating func readLastPages(_ demuxer: Demuxer, byteCount: Int64, startGranule: Int64) {
    let start = max(0, byteCount - 65_536)
    let bytes = demuxer.bytes(at: start, count: 65_536)
    guard bytes.count > 27 else { return }
    var lastSerialNumber: UInt64?
    var hasLastPage = false
    var pageCount = 0
    // The indexes of the last pages whose previous page has not been found yet.
    var pending: [UInt64: Int] = [:]
    for offset in (0..<(bytes.count - 27)).reversed() where Self.isPage(bytes, at: offset) {
      pageCount += 1
      let serialNumber = Self.number(bytes, at: offset + 14, byteCount: 4)
      lastSerialNumber = lastSerialNumber ?? serialNumber
      let isLast = bytes[offset + 5] & 4 != 0
      hasLastPage = hasLastPage || isLast
      let granule = Self.number(bytes, at: offset + 6, byteCount: 8)
      guard granule > 0, granule < Int64.max / 8 else { continue }
      if let index = pending.removeValue(forKey: serialNumber), !isLast {
        discardGranule(ofPage: index, before: Int64(granule), startGranule: startGranule)
      }
      guard isLast, lastPages.count < Self.maximumLastPageCount else { continue }
      pending[serialNumber] = lastPages.count
      lastPages.append(LastPage(byte: start + Int64(offset), granule: Int64(granule)))
    }
    guard let lastSerialNumber else { return }
    if let serialNumber = pending.first(where: { $0.value == 0 })?.key,
      let granule = Self.lastGranule(demuxer, before: start, of: serialNumber)
    {
      discardGranule(ofPage: 0, before: granule, startGranule: startGranule)
    }
    isCutOff = !hasLastPage
    isChain =
      !Self.serialNumbersAtStart(demuxer).contains(lastSerialNumber)
      || lastPages.first.map { lastPage in
        Self.hasEarlierStreamWithSameNumber(demuxer, lastPage, pageCount: pageCount, byteCount: byteCount)
      } ?? false
  }

  /// Returns the granule position of the last page of a stream that begins before `end`; nil if no page of maximum size
  /// away is one.
  private static func lastGranule(_ demuxer: Demuxer, before end: Int64, of serialNumber: UInt64) -> Int64? {
    let start = max(0, end - 65_536)
    let count = Int(end - start)
    let bytes = demuxer.bytes(at: start, count: count + 26)
    guard count > 0, bytes.count == count + 26 else { return nil }
    for offset in (0..<count).reversed() where isPage(bytes, at: offset) {
      let granule = number(bytes, at: offset + 6, byteCount: 8)
      guard number(bytes, at: offset + 14, byteCount: 4) == serialNumber, granule < Int64.max / 8 else { continue }
      return Int64(granule)
    }
    return nil
  }

  /// Discards the granule position of a last page if it is lower than that of the page before it. The stream then ends
  /// at or after that page.
  private mutating func discardGranule(ofPage index: Int, before previous: Int64, startGranule: Int64) {
    guard let granule = lastPages[index].granule, granule < previous else { return }
    lastPages[index].granule = nil
    if index == 0 { endTicks = previous - startGranule }
  }

  /// Whether the sequence number of a stream's last page shows that an earlier stream has the same serial number.
  ///
  /// The pages at the end are then much smaller than the average page of a single stream. Only in that case, pages
  /// before the last one are read.
  private static func hasEarlierStreamWithSameNumber(
    _ demuxer: Demuxer, _ lastPage: LastPage, pageCount: Int, byteCount: Int64
  ) -> Bool {
    var pages = OggPages(source: demuxer.source)
    do throws(AVFailure) {
      guard let last = try pages.page(at: lastPage.byte) else { return false }
      let averageByteCount = byteCount / (Int64(last.sequenceNumber) + 1)
      let endByteCount = min(byteCount, 65_536) / Int64(max(1, pageCount))
      guard averageByteCount > endByteCount + endByteCount / 4, let first = try pages.firstPage(from: 0, before: 65_536)
      else { return false }
      return try pages.hasRestartedNumbering(after: first, before: last)
    } catch { return false }
  }

  /// The serial numbers of the streams whose first pages begin the file.
  private static func serialNumbersAtStart(_ demuxer: Demuxer) -> Set<UInt64> {
    let bytes = demuxer.bytes(at: 0, count: 16_384)
    var numbers: Set<UInt64> = []
    var offset = 0
    while offset + 27 <= bytes.count, isPage(bytes, at: offset), bytes[offset + 5] & 2 != 0 {
      numbers.insert(number(bytes, at: offset + 14, byteCount: 4))
      let segments = bytes[(offset + 27)...].prefix(Int(bytes[offset + 26]))
      offset += 27 + segments.count + segments.reduce(0) { $0 + Int($1) }
    }
    return numbers
  }

  private static func isPage(_ bytes: [UInt8], at offset: Int) -> Bool {
    // A fast check first: most bytes are not "O".
    bytes[offset] == 0x4f && bytes[offset..<(offset + 4)].elementsEqual("OggS".utf8)
  }

  private static func number(_ bytes: [UInt8], at offset: Int, byteCount: Int) -> UInt64 {
    bytes[offset..<(offset + byteCount)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The maximum number of streams that end at the file's end.
  private static let maximumLastPageCount = 32
}

/// iTunes' comment about the encoder's delay, with hexadecimal numbers.
///
/// The second number is the frames before the audio, the third the frames after it, and the fourth the audio frames.
struct ITunesGaplessComment: Sendable, Hashable {
  static let name = "iTunSMPB"

  var startFrames: Int64
  var endFrames: Int64
  /// The number of audio frames; nil if the comment states 0.
  var audioFrameCount: Int64?

  /// Returns nil without a comment, and for an invalid comment.
  init?(_ text: String?) {
    guard let text else { return nil }
    let numbers = text.split(separator: " ").prefix(4).map { Int64($0, radix: 16) }
    guard numbers.count == 4, let start = numbers[1], let end = numbers[2], let count = numbers[3],
      (0..<65_536).contains(start), (0..<65_536).contains(end), (0...(Int64.max / 8)).contains(count)
    else { return nil }
    startFrames = start
    endFrames = end
    audioFrameCount = count > 0 ? count : nil
  }
}
