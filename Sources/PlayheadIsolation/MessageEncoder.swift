// Values as bytes, for messages between the player process and its workers. The fields of a value follow in their
// order, without names. Integers have 8 bytes, little-endian. Both processes have the same version, so the order
// suffices.

/// Writes `Encodable` values as bytes that `MessageDecoder` reads.
///
/// One byte before an optional property states whether it is present. Not supported: superclasses, arrays of optional
/// values, and dictionaries with text or integer keys except `[String: String]`.
package final class MessageEncoder: Encoder {
  fileprivate var bytes: [UInt8] = []
  package var codingPath: [any CodingKey] { [] }
  package var userInfo: [CodingUserInfoKey: Any] { [:] }

  private init() {}

  /// The bytes of a value.
  package static func bytes(of value: some Encodable) -> [UInt8] {
    let encoder = MessageEncoder()
    do { try encoder.append(value) } catch { preconditionFailure("encoding into memory cannot fail") }
    return encoder.bytes
  }

  package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedWriter(encoder: self))
  }

  package func unkeyedContainer() -> any UnkeyedEncodingContainer { UnkeyedWriter(self) }

  package func singleValueContainer() -> any SingleValueEncodingContainer { SingleWriter(encoder: self) }

  fileprivate func appendInteger(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: UInt64(truncatingIfNeeded: value).littleEndian) { bytes += $0 }
  }

  fileprivate func append<Value: Encodable>(_ value: Value) throws {
    switch value {
    case let value as Bool: bytes.append(value ? 1 : 0)
    case let value as Int: appendInteger(value)
    case let value as Int64: appendInteger(value)
    case let value as UInt64: appendInteger(value)
    case let value as Int32: appendInteger(value)
    case let value as UInt32: appendInteger(value)
    case let value as UInt8: appendInteger(value)
    case let value as Int8: appendInteger(value)
    case let value as UInt16: appendInteger(value)
    case let value as Int16: appendInteger(value)
    case let value as UInt: appendInteger(value)
    case let value as Double: appendInteger(value.bitPattern)
    case let value as Float: appendInteger(value.bitPattern)
    case let value as String:
      appendInteger(value.utf8.count)
      bytes += value.utf8
    // All bytes at once.
    case let value as [UInt8]:
      appendInteger(value.count)
      bytes += value
    // The names are data, not keys of a type.
    case let value as [String: String]:
      appendInteger(value.count)
      for (name, text) in value.sorted(by: { $0.key < $1.key }) {
        try append(name)
        try append(text)
      }
    default: try value.encode(to: self)
    }
  }

  fileprivate func setCount(_ count: Int, at offset: Int) {
    withUnsafeBytes(of: UInt64(count).littleEndian) { bytes.replaceSubrange(offset..<offset + 8, with: $0) }
  }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: MessageEncoder
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { preconditionFailure("optional properties must be encoded with encodeIfPresent") }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encoder.append(value) }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws { try append(value) }
  // One overload for each type: the standard library's overloads write no bytes for nil.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try append(value) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try append(value) }

  private func append<Value: Encodable>(_ value: Value?) throws {
    try encoder.append(value != nil)
    if let value { try encoder.append(value) }
  }

  /// Only cases of enumerations nest containers. The case's name comes first.
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    do { try encoder.append(key.stringValue) } catch { preconditionFailure("encoding a string cannot fail") }
    return encoder.container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder }
  func superEncoder(forKey key: Key) -> any Encoder { encoder }
}

private struct UnkeyedWriter: UnkeyedEncodingContainer {
  let encoder: MessageEncoder
  private let countOffset: Int
  private(set) var count = 0
  var codingPath: [any CodingKey] { [] }

  init(_ encoder: MessageEncoder) {
    self.encoder = encoder
    countOffset = encoder.bytes.count
    encoder.appendInteger(0)
  }

  mutating func encodeNil() { preconditionFailure("arrays of optional values are not supported") }

  mutating func encode<Value: Encodable>(_ value: Value) throws {
    count += 1
    encoder.setCount(count, at: countOffset)
    try encoder.append(value)
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder.container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder.unkeyedContainer() }
  mutating func superEncoder() -> any Encoder { encoder }
}

private struct SingleWriter: SingleValueEncodingContainer {
  let encoder: MessageEncoder
  var codingPath: [any CodingKey] { [] }

  func encodeNil() { preconditionFailure("a single optional value is not supported") }
  func encode<Value: Encodable>(_ value: Value) throws { try encoder.append(value) }
}
