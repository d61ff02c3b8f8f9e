import PlayheadMediaCore
import Synchronization

/// Limits the memory for artwork, other data and long texts of tags, which all assets of a process share.
///
/// Threading: any thread.
final class TagDataBudget: Sendable {
  /// The budget that assets share by default: 64 MiB.
  static let shared = TagDataBudget(byteCount: 64 << 20)

  /// The minimum size of a long text: 64 KiB. An omitted long text stays listed as an item. Smaller items are removed,
  /// with one warning for all.
  static let smallestTextByteCount = 64 << 10

  /// The size of small texts, keys and attributes that each asset may retain outside the budget: 64 KiB.
  static let freeByteCount = 64 << 10

  /// The limit in bytes.
  let byteCount: Int
  private let reserved = Mutex(0)

  init(byteCount: Int) { self.byteCount = byteCount }

  /// The number of bytes retained now.
  var reservedByteCount: Int { reserved.withLock { $0 } }

  /// Reserves bytes. Returns false if that would exceed the limit, or leave fewer than `rest` bytes.
  func reserve(_ count: Int, leaving rest: Int = 0) -> Bool {
    reserved.withLock { reserved in
      guard count <= byteCount - reserved - rest else { return false }
      reserved += count
      return true
    }
  }

  /// Releases reserved bytes.
  func release(_ count: Int) { reserved.withLock { $0 -= count } }
}

extension AssetMetadata {
  /// Omits the values that exceed the budget, in the order of the items. Returns the number of bytes reserved from the
  /// budget.
  mutating func fit(into budget: TagDataBudget) -> Int {
    var reserved = 0
    var free = TagDataBudget.freeByteCount
    func reserve(_ byteCount: Int, isSmall: Bool) -> Bool {
      if isSmall, byteCount <= free {
        free -= byteCount
        return true
      }
      guard budget.reserve(byteCount) else { return false }
      reserved += byteCount
      return true
    }
    let error = MediaError(
      .tagDataLimit, "the tags of the open assets have reached the memory limit", operation: "metadata")
    var retainedItems: [MetadataItem] = []
    var omittedCount = 0
    for index in items.indices {
      let byteCount = items[index].valueByteCount
      let isSmall = items[index].isSmall
      if byteCount > 0, !isSmall, !reserve(byteCount, isSmall: false) { omit(index, byteCount, error) }
      if reserve(items[index].nameByteCount + (isSmall ? byteCount : 0), isSmall: true) {
        retainedItems.append(items[index])
      } else {
        omittedCount += 1
        // The artwork of the item stays in `artwork`, without data and description.
        if !isSmall { omit(index, byteCount, error) }
        if let number = items[index].artworkIndex, artwork.indices.contains(number) { artwork[number].description = "" }
      }
    }
    guard omittedCount > 0 else { return reserved }
    items = retainedItems
    warnings.append(
      Warning(subject: "tags", error: MediaError(error.code, "\(error.message): \(omittedCount) items are left out")))
    return reserved
  }

  /// Omits the value of an item, and its artwork.
  private mutating func omit(_ index: Int, _ byteCount: Int, _ error: MediaError) {
    items[index].omit(byteCount: byteCount, error)
    guard let number = items[index].artworkIndex, artwork.indices.contains(number) else { return }
    artwork[number].data = []
    artwork[number].omission = error
  }
}

extension MetadataItem {
  /// The size of the value in bytes.
  fileprivate var valueByteCount: Int {
    switch value {
    case .data(let bytes): omission == nil ? bytes.count : 0
    case .string(let text): text.utf8.count
    case .number, .date: 0
    }
  }

  /// Whether the value is neither a long text nor data.
  fileprivate var isSmall: Bool {
    if case .data = value { false } else { valueByteCount < TagDataBudget.smallestTextByteCount }
  }

  /// The size of the key and the attributes in bytes.
  fileprivate var nameByteCount: Int {
    extraAttributes.values.reduce(key.utf8.count + (extendedLanguageTag?.utf8.count ?? 0)) { $0 + $1.utf8.count }
  }

  /// Omits the value.
  mutating func omit(byteCount: Int, _ error: MediaError) {
    omission = Omission(byteCount: byteCount, error: error)
    switch value {
    case .data: value = .data([])
    case .string: value = .string("")
    case .number, .date: break
    }
  }
}
