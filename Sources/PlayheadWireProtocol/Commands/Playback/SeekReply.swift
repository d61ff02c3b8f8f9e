import PlayheadMediaCore

/// The reply of commands that seek.
public struct SeekReply: ReplyFields {
  public var finished: Bool
  public var item: UInt64
  public var time: MediaTime
  public var requested: MediaTime
  /// The tolerance before the requested time, in seconds; infinite: no limit.
  public var before: MediaTime
  public var after: MediaTime
  public var exact: Bool
  public var clamped: Bool
  public var microseconds: Int64
  /// Nil while the time does not advance.
  public var hostTime: HostTime?
  /// Nil for an exact position.
  public var reason: String?

  public init(
    finished: Bool, item: UInt64, time: MediaTime, requested: MediaTime, before: MediaTime, after: MediaTime,
    exact: Bool, clamped: Bool, microseconds: Int64, hostTime: HostTime?, reason: String?
  ) {
    (self.finished, self.item, self.time, self.requested) = (finished, item, time, requested)
    (self.before, self.after, self.exact, self.clamped) = (before, after, exact, clamped)
    (self.microseconds, self.hostTime, self.reason) = (microseconds, hostTime, reason)
  }

  public static let fields: [Field<Self>] = [
    Field(.finished) { $0.finished }, Field(.item) { $0.item }, Field(.time) { $0.time }, Field(.pts) { $0.time },
    Field(.requested) { $0.requested }, Field(nullable: .before) { $0.before }, Field(nullable: .after) { $0.after },
    Field(.exact) { $0.exact }, Field(.clamped) { $0.clamped }, Field(.us) { $0.microseconds },
    Field(nullable: .hostTime) { $0.hostTime }, Field(optional: .seekReason) { $0.reason },
  ]
}
