import PlayheadMediaCore

/// Converts one argument, either text or a JSON value, to the type of its parameter. All kinds are parsed here.
///
/// Creates a `String` only for values that are strings.
enum ArgumentReader {
  /// The maximum length of a time in bytes. A longer text could not be represented exactly.
  private static let timeByteCount = 128

  /// The reason why a text is not a value of a kind.
  private enum Fault: Error {
    case bad
    case badTime
    case other(MediaError)
  }

  /// A JSON value.
  enum JSONArgument {
    case string(ArraySlice<UInt8>)
    /// The bytes of the number as written.
    case number(ArraySlice<UInt8>)
    case bool(Bool)
    case null
    /// Any other JSON type. The string is its name in error messages.
    case other(String)
  }

  /// Reads an argument of the text form, or a JSON string.
  ///
  /// - Throws: `bad-arguments`, `invalid-time`, `no-such-property` or `unsupported-location`. The message contains the
  ///   parameter and its accepted values.
  static func value(
    text: ArraySlice<UInt8>, for parameter: ParameterSpec, of spec: CommandSpec
  ) throws(MediaError) -> ArgumentValue {
    do throws(Fault) { return try value(text, parameter.kind) } catch {
      // Header fields may contain secrets.
      var shown = parameter.name == .header ? "\(text.count) bytes" : Excerpt.quoted(text)
      if case .badTime = error, let fault = TimeExpression.fault(of: text) { shown += ": \(fault)" }
      throw failure(error, shown, parameter, spec)
    }
  }

  /// Reads a JSON value other than an array. Strings are read as in the text form, numbers exactly from their token.
  /// Flags and toggles accept booleans.
  static func value(
    json: JSONArgument, for parameter: ParameterSpec, of spec: CommandSpec
  ) throws(MediaError) -> ArgumentValue {
    switch (json, parameter.kind) {
    case (.number(let token), .integer), (.number(let token), .entry), (.number(let token), .number),
      (.number(let token), .volume),
      (.number(let token), .timeExpression), (.number(let token), .time), (.number(let token), .timeOrNone),
      (.number(let token), .duration), (.number(let token), .tolerance), (.number(let token), .startMoment),
      (.number(let token), .startDate), (.number(let token), .startTime), (.number(let token), .track):
      do throws(Fault) { return try number(token, parameter.kind) } catch {
        throw failure(error, String(decoding: token.prefix(64), as: UTF8.self), parameter, spec)
      }
    case (.number(let token), .word(let words)):
      guard let word = words.first(where: { $0.utf8.elementsEqual(token) }) else {
        throw failure(.bad, String(decoding: token.prefix(64), as: UTF8.self), parameter, spec)
      }
      return .text(word)
    case (.number(let token), .requestID): return .requestID(.jsonNumber(String(decoding: token, as: UTF8.self)))
    case (.string(let text), .requestID): return .requestID(.jsonString(String(decoding: text, as: UTF8.self)))
    case (.bool(let value), .flag), (.bool(let value), .boolean):
      return .flag(value)
    case (.bool(let value), .word(let words)):
      guard let word = words.first(where: { $0 == (value ? "true" : "false") }) else {
        throw failure(.bad, "a boolean", parameter, spec)
      }
      return .text(word)
    case (.bool(let value), .toggle), (.bool(let value), .onOff):
      return .text(value ? "on" : "off")
    case (.string(let text), .entry):
      guard let entry = EntryReference(relative: text) else { throw failure(.bad, "a string", parameter, spec) }
      return .entry(entry)
    case (.string, .integer), (.string, .number), (.string, .flag):
      throw failure(.bad, "a string", parameter, spec)
    case (.string(let text), _):
      return try value(text: text, for: parameter, of: spec)
    case (.number, _): throw failure(.bad, "a number", parameter, spec)
    case (.bool, _): throw failure(.bad, "a boolean", parameter, spec)
    case (.null, _): throw failure(.bad, JSONSyntax.Kind.null.name, parameter, spec)
    case (.other(let kind), _): throw failure(.bad, kind, parameter, spec)
    }
  }

