import PlayheadMediaCore
import PlayheadTimeStretch
import RigSupport
import Testing

@testable import PlayheadPlayback

/// The stage alone: an item's frames after the resampler and the stretcher.
@Suite struct StretchStageTests {
  private static let algorithms = TimeStretchAlgorithm.allCases.filter(\.isAvailable)
  private static let mono44 = AudioFormat(sampleRateHz: 44_100, channelCount: 1)
  private static let mono48 = AudioFormat(sampleRateHz: 48_000, channelCount: 1)
  /// The displacement limit of a stretcher, in ms.
  private static func limit(_ algorithm: TimeStretchAlgorithm) -> Double { algorithm == .timeDomain ? 20 : 50 }

  /// The whole output for `input` in chunks of `chunkSize` frames.
  private func run(_ stage: StretchStage, _ input: some Collection<Float>, chunkSize: Int = 1_000) throws -> [Float] {
    let input = Array(input)
    var output: [Float] = []
    var scratch = [Float](repeating: 0, count: 777)
    func appendAll(_ produce: (UnsafeMutablePointer<Float>, Int) throws -> Int) throws {
      var count = scratch.count
      while count > 0 {
        count = try scratch.withUnsafeMutableBufferPointer { buffer in
          try buffer.baseAddress.map { try produce($0, buffer.count) } ?? 0
        }
        output.append(contentsOf: scratch[..<count])
      }
    }
    try input.withUnsafeBufferPointer { buffer in
      let base = try #require(buffer.baseAddress)
      var done = 0
      while done < buffer.count {
        var count = min(chunkSize, buffer.count - done)
        let start = base + done
        done += count
        try appendAll { scratch, capacity in
          defer { count = 0 }
          return try stage.convert(start, frameCount: count, into: scratch, capacityFrames: capacity)
        }
      }
    }
    try appendAll { scratch, capacity in try stage.drain(into: scratch, capacityFrames: capacity) }
    return output
  }

  @Test(arguments: algorithms)
  func audioInTheStreamFormatIsStretchedWithoutResampling(_ algorithm: TimeStretchAlgorithm) throws {
    let rate = try StretchRate(3, over: 2)
    let input = tone(441, frameCount: 30_001)
    let stage = try StretchStage(from: Self.mono44, to: Self.mono44, algorithm: algorithm, rate: rate)
    let output = try run(stage, input, chunkSize: 1_000)
    #expect(output.count == 20_001)
    #expect(abs(pitch(of: output[4_000..<16_000]) - 441) < 2)
    // Compared outside #expect, which would print all samples.
    let isSame = try output == stretched(input, algorithm, rate, chunkSize: 1_000)
    #expect(isSame, "the output is that of the stretcher alone")
  }

  /// The whole output of the stretcher alone for `input` in chunks of `chunkSize` frames.
  private func stretched(
    _ input: [Float], _ algorithm: TimeStretchAlgorithm, _ rate: StretchRate, chunkSize: Int
  ) throws -> [Float] {
    let stretcher = try algorithm.makeStretcher(format: Self.mono44, rate: rate)
    var output: [Float] = []
    var scratch = [Float](repeating: 0, count: 1_000)
    func appendAll() {
      while true {
        let count = scratch.withUnsafeMutableBufferPointer { buffer in
          buffer.baseAddress.map { stretcher.read(into: $0, capacityFrames: buffer.count) } ?? 0
        }
        if count == 0 { return }
        output.append(contentsOf: scratch[..<count])
      }
    }
    try input.withUnsafeBufferPointer { buffer in
      let base = try #require(buffer.baseAddress)
      for start in stride(from: 0, to: buffer.count, by: chunkSize) {
        try stretcher.write(base + start, frameCount: min(chunkSize, buffer.count - start))
        appendAll()
      }
    }
    try stretcher.finish()
    appendAll()
    return output
  }

