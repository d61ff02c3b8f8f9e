import CAllocationProbe

/// Counts allocations and locks of code, as a proof that real-time code has neither.
///
/// Threading: counts only the calling thread, so tests may run in parallel.
public enum AllocationProbe {
  /// The counts.
  public struct Counts: Sendable, Hashable {
    /// Calls of the malloc family, `free` included.
    public var allocationCount: Int
    /// Acquired locks and started waits.
    public var lockCount: Int
    /// Total allocated bytes, and the maximum of bytes that were allocated at once.
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

  /// Whether allocations are counted: false with the thread and address sanitizers.
  public static var isAvailable: Bool { allocation_probe_is_available() == 1 }

  /// Runs `body` and returns its counts on this thread. Calls do not nest.
  public static func count(_ body: () -> Void) -> Counts {
    allocation_probe_arm()
    body()
    let counts = allocation_probe_disarm()
    return Counts(
      allocationCount: counts.allocation_count, lockCount: counts.lock_count, byteCount: counts.byte_count,
      peakByteCount: counts.peak_byte_count)
  }
}
