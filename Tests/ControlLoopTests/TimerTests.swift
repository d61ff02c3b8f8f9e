import PlayheadMediaCore
import Synchronization
import Testing

@testable import PlayheadControlLoop

@Suite struct TimerTests {
  @Test func timerCancelledByAnotherOfTheSameInstantDoesNotRun() async {
    let loop = ThreadControlLoop(name: "timers")
    let ran = Mutex<[String]>([])
    await withCheckedContinuation { continuation in
      loop.execute {
        let time = loop.now
        let timerToCancel = TimerToCancel()
        _ = loop.schedule(at: time) {
          ran.withLock { $0.append("first") }
          timerToCancel.cancel()
        }
        timerToCancel.set(loop.schedule(at: time) { ran.withLock { $0.append("second") } })
        _ = loop.schedule(at: time.advanced(byNanoseconds: 1)) { continuation.resume() }
      }
    }
    #expect(ran.withLock { $0 } == ["first"])
  }

  @Test func cancelledTimersDoNotAccumulate() {
    var heap = TimerHeap()
    for index in Int64(0)..<100_000 { heap.add(at: HostTime(nanoseconds: 1_000 + index)) {}.cancel() }
    #expect(heap.count < 1_000)
  }
}

/// A timer that another one cancels.
private final class TimerToCancel: Sendable {
  private let timer = Mutex<(any ControlTimer)?>(nil)
  func set(_ timer: any ControlTimer) { self.timer.withLock { $0 = timer } }
  func cancel() { timer.withLock { $0?.cancel() } }
}
