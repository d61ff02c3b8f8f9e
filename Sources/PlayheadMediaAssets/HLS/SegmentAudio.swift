// The last decoded audio of the segments at the reader's sample rate. After a discontinuity and in another variant, the
// audio may have another rate.
import PlayheadLibAV
import PlayheadMediaCore

/// The audio of the last decoded frame, in one sample rate and channel count.
///
/// Audio of that sample rate is used unchanged. Other audio of a `ContiguousSegmentReader` is converted as one
/// continuous stream. Its positions are as exact as its timestamps. Its samples depend on the position at which reading
/// began.
///
/// Threading: one thread at a time.
struct SegmentAudio {
  let format: AudioFormat
  private let sampleFormat: SampleFormat
  private let frame: Frame
  private let name: String
  private var direct: FrameConverter
  private var conversion: Conversion?

  /// - Parameters:
  ///   - frame: The frame into which the first frame was decoded.
  ///   - name: The name of the stream in messages.
  init(format: AudioFormat, sampleFormat: SampleFormat, frame: Frame, name: String) {
    self.format = format
    self.sampleFormat = sampleFormat
    self.frame = frame
    self.name = name
    direct = FrameConverter(format: format, sampleFormat: sampleFormat)
  }

  /// The distance between the starts of codec frames; 0 if they may begin anywhere.
  var stepFrames: Int64 { conversion == nil ? Int64(frame.frameCount) : 0 }

  /// Discards the conversion, because another segment reader follows.
  mutating func reset() { conversion = nil }

  /// Decodes the next audio of contiguous segments. Blocks. Timestamp and count are in frames of `format`.
  ///
  /// - Throws: The errors of `ContiguousSegmentReader.next`; `conversionFailed`.
  mutating func next(of segmentReader: ContiguousSegmentReader) throws(MediaError) -> ContiguousSegmentReader.Result {
    while true {
      if let result = try conversion?.next() { return result }
      let result: ContiguousSegmentReader.Result
      do throws(AVFailure) { result = try segmentReader.next(into: frame) } catch {
        throw MediaError(error, path: name)
      }
      switch result {
      case .frame(let timestamp, let count):
        guard let layout = frame.layout, layout.sampleRateHz != format.sampleRateHz || conversion != nil else {
          return result
        }
        if conversion?.accepts(layout) != true {
          conversion = try Conversion(of: layout, to: format, sampleFormat, timestamp: timestamp)
        }
        try conversion?.accept(frame, count: count, timestamp: timestamp, name)
      case .end:
        if let result = try conversion?.drain() { return result }
        conversion = nil
        return .end
      case .undecodable, .cancelled: return result
      }
    }
  }

  /// Copies a range of the audio.
  mutating func copy(_ range: Range<Int>, into output: UnsafeMutableRawPointer) throws(MediaError) {
    if let conversion {
      try conversion.copy(range, into: output)
    } else {
      try direct.convert(frame, range: range, into: output, of: name)
    }
  }
}

/// The conversion of the audio of one segment reader.
private final class Conversion {
  private let input: AudioFormat
  private let output: AudioFormat
  private var native: FrameConverter
  private let converter: AudioConverter
  private let writer: SampleWriter
  /// The timestamp of the first frame, in input frames; nil if there are no timestamps.
  private var origin: Int64?
  private var inputCount: Int64 = 0
  private var outputCount: Int64 = 0
  /// The last input frame, and the number of its frames that have been converted.
  private var inputSamples: [Float] = []
  private var convertedCount = 0
  /// The last output.
  private var samples: [Float] = []

  /// Number of frames converted at once. It limits memory, because a stream may declare a sample rate of 1 Hz.
  private static let chunkFrames = 1_024

  /// - Throws: `unsupportedAudioFormat`, `conversionFailed`.
  init(
    of layout: SampleLayout, to output: AudioFormat, _ sampleFormat: SampleFormat, timestamp: Int64?
  ) throws(MediaError) {
    input = AudioFormat(sampleRateHz: layout.sampleRateHz, channelCount: layout.channelCount)
    self.output = output
    try input.checkSupported()
    native = FrameConverter(format: input, sampleFormat: .float32)
    converter = try AudioConverter(from: input, to: output)
    writer = try SampleWriter(output, sampleFormat)
    origin = timestamp
  }

