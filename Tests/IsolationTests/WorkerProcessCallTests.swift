import CSystemCalls
import Glibc
import PlayheadMediaCore
import Testing

@testable import PlayheadIsolation

/// System calls on another process. The filter denies them on every kernel, Landlock only since Linux 6.12.
@Suite struct WorkerProcessCallTests {
  /// The function of `worker-for-tests`.
  private static let makeProcessCall = 15

  /// Has the fields of `ProcessCall`.
  private struct ProcessCall: Codable {
    var index: Int32
    var process: Int32
  }

  @Test func everySystemCallOnTheParentProcessIsDenied() throws {
    let lease = try WorkerTests.pool().lease()
    let process = __priority_which_t(PRIO_PROCESS.rawValue)
    let priority = getpriority(process, 0)
    var index: Int32 = 0
    while let name = process_call_name(index) {
      let call = ProcessCall(index: index, process: getpid())
      let errorNumber = try lease.run(Self.makeProcessCall, call, as: Int32.self)
      print("worker process call | \(String(cString: name)) | \(errorNumber)")
      #expect(errorNumber == EPERM, "\(String(cString: name))")
      index += 1
    }
    #expect(index == 5)
    #expect(getpriority(process, 0) == priority)
    // The worker still performs tasks.
    #expect(try lease.run(WorkerTests.Function.echo.rawValue, 1, as: Int.self) == 1)
  }
}
