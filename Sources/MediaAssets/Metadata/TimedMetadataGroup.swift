import MediaCore

/// What a stream says from some time on. As `AVTimedMetadataGroup`.
public struct TimedMetadataGroup: Sendable, Hashable {
  /// Each with the group's time and duration.
  public var items: [MetadataItem]
  /// On the item's timeline.
  public var time: MediaTime
  /// Nil: not said.
  public var duration: MediaTime?
  /// It held already where reading began, and was not met there.
  public var isHeld: Bool

  public init(items: [MetadataItem], time: MediaTime, duration: MediaTime? = nil, isHeld: Bool = false) {
    self.items = items.map { item in
      var item = item
      (item.time, item.duration) = (time, duration)
      return item
    }
    self.time = time
    self.duration = duration
    self.isHeld = isHeld
  }

  /// The same where another time is 0.
  public func moved(by difference: MediaTime) -> TimedMetadataGroup {
    TimedMetadataGroup(items: items, time: time - difference, duration: duration, isHeld: isHeld)
  }

  /// Where the items are from.
  public var keySpace: MetadataKeySpace? { items.first?.keySpace }
}