  @Test(arguments: algorithms)
  func audioInAnotherFormatIsConvertedToTheStreamFormat(_ algorithm: TimeStretchAlgorithm) throws {
    let stage = try StretchStage(
      from: Self.mono44, to: AudioFormat(sampleRateHz: 48_000, channelCount: 2), algorithm: algorithm,
      rate: StretchRate(2))
    let output = try runMonoToStereo(stage, tone(441, frameCount: 44_100))
    // The writer of the stream cuts off the output of the resampler after the end.
    #expect((24_000..<24_100).contains(output.count))
    #expect(abs(pitch(of: output[4_000..<20_000], sampleRateHz: 48_000) - 441) < 2)
  }

  /// The same for a stage with one input and two output channels; returns the first channel.
  private func runMonoToStereo(_ stage: StretchStage, _ input: [Float]) throws -> [Float] {
    var scratch = [Float](repeating: 0, count: 2 * 100_000)
    let count = try scratch.withUnsafeMutableBufferPointer { scratch in
      let output = try #require(scratch.baseAddress)
      return try input.withUnsafeBufferPointer { input in
        var count = try stage.convert(
          try #require(input.baseAddress), frameCount: input.count, into: output, capacityFrames: 100_000)
        count += try stage.drain(into: output + 2 * count, capacityFrames: 100_000 - count)
        return count
      }
    }
    return stride(from: 0, to: 2 * count, by: 2).map { scratch[$0] }
  }

  @Test(arguments: algorithms, [mono44, mono48])
  func startInTheMiddleIsAtItsPositionWithoutAFadeIn(_ algorithm: TimeStretchAlgorithm, _ output: AudioFormat) throws {
    for (numerator, denominator) in [(2, 1), (1, 2), (8, 1)] as [(Int64, Int64)] {
      let rate = try StretchRate(numerator, over: denominator)
      let first: Int64 = 61_234
      // Bursts encode the position; a tone shows that nothing fades in.
      let train = BurstTrain(seconds: 6, rate: rate.value)
      let stage = try StretchStage(from: Self.mono44, to: output, algorithm: algorithm, rate: rate)
      let start = stage.historyStart(before: first)
      let heard = (first * Int64(output.sampleRateHz) + 44_099) / 44_100
      #expect(StretchStage.outputFrame(at: first, from: Self.mono44, to: output) == heard)
      try stage.start(readingFrom: start, firstItemFrame: first, firstOutputFrame: heard)
      let heardBursts = try run(stage, train.samples()[Int(start)...])
      var expectedTrain = train
      expectedTrain.sampleRateHz = output.sampleRateHz
      let displacements = expectedTrain.displacements(in: heardBursts, beginningAt: Double(heard)).dropFirst(2)
      #expect(displacements.allSatisfy { abs($0 ?? .infinity) <= Self.limit(algorithm) }, "\(displacements)")

      let second = try StretchStage(from: Self.mono44, to: output, algorithm: algorithm, rate: rate)
      try second.start(readingFrom: start, firstItemFrame: first, firstOutputFrame: heard)
      let heardTone = try run(second, tone(441, frameCount: 130_000)[Int(start)...])
      let peak = heardTone[..<220].lazy.map(abs).max() ?? 0
      #expect(peak > 0.42 && peak < 0.58, "\(algorithm) at \(rate.value): \(peak)")
    }
  }

  @Test(arguments: algorithms)
  func passThatEndsInsideTheHistoryProducesNothing(_ algorithm: TimeStretchAlgorithm) throws {
    let stage = try StretchStage(
      from: Self.mono44, to: Self.mono44, algorithm: algorithm, rate: StretchRate(2))
    try stage.start(readingFrom: 0, firstItemFrame: 900, firstOutputFrame: 900)
    #expect(try run(stage, tone(441, frameCount: 500)).isEmpty)
  }

  #if !RubberBand
    @Test func spectralStageWithoutRubberBandIsAnError() throws {
      let rate = try StretchRate(2)
      expectError(.unsupportedRate) {
        try StretchStage(from: Self.mono44, to: Self.mono44, algorithm: .spectral, rate: rate)
      }
    }
  #endif
}