  /// The value of a JSON `null`: `none` for the kinds of time and track that accept `none`. Nil for other kinds, which
  /// means that the parameter is not given.
  static func null(_ kind: ParameterSpec.Kind) -> ArgumentValue? {
    switch kind {
    case .timeOrNone: .time(.invalid)
    case .track: .track(.none)
    default: nil
    }
  }

  /// Whether a text is a valid id or time of a simple form: a few digits, and for a time decimals. False for all other
  /// forms, which `value` must check. A line may contain thousands of ids or times, so each is converted only on
  /// access.
  static func isPlain(_ text: ArraySlice<UInt8>, _ kind: ParameterSpec.Kind) -> Bool {
    let fractionLimit: Int
    switch kind {
    case .entry: fractionLimit = 0
    case .time: fractionLimit = 6
    default: return false
    }
    let digits = text.prefix { ASCII.isDigit($0) }
    guard (1...9).contains(digits.count) else { return false }
    if digits.first == UInt8(ascii: "0"), kind == .entry || digits.count > 1 { return false }
    guard digits.count < text.count else { return true }
    let fraction = text[digits.endIndex...].dropFirst()
    return text[digits.endIndex] == UInt8(ascii: ".") && (1...max(1, fractionLimit)).contains(fraction.count)
      && fractionLimit > 0 && fraction.allSatisfy { ASCII.isDigit($0) }
  }

  /// Converts a text that an earlier check accepted.
  static func validated(_ text: ArraySlice<UInt8>, _ kind: ParameterSpec.Kind) -> ArgumentValue {
    do throws(Fault) { return try value(text, kind) } catch {
      preconditionFailure("a value that was accepted cannot be read again")
    }
  }

  // MARK: - Kinds

  private static func value(_ text: ArraySlice<UInt8>, _ kind: ParameterSpec.Kind) throws(Fault) -> ArgumentValue {
    switch kind {
    case .timeExpression: return .expression(try expression(text))
    case .time, .timeOrNone, .duration, .tolerance:
      if kind == .timeOrNone, text.elementsEqual("none".utf8) { return .time(.invalid) }
      if kind == .tolerance, text.elementsEqual("inf".utf8) { return .time(.positiveInfinity) }
      guard case .absolute(let time) = try expression(text) else { throw .badTime }
      return .time(try checked(time, kind))
    case .integer(let range): return .integer(try integer(text, range))
    case .entry:
      if let entry = EntryReference(relative: text) { return .entry(entry) }
      return .entry(.id(try integer(text, 1...Int.max)))
    case .number(let range, let exceptZero): return .number(try number(text, range, exceptZero: exceptZero))
    case .volume:
      guard let volume = VolumeSetting(text) else { throw .bad }
      return .volume(volume)
    case .word(let words):
      guard let word = words.first(where: { $0.utf8.elementsEqual(text) }) else { throw .bad }
      return .text(word)
    case .toggle: return .text(try word(text, ["on", "off", "toggle"]))
    case .onOff: return .text(try word(text, ["on", "off"]))
    case .text(let maximum), .texts(let maximum, _):
      guard text.count <= maximum else { throw .bad }
      return .text(String(decoding: text, as: UTF8.self))
    case .flag, .boolean:
      if text.elementsEqual("true".utf8) { return .flag(true) }
      guard text.elementsEqual("false".utf8) else { throw .bad }
      return .flag(false)
    case .path, .localPath, .outputPath:
      let path: FilePath
      do throws(MediaError) { path = try FilePath(wire: text) } catch { throw .other(error) }
      guard path.isFile || kind == .path || kind == .outputPath && path.descriptorToken != nil else { throw .bad }
      return .path(path)
    case .playerName:
      guard !text.elementsEqual(PlayerSelection.textOfAll.utf8) else {
        throw .other(MediaError(.badArguments, "this command accepts one player, not all (*)"))
      }
      guard ASCII.isName(text, maximum: 64) else { throw .bad }
      return .text(String(decoding: text, as: UTF8.self))
    case .playerNameOrAll:
      guard text.elementsEqual(PlayerSelection.textOfAll.utf8) || ASCII.isName(text, maximum: 64) else { throw .bad }
      return .text(String(decoding: text, as: UTF8.self))
    case .commandName:
      guard let command = CommandTable.spec(named: text)?.name else {
        throw .other(CommandTable.unknownCommand(String(decoding: text, as: UTF8.self)))
      }
      return .command(command)
    case .requestID:
      guard ASCII.isName(text, maximum: 1_024) else { throw .bad }
      return .requestID(.words(String(decoding: text, as: UTF8.self)))
    case .condition: return .condition(try condition(text))
    case .track: return .track(try track(text))
    case .startMoment, .startDate, .startTime: return .moment(try startMoment(text, kind))
    case .range:
      guard let range = try? range(text) else { throw .bad }
      return .range(range)
    case .selection: return .selection(try selection(text))
    case .key, .edit: preconditionFailure("the command table has keys and edits in lists only")
    }
  }

