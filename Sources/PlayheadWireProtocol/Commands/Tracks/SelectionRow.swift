/// A group of tracks, or a track of a group, as a row of a reply.
package struct SelectionRow: ReplyFields {
  /// The content of the row.
  package enum Content: Sendable {
    /// The group itself. `optionCount` is the number of its tracks.
    case group(allowsEmptySelection: Bool, optionCount: Int)
    case option(Option)
  }

  /// A track of the group.
  package struct Option: Sendable {
    /// The number of the track in the file, from 0.
    package var track: Int
    /// A code of ISO 639 or a tag of BCP 47. Nil: none.
    package var language: String?
    package var title: String?
    /// The first one is the group.
    package var characteristics: [String]
    package var isPlayable: Bool
    package var isDefault: Bool
    /// Nil for an asset, which has no selection.
    package var isSelected: Bool?

    package init(
      track: Int, language: String?, title: String?, characteristics: [String], isPlayable: Bool, isDefault: Bool,
      isSelected: Bool?
    ) {
      (self.track, self.language, self.title) = (track, language, title)
      (self.characteristics, self.isPlayable) = (characteristics, isPlayable)
      (self.isDefault, self.isSelected) = (isDefault, isSelected)
    }
  }

  package var group: MediaSelectionCommand.Group
  package var content: Content

  package init(group: MediaSelectionCommand.Group, content: Content) { (self.group, self.content) = (group, content) }

  private var option: Option? { if case .option(let option) = content { option } else { nil } }
  private var allowsEmptySelection: Bool? {
    if case .group(let allowsEmptySelection, _) = content { allowsEmptySelection } else { nil }
  }
  private var optionCount: Int? { if case .group(_, let count) = content { count } else { nil } }

  package static let fields: [Field<Self>] = [
    Field(.group) { $0.group }, Field(optional: .allowsEmptySelection) { $0.allowsEmptySelection },
    Field(optional: .options) { $0.optionCount }, Field(optional: .track) { $0.option?.track },
    Field(optional: .language) { $0.option?.language }, Field(optional: .title) { $0.option?.title },
    Field(optional: .characteristics) { $0.option?.characteristics },
    Field(optional: .playable) { $0.option?.isPlayable }, Field(optional: .default) { $0.option?.isDefault },
  ]

  /// The field of rows for an item, which has a selection.
  static let selectedField = Field<Self>(optional: .selected) { $0.option?.isSelected }

  /// The description of the rows, for the documents.
  static let details = """
    The reply has a row for each group: `audible` (audio) or `legible` (subtitles). It has the number of `options` and \
    `allowsEmptySelection`: whether the group may have no selection.

    A row for each option of the group follows:

    - `track`: the track, as in `item.select`
    - `language`, `title`: its language and title
    - `characteristics`: its characteristics; the first one is `audible` or `legible`
    - `playable`: whether it can be presented
    - `default`: whether it is presented by default
    """
}
