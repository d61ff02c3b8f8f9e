import PlayheadMediaAssets
import PlayheadMediaCore

extension PlayerItem {
  /// The maximum number of groups that are kept for an item.
  private static let maximumGroupCount = 16

  /// The metadata of the stream at the position that is heard. Each value has the time at which it begins. Corresponds
  /// to AVPlayerItem's `timedMetadata`.
  ///
  /// Contains `icy/StreamTitle` and, if present, `icy/StreamUrl`; the last ID3 tag (`id3/...`); and the date range that
  /// began last (`hls/...`).
  public var timedMetadata: [MetadataItem] {
    var items: [MetadataItem] = []
    if let (time, title) = streamTitle {
      items.append(
        MetadataItem(keySpace: .icy, key: "StreamTitle", commonKey: .title, value: .string(title.title), time: time))
      if let url = title.url {
        items.append(MetadataItem(keySpace: .icy, key: "StreamUrl", value: .string(url), time: time))
      }
    }
    return items + timedMetadataGroups.flatMap(\.items)
  }

  /// The last group of each key space that was heard. Empty before the first group, after a seek, and while the item is
  /// not the current item of a player.
  public var timedMetadataGroups: [TimedMetadataGroup] {
    var spaces: Set<MetadataKeySpace> = []
    return timedGroups.reversed().filter { group in group.keySpace.map { spaces.insert($0).inserted } ?? false }
      .reversed()
  }

  /// Adds a group that is heard. Returns false if it is already known.
  func addTimedMetadata(_ group: TimedMetadataGroup) -> Bool {
    var groups = timedGroups
    if group.isCarriedOver, groups.contains(where: { $0.items == group.items }) { return false }
    groups.append(group)
    timedGroups = groups.suffix(Self.maximumGroupCount)
    return true
  }

  /// Removes all groups: they are no longer valid, or will be reported again.
  func removeTimedMetadata() { timedGroups = [] }
}