  /// Reads the token of a JSON number.
  private static func number(_ token: ArraySlice<UInt8>, _ kind: ParameterSpec.Kind) throws(Fault) -> ArgumentValue {
    switch kind {
    // A number is an id. A position is a text.
    case .entry: return .entry(.id(try integer(token, 1...Int.max)))
    // A number is a volume. A change is a text, because JSON has no positive sign.
    case .volume: return .volume(.absolute(try number(token, 0...1, exceptZero: false)))
    case .timeExpression: return .expression(.absolute(try checked(try time(token), kind)))
    case .time, .timeOrNone, .duration, .tolerance: return .time(try checked(try time(token), kind))
    case .startMoment, .startDate, .startTime: return .moment(.instant(try checked(try time(token), kind)))
    default: return try value(token, kind)
    }
  }

  private static func word(_ text: ArraySlice<UInt8>, _ words: [StaticString]) throws(Fault) -> String {
    for word in words where word.withUTF8Buffer({ text.elementsEqual($0) }) { return "\(word)" }
    throw .bad
  }

  private static func expression(_ text: ArraySlice<UInt8>) throws(Fault) -> TimeExpression {
    guard text.count <= timeByteCount, let expression = TimeExpression(bytes: text) else { throw .badTime }
    return expression
  }

  private static func time(_ token: ArraySlice<UInt8>) throws(Fault) -> MediaTime {
    guard token.count <= timeByteCount, let time = MediaTime(decimalBytes: token), time.isNumeric else {
      throw .badTime
    }
    return time
  }

  /// Checks that a time is in the range of its kind.
  private static func checked(_ time: MediaTime, _ kind: ParameterSpec.Kind) throws(Fault) -> MediaTime {
    let isPositive = kind == .duration(positive: true)
    guard time.isNumeric, time.value > 0 || (time.value == 0 && !isPositive) else { throw .badTime }
    return time
  }

  private static func integer(_ text: ArraySlice<UInt8>, _ range: ClosedRange<Int>) throws(Fault) -> Int {
    guard let value = ASCII.integer(text), range.contains(value) else { throw .bad }
    return value
  }

  private static func number(
    _ text: ArraySlice<UInt8>, _ range: ClosedRange<Double>, exceptZero: Bool
  ) throws(Fault) -> Double {
    let isShort = text.first == UInt8(ascii: ".")
    guard isShort ? text.count > 1 && ASCII.isJSONNumber(text.dropFirst(), fraction: true) : ASCII.isJSONNumber(text)
    else { throw .bad }
    let written = String(decoding: text, as: UTF8.self)
    guard let value = Double(isShort ? "0\(written)" : written), range.contains(value), !(exceptZero && value == 0)
    else { throw .bad }
    // Normalizes -0 to 0.
    return value == 0 ? 0 : value
  }

