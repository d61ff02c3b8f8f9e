import MediaCore
import Synchronization

/// How many bytes of pictures, other data and long texts of tags all assets of a process may hold together.
///
/// Threading: any.
final class TagDataBudget: Sendable {
  /// What assets share unless a test says otherwise: 64 MiB.
  static let shared = TagDataBudget(byteCount: 64 << 20)

  /// Texts of so many bytes are left out one by one, and listed; smaller items as a whole. 64 KiB.
  static let smallestTextByteCount = 64 << 10

  /// Bytes of small texts, names and details that each asset may have without their counting. 64 KiB.
  static let freeByteCount = 64 << 10

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
    var free = TagDataBudget.freeByteCount
    func takes(_ byteCount: Int, isSmall: Bool) -> Bool {
      if isSmall, byteCount <= free {
        free -= byteCount
        return true
      }
      guard budget.take(byteCount) else { return false }
      taken += byteCount
      return true
    }
    let error = MediaError(
      .tagDataLimit, "the assets that are open hold as much of tags as they may", operation: "metadata")
    var kept: [MetadataItem] = []
    var leftOutCount = 0
    for index in items.indices {
      let byteCount = items[index].valueByteCount
      let isSmall = items[index].isSmall
      if byteCount > 0, !isSmall, !takes(byteCount, isSmall: false) { omit(index, byteCount, error) }
      if takes(items[index].nameByteCount + (isSmall ? byteCount : 0), isSmall: true) {
        kept.append(items[index])
      } else {
        leftOutCount += 1
        // Its picture stays listed, without a word.
        if !isSmall { omit(index, byteCount, error) }
        if let number = items[index].artworkIndex, artwork.indices.contains(number) { artwork[number].description = "" }
      }
    }
    guard leftOutCount > 0 else { return taken }
    items = kept
    warnings.append(
      Warning(subject: "tags", error: MediaError(error.code, "\(error.message): \(leftOutCount) items are left out")))
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
  /// Bytes of its value.
  fileprivate var valueByteCount: Int {
    switch value {
    case .data(let bytes): omission == nil ? bytes.count : 0
    case .string(let text): text.utf8.count
    case .number, .date: 0
    }
  }

  /// Whether its value is no long text and no data.
  fileprivate var isSmall: Bool {
    if case .data = value { false } else { valueByteCount < TagDataBudget.smallestTextByteCount }
  }

  /// Bytes of what stands beside its value.
  fileprivate var nameByteCount: Int {
    extraAttributes.values.reduce(key.utf8.count + (extendedLanguageTag?.utf8.count ?? 0)) { $0 + $1.utf8.count }
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