  func accepts(_ layout: SampleLayout) -> Bool {
    layout.sampleRateHz == input.sampleRateHz && layout.channelCount == input.channelCount
  }

  /// Accepts an input frame.
  ///
  /// - Throws: `conversionFailed`, `unsupportedAudioFormat`.
  func accept(_ frame: Frame, count: Int, timestamp: Int64?, _ name: String) throws(MediaError) {
    if let timestamp, let first = origin {
      // After a jump of the timestamps, the position of all following audio changes.
      let jump = timestamp - (first + inputCount)
      if abs(jump) > Int64(input.sampleRateHz / 50) { origin = first + jump }
    }
    inputSamples = [Float](repeating: 0, count: count * input.channelCount)
    var failure: MediaError?
    inputSamples.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      do throws(MediaError) { try native.convert(frame, range: 0..<count, into: base, of: name) } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    inputCount += Int64(count)
    convertedCount = 0
  }

  /// Converts the next chunk of the input; nil if more input is needed.
  func next() throws(MediaError) -> ContiguousSegmentReader.Result? {
    while convertedCount * input.channelCount < inputSamples.count {
      let count = min(Self.chunkFrames, inputSamples.count / input.channelCount - convertedCount)
      let start = convertedCount * input.channelCount
      convertedCount += count
      var remaining = count
      let result = try collect(atMost: count * output.sampleRateHz / input.sampleRateHz + 64) {
        (destination, capacity) throws(MediaError) -> Int in
        let result = inputSamples.withUnsafeBufferPointer { buffer -> Result<Int, MediaError> in
          guard let base = buffer.baseAddress else { return .success(0) }
          return Result { () throws(MediaError) in
            try converter.convert(base + start, frameCount: remaining, into: destination, capacityFrames: capacity)
          }
        }
        remaining = 0
        return try result.get()
      }
      if let result { return result }
    }
    return nil
  }

  /// Returns the audio remaining in the converter at the end; nil if there is none.
  func drain() throws(MediaError) -> ContiguousSegmentReader.Result? {
    try collect(atMost: 4_096) { (destination, capacity) throws(MediaError) -> Int in
      try converter.drain(into: destination, capacityFrames: capacity)
    }
  }

  /// Collects the output in chunks.
  private func collect(
    atMost chunkFrames: Int, _ produce: (UnsafeMutablePointer<Float>, Int) throws(MediaError) -> Int
  ) throws(MediaError) -> ContiguousSegmentReader.Result? {
    samples.removeAll(keepingCapacity: true)
    var chunk = [Float](repeating: 0, count: chunkFrames * output.channelCount)
    var written: Int
    repeat {
      let result = chunk.withUnsafeMutableBufferPointer { buffer -> Result<Int, MediaError> in
        guard let base = buffer.baseAddress else { return .success(0) }
        return Result { () throws(MediaError) in try produce(base, chunkFrames) }
      }
      written = try result.get()
      samples += chunk[..<(written * output.channelCount)]
    } while written == chunkFrames
    let count = samples.count / output.channelCount
    guard count > 0 else { return nil }
    defer { outputCount += Int64(count) }
    return .frame(timestamp: origin.flatMap(position), count: count)
  }

  /// Returns the position of the next output for the timestamp of the first frame; nil if it is out of range.
  private func position(_ origin: Int64) -> Int64? {
    let start = MediaTime(frame: origin, rate: input.sampleRateHz).frameIndex(
      rate: output.sampleRateHz, rounding: .halfAwayFromZero)
    guard let start, abs(start) < 1 << 60 else { return nil }
    return start + outputCount
  }

  /// - Throws: `conversionFailed`.
  func copy(_ range: Range<Int>, into target: UnsafeMutableRawPointer) throws(MediaError) {
    let result = samples.withUnsafeBufferPointer { buffer -> Result<Void, MediaError> in
      guard let base = buffer.baseAddress else { return .success(()) }
      return Result { () throws(MediaError) in
        try writer.write(base + range.lowerBound * output.channelCount, frameCount: range.count, into: target)
      }
    }
    try result.get()
  }
}