  private static func condition(_ text: ArraySlice<UInt8>) throws(Fault) -> WaitCondition {
    if text.elementsEqual("ended".utf8) { return .ended }
    if text.elementsEqual("ready".utf8) { return .ready }
    if text.starts(with: "time>".utf8) || text.starts(with: "time<".utf8) { return try timeCondition(text) }
    if text.starts(with: "silence>=".utf8) {
      guard case .absolute(let time) = try expression(text.dropFirst("silence>=".utf8.count)), time.isNumeric,
        time >= SilenceCommand.shortestDuration, time <= SilenceCommand.longestDuration
      else { throw .badTime }
      return .silence(time)
    }
    if text.starts(with: "status=".utf8) {
      let name = text.dropFirst("status=".utf8.count)
      if name.elementsEqual("waiting".utf8) { return .status(.waitingToPlayAtSpecifiedRate) }
      if let status = timeControlStatuses.first(where: { $0.rawValue.utf8.elementsEqual(name) }) {
        return .status(status)
      }
    }
    if text.starts(with: "item=".utf8) {
      let number = text.dropFirst("item=".utf8.count)
      if let entry = EntryReference(relative: number) { return .entry(entry) }
      if number.allSatisfy(ASCII.isDigit), let item = ASCII.integer(number), item > 0 { return .currentItem(item) }
    }
    throw .bad
  }

  /// Reads `time>=TIME`, `time>TIME`, `time<=TIME` or `time<TIME`.
  private static func timeCondition(_ text: ArraySlice<UInt8>) throws(Fault) -> WaitCondition {
    let isAtLeast = text.dropFirst("time".utf8.count).first == UInt8(ascii: ">")
    var value = text.dropFirst("time>".utf8.count)
    let isStrict = value.first != UInt8(ascii: "=")
    if !isStrict { value = value.dropFirst() }
    guard case .absolute(var time) = try expression(value), time.isNumeric, time.value >= 0 else { throw .badTime }
    // No two frames are nearer than a nanosecond, so the next frame after TIME is at or after this time.
    if isStrict { time = isAtLeast ? time + nanosecond : time - nanosecond }
    guard time.isNumeric, time.value >= 0 else { throw .badTime }
    return isAtLeast ? .timeAtLeast(time) : .timeAtMost(time)
  }

  private static let nanosecond = MediaTime(value: 1, timescale: 1_000_000_000)

  private static let timeControlStatuses = WaitCondition.TimeControlStatus.allCases

  private static func track(_ text: ArraySlice<UInt8>) throws(Fault) -> TrackChoice {
    if text.elementsEqual("none".utf8) { return .none }
    if text.elementsEqual("auto".utf8) { return .automatic }
    if text.allSatisfy(ASCII.isDigit), let number = ASCII.integer(text) { return .track(number) }
    // BCP 47 (RFC 5646, 2.1): letters, digits and hyphens. The first subtag is a language of at least two letters.
    let language = text.prefix { $0 != UInt8(ascii: "-") }
    guard (2...8).contains(language.count), language.allSatisfy({ !ASCII.isDigit($0) }),
      ASCII.isName(text, maximum: 35), !text.contains(UInt8(ascii: ".")), !text.contains(UInt8(ascii: "_"))
    else { throw .bad }
    return .language(String(decoding: text, as: UTF8.self))
  }

  private static func startMoment(
    _ text: ArraySlice<UInt8>, _ kind: ParameterSpec.Kind
  ) throws(Fault) -> RequestedMoment {
    if text.elementsEqual("now".utf8) { return .now }
    if text.starts(with: "frame:".utf8) {
      guard kind == .startMoment else { throw .bad }
      let number = text.dropFirst("frame:".utf8.count)
      guard number.allSatisfy(ASCII.isDigit), let frame = ASCII.integer(number) else { throw .badTime }
      return .frame(Int64(frame))
    }
    if DateExpression.isDate(text) {
      // A time of day must not be read as minutes and seconds of the monotonic clock.
      guard kind != .startTime else { throw .badTime }
      do throws(MediaError) { return .date(try DateExpression(bytes: text)) } catch { throw .other(error) }
    }
    switch try expression(text) {
    case .relative(let delay): return .after(try checked(delay, kind))
    case .absolute(let instant): return .instant(try checked(instant, kind))
    case .percent, .end: throw .badTime
    }
  }

