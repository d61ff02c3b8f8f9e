// The worker's side: restricts itself, then performs one task after another until the other end of its socket is gone. It has no
// access to files, networks or other processes; it sees bytes of descriptors that it is given, or asks for them.
import CSandbox
import Glibc
import LibAV
import MediaCore
import Tags

/// What a worker program can do.
package protocol WorkerFunctions {
  /// Performs a task.
  ///
  /// - Parameters:
  ///   - function: the number of the function.
  ///   - parameters: as `MessageEncoder` wrote them.
  ///   - source: the file of the task; nil where an earlier task opened it.
  ///   - descriptors: further descriptors, which are the function's to close.
  /// - Returns: the result, as `MessageEncoder` writes it.
  mutating func perform(
    _ function: Int, parameters: [UInt8], source: WorkerSource?, descriptors: [Int32]
  ) throws(MediaError) -> [UInt8]
}

/// A file as a worker sees it.
package struct WorkerSource {
  package enum Bytes {
    /// An open regular file; the receiver's to close.
    case descriptor(Int32)
    /// Bytes that the process that plays reads.
    case requested(any ByteSource)
  }

  /// A name whose extension says what may be in the file.
  package let hint: String
  /// What messages call the file.
  package let displayName: String
  package let bytes: Bytes
}

/// The program of a worker process.
package enum Worker {
  /// Bounds on a worker's resources.
  package enum Limits {
    /// Bytes of address space, with some 300 MiB for the code of libraries.
    package static let addressSpaceByteCount: UInt64 = 1 << 30
    /// Bytes of memory that is written to, but for shared memory.
    package static let dataByteCount: UInt64 = 384 << 20
    package static let openFileCount: UInt64 = 64
    /// Seconds of processor time of one task.
    package static let processorSeconds: UInt64 = 600
  }

  /// Restricts this process and performs tasks; returns when there are no more. The exit status: 0; 70 when the process cannot be
  /// restricted, 1 when a message makes no sense.
  package static func run(_ functions: some WorkerFunctions) -> Int32 {
    // What is loaded on first use must be loaded before nothing can be opened any more.
    _ = TagReader.isAvailable
    LibAV.discardLog()
    LibAV.prepare()
    guard restrict() else { return 70 }
    let connection = WorkerConnection(socket: WorkerSocket(descriptor: WorkerProcess.socketDescriptor))
    var functions = functions
    while let (message, descriptors) = connection.socket.receiveWithDescriptors() {
      guard message[0] == MessageKind.task.rawValue,
        let task = try? MessageDecoder.value(WorkerTask.self, from: message, at: 1)
      else { return 1 }
      guard connection.perform(task, descriptors, &functions) else { return 0 }
    }
    return 0
  }

  /// Whether it has no rights any more. Where the kernel has no Landlock, the filter of system calls alone keeps it from paths.
  private static func restrict() -> Bool {
    guard sandbox_limit_core(0) == 0, sandbox_limit_file_size(0) == 0,
      sandbox_limit_open_files(Limits.openFileCount) == 0, sandbox_limit_data(Limits.dataByteCount) == 0,
      sandbox_limit_address_space(Limits.addressSpaceByteCount) == 0, sandbox_set_no_new_privileges() == 0
    else { return false }
    if sandbox_landlock_version() > 0, sandbox_landlock_forbid_all() != 0 { return false }
    return sandbox_restrict_worker_calls() == 0
  }
}

/// The worker's end of the connection.
private struct WorkerConnection {
  let socket: WorkerSocket

  /// Performs a task and sends what came of it; false when the other end is gone.
  func perform(_ task: WorkerTask, _ received: [Int32], _ functions: inout some WorkerFunctions) -> Bool {
    do throws(MediaError) {
      var descriptors = received
      let source = try source(of: task, &descriptors)
      return send(
        try functions.perform(
          task.function, parameters: task.parameters, source: source, descriptors: descriptors))
    } catch {
      return socket.send(MessageKind.failure.message(error.shortened))
    }
  }

  private func source(of task: WorkerTask, _ descriptors: inout [Int32]) throws(MediaError) -> WorkerSource? {
    guard let source = task.source else { return nil }
    OpeningLimits.byteCount = source.openingByteCount
    let bytes: WorkerSource.Bytes
    if source.hasDescriptor {
      guard !descriptors.isEmpty else {
        throw MediaError(.readFailed, "the worker received no descriptor", operation: "worker")
      }
      bytes = .descriptor(descriptors.removeFirst())
    } else {
      bytes = .requested(RequestedBytes(socket, byteCount: source.byteCount, isSeekable: source.isSeekable))
    }
    return WorkerSource(hint: source.hint, displayName: source.displayName, bytes: bytes)
  }

  /// Sends a result, in parts where it is long.
  private func send(_ result: [UInt8]) -> Bool {
    let partByteCount = MessageLimits.byteCount - 1
    var rest = result[...]
    while rest.count > partByteCount {
      guard socket.send([MessageKind.part.rawValue] + rest.prefix(partByteCount)) else { return false }
      rest = rest.dropFirst(partByteCount)
    }
    return socket.send([MessageKind.result.rawValue] + rest)
  }
}

/// Bytes that the worker asks the process that plays for.
private final class RequestedBytes: ByteSource {
  private let socket: WorkerSocket
  let byteCount: Int64?
  let isSeekable: Bool

  init(_ socket: WorkerSocket, byteCount: Int64?, isSeekable: Bool) {
    (self.socket, self.byteCount, self.isSeekable) = (socket, byteCount, isSeekable)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    guard !buffer.isEmpty else { return 0 }
    let request = ReadRequest(offset: offset, count: min(buffer.count, MessageLimits.readByteCount))
    let answer = answer(to: MessageKind.read.message(request))
    guard answer[0] == MessageKind.bytes.rawValue else {
      throw (try? MessageDecoder.value(MediaError.self, from: answer, at: 1))
        ?? MediaError(.readFailed, "the bytes cannot be read", operation: "read")
    }
    let count = min(buffer.count, answer.count - 1)
    answer.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[1..<count + 1])) }
    return count
  }

  func takeTitles(before offset: Int64) -> [StreamTitle] {
    // A file with a known end has none.
    guard byteCount == nil else { return [] }
    return
      (try? MessageDecoder.value([StreamTitle].self, from: answer(to: MessageKind.takeTitles.message(offset)), at: 1))
      ?? []
  }

  private func answer(to request: [UInt8]) -> [UInt8] {
    guard socket.send(request), let answer = socket.receive() else { Glibc.exit(0) }
    return answer
  }

  // The process that plays cancels its own reads, which are then answered with a failure.
  func cancel() {}
  func resume() {}
}

extension MediaError {
  /// The same with texts that fit into a message.
  fileprivate var shortened: MediaError {
    func shortened(_ text: String) -> String { String(text.prefix(8_192)) }
    return MediaError(
      code, shortened(message), operation: operation.map(shortened), underlying: underlying.map(shortened))
  }
}
