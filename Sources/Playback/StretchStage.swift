import MediaAssets
import MediaCore
import TimeStretch

/// What stands between an item and the stream that it is written into: sound of one format goes in, sound of the
/// stream's comes out, as one unbroken stream wherever the pieces were cut.
protocol SoundConverter: AnyObject {
  /// What goes in.
  var input: AudioFormat { get }

  /// Puts `frameCount` frames in and writes what comes out; what does not fit comes out of the next call. Fewer frames
  /// than `capacityFrames` say that nothing more is inside that could come out.
  func convert(
    _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> Int

  /// Ends the stream: writes what is still inside; call until it answers 0.
  func drain(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int
}

extension AudioConverter: SoundConverter {}

/// Plays faster or slower and keeps the pitch: brings sound to the stream's format, and stretches it there.
///
/// Output frame `n` stands for the place `n * speed` frames of the stream's rate behind the one that it begins with,
/// exactly; what is really heard there lies beside it by the stretcher's displacement, which does not grow. Passes that follow
/// each other go through one stage, of whatever formats they are, so that no seam is heard. A beginning in the middle of an item is
/// given what lies in front of it, and is heard as if the item had been playing.
///
/// Threading: the decode thread only.
final class StretchStage: SoundConverter {
  private(set) var input: AudioFormat
  let algorithm: TimeStretchAlgorithm
  private let output: AudioFormat
  private let stretcher: any TimeStretcher
  /// nil where the item has the stream's format already.
  private var converter: AudioConverter?
  /// Frames of the stream's rate that lie in front of the first one that is heard, and have not come by yet.
  private var historyFramesMissing = 0
  private var history: [Float] = []
  private var isFinished = false
  /// Frames of the stream's rate that what went in stands for, behind the first one that is heard; and how many of them have
  /// gone into the stretcher.
  private var place = ExactPlace()
  private var stretchedCount: Int64 = 0
  private var scratch: [Float] = []

  /// Frames converted at once.
  private static let pieceFrames = 4_096

  /// A stage for a pass that is heard from its item's beginning on, or that another one precedes.
  /// Errors: `unsupportedRate` where this build, or the library at this rate, has no such thing; `conversionFailed`.
  init(
    from input: AudioFormat, to output: AudioFormat, algorithm: TimeStretchAlgorithm, speed: StretchSpeed
  ) throws(MediaError) {
    self.input = input
    self.algorithm = algorithm
    self.output = output
    stretcher = try algorithm.makeStretcher(format: output, speed: speed)
    if input != output { converter = try AudioConverter(from: input, to: output) }
  }

  /// What goes in from now on begins a pass, be it of another format. What the resampler holds of the one before comes first,
  /// up to its end, which is carried without rounding; the stretcher goes on. Errors: `conversionFailed`; then the pass is
  /// not begun.
  func goOn(with input: AudioFormat) throws(MediaError) {
    guard input != self.input else { return }
    let next = input == output ? nil : try AudioConverter(from: input, to: output)
    if historyFramesMissing > 0 { try endHistory() }
    if let converter {
      let drain = { (output: UnsafeMutablePointer<Float>, capacity: Int) throws(MediaError) -> Int in
        try converter.drain(into: output, capacityFrames: capacity)
      }
      try pass(through: converter, drain, andThen: drain)
    }
    try padToPlace()
    converter = next
    self.input = input
  }

  /// What the resampler lacks at an end is silence.
  private func padToPlace() throws(MediaError) {
    let missing = Int(clamping: place.roundedUp - stretchedCount)
    guard missing > 0 else { return }
    let silence = [Float](repeating: 0, count: missing * output.channelCount)
    try silence.withUnsafeBufferPointer { silence throws(MediaError) in
      if let base = silence.baseAddress { try put(base, missing) }
    }
  }

  // MARK: - Beginning in the middle

  /// The item's frame from which on it has to be read for `frame` to be heard first.
  func historyStart(before frame: Int64) -> Int64 {
    let wanted = Int128(stretcher.historyFrameCount) * Int128(input.sampleRateHz)
    let (whole, rest) = wanted.quotientAndRemainder(dividingBy: Int128(output.sampleRateHz))
    let inFront = max(0, frame - Int64(clamping: whole) - (rest > 0 ? 1 : 0))
    return converter == nil ? inFront : AudioConverter.historyStart(before: inFront, from: input, to: output)
  }

  /// What goes in begins at the item's frame `start`; heard it is from frame `heard` on, which is counted from the item's
  /// beginning at the stream's rate and is not before `start`. `first` is the item's frame there, or the one before.
  /// Called once, before anything goes in.
  func begin(readingFrom start: Int64, first: Int64, heardFrom heard: Int64) throws(MediaError) {
    place = ExactPlace(frame: -heard)
    place.advance(by: start, ofRate: input.sampleRateHz, inRate: output.sampleRateHz)
    guard converter != nil else {
      historyFramesMissing = Int(clamping: heard - start)
      return
    }
    // As much of the history as is behind where the resampler has come into its own.
    let wanted = max(start, historyBeginning(before: first))
    let made = try AudioConverter(from: input, to: output, historyStart: start, firstInputFrame: wanted)
    historyFramesMissing = Int(clamping: max(0, heard - made.firstOutputFrame))
    converter = made
  }

  /// The first frame that the stretcher likes to know.
  private func historyBeginning(before frame: Int64) -> Int64 {
    let wanted = Int128(stretcher.historyFrameCount) * Int128(input.sampleRateHz) / Int128(output.sampleRateHz)
    return max(0, frame - Int64(clamping: wanted))
  }

  /// The frame of the output's rate at or behind the item's frame.
  static func outputFrame(at frame: Int64, from input: AudioFormat, to output: AudioFormat) -> Int64 {
    var place = ExactPlace()
    place.advance(by: frame, ofRate: input.sampleRateHz, inRate: output.sampleRateHz)
    return place.roundedUp
  }

  // MARK: - Sound

  func convert(
    _ samples: UnsafePointer<Float>, frameCount: Int, into output: UnsafeMutablePointer<Float>, capacityFrames: Int
  ) throws(MediaError) -> Int {
    if frameCount > 0 {
      place.advance(by: Int64(frameCount), ofRate: input.sampleRateHz, inRate: self.output.sampleRateHz)
      if let converter {
        try pass(through: converter) { output, capacity throws(MediaError) in
          try converter.convert(samples, frameCount: frameCount, into: output, capacityFrames: capacity)
        } andThen: { output, capacity throws(MediaError) in
          try converter.convert(samples, frameCount: 0, into: output, capacityFrames: capacity)
        }
      } else {
        try put(samples, frameCount)
      }
    }
    return stretcher.take(into: output, capacityFrames: capacityFrames)
  }

  func drain(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) throws(MediaError) -> Int {
    if !isFinished {
      isFinished = true
      if let converter {
        let drain = { (output: UnsafeMutablePointer<Float>, capacity: Int) throws(MediaError) -> Int in
          try converter.drain(into: output, capacityFrames: capacity)
        }
        try pass(through: converter, drain, andThen: drain)
      }
      if historyFramesMissing > 0 { try endHistory() }
      try stretcher.finish()
    }
    return stretcher.take(into: output, capacityFrames: capacityFrames)
  }

  /// Stretches what `first` gives, and then `andThen` until it gives nothing.
  private func pass(
    through converter: AudioConverter,
    _ first: (UnsafeMutablePointer<Float>, Int) throws(MediaError) -> Int,
    andThen next: (UnsafeMutablePointer<Float>, Int) throws(MediaError) -> Int
  ) throws(MediaError) {
    if scratch.isEmpty { scratch = [Float](repeating: 0, count: Self.pieceFrames * output.channelCount) }
    try scratch.withUnsafeMutableBufferPointer { buffer throws(MediaError) in
      guard let base = buffer.baseAddress else { return }
      var count = try first(base, Self.pieceFrames)
      while count > 0 {
        try put(base, count)
        count = try next(base, Self.pieceFrames)
      }
    }
  }

  /// Puts frames of the stream's format into the stretcher; the first ones are what lies in front of what is heard, and what a
  /// resampler gives behind the end of what went in is left out.
  private func put(_ samples: UnsafePointer<Float>, _ frameCount: Int) throws(MediaError) {
    let passed = min(historyFramesMissing, frameCount)
    if passed > 0 {
      history.append(contentsOf: UnsafeBufferPointer(start: samples, count: passed * output.channelCount))
      historyFramesMissing -= passed
      if historyFramesMissing == 0 { try endHistory() }
    }
    let count = min(frameCount - passed, Int(clamping: place.roundedUp - stretchedCount))
    guard count > 0 else { return }
    stretchedCount += Int64(count)
    try stretcher.put(samples + passed * output.channelCount, frameCount: count)
  }

  private func endHistory() throws(MediaError) {
    historyFramesMissing = 0
    let channelCount = output.channelCount
    try history.withUnsafeBufferPointer { buffer throws(MediaError) in
      if let base = buffer.baseAddress { try stretcher.putHistory(base, frameCount: buffer.count / channelCount) }
    }
    history = []
  }
}
