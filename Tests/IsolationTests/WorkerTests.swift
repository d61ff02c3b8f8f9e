import CPlayheadSandbox
import Glibc
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Synchronization
import Testing

@testable import PlayheadIsolation

/// Worker processes: their rights, and the effects of their end.
@Suite struct WorkerTests {
  /// A pool of a worker program for tests (Sources/worker-for-tests).
  static func pool(returnTimeoutMilliseconds: Int = 25) throws -> WorkerPool {
    var folder = #filePath.split(separator: "/").dropLast(3).map(String.init)
    folder += [".build", "debug", "worker-for-tests"]
    return WorkerPool(
      program: "/" + folder.joined(separator: "/"), returnTimeoutMilliseconds: returnTimeoutMilliseconds)
  }

  /// The functions of that program.
  enum Function: Int {
    case echo = 1
    case countBytes, fail, crash, makeForbiddenCall, exhaustMemory, exhaustProcessorTime, returnNothing, report,
      keepFiles,
      readIndefinitely, ignoreReplies
  }

  @discardableResult
  static func count(
    _ source: FileSource, in pool: WorkerPool, _ function: Function = .countBytes, byteLimit: Int? = nil
  ) throws(MediaError) -> Int {
    let lease = try pool.lease()
    return try lease.open(
      source, displayName: "a.mp3", function.rawValue, true, byteLimit: byteLimit, as: Int.self)
  }

  static func memorySource(_ bytes: [UInt8] = [1, 2, 3]) throws -> FileSource {
    try FileSource(bytes: bytes, interrupt: Interrupt())
  }

  // MARK: - Tasks

