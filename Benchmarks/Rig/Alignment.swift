import RigSupport

/// Finds captured sound in a reference, and where a seek landed. Players differ by rounding and by decoders, so samples are
/// the same when they differ by little.
struct Alignment {
  /// The file decoded from its start.
  let reference: [StereoFrame]
  /// Whether the file goes on with the reference's beginning behind its end.
  var isPeriodic = false
  /// What decoders and conversions to 16 bits may differ by.
  static let tolerance = 24

  struct Landing {
    /// The first frame of the new place in the capture.
    var position: Int
    /// Its place in the file, less the one asked for, in frames.
    var error: Int
    /// Frames from there on that are not those of a decode from the start.
    var wrongFrames: Int
  }

  /// Looks for a seek from an unbroken sound to `target` in `captured`; nil while the new place is not heard.
  func landing(in captured: [StereoFrame], target: Int, reach: Int = 72_000) -> Landing? {
    let windowCount = 512
    guard captured.count > 3 * windowCount else { return nil }
    // The sound's end lies in the new place, or it is too early.
    let tail = captured.count - windowCount
    guard let tailIndex = index(of: captured, at: tail, count: windowCount, from: target - reach, to: target + reach)
    else { return nil }
    // The capture begins in the old place: how far does that go on?
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

  /// The index in the reference of the frames at `position`, looked for between two places or everywhere.
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
