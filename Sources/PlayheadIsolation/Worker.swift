// The worker process. It restricts itself, then performs tasks until the other end of its socket is closed. It
// has no access to files, networks or other processes. It reads only descriptors that it received, and bytes that it
// requests.
import CPlayheadMediaShims
import CPlayheadSandbox
import Glibc
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags
import Synchronization

/// The functions of a worker program.
package protocol WorkerFunctions {
  /// Performs a task and returns its result in the form of `MessageEncoder`.
  mutating func perform(_ request: WorkerRequest) throws(MediaError) -> [UInt8]
}

/// A task, as a worker receives it.
package struct WorkerRequest {
  /// The number of the function.
  package let function: Int
  /// The parameters, in the form of `MessageEncoder`.
  package let parameters: [UInt8]
  /// The files of the task; empty if an earlier task opened them. The function closes their descriptors.
  package let sources: [WorkerSource]
  /// Further descriptors. The function closes them.
  package let descriptors: [Int32]
  fileprivate let connection: WorkerConnection

  /// Sends a report to the player process. Its type depends on the function. Threading: any thread.
  package func report(_ content: some Encodable) { connection.send(.report, content) }
}

/// A file, as a worker receives it.
package struct WorkerSource {
  package enum Bytes {
    /// An open regular file. The receiver closes it.
    case descriptor(Int32)
    /// Bytes that the player process reads.
    case requested(any ByteSource)
  }

  /// A name whose extension indicates the format of the file.
  package let hint: String
  /// The name of the file in messages.
  package let displayName: String
  package let bytes: Bytes
}

/// The program of a worker process.
package enum Worker {
  /// Restricts this process and performs tasks until the connection is closed. Returns the exit status: 0; 70 if the
  /// process cannot be restricted; 1 after an invalid message.
  package static func run(_ functions: some WorkerFunctions) -> Int32 {
    LibAV.discardLog()
    LibAV.prepare()
    guard let limits = WorkerLimits(arguments: CommandLine.arguments.dropFirst()), restrict(limits) else { return 70 }
    let connection = WorkerConnection(WorkerSocket(descriptor: WorkerProcess.socketDescriptor))
    // A worker may wait for its first task for days.
    media_shims_unmap_code_of_start()
    var functions = functions
    while true {
      switch connection.receive() {
      case .end: return 0
      case .malformed: return 1
      case .request(let task, let files, let descriptors):
        let request = WorkerRequest(
          function: task.function, parameters: task.parameters, sources: files, descriptors: descriptors,
          connection: connection)
        do throws(MediaError) { connection.sendResult(try functions.perform(request)) } catch {
          connection.send(.failure, error.shortened)
        }
      }
    }
  }

  /// Removes all rights of this process. Returns false on failure. On a kernel without Landlock, only the system call
  /// filter denies access to paths.
  private static func restrict(_ limits: WorkerLimits) -> Bool {
    guard sandbox_limit_core(0) == 0, sandbox_limit_file_size(limits.fileByteCount) == 0,
      sandbox_limit_open_files(limits.openFileCount) == 0, sandbox_limit_data(limits.dataByteCount) == 0,
      sandbox_limit_address_space(limits.addressSpaceByteCount) == 0, sandbox_set_no_new_privileges() == 0
    else { return false }
    if sandbox_landlock_version() > 0, sandbox_landlock_forbid_all() != 0 { return false }
    return sandbox_restrict_worker_calls() == 0
  }
}

/// The worker's end of the connection. The process exits when the other end is closed.
///
/// Threading: any thread. No other message comes between a request and its reply.
private final class WorkerConnection: Sendable {
  private let socket: Mutex<WorkerSocket>

  init(_ socket: WorkerSocket) { self.socket = Mutex(socket) }

  /// A received message.
  enum Received {
    case request(WorkerTask, [WorkerSource], descriptors: [Int32])
    /// The other end is closed.
    case end
    /// The message is invalid.
    case malformed
  }

  /// Receives a task with its files. Blocks.
  func receive() -> Received {
    var files: [WorkerSource] = []
    var bytes: [UInt8] = []
    while let (message, descriptors) = socket.withLock({ $0.receiveWithDescriptors() }) {
      switch MessageKind(rawValue: message[0]) {
      case .file:
        guard let file = try? MessageDecoder.value(WorkerFile.self, from: message, at: 1),
          descriptors.count == (file.hasDescriptor ? 1 : 0)
        else { return .malformed }
        files.append(source(file, descriptors.first, index: files.count))
      case .part: bytes += message.dropFirst()
      case .task:
        bytes += message.dropFirst()
        guard let task = try? MessageDecoder.value(WorkerTask.self, from: bytes) else { return .malformed }
        return .request(task, files, descriptors: descriptors)
      default: return .malformed
      }
    }
    return .end
  }

  private func source(_ file: WorkerFile, _ descriptor: Int32?, index: Int) -> WorkerSource {
    OpeningLimits.byteCount = file.openingByteCount
    let bytes: WorkerSource.Bytes =
      if let descriptor {
        .descriptor(descriptor)
      } else {
        .requested(RequestedBytes(self, file: index, byteCount: file.byteCount, isSeekable: file.isSeekable))
      }
    return WorkerSource(hint: file.hint, displayName: file.displayName, bytes: bytes)
  }

  func send(_ kind: MessageKind, _ content: some Encodable) {
    guard socket.withLock({ $0.send(kind.message(content)) }) else { Glibc.exit(0) }
  }

  func sendResult(_ result: [UInt8]) {
    guard socket.withLock({ $0.send(.result, inParts: result) }) else { Glibc.exit(0) }
  }

  func request(_ kind: MessageKind, _ content: some Encodable) -> [UInt8] {
    let reply = socket.withLock { socket in socket.send(kind.message(content)) ? socket.receive() : nil }
    guard let reply else { Glibc.exit(0) }
    return reply
  }
}

/// Bytes that the worker requests from the player process.
private final class RequestedBytes: ByteSource {
  private let connection: WorkerConnection
  private let file: Int
  let byteCount: Int64?
  let isSeekable: Bool

  /// - Parameter file: the file's index among those of the task.
  init(_ connection: WorkerConnection, file: Int, byteCount: Int64?, isSeekable: Bool) {
    (self.connection, self.file, self.byteCount, self.isSeekable) = (connection, file, byteCount, isSeekable)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    guard !buffer.isEmpty else { return 0 }
    let request = ReadRequest(file: file, offset: offset, count: min(buffer.count, MessageLimits.readByteCount))
    let reply = connection.request(.read, request)
    guard reply[0] == MessageKind.bytes.rawValue else {
      throw (try? MessageDecoder.value(MediaError.self, from: reply, at: 1))
        ?? MediaError(.readFailed, "the bytes cannot be read", operation: "read")
    }
    let count = min(buffer.count, reply.count - 1)
    reply.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[1..<count + 1])) }
    return count
  }

  func popTitles(before offset: Int64) -> [StreamTitle] {
    // A file with a known end has no titles.
    guard byteCount == nil else { return [] }
    let reply = connection.request(.popTitles, TitleRequest(file: file, offset: offset))
    return (try? MessageDecoder.value([StreamTitle].self, from: reply, at: 1)) ?? []
  }

  // The player process cancels its own reads; the reply to the worker is a failure.
  func cancel() {}
  func resume() {}
}

extension MediaError {
  /// The same error with texts short enough for a message.
  fileprivate var shortened: MediaError {
    func shortened(_ text: String) -> String { String(text.prefix(8_192)) }
    return MediaError(
      code, shortened(message), operation: operation.map(shortened), underlying: underlying.map(shortened))
  }
}
