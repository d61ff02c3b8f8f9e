import Glibc
import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

@Suite struct ConditionMutexTests {
  @Test func waitEndsWithTheUpdate() {
    let value = ConditionMutex(0)
    let thread = NamedThread(name: "updater") { for number in 1...100 { value.update { $0 = number } } }
    #expect(value.wait { $0 == 100 ? "done" : nil } == "done")
    thread.join()
  }

  @Test func waitReturnsAtOnceIfTheConditionHolds() {
    let value = ConditionMutex([1, 2])
    #expect(value.wait { $0.isEmpty ? nil : $0.removeFirst() } == 1)
    #expect(value.withState { $0 } == [2])
  }

  @Test(arguments: [Int64.min, -1, 0, 1])
  func pastDeadlineEndsTheWaitAtOnce(nanoseconds: Int64) {
    let value = ConditionMutex(0)
    #expect(value.wait(until: HostTime(nanoseconds: nanoseconds)) { $0 == 1 ? true : nil } == nil)
    #expect(value.wait(until: HostTime(nanoseconds: nanoseconds)) { $0 == 0 ? true : nil } == true)
  }

  @Test func distantDeadlineWaitsForTheUpdate() {
    let value = ConditionMutex(false)
    let thread = NamedThread(name: "updater") { value.update { $0 = true } }
    #expect(value.wait(until: HostTime(nanoseconds: .max)) { $0 ? 7 : nil } == 7)
    thread.join()
  }

  @Test func updateWakesAllThreadsAndStateIsProtected() {
    let value = ConditionMutex((go: false, sum: 0))
    let threads = (0..<4).map { _ in
      NamedThread(name: "adder") {
        _ = value.wait { $0.go ? true : nil }
        for _ in 0..<1_000 { value.withState { $0.sum += 1 } }
      }
    }
    value.update { $0.go = true }
    for thread in threads { thread.join() }
    #expect(value.withState { $0.sum } == 4_000)
  }

  @Test func currentHostTimeNeverDecreases() {
    var last = HostTime.now
    for _ in 0..<1_000 {
      let now = HostTime.now
      #expect(now >= last)
      last = now
    }
  }
}

@Suite struct NamedThreadTests {
  /// Returns the kernel's name of the calling thread.
  private static func currentName() -> String {
    let descriptor = open("/proc/thread-self/comm", O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count - 1)), as: UTF8.self)
  }

  @Test(arguments: [
    ("decode", "decode"), ("exactly-15-long", "exactly-15-long"), ("much longer than fifteen", "much longer tha"),
    // Truncated between characters, never within one.
    ("fifteen bytes: é", "fifteen bytes: "), ("fourteen byte é", "fourteen byte "), ("", ""),
  ])
  func threadHasItsNameTruncatedToFifteenBytes(requested: String, shown: String) {
    let name = ConditionMutex<String?>(nil)
    let thread = NamedThread(name: requested) { name.update { $0 = Self.currentName() } }
    thread.join()
    #expect(name.withState { $0 } == shown)
  }

  @Test func detachedThreadRuns() {
    let value = ConditionMutex(false)
    NamedThread.detached(name: "detached") { value.update { $0 = true } }
    #expect(value.wait { $0 ? true : nil } == true)
  }

  @Test func threadReleasesItsBodyAfterTheEnd() {
    final class Token: Sendable {}
    weak var token: Token?
    let thread: NamedThread
    do {
      let strong = Token()
      token = strong
      thread = NamedThread(name: "holder") { withExtendedLifetime(strong) {} }
    }
    thread.join()
    #expect(token == nil)
  }
}
