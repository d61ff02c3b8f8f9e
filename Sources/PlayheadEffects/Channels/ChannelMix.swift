import PlayheadMediaCore

/// The gains of a ``ChannelMatrix``. The number of channels stays the same.
///
/// <!-- listing: channel-matrix -->
/// ```swift
/// item.audioProcessors = [try .channelMatrix(.mono)]
/// // The left channel receives both channels, the right channel is silent.
/// item.audioProcessors = [try .channelMatrix(.matrix([[0.5, 0.5], [0, 0]]))]
/// ```
///
/// ``mono``, ``swapLeftAndRight``, ``left`` and ``right`` adapt to any number of channels. ``gains(_:)`` and
/// ``matrix(_:)`` have a fixed number: an item with another number of channels fails with `invalidArgument`.
public enum ChannelMix: Sendable, Hashable, Codable {
  /// Every channel becomes the mean of all channels. Uncorrelated channels get quieter.
  case mono
  /// Exchanges the first two channels, front left and front right. Other channels, and audio with one channel, stay
  /// unchanged.
  case swapLeftAndRight
  /// Copies the first channel, front left, to the first two. Other channels, and audio with one channel, stay
  /// unchanged.
  case left
  /// Copies the second channel, front right, to the first two. Other channels, and audio with one channel, stay
  /// unchanged.
  case right
  /// Multiplies each channel with its gain, a factor from -16 to 16. Negative gains invert the phase.
  case gains([Double])
  /// Has the gain `matrix[output][input]` of each input channel in each output channel, a factor from -16 to 16. There
  /// are as many rows and columns as channels, 1 to 64.
  case matrix([[Double]])

  /// Checks the size and the gains.
  ///
  /// - Throws: `invalidArgument` for a matrix that is not square, a size other than 1 to 64, or a gain outside -16…16.
  public func check() throws(MediaError) {
    switch self {
    case .mono, .swapLeftAndRight, .left, .right: return
    case .gains(let gains):
      try Self.checkSize(gains.count, "gains")
      for (index, gain) in gains.enumerated() { try Self.checkGain(gain, "gains[\(index)]") }
    case .matrix(let rows):
      try Self.checkSize(rows.count, "matrix")
      for (output, row) in rows.enumerated() {
        guard row.count == rows.count else {
          throw MediaError(
            .invalidArgument, "matrix[\(output)] must have \(rows.count) gains, as many as rows (got \(row.count))",
            operation: Self.operation)
        }
        for (input, gain) in row.enumerated() { try Self.checkGain(gain, "matrix[\(output)][\(input)]") }
      }
    }
  }

  private static let operation = "channelMatrix"
  private static let gainRange = ParameterRange(-16...16)

  private static func checkSize(_ count: Int, _ name: String) throws(MediaError) {
    let counts = AudioFormat.supportedChannelCounts
    guard !counts.contains(count) else { return }
    throw MediaError(
      .invalidArgument, "\(name) must be for \(counts.lowerBound) to \(counts.upperBound) channels (got \(count))",
      operation: operation)
  }

  private static func checkGain(_ gain: Double, _ name: String) throws(MediaError) {
    try gainRange.check(gain, name, operation: operation)
  }

  /// Returns the gains for a number of channels, row by row: the gain of input `i` in output `o` has the index
  /// `o * channelCount + i`.
  ///
  /// - Throws: `invalidArgument` if the gains are for another number of channels.
  func matrix(channelCount: Int) throws(MediaError) -> [Double] {
    switch self {
    case .mono:
      return Array(repeating: 1 / Double(channelCount), count: channelCount * channelCount)
    case .swapLeftAndRight, .left, .right:
      var sources = Array(0..<channelCount)
      if channelCount >= 2 {
        switch self {
        case .left: sources[1] = 0
        case .right: sources[0] = 1
        default: sources.swapAt(0, 1)
        }
      }
      return sources.flatMap { source in (0..<channelCount).map { $0 == source ? 1 : 0 } }
    case .gains(let gains):
      try checkChannelCount(gains.count, "gains", channelCount)
      return gains.indices.flatMap { output in gains.indices.map { $0 == output ? gains[output] : 0 } }
    case .matrix(let rows):
      try checkChannelCount(rows.count, "matrix", channelCount)
      return Array(rows.joined())
    }
  }

  private func checkChannelCount(_ count: Int, _ name: String, _ channelCount: Int) throws(MediaError) {
    guard count != channelCount else { return }
    throw MediaError(
      .invalidArgument, "\(name) must be for \(channelCount) channels, as many as the item has (got \(count))",
      operation: Self.operation)
  }
}
