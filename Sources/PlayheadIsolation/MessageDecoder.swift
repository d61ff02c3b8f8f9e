// The inverse of MessageEncoder.swift. The bytes may come from a worker that a hostile file controls, so all of them
// are validated.

/// Reads `Decodable` values from bytes that `MessageEncoder` wrote.
///
/// Throws `MalformedMessage`, or the error of a type's `init(from:)`. The bytes bound the memory: a count is at most
/// the number of remaining bytes.
package final class MessageDecoder: Decoder {
  fileprivate let bytes: [UInt8]
  fileprivate var offset: Int
  package var codingPath: [any CodingKey] { [] }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init(_ bytes: [UInt8], from offset: Int) { (self.bytes, self.offset) = (bytes, offset) }

  /// Decodes a value from the bytes at `offset` and after it. All of them must belong to the value.
  package static func value<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], at offset: Int = 0
  ) throws(MalformedMessage) -> Value {
    do {
      let decoder = MessageDecoder(bytes, from: offset)
      let value = try decoder.read(type)
      guard decoder.offset == bytes.count else { throw MalformedMessage() }
      return value
    } catch {
      throw MalformedMessage()
    }
  }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyedReader(decoder: self))
  }

  package func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedReader(self) }

  package func singleValueContainer() -> any SingleValueDecodingContainer { SingleReader(decoder: self) }

  /// Reads the number of the following elements or bytes.
  fileprivate func readCount() throws(MalformedMessage) -> Int {
    guard let count = Int(exactly: try readWord()), count <= bytes.count - offset else { throw MalformedMessage() }
    return count
  }

  private func readWord() throws(MalformedMessage) -> UInt64 {
    guard bytes.count - offset >= 8 else { throw MalformedMessage() }
    defer { offset += 8 }
    return bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
  }

  private func readInteger<Value: FixedWidthInteger>(_ type: Value.Type) throws(MalformedMessage) -> Value {
    let word = try readWord()
    let value = Value.isSigned ? Value(exactly: Int64(bitPattern: word)) : Value(exactly: word)
    guard let value else { throw MalformedMessage() }
    return value
  }

  fileprivate func readData() throws(MalformedMessage) -> ArraySlice<UInt8> {
    let count = try readCount()
    defer { offset += count }
    return bytes[offset..<offset + count]
  }

  fileprivate func readBoolean() throws(MalformedMessage) -> Bool {
    guard offset < bytes.count, bytes[offset] <= 1 else { throw MalformedMessage() }
    defer { offset += 1 }
    return bytes[offset] == 1
  }

  /// Reads text. Bytes that are not UTF-8 become U+FFFD.
  fileprivate func readText() throws(MalformedMessage) -> String { String(decoding: try readData(), as: UTF8.self) }

  private func readTexts() throws(MalformedMessage) -> [String: String] {
    var texts: [String: String] = [:]
    for _ in 0..<(try readCount()) { texts[try readText()] = try readText() }
    return texts
  }

  fileprivate func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value: Any? =
      switch type {
      case is Bool.Type: try readBoolean()
      case is Int.Type: try readInteger(Int.self)
      case is Int64.Type: try readInteger(Int64.self)
      case is UInt64.Type: try readInteger(UInt64.self)
      case is Int32.Type: try readInteger(Int32.self)
      case is UInt32.Type: try readInteger(UInt32.self)
      case is UInt8.Type: try readInteger(UInt8.self)
      case is Int8.Type: try readInteger(Int8.self)
      case is UInt16.Type: try readInteger(UInt16.self)
      case is Int16.Type: try readInteger(Int16.self)
      case is UInt.Type: try readInteger(UInt.self)
      case is Double.Type: Double(bitPattern: try readWord())
      case is Float.Type: Float(bitPattern: try readInteger(UInt32.self))
      case is String.Type: try readText()
      case is [UInt8].Type: Array(try readData())
      case is [String: String].Type: try readTexts()
      default: nil
      }
    if let value = value as? Value { return value }
    return try Value(from: self)
  }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: MessageDecoder
  var codingPath: [any CodingKey] { [] }

  /// The key of the enumeration case whose name is next in the bytes. Only enumerations use this property.
  var allKeys: [Key] {
    let offset = decoder.offset
    defer { decoder.offset = offset }
    return (try? decoder.readText()).flatMap { Key(stringValue: $0) }.map { [$0] } ?? []
  }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decoder.read(type) }

  func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
    try readIfPresent(type)
  }
  // One overload for each type: the standard library's overloads expect no bytes for nil.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try readIfPresent(type) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try readIfPresent(type) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try readIfPresent(type) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try readIfPresent(type) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try readIfPresent(type) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try readIfPresent(type) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try readIfPresent(type) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try readIfPresent(type) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try readIfPresent(type) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try readIfPresent(type) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try readIfPresent(type) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try readIfPresent(type) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try readIfPresent(type) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try readIfPresent(type) }

  /// Reads an optional value: a byte that states whether it is present, then the value.
  private func readIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
    try decoder.readBoolean() ? try decoder.read(type) : nil
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    _ = try decoder.readData()
    return decoder.container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { try decoder.unkeyedContainer() }
  func superDecoder() -> any Decoder { decoder }
  func superDecoder(forKey key: Key) -> any Decoder { decoder }
}

private struct UnkeyedReader: UnkeyedDecodingContainer {
  let decoder: MessageDecoder
  let count: Int?
  private(set) var currentIndex = 0
  var codingPath: [any CodingKey] { [] }
  var isAtEnd: Bool { currentIndex == count }

  init(_ decoder: MessageDecoder) throws(MalformedMessage) {
    self.decoder = decoder
    count = try decoder.readCount()
  }

  mutating func decodeNil() -> Bool { false }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard !isAtEnd else { throw MalformedMessage() }
    currentIndex += 1
    return try decoder.read(type)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedDecodingContainer<NestedKey> {
    decoder.container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try decoder.unkeyedContainer() }
  mutating func superDecoder() -> any Decoder { decoder }
}

private struct SingleReader: SingleValueDecodingContainer {
  let decoder: MessageDecoder
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { false }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.read(type) }
}

/// A message that is too short or invalid.
package struct MalformedMessage: Error {
  package init() {}
}
