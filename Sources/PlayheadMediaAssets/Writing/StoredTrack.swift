import PlayheadLibAV
import PlayheadMediaCore

/// A track of encoded packets, which are written unchanged.
final class StoredTrack: WriterTrack {
  private let streamIndex: Int
  private let packet: Packet
  private let timescale: Int32
  private let container: WritableContainer
  private let format: FormatDescription
  /// For audio: the start of the next packet if there is no gap.
  private var nextTicks: Int64?
  private var endTicks: Int64 = 0
  private var videoFrames = StoredVideoFrames()
  private var lastDecodeTicks: Int64?
  private var hasWritten = false
  /// The number of padding frames before the audio.
  private var paddingFrames: Int
  /// MP3: the number of frames by which decoders delay the audio.
  private static let decoderDelayFrames = 529

  init(
    _ input: AssetWriterInput, isEnabled: Bool, _ muxer: Muxer, _ container: WritableContainer
  ) throws(AVFailure) {
    guard let timeBase = TimeBase(numerator: 1, denominator: input.timescale) else {
      throw AVFailure(errno: 22, call: "Encoder.init")
    }
    format = input.sourceFormat
    paddingFrames = input.sourceFormat.audio?.initialPaddingFrames ?? 0
    streamIndex = try muxer.addStream(
      format, timeBase: timeBase, options: input.streamOptions(isEnabled: isEnabled, muxer))
    packet = try Packet()
    timescale = input.timescale
    self.container = container
  }

  var endTime: MediaTime { MediaTime(value: endTicks, timescale: timescale) }

  func append(_ buffer: SampleBuffer, sessionStart: MediaTime, _ output: WriterOutput) throws(MediaError) {
    guard let ticks = WriterTimeline.ticks(buffer.presentationTime - sessionStart, timescale) else {
      throw MediaError(.invalidTime, "a sample is too far from the session's start", operation: "append")
    }
    guard format.mediaType == .audio else {
      return try appendVideoFrame(buffer, at: ticks, sessionStart: sessionStart, output)
    }
    let chunks = try StoredAudioChunks(buffer, timescale: timescale)
    try output.run { () throws(AVFailure) in try append(chunks, of: buffer, at: ticks, output.muxer) }
  }

  /// Does nothing: a passed-through track ends with its last sample.
  func fill(upTo end: MediaTime, _ output: WriterOutput) throws(MediaError) {}

  func finish(_ output: WriterOutput) throws(MediaError) {
    videoFrames.finish()
    try writeVideoFrames(output)
  }

  // MARK: - Internals

  private func appendVideoFrame(
    _ buffer: SampleBuffer, at ticks: Int64, sessionStart: MediaTime, _ output: WriterOutput
  ) throws(MediaError) {
    // Frames that are shown before the session's start need edit lists.
    guard container.isMovie || ticks >= 0 else { return }
    // Frames before the session's start, and frames that are only decoded, keep their untrimmed duration.
    let length = ticks < 0 || buffer.outputDuration == .zero ? buffer.duration : buffer.outputDuration
    let frame = StoredVideoFrames.Frame(
      data: buffer.data, ticks: ticks, decodeTicks: WriterTimeline.ticks(buffer.decodeTime - sessionStart, timescale),
      duration: WriterTimeline.ticks(length, timescale) ?? 0, isKeyFrame: buffer.attachments.isSync)
    videoFrames.append(frame)
    try writeVideoFrames(output)
  }

  private func writeVideoFrames(_ output: WriterOutput) throws(MediaError) {
    while let frame = videoFrames.popFirst() {
      let decodeTicks = frame.decodeTicks ?? frame.ticks
      guard lastDecodeTicks.map({ decodeTicks > $0 }) ?? true, decodeTicks <= frame.ticks else {
        throw MediaError(
          .invalidTime,
          "more than \(StoredVideoFrames.settlingCount) video frames are decoded after a frame that is shown later",
          operation: "append")
      }
      lastDecodeTicks = decodeTicks
      try output.run { () throws(AVFailure) in
        try write(
          frame.data[...], pts: frame.ticks, dts: decodeTicks, duration: frame.duration,
          isKeyFrame: frame.isKeyFrame, output.muxer)
      }
    }
  }

  private func append(
    _ chunks: StoredAudioChunks, of buffer: SampleBuffer, at ticks: Int64, _ muxer: Muxer
  ) throws(AVFailure) {
    var chunks = chunks
    // Times may be rounded: within the tolerance, the packet follows the previous one without a gap.
    var start = ticks
    if let nextTicks, abs(ticks - nextTicks) <= WriterTimeline.toleratedFrames(Int(timescale), buffer) {
      start = nextTicks
    }
    nextTicks = start + chunks.ticks
    chunks.trimEnd()
    for chunk in chunks.all where isWritten(chunk, at: start + chunk.offset) {
      try writeSilence(before: buffer.data[chunk.bytes], at: start + chunk.offset, muxer)
      try write(
        buffer.data[chunk.bytes], pts: start + chunk.offset, dts: start + chunk.offset, duration: chunk.duration,
        isKeyFrame: true, trimAtEnd: chunk.trimAtEnd, muxer)
    }
  }

