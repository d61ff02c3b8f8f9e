import PlayheadLibAV
import PlayheadMediaCore

/// Reads ranges of a stored track by the container's timestamps: video, and all other tracks that are not decodable
/// audio.
///
/// Threading: one thread at a time, which may block.
final class StoredPacketSource: StoredSampleSource, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the interrupt, which is Sendable.

  /// The maximum size of a packet in bytes.
  static let maximumPacketByteCount = 256 << 20
  /// The maximum number of packets that are decoded before a packet that is shown earlier. H.264 has at most 16.
  private static let maximumReorderCount = 64
  /// The number of packets that are read after the range's end, because composition offsets may be negative: a frame
  /// may then be shown before its decoding time. H.264 reorders at most this number of frames.
  private static let negativeOffsetCount = 16

  let format: FormatDescription
  private var demuxer: Demuxer
  private let stream: StreamInfo
  private let packet: Packet
  private let interrupt: Interrupt
  private let displayPath: String
  private let maximumPacketByteCount: Int
  private let isForwardOnly: Bool
  private let byteCount: Int64
  /// The container's time that is the asset's time 0.
  private let origin: MediaTime
  private var range = TimeRange(start: .zero, duration: .positiveInfinity)
  /// Packets after the range, which are needed if a packet in the range follows.
  private var packetsAfterRange: [SampleBuffer] = []
  /// Packets to be delivered.
  private var ready: [SampleBuffer] = []
  private var isAtStart = true
  /// Whether `packet` has been read already and is the next one.
  private var isPacketPending = false
  private var hasEnded = false
  private var isFirstBuffer = true
  private var hasDeliveredAny = false
  private var lastTicks: Int64?
  private var fault: MediaError?

  init(
    _ asset: Asset, _ demuxer: Demuxer, byteCount: Int64, interrupt: Interrupt, trackID: AssetTrack.ID,
    maximumPacketByteCount: Int = maximumPacketByteCount
  ) throws(MediaError) {
    guard demuxer.streams.indices.contains(trackID), let format = demuxer.format(ofStream: trackID) else {
      throw MediaError(.noSuchTrack, "there is no track \(trackID) in \(asset.displayPath)", operation: "read")
    }
    self.demuxer = demuxer
    self.format = format
    self.interrupt = interrupt
    (self.byteCount, self.maximumPacketByteCount) = (byteCount, maximumPacketByteCount)
    stream = demuxer.streams[trackID]
    displayPath = asset.displayPath
    isForwardOnly = !demuxer.source.isSeekable && asset.isRemote
    origin = ContainerTiming(demuxer: demuxer, byteCount: byteCount).origin
    demuxer.select(streamIndex: trackID)
    do throws(AVFailure) { packet = try Packet() } catch { throw MediaError(error, path: asset.displayPath) }
  }

  func cancel() { interrupt.cancel() }

  func popFault() -> MediaError? {
    defer { fault = nil }
    return fault
  }

  // MARK: - Seeking

  func start(_ range: TimeRange) throws(MediaError) {
    self.range = range
    (packetsAfterRange, ready, hasEnded, isFirstBuffer) = ([], [], false, true)
    isPacketPending = false
    if isForwardOnly {
      guard isAtStart else {
        throw MediaError(
          .onlyInOrder, "earlier data of a stream cannot be read again: \(displayPath)", operation: "seek")
      }
      return
    }
    try mapped { () throws(AVFailure) in
      if range.start > .zero, try seekByTimestamp() { return }
      if !isAtStart { try rewind() }
    }
  }

  private func rewind() throws(AVFailure) {
    demuxer = try demuxer.reopened()
    guard demuxer.streams.indices.contains(stream.index) else {
      throw AVFailure(invalidDataIn: "avformat_find_stream_info")
    }
    demuxer.select(streamIndex: stream.index)
    (isAtStart, lastTicks) = (true, nil)
  }

  /// Moves to a key frame that is shown at or before the range's start. Returns false if none is found.
  private func seekByTimestamp() throws(AVFailure) -> Bool {
    guard let target = ticks(of: range.start), let second = ticks(of: range.start + MediaTime(value: 1, timescale: 1))
    else { return false }
    var stepBack: Int64 = 0
    isAtStart = false
    for _ in 0..<4 {
      do throws(AVFailure) {
        try demuxer.seek(
          streamIndex: stream.index, earliest: .min + 1, target: target - stepBack, latest: target - stepBack)
      } catch {
        if error.kind == .cancelled { throw error }
        return false
      }
      while try readPacket() {
        guard packet.isKeyFrame else { continue }
        if let ticks = packet.pts ?? packet.dts, ticks <= target {
          isPacketPending = true
          return true
        }
        break
      }
      stepBack = max(second - target, stepBack * 4)
    }
    return false
  }

  /// Returns the last tick at or before a time of the asset.
  private func ticks(of time: MediaTime) -> Int64? {
    let containerTime = time + origin
    guard containerTime.isNumeric, let base = TimeBase(numerator: 1, denominator: containerTime.timescale) else {
      return nil
    }
    return stream.timeBase.ticks(from: containerTime.value, of: base, rounding: .down)
  }

  private func time(_ ticks: Int64) -> MediaTime { stream.timeBase.time(ofTicks: ticks) - origin }

  // MARK: - Reading

  func read() throws(MediaError) -> SampleBuffer? {
    while ready.isEmpty, !hasEnded {
      guard try mapped({ () throws(AVFailure) in try readPacket() }) else {
        hasEnded = true
        if let error = endError() { throw error }
        break
      }
      guard let buffer = try buffer() else { continue }
      if range.end.isNumeric, buffer.presentationTime >= range.end {
        // A frame is not shown before it is decoded.
        let decoded = buffer.decodeTime.isValid ? buffer.decodeTime : buffer.presentationTime
        packetsAfterRange.append(buffer)
        let minimumCount = format.mediaType == .video ? Self.negativeOffsetCount : 0
        let count = packetsAfterRange.count
        hasEnded = decoded >= range.end && count >= minimumCount || count > Self.maximumReorderCount
      } else {
        ready = (packetsAfterRange + [buffer]).reversed()
        packetsAfterRange = []
      }
    }
    guard var buffer = ready.popLast() else { return nil }
    buffer.attachments.isDiscontinuity = isFirstBuffer && hasDeliveredAny
    (isFirstBuffer, hasDeliveredAny) = (false, true)
    return buffer
  }

  /// Reads the next packet of the track. Returns false at the end. May throw `cancelled`.
  private func readPacket() throws(AVFailure) -> Bool {
    if isPacketPending {
      isPacketPending = false
      return true
    }
    isAtStart = false
    var budget = ReadErrorBudget()
    while true {
      do throws(AVFailure) {
        switch try demuxer.readPacket(into: packet) {
        case .packet where packet.streamIndex == stream.index: return true
        case .packet: continue
        case .endOfFile: return false
        case .cancelled: throw AVFailure(cancelledIn: "av_read_frame")
        }
      } catch {
        guard budget.accept(error) else { throw error }
        fault = fault ?? MediaError(skippedPackets: 1, error, in: displayPath)
      }
    }
  }

  /// Returns the packet that was read as a buffer; nil if it has no timestamp.
  private func buffer() throws(MediaError) -> SampleBuffer? {
    guard let ticks = packet.pts ?? packet.dts else { return nil }
    lastTicks = packet.dts ?? ticks
    let start = time(ticks)
    let duration = packet.duration.map { stream.timeBase.time(ofTicks: $0) } ?? .invalid
    if packet.isMarkedCorrupt {
      fault =
        fault
        ?? MediaError(
          .damagedFile, "a packet is damaged at \(start.decimalDescription) s in \(displayPath)", operation: "read")
    }
    guard let data = packet.data(limit: maximumPacketByteCount) else {
      throw MediaError(.mediaLimitExceeded, "a packet is too large in \(displayPath)", operation: "read")
    }
    return try SampleBuffer(
      format: format, data: data, presentationTime: start, decodeTime: packet.dts.map { time($0) } ?? .invalid,
      duration: duration, attachments: trims(start, duration))
  }

  /// Returns the trims of a packet: the parts outside the range, or all of a packet that is not shown.
  private func trims(_ start: MediaTime, _ duration: MediaTime) -> SampleBuffer.Attachments {
    var attachments = SampleBuffer.Attachments(isSync: packet.isKeyFrame)
    let length = duration.isNumeric ? duration : format.video?.frameDuration ?? .zero
    let maximum = length.isNumeric ? length : .zero
    if packet.isDiscarded {
      attachments.trimAtStart = maximum
    } else {
      if start < range.start { attachments.trimAtStart = min(range.start - start, maximum) }
      let remaining = maximum - attachments.trimAtStart
      if range.end.isNumeric, start + maximum > range.end {
        attachments.trimAtEnd = min(start + maximum - range.end, remaining)
      }
    }
    return attachments
  }

  /// Returns the error at the end of the file; nil if there is none.
  private func endError() -> MediaError? {
    if demuxer.currentByteCount.map({ $0 < byteCount }) ?? false {
      return MediaError(.damagedFile, "the file became shorter while it was read: \(displayPath)", operation: "read")
    }
    guard ContainerFormat(demuxer.formatName) == .movie, let last = demuxer.lastIndexedTicks(streamIndex: stream.index),
      lastTicks.map({ $0 < last }) ?? true
    else { return nil }
    return MediaError(.damagedFile, "the file is truncated: \(displayPath)", operation: "read")
  }

  private func mapped<Value>(_ body: () throws(AVFailure) -> Value) throws(MediaError) -> Value {
    do throws(AVFailure) { return try body() } catch { throw MediaError(error, path: displayPath) }
  }
}
