import MediaCore

/// Turns one argument, as text or as a JSON value, into what its parameter takes. The only place where kinds are read.
enum ArgumentReader {
  /// Longer ones are not times: what is exact within them could not be kept.
  private static let timeByteCount = 128

  /// Reads text: every argument in words, a string in JSON.
  ///
  /// Errors: `bad-arguments`, `invalid-time`, `no-such-property`, `unsupported-place`, each naming the parameter and what it takes.
  static func value(text: String, for parameter: ParameterSpec, of spec: CommandSpec) throws(MediaError)
    -> ArgumentValue
  {
    switch parameter.kind {
    case .timeExpression:
      return .expression(try expression(text, parameter, spec))
    case .time, .timeOrNone, .duration, .tolerance:
      if parameter.kind == .timeOrNone, text == "none" { return .time(.invalid) }
      if parameter.kind == .tolerance, text == "inf" { return .time(.positiveInfinity) }
      guard case .absolute(let time) = try expression(text, parameter, spec) else {
        throw badTime(Excerpt.quoted(text), parameter, spec)
      }
      return .time(try checked(time, Excerpt.quoted(text), parameter, spec))
    case .integer:
      return .integer(try integer(text, Excerpt.quoted(text), parameter, spec))
    case .number:
      return .number(try number(text, Excerpt.quoted(text), parameter, spec))
    case .word(let words):
      guard words.contains(text) else { throw bad(Excerpt.quoted(text), parameter, spec) }
      return .text(text)
    case .toggle:
      guard text == "on" || text == "off" || text == "toggle" else { throw bad(Excerpt.quoted(text), parameter, spec) }
      return .text(text)
    case .onOff:
      guard text == "on" || text == "off" else { throw bad(Excerpt.quoted(text), parameter, spec) }
      return .text(text)
    case .text(let maximum):
      guard text.utf8.count <= maximum else { throw bad(Excerpt.quoted(text), parameter, spec) }
      return .text(text)
    case .flag, .boolean:
      guard text == "true" || text == "false" else { throw bad(Excerpt.quoted(text), parameter, spec) }
      return .flag(text == "true")
    case .path, .localPath:
      let path: FilePath
      do throws(MediaError) { path = try FilePath(text: text) } catch {
        throw MediaError(error.code, error.message, operation: spec.name.rawValue)
      }
      guard parameter.kind == .path || path.isFile else { throw bad(Excerpt.quoted(text), parameter, spec) }
      return .path(path)
    case .playerName:
      guard ASCII.isName(text.utf8, maximum: 64) else { throw bad(Excerpt.quoted(text), parameter, spec) }
      return .text(text)
    case .commandName:
      guard let command = CommandName(rawValue: text) else {
        throw CommandTable.unknownCommand(text, operation: spec.name.rawValue)
      }
      return .command(command)
    case .key:
      do throws(MediaError) { return .keys(try ObservableKey.matching(text)) } catch {
        throw MediaError(error.code, error.message, operation: spec.name.rawValue)
      }
    case .condition:
      return .condition(try condition(text, parameter, spec))
    case .edit:
      return .edit(try QueueEditReader.edit(text: text))
    case .track:
      return .track(try track(text, parameter, spec))
    case .startMoment:
      return .moment(try startMoment(text, parameter, spec))
    }
  }

  /// Reads a JSON value that is no array: text as above, numbers exactly from their token, booleans for flags and toggles.
  static func value(json: JSONValue, for parameter: ParameterSpec, of spec: CommandSpec) throws(MediaError)
    -> ArgumentValue
  {
    switch (json, parameter.kind) {
    case (.number(let token), .integer):
      return .integer(try integer(token, token, parameter, spec))
    case (.number(let token), .number):
      return .number(try number(token, token, parameter, spec))
    case (.number(let token), .timeExpression):
      return .expression(.absolute(try checked(try time(token, parameter, spec), token, parameter, spec)))
    case (.number(let token), .time), (.number(let token), .timeOrNone), (.number(let token), .duration),
      (.number(let token), .tolerance):
      return .time(try checked(try time(token, parameter, spec), token, parameter, spec))
    case (.object, .edit):
      guard case .string(let method)? = json["method"] else { throw bad(json.kindName, parameter, spec) }
      return .edit(try QueueEditReader.edit(method: method, json["params"]))
    case (.number(let token), .startMoment):
      return .moment(.instant(try checked(try time(token, parameter, spec), token, parameter, spec)))
    case (.number(let token), .track):
      return .track(try track(token, parameter, spec))
    case (.bool(let value), .flag), (.bool(let value), .boolean):
      return .flag(value)
    case (.bool(let value), .word(let words)) where words.contains("\(value)"):
      return .text("\(value)")
    case (.bool(let value), .toggle), (.bool(let value), .onOff):
      return .text(value ? "on" : "off")
    case (.string, .integer), (.string, .number), (.string, .flag):
      throw bad("a string", parameter, spec)
    case (.string(let text), _):
      return try value(text: text, for: parameter, of: spec)
    default:
      throw bad(json.kindName, parameter, spec)
    }
  }

  // MARK: - Kinds

