// The messages between the process that plays and its workers. A message is one byte, its kind, and its content. Every byte from a worker is
// hostile: a file may have taken the worker over. Messages have a bounded length.
import MediaCore

/// What the first byte of a message says.
enum MessageKind: UInt8 {
  /// To a worker: a file of the next task (`WorkerFile`), with its descriptor if it has one.
  case file = 1
  /// To a worker: the rest of a `WorkerTask`, with its further descriptors.
  case task
  /// To a worker: the bytes that it asked for; fewer than asked for at the end, none after it.
  case bytes
  /// To a worker: why the bytes could not be read (`MediaError`).
  case readFailure
  /// To a worker: the titles that it asked for (`[StreamTitle]`).
  case titles
  /// From a worker: it asks for bytes (`ReadRequest`).
  case read
  /// From a worker: it asks for the titles that were announced before an offset (`TitleRequest`).
  case takeTitles
  /// From a worker: a report about a running task. Its content depends on the function.
  case report
  /// To a worker: a part of a task that is longer than one message. From a worker: a part of such a result.
  case part
  /// From a worker: the rest of the result. The worker waits for the next task.
  case result
  /// From a worker: the task failed (`MediaError`). The worker waits for the next task.
  case failure

  /// A message of this kind.
  func message(_ content: some Encodable) -> [UInt8] { [rawValue] + MessageEncoder.bytes(of: content) }
}

/// Bytes that a worker asks for.
struct ReadRequest: Codable {
  /// The index of the file among those of the task.
  var file: Int
  var offset: Int64
  /// 1 to `MessageLimits.readByteCount`.
  var count: Int
}

/// Titles that a worker asks for.
struct TitleRequest: Codable {
  /// The index of the file among those of the task.
  var file: Int
  var offset: Int64
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

/// The bytes of a file, as the process that plays describes them to a worker.
struct WorkerFile: Codable {
  /// A name whose extension says what may be in the file.
  var hint: String
  /// What messages call the file.
  var displayName: String
  /// Whether the message has the file's descriptor; otherwise the worker asks for bytes.
  var hasDescriptor: Bool
  var byteCount: Int64?
  var isSeekable: Bool
  /// Bytes that FFmpeg may read until the file is open (`OpeningLimits`).
  var openingByteCount: Int
}

/// A task for a worker. Its files are sent before it. A task without files uses those of an earlier task.
struct WorkerTask: Codable {
  /// The number of a function of the worker program (`WorkerFunctions`).
  var function: Int
  /// The function's parameters, as `MessageEncoder` writes them.
  var parameters: [UInt8]
}
