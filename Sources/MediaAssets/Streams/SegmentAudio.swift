// The last decoded audio of a run at the reader's sample rate. After a discontinuity and in another variant, the audio
// may have another rate.
import LibAV
import MediaCore

/// The audio of a run's last frame, in one sample rate and channel count.
///
/// Runs of that sample rate are used unchanged. Each other run is converted as one continuous stream from the position
/// at which reading began. Its frames are positioned as exactly as its timestamps permit. Its samples differ from those
/// of a conversion that began elsewhere.
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
  ///   - frame: The frame into which the first run's first frame was decoded.
  ///   - name: The name of the stream in messages.
  init(format: AudioFormat, sampleFormat: SampleFormat, frame: Frame, name: String) {
    self.format = format
    self.sampleFormat = sampleFormat
    self.frame = frame
    self.name = name
    direct = FrameConverter(format: format, sampleFormat: sampleFormat)
  }

  /// The distance between the starts of a run's codec frames; 0 if they may begin anywhere.
  var stepFrames: Int64 { conversion == nil ? Int64(frame.frameCount) : 0 }

  /// Begins a run.
  mutating func begin() { conversion = nil }

  /// Decodes the next audio of a run. Blocks. Timestamp and count are in frames of `format`.
  ///
  /// - Throws: The errors of `SegmentRun.next`; `conversionFailed`.
  mutating func next(of run: SegmentRun) throws(MediaError) -> SegmentRun.Result {
    while true {
      if let result = try conversion?.next() { return result }
      let result: SegmentRun.Result
      do throws(AVFailure) { result = try run.next(into: frame) } catch { throw MediaError(error, path: name) }
      switch result {
      case .frame(let timestamp, let count):
        guard let layout = frame.layout, layout.sampleRateHz != format.sampleRateHz || conversion != nil else {
          return result
        }
        if conversion?.takes(layout) != true {
          conversion = try Conversion(of: layout, to: format, sampleFormat, timestamp: timestamp)
        }
        try conversion?.take(frame, count: count, timestamp: timestamp, name)
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

/// The conversion of one run.
private final class Conversion {
  private let input: AudioFormat
  private let output: AudioFormat
  private var native: FrameConverter
  private let converter: AudioConverter
  private let writer: SampleWriter
  /// The timestamp of the run's first frame, in input frames; nil if there are no timestamps.
  private var origin: Int64?
  private var inCount: Int64 = 0
  private var outCount: Int64 = 0
  /// The last input frame, and the number of its frames that have been converted.
  private var incoming: [Float] = []
  private var convertedCount = 0
  /// The last output.
  private var samples: [Float] = []

  /// Number of frames converted at once. It limits memory, because a stream may declare a sample rate of 1 Hz.
  private static let pieceFrames = 1_024

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

  func takes(_ layout: SampleLayout) -> Bool {
    layout.sampleRateHz == input.sampleRateHz && layout.channelCount == input.channelCount
  }

  /// Accepts an input frame.
  ///
  /// - Throws: `conversionFailed`, `unsupportedAudioFormat`.
  func take(_ frame: Frame, count: Int, timestamp: Int64?, _ name: String) throws(MediaError) {
    if let timestamp, let first = origin {
      // A jump in the timestamps moves all following audio.
      let jump = timestamp - (first + inCount)
      if abs(jump) > Int64(input.sampleRateHz / 50) { origin = first + jump }
    }
    incoming = [Float](repeating: 0, count: count * input.channelCount)
    var failure: MediaError?
    incoming.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return }
      do throws(MediaError) { try native.convert(frame, range: 0..<count, into: base, of: name) } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    inCount += Int64(count)
    convertedCount = 0
  }

  /// Converts the next chunk of the input; nil if more input is needed.
  func next() throws(MediaError) -> SegmentRun.Result? {
    while convertedCount * input.channelCount < incoming.count {
      let count = min(Self.pieceFrames, incoming.count / input.channelCount - convertedCount)
      let start = convertedCount * input.channelCount
      convertedCount += count
      var left = count
      let result = try collect(atMost: count * output.sampleRateHz / input.sampleRateHz + 64) {
        (room, capacity) throws(MediaError) -> Int in
        let result = incoming.withUnsafeBufferPointer { buffer -> Result<Int, MediaError> in
          guard let base = buffer.baseAddress else { return .success(0) }
          return Result { () throws(MediaError) in
            try converter.convert(base + start, frameCount: left, into: room, capacityFrames: capacity)
          }
        }
        left = 0
        return try result.get()
      }
      if let result { return result }
    }
    return nil
  }

  /// Returns the audio remaining in the converter at the run's end; nil if there is none.
  func drain() throws(MediaError) -> SegmentRun.Result? {
    try collect(atMost: 4_096) { (room, capacity) throws(MediaError) -> Int in
      try converter.drain(into: room, capacityFrames: capacity)
    }
  }

  /// Collects the output in chunks.
  private func collect(
    atMost pieceFrames: Int, _ produce: (UnsafeMutablePointer<Float>, Int) throws(MediaError) -> Int
  ) throws(MediaError) -> SegmentRun.Result? {
    samples.removeAll(keepingCapacity: true)
    var piece = [Float](repeating: 0, count: pieceFrames * output.channelCount)
    var written: Int
    repeat {
      let result = piece.withUnsafeMutableBufferPointer { buffer -> Result<Int, MediaError> in
        guard let base = buffer.baseAddress else { return .success(0) }
        return Result { () throws(MediaError) in try produce(base, pieceFrames) }
      }
      written = try result.get()
      samples += piece[..<(written * output.channelCount)]
    } while written == pieceFrames
    let count = samples.count / output.channelCount
    guard count > 0 else { return nil }
    defer { outCount += Int64(count) }
    return .frame(timestamp: origin.flatMap(place), count: count)
  }

  /// Returns the position of the next output for the timestamp of the run's first frame; nil if it is out of range.
  private func place(_ origin: Int64) -> Int64? {
    let start = MediaTime(frame: origin, rate: input.sampleRateHz).frameIndex(
      rate: output.sampleRateHz, rounding: .halfAwayFromZero)
    guard let start, abs(start) < 1 << 60 else { return nil }
    return start + outCount
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
