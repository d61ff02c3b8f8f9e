import LibAV
import MediaCore

/// The encoder of one track of a file that is written, and where it is. Used by the writer's thread alone.
final class WriterTrack {
  /// Where the next samples lie.
  var timeline: WriterTimeline
  private let encoder: Encoder
  private let streamIndex: Int
  private let encoding: PCMEncoding
  private let frameByteCount: Int
  private let channelCount: Int
  private let packet: Packet

  init(_ input: AssetWriterInput, _ settings: Encoder.Settings, _ muxer: Muxer) throws(AVFailure) {
    var settings = settings
    settings.hasGlobalHeader = muxer.wantsGlobalHeader
    encoder = try Encoder(settings: settings)
    var options = Muxer.StreamOptions()
    options.languageCode = input.languageCode
    options.isDefault = input.marksOutputTrackAsEnabled
    options.tags = input.metadata
    streamIndex = try muxer.addStream(encoder, options: options)
    channelCount = settings.input.channelCount
    frameByteCount = settings.input.format.byteCount * channelCount
    encoding = input.sourceFormat.audio?.pcm ?? .float32
    timeline = WriterTimeline(sampleRateHz: settings.input.sampleRateHz)
    packet = try Packet()
  }

  /// Encodes some frames of a buffer.
  func append(_ buffer: SampleBuffer, frames: Range<Int>, _ muxer: Muxer) throws(AVFailure) {
    guard !frames.isEmpty else { return }
    let bytes = NativeSamples.bytes(buffer.data, encoding, channelCount: channelCount)
    try bytes.withUnsafeBufferPointer { bytes throws(AVFailure) in
      guard let base = bytes.baseAddress else { return }
      try encoder.append(base + frames.lowerBound * frameByteCount, frameCount: frames.count)
    }
    try write(to: muxer)
  }

  /// Encodes silence, of which there may be much: until it is cancelled.
  func appendSilence(frameCount: Int, _ muxer: Muxer, isCancelled: () -> Bool) throws(AVFailure) {
    guard frameCount > 0 else { return }
    let pieceFrames = 8_192
    // Half of the range is silence for numbers without a sign.
    let silence = [UInt8](
      repeating: encoding.kind == .unsignedInteger ? 128 : 0, count: min(frameCount, pieceFrames) * frameByteCount)
    var rest = frameCount
    while rest > 0, !isCancelled() {
      let count = min(rest, pieceFrames)
      try silence.withUnsafeBufferPointer { bytes throws(AVFailure) in
        if let base = bytes.baseAddress { try encoder.append(base, frameCount: count) }
      }
      try write(to: muxer)
      rest -= count
    }
  }

  /// Encodes what is left. Once.
  func finish(_ muxer: Muxer) throws(AVFailure) {
    try encoder.finish()
    try write(to: muxer)
  }

  private func write(to muxer: Muxer) throws(AVFailure) {
    while try encoder.receive(into: packet) == .packet { try muxer.write(packet, streamIndex: streamIndex) }
  }
}
