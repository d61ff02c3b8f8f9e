// FFmpeg's Ogg demuxer counts the packets of a page back from the page's granule position. It assumes that the block
// before each packet is short (`vorbis_packet` in oggparsevorbis.c). The end of a packet is then right, but the start
// and the length of a short block after a long block are wrong. At the end of a stream of one page, the demuxer also
// counts the first packet, which has no audio. The block sizes of all packets allow both errors to be corrected.
import PlayheadLibAV

/// Corrects the timestamps, lengths and end trims of the packets of an Ogg Vorbis stream, in the file's order.
///
/// - The length of a packet is a quarter of the sum of its block size and the previous one's (Vorbis I, section 4.3.8).
/// - The first packet of a stream has no audio.
/// - In a chain of streams, each stream begins at the end of the previous one.
/// - Ticks are frames.
///
/// Threading: one thread at a time.
struct VorbisPacketTimes {
  /// The position from which packets are read.
  private enum Start {
    /// The first packet of the first stream.
    case file
    /// The first packet of another stream of a chain.
    case stream
    /// A page after one that ends at this granule position.
    case page(granule: Int64)
    /// Unknown: the first packet's timestamp states the position.
    case unknown
  }

  /// A packet's start and end in ticks, as FFmpeg counts them.
  private struct StatedTimes {
    var start: Int64
    var end: Int64

    /// Nil without a valid timestamp.
    init?(_ packet: Packet) {
      guard let start = packet.pts, start.magnitude < furthestTicks else { return nil }
      self.start = start
      end = start + min(packet.duration ?? 0, furthestTicks)
    }
  }

  private let fileBlocks: VorbisBlocks
  private let lastPages: [TrackEdges.LastPage]
  /// The maximum difference between granule positions and the count of samples; a larger one is a gap or an overlap.
  ///
  /// `AudioTimeline` has the same limit for timestamps from granule positions.
  private let maximumDriftTicks: Int64
  /// The maximum overlap. A granule position that is even lower is wrong, because granule positions do not decrease.
  private let maximumOverlapTicks: Int64
  /// The block sizes of the stream that is read.
  private var blocks: VorbisBlocks
  private var start = Start.file
  /// Whether a stream of the chain has another sample rate than the first one.
  private(set) var hasOtherRates = false
  private let sampleRateHz: Int
  /// The identification header of the stream that follows in a chain.
  private var identification: [UInt8]?
  /// The previous audio packet's block size; nil at the start.
  private var previousSize: Int64?
  /// The end of the previous audio packet, in ticks; nil at the start, and until a timestamp has stated it.
  private var endTicks: Int64?
  /// The number of frames cut off the end of that packet.
  private var trimTicks: Int64 = 0
  /// The ticks by which the timestamps of a chain's stream are moved.
  private var offsetTicks: Int64 = 0
  /// The ticks by which FFmpeg's timestamps are late, because they count the first packet.
  private var latenessTicks: Int64 = 0
  /// The ticks by which granule positions are later than the count of samples: some muxers round them.
  private var driftTicks: Int64 = 0
  /// Whether the first packet after `restart(atPageAfter:)` ends where block sizes allow it to end.
  private(set) var isStartProven = true
  /// Whether the packet corrected last is a header of a chained stream.
  private(set) var isAtHeader = false

  /// The limit of valid timestamps, so that sums stay in range.
  private static let furthestTicks = Int64.max / 8

  /// Returns nil if the stream's headers are invalid.
  init?(demuxer: Demuxer, stream: StreamInfo, edges: TrackEdges) {
    guard let rate = stream.sampleRateHz, TimeBase(sampleRateHz: rate) == stream.timeBase,
      let blocks = VorbisBlocks(demuxer: demuxer, streamIndex: stream.index)
    else { return nil }
    fileBlocks = blocks
    self.blocks = blocks
    sampleRateHz = rate
    lastPages = edges.lastPages
    maximumDriftTicks = Int64(rate / 50)
    maximumOverlapTicks = Int64(rate / 4)
  }

  /// Restarts at the file's first packet.
  mutating func restartAtFile() { restart(.file) }

  /// Restarts at the first packet of a page. The page before it ends at `granule`.
  mutating func restart(atPageAfter granule: Int64) { restart(.page(granule: granule)) }

  /// Restarts at an unknown packet.
  mutating func restartAnywhere() { restart(.unknown) }

  private mutating func restart(_ start: Start) {
    self.start = start
    blocks = fileBlocks
    identification = nil
    previousSize = nil
    endTicks = nil
    trimTicks = 0
    offsetTicks = 0
    latenessTicks = 0
    driftTicks = 0
    isStartProven = true
  }

  // MARK: - Packets

  /// Corrects the packet that was read last.
  mutating func correct(_ packet: Packet) throws(AVFailure) {
    let kind = blocks.kind(of: packet)
    isAtHeader = kind == .identification || kind == .setup
    switch kind {
    case .audio(let size):
      defer { previousSize = size }
      if let previousSize {
        try correct(packet, length: (previousSize + size) / 4)
      } else {
        try correctFirst(packet, size: size)
      }
      if (endTicks ?? 0).magnitude >= Self.furthestTicks { endTicks = nil }
    case .identification:
      startStream()
      identification = packet.data(limit: 30)
      noteRate()
      correctEmpty(packet)
    case .setup:
      if let identification, let setup = packet.data(limit: Int(UInt16.max)) {
        blocks = VorbisBlocks(identification: identification, setup: setup) ?? blocks
      }
      correctEmpty(packet)
    case .other: correctEmpty(packet)
    }
  }

