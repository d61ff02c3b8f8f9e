import MediaAssets
import MediaCore

extension PlayerItem {
  /// Groups that are remembered of an item.
  private static let maximumGroupCount = 16

  /// What the stream says of what is heard now: `icy/StreamTitle`, and `icy/StreamUrl` when there is one, the last ID3 tag (`id3/...`), and
  /// the date range that began last (`hls/...`), each with the time from which on it holds. As AVPlayerItem's `timedMetadata`.
  public var timedMetadata: [MetadataItem] {
    var items: [MetadataItem] = []
    if let (time, said) = streamTitle {
      items.append(
        MetadataItem(keySpace: .icy, key: "StreamTitle", commonKey: .title, value: .string(said.title), time: time))
      if let url = said.url {
        items.append(MetadataItem(keySpace: .icy, key: "StreamUrl", value: .string(url), time: time))
      }
    }
    return items + timedMetadataGroups.flatMap(\.items)
  }

  /// The last group of each key space that was heard; none before one is, after a seek, and while the item is not the current one of a player.
  public var timedMetadataGroups: [TimedMetadataGroup] {
    var spaces: Set<MetadataKeySpace> = []
    return timedGroups.reversed().filter { group in group.keySpace.map { spaces.insert($0).inserted } ?? false }
      .reversed()
  }

  /// A group is heard; false when that is known.
  func noteTimedMetadata(_ group: TimedMetadataGroup) -> Bool {
    var groups = timedGroups
    if group.isHeld, groups.contains(where: { $0.items == group.items }) { return false }
    groups.append(group)
    timedGroups = groups.suffix(Self.maximumGroupCount)
    return true
  }

  /// What was heard before holds no more, or is told anew.
  func forgetTimedMetadata() { timedGroups = [] }
}
