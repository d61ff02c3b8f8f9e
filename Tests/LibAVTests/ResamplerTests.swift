import Glibc
import MediaTesting
import Testing

@testable import PlayheadLibAV

@Suite struct ResamplerTests {
  /// Converts all of `input` in chunks and drains the resampler.
  private func convertAll<Sample>(
    _ resampler: Resampler, _ input: [Sample], chunkFrames: Int
  ) throws -> [Float] {
    let inputChannels = resampler.input.channelCount
    var output: [Float] = []
    var room = [Float](repeating: 0, count: 200_000)
    let capacity = room.count / resampler.outputChannelCount
    for start in stride(from: 0, to: input.count, by: chunkFrames * inputChannels) {
      let chunk = Array(input[start..<min(start + chunkFrames * inputChannels, input.count)])
      let count = try room.withUnsafeMutableBufferPointer { room in
        try chunk.withUnsafeBytes { bytes in
          try resampler.convert(
            try #require(bytes.baseAddress), frameCount: chunk.count / inputChannels,
            into: try #require(room.baseAddress), capacityFrames: capacity)
        }
      }
      output += room[..<(count * resampler.outputChannelCount)]
    }
    while true {
      let count = try room.withUnsafeMutableBufferPointer { room in
        try resampler.drain(into: try #require(room.baseAddress), capacityFrames: capacity)
      }
      if count == 0 { return output }
      output += room[..<(count * resampler.outputChannelCount)]
    }
  }

  /// swresample allocates and clears twice the requested space.
  @Test func requestedOutputIsLimitedToThePossibleOutput() throws {
    let resampler = try Resampler(
      input: SampleLayout(format: .float32, sampleRateHz: 44_100, channelCount: 2), outputSampleRateHz: 48_000,
      outputChannelCount: 2)
    let input = (0..<2_000).map { Float($0) / 2_000 }
    // 2 GB of address space; only written pages become memory.
    let capacity = 1 << 28
    let size = capacity * 2 * MemoryLayout<Float>.size
    let room = try #require(mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
    try #require(room != MAP_FAILED)
    defer { munmap(room, size) }
    #expect((1_000...1_200).contains(resampler.requestedFrameCount(forInput: 1_000, capacityFrames: capacity)))
    #expect(resampler.requestedFrameCount(forInput: 1_000, capacityFrames: 100) == 100)
    var count = 0
    let counts = AllocationProbe.count {
      count =
        input.withUnsafeBytes { bytes in
          bytes.baseAddress.flatMap {
            try? resampler.convert(
              $0, frameCount: 1_000, into: room.assumingMemoryBound(to: Float.self), capacityFrames: capacity)
          }
        } ?? 0
    }
    #expect(count > 900 && count <= 1_089)
    print("resampler: \(count) frames, \(counts.peakByteCount) bytes allocated at once")
    if AllocationProbe.isAvailable { #expect((1...1 << 20).contains(counts.peakByteCount)) }
  }

  @Test func sixteenBitSamplesConvertExactly() throws {
    let resampler = try Resampler(
      input: SampleLayout(format: .signed16, sampleRateHz: 44_100, channelCount: 1), outputSampleRateHz: 44_100,
      outputChannelCount: 1)
    let input = (Int(Int16.min)...Int(Int16.max)).map { Int16($0) }
    let output = try convertAll(resampler, input, chunkFrames: 999)
    #expect(output == input.map { Float($0) / 32_768 })
    #expect(resampler.delayInputFrames == 0)
  }

  @Test func twentyFourBitSamplesConvertExactly() throws {
    let resampler = try Resampler(
      input: SampleLayout(format: .signed32, sampleRateHz: 48_000, channelCount: 2), outputSampleRateHz: 48_000,
      outputChannelCount: 2)
    let input = stride(from: -8_388_608, to: 8_388_608, by: 1_001).map { Int32($0) << 8 } + [8_388_607 << 8]
    let even = Array(input.prefix(input.count & ~1))
    #expect(try convertAll(resampler, even, chunkFrames: 512) == even.map { Float($0 >> 8) / 8_388_608 })
  }

  @Test func floatSamplesBeyondFullScaleConvertExactly() throws {
    let resampler = try Resampler(
      input: SampleLayout(format: .float32, sampleRateHz: 8_000, channelCount: 1), outputSampleRateHz: 8_000,
      outputChannelCount: 1)
    let input: [Float] = [0, -0.0, 1, -1, 1.5, -3.25, .leastNonzeroMagnitude, 0.1]
    #expect(try convertAll(resampler, input, chunkFrames: 3) == input)
  }

  @Test func mixMatrixIsAppliedWithoutNormalization() throws {
    let mono = try Resampler(
      input: SampleLayout(format: .float32, sampleRateHz: 48_000, channelCount: 1), outputSampleRateHz: 48_000,
      outputChannelCount: 2, matrix: [1, 1])
    #expect(try convertAll(mono, [0.5, -0.25] as [Float], chunkFrames: 10) == [0.5, 0.5, -0.25, -0.25])
    let swap = try Resampler(
      input: SampleLayout(format: .signed16, sampleRateHz: 48_000, channelCount: 2), outputSampleRateHz: 48_000,
      outputChannelCount: 2, matrix: [0, 1, 1, 0])
    #expect(try convertAll(swap, [16_384, -8_192] as [Int16], chunkFrames: 10) == [-0.25, 0.5])
  }

  @Test(arguments: [(44_100, 48_000), (48_000, 44_100), (22_050, 48_000), (96_000, 44_100)])
  func outputDoesNotDependOnHowInputIsSplit(_ from: Int, _ to: Int) throws {
    let input = (0..<20_000).map { Float(($0 * 7_919) % 1_000) / 1_000 - 0.5 }
    func make() throws -> Resampler {
      try Resampler(
        input: SampleLayout(format: .float32, sampleRateHz: from, channelCount: 1), outputSampleRateHz: to,
        outputChannelCount: 1)
    }
    let whole = try convertAll(make(), input, chunkFrames: 20_000)
    #expect(abs(whole.count - 20_000 * to / from) <= 1)
    let resampler = try make()
    #expect(try convertAll(resampler, input, chunkFrames: 37) == whole)
    try resampler.reset()
    #expect(resampler.delayInputFrames == 0)
    #expect(try convertAll(resampler, input, chunkFrames: 4_096) == whole, "a reset restores the initial state")
  }

  @Test func invalidConversionsAreRejected() {
    let input = SampleLayout(format: .float32, sampleRateHz: 48_000, channelCount: 2)
    for (rate, channels) in [(0, 2), (48_000, 0), (48_000, 65), (48_000, 3), (-1, 2)] {
      #expect(throws: AVFailure.self) {
        _ = try Resampler(input: input, outputSampleRateHz: rate, outputChannelCount: channels)
      }
    }
    #expect(throws: AVFailure.self) {
      _ = try Resampler(input: input, outputSampleRateHz: 48_000, outputChannelCount: 2, matrix: [1])
    }
  }
}
