/// Identifies an item. Unique in the process, and never reused.
public typealias PlayerItemID = UInt64
