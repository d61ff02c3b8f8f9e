// A file may make a library crash while it is opened. What is written here outlives the process, so that the next one knows which items
// it must not open by itself.

/// A record of the items that are being opened, which outlives the process.
///
/// Threading: any; no method blocks.
public protocol OpeningRecord: Sendable {
  /// Records that an item is being opened, before any of its bytes is read.
  ///
  /// - Returns: what `end` takes; nil when there is no room for another item.
  func begin(_ id: PlayerItem.ID) -> Int?

  /// Removes what `begin` recorded.
  func end(_ mark: Int)
}

/// Records items in a record, where there is one.
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
