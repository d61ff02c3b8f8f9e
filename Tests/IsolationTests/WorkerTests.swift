import CSandbox
import Glibc
import LibAV
import MediaCore
import RigSupport
import Synchronization
import Tags
import Testing

@testable import Isolation

/// Worker processes: what they do, what they may do, and what their end means.
@Suite struct WorkerTests {
  /// A pool of the worker program that was built with the tests.
  static func pool() throws -> WorkerPool {
    var folder = #filePath.split(separator: "/").dropLast(3).map(String.init)
    folder += [".build", "debug", WorkerProgram.name]
    return WorkerPool(program: "/" + folder.joined(separator: "/"))
  }

  static func fixture(_ folder: TemporaryDirectory, _ arguments: String...) throws {
    let process = try ChildProcess(
      ["ffmpeg", "-nostdin", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=duration=2:sample_rate=48000"] + arguments)
    try #require(process.wait() == 0)
  }

  @Test(arguments: ["a.flac", "a.mp3", "a.m4a", "a.ogg", "a.wav", "a.mka", "a.opus"])
  func aFileOpensInAWorkerFromItsDescriptorAndFromMemory(_ name: String) throws {
    let folder = try TemporaryDirectory()
    try Self.fixture(folder, folder.file(name))
    let pool = try Self.pool()
    let file = try FileSource(path: Array(folder.file(name).utf8), interrupt: Interrupt())
    try pool.tryOpening(file, options: Demuxer.Options())
    let bytes = try file.present(at: 0, count: Int(try #require(file.byteCount)))
    try pool.tryOpening(
      try FileSource(bytes: bytes, interrupt: Interrupt()), options: Demuxer.Options())
    #expect(pool.statistics.taskCount == 2 && pool.statistics.startedCount == 1 && pool.statistics.crashCount == 0)
  }

  @Test func failuresAreThoseOfOpeningInThisProcess() throws {
    let pool = try Self.pool()
    for bytes in [Array("this is no media file".utf8), [UInt8](repeating: 0, count: 5_000), [0x66]] {
      var failures: [AVFailure] = []
      do throws(AVFailure) {
        _ = try Demuxer(source: try FileSource(bytes: bytes, interrupt: Interrupt()))
      } catch {
        failures.append(error)
      }
      do throws(AVFailure) {
        try pool.tryOpening(try FileSource(bytes: bytes, interrupt: Interrupt()), options: Demuxer.Options())
      } catch {
        failures.append(error)
      }
      #expect(failures.count == 2 && Set(failures).count == 1, "\(failures)")
    }
    #expect(pool.statistics.crashCount == 0)
  }

  @Test func tagsAreThoseThatThisProcessReads() throws {
    let folder = try TemporaryDirectory()
    let pool = try Self.pool()
    for (name, container) in [("a.flac", TagContainer.flac), ("a.mp3", .edges), ("a.m4a", .mp4), ("a.ogg", .ogg)] {
      try Self.fixture(
        folder, "-metadata", "title=Größe \u{1F3B5}", "-metadata", "artist=A", "-metadata", "track=3/12",
        folder.file(name))
      let source = try FileSource(path: Array(folder.file(name).utf8), interrupt: Interrupt())
      let expected = try TagReader.read(container, byteCount: try #require(source.byteCount)) {
        (buffer, offset) throws(AVFailure) -> Int in try source.read(into: buffer, at: offset)
      }
      #expect(try pool.tags(container, of: source) == expected, "\(name)")
      #expect(expected.items.count >= 3)
    }
  }

  @Test func aCrashIsADamagedFileAndTheNextTaskHasANewWorker() throws {
    let pool = try Self.pool()
    let source = try FileSource(bytes: [1, 2, 3], interrupt: Interrupt())
    for (isForbidden, signal) in [(false, "SIGABRT"), (true, "SIGSYS")] {
      do throws(AVFailure) {
        try pool.fail(byForbiddenCall: isForbidden, of: source)
        Issue.record("the worker lives")
      } catch {
        #expect(error.sourceError?.code == .damagedFile)
        #expect(error.sourceError?.underlying == signal)
      }
      // The others live on.
      let failure = #expect(throws: AVFailure.self) {
        try pool.tryOpening(source, options: Demuxer.Options())
      }
      #expect(failure?.kind == .invalidData)
    }
    #expect(pool.statistics.crashCount == 2 && pool.statistics.startedCount == 3 && pool.statistics.busyCount == 0)
  }

  @Test func aCancelledTaskEndsItsWorkerAndIsNoCrash() throws {
    let pool = try Self.pool()
    let interrupt = Interrupt()
    let bytes = SilentSource(interrupt)
    let source = try FileSource(opened: bytes, hint: "a.mp3", interrupt: interrupt)
    let failure = #expect(throws: AVFailure.self) { try pool.tryOpening(source, options: Demuxer.Options()) }
    #expect(failure?.kind == .cancelled)
    #expect(pool.statistics.crashCount == 0 && pool.statistics.busyCount == 0)
    #expect(throws: AVFailure.self) {
      try pool.tryOpening(try FileSource(bytes: [1], interrupt: Interrupt()), options: Demuxer.Options())
    }
    #expect(pool.statistics.startedCount == 2)
  }

  @Test func aMissingProgramIsAnErrorWithANumber() throws {
    let pool = WorkerPool(program: "/nowhere/playhead-worker")
    let failure = #expect(throws: AVFailure.self) {
      try pool.tryOpening(try FileSource(bytes: [1], interrupt: Interrupt()), options: Demuxer.Options())
    }
    #expect(failure?.sourceError?.code == .workerUnavailable)
    #expect(pool.statistics.busyCount == 0)
  }

  @Test func aWorkerIsRestrictedAsItsTableSays() throws {
    let process = try WorkerProcess(program: try Self.pool().program)
    // A worker that has answered has restricted itself.
    #expect(process.socket.send(WorkerTask(.open).encoded()))
    #expect(process.socket.receive() != nil)
    let status = try text("/proc/\(process.processID)/status")
    #expect(status.contains("NoNewPrivs:\t1"))
    #expect(status.contains("Seccomp:\t2"))
    let limits = try text("/proc/\(process.processID)/limits")
    #expect(limits.contains("Max address space         1073741824"))
    #expect(limits.contains("Max core file size        0"))
    var names: [String] = []
    for index in 0..<1_000 {
      guard let name = sandbox_worker_call(Int32(index)) else { break }
      names.append(String(cString: name))
    }
    for forbidden in [
      "socket", "connect", "execve", "fork", "clone", "kill", "ptrace", "open", "openat", "unlink", "ioctl",
    ] {
      #expect(!names.contains(forbidden))
    }
    #expect(names.contains("read") && names.count > 20)
    let descriptors = try #require(opendir("/proc/\(process.processID)/fd"))
    defer { closedir(descriptors) }
    var count = 0
    while let entry = readdir(descriptors) {
      if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    #expect(count == 4, "standard streams and the socket")
  }

  @Test func nonsenseFromAWorkerEndsIt() throws {
    for message in [[], [9], [6], [7], [7, 1, 2], [5] + [UInt8](repeating: 0xFF, count: 16)] as [[UInt8]] {
      var reader = MessageReader(message)
      #expect(throws: MalformedMessage.self) { _ = try TagReading(from: &reader) }
    }
  }

  private func text(_ path: String) throws -> String {
    let stream = try #require(fopen(path, "r"))
    defer { fclose(stream) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&bytes, 1, bytes.count, stream)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}

/// Cancels whoever reads it for the first time, and has no bytes.
private final class SilentSource: ByteSource {
  let byteCount: Int64? = nil
  let isSeekable = false
  private let interrupt: Interrupt

  init(_ interrupt: Interrupt) { self.interrupt = interrupt }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    interrupt.cancel()
    throw MediaError(.cancelled, "cancelled")
  }

  func cancel() {}
  func resume() {}
}
