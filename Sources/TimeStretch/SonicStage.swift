import CSonic
import MediaCore

/// A Sonic stream that is kept at its place.
///
/// Sonic counts pitch periods in whole samples, and what it rounds away adds up: seconds an hour above twice the speed, and
/// a tenth of everything at 16. So it is fed in small pieces, and in front of each its speed is set to what brings its
/// output back to where it should be. How many frames it holds back is not known; that they are 1.6 to 1.8 of its longest
/// periods on average is measured, and so are the gains.
///
/// Sonic works in 16 bits: samples beyond ±1 are clipped, and nothing finer than 1/32767 passes.
final class SonicStage {
  private let stream: sonicStream
  private let channelCount: Int
  private let sampleRateHz: Double
  private let speed: Double
  /// Frames put at once.
  private let pieceFrames: Int
  /// Frames that Sonic holds back on average.
  private let heldFrames: Double
  private var inputCount: Int64 = 0
  private var outputCount: Int64 = 0
  private var clipped: [Float] = []

  /// Sonic's longest period is the rate over this.
  private static let lowestPitchHz = Int(SONIC_MIN_PITCH)

  /// Errors: `conversionFailed` when there is no memory for it.
  init(format: AudioFormat, speed: Double) throws(MediaError) {
    guard let stream = sonicCreateStream(Int32(format.sampleRateHz), Int32(format.channelCount)) else {
      throw MediaError(.conversionFailed, "there is no memory for a time stretcher", operation: "sonicCreateStream")
    }
    self.stream = stream
    channelCount = format.channelCount
    sampleRateHz = Double(format.sampleRateHz)
    self.speed = speed
    pieceFrames = min(512, max(64, Int(512 * speed)))
    let heldPeriods = speed <= 0.5 ? 1.8 : speed < 2 ? 1.7 : 1.6
    heldFrames = heldPeriods * Double(format.sampleRateHz / Self.lowestPitchHz)
  }

  deinit { sonicDestroyStream(stream) }

  /// Puts frames in, and hands on what comes out: interleaved, until `output` returns.
  func put(
    _ samples: UnsafePointer<Float>, frameCount: Int, output: (UnsafePointer<Float>, Int) throws(MediaError) -> Void
  ) throws(MediaError) {
    var done = 0
    while done < frameCount {
      let count = min(pieceFrames, frameCount - done)
      sonicSetSpeed(stream, Float(nextSpeed))
      clipped.removeAll(keepingCapacity: true)
      let piece = UnsafeBufferPointer(start: samples + done * channelCount, count: count * channelCount)
      // A sample that is no number is silence.
      clipped.append(contentsOf: piece.lazy.map { $0.isNaN ? 0 : max(-1, min(1, $0)) })
      let isWritten = clipped.withUnsafeMutableBufferPointer {
        sonicWriteFloatToStream(stream, $0.baseAddress, Int32(count))
      }
      guard isWritten != 0 else { throw Self.failure("sonicWriteFloatToStream") }
      inputCount += Int64(count)
      done += count
      try read(output)
    }
  }

  /// Gives what is still inside.
  func finish(output: (UnsafePointer<Float>, Int) throws(MediaError) -> Void) throws(MediaError) {
    guard sonicFlushStream(stream) != 0 else { throw Self.failure("sonicFlushStream") }
    try read(output)
  }

  private func read(_ output: (UnsafePointer<Float>, Int) throws(MediaError) -> Void) throws(MediaError) {
    let available = Int(sonicSamplesAvailable(stream))
    guard available > 0 else { return }
    var samples = [Float](repeating: 0, count: available * channelCount)
    let count = Int(
      samples.withUnsafeMutableBufferPointer { sonicReadFloatFromStream(stream, $0.baseAddress, Int32(available)) })
    outputCount += Int64(count)
    samples.removeLast((available - count) * channelCount)
    try Self.hand(samples, count, to: output)
  }

  private static func hand(
    _ samples: [Float], _ frameCount: Int, to output: (UnsafePointer<Float>, Int) throws(MediaError) -> Void
  ) throws(MediaError) {
    try samples.withUnsafeBufferPointer { buffer throws(MediaError) in
      if let base = buffer.baseAddress { try output(base, frameCount) }
    }
  }

  /// The speed that brings the output back to its place.
  private var nextSpeed: Double {
    /// By how many seconds what came out is too long.
    let surplus = (Double(outputCount) - (Double(inputCount) - heldFrames) / speed) / sampleRateHz
    switch speed {
    case ...0.5: return speed * min(4, max(0.5, 1 + 15 * surplus))
    case 2...: return speed * min(4, max(0.5, 1 + 30 * surplus))
    default:
      // Sonic copies what lies between two changes, a hundred periods at 1.01: it is how often it changes that can be
      // corrected, and not the direction.
      let correction = speed < 1 ? -surplus : surplus
      return 1 + (speed - 1) * min(1.5, max(0.5, 1 + correction / 0.1))
    }
  }

  private static func failure(_ call: String) -> MediaError {
    MediaError(.conversionFailed, "the sound could not be stretched", operation: call)
  }
}
