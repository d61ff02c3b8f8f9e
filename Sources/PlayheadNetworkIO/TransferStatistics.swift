/// The number of received bytes of a resource and the transfer times.
///
/// The times measure the network, independent of slow readers.
package struct TransferStatistics: Sendable, Hashable {
  /// The number of body bytes.
  package var byteCount: Int64
  /// The time from each request to the last received byte, without retry delays and pauses of the reader.
  package var nanoseconds: Int64
  /// The part of that time before the first body byte of each response. It does not depend on the number of bytes.
  package var waitNanoseconds: Int64

  /// Creates statistics.
  package init(byteCount: Int64 = 0, nanoseconds: Int64 = 0, waitNanoseconds: Int64 = 0) {
    self.byteCount = byteCount
    self.nanoseconds = nanoseconds
    self.waitNanoseconds = waitNanoseconds
  }
}
