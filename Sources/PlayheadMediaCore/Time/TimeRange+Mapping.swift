/// Mapping of times into a range, and from one range to another.
extension TimeRange {
  /// The time in this range nearest to `time`: `time` itself, the start or the end.
  ///
  /// The result may be the end, although the range does not contain it (CMTimeClampToRange). Invalid when the range is
  /// empty or not valid, or when the time is invalid.
  public func clamp(_ time: MediaTime) -> MediaTime {
    guard isValid, !isEmpty, time.isValid else { return .invalid }
    return max(start, min(time, end))
  }

  /// The time in this range that corresponds to `time` when the range repeats indefinitely in both directions
  /// (CMTimeFoldIntoRange).
  ///
  /// Invalid unless `time`, start and duration are numeric, the range is valid and not empty, and both epochs are
  /// equal. A time that no timescale represents exactly is rounded and flagged, and is still within the range.
  public func fold(_ time: MediaTime) -> MediaTime {
    guard isValid, !isEmpty, time.isNumeric, start.isNumeric, duration.isNumeric, time.epoch == start.epoch else {
      return .invalid
    }
    if contains(time) { return time }
    // In units of the common multiple of the three timescales (below 2^93), every number here is below 2^127.
    let pair = UInt128(leastCommonMultiple(time.timescale, start.timescale))
    let shared = greatestCommonDivisor(UInt64(pair), UInt64(duration.timescale))
    let scale = pair * (UInt128(duration.timescale.magnitude) / UInt128(shared))
    func units(_ time: MediaTime) -> Int128 { Int128(time.value) * Int128(scale / UInt128(time.timescale.magnitude)) }
    let length = units(duration)
    var offset = (units(time) - units(start)) % length
    if offset < 0 { offset += length }
    if offset == 0 { return start }

    let flags = time.flags.union(start.flags).union(duration.flags)
    let folded = MediaTime(
      shortest: ExactRational(units(start) + offset, over: scale), preferring: Int32(exactly: scale),
      flags: flags, epoch: start.epoch)
    if contains(folded) { return folded }
    // Rounding moved the time out of the range, by less than one unit. The end of the range folds to its start.
    return MediaTime(numeric: start.value, start.timescale, flags.union(.hasBeenRounded), start.epoch)
  }

  /// Maps `time` from this range to `target`, so that starts and ends correspond (CMTimeMapTimeFromRangeToRange):
  /// `(time - start) · (target.duration / duration) + target.start`.
  ///
  /// Times outside this range are mapped by the same formula. If both durations are infinite, only the difference of
  /// the starts counts. Invalid when:
  /// - either range is empty,
  /// - `time` is not numeric or not of the epoch of this range's start,
  /// - only one of the two durations is numeric.
  public func mapTime(_ time: MediaTime, to target: TimeRange) -> MediaTime {
    guard isValid, target.isValid, !isEmpty, !target.isEmpty else { return .invalid }
    guard time.isNumeric, start.isNumeric, target.start.isNumeric, time.epoch == start.epoch else { return .invalid }
    if time == end, target.duration.isNumeric { return target.end }
    return mapDuration(time - start, to: target) + target.start
  }

  /// Maps a duration from this range to `target` (CMTimeMapDurationFromRangeToRange): `duration · (target.duration /
  /// self.duration)`.
  ///
  /// The result is exact if a timescale can represent it, else rounded and flagged. Invalid when:
  /// - either range is empty,
  /// - `duration` is not numeric or not of epoch 0,
  /// - only one of the durations of the ranges is numeric.
  public func mapDuration(_ duration: MediaTime, to target: TimeRange) -> MediaTime {
    guard isValid, target.isValid, !isEmpty, !target.isEmpty else { return .invalid }
    guard duration.isNumeric, duration.epoch == 0 else { return .invalid }
    let (from, to) = (self.duration, target.duration)
    if from.isPositiveInfinity, to.isPositiveInfinity { return duration }
    guard from.isNumeric, to.isNumeric else { return .invalid }
    let exact = ExactRational(
      isNegative: duration.value < 0,
      product: [duration.value.magnitude, to.value.magnitude, UInt64(from.timescale)],
      over: [UInt64(duration.timescale), UInt64(to.timescale), from.value.magnitude])
    return MediaTime(
      shortest: exact, preferring: duration.timescale, flags: duration.flags.union(from.flags).union(to.flags))
  }
}
