/// Times moved into a range, or from one range to another.
extension TimeRange {
  /// The time of this range that is nearest to `time`: `time` itself, or the start or the end.
  ///
  /// The end does not belong to the range and is returned all the same (CMTimeClampToRange). Invalid when the range is
  /// empty or not valid, or when the time is invalid.
  public func clamp(_ time: MediaTime) -> MediaTime {
    guard isValid, !isEmpty, time.isValid else { return .invalid }
    return max(start, min(time, end))
  }

  /// The time of this range that `time` falls on when the range is repeated without end in both directions
  /// (CMTimeFoldIntoRange).
  ///
  /// Invalid unless `time`, start and duration are numbers, the range is valid and not empty, and the time is of the
  /// start's epoch. A time that no timescale can say exactly is rounded and flagged, and still lies in the range.
  public func fold(_ time: MediaTime) -> MediaTime {
    guard isValid, !isEmpty, time.isNumeric, start.isNumeric, duration.isNumeric, time.epoch == start.epoch else {
      return .invalid
    }
    if contains(time) { return time }
    // In units of the common multiple of the three timescales, which is below 2^93, every number here is below 2^127.
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
    // Rounded out of the range, by less than one unit: at either end that is the start of a turn.
    return MediaTime(numeric: start.value, start.timescale, flags.union(.hasBeenRounded), start.epoch)
  }

  /// Where `time` comes to lie when this range is laid over `target`, start on start and end on end
  /// (CMTimeMapTimeFromRangeToRange): `(time - start) · (target.duration / duration) + target.start`.
  ///
  /// Times outside are mapped by the same formula. Two endless ranges differ by their starts only. Invalid when either
  /// range is empty, when `time` is no number or not of this start's epoch, and when one duration is a number and the
  /// other is not.
  public func mapTime(_ time: MediaTime, to target: TimeRange) -> MediaTime {
    guard isValid, target.isValid, !isEmpty, !target.isEmpty else { return .invalid }
    guard time.isNumeric, start.isNumeric, target.start.isNumeric, time.epoch == start.epoch else { return .invalid }
    if time == end, target.duration.isNumeric { return target.end }
    return mapDuration(time - start, to: target) + target.start
  }

  /// How long `duration` of this range is in `target` (CMTimeMapDurationFromRangeToRange): `duration · (target.duration
  /// / self.duration)`.
  ///
  /// Exact if a timescale can say it, else rounded and flagged. Invalid when either range is empty, when `duration` is
  /// no number or not of epoch 0, and when one of the ranges' durations is a number and the other is not.
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
