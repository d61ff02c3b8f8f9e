import PlayheadLibAV

/// Determines how packets follow each other by their contents, if their timestamps do not define it. A pure value.
///
/// - FLAC frames are numbered, so their positions are known.
/// - In ASF and others, all frames of a group have the timestamp of the group.
/// - The header of a frame states the sampling rate, which may change.
struct PacketContinuity {
  private let codecName: String
  /// Whether the numbers of FLAC frames define positions: in containers whose timestamps FFmpeg derives or confuses,
  /// and in files whose header states another sample rate than the frames.
  private let usesNumbers: Bool
  private let maximumGapFrames: Int64
  private var first: Packet.FLACPosition?
  private var last: Packet.FLACPosition?
  private var lastTicks: Int64?
  private var firstRateCode: UInt8?
  /// Whether a packet with another sampling rate was read.
  private(set) var hasOtherRates = false
  /// Whether the last packet repeats the timestamp of the packet before it, so that its timestamp defines no position.
  private(set) var isInGroup = false
  /// Whether a packet since the last seek repeated a timestamp.
  private(set) var hasGroups = false
  /// Whether any packet that was read repeated a timestamp.
  private(set) var hasFoundGroups = false
  /// The position of the last packet, counted from the first packet of the file; nil if only timestamps define it.
  private(set) var numberedFrame: Int64?
  /// Whether the numbers contradicted each other since the last seek: streams were joined.
  private var isRenumbered = false

  init(stream: StreamInfo, format: ContainerFormat) {
    codecName = stream.codecName
    usesNumbers =
      codecName == "flac" && (format == .ogg || format == .coarse || format.hasWrongRateInHeader(of: stream))
    maximumGapFrames = Int64((stream.sampleRateHz ?? 0) * AudioTimeline.maximumGapSeconds)
  }

  /// Discards the last packet, because reading continues at another position.
  mutating func restart() { (last, lastTicks, isRenumbered, hasGroups) = (nil, nil, false, false) }

  /// Records a packet that was read.
  mutating func note(_ packet: Packet) {
    if let code = packet.samplingRateCode(codecName: codecName) {
      if firstRateCode == nil { firstRateCode = code }
      if code != firstRateCode { hasOtherRates = true }
    }
    isInGroup = packet.pts != nil && packet.pts == lastTicks
    hasGroups = hasGroups || isInGroup
    hasFoundGroups = hasFoundGroups || isInGroup
    lastTicks = packet.pts ?? lastTicks
    guard usesNumbers else { return }
    numberedFrame = nil
    guard let found = packet.flacPosition else { return }
    if first == nil { first = found }
    if let last, let step = step(from: last, to: found) {
      isRenumbered = isRenumbered || step < last.frameCount || step - last.frameCount > maximumGapFrames
    }
    last = found
    if !isRenumbered, let first { numberedFrame = step(from: first, to: found) }
  }

  /// Returns the distance of two packets in frames; nil if they are numbered in different ways.
  private func step(from one: Packet.FLACPosition, to other: Packet.FLACPosition) -> Int64? {
    guard one.countsSamples == other.countsSamples, max(one.number, other.number) < 1 << 40 else { return nil }
    let step = Int64(other.number) - Int64(one.number)
    // Only the last frame of a stream is shorter than the others, and `one` precedes another frame.
    return one.countsSamples ? step : step * one.frameCount
  }
}
