import Glibc

/// The first difference between two ranges of interleaved samples.
struct SampleDifference {
  /// Frame and channel of the sample, counted from the first frame that was compared.
  var frame: Int
  var channel: Int
  var expected: Float
  var found: Float
  /// The largest difference of a sample.
  var largest: Float

  /// Compares samples of the same count; nil if they agree.
  ///
  /// - Parameter tolerance: the largest difference that counts as equal. 0 compares bit by bit, except for the sign of
  ///   0.
  init?(
    expected: UnsafeBufferPointer<Float>, found: UnsafeBufferPointer<Float>, channelCount: Int, tolerance: Float
  ) {
    let count = min(expected.count, found.count)
    guard count > 0, let left = expected.baseAddress, let right = found.baseAddress,
      memcmp(left, right, count * MemoryLayout<Float>.size) != 0
    else { return nil }
    var (first, largest): (Int?, Float) = (nil, 0)
    for index in 0..<count {
      let difference = abs(left[index] - right[index])
      // NaN differs from every number, and equals NaN.
      guard !(difference <= tolerance), !(left[index].isNaN && right[index].isNaN) else { continue }
      first = first ?? index
      largest = difference.isNaN ? .infinity : max(largest, difference)
    }
    guard let first else { return nil }
    (frame, channel) = (first / channelCount, first % channelCount)
    (self.expected, self.found, self.largest) = (left[first], right[first], largest)
  }

  /// A text such as `sample 0.25 (frame 17, channel 0)`.
  func expectedText(from start: Int) -> String {
    "sample \(expected) (frame \(start + frame), channel \(channel))"
  }

  /// A text such as `0.5; largest difference 0.25; these samples belong to frame 145 (128 late)`.
  ///
  /// - Parameters:
  ///   - heard: the samples that were found.
  ///   - whole: all samples of the file.
  ///   - start: the frame of `whole` that `heard` should begin with.
  func foundText(_ heard: UnsafeBufferPointer<Float>, in whole: SampleStore, from start: Int) -> String {
    var text = "\(found); largest difference \(largest)"
    let end = min(heard.count, (frame + SampleSearch.frameCount) * whole.channelCount)
    let range = UnsafeBufferPointer(rebasing: heard[min(frame * whole.channelCount, end)..<end])
    if range.allSatisfy({ $0 == 0 }) {
      text += "; \(range.count / whole.channelCount) frames or more of digital silence"
    } else if let offset = SampleSearch.offset(of: range, in: whole, near: start + frame), offset != 0 {
      let distance = offset > 0 ? "\(offset) late" : "\(-offset) early"
      text += "; these samples belong to frame \(start + frame + offset) (\(distance))"
    }
    return text
  }
}

/// Finds the origin of samples.
enum SampleSearch {
  /// Frames that are compared at each offset, and the minimum for identifying a position.
  static let frameCount = 512
  private static let minimumFrameCount = 64
  /// The largest offset, in frames. Ten MP3 frames, or five blocks of Vorbis.
  private static let maximumOffset = 12_000

  /// The offset from `frame` at which `samples` occur in `whole`, in frames; nil if they do not occur near it.
  ///
  /// - Parameter noiseShare: the share of the energy by which the samples may differ.
  static func offset(
    of samples: UnsafeBufferPointer<Float>, in whole: SampleStore, near frame: Int, noiseShare: Float = 0.02
  ) -> Int? {
    let channelCount = whole.channelCount
    let count = min(samples.count, frameCount * channelCount)
    guard count >= minimumFrameCount * channelCount else { return nil }
    // Only audio above this level identifies a position.
    let energy = samples.prefix(count).reduce(Float(0)) { $0 + $1 * $1 }
    guard energy > 1e-6 * Float(count) else { return nil }
    return whole.withSamples { whole in
      var (smallest, best): (Float, Int?) = (energy * noiseShare, nil)
      for step in 0...(2 * maximumOffset) {
        let offset = step % 2 == 0 ? step / 2 : -(step + 1) / 2
        let start = (frame + offset) * channelCount
        guard start >= 0, start + count <= whole.count else { continue }
        var (sum, index): (Float, Int) = (0, 0)
        // The search skips an offset as soon as it is worse than the best one.
        while index < count, sum < smallest {
          let difference = samples[index] - whole[start + index]
          sum += difference * difference
          index += 1
        }
        if sum < smallest { (smallest, best) = (sum, offset) }
        if sum == 0 { break }
      }
      return best
    }
  }
}
