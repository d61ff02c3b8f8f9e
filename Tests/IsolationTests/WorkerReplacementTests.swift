import Glibc
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadIsolation

/// Workers are replaced, and the end of one worker does not affect others.
@Suite struct WorkerReplacementTests {
  private static func isRunning(_ process: pid_t) -> Bool { kill(process, 0) == 0 }

  @Test func workerIsReplacedAfterItsLastTaskAndNoTaskFails() throws {
    let pool = WorkerPool(
      program: try WorkerTests.pool().program, returnTimeoutMilliseconds: 25, maximumTaskCount: 3)
    var processes: [pid_t] = []
    for number in 0..<10 {
      let lease = try pool.lease()
      #expect(try lease.run(WorkerTests.Function.echo.rawValue, number, as: Int.self) == number)
      processes.append(lease.processID)
    }
    print("worker | ten tasks: \(processes)")
    // Each worker performs three tasks.
    let workers = stride(from: 0, to: 10, by: 3).map { processes[$0] }
    #expect(processes == (0..<10).map { workers[$0 / 3] } && Set(workers).count == 4)
    #expect(workers.map(Self.isRunning) == [false, false, false, true])
    let statistics = pool.statistics
    #expect(statistics.startedCount == 4 && statistics.crashCount == 0 && statistics.busyCount == 0)
  }

  /// A worker with an open file keeps it beyond its last task.
  @Test func leaseKeepsItsWorkerBeyondTheLastTask() throws {
    let pool = WorkerPool(
      program: try WorkerTests.pool().program, returnTimeoutMilliseconds: 25, maximumTaskCount: 3)
    let process: pid_t
    do {
      let lease = try pool.lease()
      process = lease.processID
      for number in 0..<5 {
        #expect(try lease.run(WorkerTests.Function.echo.rawValue, number, as: Int.self) == number)
      }
      #expect(Self.isRunning(process))
    }
    #expect(!Self.isRunning(process))
    #expect(try WorkerTests.count(try WorkerTests.memorySource(), in: pool) == 3)
    #expect(pool.statistics.startedCount == 2 && pool.statistics.crashCount == 0)
  }

  @Test func documentNamesTheNumberOfTasks() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let document = try WorkerTests.text("\(root)/docs/protocol/safety.md")
    #expect(WorkerPool.standardTaskCount == 2_048)
    #expect(document.contains("A worker that has performed 2,048 tasks is replaced"))
  }

  @Test(
    "the end of a worker does not affect the task of another one",
    arguments: [
      (WorkerTests.Function.makeForbiddenCall, nil, "SIGSYS"), (.crash, nil, "SIGABRT"),
      (.exhaustMemory, nil, "SIGKILL"), (.countBytes, SIGKILL, "SIGKILL"), (.countBytes, SIGSEGV, "SIGSEGV"),
    ] as [(WorkerTests.Function, Int32?, String)])
  func endOfAWorkerDoesNotAffectTheTaskOfAnotherOne(
    _ function: WorkerTests.Function, _ signal: Int32?, _ end: String
  ) throws {
    let pool = try WorkerTests.pool(returnTimeoutMilliseconds: 0)
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
    let gated = GatedBytes(bytes)
    let count = ConditionMutex<Result<Int, any Error>?>(nil)
    let thread = NamedThread(name: "other-task") {
      let result = Result { () throws -> Int in
        let source = try FileSource(opened: gated, hint: "b", interrupt: Interrupt())
        return try pool.lease().open(
          source, displayName: "b.mp3", WorkerTests.Function.countBytes.rawValue, true, as: Int.self)
      }
      count.update { $0 = result }
    }
    // The other worker is in its task, and waits for bytes.
    gated.waitUntilRead()
    let lease = try pool.lease()
    let (process, interrupt) = (lease.processID, Interrupt())
    let file =
      if let signal {
        try FileSource(
          opened: SignallingBytes { kill(process, signal) }, hint: "a", interrupt: interrupt)
      } else {
        try FileSource(bytes: [1, 2, 3], interrupt: interrupt)
      }
    let error = #expect(throws: MediaError.self) {
      try lease.open(file, displayName: "a.mp3", function.rawValue, true, as: Int.self)
    }
    print("worker | \(function) \(signal ?? 0) beside another task | \(error?.underlying ?? "")")
    #expect(error?.code == .damagedFile && error?.underlying == end)
    #expect(count.withState { $0 == nil })
    gated.open()
    #expect(try #require(count.wait { $0 }).get() == bytes.count)
    thread.join()
    let statistics = pool.statistics
    #expect(statistics.crashCount == 1 && statistics.startedCount == 2)
  }
}

/// Bytes that arrive only after a gate is opened.
private final class GatedBytes: ByteSource {
  private let bytes: BytesInMemory
  private let state = ConditionMutex((isOpen: false, isReading: false))
  var byteCount: Int64? { bytes.byteCount }
  let isSeekable = true

  init(_ bytes: [UInt8]) { self.bytes = BytesInMemory(bytes) }

  func open() { state.update { $0.isOpen = true } }
  func waitUntilRead() { let _: Bool? = state.wait { $0.isReading ? true : nil } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    state.update { $0.isReading = true }
    let _: Bool? = state.wait { $0.isOpen ? true : nil }
    return try bytes.read(into: buffer, at: offset)
  }

  func cancel() {}
  func resume() {}
}

/// Calls a closure at the first read, and has endless bytes.
private final class SignallingBytes: ByteSource {
  let byteCount: Int64? = nil
  let isSeekable = false
  private let signal: @Sendable () -> Void

  init(_ signal: @escaping @Sendable () -> Void) { self.signal = signal }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    signal()
    return buffer.count
  }

  func cancel() {}
  func resume() {}
}
