/// A queue of frames between a library and the caller of a `TimeStretcher`. The queue also ensures the exact output
/// length.
///
/// The output never exceeds the length that corresponds to the input, and matches it at the end: excess frames of the
/// library are discarded, missing frames are silence.
struct FrameQueue {
  let channelCount: Int
  let rate: StretchRate
  private var samples: [Float] = []
  /// The number of samples at the beginning of `samples` that have been read.
  private var readSampleCount = 0
  /// The number of frames that the library has delivered.
  private(set) var producedCount: Int64 = 0
  private var deliveredCount: Int64 = 0
  private(set) var inputCount: Int64 = 0
  private(set) var isFinished = false

  init(channelCount: Int, rate: StretchRate) {
    self.channelCount = channelCount
    self.rate = rate
  }

  /// Records `count` more input frames.
  mutating func countInput(_ count: Int) {
    precondition(!isFinished, "the stretcher is already finished")
    inputCount += Int64(count)
  }

  /// Appends `frameCount` frames, which `fill` writes, interleaved.
  mutating func append(_ frameCount: Int, _ fill: (UnsafeMutablePointer<Float>) -> Void) {
    if readSampleCount > 0 {
      samples.removeFirst(readSampleCount)
      readSampleCount = 0
    }
    let start = samples.count
    samples.append(contentsOf: repeatElement(0, count: frameCount * channelCount))
    samples.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { fill(base + start) }
    }
    producedCount += Int64(frameCount)
  }

  /// The number of output frames for the previous input that the library has not delivered yet.
  var missingCount: Int64 { max(0, rate.outputCount(of: inputCount) - producedCount) }

  /// Ends the queue: the library has delivered all its frames.
  mutating func finish() {
    if missingCount > 0 { append(Int(missingCount)) { _ in } }
    isFinished = true
  }

  /// Writes up to `capacityFrames` available frames to `output` and returns their number.
  mutating func read(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int {
    let available = min(producedCount, rate.outputCount(of: inputCount)) - deliveredCount
    let count = Int(min(Int64(capacityFrames), max(0, available)))
    guard count > 0 else { return 0 }
    samples.withUnsafeBufferPointer { buffer in
      if let base = buffer.baseAddress {
        output.update(from: base + readSampleCount, count: count * channelCount)
      }
    }
    readSampleCount += count * channelCount
    deliveredCount += Int64(count)
    return count
  }
}
