import PlayheadMediaCore

/// The reply of commands that seek.
package struct SeekReply: ReplyFields {
  package var finished: Bool
  package var item: UInt64
  package var time: MediaTime
  package var requested: MediaTime
  /// The tolerance before the requested time, in seconds; infinite: no limit.
  package var before: MediaTime
  package var after: MediaTime
  package var exact: Bool
  package var clamped: Bool
  package var microseconds: Int64
  /// Nil while the time does not advance.
  package var hostTime: HostTime?
  /// Nil for an exact position.
  package var reason: String?

  package init(
    finished: Bool, item: UInt64, time: MediaTime, requested: MediaTime, before: MediaTime, after: MediaTime,
    exact: Bool, clamped: Bool, microseconds: Int64, hostTime: HostTime?, reason: String?
  ) {
    (self.finished, self.item, self.time, self.requested) = (finished, item, time, requested)
    (self.before, self.after, self.exact, self.clamped) = (before, after, exact, clamped)
    (self.microseconds, self.hostTime, self.reason) = (microseconds, hostTime, reason)
  }

  package static let fields: [Field<Self>] = [
    Field(.finished) { $0.finished }, Field(.item) { $0.item }, Field(.time) { $0.time }, Field(.pts) { $0.time },
    Field(.requested) { $0.requested }, Field(nullable: .before) { $0.before }, Field(nullable: .after) { $0.after },
    Field(.exact) { $0.exact }, Field(.clamped) { $0.clamped }, Field(.us) { $0.microseconds },
    Field(nullable: .hostTime) { $0.hostTime }, Field(optional: .seekReason) { $0.reason },
  ]
}
