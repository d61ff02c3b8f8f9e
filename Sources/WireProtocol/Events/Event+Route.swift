extension Event {
  /// The payload of `route-changed`.
  public struct RouteChanged: Sendable, Hashable {
    public var subscription: Int
    public var player: String
    /// The reason, with the name that AVFoundation uses.
    public var reason: String
    /// The device and port. Nil: there was or is none.
    public var previous: String?
    public var current: String?
    /// The human-readable name of the current device.
    public var description: String?
    /// The default input of the sound server.
    public var input: String?

    public init(
      player: String, reason: String, previous: String?, current: String?, description: String?, input: String?
    ) {
      subscription = 0
      self.player = player
      self.reason = reason
      self.previous = previous
      self.current = current
      self.description = description
      self.input = input
    }

    var fields: Fields {
      func text(_ text: String?) -> FieldValue { text.map { .string($0) } ?? FieldValue.none }
      return [
        "id": .int(subscription), "player": .string(player), "reason": .string(reason), "previous": text(previous),
        "current": text(current), "description": text(description), "input": text(input),
      ]
    }
  }
}
