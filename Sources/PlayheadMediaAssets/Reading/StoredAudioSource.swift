import PlayheadLibAV
import PlayheadMediaCore

/// Reads ranges of one stored audio track, with the packets that must be decoded before them.
///
/// Threading: one thread at a time, which may block.
final class StoredAudioSource: StoredSampleSource, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the interrupt of the media's reader.

  let format: FormatDescription
  private let audio: StoredAudio
  private let rate: Int
  private let frameByteCount: Int?
  /// A range of the media to be read, in frames.
  private struct MediaRange {
    var start: Int64
    /// The position after the last frame; nil: the end of the media.
    var end: Int64?
    /// The position of media frame 0 on the asset's timeline.
    var offset: Int64
  }
  /// The ranges to be read, in reverse order. The last one is the current range.
  private var ranges: [MediaRange] = []
  /// Packets that end at or before this frame are not needed for the current range; nil before the range has begun.
  private var prerollStart: Int64?
  /// The end of the delivered media since the range began.
  private var deliveredEnd: Int64 = .min
  /// The end of the packet that was read last.
  private var lastPacketEnd: Int64 = .min
  /// Whether no buffer of this range has been delivered.
  private var isFirstBuffer = true
  private var hasDeliveredAny = false
  private var fault: MediaError?

  /// - Parameter media: a reader created with `keepsPackets` that has not been read.
  init(_ media: MediaTrackReader) throws(MediaError) {
    audio = try StoredAudio(media)
    rate = media.format.sampleRateHz
    guard var format = media.reader.demuxer.format(ofStream: media.trackID) else {
      preconditionFailure("the track of a reader exists")
    }
    if format.audio != nil {
      // The decoded format replaces the container's description.
      format.audio?.sampleRateHz = rate
      format.audio?.channelCount = media.format.channelCount
      format.audio?.channelMask = media.channelMask
      if format.audio?.initialPaddingFrames == 0, media.edits == nil {
        format.audio?.initialPaddingFrames = Int(clamping: media.startTrim.frameCount)
      }
    }
    self.format = format
    frameByteCount = format.audio.flatMap { audio in audio.pcm?.byteCount(channelCount: audio.channelCount) }
      .flatMap { $0 > 0 ? $0 : nil }
  }

  func cancel() { audio.media.cancel() }

  func popFault() -> MediaError? {
    defer { fault = nil }
    return audio.media.popSkippedPackets()?.error ?? audio.media.popWarning()?.error ?? fault
  }

  /// Begins at frame `floor(start * rate)` and ends before frame `floor(end * rate)`.
  func start(_ range: TimeRange) throws(MediaError) {
    // A start out of range becomes a frame after the end of every track.
    let first = range.start.frameIndex(rate: rate, rounding: .towardNegativeInfinity) ?? Int64.max / 8
    let end = range.end.isNumeric ? range.end.frameIndex(rate: rate, rounding: .towardNegativeInfinity) : nil
    (prerollStart, isFirstBuffer) = (nil, true)
    guard let edits = audio.media.edits else {
      ranges = [MediaRange(start: first, end: end, offset: 0)]
      return
    }
    // Gaps of an edit list are silent: no samples are stored there.
    ranges = edits.segments.reversed().compactMap { segment in
      guard let mediaStart = segment.mediaStart else { return nil }
      let from = max(first, segment.start)
      let to = [segment.end, end].compactMap { $0 }.min()
      guard to.map({ from < $0 }) ?? true else { return nil }
      let offset = segment.start - mediaStart
      return MediaRange(start: from - offset, end: to.map { $0 - offset }, offset: offset)
    }
  }

  func read() throws(MediaError) -> SampleBuffer? {
    while let range = ranges.last {
      if range.end.map({ $0 <= range.start }) ?? false {
        ranges.removeLast()
        continue
      }
      let prerollStart = try start(range)
      guard let packet = try audio.next() else {
        ranges.removeLast()
        (self.prerollStart, isFirstBuffer) = (nil, true)
        let last = max(lastPacketEnd, range.start)
        if range.end.map({ last < $0 }) ?? true, let error = audio.media.endError(at: last) {
          ranges = []
          throw error
        }
        continue
      }
      try checkRate()
      guard let frame = packet.frame else { continue }
      lastPacketEnd = max(lastPacketEnd, frame + packet.frameCount - packet.trims.end)
      if let end = range.end, frame >= end {
        ranges.removeLast()
        (self.prerollStart, isFirstBuffer) = (nil, true)
        continue
      }
      guard frame + packet.frameCount > prerollStart, let buffer = try buffer(packet, at: frame, range)
      else { continue }
      (isFirstBuffer, hasDeliveredAny) = (false, true)
      return buffer
    }
    return nil
  }

  private func start(_ range: MediaRange) throws(MediaError) -> Int64 {
    if let prerollStart { return prerollStart }
    let found = try audio.move(to: range.start)
    (prerollStart, deliveredEnd, lastPacketEnd) = (found, .min, .min)
    return found
  }

  /// Returns a packet with its trims: the frames outside the range, before the first or after the last heard frame, and
  /// those that were delivered already.
  private func buffer(
    _ packet: StoredPacket, at frame: Int64, _ range: MediaRange
  ) throws(MediaError) -> SampleBuffer? {
    let end = frame + packet.frameCount
    let media = audio.media
    var lower = max(range.start, media.edits == nil ? audio.firstHeardFrame : 0, deliveredEnd)
    // The trim of the very first packet is known already.
    if !packet.isFirst, packet.trims.start > 0 { lower = max(lower, frame + packet.trims.start) }
    var upper = end - (media.edits == nil ? packet.trims.end : 0)
    deliveredEnd = max(deliveredEnd, upper)
    upper = [upper, range.end, media.trustedEndFrame].compactMap { $0 }.min() ?? upper
    let start = min(max(lower - frame, 0), packet.frameCount)
    let trimmed = min(max(end - upper, 0), packet.frameCount - start)
    if audio.packet.isMarkedCorrupt { noteDamage(frame + range.offset) }
    guard let data = audio.packet.data(limit: StoredPacketSource.maximumPacketByteCount) else {
      throw MediaError(.mediaLimitExceeded, "a packet is too large in \(media.displayPath)", operation: "read")
    }
    var attachments = SampleBuffer.Attachments(isDiscontinuity: packet.isAfterGap || isFirstBuffer && hasDeliveredAny)
    if let frameByteCount {
      // The size of the data defines the number of frames, not the container. An incomplete frame is ignored.
      let count = Int64(data.count / frameByteCount)
      if count == 0, !data.isEmpty { noteDamage(frame + range.offset) }
      let availableEnd = min(count, packet.frameCount - trimmed)
      guard start < availableEnd else { return nil }
      return try SampleBuffer(
        pcm: Array(data[Int(start) * frameByteCount..<Int(availableEnd) * frameByteCount]), format: format,
        presentationTime: time(frame + start + range.offset),
        attachments: attachments)
    }
    attachments.isSync = audio.packet.isKeyFrame
    attachments.trimAtStart = time(start)
    attachments.trimAtEnd = time(trimmed)
    // A block of constant size is a sample.
    let blockByteCount = format.audio?.bytesPerPacket ?? 0
    let isBlocks = blockByteCount > 0 && data.count % blockByteCount == 0 && !data.isEmpty
    return try SampleBuffer(
      format: format, data: data, sampleCount: isBlocks ? data.count / blockByteCount : 1,
      presentationTime: time(frame + range.offset), duration: time(packet.frameCount), attachments: attachments)
  }

  /// Throws an error if the sample rate changes in a stream whose packets do not state it when they are copied.
  private func checkRate() throws(MediaError) {
    guard format.codecName == "aac", audio.media.reader.hasOtherRates else { return }
    throw MediaError(
      .unsupportedAudioFormat,
      "AAC whose sample rate changes cannot be copied, only encoded: \(audio.media.displayPath)", operation: "read")
  }

  private func noteDamage(_ frame: Int64) {
    fault =
      fault
      ?? MediaError(
        .damagedFile,
        "a packet is damaged at \(time(frame).decimalDescription) s in \(audio.media.displayPath)",
        operation: "read")
  }

  private func time(_ frame: Int64) -> MediaTime { MediaTime(frame: frame, rate: rate) }
}
