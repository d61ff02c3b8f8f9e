import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadMediaAssets

/// Sample rate conversion: as one stream, and starting in the middle.
@Suite struct AudioConverterTests {
  /// Noise, so that every difference is detected.
  private static func noise(_ format: AudioFormat, frameCount: Int) -> [Float] {
    var random = SeededGenerator(seed: 7)
    return (0..<frameCount * format.channelCount).map { _ in Float.random(in: -0.5...0.5, using: &random) }
  }

  /// Converts `input` from a frame on to the end, in chunks and buffers of random size.
  private static func convert(
    _ input: [Float], from start: Int64, with converter: AudioConverter, seed: UInt64
  ) throws -> [Float] {
    var random = SeededGenerator(seed: seed)
    var output: [Float] = []
    let channels = converter.input.channelCount
    let buffer = UnsafeMutablePointer<Float>.allocate(capacity: 9_000 * converter.output.channelCount)
    defer { buffer.deallocate() }
    func collect(_ count: Int) {
      output += UnsafeBufferPointer(start: buffer, count: count * converter.output.channelCount)
    }
    try input.withUnsafeBufferPointer { input in
      let base = try #require(input.baseAddress)
      var frame = Int(start)
      while frame < input.count / channels {
        var count = min(Int.random(in: 1...5_000, using: &random), input.count / channels - frame)
        let chunk = base + frame * channels
        frame += count
        while true {
          let capacity = Int.random(in: 1...9_000, using: &random)
          let written = try converter.convert(chunk, frameCount: count, into: buffer, capacityFrames: capacity)
          collect(written)
          count = 0
          if written < capacity { break }
        }
      }
    }
    while true {
      let written = try converter.drain(into: buffer, capacityFrames: Int.random(in: 1...9_000, using: &random))
      if written == 0 { return output }
      collect(written)
    }
  }

  @Test(arguments: [
    (44_100, 48_000), (48_000, 44_100), (96_000, 48_000), (8_000, 48_000), (22_050, 48_000), (192_000, 44_100),
    (11_025, 48_000), (44_100, 96_000), (48_000, 8_000),
  ])
  func conversionFromTheMiddleEqualsConversionFromTheStart(_ from: Int, _ to: Int) throws {
    let (input, output) = (
      AudioFormat(sampleRateHz: from, channelCount: 1), AudioFormat(sampleRateHz: to, channelCount: 2)
    )
    let samples = Self.noise(input, frameCount: from)
    let whole = try Self.convert(samples, from: 0, with: try AudioConverter(from: input, to: output), seed: 1)
    var random = SeededGenerator(seed: UInt64(from))
    var targets = (0..<12).map { _ in Int64.random(in: 0..<Int64(from), using: &random) }
    targets += [0, 1, 31, 147, 160, Int64(from) - 1]
    for target in targets {
      let history = AudioConverter.historyStart(before: target, from: input, to: output)
      #expect(history <= target && (history == 0 || history * Int64(to) % Int64(from) == 0))
      let converter = try AudioConverter(from: input, to: output, historyStart: history, firstInputFrame: target)
      let first = Int((target * Int64(to) + Int64(from) - 1) / Int64(from))
      #expect(converter.firstOutputFrame == Int64(first))
      let part = try Self.convert(samples, from: history, with: converter, seed: UInt64(target))
      #expect(part.elementsEqual(whole[(first * 2)...]), "from frame \(target)")
    }
  }

  @Test func conversionWithoutHistoryDiffersAtItsStart() throws {
    let (input, output) = (
      AudioFormat(sampleRateHz: 44_100, channelCount: 1), AudioFormat(sampleRateHz: 48_000, channelCount: 1)
    )
    let samples = Self.noise(input, frameCount: 44_100)
    let whole = try Self.convert(samples, from: 0, with: try AudioConverter(from: input, to: output), seed: 1)
    // On the phase grid, but without preceding audio.
    let part = try Self.convert(
      samples, from: 14_700,
      with: try AudioConverter(from: input, to: output, historyStart: 14_700, firstInputFrame: 14_700),
      seed: 2)
    #expect(!part.elementsEqual(whole[16_000...]))
    #expect(part[200...].elementsEqual(whole[16_200...]), "equal after the length of the filter")
  }

  @Test func equalRatesNeedNoHistory() throws {
    let (mono, stereo) = (
      AudioFormat(sampleRateHz: 48_000, channelCount: 1), AudioFormat(sampleRateHz: 48_000, channelCount: 2)
    )
    #expect(AudioConverter.historyStart(before: 12_345, from: mono, to: stereo) == 12_345)
    let samples = Self.noise(mono, frameCount: 1_000)
    let output = try Self.convert(samples, from: 0, with: try AudioConverter(from: mono, to: stereo), seed: 3)
    #expect(output == samples.flatMap { [$0, $0] })
  }
}
