import PlayheadLibAV
import PlayheadMediaCore

/// Reads ranges of one track's audio in the requested format. A range has the same samples as a read of the entire
/// track, even at another sample rate.
///
/// Threading: one thread at a time, which may block.
final class AudioTrackSource: SampleBufferSource, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the reader's interrupt.

  /// The maximum number of frames delivered together.
  static let chunkFrames = ConvertedAudio.chunkFrames

  private let reader: AudioTrackReader
  private let encoding: PCMEncoding
  private let output: AudioFormat
  /// The format of the buffers.
  let format: FormatDescription
  /// The conversion to another sample rate or channel count; nil if not needed.
  private var conversion: Conversion?
  /// The next frame to deliver, and the end of the range, at the sample rate of the output.
  private var next: Int64 = 0
  private var end: Int64?
  /// Whether no buffer of this range has been delivered.
  private var isFirstBuffer = true
  private var isFirstRange = true

  /// - Parameter reader: a reader with the encoding `AudioTrackSource.encoding(for:of:)`.
  init(_ reader: AudioTrackReader, _ settings: AudioReadSettings) throws(MediaError) {
    self.reader = reader
    encoding = settings.encoding
    output = AudioFormat(
      sampleRateHz: settings.sampleRateHz ?? reader.format.sampleRateHz,
      channelCount: settings.channelCount ?? reader.format.channelCount)
    let isMixed = output.channelCount != reader.format.channelCount
    format = .pcm(
      encoding, sampleRateHz: output.sampleRateHz, channelCount: output.channelCount,
      channelMask: isMixed
        ? SampleLayout.defaultChannelMask(channelCount: output.channelCount) : reader.channelMask)
    if reader.format != output { conversion = try Conversion(reader, to: output, encoding) }
  }

  /// Returns the encoding in which a track is read: the requested one if no conversion is needed, otherwise float32.
  static func encoding(for settings: AudioReadSettings, of track: AudioFormat) -> PCMEncoding {
    let isConverted =
      settings.sampleRateHz.map { $0 != track.sampleRateHz } ?? false
      || settings.channelCount.map { $0 != track.channelCount } ?? false
    return isConverted ? .float32 : NativeSamples.native(of: settings.encoding)
  }

  /// Moves to a range: from frame `floor(start * rate)` to before frame `floor(end * rate)`, at the sample rate of the
  /// output.
  ///
  /// - Throws: `invalidTime`; the errors of `AudioTrackReader.seek`.
  func start(_ range: TimeRange) throws(MediaError) {
    guard range.start.isNumeric else {
      throw MediaError(.invalidTime, "cannot read from \(range.start)", operation: "read")
    }
    isFirstBuffer = true
    end = range.end.isNumeric ? Self.frame(range.end, output.sampleRateHz) : nil
    // No track has a frame at such a time.
    guard let first = Self.frame(range.start, output.sampleRateHz) else {
      (next, end) = (0, 0)
      return
    }
    next = first
    let inputFrame = try conversion?.restart(atOutputFrame: first) ?? first
    // The audio ends before the frame.
    if try !reader.move(toFrame: inputFrame, needsProof: true) { end = next }
    // A live stream begins at the first available frame. A stream that cannot seek back continues at its position.
    if reader.position > inputFrame { next = try conversion?.restart(atInputFrame: reader.position) ?? reader.position }
  }

  func popFault() -> MediaError? { reader.popSkippedPackets()?.error ?? reader.popWarning()?.error }

  func cancel() { reader.cancel() }

  private static func frame(_ time: MediaTime, _ rate: Int) -> Int64? {
    time.frameIndex(rate: rate, rounding: .towardNegativeInfinity).map { max(0, $0) }
  }

  /// Returns the next buffer of the range; nil at the end of the range or of the track.
  ///
  /// - Throws: the errors of `AudioTrackReader.read`; `cancelled`.
  func read() throws(MediaError) -> SampleBuffer? {
    guard end.map({ next < $0 }) ?? true else { return nil }
    if conversion == nil, reader.position != next {
      // Audio that a live stream no longer has is skipped.
      (next, isFirstBuffer) = (reader.position, true)
    }
    let remainingCount = end.map { $0 - next } ?? Int64(Self.chunkFrames)
    guard remainingCount > 0 else { return nil }
    let capacity = Int(min(remainingCount, Int64(Self.chunkFrames)))
    let bytes = if let conversion { try conversion.read(capacity) } else { try readChunk(capacity) }
    let native = NativeSamples.native(of: encoding)
    let count = bytes.count / native.byteCount(channelCount: output.channelCount)
    guard count > 0 else { return nil }
    let buffer = try SampleBuffer(
      pcm: NativeSamples.packed(bytes, encoding, channelCount: output.channelCount), format: format,
      presentationTime: MediaTime(frame: next, rate: output.sampleRateHz),
      attachments: .init(isDiscontinuity: isFirstBuffer && !isFirstRange))
    next += Int64(count)
    (isFirstBuffer, isFirstRange) = (false, false)
    return buffer
  }

  /// Reads the track's samples directly into the buffer's memory.
  private func readChunk(_ capacity: Int) throws(MediaError) -> [UInt8] {
    let frameByteCount = reader.frameByteCount
    var result: Result<AudioTrackReader.ReadResult, MediaError> = .success(.endOfTrack)
    let bytes = [UInt8](unsafeUninitializedCapacity: capacity * frameByteCount) { buffer, initializedCount in
      guard let base = buffer.baseAddress else { return }
      result = Result { () throws(MediaError) in try reader.read(into: base, capacityFrames: capacity) }
      if case .success(.frames(let count, _)) = result { initializedCount = count * frameByteCount }
    }
    if try result.get() == .cancelled { throw AssetReader.cancelled }
    return bytes
  }
}

/// A conversion to another sample rate or channel count, in the requested encoding.
private final class Conversion {
  private let audio: ConvertedAudio
  private let output: AudioFormat
  private let frameByteCount: Int
  private let writer: SampleWriter
  private let samples: UnsafeMutableBufferPointer<Float>

  init(_ reader: AudioTrackReader, to output: AudioFormat, _ encoding: PCMEncoding) throws(MediaError) {
    self.output = output
    let native = NativeSamples.native(of: encoding)
    frameByteCount = native.byteCount(channelCount: output.channelCount)
    writer = try SampleWriter(output, try SampleWriter.format(of: native))
    audio = try ConvertedAudio(reader, to: output)
    samples = .allocate(capacity: AudioTrackSource.chunkFrames * output.channelCount)
  }

  deinit { samples.deallocate() }

  func restart(atInputFrame frame: Int64) throws(MediaError) -> Int64 { try audio.restart(atInputFrame: frame) }

  func restart(atOutputFrame first: Int64) throws(MediaError) -> Int64 { try audio.restart(atOutputFrame: first) }

  /// Reads at most `capacity` frames and returns their bytes; empty at the end.
  func read(_ capacity: Int) throws(MediaError) -> [UInt8] {
    guard let base = samples.baseAddress else { return [] }
    let count = try audio.read(into: base, capacityFrames: capacity)
    return try writer.bytes(base, frameCount: count, frameByteCount: frameByteCount)
  }
}
