import PlayheadMediaCore

/// The fields of a `timed-metadata` event, without its position.
package struct TimedTag: ReplyFields {
  /// How long the metadata is valid. Nil if it is unknown.
  package var duration: MediaTime?
  /// Whether the metadata started before the position where playback started.
  package var isHeld: Bool
  package var tag: Tag
  /// The data in base64. Nil for other values and for larger data.
  package var data: String?

  package init(duration: MediaTime?, isHeld: Bool, tag: Tag, data: String?) {
    (self.duration, self.isHeld, self.tag, self.data) = (duration, isHeld, tag, data)
  }

  package static let fields: [Field<Self>] =
    [Field(optional: .duration) { $0.duration }, Field(optional: .held) { $0.isHeld ? true : nil }]
    + Tag.fields.map { $0.within(\.tag) } + [
      Field(optional: .code) { $0.tag.error?.code.rawValue }, Field(optional: .name) { $0.tag.error?.code.name },
      Field(optional: .message) { $0.tag.error?.message }, Field(optional: .data) { $0.data },
    ]
}
