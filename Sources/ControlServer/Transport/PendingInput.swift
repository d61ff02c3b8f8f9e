/// The bytes that a connection has read and not processed: either in the shared read buffer or in a copy.
struct PendingInput {
  private var lent: UnsafeRawBufferPointer?
  private var kept: [UInt8] = []
  private var start = 0

  var isEmpty: Bool { lent?.isEmpty ?? true && start == kept.count }

  /// Refers to received bytes without copying them. They must stay valid until `keepRest`. There must be no other
  /// unprocessed bytes.
  mutating func lend(_ bytes: UnsafeRawBufferPointer) {
    precondition(isEmpty, "new input before the earlier input was processed")
    lent = bytes
  }

  /// Copies the unprocessed bytes, because the read buffer is about to be reused.
  mutating func keepRest() {
    if let lent, !lent.isEmpty { kept = Array(lent) }
    lent = nil
  }

  /// Calls `body` with all unprocessed bytes. `body` advances the offset past the bytes that it processed.
  mutating func take<Taken>(_ body: (UnsafeRawBufferPointer, inout Int) -> Taken) -> Taken {
    var offset = 0
    if let lent {
      let taken = body(lent, &offset)
      self.lent = UnsafeRawBufferPointer(rebasing: lent[offset...])
      return taken
    }
    let taken = kept.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[start...]), &offset)
    }
    start += offset
    if start == kept.count { (kept, start) = ([], 0) }
    return taken
  }
}
