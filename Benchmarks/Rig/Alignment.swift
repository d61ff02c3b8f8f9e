import RigSupport

/// Finds captured audio in a reference, and the landing position of a seek. Players differ by rounding and decoders, so
/// samples with a small difference count as equal.
struct Alignment {
  /// The file decoded from its start.
  let reference: [StereoFrame]
  /// Whether the reference repeats from its start after its end.
  var isPeriodic = false
  /// Tolerance for differences between decoders and conversions to 16 bits.
  static let tolerance = 24

  struct Landing {
    /// The position of the first frame after the seek in the capture.
    var position: Int
    /// The difference of its position in the file from the target, in frames.
    var error: Int
    /// Later frames that differ from a decode from the start.
    var wrongFrames: Int
  }

  /// Finds a seek from continuous audio to `target` in `captured`. Returns nil if no audio at the target was captured
  /// yet.
  func landing(in captured: [StereoFrame], target: Int, searchRadius: Int = 72_000) -> Landing? {
    let windowCount = 512
    guard captured.count > 3 * windowCount else { return nil }
    // If the end of the capture is not near the target, it is too early.
    let tail = captured.count - windowCount
    guard
      let tailIndex = index(
        of: captured, at: tail, count: windowCount, from: target - searchRadius, to: target + searchRadius)
    else { return nil }
    // The capture begins before the seek. Finds the end of that audio.
    var position = 0
    if let old = index(of: captured, at: 0, count: 64, from: nil, to: nil) {
      while position < captured.count, matches(captured[position], old + position) { position += 1 }
    }
    while position < captured.count, captured[position] == .silence { position += 1 }
    guard position < tail else { return nil }
    var right = tail
    while right > position, matches(captured[right - 1], tailIndex - (tail - right) - 1) { right -= 1 }
    return Landing(position: position, error: tailIndex - (tail - position) - target, wrongFrames: right - position)
  }

  /// The index of the frames at `position` in the reference, searched between two indexes or everywhere.
  func index(of captured: [StereoFrame], at position: Int, count: Int, from: Int?, to: Int?) -> Int? {
    let first = isPeriodic ? from ?? 0 : max(0, from ?? 0)
    let last = isPeriodic ? to ?? reference.count : min(reference.count - count, to ?? reference.count)
    guard first <= last, position + count <= captured.count else { return nil }
    candidates: for index in first...last {
      for offset in 0..<count where !matches(captured[position + offset], index + offset) { continue candidates }
      return index
    }
    return nil
  }

  private func matches(_ frame: StereoFrame, _ index: Int) -> Bool {
    var index = index
    if isPeriodic {
      index %= reference.count
      if index < 0 { index += reference.count }
    } else if !reference.indices.contains(index) {
      return false
    }
    let expected = reference[index]
    return abs(Int(frame.left) - Int(expected.left)) <= Self.tolerance
      && abs(Int(frame.right) - Int(expected.right)) <= Self.tolerance
  }
}
