// The messages between the process that plays and its workers. Every byte from a worker is hostile: a worker may be in the hands of a file. Messages
// have a bounded length, and reading beyond the end of one fails.
import LibAV
import MediaCore

/// Appends values to a message, little-endian.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ value: UInt8) { bytes.append(value) }

  mutating func append(_ value: Int64) {
    for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func append(_ value: Int) { append(Int64(value)) }

  mutating func append(_ value: Bool) { append(UInt8(value ? 1 : 0)) }

  mutating func append(_ value: [UInt8]) {
    append(value.count)
    bytes += value
  }

  mutating func append(_ value: String) { append(Array(value.utf8)) }

  /// A value that may be missing.
  mutating func append<Value>(_ value: Value?, _ body: (inout MessageWriter, Value) -> Void) {
    append(value != nil)
    if let value { body(&self, value) }
  }
}

/// A message that is shorter than it says, or makes no sense.
struct MalformedMessage: Error {}

/// Reads values from a message.
struct MessageReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() throws(MalformedMessage) -> UInt8 {
    guard let byte = rest.popFirst() else { throw MalformedMessage() }
    return byte
  }

  mutating func integer() throws(MalformedMessage) -> Int64 {
    guard rest.count >= 8 else { throw MalformedMessage() }
    var value: UInt64 = 0
    for (index, byte) in rest.prefix(8).enumerated() { value |= UInt64(byte) << (8 * index) }
    rest = rest.dropFirst(8)
    return Int64(bitPattern: value)
  }

  /// A number that fits the machine and is not negative.
  mutating func count() throws(MalformedMessage) -> Int {
    guard let count = Int(exactly: try integer()), count >= 0 else { throw MalformedMessage() }
    return count
  }

  mutating func boolean() throws(MalformedMessage) -> Bool { try byte() != 0 }

  mutating func data() throws(MalformedMessage) -> [UInt8] {
    let count = try count()
    guard count <= rest.count else { throw MalformedMessage() }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Text; bytes that are not UTF-8 become U+FFFD.
  mutating func text() throws(MalformedMessage) -> String { String(decoding: try data(), as: UTF8.self) }

  mutating func optional<Value>(
    _ body: (inout MessageReader) throws(MalformedMessage) -> Value
  ) throws(MalformedMessage) -> Value? {
    try boolean() ? try body(&self) : nil
  }
}

/// What the first byte of a message says.
enum MessageKind: UInt8 {
  /// To a worker: a `WorkerTask`.
  case task = 1
  /// To a worker: the descriptor of a local file comes with this byte. Follows a task that needs it.
  case descriptor
  /// To a worker: the bytes that it asked for; fewer than asked for at the end, none after it.
  case bytes
  /// To a worker: the bytes could not be read.
  case readFailure
  /// From a worker: it asks for bytes (offset, count).
  case read
  /// From a worker: a part of a result that is longer than one message.
  case part
  /// From a worker: the rest of the result. The worker waits for the next task.
  case result
}

/// Bounds on messages.
enum MessageLimits {
  /// Bytes of one message. A local socket takes up to 200 KiB at once.
  static let byteCount = 1 << 17
  /// Bytes that are read for a worker at once.
  static let readByteCount = 1 << 16
  /// Bytes of one result: 64 MiB of tags with their artwork, and the fields of the message.
  static let resultByteCount = 80 << 20
}

/// What a worker does.
struct WorkerTask {
  enum Kind: UInt8 {
    /// Opens a container, finds its streams and decodes their beginning.
    case open = 1
    /// Reads tags with TagLib.
    case tags
    /// Makes a system call that the filter forbids: for tests.
    case forbiddenCall
    /// Ends with a crash: for tests.
    case crash
  }

  var kind: Kind
  /// A name whose extension says what may be in the file.
  var hint: [UInt8] = []
  /// Whether a descriptor of a local file follows; else the worker asks for bytes.
  var hasDescriptor = false
  var byteCount: Int64?
  var isSeekable = true
  /// Of `open`.
  var options = Demuxer.Options()
  /// Of `open`: packets of audio that are decoded.
  var packetCount = 0
  /// Of `tags`: where tags lie in the file (`TagContainer`).
  var container: UInt8 = 0

  func encoded() -> [UInt8] {
    var writer = MessageWriter()
    writer.append(MessageKind.task.rawValue)
    writer.append(kind.rawValue)
    writer.append(hint)
    writer.append(hasDescriptor)
    writer.append(byteCount) { $0.append($1) }
    writer.append(isSeekable)
    writer.append(options.probeByteCount)
    writer.append(options.analyzeMicroseconds)
    writer.append(options.maximumStreamCount)
    writer.append(options.ignoresEditLists)
    writer.append(options.seeksByEstimate)
    writer.append(options.prefersLargePackets)
    writer.append(options.openingByteCount)
    writer.append(packetCount)
    writer.append(container)
    return writer.bytes
  }

  /// - Parameter reader: a message after its kind.
  init(from reader: inout MessageReader) throws(MalformedMessage) {
    guard let kind = Kind(rawValue: try reader.byte()) else { throw MalformedMessage() }
    self.kind = kind
    hint = try reader.data()
    hasDescriptor = try reader.boolean()
    byteCount = try reader.optional { reader throws(MalformedMessage) in try reader.integer() }
    isSeekable = try reader.boolean()
    options.probeByteCount = try reader.integer()
    options.analyzeMicroseconds = try reader.integer()
    options.maximumStreamCount = try reader.count()
    options.ignoresEditLists = try reader.boolean()
    options.seeksByEstimate = try reader.boolean()
    options.prefersLargePackets = try reader.boolean()
    options.openingByteCount = try reader.count()
    packetCount = try reader.count()
    container = try reader.byte()
  }

  init(_ kind: Kind) { self.kind = kind }
}
