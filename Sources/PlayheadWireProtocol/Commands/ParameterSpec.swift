import PlayheadMediaCore

/// The name of a parameter: of an option in the text form, and of any parameter in JSON.
package struct ParameterName: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  package let rawValue: String

  package init(rawValue: String) { self.rawValue = rawValue }
  package init(stringLiteral name: String) { rawValue = name }
}

/// The names of parameters that several commands or the clients use.
extension ParameterName {
  package static let after: Self = "after"
  package static let album: Self = "album"
  package static let algorithm: Self = "algorithm"
  package static let apply: Self = "apply"
  package static let at: Self = "at"
  package static let axis: Self = "axis"
  package static let background: Self = "background"
  package static let before: Self = "before"
  package static let bigEndian: Self = "big-endian"
  package static let bins: Self = "bins"
  package static let bitRate: Self = "bit-rate"
  package static let bits: Self = "bits"
  package static let channels: Self = "channels"
  package static let clear: Self = "clear"
  package static let codec: Self = "codec"
  package static let color: Self = "color"
  package static let command: Self = "command"
  package static let conditions: Self = "conditions"
  package static let container: Self = "container"
  package static let count: Self = "count"
  package static let duration: Self = "duration"
  package static let end: Self = "end"
  package static let fast: Self = "fast"
  package static let file: Self = "file"
  package static let float: Self = "float"
  package static let format: Self = "format"
  package static let from: Self = "from"
  package static let gap: Self = "gap"
  package static let group: Self = "group"
  package static let header: Self = "header"
  package static let headerFor: Self = "header-for"
  package static let height: Self = "height"
  package static let id: Self = "id"
  package static let ifVersion: Self = "if-version"
  package static let index: Self = "index"
  package static let instance: Self = "instance"
  package static let interface: Self = "interface"
  package static let interval: Self = "interval"
  package static let item: Self = "item"
  package static let keys: Self = "keys"
  package static let language: Self = "language"
  package static let limit: Self = "limit"
  package static let list: Self = "list"
  package static let longestSilence: Self = "longest-silence"
  package static let metadata: Self = "metadata"
  package static let mix: Self = "mix"
  package static let mode: Self = "mode"
  package static let mono: Self = "mono"
  package static let name: Self = "name"
  package static let network: Self = "network"
  package static let offset: Self = "offset"
  package static let path: Self = "path"
  package static let paths: Self = "paths"
  package static let peakBitRate: Self = "peak-bit-rate"
  package static let player: Self = "player"
  package static let players: Self = "players"
  package static let precise: Self = "precise"
  package static let `protocol`: Self = "protocol"
  package static let quality: Self = "quality"
  package static let range: Self = "range"
  package static let rate: Self = "rate"
  package static let recorder: Self = "recorder"
  package static let replace: Self = "replace"
  package static let rights: Self = "rights"
  package static let sampleRate: Self = "sample-rate"
  package static let samplesPerBin: Self = "samples-per-bin"
  package static let scan: Self = "scan"
  package static let seeks: Self = "seeks"
  package static let sheet: Self = "sheet"
  package static let silenceLevel: Self = "silence-level"
  package static let since: Self = "since"
  package static let source: Self = "source"
  package static let start: Self = "start"
  package static let startLevel: Self = "start-level"
  package static let state: Self = "state"
  package static let time: Self = "time"
  package static let times: Self = "times"
  package static let timeout: Self = "timeout"
  package static let title: Self = "title"
  package static let to: Self = "to"
  package static let track: Self = "track"
  package static let upright: Self = "upright"
  package static let userAgent: Self = "user-agent"
  package static let video: Self = "video"
  package static let volume: Self = "volume"
  package static let wait: Self = "wait"
  package static let width: Self = "width"
}

