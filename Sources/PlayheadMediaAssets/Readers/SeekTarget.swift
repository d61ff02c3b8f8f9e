import PlayheadMediaCore

/// Converts the target of a seek to frames.
enum SeekTarget {
  /// Returns the frame that contains a time, and the range of frames that the tolerances allow, which includes that
  /// frame. All results are within 0…`last`.
  ///
  /// - Throws: `invalidTime`.
  static func frames(
    _ time: MediaTime, toleranceBefore: MediaTime, toleranceAfter: MediaTime, sampleRateHz: Int, last: Int64
  ) throws(MediaError) -> (target: Int64, allowed: ClosedRange<Int64>) {
    func frame(at time: MediaTime, rounding: MediaTime.RoundingMethod) -> Int64? {
      if time.isPositiveInfinity { return last }
      if time.isNegativeInfinity { return 0 }
      guard time.isNumeric else { return nil }
      guard let frame = time.frameIndex(rate: sampleRateHz, rounding: rounding) else { return time < .zero ? 0 : last }
      return max(0, min(frame, last))
    }
    guard let target = frame(at: time, rounding: .towardNegativeInfinity),
      let earliest = frame(at: time - toleranceBefore, rounding: .towardPositiveInfinity),
      let latest = frame(at: time + toleranceAfter, rounding: .towardNegativeInfinity)
    else { throw MediaError(.invalidTime, "cannot seek to \(time)", operation: "seek") }
    return (target, min(earliest, target)...max(latest, target))
  }
}
