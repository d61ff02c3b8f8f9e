import Glibc
import LibAV
import MediaCore
import Tags

/// Tasks, from the side of the process that plays.
extension WorkerPool {
  /// Packets of audio that a worker decodes of a file before the file is decoded in this process.
  private static let localPacketCount = 32
  /// The same of a stream whose bytes arrive with the time.
  private static let streamPacketCount = 4
  /// Bytes that may be read for one task beyond those that opening may read.
  private static let furtherByteCount = 128 << 20

  /// Opens a container and decodes its beginning in a worker, so that a file that crashes FFmpeg there never reaches this process. Blocks.
  ///
  /// Throws what `Demuxer.init` throws; an error `damagedFile` where the worker crashed, `workerUnavailable` where there is none.
  public func tryOpening(_ source: FileSource, options: Demuxer.Options) throws(AVFailure) {
    var task = WorkerTask(.open)
    task.options = options
    task.packetCount = source.byteSource == nil ? Self.localPacketCount : Self.streamPacketCount
    _ = try run(task, on: source)
  }

  /// Reads tags in a worker. Blocks. Throws what reading the source throws, and as above.
  public func tags(_ container: TagContainer, of source: FileSource) throws(AVFailure) -> TagReading {
    var task = WorkerTask(.tags)
    task.container = UInt8(TagContainer.allCases.firstIndex(of: container) ?? 0)
    var reader = MessageReader(try run(task, on: source))
    do throws(MalformedMessage) { return try TagReading(from: &reader) } catch {
      throw AVFailure(crash(source, "its messages make no sense"))
    }
  }

  /// Has a worker make a forbidden system call, or crash; throws how it ended. For tests.
  package func fail(byForbiddenCall isForbidden: Bool, of source: FileSource) throws(AVFailure) {
    _ = try run(WorkerTask(isForbidden ? .forbiddenCall : .crash), on: source)
  }

  private func run(_ task: WorkerTask, on source: FileSource) throws(AVFailure) -> [UInt8] {
    var task = task
    let name = source.path.suffix(255)
    (task.hint, task.byteCount, task.isSeekable) = (Array(name), source.byteCount, source.isSeekable)
    task.hasDescriptor = source.localDescriptor != nil
    let answer: Result<[UInt8], AVFailure>
    do throws(WorkerFailure) {
      answer = try run { process throws(WorkerLost) in
        source.interrupt.attach(process)
        defer { source.interrupt.detach(process) }
        var conversation = Conversation(
          process.socket, source, byteLimit: task.options.openingByteCount + Self.furtherByteCount)
        return try conversation.run(task)
      }
    } catch {
      switch error {
      case .unavailable(let error): throw AVFailure(error)
      case .cancelled: throw AVFailure(cancelledIn: "worker")
      case .ended(let end):
        log(end, file: String(decoding: name, as: UTF8.self))
        throw AVFailure(crash(source, end.description))
      }
    }
    return try answer.get()
  }

  private func crash(_ source: FileSource, _ how: String) -> MediaError {
    MediaError(
      .damagedFile,
      "the file is damaged: \(String(decoding: source.path, as: UTF8.self)) (it crashed the process that read it)",
      operation: "worker", underlying: how)
  }
}

/// One task's messages with a worker.
private struct Conversation {
  private let socket: WorkerSocket
  private let source: FileSource
  private var remainingByteCount: Int
  /// Why bytes that the worker asked for could not be read.
  private var readFailure: AVFailure?

  init(_ socket: WorkerSocket, _ source: FileSource, byteLimit: Int) {
    (self.socket, self.source, remainingByteCount) = (socket, source, byteLimit)
  }

  /// Returns the result; a failure where the task failed in the worker, or bytes could not be read.
  mutating func run(_ task: WorkerTask) throws(WorkerLost) -> Result<[UInt8], AVFailure> {
    guard socket.send(task.encoded()) else { throw WorkerLost() }
    if let descriptor = source.localDescriptor, !socket.send(descriptor: descriptor) { throw WorkerLost() }
    var result: [UInt8] = []
    while let message = socket.receive() {
      var reader = MessageReader(Array(message.dropFirst()))
      switch MessageKind(rawValue: message[0]) {
      case .read: guard try socket.send(answer(to: &reader)) else { throw WorkerLost() }
      case .part, .result:
        result += message.dropFirst()
        guard result.count <= MessageLimits.resultByteCount else { throw WorkerLost() }
        if message[0] == MessageKind.result.rawValue { return try outcome(result) }
      default: throw WorkerLost()
      }
    }
    throw WorkerLost()
  }

  private func outcome(_ result: [UInt8]) throws(WorkerLost) -> Result<[UInt8], AVFailure> {
    // What this process saw itself is known better here.
    if let readFailure { return .failure(readFailure) }
    var reader = MessageReader(result)
    do throws(MalformedMessage) {
      if try reader.boolean() { return .success(Array(result.dropFirst())) }
      let code = try reader.integer()
      guard let code = Int32(exactly: code), code < 0 else { throw MalformedMessage() }
      return .failure(AVFailure(code: code, call: String(try reader.text().prefix(64))))
    } catch {
      throw WorkerLost()
    }
  }

  /// The bytes that the worker asks for.
  private mutating func answer(to reader: inout MessageReader) throws(WorkerLost) -> [UInt8] {
    let (offset, count): (Int64, Int)
    do throws(MalformedMessage) { (offset, count) = (try reader.integer(), try reader.count()) } catch {
      throw WorkerLost()
    }
    guard offset >= 0, (1...MessageLimits.readByteCount).contains(count) else { throw WorkerLost() }
    do throws(AVFailure) {
      if remainingByteCount < count { throw AVFailure(errno: ENOSPC, call: "read") }
      let bytes = try source.present(at: offset, count: count)
      remainingByteCount -= bytes.count
      return [MessageKind.bytes.rawValue] + bytes
    } catch {
      readFailure = error
      var writer = MessageWriter()
      writer.append(MessageKind.readFailure.rawValue)
      writer.append(Int64(error.code))
      return writer.bytes
    }
  }
}

extension WorkerProcess: Cancellable {
  func cancel() { kill() }
  func resume() {}
}
