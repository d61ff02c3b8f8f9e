import PlayheadMediaCore
import PlayheadWireProtocol

/// The size of edits, in the units of the limits.
struct EditSize {
  /// The number of added, moved, replaced or removed entries.
  private(set) var changeCount = 0
  /// The number of bytes of their paths and network options.
  private(set) var byteCount = 0

  init() {}

  /// The size of one edit.
  init(_ edit: RequestedEdit) {
    if case .remove(let ids) = edit { changeCount = ids.count } else { changeCount = 1 }
    guard let new = edit.newEntries else { return }
    changeCount = max(1, new.paths.count)
    byteCount = new.network.byteCount + new.paths.byteCount + (new.title?.utf8.count ?? 0)
  }

  static func + (left: Self, right: Self) -> Self {
    var sum = left
    sum.changeCount += right.changeCount
    sum.byteCount += right.byteCount
    return sum
  }

  /// The difference of two sizes. `left` must include `right`.
  static func - (left: Self, right: Self) -> Self {
    var difference = left
    difference.changeCount -= right.changeCount
    difference.byteCount -= right.byteCount
    return difference
  }

  /// Checks the limits.
  ///
  /// - Parameter subject: The beginning of the error message.
  /// - Throws: `edit-too-large`.
  func check(_ changeLimit: Int, _ byteLimit: Int, _ subject: String) throws(MediaError) {
    guard changeCount <= changeLimit, byteCount <= byteLimit else {
      throw MediaError(.editTooLarge, "\(subject) at most \(changeLimit) changes and \(byteLimit) bytes of paths")
    }
  }
}
