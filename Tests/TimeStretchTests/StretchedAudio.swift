import PlayheadMediaCore
import PlayheadTimeStretch

/// Stretches `input` (interleaved), which is written in chunks of the sizes `chunkSizes`, repeatedly, and read in
/// chunks of 1,000 frames.
func stretched(
  _ input: [Float], _ algorithm: TimeStretchAlgorithm, _ rate: StretchRate,
  format: AudioFormat = AudioFormat(sampleRateHz: 44_100, channelCount: 1), chunkSizes: [Int] = [4_096],
  history: [Float] = []
) throws -> [Float] {
  let stretcher = try algorithm.makeStretcher(format: format, rate: rate)
  let channelCount = format.channelCount
  var output: [Float] = []
  var chunk = [Float](repeating: 0, count: 1_000 * channelCount)
  func readAll() {
    while true {
      let count = chunk.withUnsafeMutableBufferPointer { buffer in
        buffer.baseAddress.map { stretcher.read(into: $0, capacityFrames: 1_000) } ?? 0
      }
      if count == 0 { return }
      output.append(contentsOf: chunk[..<(count * channelCount)])
    }
  }
  try history.withUnsafeBufferPointer { buffer in
    if let base = buffer.baseAddress { try stretcher.writeHistory(base, frameCount: buffer.count / channelCount) }
  }
  try input.withUnsafeBufferPointer { buffer in
    guard let base = buffer.baseAddress else { return }
    let frameCount = buffer.count / channelCount
    var done = 0
    var index = 0
    while done < frameCount {
      let count = min(chunkSizes[index % chunkSizes.count], frameCount - done)
      index += 1
      try stretcher.write(base + done * channelCount, frameCount: count)
      done += count
      readAll()
    }
  }
  try stretcher.finish()
  readAll()
  return output
}
