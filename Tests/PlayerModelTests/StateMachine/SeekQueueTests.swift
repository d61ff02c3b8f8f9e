import PlayheadMediaCore
import RigSupport
import Testing

@testable import PlayheadPlayerModel

/// The replacement of seeks by others.
@Suite struct SeekQueueTests {
  private func request(_ token: UInt64) -> SeekQueue.Request {
    SeekQueue.Request(token: token, itemID: 1, target: .time(MediaTime(value: Int64(token), timescale: 1)))
  }

  /// A queue with these requests in order, all but the first chasing.
  private func queue(_ tokens: UInt64...) -> SeekQueue {
    var queue = SeekQueue()
    for token in tokens { _ = queue.add(request(token), mode: token == tokens[0] ? .replace : .chase) }
    return queue
  }

  @Test func firstSeekBeginsAtOnceInEitherMode() {
    for mode in SeekMode.allCases {
      var queue = SeekQueue()
      let (superseded, startsNow) = queue.add(request(1), mode: mode)
      #expect(superseded == [] && startsNow)
      #expect(queue.newest?.token == 1)
    }
  }

  @Test func chasingSeekWaitsUntilTheFirstCompletes() {
    var queue = queue(1)
    let (superseded, startsNow) = queue.add(request(2), mode: .chase)
    #expect(superseded == [] && !startsNow)
    #expect(queue.current?.token == 1)
    #expect(queue.newest?.token == 2)
    let isCompleted = queue.complete(1)
    #expect(isCompleted)
    #expect(queue.current?.token == 2)
    #expect(queue.waiting == nil)
  }

  @Test func newChasingSeekReplacesOnlyTheWaitingOne() {
    var queue = queue(1, 2)
    let (superseded, startsNow) = queue.add(request(3), mode: .chase)
    #expect(superseded == [2] && !startsNow)
    #expect(queue.current?.token == 1)
    #expect(queue.waiting?.token == 3)
  }

  @Test func replacingSeekSupersedesBothInCallOrder() {
    var queue = queue(1, 2)
    let (superseded, startsNow) = queue.add(request(3), mode: .replace)
    #expect(superseded == [1, 2] && startsNow)
    #expect(queue.current?.token == 3)
    #expect(queue.waiting == nil)
  }

  @Test func seekThatIsNotCurrentDoesNotComplete() {
    var queue = queue(1, 2)
    let isCompleted = queue.complete(2)
    #expect(!isCompleted)
    #expect(queue.current?.token == 1)
  }

  @Test func removeAllReturnsAllSeeksOnce() {
    var queue = queue(1, 2)
    let first = queue.removeAll()
    let second = queue.removeAll()
    #expect(first == [1, 2])
    #expect(second == [])
  }
}

/// Targets that depend on unknown durations and times.
@Suite struct UnresolvedSeekTargetTests {
  private let seconds = { (value: Int64) in MediaTime(value: value, timescale: 1) }

  private func target(
    _ text: String, from origin: UnresolvedSeekTarget = .time(.zero)
  ) throws -> UnresolvedSeekTarget {
    UnresolvedSeekTarget(try TimeExpression(parsing: text), from: origin)
  }

  @Test func relativeTargetsAddToUnresolvedTargets() throws {
    let target = try target("-2", from: target("+5", from: target("50%")))
    #expect(target.needsDuration)
    #expect(try target.time(duration: seconds(20)) == seconds(13))
    expectError(.invalidTime) { try target.time(duration: .indefinite) }
  }

  @Test func absoluteTargetsIgnoreTheOrigin() throws {
    let target = try target("7", from: target("end"))
    #expect(!target.needsDuration)
    #expect(try target.time(duration: .indefinite) == seconds(7))
  }

  @Test func infinityIsTheStartOrTheEnd() throws {
    #expect(try UnresolvedSeekTarget.time(.positiveInfinity).time(duration: seconds(9)) == seconds(9))
    #expect(try UnresolvedSeekTarget.time(.negativeInfinity).time(duration: .indefinite) == .zero)
  }

  @Test func timeOverflowIsAnError() throws {
    let target = try target("+\(Int64.max)", from: .time(MediaTime(value: .max, timescale: 1)))
    expectError(.invalidTime) { try target.time(duration: .indefinite) }
  }
}
