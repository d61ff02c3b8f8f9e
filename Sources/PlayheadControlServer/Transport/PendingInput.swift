/// The received, unprocessed bytes of a connection: either in the shared read buffer or in a copy.
struct PendingInput {
  private var borrowed: UnsafeRawBufferPointer?
  private var copied: [UInt8] = []
  /// The index of the first unprocessed byte in `copied`.
  private var start = 0

  var isEmpty: Bool { borrowed?.isEmpty ?? true && start == copied.count }

  /// Refers to received bytes without copying them. They must stay valid until `copyUnprocessed`. There must be no
  /// other unprocessed bytes.
  mutating func borrow(_ bytes: UnsafeRawBufferPointer) {
    precondition(isEmpty, "new input before the earlier input was processed")
    borrowed = bytes
  }

  /// Copies the unprocessed bytes, because the read buffer is about to be reused.
  mutating func copyUnprocessed() {
    if let borrowed, !borrowed.isEmpty { copied = Array(borrowed) }
    borrowed = nil
  }

  /// Calls `body` with all unprocessed bytes. `body` advances the offset past the bytes that it processed.
  mutating func read<Value>(_ body: (UnsafeRawBufferPointer, inout Int) -> Value) -> Value {
    var offset = 0
    if let borrowed {
      let result = body(borrowed, &offset)
      self.borrowed = UnsafeRawBufferPointer(rebasing: borrowed[offset...])
      return result
    }
    let result = copied.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[start...]), &offset)
    }
    start += offset
    if start == copied.count { (copied, start) = ([], 0) }
    return result
  }
}
