import Tags

/// Tags in a message.
extension TagReading {
  func encode(to writer: inout MessageWriter) {
    writer.append(items.count)
    for item in items { item.encode(to: &writer) }
    writer.append(warnings.count)
    for warning in warnings {
      writer.append(warning.subject)
      writer.append(warning.reason)
      writer.append(warning.isLimit)
    }
  }

  init(from reader: inout MessageReader) throws(MalformedMessage) {
    self.init()
    let limits = TagLimits()
    // Artwork and additional values do not count against the limit.
    let itemCount = try reader.count()
    guard itemCount <= 2 * limits.itemCount else { throw MalformedMessage() }
    for _ in 0..<itemCount { items.append(try TagItem(from: &reader)) }
    let warningCount = try reader.count()
    guard warningCount <= 2 * limits.itemCount else { throw MalformedMessage() }
    for _ in 0..<warningCount {
      warnings.append(
        TagWarning(subject: try reader.text(), reason: try reader.text(), isLimit: try reader.boolean()))
    }
  }
}

extension TagItem {
  fileprivate func encode(to writer: inout MessageWriter) {
    writer.append(UInt8(Space.allCases.firstIndex(of: space) ?? 0))
    writer.append(key)
    switch value {
    case .text(let text):
      writer.append(UInt8(0))
      writer.append(text)
    case .number(let number):
      writer.append(UInt8(1))
      writer.append(number)
    case .data(let bytes):
      writer.append(UInt8(2))
      writer.append(bytes)
    case .picture(let bytes):
      writer.append(UInt8(3))
      writer.append(bytes)
    }
    for text in [description, language, owner, mediaType] { writer.append(text) { $0.append($1) } }
    writer.append(secondNumber) { $0.append($1) }
    writer.append(pictureType) { $0.append($1) }
    writer.append(targetLevel) { $0.append($1) }
    writer.append(excessiveByteCount) { $0.append($1) }
  }

  fileprivate init(from reader: inout MessageReader) throws(MalformedMessage) {
    let space = Int(try reader.byte())
    guard Space.allCases.indices.contains(space) else { throw MalformedMessage() }
    let key = try reader.text()
    let value: Value
    switch try reader.byte() {
    case 0: value = .text(try reader.text())
    case 1: value = .number(try reader.integer())
    case 2: value = .data(try reader.data())
    case 3: value = .picture(try reader.data())
    default: throw MalformedMessage()
    }
    self.init(space: Space.allCases[space], key: key, value: value)
    func text() throws(MalformedMessage) -> String? {
      try reader.optional { reader throws(MalformedMessage) in try reader.text() }
    }
    func number() throws(MalformedMessage) -> Int64? {
      try reader.optional { reader throws(MalformedMessage) in try reader.integer() }
    }
    (description, language, owner, mediaType) = (try text(), try text(), try text(), try text())
    secondNumber = try number()
    pictureType = try number().map { Int(clamping: $0) }
    targetLevel = try number()
    excessiveByteCount = try number().map { Int(clamping: $0) }
  }
}
