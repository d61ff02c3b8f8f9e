import LibAV
import MediaCore

/// A track of packets that are coded already, and are written as they are.
final class StoredTrack: WriterTrack {
  private let streamIndex: Int
  private let packet: Packet
  private let timescale: Int32
  private let container: WritableContainer
  private let format: FormatDescription
  /// Of sound: where the next packet begins when nothing is missing.
  private var nextTicks: Int64?
  private var endTicks: Int64 = 0
  private var videoFrames = StoredVideoFrames()
  private var lastDecodeTicks: Int64?
  private var hasWritten = false

  init(
    _ input: AssetWriterInput, isEnabled: Bool, _ muxer: Muxer, _ container: WritableContainer
  ) throws(AVFailure) {
    guard let timeBase = TimeBase(numerator: 1, denominator: input.timescale) else {
      throw AVFailure(errno: 22, call: "Encoder.init")
    }
    format = input.sourceFormat
    streamIndex = try muxer.addStream(
      format, timeBase: timeBase, options: input.streamOptions(isEnabled: isEnabled, muxer))
    packet = try Packet()
    timescale = input.timescale
    self.container = container
  }

  var endTime: MediaTime { MediaTime(value: endTicks, timescale: timescale) }

  func append(_ buffer: SampleBuffer, sessionStart: MediaTime, _ output: WriterOutput) throws(MediaError) {
    guard let ticks = WriterTimeline.ticks(buffer.presentationTime - sessionStart, timescale) else {
      throw MediaError(.invalidTime, "a sample lies too far from the session's start", operation: "append")
    }
    guard format.mediaType == .audio else {
      return try appendVideoFrame(buffer, at: ticks, sessionStart: sessionStart, output)
    }
    let pieces = try StoredSoundPieces(buffer, timescale: timescale)
    try output.run { () throws(AVFailure) in try append(pieces, of: buffer, at: ticks, output.muxer) }
  }

  /// What is stored ends with its last sample.
  func fill(upTo end: MediaTime, _ output: WriterOutput) throws(MediaError) {}

  func finish(_ output: WriterOutput) throws(MediaError) {
    videoFrames.finish()
    try writeVideoFrames(output)
  }

  // MARK: - Internals

  private func appendVideoFrame(
    _ buffer: SampleBuffer, at ticks: Int64, sessionStart: MediaTime, _ output: WriterOutput
  ) throws(MediaError) {
    // Frames before the first that is shown, and decoded after it, need edit lists.
    guard container.isMovie || ticks >= 0 else { return }
    // What lies before the session is cut off by that; what is only decoded has its place, too.
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
    _ pieces: StoredSoundPieces, of buffer: SampleBuffer, at given: Int64, _ muxer: Muxer
  ) throws(AVFailure) {
    var pieces = pieces
    // Times may be rounded: what follows is where the one before ended.
    var begin = given
    if let nextTicks, abs(given - nextTicks) <= WriterTimeline.toleratedFrames(Int(timescale), buffer) {
      begin = nextTicks
    }
    nextTicks = begin + pieces.ticks
    pieces.trimEnd()
    for piece in pieces.all where isWritten(piece, at: begin + piece.offset) {
      try write(
        buffer.data[piece.bytes], pts: begin + piece.offset, dts: begin + piece.offset, duration: piece.duration,
        isKeyFrame: true, trimAtEnd: piece.trimAtEnd, muxer)
    }
  }

  /// Edit lists say what is not to be heard at the beginning; other containers' codec delay does, and what lies before that, by more
  /// than half of it, is left out.
  private func isWritten(_ piece: StoredSoundPieces.Piece, at ticks: Int64) -> Bool {
    guard !container.isMovie else { return true }
    // Vorbis' first packet gives nothing: the second needs it.
    let margin = format.codecName == "vorbis" ? piece.duration : piece.duration / 2
    return ticks + margin >= -Int64(format.audio?.initialPaddingFrames ?? 0)
  }

  private func write(
    _ bytes: ArraySlice<UInt8>, pts: Int64, dts: Int64, duration: Int64, isKeyFrame: Bool, trimAtEnd: Int64 = 0,
    _ muxer: Muxer
  ) throws(AVFailure) {
    try bytes.withUnsafeBufferPointer { bytes throws(AVFailure) in try packet.fill(bytes) }
    packet.stamp(pts: pts, dts: dts, duration: duration)
    packet.mark(isKeyFrame: isKeyFrame)
    if container == .mp3, !hasWritten || trimAtEnd > 0 {
      // FFmpeg's writer takes the delay from the first packet that has trims, and a decoder's own 529 frames off it, unchecked.
      try packet.setTrims(start: Int64(max(529, format.audio?.initialPaddingFrames ?? 0)), end: trimAtEnd)
    } else if trimAtEnd > 0 {
      try packet.setTrims(start: 0, end: trimAtEnd)
    }
    hasWritten = true
    try muxer.write(packet, streamIndex: streamIndex)
    endTicks = max(endTicks, pts + duration)
  }
}

/// The packets of a buffer of coded sound: where they lie in its bytes and in its time.
struct StoredSoundPieces: Sendable, Hashable {
  /// One packet.
  struct Piece: Sendable, Hashable {
    var bytes: Range<Int>
    /// From the buffer's beginning, in ticks.
    var offset: Int64
    /// In ticks, without what is cut off.
    var duration: Int64
    /// In ticks.
    var trimAtEnd: Int64 = 0
  }

  private(set) var all: [Piece]
  /// How long all of it lasts, before anything is cut off.
  let ticks: Int64
  private let trimTicks: Int64

  /// Errors: `invalidTime`, as `ticks(of:)`.
  init(_ buffer: SampleBuffer, timescale: Int32) throws(MediaError) {
    let count = Int64(buffer.sampleCount)
    let whole = try Self.ticks(of: buffer, timescale: timescale)
    ticks = whole
    trimTicks = WriterTimeline.ticks(buffer.attachments.trimAtEnd, timescale) ?? 0
    if buffer.format.audio?.framesPerPacket == 1 {
      // A frame is no packet of its own in any container.
      all = count > 0 ? [Piece(bytes: 0..<buffer.data.count, offset: 0, duration: whole)] : []
      return
    }
    all = buffer.sampleRanges.enumerated().map { index, bytes in
      let (first, next) = (Self.share(whole, index, of: count), Self.share(whole, index + 1, of: count))
      return Piece(bytes: bytes, offset: first, duration: next - first)
    }
  }

  /// How long a buffer's packets last, before anything is cut off: by their number, where all last as long as each other, else as
  /// the buffer says.
  ///
  /// Errors: `invalidTime` for packets that last no time, or longer than any.
  static func ticks(of buffer: SampleBuffer, timescale: Int32) throws(MediaError) -> Int64 {
    guard let frames = buffer.format.audio?.framesPerPacket else {
      return WriterTimeline.ticks(buffer.duration, timescale) ?? 0
    }
    let (ticks, isTooLong) = Int64(frames).multipliedReportingOverflow(by: Int64(buffer.sampleCount))
    guard frames > 0, !isTooLong, ticks < WriterTimeline.endOfTicks else {
      throw MediaError(.invalidTime, "there are no packets of \(frames) frames", operation: "append")
    }
    return ticks
  }

  /// Where the packet of an index begins when all last as long as each other.
  private static func share(_ whole: Int64, _ index: Int, of count: Int64) -> Int64 {
    guard count > 0, index <= count else { return 0 }
    return count.dividingFullWidth(whole.multipliedFullWidth(by: Int64(index))).quotient
  }

  /// Packets of which nothing is to be heard are left out, and the one before them is shortened.
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
