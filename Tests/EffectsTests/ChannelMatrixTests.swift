import MediaTesting
import PlayheadEffects
import PlayheadMediaCore
import RigSupport
import Testing

/// Mixing of channels.
@Suite struct ChannelMatrixTests {
  @Test(arguments: [
    (ChannelMix.mono, [0.5, 0.25] as [Float], [0.375, 0.375] as [Float]),
    (.mono, [0.5], [0.5]),
    (.mono, [1, 0, 0.5, -0.5], [0.25, 0.25, 0.25, 0.25]),
    (.swapLeftAndRight, [0.1, 0.2], [0.2, 0.1]),
    (.swapLeftAndRight, [0.1], [0.1]),
    (.swapLeftAndRight, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.2, 0.1, 0.3, 0.4, 0.5, 0.6]),
    (.left, [0.1, 0.2], [0.1, 0.1]),
    (.left, [0.1], [0.1]),
    (.left, [0.1, 0.2, 0.3], [0.1, 0.1, 0.3]),
    (.right, [0.1, 0.2], [0.2, 0.2]),
    (.right, [0.1], [0.1]),
    (.right, [0.1, 0.2, 0.3], [0.2, 0.2, 0.3]),
    (.gains([0.5, -2]), [0.5, 0.25], [0.25, -0.5]),
    (.gains([0, 1, 2]), [0.5, 0.25, 0.125], [0, 0.25, 0.25]),
    (.matrix([[0.5, 0.5], [0, 0]]), [0.5, 0.25], [0.375, 0]),
    (.matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]]), [0.1, 0.2, 0.3], [0.2, 0.3, 0.1]),
    (.mono, [.nan, 0.5], [0.25, 0.25]),
    (.gains([1, 1]), [.infinity, 0.5], [0, 0.5]),
  ])
  func framesAreMixed(mix: ChannelMix, input: [Float], expected: [Float]) throws {
    let matrix = try Effect.channelMatrix(mix).processor(
      AudioFormat(sampleRateHz: 44_100, channelCount: input.count))
    let output = matrix.output(of: input + input, channelCount: input.count)
    print(mix, input, output)
    #expect(output == expected + expected)
    #expect(matrix.historyFrameCount == 0 && matrix.latencyFrameCount == 0)
  }

  @Test(arguments: [1, 2, 3, 6, 8, 64])
  func randomMatricesAreExact(channelCount: Int) throws {
    var generator = SeededGenerator(seed: UInt64(channelCount))
    let rows = (0..<channelCount).map { _ in
      (0..<channelCount).map { _ in Double.random(in: -16...16, using: &generator) }
    }
    let matrix = try Effect.channelMatrix(.matrix(rows)).processor(
      AudioFormat(sampleRateHz: 48_000, channelCount: channelCount))
    let input = Signals.noise(frames: 50, channelCount: channelCount)
    let output = matrix.output(of: input, channelCount: channelCount)
    var wrongCount = 0
    for frame in 0..<50 {
      for (index, row) in rows.enumerated() {
        var sum = 0.0
        for channel in 0..<channelCount { sum += row[channel] * Double(input[frame * channelCount + channel]) }
        if output[frame * channelCount + index] != Float(sum) { wrongCount += 1 }
      }
    }
    print(channelCount, "channels:", wrongCount, "wrong samples")
    #expect(wrongCount == 0)
  }

  @Test(arguments: [
    (ChannelMix.gains([1, 1]), 6, "gains must be for 6 channels, as many as the item has (got 2)"),
    (.matrix([[1]]), 2, "matrix must be for 2 channels, as many as the item has (got 1)"),
  ])
  func anotherNumberOfChannelsIsRefused(mix: ChannelMix, channelCount: Int, message: String) {
    let error = expectError(.invalidArgument) {
      try Effect.channelMatrix(mix).processor(AudioFormat(sampleRateHz: 48_000, channelCount: channelCount))
    }
    print(message)
    #expect(error?.message == message)
  }
}
