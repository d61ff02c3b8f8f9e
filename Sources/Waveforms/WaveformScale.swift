/// Into how many parts sound is cut, or how long each is.
public enum WaveformScale: Sendable, Hashable {
  /// So many bins, at least 1: bin `i` of `B` over `N` frames begins at frame `floor(i * N / B)`.
  case bins(Int)
  /// So many frames in each bin, at least 1; the last one may have fewer.
  case framesPerBin(Int)

  /// How many bins there are in so many frames; of none there is none.
  public func binCount(frameCount: Int64) -> Int {
    guard frameCount > 0 else { return 0 }
    switch self {
    case .bins(let count): return count
    case .framesPerBin(let length): return Int((frameCount - 1) / Int64(length)) + 1
    }
  }

  /// The frame at which bin `index` begins, and the one before it ends; exact. Up to the number of bins, at which it is `frameCount`.
  public func edge(_ index: Int, frameCount: Int64) -> Int64 {
    switch self {
    case .bins(let count):
      let product = UInt64(index).multipliedFullWidth(by: UInt64(frameCount))
      // Below `frameCount`, for the index is below the count: the quotient fits.
      return index >= count ? frameCount : Int64(UInt64(count).dividingFullWidth(product).quotient)
    case .framesPerBin(let length):
      let (edge, overflow) = Int64(index).multipliedReportingOverflow(by: Int64(length))
      return overflow ? frameCount : min(edge, frameCount)
    }
  }
}
