import CAllocationProbe

/// Counts what a piece of code allocates and locks: proof that real-time code does neither.
///
/// Threading: counts the calling thread only, so tests may run side by side.
public enum AllocationProbe {
  /// What was counted.
  public struct Counts: Sendable, Hashable {
    /// Calls of the malloc family, `free` included.
    public var allocationCount: Int
    /// Locks taken and waits begun.
    public var lockCount: Int
    /// Bytes asked for in all, and the most of them that were held at once.
    public var byteCount: Int
    public var peakByteCount: Int

    public init(allocationCount: Int, lockCount: Int, byteCount: Int = 0, peakByteCount: Int = 0) {
      self.allocationCount = allocationCount
      self.lockCount = lockCount
      self.byteCount = byteCount
      self.peakByteCount = peakByteCount
    }

    public static let none = Counts(allocationCount: 0, lockCount: 0)
  }

  /// False under the thread and address sanitizers, where nothing is counted.
  public static var isAvailable: Bool { allocation_probe_is_available() == 1 }

  /// Runs `body` and tells what it did on this thread. Not to be nested.
  public static func count(_ body: () -> Void) -> Counts {
    allocation_probe_arm()
    body()
    let counts = allocation_probe_disarm()
    return Counts(
      allocationCount: counts.allocation_count, lockCount: counts.lock_count, byteCount: counts.byte_count,
      peakByteCount: counts.peak_byte_count)
  }
}
