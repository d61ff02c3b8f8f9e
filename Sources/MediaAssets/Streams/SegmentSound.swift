// What was decoded last of a run, at the reader's rate: behind a discontinuity, and in another variant, sound may have another one.
import LibAV
import MediaCore

/// The sound of a run's last frame, as frames of one rate and channel count.
///
/// Runs of that rate are taken as they are. Others are converted, each as one unbroken stream from where it was begun: its frames are
/// placed as exactly as its timestamps place them, and its samples are not those of a conversion that began elsewhere.
///
/// Threading: one thread at a time.
struct SegmentSound {
  let format: AudioFormat
  private let sampleFormat: SampleFormat
  private let frame: Frame
  private let name: String
  private var direct: FrameConverter
  private var conversion: Conversion?

  /// - Parameters:
  ///   - frame: what the first run's first frame was decoded into.
  ///   - name: what stands for the stream in messages.
  init(format: AudioFormat, sampleFormat: SampleFormat, frame: Frame, name: String) {
    self.format = format
    self.sampleFormat = sampleFormat
    self.frame = frame
    self.name = name
    direct = FrameConverter(format: format, sampleFormat: sampleFormat)
  }

  /// Frames between the places at which a run's frames begin; 0 where they begin anywhere.
  var stepFrames: Int64 { conversion == nil ? Int64(frame.frameCount) : 0 }

  /// A run begins.
  mutating func begin() { conversion = nil }

  /// Decodes what comes next of a run. Blocks. Timestamp and count are in frames of `format`.
  ///
  /// Errors: those of `SegmentRun.next`; `conversionFailed`.
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

  /// Hands over part of it.
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
  /// The timestamp of the run's first frame, in frames as they go in; nil where there are none.
  private var origin: Int64?
  private var inCount: Int64 = 0
  private var outCount: Int64 = 0
  /// What went in last, and how much of it has been converted.
  private var incoming: [Float] = []
  private var convertedCount = 0
  /// What came out last.
  private var samples: [Float] = []

  /// Frames that are converted at once: a stream may say that it has one a second.
  private static let pieceFrames = 1_024

  /// Errors: `unsupportedAudioFormat`, `conversionFailed`.
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

  /// A frame goes in. Errors: `conversionFailed`, `unsupportedAudioFormat`.
  func take(_ frame: Frame, count: Int, timestamp: Int64?, _ name: String) throws(MediaError) {
    if let timestamp, let first = origin {
      // Timestamps that jump take what follows with them.
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

  /// What comes out of a piece of what went in; nil when more has to go in.
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

  /// What is still inside at the run's end; nil when nothing is.
  func drain() throws(MediaError) -> SegmentRun.Result? {
    try collect(atMost: 4_096) { (room, capacity) throws(MediaError) -> Int in
      try converter.drain(into: room, capacityFrames: capacity)
    }
  }

  /// Gathers what comes out, piece by piece.
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

  /// Where what comes out next lies, when the run's first frame has that timestamp; nil when that is beyond all times.
  private func place(_ origin: Int64) -> Int64? {
    let start = MediaTime(frame: origin, rate: input.sampleRateHz).frameIndex(
      rate: output.sampleRateHz, rounding: .halfAwayFromZero)
    guard let start, abs(start) < 1 << 60 else { return nil }
    return start + outCount
  }

  /// Errors: `conversionFailed`.
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
