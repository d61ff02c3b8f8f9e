/// Frames on their way out of a library, first in, first out, with the count that a `TimeStretcher` owes.
///
/// No more comes out than what has gone in stands for, and at the end exactly that: what the library has too much is cut,
/// what it lacks is silence.
struct FrameQueue {
  let channelCount: Int
  let speed: StretchSpeed
  private var samples: [Float] = []
  /// Samples at the beginning of `samples` that have been taken.
  private var takenSampleCount = 0
  /// Frames that the library gave.
  private(set) var producedCount: Int64 = 0
  private var deliveredCount: Int64 = 0
  private(set) var inputCount: Int64 = 0
  private(set) var isFinished = false

  init(channelCount: Int, speed: StretchSpeed) {
    self.channelCount = channelCount
    self.speed = speed
  }

  /// `count` more frames went in.
  mutating func didPut(_ count: Int) {
    precondition(!isFinished, "the stretcher was finished")
    inputCount += Int64(count)
  }

  /// Appends `frameCount` frames, which `fill` writes, interleaved.
  mutating func append(_ frameCount: Int, _ fill: (UnsafeMutablePointer<Float>) -> Void) {
    if takenSampleCount > 0 {
      samples.removeFirst(takenSampleCount)
      takenSampleCount = 0
    }
    let start = samples.count
    samples.append(contentsOf: repeatElement(0, count: frameCount * channelCount))
    samples.withUnsafeMutableBufferPointer { buffer in
      if let base = buffer.baseAddress { fill(base + start) }
    }
    producedCount += Int64(frameCount)
  }

  /// How many frames the library owes for what has gone in.
  var missingCount: Int64 { max(0, speed.outputCount(of: inputCount) - producedCount) }

  /// The library has given all it has.
  mutating func finish() {
    if missingCount > 0 { append(Int(missingCount)) { _ in } }
    isFinished = true
  }

  mutating func take(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int {
    let owed = min(producedCount, speed.outputCount(of: inputCount)) - deliveredCount
    let count = Int(min(Int64(capacityFrames), max(0, owed)))
    guard count > 0 else { return 0 }
    samples.withUnsafeBufferPointer { buffer in
      if let base = buffer.baseAddress {
        output.update(from: base + takenSampleCount, count: count * channelCount)
      }
    }
    takenSampleCount += count * channelCount
    deliveredCount += Int64(count)
    return count
  }
}
