/// The division of audio into bins: by their number or by their length.
public enum WaveformScale: Sendable, Hashable {
  /// The number of bins, at least 1. Bin `i` of `B` over `N` frames begins at frame `floor(i * N / B)`.
  case bins(Int)
  /// The number of frames per bin, at least 1. The last bin may have fewer.
  case framesPerBin(Int)

  /// The number of bins for a number of frames; 0 for no frames.
  public func binCount(frameCount: Int64) -> Int {
    guard frameCount > 0 else { return 0 }
    switch self {
    case .bins(let count): return count
    case .framesPerBin(let length): return Int((frameCount - 1) / Int64(length)) + 1
    }
  }

  /// The first frame of bin `index`, which is the end of the previous bin; exact. For an index that is not below the
  /// number of bins: `frameCount`.
  public func edge(_ index: Int, frameCount: Int64) -> Int64 {
    switch self {
    case .bins(let count):
      let product = UInt64(index).multipliedFullWidth(by: UInt64(frameCount))
      // The quotient fits: it is below `frameCount`, because the index is below the count.
      return index >= count ? frameCount : Int64(UInt64(count).dividingFullWidth(product).quotient)
    case .framesPerBin(let length):
      let (edge, overflow) = Int64(index).multipliedReportingOverflow(by: Int64(length))
      return overflow ? frameCount : min(edge, frameCount)
    }
  }
}
