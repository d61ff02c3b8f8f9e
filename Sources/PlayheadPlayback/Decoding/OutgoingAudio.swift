import Glibc
import PlayheadMediaCore
import PlayheadPlayerModel

/// The end of an item, which is mixed with the beginning of the next one in a cross-fade.
struct OutgoingAudio {
  /// Interleaved samples in the format of the stream.
  private let samples: [Float]
  private let channelCount: Int
  /// The gain of the samples relative to the stream's.
  private let gain: Float
  /// The frame of the stream at which the overlap begins, and the frame after its last.
  let firstFrame: Int64
  let endFrame: Int64
  private let curve: FadeCurve
  /// The number of frames of the cross-fade before the first one, and of the whole cross-fade.
  private let elapsedCount: Int64
  private let frameCount: Int64
  /// The lengths of the fades in frames.
  private let fadeOutCount: Int64
  private let fadeInCount: Int64

  init(
    _ samples: [Float], channelCount: Int, gain: Float, from firstFrame: Int64, elapsed: Int64, crossfade: Crossfade,
    sampleRateHz: Int
  ) {
    self.samples = samples
    self.channelCount = channelCount
    self.gain = gain
    self.firstFrame = firstFrame
    endFrame = firstFrame + Int64(samples.count / channelCount)
    let frameCount = elapsed + (endFrame - firstFrame)
    (elapsedCount, self.frameCount) = (elapsed, frameCount)
    curve = crossfade.curve
    func length(_ duration: MediaTime?) -> Int64 {
      min(frameCount, duration?.frameIndex(rate: sampleRateHz, rounding: .towardPositiveInfinity) ?? frameCount)
    }
    fadeOutCount = length(crossfade.fadeOutDuration)
    fadeInCount = length(crossfade.fadeInDuration)
  }

  /// Mixes frames of the next item, from `frame` of the stream on, with this audio, in place.
  func mix(into next: UnsafeMutablePointer<Float>, at frame: Int64, frameCount: Int) {
    let first = frame - firstFrame
    let last = min(first + Int64(frameCount), endFrame - firstFrame)
    guard first < last else { return }
    samples.withUnsafeBufferPointer { outgoing in
      for offset in first..<last {
        let (outGain, inGain) = gains(atOffset: elapsedCount + offset)
        for channel in 0..<channelCount {
          let index = Int(offset - first) * channelCount + channel
          next[index] = next[index] * inGain + outgoing[Int(offset) * channelCount + channel] * outGain * gain
        }
      }
    }
  }

  /// The gains of both items at a frame of the cross-fade, counted from 0.
  func gains(atOffset offset: Int64) -> (out: Float, in: Float) {
    let outOffset = offset - (frameCount - fadeOutCount)
    return (
      outOffset > 0 ? curve.fallingGain(Float(outOffset) / Float(fadeOutCount)) : 1,
      offset < fadeInCount ? curve.risingGain(Float(offset) / Float(fadeInCount)) : 1
    )
  }
}

extension FadeCurve {
  /// The gain of a fade-in after a part of its length, from 0 to 1.
  func risingGain(_ part: Float) -> Float {
    switch self {
    case .linear: part
    case .equalPower: sinf(part * .pi / 2)
    case .sCurve: (1 - cosf(part * .pi)) / 2
    }
  }

  /// The gain of a fade-out after a part of its length.
  func fallingGain(_ part: Float) -> Float {
    switch self {
    case .linear: 1 - part
    case .equalPower: cosf(part * .pi / 2)
    case .sCurve: (1 + cosf(part * .pi)) / 2
    }
  }
}
