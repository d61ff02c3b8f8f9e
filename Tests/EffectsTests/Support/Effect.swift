import PlayheadEffects
import PlayheadMediaCore
import PlayheadPlayback

/// One of the effects with its settings, as an argument of tests.
enum Effect: Sendable, CustomStringConvertible {
  case equalizer(EqualizerSettings)
  case channelMatrix(ChannelMix)
  case compressor(CompressorSettings)
  case limiter(LimiterSettings)

  /// Each effect, with settings that change audio.
  static let all: [Effect] = [
    .equalizer(
      EqualizerSettings(
        bands: [
          EqualizerBand(.lowShelf, frequencyHz: 80, gainDecibels: 6),
          EqualizerBand(.peak, frequencyHz: 1_000, gainDecibels: -9, qFactor: 4),
          EqualizerBand(.lowPass, frequencyHz: 12_000),
        ], outputGainDecibels: -3)),
    .channelMatrix(.matrix([[0.75, -0.5], [0.125, 2]])),
    .compressor(CompressorSettings()),
    .limiter(LimiterSettings()),
  ]

  /// Makes the processor and prepares it.
  func processor(_ format: AudioFormat) throws(MediaError) -> any AudioProcessor {
    let processor: any AudioProcessor
    switch self {
    case .equalizer(let settings): processor = try ParametricEqualizer(settings)
    case .channelMatrix(let mix): processor = try ChannelMatrix(mix)
    case .compressor(let settings): processor = try Compressor(settings)
    case .limiter(let settings): processor = try PeakLimiter(settings)
    }
    try processor.prepare(format: format, maximumFrameCount: 4_096)
    return processor
  }

  var description: String {
    switch self {
    case .equalizer: "equalizer"
    case .channelMatrix: "channel matrix"
    case .compressor: "compressor"
    case .limiter: "limiter"
    }
  }
}

extension AudioProcessor {
  /// Processes a copy of interleaved samples, in chunks of at most `chunkFrames` frames.
  func output(of samples: [Float], channelCount: Int, chunkFrames: Int = 4_096) -> [Float] {
    var output = samples
    output.withUnsafeMutableBufferPointer { buffer in
      for first in stride(from: 0, to: buffer.count, by: chunkFrames * channelCount) {
        let end = min(buffer.count, first + chunkFrames * channelCount)
        var span = UnsafeMutableBufferPointer(rebasing: buffer[first..<end]).mutableSpan
        process(&span, at: .zero)
      }
    }
    return output
  }
}
