import PlayheadLibAV

/// The limit of consecutive failed reads of packets. A demuxer can recover from invalid data, but a file that contains
/// nothing else must end. A failed read of the source is final.
struct ReadErrorBudget: Equatable {
  private var failureCount = 0

  /// The number of consecutive failed reads after which the rest of a file is not read.
  static let maximumFailureCount = 64

  /// Records a failed read. Returns whether reading may continue.
  mutating func accept(_ failure: AVFailure) -> Bool {
    failureCount += 1
    return failure.kind == .invalidData && failureCount < Self.maximumFailureCount
  }
}
