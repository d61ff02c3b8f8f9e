// The messages between the player process and its workers. A message consists of its kind, one byte, and its content.
// Its length is bounded. A file may have compromised the worker, so every byte from a worker is untrusted.
import PlayheadMediaCore

/// The kind of a message: its first byte.
enum MessageKind: UInt8 {
  /// To a worker: a file of the next task (`WorkerFile`), with its descriptor if it has one.
  case file = 1
  /// To a worker: the rest of a `WorkerTask`, with its further descriptors.
  case task
  /// To a worker: the requested bytes; fewer than requested at the end of the file, none after it.
  case bytes
  /// To a worker: the error of a read (`MediaError`).
  case readFailure
  /// To a worker: the requested titles (`[StreamTitle]`).
  case titles
  /// From a worker: a request for bytes (`ReadRequest`).
  case read
  /// From a worker: a request for the titles that were announced before an offset (`TitleRequest`).
  case popTitles
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

/// A worker's request for bytes.
struct ReadRequest: Codable {
  /// The index of the file among those of the task.
  var file: Int
  var offset: Int64
  /// 1 to `MessageLimits.readByteCount`.
  var count: Int
}

/// A worker's request for titles.
struct TitleRequest: Codable {
  /// The index of the file among those of the task.
  var file: Int
  var offset: Int64
}

/// Limits of messages.
enum MessageLimits {
  /// Bytes of one message. A local socket accepts up to 200 KiB at once.
  static let byteCount = 1 << 17
  /// Bytes that are read for a worker at once.
  static let readByteCount = 1 << 16
  /// Bytes of one result: 64 MiB of tags with their artwork, and the fields of the message.
  static let resultByteCount = 80 << 20
}

/// A file, as the player process describes it to a worker.
struct WorkerFile: Codable {
  /// A name whose extension indicates the format of the file.
  var hint: String
  /// The name of the file in messages.
  var displayName: String
  /// Whether the message has the file's descriptor; otherwise the worker requests bytes.
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
