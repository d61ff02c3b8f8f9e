/// The order of times, CMTimeCompare's:
/// -infinity < numbers < indefinite < +infinity < invalid, every special value being equal to itself. Numbers of a
/// larger epoch come after all numbers of a smaller one.
extension MediaTime: Hashable, Comparable {
  /// The five classes in their order.
  private enum Rank: UInt8, Comparable {
    case negativeInfinity, numeric, indefinite, positiveInfinity, invalid

    static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
  }

  private var rank: Rank {
    if isNumeric { return .numeric }
    if isIndefinite { return .indefinite }
    if isPositiveInfinity { return .positiveInfinity }
    return isNegativeInfinity ? .negativeInfinity : .invalid
  }

  /// Whether both are the same instant, or the same special value.
  public static func == (left: MediaTime, right: MediaTime) -> Bool {
    guard left.isNumeric, right.isNumeric else { return left.rank == right.rank }
    guard left.epoch == right.epoch else { return false }
    if left.timescale == right.timescale { return left.value == right.value }
    return Int128(left.value) * Int128(right.timescale) == Int128(right.value) * Int128(left.timescale)
  }

  /// Whether `left` comes before `right`.
  public static func < (left: MediaTime, right: MediaTime) -> Bool {
    guard left.isNumeric, right.isNumeric else { return left.rank < right.rank }
    guard left.epoch == right.epoch else { return left.epoch < right.epoch }
    if left.timescale == right.timescale { return left.value < right.value }
    return Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
  }

  /// Feeds what `==` compares: the fraction in lowest terms.
  public func hash(into hasher: inout Hasher) {
    let rank = rank
    hasher.combine(rank)
    guard rank == .numeric else { return }
    let divisor = greatestCommonDivisor(value.magnitude, UInt64(timescale))
    hasher.combine(epoch)
    hasher.combine(value.magnitude / divisor)
    hasher.combine(value < 0)
    hasher.combine(UInt64(timescale) / divisor)
  }
}