  /// Corrects a packet that the decoder drops: the next packet overlaps the one before it.
  private func correctEmpty(_ packet: Packet) {
    if let endTicks { packet.setTimestamps(pts: endTicks, dts: endTicks, duration: 0) }
  }

  /// Begins another stream of a chain, for which FFmpeg's decoder restarts.
  private mutating func startStream() {
    guard previousSize != nil, let endTicks else { return }
    start = .stream
    self.endTicks = endTicks - trimTicks
    trimTicks = 0
    previousSize = nil
  }

  /// Compares the sample rate in the identification header (Vorbis I, section 4.2.2).
  private mutating func noteRate() {
    guard let bytes = identification, bytes.count >= 16 else { return }
    let rate = bytes[12..<16].reversed().reduce(0) { $0 << 8 | Int($1) }
    if rate != sampleRateHz { hasOtherRates = true }
  }

  private mutating func correct(_ packet: Packet, length: Int64) throws(AVFailure) {
    let isTrimmed = packet.trimmedFrames.end > 0
    guard let start = startTicks(length: length, StatedTimes(packet), isTrimmed: isTrimmed) else { return }
    let end = start + length
    trimTicks = endTrim(of: packet, end: end, length: length)
    endTicks = end
    packet.setTimestamps(pts: start, dts: start, duration: length - trimTicks)
    if trimTicks > 0 { try packet.setTrims(start: 0, end: trimTicks) } else { packet.clearTrims() }
  }

  private mutating func correctFirst(_ packet: Packet, size: Int64) throws(AVFailure) {
    let stated = StatedTimes(packet)
    // FFmpeg does not count back a page that is also the last one, or has no granule position. It counts the packets of
    // such a page from 0 and includes the first packet, although audio begins after that one.
    let isCountedFromZero = stated.map { $0.start == 0 } ?? true
    let length = stated.map { $0.end - $0.start } ?? 0
    switch start {
    case .file:
      endTicks = isCountedFromZero ? 0 : stated?.end
      guard isCountedFromZero else { return }
      latenessTicks = length
      packet.setTimestamps(pts: -length, dts: -length, duration: length)
    case .stream:
      let streamStart = endTicks ?? 0
      offsetTicks = streamStart - (isCountedFromZero ? 0 : stated?.end ?? 0)
      latenessTicks = isCountedFromZero ? length : 0
      driftTicks = 0
      // The decoder outputs audio for the first packet of a stream, except for the file's first stream.
      packet.setTimestamps(pts: streamStart, dts: streamStart, duration: 0)
      try packet.setTrims(start: 0, end: length)
    case .page(let granule):
      endTicks = stated?.end
      let sizes = [blocks.sizes.short, blocks.sizes.long]
      isStartProven = stated.map { stated in sizes.contains { ($0 + size) / 4 == stated.end - granule } } ?? false
      guard isStartProven, let stated else { return }
      packet.setTimestamps(pts: granule, dts: granule, duration: stated.end - granule)
    case .unknown: endTicks = stated?.end
    }
  }

  /// Returns the start of a packet: the end of the previous one, unless FFmpeg's timestamps state a gap or an overlap.
  private mutating func startTicks(length: Int64, _ stated: StatedTimes?, isTrimmed: Bool) -> Int64? {
    guard let stated else { return endTicks }
    let start = isTrimmed ? stated.start : stated.end - length
    guard let endTicks else { return start + offsetTicks }
    let counted = endTicks - offsetTicks
    // If FFmpeg counts a packet back, its end is right. For the first packet of a page and packets of the last page,
    // the start is right.
    for lateness in [latenessTicks, 0] {
      let expected = counted + driftTicks + lateness
      guard stated.start == expected || stated.end == expected + length else { continue }
      latenessTicks = lateness
      return endTicks
    }
    // 0 also marks a page that FFmpeg could not count back, because a packet on it is invalid.
    if stated.start == 0 { return endTicks }
    if start - counted < -maximumOverlapTicks { return endTicks }
    latenessTicks = 0
    driftTicks = start - counted
    guard driftTicks.magnitude > maximumDriftTicks else { return endTicks }
    driftTicks = 0
    return start + offsetTicks
  }

  /// Returns the number of frames of a packet that are after the stream's end. This end is the granule position of the
  /// last page (Vorbis I, appendix A.2). A position before that page is wrong, and no frames are cut.
  private func endTrim(of packet: Packet, end: Int64, length: Int64) -> Int64 {
    if let byte = packet.bytePosition, let page = lastPages.first(where: { $0.byte == byte }) {
      return page.granule.map { max(0, min(end - offsetTicks + driftTicks - $0, length)) } ?? 0
    }
    let stated = packet.trimmedFrames.end
    return stated > 0 ? max(0, min(stated - latenessTicks, length)) : 0
  }
}
