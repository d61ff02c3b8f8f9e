import PlayheadMediaCore

/// The fields of a `timed-metadata` event, without its position.
public struct TimedTag: ReplyFields {
  /// How long the metadata is valid. Nil if it is unknown.
  public var duration: MediaTime?
  /// Whether the metadata started before the position where playback started.
  public var isHeld: Bool
  public var tag: Tag
  /// The data in base64. Nil for other values and for larger data.
  public var data: String?

  public init(duration: MediaTime?, isHeld: Bool, tag: Tag, data: String?) {
    (self.duration, self.isHeld, self.tag, self.data) = (duration, isHeld, tag, data)
  }

  public static let fields: [Field<Self>] =
    [Field(optional: .duration) { $0.duration }, Field(optional: .held) { $0.isHeld ? true : nil }]
    + Tag.fields.map { $0.within(\.tag) } + [
      Field(optional: .code) { $0.tag.error?.code.rawValue }, Field(optional: .name) { $0.tag.error?.code.name },
      Field(optional: .message) { $0.tag.error?.message }, Field(optional: .data) { $0.data },
    ]
}
