import PlayheadMediaCore

/// The definition of an observable key: its name, the type and the meaning of its value, and how a `Root` provides it.
package struct ObservedKey<Root>: Sendable {
  package let key: ObservableKey
  /// The definition of the value.
  let spec: FieldSpec
  private let read: @Sendable (Root) -> FieldValue

  private init(
    _ key: ObservableKey, _ type: FieldType, _ summary: String, nullable isNullable: Bool = false,
    _ read: @escaping @Sendable (Root) -> FieldValue
  ) {
    let spec = FieldSpec(key.rawValue, type, summary)
    (self.key, self.spec, self.read) = (key, isNullable ? spec.nullable : spec, read)
  }

  /// The value of the key.
  package func value(in root: Root) -> FieldValue { read(root) }

  static func boolean(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> Bool
  ) -> Self { Self(key, .boolean, summary) { .bool(value($0)) } }

  static func number(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> Double
  ) -> Self { Self(key, .number, summary) { .float(value($0)) } }

  static func number(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> Float
  ) -> Self { Self(key, .number, summary) { .float(value($0)) } }

  static func integer(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> UInt64
  ) -> Self { Self(key, .integer, summary) { .int(value($0)) } }

  /// A duration, which is `indefinite` while unknown.
  static func duration(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> MediaTime
  ) -> Self { Self(key, .time, summary, nullable: true) { .time(value($0)) } }

  static func text(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> String
  ) -> Self { Self(key, .text, summary) { .string(value($0)) } }

  static func word(
    _ key: ObservableKey, _ type: FieldType, _ summary: String,
    _ value: @escaping @Sendable (Root) -> String
  ) -> Self { Self(key, type, summary) { .string(value($0)) } }

  // MARK: - Values that may be absent

  static func optionalInteger(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> UInt64?
  ) -> Self { Self(key, .integer, summary, nullable: true) { value($0).map { .int($0) } ?? .none } }

  static func optionalDuration(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> MediaTime?
  ) -> Self { Self(key, .time, summary, nullable: true) { value($0).map { .time($0) } ?? .none } }

  static func optionalText(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> String?
  ) -> Self { Self(key, .text, summary, nullable: true) { value($0).map { .string($0) } ?? .none } }

  static func optionalWord(
    _ key: ObservableKey, _ type: FieldType, _ summary: String,
    _ value: @escaping @Sendable (Root) -> String?
  ) -> Self { Self(key, type, summary, nullable: true) { value($0).map { .string($0) } ?? .none } }

  static func optionalRange(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> TimeRange?
  ) -> Self { Self(key, .range, summary, nullable: true) { value($0).map { .range($0) } ?? .none } }

  static func optionalSelection(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> TrackSelection?
  ) -> Self { Self(key, .selection, summary, nullable: true) { value($0).map { .selection($0) } ?? .none } }

  static func optionalCriteria(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> MediaSelectionRequest?
  ) -> Self { Self(key, .criteria, summary, nullable: true) { value($0).map { .options($0.options) } ?? .none } }

  static func outputSelection(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> OutputSelectionFields
  ) -> Self { Self(key, .outputSelection, summary) { .options(value($0).options) } }

  /// A list of words of an enumeration.
  static func optionalWords<Word: RawRepresentable<String> & CaseIterable>(
    _ key: ObservableKey, _: Word.Type, _ summary: String, _ value: @escaping @Sendable (Root) -> [String]?
  ) -> Self {
    Self(key, .words(Word.allCases.map(\.rawValue)), summary, nullable: true) {
      value($0).map { .strings($0) } ?? .none
    }
  }

  static func optionalTexts(
    _ key: ObservableKey, _ summary: String, _ value: @escaping @Sendable (Root) -> [String]?
  ) -> Self { Self(key, .texts, summary, nullable: true) { value($0).map { .strings($0) } ?? .none } }
}