  @Test func workerReadsFilesMemoryAndByteSources() throws {
    let folder = try TemporaryDirectory()
    let pool = try Self.pool()
    let bytes = [UInt8](repeating: 7, count: 300_000)
    let stream = try #require(fopen(folder.file("a"), "w"))
    fwrite(bytes, 1, bytes.count, stream)
    fclose(stream)
    #expect(
      try Self.count(try FileSource(path: Array(folder.file("a").utf8), interrupt: Interrupt()), in: pool) == 300_000)
    #expect(try Self.count(try Self.memorySource(bytes), in: pool) == 300_000)
    let byteSource = try FileSource(opened: BytesInMemory(bytes), hint: "a", interrupt: Interrupt())
    #expect(try Self.count(byteSource, in: pool) == 300_000)
    #expect(pool.statistics.startedCount == 1 && pool.statistics.leaseCount == 3 && pool.statistics.crashCount == 0)
  }

  @Test func idleWorkerThatEndedIsReplaced() throws {
    let pool = try Self.pool()
    let ended = try pool.lease().processID
    #expect(kill(ended, SIGKILL) == 0)
    var information = siginfo_t()
    #expect(waitid(P_PID, id_t(ended), &information, WEXITED | WNOWAIT) == 0)
    #expect(pool.statistics.idleCount == 1)
    #expect(try Self.count(try Self.memorySource(), in: pool) == 3)
    #expect(pool.statistics.startedCount == 2 && pool.statistics.crashCount == 0)
    #expect(pool.statistics.idleCount == 1 && pool.statistics.busyCount == 0)
  }

  /// A new worker takes longer to start than most tasks.
  @Test func taskUsesTheWorkerThatAnotherTaskReturns() throws {
    let pool = try Self.pool(returnTimeoutMilliseconds: 60_000)
    var first: WorkerLease? = try pool.lease()
    let processID = try #require(first?.processID)
    let second = ConditionMutex<Result<pid_t, any Error>?>(nil)
    let thread = NamedThread(name: "second-lease") {
      let result = Result { () throws -> pid_t in try pool.lease().processID }
      second.update { $0 = result }
    }
    // The thread has started a new worker, and waits for the first one.
    while pool.statistics.busyCount < 2 || pool.statistics.startedCount < 2 { sched_yield() }
    first = nil
    let result = try #require(second.wait { $0 })
    #expect(try result.get() == processID)
    thread.join()
    #expect(pool.statistics.startedCount == 2 && pool.statistics.idleCount == 2 && pool.statistics.busyCount == 0)
  }

  @Test func taskUsesANewWorkerIfNoneIsReturnedInTime() throws {
    let pool = try Self.pool(returnTimeoutMilliseconds: 0)
    let (first, second) = (try pool.lease(), try pool.lease())
    #expect(first.processID != second.processID)
    #expect(try second.run(Function.echo.rawValue, "a", as: String.self) == "a")
  }

  @Test func longParametersAndResultsArriveUnchanged() throws {
    let lease = try Self.pool().lease()
    let text = String(repeating: "ä", count: 60_000)
    #expect(try lease.run(Function.echo.rawValue, text, as: String.self) == text)
  }

  @Test func taskLongerThanOneMessageArrivesComplete() throws {
    let text = String(repeating: "ä", count: 300_000)
    #expect(try Self.pool().lease().run(Function.echo.rawValue, text, as: String.self) == text)
  }

  @Test func oneTaskReadsSeveralFiles() throws {
    let pool = try Self.pool()
    let lease = try pool.lease()
    let interrupt = Interrupt()
    let sources = try (1...20).map { number in
      number % 2 == 0
        ? try FileSource(bytes: [UInt8](repeating: 1, count: number), interrupt: interrupt)
        : try FileSource(
          opened: BytesInMemory([UInt8](repeating: 1, count: number)), hint: "a", interrupt: interrupt)
    }
    let count = try lease.open(
      sources.count, displayName: "all", Function.countBytes.rawValue, true, as: Int.self
    ) { index in (sources[index], "\(index)") }
    #expect(count == 210)
  }

  @Test func taskEndsWhenOneOfItsFilesCannotBeOpened() throws {
    let pool = try Self.pool()
    let lease = try pool.lease()
    let first = try Self.memorySource()
    expectError(.fileNotFound) {
      try lease.open(2, displayName: "all", Function.countBytes.rawValue, true, as: Int.self) {
        (index) throws(MediaError) in
        guard index == 0 else { throw MediaError(.fileNotFound, "no file") }
        return (first, "first")
      }
    }
    // The worker has received half a task, so it performs no other.
    expectError(.fileNotFound) { try lease.run(Function.echo.rawValue, 1, as: Int.self) }
    #expect(pool.statistics.crashCount == 0)
  }

  @Test func reportsArriveInOrderAndTheHandlerCanEndTheTask() throws {
    let pool = try Self.pool()
    var numbers: [Int] = []
    func report(_ lease: WorkerLease, limit: Int) throws(MediaError) -> Int {
      let source: FileSource
      do { source = try Self.memorySource() } catch { throw MediaError(.readFailed, "no memory") }
      return try lease.open(1, displayName: "a", Function.report.rawValue, 7, as: Int.self) { _ in
        (source, "a")
      } handleReport: { content in
        numbers.append((try? MessageDecoder.value(Int.self, from: content)) ?? -1)
        return numbers.count < limit
      }
    }
    #expect(try report(try pool.lease(), limit: .max) == 7)
    #expect(numbers == Array(0..<100))
    numbers = []
    let error = #expect(throws: MediaError.self) { try report(try pool.lease(), limit: 3) }
    #expect(error?.code == .cancelled && numbers == [0, 1, 2])
  }

  @Test func unrequestedReportEndsTheWorker() throws {
    let pool = try Self.pool()
    let error = #expect(throws: MediaError.self) { try Self.count(try Self.memorySource(), in: pool, .report) }
    #expect(error?.code == .damagedFile && pool.statistics.crashCount == 1)
  }

  @Test func workerWithCustomLimitsEndsWithItsLease() throws {
    let pool = try Self.pool()
    try pool.start()
    var limits = WorkerLimits()
    (limits.dataByteCount, limits.openFileCount, limits.fileByteCount) = (500 << 20, 100, 12_345)
    var lease: WorkerLease? = try pool.lease(limits: limits)
    let values = try #require(try lease?.run(Function.echo.rawValue, [1], as: [Int].self))
    #expect(values == [1] && pool.statistics.startedCount == 2 && pool.statistics.idleCount == 1)
    lease = nil
    #expect(pool.statistics.busyCount == 0 && pool.statistics.idleCount == 1)
    let process = try WorkerProcess(program: pool.program, limits: limits)
    let task = WorkerTask(function: Function.echo.rawValue, parameters: [1])
    #expect(process.socket.send(MessageKind.task.message(task)))
    #expect(process.socket.receive() == [MessageKind.result.rawValue, 1])
    let text = try Self.text("/proc/\(process.processID)/limits")
    for row in [
      "Max data size             524288000", "Max open files            100", "Max file size             12345",
    ] {
      #expect(text.contains(row), "\(row)")
    }
  }

  @Test func errorOfTheWorkerIsThrownAndTheWorkerContinues() throws {
    let pool = try Self.pool()
    let error = #expect(throws: MediaError.self) { try Self.count(try Self.memorySource(), in: pool, .fail) }
    #expect(error == MediaError(.invalidTime, "no time", operation: "test", underlying: "nothing"))
    #expect(try Self.count(try Self.memorySource(), in: pool) == 3)
    #expect(pool.statistics.startedCount == 1)
  }

  @Test func failedReadIsThrownUnchanged() throws {
    let pool = try Self.pool()
    let source = try FileSource(opened: FailingBytes(), hint: "a", interrupt: Interrupt())
    let error = #expect(throws: MediaError.self) { try Self.count(source, in: pool) }
    #expect(error == FailingBytes.error)
    #expect(try Self.count(try Self.memorySource(), in: pool) == 3)
  }

  @Test func readingMoreBytesThanTheLimitIsAnError() throws {
    let pool = try Self.pool()
    let bytes = BytesInMemory([UInt8](repeating: 0, count: 200_000))
    let source = try FileSource(opened: bytes, hint: "a", interrupt: Interrupt())
    expectError(.mediaLimitExceeded) { try Self.count(source, in: pool, byteLimit: 100_000) }
    #expect(pool.statistics.crashCount == 0)
  }

  // MARK: - Ends

  @Test(
    "a crash is reported as a damaged file, and the next task gets a new worker",
    arguments: [
      (Function.crash, "SIGABRT"), (.makeForbiddenCall, "SIGSYS"), (.returnNothing, "SIGKILL"),
      (.exhaustMemory, "SIGKILL"),
    ])
  func crashIsReportedAndTheNextTaskGetsANewWorker(_ function: Function, _ end: String) throws {
    let pool = try Self.pool()
    let error = #expect(throws: MediaError.self) { try Self.count(try Self.memorySource(), in: pool, function) }
    print("worker | \(function) | \(error?.underlying ?? "") ")
    #expect(error?.code == .damagedFile && error?.message.contains("a.mp3") == true)
    #expect(error?.underlying == end)
    #expect(try Self.count(try Self.memorySource(), in: pool) == 3)
    #expect(pool.statistics.crashCount == 1 && pool.statistics.startedCount == 2 && pool.statistics.busyCount == 0)
  }

  @Test func endlessTaskIsEndedByTheProcessorTimeLimit() throws {
    let process = try WorkerProcess(program: try Self.pool().program)
    let task = WorkerTask(function: Function.exhaustProcessorTime.rawValue, parameters: [])
    #expect(process.socket.send(MessageKind.task.message(task)))
    // One second, which has begun, and no further second.
    #expect(sandbox_allow_processor_time(process.processID, 0) == 0)
    #expect(process.socket.receive() == nil)
    #expect(process.wait() == WorkerProcess.End(signal: SIGXCPU, status: 0))
  }

  @Test func cancelledTaskIsNoCrashAndItsWorkerContinues() throws {
    let pool = try Self.pool()
    let interrupt = Interrupt()
    let source = try FileSource(opened: CancellingBytes(interrupt), hint: "a.mp3", interrupt: interrupt)
    do {
      let lease = try pool.lease()
      // The worker finishes at once, but a busy machine may delay its process for longer than the default time.
      expectError(.cancelled) {
        try lease.open(
          source, displayName: "a.mp3", Function.countBytes.rawValue, true, graceMilliseconds: 60_000, as: Int.self)
      }
    }
    #expect(pool.statistics.crashCount == 0 && pool.statistics.busyCount == 0)
    #expect(try Self.count(try Self.memorySource(), in: pool) == 3)
    #expect(pool.statistics.startedCount == 1)
  }

  @Test func workerThatIgnoresCancellationIsEnded() throws {
    let pool = try Self.pool()
    let interrupt = Interrupt()
    let source = try FileSource(bytes: [1], interrupt: interrupt)
    let lease = try pool.lease()
    interrupt.cancel()
    expectError(.cancelled) {
      try lease.open(
        source, displayName: "a.mp3", Function.exhaustProcessorTime.rawValue, true, graceMilliseconds: 1,
        as: Int.self)
    }
    // A reader without a worker fails at once, and does not wait for the end of the cancellation.
    expectError(.damagedFile) { try lease.run(Function.echo.rawValue, 1, as: Int.self) }
    #expect(pool.statistics.crashCount == 0)
  }

  @Test(
    "a worker that does not close its files in time, or reads them meanwhile, is ended",
    arguments: [
      (Function.echo, WorkerLease.closingMilliseconds, true), (.fail, WorkerLease.closingMilliseconds, true),
      (.exhaustProcessorTime, 1, false), (.readIndefinitely, WorkerLease.closingMilliseconds, false),
    ]) func workerThatDoesNotCloseItsFilesIsEnded(_ function: Function, _ milliseconds: Int32, _ isReused: Bool) throws
  {
    let pool = try Self.pool()
    do {
      let source = try FileSource(opened: BytesInMemory([1, 2, 3]), hint: "a", interrupt: Interrupt())
      let lease = try pool.lease()
      #expect(
        try lease.open(source, displayName: "a.mp3", Function.keepFiles.rawValue, true, as: Bool.self))
      lease.closeFiles(function.rawValue, milliseconds: milliseconds)
    }
    print("worker | closes with \(function): \(pool.statistics.idleCount) idle")
    #expect(pool.statistics.busyCount == 0 && pool.statistics.idleCount == (isReused ? 1 : 0))
  }

  /// The thread of the lease must not wait for a worker that receives nothing.
  @Test func workerThatIgnoresRepliesIsEnded() throws {
    let pool = try Self.pool()
    let source = try FileSource(opened: BytesInMemory([1, 2, 3]), hint: "a", interrupt: Interrupt())
    expectError(.damagedFile) { try Self.count(source, in: pool, .ignoreReplies) }
    #expect(pool.statistics.crashCount == 1 && pool.statistics.busyCount == 0)
  }

  @Test func workerWithARejectedResultIsEnded() throws {
    let pool = try Self.pool()
    do {
      let lease = try pool.lease()
      let count = try lease.open(
        try Self.memorySource(), displayName: "a.mp3", Function.countBytes.rawValue, true, as: Int.self)
      #expect(count == 3 && lease.rejectResult().code == .damagedFile)
      expectError(.damagedFile) { try lease.run(Function.echo.rawValue, 1, as: Int.self) }
      lease.closeFiles(Function.echo.rawValue)
    }
    #expect(pool.statistics.busyCount == 0 && pool.statistics.idleCount == 0 && pool.statistics.crashCount == 0)
  }

  /// A worker that a scan used must not delay the opening of the next item.
  @Test func workerHasThePriorityOfTheThreadThatLeasesIt() throws {
    let pool = try Self.pool()
    let ids = Mutex<[pid_t]>([])
    func use() { try? ids.withLock { $0.append(try pool.lease().processID) } }
    use()
    let hasEnded = ConditionMutex(false)
    NamedThread.detached(name: "low") {
      setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
      for _ in 0..<2 { try? ids.withLock { $0.append(try pool.lease().processID) } }
      hasEnded.update { $0 = true }
    }
    let _: Bool? = hasEnded.wait { $0 ? true : nil }
    use()
    let used = ids.withLock { $0 }
    try #require(used.count == 4)
    #expect(used[0] == used[3] && used[1] == used[2] && used[0] != used[1])
    #expect(used.map { getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t($0)) } == [0, 10, 10, 0])
    #expect(pool.statistics.startedCount == 2 && pool.statistics.idleCount == 2)
  }

  @Test func missingWorkerProgramReportsWorkerUnavailable() throws {
    let pool = WorkerPool(program: "/nowhere/playhead-worker")
    expectError(.workerUnavailable) { try Self.count(try Self.memorySource(), in: pool) }
    #expect(pool.statistics.busyCount == 0)
  }

  // MARK: - Rights

  @Test func workerIsRestrictedBySeccompLimitsAndDescriptors() throws {
    let process = try WorkerProcess(program: try Self.pool().program)
    // A worker restricts itself before its first reply.
    let task = WorkerTask(function: Function.echo.rawValue, parameters: [1])
    #expect(process.socket.send(MessageKind.task.message(task)))
    #expect(process.socket.receive() == [MessageKind.result.rawValue, 1])
    let status = try Self.text("/proc/\(process.processID)/status")
    #expect(status.contains("NoNewPrivs:\t1"))
    #expect(status.contains("Seccomp:\t2"))
    let limits = try Self.text("/proc/\(process.processID)/limits")
    #expect(limits.contains("Max address space         1073741824"))
    #expect(limits.contains("Max core file size        0"))
    var names: [String] = []
    for index in 0..<1_000 {
      guard let name = sandbox_worker_call(Int32(index)) else { break }
      names.append(String(cString: name))
    }
    for forbidden in [
      "socket", "connect", "execve", "fork", "clone", "kill", "ptrace", "open", "openat", "unlink", "ioctl",
      "tgkill", "setpriority",
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

  /// The table of docs/protocol/safety.md.
  @Test func documentNamesEverySystemCallOfAWorker() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let document = try Self.text("\(root)/docs/protocol/safety.md")
    let begin = try #require(document.firstRange(of: "| Purpose | System calls |"))
    let end = try #require(document[begin.upperBound...].firstRange(of: "Calls that open or inspect a path"))
    let named = document[begin.upperBound..<end.lowerBound].split(separator: "`").filter { word in
      word.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" }
    }
    var allowed: Set<Substring> = []
    while let name = sandbox_worker_call(Int32(allowed.count)) { allowed.insert(Substring(String(cString: name))) }
    // The filter checks the arguments of these calls.
    allowed.formUnion(["mmap", "mprotect", "clone", "prlimit64", "fcntl", "setpriority", "tgkill"])
    #expect(Set(named) == allowed, "\(Set(named).symmetricDifference(allowed))")
    #expect(named.count == allowed.count, "each system call is named once")
  }

  static func text(_ path: String, byteCount: Int = 65_536) throws -> String {
    let stream = try #require(fopen(path, "r"))
    defer { fclose(stream) }
    var bytes = [UInt8](repeating: 0, count: byteCount)
    let count = fread(&bytes, 1, bytes.count, stream)
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}

private final class FailingBytes: ByteSource {
  static let error = MediaError(.httpNotFound, "nothing there", operation: "http", underlying: "404")
  let byteCount: Int64? = nil
  let isSeekable = false

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(MediaError) -> Int {
    throw Self.error
  }

  func cancel() {}
  func resume() {}
}

/// Cancels the task at the first read, and has no bytes.
private final class CancellingBytes: ByteSource {
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