  // MARK: - Objects

  /// The members of an object, as they are read.
  struct ObjectMembers {
    let kind: ParameterSpec.Kind
    private var selection = TrackSelection()
    private var start: MediaTime?
    private var end: MediaTime?

    init(of kind: ParameterSpec.Kind) { self.kind = kind }

    /// Adds a member.
    ///
    /// - Returns: Whether the member is valid. Two members with one name are not.
    mutating func add(_ member: JSONArgument, named name: ArraySlice<UInt8>) -> Bool {
      do throws(Fault) {
        if kind == .selection {
          guard let group = ArgumentReader.group(name), selection[group] == nil else { return false }
          selection[group] = try ArgumentReader.trackChoice(member)
        } else if name.elementsEqual("start".utf8), start == nil {
          start = try ArgumentReader.rangeTime(member)
        } else if name.elementsEqual("end".utf8), end == nil {
          end = if case .null = member { .positiveInfinity } else { try ArgumentReader.rangeTime(member) }
        } else {
          return false
        }
        return true
      } catch { return false }
    }

    /// The value of the parameter. Nil if a member is missing.
    var value: ArgumentValue? {
      if kind == .selection { return selection == TrackSelection() ? nil : .selection(selection) }
      guard let start, let range = try? ArgumentReader.range(start, end ?? .positiveInfinity) else { return nil }
      return .range(range)
    }
  }

  private static func rangeTime(_ member: JSONArgument) throws(Fault) -> MediaTime {
    switch member {
    case .number(let token): return try checked(try time(token), .time)
    case .string(let text):
      guard case .time(let time) = try value(text, .time) else { throw .bad }
      return time
    case .bool, .null, .other: throw .bad
    }
  }

  private static func trackChoice(_ member: JSONArgument) throws(Fault) -> TrackChoice {
    switch member {
    case .number(let text), .string(let text): return try track(text)
    case .null: return .none
    case .bool, .other: throw .bad
    }
  }

  private static func group(_ name: ArraySlice<UInt8>) -> MediaSelectionCommand.Group? {
    MediaSelectionCommand.Group.allCases.first { $0.rawValue.utf8.elementsEqual(name) }
  }

  private static func range(_ start: MediaTime, _ end: MediaTime) throws(Fault) -> TimeRange {
    guard start < end else { throw .bad }
    return TimeRange(start: start, end: end)
  }

  private static func range(_ text: ArraySlice<UInt8>) throws(Fault) -> TimeRange {
    guard let dash = text.firstIndex(of: UInt8(ascii: "-")) else { throw .bad }
    let end = text[(dash + 1)...]
    // Both are checked, so that a second dash is an error.
    guard case .time(let startTime) = try value(text[..<dash], .time),
      case .time(let endTime) = try value(end, .tolerance)
    else { throw .bad }
    return try range(startTime, endTime)
  }

  private static func selection(_ text: ArraySlice<UInt8>) throws(Fault) -> TrackSelection {
    var selection = TrackSelection()
    for part in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")), let group = group(part[..<equals]),
        selection[group] == nil
      else { throw .bad }
      selection[group] = try track(part[(equals + 1)...])
    }
    return selection
  }

  // MARK: - Errors

  /// The error for an unaccepted value, which the message shows as `shown`.
  static func invalidValue(_ shown: String, _ parameter: ParameterSpec, _ spec: CommandSpec) -> MediaError {
    failure(.bad, shown, parameter, spec)
  }

  /// The error for a value, which the message shows as `shown`.
  private static func failure(
    _ fault: Fault, _ shown: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) -> MediaError {
    let code: MediaError.Code
    switch fault {
    case .other(let error):
      return MediaError(error.code, "\(parameter.name.rawValue): \(error.message)", operation: spec.name.rawValue)
    case .bad: code = .badArguments
    case .badTime: code = .invalidTime
    }
    return MediaError(
      code, "\(parameter.name.rawValue) must be \(parameter.kind.accepted) (got \(shown))",
      operation: spec.name.rawValue)
  }
}
