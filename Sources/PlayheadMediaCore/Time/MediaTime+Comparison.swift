/// The order of times, as CMTimeCompare:
/// -infinity < numbers < indefinite < +infinity < invalid. Each special value is equal to itself. Numbers of a larger
/// epoch come after all numbers of a smaller one.
extension MediaTime: Hashable, Comparable {
  /// The five classes of times, in order.
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

  /// Whether `left` is earlier than `right`.
  public static func < (left: MediaTime, right: MediaTime) -> Bool {
    guard left.isNumeric, right.isNumeric else { return left.rank < right.rank }
    guard left.epoch == right.epoch else { return left.epoch < right.epoch }
    if left.timescale == right.timescale { return left.value < right.value }
    return Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
  }

  /// Hashes the values that `==` compares: the epoch and the fraction in lowest terms.
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