/// The definition of one parameter: its name, its kind, and its position.
package struct ParameterSpec: Sendable {
  /// The values that a parameter accepts. Both forms parse text in the same way. JSON also accepts numbers for numeric
  /// kinds, and booleans for flags and toggles.
  package enum Kind: Sendable, Hashable {
    /// Any form of time, including relative times, percentages, `end` and `live`.
    case timeExpression
    /// A time from the item's beginning. Not negative.
    case time
    /// A time from the item's beginning, or `none`, which is read as an invalid time.
    case timeOrNone
    /// A duration, greater than zero if `positive`, else not negative.
    case duration(positive: Bool)
    /// A duration, or `inf`.
    case tolerance
    /// A queue entry: its id, which is at least 1, or its position relative to the current entry.
    case entry
    /// An integer in a range.
    case integer(ClosedRange<Int>)
    /// A number in a range, in JSON's grammar.
    case number(ClosedRange<Double>, exceptZero: Bool)
    /// A volume, or a change of the volume.
    case volume
    /// One of these words.
    case word([String])
    /// `on`, `off` or `toggle`. JSON also accepts `true` and `false`.
    case toggle
    /// `on` or `off`. JSON also accepts `true` and `false`.
    case onOff
    /// The bare name in the text form, `true` or `false` in JSON.
    case flag
    /// `true` or `false`.
    case boolean
    /// Any text up to this number of bytes.
    case text(maximumByteCount: Int)
    /// Several texts in one argument, with a separator, up to this number of bytes in total. JSON also accepts an
    /// array.
    case texts(maximumByteCount: Int, separator: TextSeparator)
    /// A file path, a URL, or the token of a passed descriptor.
    case path
    /// A file path, for parameters where URLs are not supported.
    case localPath
    /// A file to write: a file path, or the token of a passed descriptor.
    case outputPath
    /// A player name: 1 to 64 characters of `[A-Za-z0-9._-]`.
    case playerName
    /// A player name, or `*` for all players.
    case playerNameOrAll
    /// A command name.
    case commandName
    /// An observable key, or a pattern with `*` for several.
    case key
    /// A condition of `wait`.
    case condition
    /// The id of a request of the same connection.
    case requestID
    /// A command that edits the queue, as one argument. JSON also accepts an object with `method` and `params`.
    case edit
    /// A track: its number, `none`, `auto`, or a language code.
    case track
    /// A range of times from the item's beginning. JSON also accepts an object with `start` and `end`.
    case range
    /// A track for each group. JSON also accepts an object with `audible` and `legible`.
    case selection
    /// The start moment of players: `now`, `+TIME`, a time of the monotonic clock, a date or time of day, or a frame of
    /// the output.
    case startMoment
    /// A start moment that is not a frame of the output.
    case startDate
    /// A start moment that is neither a frame of the output nor a date.
    case startTime

    /// The separator of texts.
    package enum TextSeparator: UInt8, Sendable, Hashable {
      case comma = 0x2C
      case newline = 0x0A

      var plural: String { self == .comma ? "commas" : "newlines" }
    }

    /// Whether the kind is a path.
    var isPath: Bool { self == .path || self == .localPath || self == .outputPath }

    /// A description of the accepted values for error messages, help and the reference.
    package var accepted: String {
      switch self {
      case .timeExpression: "a time such as 83.5, 250ms, 1m30s, 1:23.5, 441000/44100, +5, -5, 50%, end or live"
      case .time: "a time such as 83.5, 250ms, 1m30s, 1:23.5 or 441000/44100"
      case .timeOrNone: "a time such as 83.5, 250ms, 1m30s, 1:23.5 or 441000/44100, or none"
      case .duration(let positive):
        "a time \(positive ? "above" : "of at least") 0, such as 0.5, 250ms, 1m30s or 1/44100"
      case .tolerance: "a time of at least 0, or inf"
      case .entry: "the id of an entry, current, next, previous, +N, -N or #N"
      case .integer(let range) where range.upperBound == .max: "a whole number of at least \(range.lowerBound)"
      case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
      case .number(let range, let exceptZero):
        "a number from \(NumberText.number(range.lowerBound)) to \(NumberText.number(range.upperBound))"
          + (exceptZero ? ", but not 0" : "")
      case .volume: VolumeSetting.accepted
      case .word(let words): (words.count > 1 ? "one of " : "") + words.joined(separator: ", ")
      case .toggle: "on, off or toggle"
      case .onOff: "on or off"
      case .flag, .boolean: "true or false"
      case .text(let count): "a text of at most \(count) bytes"
      case .texts(let count, let separator):
        "texts of at most \(count) bytes in all, separated by \(separator.plural); in JSON also an array"
      case .path: "an absolute path, a file://, http:// or https:// URL, or fd:TOKEN"
      case .localPath: "an absolute path, or a file:// URL"
      case .outputPath: "an absolute path, a file:// URL, or fd:TOKEN"
      case .playerName: "1 to 64 characters of A-Z a-z 0-9 . _ -"
      case .playerNameOrAll: "1 to 64 characters of A-Z a-z 0-9 . _ -, or * for all players"
      case .commandName: "the name of a command"
      case .requestID: "the id of a request"
      case .key: "a key such as player.rate, or a pattern for several keys such as player.* or *.rate"
      case .track: "the number of a track, a language such as de or eng, none, or auto"
      case .range:
        "a range such as 70-83.5, or 70-inf without an end, that ends after its start; in JSON also an object such as"
          + " {\"start\": 70, \"end\": 83.5}"
      case .selection:
        "tracks such as audible=1,legible=none; in JSON also an object such as {\"audible\": 1, \"legible\": null}"
      case .edit: "a command that edits the queue, such as \"move 5 to=0\" or \"remove 9\""
      case .condition:
        "one of time>=TIME, time>TIME, time<=TIME, time<TIME, status=playing, status=paused, status=waiting, item=ID,"
          + " ended, ready, silence>=TIME"
      case .startMoment:
        "now, a time from now such as +0.5, a date such as 2026-12-24T18:00:00+01:00, a time of day such as 18:00, an"
          + " instant of the monotonic clock such as 1234.5, or frame:N"
      case .startDate:
        "now, a time from now such as +0.5, a date such as 2026-12-24T18:00:00+01:00, a time of day such as 18:00, or an"
          + " instant of the monotonic clock such as 1234.5"
      case .startTime: "now, a time from now such as +0.5, or an instant of the monotonic clock such as 1234.5"
      }
    }
  }

  /// The position of a parameter in the text form.
  package enum Position: Sendable, Hashable {
    /// Positional, required.
    case required
    /// Positional, optional.
    case optional
    /// All remaining arguments, at least one. In JSON an array, or a single value.
    case list
    /// All remaining arguments, possibly none.
    case optionalList
    /// `name=value` at any position. A flag is its bare name.
    case option

    /// Whether the parameter accepts more than one value.
    package var isVariadic: Bool { self == .list || self == .optionalList }
  }

  package let name: ParameterName
  package let kind: Kind
  package let position: Position
  /// The placeholder of the value in the synopsis, such as `TIME`.
  package let placeholder: String
  /// One phrase for help and the reference.
  package let summary: String
  /// The bytes of the name, for comparisons.
  let nameBytes: [UInt8]

  init(_ name: ParameterName, _ kind: Kind, _ position: Position, _ placeholder: String, _ summary: String) {
    self.name = name
    self.kind = kind
    self.position = position
    self.placeholder = placeholder
    self.summary = summary
    nameBytes = Array(name.rawValue.utf8)
  }

  /// The parameter as shown in the synopsis: `TIME`, `[VOLUME]`, `PATH...`, `[fast]`, `[before=TIME]`.
  package var synopsis: String {
    switch position {
    case .required: placeholder
    case .optional: "[\(placeholder)]"
    case .list: "\(placeholder)..."
    case .optionalList: "[\(placeholder)...]"
    case .option: kind == .flag ? "[\(name.rawValue)]" : "[\(name.rawValue)=\(placeholder)]"
    }
  }
}

/// Formats numbers for messages.
enum NumberText {
  /// Formats a number without a redundant `.0`.
  static func number(_ value: Double) -> String {
    var buffer: [UInt8] = []
    FieldValue.float(value).appendWords(to: &buffer)
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Formats a time in seconds, as in replies.
  static func seconds(_ time: MediaTime) -> String {
    var buffer: [UInt8] = []
    FieldValue.time(time).appendWords(to: &buffer)
    return String(decoding: buffer, as: UTF8.self)
  }
}
