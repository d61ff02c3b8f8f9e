import PlayheadMediaCore

/// Metadata of a stream that becomes valid at a time, as `AVTimedMetadataGroup`.
public struct TimedMetadataGroup: Sendable, Hashable {
  /// The items. Each has the group's time and duration.
  public var items: [MetadataItem]
  /// The time on the item's timeline.
  public var time: MediaTime
  /// The duration; nil if unspecified.
  public var duration: MediaTime?
  /// Whether the metadata became valid before reading began.
  public var isCarriedOver: Bool

  /// Creates a group, and sets the time and the duration of its items.
  public init(items: [MetadataItem], time: MediaTime, duration: MediaTime? = nil, isCarriedOver: Bool = false) {
    self.items = items.map { item in
      var item = item
      (item.time, item.duration) = (time, duration)
      return item
    }
    self.time = time
    self.duration = duration
    self.isCarriedOver = isCarriedOver
  }

  /// Returns the group on a timeline whose time 0 is `origin`.
  public func relative(to origin: MediaTime) -> TimedMetadataGroup {
    TimedMetadataGroup(items: items, time: time - origin, duration: duration, isCarriedOver: isCarriedOver)
  }

  /// The key space of the items.
  public var keySpace: MetadataKeySpace? { items.first?.keySpace }
}
