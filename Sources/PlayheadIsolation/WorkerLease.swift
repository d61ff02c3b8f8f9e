import CPlayheadMediaShims
import CPlayheadSandbox
import Glibc
import PlayheadLibAV
import PlayheadMediaCore
import Synchronization

/// A worker that is reserved for one caller, for one task or for all tasks on one file.
///
/// The interrupt of the file cancels the running task: reads of the file then fail. A worker that does not finish
/// within the grace time is killed.
///
/// Threading: one thread at a time, which blocks.
package final class WorkerLease: @unchecked Sendable {
  // `@unchecked Sendable`: mutable state is used by one thread at a time.

  private let pool: WorkerPool
  private let worker: WorkerPool.PooledWorker
  private var process: WorkerProcess { worker.process }
  /// The process of the worker.
  var processID: pid_t { process.processID }
  private var taskCount = 0
  /// The reason why the worker is lost; nil while it is usable.
  private var loss: MediaError?
  /// Whether the worker may perform tasks after this lease.
  private let isReusable: Bool
  /// The grace time: the time that a cancelled worker has to finish, in ms.
  private var graceMilliseconds: Int32 = 0
  /// The files whose bytes the worker requests; nil for a file whose descriptor the worker has.
  private var sources: [FileSource?] = []
  /// The interrupt of the files.
  private var interrupt: Interrupt?
  /// The name of the file, or of all files, in messages.
  private var displayName = ""
  /// Whether the worker closes its files. It may then only send the result.
  private var isClosing = false
  /// The time that a worker has to close its files, in ms.
  package static let closingMilliseconds: Int32 = 5_000

  init(_ pool: WorkerPool, _ worker: WorkerPool.PooledWorker, isReusable: Bool = true) {
    (self.pool, self.worker, self.isReusable) = (pool, worker, isReusable)
  }

  deinit {
    let returned = WorkerPool.PooledWorker(
      process: process, niceness: worker.niceness, taskCount: worker.taskCount + taskCount)
    pool.returnWorker(returned, isReusable: isReusable && loss == nil)
  }

  /// Opens files for this and later tasks, and performs a task. Blocks.
  ///
  /// - Parameters:
  ///   - fileCount: at least 1.
  ///   - displayName: the name of all files in messages.
  ///   - function: the number of the worker's function.
  ///   - graceMilliseconds: the time that the worker has to finish after the interrupt was used.
  ///   - byteLimit: the maximum number of bytes that the worker may request during this task; nil: no limit.
  ///   - descriptor: an additional descriptor for the worker. The caller keeps and closes its own.
  ///   - file: opens the file with an index. All files have one interrupt, which makes reads of their bytes fail.
  ///   - handleReport: called with the content of each report of the task. If it returns false, the worker is killed,
  ///     and the error is `cancelled`.
  /// - Throws: The errors of the function and of `file`; `damagedFile` if the worker crashes; `cancelled` if the
  ///   interrupt or `handleReport` ends the worker.
  package func open<Result: Decodable>(
    _ fileCount: Int, displayName: String, _ function: Int, _ parameters: some Encodable,
    graceMilliseconds: Int32 = 100, byteLimit: Int? = nil, descriptor: Int32? = nil, as type: Result.Type,
    file: (Int) throws(MediaError) -> (source: FileSource, displayName: String),
    handleReport: (([UInt8]) -> Bool)? = nil
  ) throws(MediaError) -> Result {
    (sources, self.displayName, self.graceMilliseconds) = ([], displayName, graceMilliseconds)
    do throws(MediaError) {
      for index in 0..<fileCount {
        let (source, name) = try file(index)
        try send(source, name)
        interrupt = source.interrupt
        sources.append(source.localDescriptor == nil ? source : nil)
      }
    } catch {
      // The worker still waits for the rest of this task, so it cannot be reused.
      process.kill()
      loss = error
      throw error
    }
    let task = WorkerTask(function: function, parameters: MessageEncoder.bytes(of: parameters))
    return try perform(task, [descriptor].compactMap(\.self), byteLimit, type, handleReport)
  }

  /// Opens one file and performs a task.
  package func open<Result: Decodable>(
    _ source: FileSource, displayName: String, _ function: Int, _ parameters: some Encodable,
    graceMilliseconds: Int32 = 100, byteLimit: Int? = nil, descriptor: Int32? = nil, as type: Result.Type
  ) throws(MediaError) -> Result {
    try open(
      1, displayName: displayName, function, parameters, graceMilliseconds: graceMilliseconds,
      byteLimit: byteLimit, descriptor: descriptor, as: type
    ) { _ in (source, displayName) }
  }

  /// Sends the description of a file, and its descriptor if it has one.
  private func send(_ source: FileSource, _ name: String) throws(MediaError) {
    // The worker gets bytes in memory as a file, too.
    let copy = try source.bytesInMemory.map(Self.makeMemoryFile)
    defer { if let copy { close(copy) } }
    let descriptor = copy ?? source.localDescriptor
    let file = WorkerFile(
      hint: String(decoding: source.path.suffix(4_096), as: UTF8.self), displayName: String(name.prefix(8_192)),
      hasDescriptor: descriptor != nil, byteCount: source.byteCount, isSeekable: source.isSeekable,
      openingByteCount: OpeningLimits.byteCount)
    if !process.socket.send(MessageKind.file.message(file), descriptors: [descriptor].compactMap(\.self)) {
      throw makeLossError()
    }
  }

  /// Creates a file in memory with these bytes and returns its descriptor.
  private static func makeMemoryFile(containing bytes: [UInt8]) throws(MediaError) -> Int32 {
    let descriptor = media_shims_shared_memory(bytes.count)
    let written = bytes.withUnsafeBytes { bytes -> Int in
      var count = 0
      while descriptor >= 0, count < bytes.count {
        let result = pwrite(descriptor, bytes.baseAddress.map { $0 + count }, bytes.count - count, count)
        if result < 0, errno == EINTR { continue }
        if result <= 0 { break }
        count += result
      }
      return count
    }
    guard descriptor >= 0, written == bytes.count else {
      let reason = String(cString: strerror(errno))
      if descriptor >= 0 { close(descriptor) }
      throw MediaError(
        .workerUnavailable, "not enough memory for a worker's copy of \(bytes.count) bytes", operation: "worker",
        underlying: reason)
    }
    return descriptor
  }

  /// Performs a task on the files of an earlier `open`. Blocks.
  ///
  /// - Throws: the errors of `open`.
  package func run<Result: Decodable>(
    _ function: Int, _ parameters: some Encodable, as type: Result.Type
  ) throws(MediaError) -> Result {
    try perform(WorkerTask(function: function, parameters: MessageEncoder.bytes(of: parameters)), [], nil, type)
  }

  /// Performs the task that closes the files of an earlier `open`, so that the worker can open others. This is the last
  /// task of the lease. A worker that requests bytes, or does not finish in time, is killed. Blocks for at most
  /// `milliseconds`.
  package func closeFiles(_ function: Int, milliseconds: Int32 = closingMilliseconds) {
    (isClosing, graceMilliseconds) = (true, milliseconds)
    _ = try? run(function, true, as: Bool.self)
  }

  /// Kills a worker whose result is invalid, because a file may control it. Returns the error of the file, which all
  /// later tasks throw.
  package func rejectResult() -> MediaError {
    process.kill()
    let error = loss ?? damagedFile
    loss = error
    return error
  }

  private func perform<Result: Decodable>(
    _ task: WorkerTask, _ descriptors: [Int32], _ byteLimit: Int?, _ type: Result.Type,
    _ handleReport: (([UInt8]) -> Bool)? = nil
  ) throws(MediaError) -> Result {
    taskCount += 1
    if let loss { throw loss }
    let failure: MediaError
    do throws(WorkerLost) {
      allowProcessorTime()
      guard process.socket.send(.task, inParts: MessageEncoder.bytes(of: task), descriptors: descriptors) else {
        throw WorkerLost()
      }
      switch try serveRequests(byteLimit, handleReport) {
      case .success(let bytes):
        do throws(MalformedMessage) { return try MessageDecoder.value(type, from: bytes) } catch { throw WorkerLost() }
      case .failure(let error): failure = error
      }
    } catch {
      let error = makeLossError()
      // `cancelled` applies to the cancelled task only. Later tasks get a different error.
      loss =
        error.code == .cancelled
        ? MediaError(
          .damagedFile, "the file is damaged: \(displayName) (the process that read it did not stop)",
          operation: "worker") : error
      throw error
    }
    throw failure
  }

  /// Allows the worker `WorkerLimits.processorSeconds` more of processor time.
  private func allowProcessorTime() {
    _ = sandbox_allow_processor_time(process.processID, WorkerLimits.processorSeconds)
  }

  /// Serves the worker's requests until it has a result.
  private func serveRequests(
    _ byteLimit: Int?, _ handleReport: (([UInt8]) -> Bool)?
  ) throws(WorkerLost) -> Result<[UInt8], MediaError> {
    var remainingByteCount = byteLimit
    var readFailure: MediaError?
    var result: [UInt8] = []
    while let message = receive() {
      let kind = MessageKind(rawValue: message[0])
      guard !isClosing || kind == .result || kind == .failure else { throw WorkerLost() }
      switch kind {
      case .read:
        let reply: [UInt8]
        switch read(try decode(ReadRequest.self, message), &remainingByteCount) {
        case .success(let bytes): reply = [MessageKind.bytes.rawValue] + bytes
        case .failure(let error):
          readFailure = error
          reply = MessageKind.readFailure.message(error)
        }
        guard process.socket.sendReply(reply) else { throw WorkerLost() }
      case .popTitles:
        let request = try decode(TitleRequest.self, message)
        guard sources.indices.contains(request.file) else { throw WorkerLost() }
        let titles = sources[request.file]?.byteSource?.popTitles(before: request.offset).prefix(16) ?? []
        guard process.socket.sendReply(MessageKind.titles.message(Array(titles))) else { throw WorkerLost() }
      case .report:
        guard let handleReport else { throw WorkerLost() }
        guard handleReport(Array(message.dropFirst())) else {
          process.kill()
          throw WorkerLost()
        }
        allowProcessorTime()
      case .part, .result:
        guard result.count + message.count <= MessageLimits.resultByteCount else { throw WorkerLost() }
        result += message.dropFirst()
        if kind == .result { return .success(result) }
      case .failure:
        // The error of a read in this process is more precise than the worker's error.
        if let readFailure { return .failure(readFailure) }
        return .failure(try decode(MediaError.self, message))
      default: throw WorkerLost()
      }
    }
    throw WorkerLost()
  }

  /// The next message; nil if the worker has ended. A worker that is cancelled or closes its files, and does not finish
  /// in time, is killed.
  private func receive() -> [UInt8]? {
    if let interrupt, isClosing || (try? interrupt.waitUntilReadable(process.socket.descriptor)) != true,
      !process.socket.waitUntilReadable(timeoutMilliseconds: graceMilliseconds)
    {
      process.kill()
    }
    return process.socket.receive()
  }

  /// Decodes the content of a message, after its kind.
  private func decode<Value: Decodable>(_ type: Value.Type, _ message: [UInt8]) throws(WorkerLost) -> Value {
    do throws(MalformedMessage) { return try MessageDecoder.value(type, from: message, at: 1) } catch {
      throw WorkerLost()
    }
  }

  /// Reads the bytes that the worker requests.
  private func read(_ request: ReadRequest, _ remainingByteCount: inout Int?) -> Result<[UInt8], MediaError> {
    guard sources.indices.contains(request.file), let source = sources[request.file], request.offset >= 0,
      (1...MessageLimits.readByteCount).contains(request.count)
    else {
      return .failure(damagedFile)
    }
    if let remaining = remainingByteCount, remaining < request.count {
      return .failure(
        MediaError(.mediaLimitExceeded, "the file exceeds a resource limit: \(displayName)", operation: "read"))
    }
    return Result { () throws(MediaError) in
      do throws(AVFailure) {
        let bytes = try source.readAvailable(at: request.offset, count: request.count)
        remainingByteCount = remainingByteCount.map { $0 - bytes.count }
        return bytes
      } catch {
        if let error = error.sourceError { throw error }
        throw MediaError(
          error.kind == .cancelled ? .cancelled : .readFailed,
          error.kind == .cancelled ? "the operation was cancelled" : "the file cannot be read: \(displayName)",
          operation: error.call, underlying: error.reason)
      }
    }
  }

  /// The error of a file whose worker sent invalid values.
  private var damagedFile: MediaError {
    MediaError(.damagedFile, "the file is damaged: \(displayName)", operation: "worker")
  }

  /// Ends a worker that crashed or sent an invalid message, and returns the error for its file.
  private func makeLossError() -> MediaError {
    let wasCancelled = process.wasKilled
    process.kill()
    let end = process.wait()
    if wasCancelled { return MediaError(.cancelled, "the operation was cancelled") }
    pool.recordCrash(end, file: displayName)
    return MediaError(
      .damagedFile, "the file is damaged: \(displayName) (it crashed the process that read it)", operation: "worker",
      underlying: end.description)
  }
}
