import PlayheadPlayerModel

// A file may crash a library while it is opened. This record outlives the process, so that the next process knows which
// items it must not open automatically.

/// A record of the items that are being opened, which outlives the process.
///
/// Threading: any; no method blocks.
package protocol OpeningRecord: Sendable {
  /// Records that an item is being opened, before any of its bytes is read.
  ///
  /// - Returns: the argument for `end`; nil if there is no space for another item.
  func begin(_ id: PlayerItem.ID) -> Int?

  /// Removes the entry that `begin` recorded.
  func end(_ mark: Int)
}

/// Records items in `record`; has no effect without a record.
struct OpeningRecorder: Sendable {
  var record: (any OpeningRecord)?

  /// Runs `body`, which opens an item or decodes its beginning, while the item is recorded.
  func whileOpening<Value, Failure: Error>(
    _ id: PlayerItem.ID, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let record, let mark = record.begin(id) else { return try body() }
    defer { record.end(mark) }
    return try body()
  }
}
