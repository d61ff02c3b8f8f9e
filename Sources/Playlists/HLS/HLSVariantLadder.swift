/// Which of a stream's variants is heard as the network can bear it. Pure.
public struct HLSVariantLadder: Sendable, Hashable {
  /// One of the variants, the best first.
  public struct Rung: Sendable, Hashable {
    /// Bits a second that are loaded; 0: not known.
    public var bitRate: Int64
    /// What the master playlist says, perhaps with pictures that nobody loads; 0: nothing. Counts only where `bitRate` is not known.
    public var bandwidth: Int64
    /// It may be heard: it did not fail, and has no more bits than are wanted.
    public var isUsable: Bool
    /// It came too slowly a while ago.
    public var isDoubted: Bool

    public init(bitRate: Int64, bandwidth: Int64 = 0, isUsable: Bool = true, isDoubted: Bool = false) {
      self.bitRate = bitRate
      self.bandwidth = bandwidth
      self.isUsable = isUsable
      self.isDoubted = isDoubted
    }
  }

  public var rungs: [Rung]

  public init(_ rungs: [Rung]) { self.rungs = rungs }

  /// A variant is heard on as long as it needs no more than this share of the throughput.
  public static let sustainedShare = 0.9
  /// Another one is chosen when it needs no more than this one: a little less throughput does not lead back at once.
  public static let chosenShare = 0.7

  /// Bits a second that a variant needs; nil: not known.
  ///
  /// What was loaded is compared with what was loaded. What was not is to the present one as the playlist says of both: there they
  /// are alike, pictures and all.
  private func need(_ index: Int, beside current: Int) -> Double? {
    let (rung, present) = (rungs[index], rungs[current])
    if rung.bitRate > 0 { return Double(rung.bitRate) }
    guard rung.bandwidth > 0, present.bitRate > 0, present.bandwidth > 0 else { return nil }
    return Double(present.bitRate) * (Double(rung.bandwidth) / Double(present.bandwidth))
  }

  /// Whether the present one comes fast enough; what nothing is known of does.
  public func isSustained(_ current: Int, throughput: Double) -> Bool {
    Double(rungs[current].bitRate) <= throughput * Self.sustainedShare
  }

  /// The variant to go over to; nil: none.
  ///
  /// - Parameters:
  ///   - current: the one that is heard.
  ///   - throughput: bits a second; nil: not known.
  ///   - capacity: bits a second that there would be of a better variant, whose segments are larger: answers are waited for no longer;
  ///     nil: no more. Not believed of variants that came too slowly a while ago, nor of what needs more than those.
  ///   - isAhead: so much is there that a better variant may be tried.
  public func choice(from current: Int, throughput: Double?, capacity: Double? = nil, isAhead: Bool) -> Int? {
    guard let throughput, rungs.indices.contains(current), rungs[current].bitRate > 0 else { return nil }
    let needs = rungs.indices.map { need($0, beside: current) ?? .infinity }
    func fits(_ index: Int, _ throughput: Double) -> Bool { needs[index] <= throughput * Self.chosenShare }
    if isSustained(current, throughput: throughput) {
      guard isAhead else { return nil }
      let doubted = rungs.indices.filter { rungs[$0].isDoubted }.map { needs[$0] }.min() ?? .infinity
      return rungs.indices.prefix(current).first { index in
        rungs[index].isUsable
          && (fits(index, throughput) || needs[index] < doubted && fits(index, capacity ?? throughput))
      }
    }
    let lower = rungs.indices.filter { rungs[$0].isUsable && needs[$0] < needs[current] }
    return lower.first { fits($0, throughput) } ?? lower.min { needs[$0] < needs[$1] }
  }
}
