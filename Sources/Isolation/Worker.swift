// The worker's side: restricts itself, then does one task after another until the other end of its socket is gone. It has no
// access to files, networks or other processes; it sees bytes of descriptors that it is given, or asks for them.
import CMediaShims
import CSandbox
import Glibc
import LibAV
import MediaCore
import Tags

/// The program of a worker process.
public enum Worker {
  /// Bounds on a worker's resources.
  public enum Limits {
    /// Bytes of address space, with some 300 MiB for the code of libraries.
    public static let addressSpaceByteCount: UInt64 = 1 << 30
    /// Bytes of memory that is written to, but for shared memory.
    public static let dataByteCount: UInt64 = 384 << 20
    public static let openFileCount: UInt64 = 64
    /// Seconds of processor time of all its tasks; a single task has a deadline of its own (`AssetWorkers`).
    public static let processorSeconds: UInt64 = 600
  }

  /// Restricts this process and does tasks; returns when there are no more. The exit status: 0; 70 when the process cannot be restricted.
  public static func run() -> Int32 {
    // What is loaded on first use must be loaded before nothing can be opened any more.
    _ = TagReader.isAvailable
    LibAV.discardLog()
    LibAV.prepare()
    guard restrict() else { return 70 }
    let socket = WorkerSocket(descriptor: WorkerProcess.socketDescriptor)
    while let message = socket.receive() {
      var reader = MessageReader(Array(message.dropFirst()))
      guard message[0] == MessageKind.task.rawValue, let task = try? WorkerTask(from: &reader) else { return 1 }
      guard send(outcome(of: task, socket), to: socket) else { return 0 }
    }
    return 0
  }

  /// Whether it has no rights any more. Where the kernel has no Landlock, the filter of system calls alone keeps it from paths.
  private static func restrict() -> Bool {
    guard sandbox_limit_core(0) == 0, sandbox_limit_file_size(0) == 0,
      sandbox_limit_open_files(Limits.openFileCount) == 0,
      sandbox_limit_processor_time(Limits.processorSeconds) == 0, sandbox_limit_data(Limits.dataByteCount) == 0,
      sandbox_limit_address_space(Limits.addressSpaceByteCount) == 0, sandbox_set_no_new_privileges() == 0
    else { return false }
    if sandbox_landlock_version() > 0, sandbox_landlock_forbid_all() != 0 { return false }
    return sandbox_restrict_worker_calls() == 0
  }

  private static func outcome(of task: WorkerTask, _ socket: WorkerSocket) -> [UInt8] {
    var writer = MessageWriter()
    do throws(AVFailure) {
      let source = try source(of: task, socket)
      writer.append(true)
      switch task.kind {
      case .open: try open(source, task)
      case .tags: try tags(of: source, task).encode(to: &writer)
      case .forbiddenCall: sandbox_make_forbidden_call()
      case .crash: abort()
      }
      return writer.bytes
    } catch {
      writer = MessageWriter()
      writer.append(false)
      writer.append(Int64(error.code))
      writer.append(error.call)
      return writer.bytes
    }
  }

  private static func source(of task: WorkerTask, _ socket: WorkerSocket) throws(AVFailure) -> FileSource {
    let interrupt = Interrupt()
    let hint = String(decoding: task.hint, as: UTF8.self)
    guard task.hasDescriptor else {
      let bytes = RequestedBytes(socket, byteCount: task.byteCount, isSeekable: task.isSeekable)
      return try FileSource(opened: bytes, hint: hint, interrupt: interrupt)
    }
    let descriptor = socket.receiveDescriptor()
    guard descriptor >= 0 else { throw AVFailure(errno: EBADMSG, call: "open") }
    defer { Glibc.close(descriptor) }
    return try FileSource(duplicating: descriptor, hint: hint, interrupt: interrupt)
  }

  /// Opens a container and decodes the beginning of the audio that plays. A packet that does not decode is no failure here: the
  /// daemon reports it when it plays the file.
  private static func open(_ source: FileSource, _ task: WorkerTask) throws(AVFailure) {
    let demuxer = try Demuxer(source: source, options: task.options)
    guard let index = demuxer.preferredAudioStreamIndex else { return }
    demuxer.select(streamIndex: index)
    guard let decoder = try? Decoder(demuxer: demuxer, streamIndex: index), let packet = try? Packet(),
      let frame = try? Frame()
    else { return }
    for _ in 0..<min(task.packetCount, 1_024) {
      guard (try? demuxer.readPacket(into: packet)) == .packet else { return }
      guard packet.streamIndex == index else { continue }
      guard (try? decoder.send(packet)) != nil else { return }
      while (try? decoder.receive(into: frame)) == .frame {}
    }
  }

  private static func tags(of source: FileSource, _ task: WorkerTask) throws(AVFailure) -> TagReading {
    let all = TagContainer.allCases
    guard all.indices.contains(Int(task.container)), let byteCount = source.byteCount else {
      throw AVFailure(errno: EINVAL, call: "tags")
    }
    return try TagReader.read(all[Int(task.container)], byteCount: byteCount) {
      (buffer, offset) throws(AVFailure) -> Int in
      try source.read(into: buffer, at: offset)
    }
  }

  /// Sends a result, in parts where it is long.
  private static func send(_ result: [UInt8], to socket: WorkerSocket) -> Bool {
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
    var writer = MessageWriter()
    writer.append(MessageKind.read.rawValue)
    writer.append(offset)
    writer.append(min(buffer.count, MessageLimits.readByteCount))
    guard socket.send(writer.bytes), let answer = socket.receive() else { Glibc.exit(0) }
    guard answer[0] == MessageKind.bytes.rawValue else {
      throw MediaError(.readFailed, "the bytes cannot be read", operation: "read")
    }
    let count = min(buffer.count, answer.count - 1)
    answer.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[1..<count + 1])) }
    return count
  }

  // The process that plays ends a worker whose task it cancels.
  func cancel() {}
  func resume() {}
}