  /// Returns whether a packet is written. MP4, M4A and MOV hide audio before the session by edit lists. Other
  /// containers hide only the codec delay: packets are omitted that begin before it by more than half their duration.
  private func isWritten(_ chunk: StoredAudioChunks.Chunk, at ticks: Int64) -> Bool {
    guard !container.isMovie else { return true }
    // The first packet of Vorbis produces no audio, but the second packet needs it.
    let margin = format.codecName == "vorbis" ? chunk.duration : chunk.duration / 2
    return ticks + margin >= -Int64(format.audio?.initialPaddingFrames ?? 0)
  }

  /// Writes a silent frame at the start of an MP3 file whose audio begins with the first frame.
  ///
  /// Decoders remove the padding that the information frame states, and 529 more frames for the decoder delay. The
  /// padding must therefore be at least 529 frames.
  private func writeSilence(before bytes: ArraySlice<UInt8>, at ticks: Int64, _ muxer: Muxer) throws(AVFailure) {
    guard container == .mp3, !hasWritten, paddingFrames < Self.decoderDelayFrames,
      let silence = MPEGAudioHeader.silentFrame(like: bytes)
    else { return }
    paddingFrames += silence.frameCount
    try write(
      silence.bytes[...], pts: ticks - Int64(silence.frameCount), dts: ticks - Int64(silence.frameCount),
      duration: Int64(silence.frameCount), isKeyFrame: true, muxer)
  }

  private func write(
    _ bytes: ArraySlice<UInt8>, pts: Int64, dts: Int64, duration: Int64, isKeyFrame: Bool, trimAtEnd: Int64 = 0,
    _ muxer: Muxer
  ) throws(AVFailure) {
    try bytes.withUnsafeBufferPointer { bytes throws(AVFailure) in try packet.fill(bytes) }
    packet.setTimestamps(pts: pts, dts: dts, duration: duration)
    packet.setKeyFrame(isKeyFrame)
    if container == .mp3, !hasWritten || trimAtEnd > 0 {
      // FFmpeg's MP3 muxer takes the delay from the first packet with trims, and subtracts the decoder delay even if
      // the result is negative.
      try packet.setTrims(start: Int64(max(Self.decoderDelayFrames, paddingFrames)), end: trimAtEnd)
    } else if trimAtEnd > 0 {
      try packet.setTrims(start: 0, end: trimAtEnd)
    }
    hasWritten = true
    try muxer.write(packet, streamIndex: streamIndex)
    endTicks = max(endTicks, pts + duration)
  }
}

/// The packets of a buffer of encoded audio, with their byte ranges and times.
struct StoredAudioChunks: Sendable, Hashable {
  /// One packet.
  struct Chunk: Sendable, Hashable {
    var bytes: Range<Int>
    /// The start relative to the buffer's start, in ticks.
    var offset: Int64
    /// The duration in ticks, without trimmed audio.
    var duration: Int64
    /// The audio trimmed from the end, in ticks.
    var trimAtEnd: Int64 = 0
  }

  private(set) var all: [Chunk]
  /// The duration of all packets in ticks, before trimming.
  let ticks: Int64
  private let trimTicks: Int64

  /// - Throws: `invalidTime`, as `ticks(of:timescale:)`.
  init(_ buffer: SampleBuffer, timescale: Int32) throws(MediaError) {
    let count = Int64(buffer.sampleCount)
    let totalTicks = try Self.ticks(of: buffer, timescale: timescale)
    ticks = totalTicks
    trimTicks = WriterTimeline.ticks(buffer.attachments.trimAtEnd, timescale) ?? 0
    if buffer.format.audio?.framesPerPacket == 1 {
      // No container stores a single PCM frame as a packet.
      all = count > 0 ? [Chunk(bytes: 0..<buffer.data.count, offset: 0, duration: totalTicks)] : []
      return
    }
    all = buffer.sampleRanges.enumerated().map { index, bytes in
      let (first, next) = (
        Self.packetStart(totalTicks, index, of: count), Self.packetStart(totalTicks, index + 1, of: count)
      )
      return Chunk(bytes: bytes, offset: first, duration: next - first)
    }
  }

  /// Returns the duration of a buffer's packets in ticks, before trimming. It is the number of packets times their
  /// duration, if that is constant, and otherwise the duration of the buffer.
  ///
  /// - Throws: `invalidTime` for packets without a duration, or with a duration that is too long.
  static func ticks(of buffer: SampleBuffer, timescale: Int32) throws(MediaError) -> Int64 {
    guard let frames = buffer.format.audio?.framesPerPacket else {
      return WriterTimeline.ticks(buffer.duration, timescale) ?? 0
    }
    let (ticks, isTooLong) = Int64(frames).multipliedReportingOverflow(by: Int64(buffer.sampleCount))
    guard frames > 0, !isTooLong, ticks < WriterTimeline.endOfTicks else {
      throw MediaError(.invalidTime, "unsupported packet size: \(frames) frames", operation: "append")
    }
    return ticks
  }

  /// Returns the start of a packet if all packets have the same duration.
  private static func packetStart(_ totalTicks: Int64, _ index: Int, of count: Int64) -> Int64 {
    guard count > 0, index <= count else { return 0 }
    return count.dividingFullWidth(totalTicks.multipliedFullWidth(by: Int64(index))).quotient
  }

  /// Removes the packets that are trimmed completely, and shortens the packet before them.
  mutating func trimEnd() {
    var rest = trimTicks
    while rest > 0, let last = all.last, last.duration > 0 {
      guard last.duration > rest else {
        all.removeLast()
        rest -= last.duration
        continue
      }
      all[all.count - 1].duration -= rest
      all[all.count - 1].trimAtEnd = rest
      return
    }
  }
}
