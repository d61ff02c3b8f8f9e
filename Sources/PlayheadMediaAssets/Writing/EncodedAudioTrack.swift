import PlayheadLibAV
import PlayheadMediaCore

/// An audio track that is encoded.
final class EncodedAudioTrack: WriterTrack {
  private var timeline: WriterTimeline
  private let encoder: Encoder
  private let streamIndex: Int
  private let encoding: PCMEncoding
  private let frameByteCount: Int
  private let channelCount: Int
  private let packet: Packet
  /// The maximum number of frames passed to the encoder before its packets are written.
  private static let chunkFrameCount = 8_192

  init(
    _ input: AssetWriterInput, _ settings: Encoder.Settings, isEnabled: Bool, _ muxer: Muxer
  ) throws(AVFailure) {
    var settings = settings
    settings.hasGlobalHeader = muxer.wantsGlobalHeader
    encoder = try Encoder(settings: settings)
    streamIndex = try muxer.addStream(encoder, options: input.streamOptions(isEnabled: isEnabled, muxer))
    channelCount = settings.input.channelCount
    frameByteCount = settings.input.format.byteCount * channelCount
    encoding = input.sourceFormat.audio?.pcm ?? .float32
    timeline = WriterTimeline(sampleRateHz: settings.input.sampleRateHz)
    packet = try Packet()
  }

  var endTime: MediaTime {
    MediaTime(value: timeline.frameCount, timescale: Int32(clamping: timeline.sampleRateHz))
  }

  func append(_ buffer: SampleBuffer, sessionStart: MediaTime, _ output: WriterOutput) throws(MediaError) {
    guard let added = timeline.add(buffer, sessionStart: sessionStart) else {
      throw MediaError(.invalidTime, "the gap between samples must be at most one day", operation: "append")
    }
    try output.run { () throws(AVFailure) in
      try appendSilence(frameCount: added.silence, output)
      try append(buffer, frames: added.frames, output.muxer)
    }
  }

  func fill(upTo end: MediaTime, _ output: WriterOutput) throws(MediaError) {
    guard let silence = timeline.fill(upTo: end) else {
      throw MediaError(.invalidTime, "the gap before the end must be at most one day", operation: "endSession")
    }
    try output.run { () throws(AVFailure) in try appendSilence(frameCount: silence, output) }
  }

  func finish(_ output: WriterOutput) throws(MediaError) {
    try output.run { () throws(AVFailure) in
      try encoder.finish()
      try write(to: output.muxer)
    }
  }

  // MARK: - Internals

  private func append(_ buffer: SampleBuffer, frames: Range<Int>, _ muxer: Muxer) throws(AVFailure) {
    guard !frames.isEmpty else { return }
    let bytes = NativeSamples.bytes(buffer.data, encoding, channelCount: channelCount)
    try bytes.withUnsafeBufferPointer { bytes throws(AVFailure) in
      guard let base = bytes.baseAddress else { return }
      for start in stride(from: frames.lowerBound, to: frames.upperBound, by: Self.chunkFrameCount) {
        let count = min(Self.chunkFrameCount, frames.upperBound - start)
        try encoder.append(base + start * frameByteCount, frameCount: count)
        try write(to: muxer)
      }
    }
  }

  /// Encodes silence. Stops when writing is cancelled, because the silence may be long.
  private func appendSilence(frameCount: Int, _ output: WriterOutput) throws(AVFailure) {
    guard frameCount > 0 else { return }
    // For unsigned samples, silence is the middle of the range.
    let silence = [UInt8](
      repeating: encoding.kind == .unsignedInteger ? 128 : 0,
      count: min(frameCount, Self.chunkFrameCount) * frameByteCount)
    var rest = frameCount
    while rest > 0, !output.isCancelled() {
      let count = min(rest, Self.chunkFrameCount)
      try silence.withUnsafeBufferPointer { bytes throws(AVFailure) in
        if let base = bytes.baseAddress { try encoder.append(base, frameCount: count) }
      }
      try write(to: output.muxer)
      rest -= count
    }
  }

  private func write(to muxer: Muxer) throws(AVFailure) {
    while try encoder.receive(into: packet) == .packet { try muxer.write(packet, streamIndex: streamIndex) }
  }
}
