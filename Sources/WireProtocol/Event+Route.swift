extension Event {
  /// The payload of `route-changed`.
  public struct RouteChanged: Sendable, Hashable {
    public var subscription: Int
    public var player: String
    /// AVFoundation's word.
    public var reason: String
    /// Device and port; nil: nothing was, or is, heard.
    public var previous: String?
    public var current: String?
    /// The present device, for people.
    public var description: String?
    /// The input that is the server's default.
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
