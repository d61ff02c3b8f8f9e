import PlayheadLibAV
import PlayheadMediaCore

/// A video track that is encoded. The last frame is retained until the next one arrives, which defines its duration.
final class EncodedVideoTrack: WriterTrack {
  private let encoder: VideoEncoder
  private let streamIndex: Int
  private let packet: Packet
  private let timescale: Int32
  private let pool: PixelBufferPool?
  /// The duration of a frame if neither the frame nor the previous frame has one.
  private let defaultTicks: Int64
  /// Maximum interval between key frames, in ticks; nil: no limit.
  private let keyFrameTicks: Int64?
  private var lastKeyTicks: Int64?
  private var pending: SampleBuffer?
  /// The time of `pending`, relative to the session's start; negative before the session.
  private var pendingTicks: Int64 = 0
  private var lastDurationTicks: Int64?
  private var endTicks: Int64 = 0

  init(
    _ input: AssetWriterInput, _ settings: VideoOutputSettings, isEnabled: Bool, _ muxer: Muxer
  ) throws(AVFailure) {
    var encoding = settings.encoderSettings(for: input.sourceFormat, timescale: input.timescale)
    encoding.hasGlobalHeader = muxer.wantsGlobalHeader
    encoder = try VideoEncoder(settings: encoding)
    streamIndex = try muxer.addStream(encoder, options: input.streamOptions(isEnabled: isEnabled, muxer))
    packet = try Packet()
    timescale = input.timescale
    pool = input.pixelBufferPool
    let frame = input.sourceFormat.video.flatMap { WriterTimeline.ticks($0.frameDuration, input.timescale) }
    defaultTicks = max(1, frame ?? Int64(timescale) / 25)
    keyFrameTicks = WriterTimeline.ticks(settings.keyFrameIntervalDuration, timescale).map { max(1, $0) }
  }

  var endTime: MediaTime { MediaTime(value: endTicks, timescale: timescale) }

  func append(_ buffer: SampleBuffer, sessionStart: MediaTime, _ output: WriterOutput) throws(MediaError) {
    guard let ticks = WriterTimeline.ticks(buffer.presentationTime - sessionStart, timescale) else {
      throw MediaError(.invalidTime, "a video frame is too far from the session's start", operation: "append")
    }
    try writePending(until: ticks, output)
    (pending, pendingTicks) = (buffer, ticks)
  }

  func fill(upTo end: MediaTime, _ output: WriterOutput) throws(MediaError) {
    guard let ticks = WriterTimeline.ticks(end, timescale) else {
      throw MediaError(.invalidTime, "the session's end is too far from its start", operation: "endSession")
    }
    try writePending(until: ticks, output)
  }

  func finish(_ output: WriterOutput) throws(MediaError) {
    if let pending {
      let duration = WriterTimeline.ticks(pending.duration, timescale) ?? lastDurationTicks ?? defaultTicks
      try writePending(until: pendingTicks + max(1, duration), output)
    }
    try output.run { () throws(AVFailure) in
      try encoder.finish()
      try write(to: output.muxer)
    }
  }

  // MARK: - Internals

  /// Encodes the retained frame if it is shown within the session.
  private func writePending(until ticks: Int64, _ output: WriterOutput) throws(MediaError) {
    guard let buffer = pending else { return }
    pending = nil
    defer { pool?.recycle(buffer) }
    let first = max(0, pendingTicks)
    // A frame that ends before the session is not shown, even if the next frame does not follow directly.
    if pendingTicks < 0, let duration = WriterTimeline.ticks(buffer.duration, timescale), pendingTicks + duration <= 0 {
      return
    }
    guard ticks > first, let pixels = buffer.pixels else { return }
    let duration = ticks - first
    let isKeyFrame = isKeyFrame(at: first, until: ticks)
    try output.run { () throws(AVFailure) in
      try pixels.data.withUnsafeBufferPointer { bytes throws(AVFailure) in
        guard let base = bytes.baseAddress else { return }
        try encoder.append(
          base, planes: pixels.planes, at: first, durationTicks: duration, isKeyFrame: isKeyFrame)
      }
      try write(to: output.muxer)
    }
    (lastDurationTicks, endTicks) = (duration, ticks)
  }

  /// Returns whether the frame must be a key frame, because the next frame would exceed the interval.
  private func isKeyFrame(at ticks: Int64, until next: Int64) -> Bool {
    guard let keyFrameTicks else { return false }
    guard let last = lastKeyTicks, next - last <= keyFrameTicks else {
      lastKeyTicks = ticks
      return true
    }
    return false
  }

  private func write(to muxer: Muxer) throws(AVFailure) {
    while try encoder.receive(into: packet) == .packet { try muxer.write(packet, streamIndex: streamIndex) }
  }
}
