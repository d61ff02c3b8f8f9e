/// Bytes that a connection has read and not taken requests from: those that are being read just now, where they came, and what is left
/// of them afterwards.
struct PendingInput {
  private var lent: UnsafeRawBufferPointer?
  private var kept: [UInt8] = []
  private var start = 0

  var isEmpty: Bool { lent?.isEmpty ?? true && start == kept.count }

  /// These came, and stay where they are until `keepRest`. Nothing may be kept.
  mutating func lend(_ bytes: UnsafeRawBufferPointer) {
    precondition(isEmpty, "read before what came first was taken")
    lent = bytes
  }

  /// What was lent is about to be used for something else.
  mutating func keepRest() {
    if let lent, !lent.isEmpty { kept = Array(lent) }
    lent = nil
  }

  /// Has `body` look at all of them and move the offset behind what it took.
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
