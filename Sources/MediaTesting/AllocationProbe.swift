import CAllocationProbe

/// Counts allocations and locks of code, as a proof that real-time code has neither.
///
/// Threading: counts only the calling thread, so tests may run in parallel.
package enum AllocationProbe {
  /// The counts.
  package struct Counts: Sendable, Hashable {
    /// Calls of the malloc family, `free` included.
    package var allocationCount: Int
    /// Acquired locks and started waits.
    package var lockCount: Int
    /// Total allocated bytes, and the maximum of bytes that were allocated at once.
    package var byteCount: Int
    package var peakByteCount: Int

    package init(allocationCount: Int, lockCount: Int, byteCount: Int = 0, peakByteCount: Int = 0) {
      self.allocationCount = allocationCount
      self.lockCount = lockCount
      self.byteCount = byteCount
      self.peakByteCount = peakByteCount
    }

    package static let none = Counts(allocationCount: 0, lockCount: 0)
  }

  /// Whether allocations are counted: false with the thread and address sanitizers.
  package static var isAvailable: Bool { allocation_probe_is_available() == 1 }

  /// Runs `body` and returns its counts on this thread. Calls do not nest.
  package static func count(_ body: () -> Void) -> Counts {
    allocation_probe_arm()
    body()
    let counts = allocation_probe_disarm()
    return Counts(
      allocationCount: counts.allocation_count, lockCount: counts.lock_count, byteCount: counts.byte_count,
      peakByteCount: counts.peak_byte_count)
  }
}
