import MediaCore
import Synchronization

/// How many bytes of pictures, other data and long texts of tags all assets of a process may hold together.
///
/// Threading: any.
final class TagDataBudget: Sendable {
  /// What assets share unless a test says otherwise: 64 MiB.
  static let shared = TagDataBudget(byteCount: 64 << 20)

  /// Texts of fewer bytes do not count: how many there may be of a file is bounded already. 64 KiB.
  static let smallestTextByteCount = 64 << 10

  /// How many bytes there may be.
  let byteCount: Int
  private let held = Mutex(0)

  init(byteCount: Int) { self.byteCount = byteCount }

  /// What is held now.
  var heldByteCount: Int { held.withLock { $0 } }

  /// Takes so many bytes; false when that would be too many.
  func take(_ count: Int) -> Bool {
    held.withLock { held in
      guard count <= byteCount - held else { return false }
      held += count
      return true
    }
  }

  /// They are held no more.
  func giveBack(_ count: Int) { held.withLock { $0 -= count } }
}

extension AssetMetadata {
  /// Leaves out what the budget has no room for, in the items' order; answers how many bytes were taken of it.
  mutating func fit(into budget: TagDataBudget) -> Int {
    var taken = 0
    for index in items.indices {
      let byteCount = items[index].heldByteCount
      guard byteCount > 0 else { continue }
      if budget.take(byteCount) {
        taken += byteCount
      } else {
        omit(
          index, byteCount,
          MediaError(
            .tagDataLimit, "the assets that are open hold as much of pictures and long texts as they may",
            operation: "metadata"))
      }
    }
    return taken
  }

  /// Leaves out the value of an item, and the picture that it is.
  private mutating func omit(_ index: Int, _ byteCount: Int, _ error: MediaError) {
    items[index].omit(byteCount: byteCount, error)
    guard let number = items[index].artworkIndex, artwork.indices.contains(number) else { return }
    artwork[number].data = []
    artwork[number].omission = error
  }
}

extension MetadataItem {
  /// Bytes that count for the budget.
  fileprivate var heldByteCount: Int {
    switch value {
    case .data(let bytes): return omission == nil ? bytes.count : 0
    case .string(let text):
      let count = text.utf8.count
      return count >= TagDataBudget.smallestTextByteCount ? count : 0
    case .number, .date: return 0
    }
  }

  /// Leaves out its value.
  mutating func omit(byteCount: Int, _ error: MediaError) {
    omission = Omission(byteCount: byteCount, error: error)
    switch value {
    case .data: value = .data([])
    case .string: value = .string("")
    case .number, .date: break
    }
  }
}
