/// What has come of a resource, and how long that took while there was room for it: how fast the network is, whoever reads slowly.
public struct TransferMeasure: Sendable, Hashable {
  /// Bytes of the body.
  public var byteCount: Int64
  /// From each request on to the last byte that came. Without pauses between attempts, and without those of the reader.
  public var nanoseconds: Int64
  /// How much of that was over before the first byte of each answer's body: it does not depend on how many there are.
  public var waitNanoseconds: Int64

  public init(byteCount: Int64 = 0, nanoseconds: Int64 = 0, waitNanoseconds: Int64 = 0) {
    self.byteCount = byteCount
    self.nanoseconds = nanoseconds
    self.waitNanoseconds = waitNanoseconds
  }
}