  private static func expression(
    _ text: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> TimeExpression {
    guard text.utf8.count <= timeByteCount else { throw badTime(Excerpt.quoted(text), parameter, spec) }
    do throws(MediaError) { return try TimeExpression(parsing: text) } catch {
      throw badTime(Excerpt.quoted(text), parameter, spec)
    }
  }

  private static func time(
    _ token: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> MediaTime {
    guard token.utf8.count <= timeByteCount, let time = MediaTime(decimal: token), time.isNumeric else {
      throw badTime(Excerpt.quoted(token), parameter, spec)
    }
    return time
  }

  /// Checks a time against its kind's range.
  private static func checked(
    _ time: MediaTime, _ shown: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> MediaTime {
    let isPositive = parameter.kind == .duration(positive: true)
    guard time.isNumeric, time.value > 0 || (time.value == 0 && !isPositive) else {
      throw badTime(shown, parameter, spec)
    }
    return time
  }

  private static func integer(
    _ text: String, _ shown: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> Int {
    guard case .integer(let range) = parameter.kind, text.utf8.first != UInt8(ascii: "+"), let value = Int(text),
      range.contains(value)
    else { throw bad(shown, parameter, spec) }
    return value
  }

  private static func number(
    _ text: String, _ shown: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> Double {
    let written = text.utf8.first == UInt8(ascii: ".") ? "0\(text)" : text
    guard case .number(let range, let exceptZero) = parameter.kind, ASCII.isJSONNumber(written.utf8),
      let value = Double(written), range.contains(value), !(exceptZero && value == 0)
    else { throw bad(shown, parameter, spec) }
    // -0 is 0 for whoever asked.
    return value == 0 ? 0 : value
  }

  private static func condition(
    _ text: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> WaitCondition {
    if text == "ended" { return .ended }
    if text == "ready" { return .ready }
    if text.hasPrefix("time>=") || text.hasPrefix("time<=") {
      let written = String(text.dropFirst("time>=".count))
      guard case .absolute(let time) = try expression(written, parameter, spec), time.isNumeric, time.value >= 0 else {
        throw badTime(Excerpt.quoted(text), parameter, spec)
      }
      return text.hasPrefix("time>=") ? .timeAtLeast(time) : .timeAtMost(time)
    }
    if text.hasPrefix("status=") {
      let name = text.dropFirst("status=".count)
      if name == "waiting" { return .status(.waitingToPlayAtSpecifiedRate) }
      if let status = WaitCondition.TimeControlStatus(rawValue: String(name)) { return .status(status) }
    }
    if text.hasPrefix("item=") {
      let number = text.dropFirst("item=".count)
      if number.utf8.allSatisfy(ASCII.isDigit), let item = Int(number), item > 0 { return .currentItem(item) }
    }
    throw bad(Excerpt.quoted(text), parameter, spec)
  }

  private static func track(
    _ text: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> ItemCommand.TrackChoice {
    if text == "none" { return .none }
    if text == "auto" { return .automatic }
    if text.utf8.allSatisfy(ASCII.isDigit), let number = Int(text) { return .track(number) }
    // BCP 47 (RFC 5646, 2.1): letters, digits and hyphens, a language of two letters or more first.
    let language = text.utf8.prefix { $0 != UInt8(ascii: "-") }
    guard (2...8).contains(language.count), text.utf8.count <= 35, language.allSatisfy({ !ASCII.isDigit($0) }),
      ASCII.isName(text.utf8, maximum: 35),
      !text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "_") })
    else { throw bad(Excerpt.quoted(text), parameter, spec) }
    return .language(text)
  }

  private static func startMoment(
    _ text: String, _ parameter: ParameterSpec, _ spec: CommandSpec
  ) throws(MediaError) -> PlayersCommand.StartMoment {
    if text == "now" { return .now }
    if text.hasPrefix("frame:") {
      let number = text.dropFirst("frame:".count)
      guard !number.isEmpty, number.utf8.allSatisfy(ASCII.isDigit), let frame = Int64(number) else {
        throw badTime(Excerpt.quoted(text), parameter, spec)
      }
      return .frame(frame)
    }
    switch try expression(text, parameter, spec) {
    case .relative(let span): return .after(try checked(span, Excerpt.quoted(text), parameter, spec))
    case .absolute(let instant): return .instant(try checked(instant, Excerpt.quoted(text), parameter, spec))
    case .percent, .end: throw badTime(Excerpt.quoted(text), parameter, spec)
    }
  }

  // MARK: - Errors

  private static func bad(_ shown: String, _ parameter: ParameterSpec, _ spec: CommandSpec) -> MediaError {
    MediaError(
      .badArguments, "\(parameter.name.rawValue) cannot be \(shown); it takes \(parameter.kind.accepted)",
      operation: spec.name.rawValue)
  }

  private static func badTime(_ shown: String, _ parameter: ParameterSpec, _ spec: CommandSpec) -> MediaError {
    MediaError(
      .invalidTime, "\(parameter.name.rawValue) cannot be \(shown); it takes \(parameter.kind.accepted)",
      operation: spec.name.rawValue)
  }
}
