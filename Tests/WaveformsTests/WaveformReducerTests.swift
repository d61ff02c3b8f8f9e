import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadWaveforms

/// The reducer, its bin edges and its zoom levels.
@Suite struct WaveformReducerTests {
  private func noise(_ frameCount: Int, _ channelCount: Int) -> [Int16] {
    var state: UInt64 = 7
    return (0..<frameCount * channelCount).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int16(truncatingIfNeeded: state >> 40)
    }
  }

  private func reduced(
    _ pcm: [Int16], _ channelCount: Int, _ scale: WaveformScale, chunkSizes: [Int]
  ) throws -> Waveform? {
    let samples = pcm.map { Float($0) / 32_768 }
    let frameCount = pcm.count / channelCount
    var reducer = WaveformReducer(channelCount: channelCount, scale: scale, frameCount: Int64(frameCount))
    var (done, chunk) = (0, 0)
    while done < frameCount {
      let count = min(chunkSizes[chunk % chunkSizes.count], frameCount - done)
      try samples.withUnsafeBufferPointer { buffer in
        let base = try #require(buffer.baseAddress)
        try reducer.add(base + done * channelCount, frameCount: count)
      }
      done += count
      chunk += 1
    }
    return try reducer.finish(sampleRateHz: 48_000, firstFrame: 0)
  }

  @Test(arguments: [1, 2, 3, 4, 6, 8]) func everyBinHasItsExtremesAndRMS(channelCount: Int) throws {
    let pcm = noise(2_503, channelCount)
    for scale in [WaveformScale.bins(1), .bins(7), .bins(100), .bins(2_503), .framesPerBin(1), .framesPerBin(64)] {
      for chunkSizes in [[2_503], [1, 7, 64, 1_000]] {
        let found = try #require(try reduced(pcm, channelCount, scale, chunkSizes: chunkSizes))
        let edges = (0...found.binCount).map { index in
          if case .bins(let count) = scale { index * 2_503 / count } else { min(2_503, Int(found.edge(index))) }
        }
        let expected = PlainWaveform(pcm, channelCount: channelCount, edges: edges)
        #expect((0...found.binCount).map { Int(found.edge($0)) } == edges)
        #expect(found.minima.map { Int($0 * 32_768) } == expected.minima, "\(scale)")
        #expect(found.maxima.map { Int($0 * 32_768) } == expected.maxima, "\(scale)")
        #expect(zip(found.rms, expected.squares).allSatisfy { abs(Double($0) - $1) < 1e-6 }, "\(scale)")
      }
    }
  }

  @Test func edgesAreExactForAnyDuration() {
    let frameCount = Int64(3_000_000_000_000_007)
    let scale = WaveformScale.bins(999_983)
    for index in [0, 1, 499_991, 999_982, 999_983] {
      #expect(scale.edge(index, frameCount: frameCount) == Int64(Int128(index) * Int128(frameCount) / 999_983))
    }
    #expect(WaveformScale.framesPerBin(256).edge(.max, frameCount: 1_000) == 1_000)
    #expect(WaveformScale.framesPerBin(256).binCount(frameCount: 257) == 2)
    #expect(WaveformScale.framesPerBin(256).binCount(frameCount: 0) == 0)
  }

  @Test func zoomLevelEqualsADirectReduction() throws {
    let pcm = noise(10_007, 2)
    let fine = try #require(try reduced(pcm, 2, .framesPerBin(16), chunkSizes: [500]))
    let coarse = try #require(fine.reduced(by: 8))
    let read = try #require(try reduced(pcm, 2, .framesPerBin(128), chunkSizes: [500]))
    #expect(coarse.scale == .framesPerBin(128) && coarse.minima == read.minima && coarse.maxima == read.maxima)
    #expect(zip(coarse.rms, read.rms).allSatisfy { abs($0 - $1) < 1e-6 })
    // The edges of a number of bins are rounded. They include the edges only of a divisor.
    let bins = try #require(try reduced(pcm, 2, .bins(96), chunkSizes: [500]))
    let dozen = try #require(try reduced(pcm, 2, .bins(12), chunkSizes: [500]))
    #expect(bins.reduced(by: 8)?.maxima == dozen.maxima)
    #expect(bins.reduced(by: 7) == nil)
    #expect(fine.reduced(by: Int(Int32.max)) == nil)
  }

  @Test func nanSamplesAreIgnored() throws {
    var reducer = WaveformReducer(channelCount: 1, scale: .framesPerBin(20), frameCount: nil)
    var samples: [Float] = Array(repeating: 0.25, count: 40)
    samples[3] = .nan
    samples[19] = .nan
    for index in 20..<40 { samples[index] = .nan }
    try samples.withUnsafeBufferPointer { try reducer.add(try #require($0.baseAddress), frameCount: 40) }
    let found = try #require(try reducer.finish(sampleRateHz: 8_000, firstFrame: 0))
    #expect(found.minima == [0.25, 0] && found.maxima == [0.25, 0])
    #expect(abs(found.rms[0] - Float(0.25 * (18.0 / 20).squareRoot())) < 1e-6 && found.rms[1] == 0)
  }

  @Test func tooManyBinsAreRejected() throws {
    var reducer = WaveformReducer(channelCount: 8, scale: .framesPerBin(1), frameCount: nil)
    let samples = [Float](repeating: 0, count: 8 * (Waveform.maximumPointCount / 8 + 1))
    expectError(.mediaLimitExceeded) {
      try samples.withUnsafeBufferPointer { buffer in
        try reducer.add(try #require(buffer.baseAddress), frameCount: samples.count / 8)
      }
    }
  }
}
