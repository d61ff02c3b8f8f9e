import Glibc

/// Comparisons of decoded samples, which are interleaved.
package enum SampleComparison {
  /// Returns the largest difference between samples, in steps of 16 bits, and the index of the sample that has it.
  ///
  /// - Parameters:
  ///   - start: index of the sample of `right` that is compared with the first one of `left`.
  ///   - count: samples to compare.
  package static func largestDifference(
    _ left: [Float], _ right: [Float], at start: Int, count: Int
  ) -> (difference: Float, index: Int) {
    left.withUnsafeBufferPointer { left in
      right.withUnsafeBufferPointer { right in
        guard count > 0, let left = left.baseAddress, let right = right.baseAddress.map({ $0 + start }) else {
          return (0, 0)
        }
        if memcmp(left, right, count * MemoryLayout<Float>.size) == 0 { return (0, 0) }
        var (largest, largestIndex): (Float, Int) = (0, 0)
        for index in 0..<count {
          let difference = abs(left[index] - right[index])
          // NaN counts as the largest difference.
          if !(difference <= largest) { (largest, largestIndex) = (difference.isNaN ? .infinity : difference, index) }
        }
        return (largest * 32_768, largestIndex)
      }
    }
  }

  /// The largest difference between samples with the same position, up to the end of the shorter sequence.
  ///
  /// Infinity if a sequence is empty, or for NaN.
  package static func largestDifference(_ left: [Float], _ right: ArraySlice<Float>) -> Float {
    let count = min(left.count, right.count)
    guard count > 0 else { return .infinity }
    return left.withUnsafeBufferPointer { left in
      right.withUnsafeBufferPointer { right in
        var largest: Float = 0
        for index in 0..<count {
          let difference = abs(left[index] - right[index])
          if !(difference <= largest) { largest = difference.isNaN ? .infinity : difference }
        }
        return largest
      }
    }
  }

  /// The number of unequal samples, and the indexes of the first and last one, up to the end of the shorter array.
  package static func inequalities(_ left: [Float], _ right: [Float]) -> (count: Int, range: ClosedRange<Int>?) {
    left.withUnsafeBufferPointer { left in
      right.withUnsafeBufferPointer { right in
        var count = 0
        var range: ClosedRange<Int>?
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
          count += 1
          range = (range?.lowerBound ?? index)...index
        }
        return (count, range)
      }
    }
  }

  /// Frames in the reverse order.
  package static func reversed(_ samples: ArraySlice<Float>, channelCount: Int) -> [Float] {
    samples.withUnsafeBufferPointer { samples in
      [Float](unsafeUninitializedCapacity: samples.count) { reversed, count in
        count = samples.count
        for index in 0..<count {
          reversed[index] = samples[count - channelCount - index + 2 * (index % channelCount)]
        }
      }
    }
  }

  /// Finds the position of `samples` in `whole`. Returns its offset from `expectedFrame` in frames.
  ///
  /// The sum of the squared differences is smallest at this offset. If sums are equal, the offset nearest to 0 is
  /// returned.
  ///
  /// - Parameters:
  ///   - first: index of the first frame of `samples` to find.
  ///   - frames: maximum number of frames to compare.
  ///   - maximumOffset: the largest offset, before and after `expectedFrame`.
  package static func bestOffset(
    of samples: [Float], from first: Int, in whole: [Float], at expectedFrame: Int, channelCount: Int, frames: Int,
    maximumOffset: Int
  ) -> Int {
    let count = min(frames, samples.count / channelCount - first) * channelCount
    return samples.withUnsafeBufferPointer { samples in
      whole.withUnsafeBufferPointer { whole in
        guard count > 0, let target = samples.baseAddress.map({ $0 + first * channelCount }),
          let base = whole.baseAddress
        else { return 0 }
        var (smallest, best) = (Float.infinity, 0)
        for step in 0...(2 * maximumOffset) {
          let offset = step % 2 == 0 ? step / 2 : -(step + 1) / 2
          let start = (expectedFrame + offset) * channelCount
          guard start >= 0, start + count <= whole.count else { continue }
          let candidate = base + start
          var sum: Float = 0
          var index = 0
          // The search skips an offset as soon as it is worse than the best one.
          while index < count, sum < smallest {
            let difference = target[index] - candidate[index]
            sum += difference * difference
            index += 1
          }
          if sum < smallest { (smallest, best) = (sum, offset) }
        }
        return best
      }
    }
  }
}
