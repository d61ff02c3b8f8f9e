import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadWireProtocol
import Testing

@testable import PlayheadControlServer
@testable import PlayheadPlayback

@Suite struct WaitStateMachineTests {
  private func facts(
    item: PlayerItem.ID? = 1, time: MediaTime = .zero, rate: Double = 1, duration: Int64 = 60,
    _ change: (inout PlayerState) -> Void = { _ in }
  ) -> WaitStateMachine.Facts {
    var state = PlayerState()
    state.currentItemID = item
    state.rate = rate
    state.timeControlStatus = rate == 0 ? .paused : .playing
    if item != nil {
      state.itemStatus = .readyToPlay
      state.itemDuration = MediaTime(value: duration, timescale: 1)
    }
    change(&state)
    return .init(state: state, time: time, contains: { $0 <= 2 })
  }

  private func seconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1) }

  private func code(_ verdict: WaitStateMachine.Verdict) -> MediaError.Code? {
    if case .failed(let error) = verdict { error.code } else { nil }
  }

  @Test func timeIsReachedByTheHeardTimeOrByCrossingIt() {
    var machine = WaitStateMachine([.timeAtLeast(seconds(10))])
    #expect(machine.targetTimes == [seconds(10)])
    #expect(machine.evaluate(facts(time: seconds(9))) == .pending)
    #expect(machine.evaluate(facts(time: seconds(10))) == .satisfied)
    machine.crossed(seconds(10), in: 2, isReverse: false)
    #expect(machine.evaluate(facts(time: seconds(9))) == .pending)
    machine.crossed(seconds(10), in: 1, isReverse: true)
    #expect(machine.evaluate(facts(time: seconds(9))) == .pending)
    machine.crossed(seconds(10), in: 1, isReverse: false)
    #expect(machine.evaluate(facts(time: seconds(9))) == .satisfied)
    machine.timeJumped()
    #expect(machine.evaluate(facts(time: seconds(2))) == .pending)
  }

  @Test func silenceIsReportedByTheCaller() {
    var machine = WaitStateMachine([.silence(seconds(2)), .silence(seconds(5)), .status(.paused)])
    #expect(machine.silenceDuration == seconds(5))
    #expect(machine.evaluate(facts(rate: 0)) == .pending)
    machine.silenceChanged(isSilent: true)
    #expect(machine.evaluate(facts(rate: 1)) == .pending)
    machine.silenceChanged(isSilent: false)
    #expect(machine.evaluate(facts(rate: 0)) == .pending)
    machine.silenceChanged(isSilent: true)
    #expect(machine.evaluate(facts(item: nil, rate: 0)) == .satisfied)
    #expect(WaitStateMachine([.ready]).silenceDuration == nil)
  }

  @Test func timeIsReachedInReverseByTheHeardTimeOrByCrossingIt() {
    var machine = WaitStateMachine([.timeAtMost(seconds(10)), .timeAtMost(seconds(20))])
    #expect(machine.targetTimes == [seconds(10)])
    #expect(machine.evaluate(facts(time: seconds(11), rate: -1)) == .pending)
    #expect(machine.evaluate(facts(time: seconds(10), rate: -1)) == .satisfied)
    #expect(machine.evaluate(facts(time: seconds(3), rate: 0)) == .satisfied, "the condition is also true while paused")
    machine.crossed(seconds(10), in: 1, isReverse: false)
    #expect(machine.evaluate(facts(time: seconds(11), rate: -1)) == .pending)
    machine.crossed(seconds(10), in: 1, isReverse: true)
    #expect(machine.evaluate(facts(time: seconds(11), rate: -1)) == .satisfied)
    machine.crossed(seconds(10), in: 1, isReverse: false)
    #expect(machine.evaluate(facts(time: seconds(11), rate: 1)) == .pending, "playback crossed the time again")
    machine.crossed(seconds(10), in: 1, isReverse: true)
    machine.timeJumped()
    #expect(machine.evaluate(facts(time: seconds(12), rate: -1)) == .pending)
    #expect(code(machine.evaluate(facts(item: 2, time: .zero, rate: -1))) == .waitEnded)
  }

  @Test func lowerAndUpperTimeWaitForATimeBetweenThem() {
    var machine = WaitStateMachine([.timeAtLeast(seconds(10)), .timeAtMost(seconds(12))])
    #expect(machine.targetTimes == [seconds(10), seconds(12)])
    #expect(machine.evaluate(facts(time: seconds(9))) == .pending)
    #expect(machine.evaluate(facts(time: seconds(13), rate: -1)) == .pending)
    #expect(machine.evaluate(facts(time: seconds(11), rate: -1)) == .satisfied)
    #expect(machine.evaluate(facts(time: seconds(10))) == .satisfied)
  }

  @Test func changeOfItemFailsAWaitForATime() {
    var machine = WaitStateMachine([.timeAtLeast(seconds(10))])
    #expect(machine.evaluate(facts(time: seconds(9))) == .pending)
    #expect(code(machine.evaluate(facts(item: 2, time: seconds(20)))) == .waitEnded)
    #expect(code(machine.evaluate(facts(item: nil))) == .waitEnded)
  }

  @Test func waitForATimeAppliesToTheFirstCurrentItem() {
    var machine = WaitStateMachine([.timeAtLeast(seconds(10))])
    #expect(machine.evaluate(facts(item: nil)) == .pending)
    #expect(machine.evaluate(facts(item: 1, time: seconds(3))) == .pending)
    #expect(code(machine.evaluate(facts(item: 2, time: seconds(30)))) == .waitEnded)
  }

  @Test func waitForATimeOfAnItemStartsWhenItIsCurrent() {
    var machine = WaitStateMachine([.currentItem(2), .timeAtLeast(seconds(10))])
    #expect(machine.evaluate(facts(item: 1, time: seconds(30))) == .pending)
    #expect(machine.evaluate(facts(item: 2, time: seconds(5))) == .pending)
    #expect(machine.evaluate(facts(item: 2, time: seconds(11))) == .satisfied)
  }

  @Test func waitForAMissingItemFails() {
    var machine = WaitStateMachine([.currentItem(3)])
    #expect(code(machine.evaluate(facts())) == .noSuchItem)
  }

  @Test func stopAtTheEndSatisfiesEndedAndFailsALaterTime() {
    var ended = WaitStateMachine([.ended])
    #expect(ended.evaluate(facts(time: seconds(60))) == .pending)
    #expect(ended.evaluate(facts(time: seconds(60), rate: 0)) == .satisfied)
    #expect(ended.evaluate(facts(time: seconds(59), rate: 0)) == .pending)
    #expect(ended.evaluate(facts(item: nil)) == .satisfied)
    var late = WaitStateMachine([.timeAtLeast(seconds(90))])
    #expect(late.evaluate(facts(time: seconds(50))) == .pending)
    #expect(code(late.evaluate(facts(time: seconds(60), rate: 0))) == .waitEnded)
  }

  @Test func endTimesCountAsTheEndOfTheItem() {
    // The end of playback counts as the end, at any position.
    let stopped = facts(time: seconds(20), rate: 0) { $0.isAtItemEnd = true }
    var early = WaitStateMachine([.ended])
    #expect(early.evaluate(facts(time: seconds(20), rate: 0)) == .pending)
    #expect(early.evaluate(stopped) == .satisfied)
    var late = WaitStateMachine([.timeAtLeast(seconds(30))])
    #expect(code(late.evaluate(stopped)) == .waitEnded)
    // In reverse playback this is the beginning. From there, playback can reach later times, but not earlier ones.
    let first = facts(time: seconds(5), rate: 0) { $0.isAtItemBeginning = true }
    var begun = WaitStateMachine([.ended])
    #expect(begun.evaluate(first) == .satisfied)
    var above = WaitStateMachine([.timeAtLeast(seconds(6))])
    #expect(above.evaluate(first) == .pending)
    var below = WaitStateMachine([.timeAtMost(seconds(4))])
    #expect(code(below.evaluate(first)) == .waitEnded)
    // A paused seek to the end time counts as the end.
    var there = facts(time: seconds(20), rate: 0)
    there.forwardEnd = seconds(20)
    var ended = WaitStateMachine([.ended])
    #expect(ended.evaluate(there) == .satisfied)
    there.forwardEnd = seconds(21)
    #expect(ended.evaluate(there) == .pending)
  }

  @Test func errorThatPausedThePlayerFailsWaitsForPlayback() {
    let error = MediaError(.decodeFailed, "broken")
    for status in [ItemStatus.failed(error), .readyToPlay] {
      let stopped = facts(time: seconds(3), rate: 0) {
        $0.itemStatus = status
        $0.error = error
      }
      for condition in [WaitCondition.status(.playing), .ended, .timeAtLeast(seconds(10))] {
        var machine = WaitStateMachine([condition])
        #expect(machine.evaluate(stopped) == .failed(error), "\(condition)")
      }
      var paused = WaitStateMachine([.status(.paused)])
      #expect(paused.evaluate(stopped) == .satisfied)
    }
  }

  @Test func statusConditionMatchesByItsWireName() {
    var machine = WaitStateMachine([.status(.waitingToPlayAtSpecifiedRate)])
    #expect(machine.evaluate(facts()) == .pending)
    #expect(machine.evaluate(facts { $0.timeControlStatus = .waiting }) == .satisfied)
  }

  @Test func failedItemFailsWaitsThatNeedIt() {
    let error = MediaError(.fileNotFound, "gone")
    let failed = facts {
      $0.itemStatus = .failed(error)
      $0.timeControlStatus = .waiting
      $0.reasonForWaitingToPlay = .currentItemFailed
      $0.error = error
    }
    for condition in [
      WaitCondition.ready, .status(.playing), .ended, .timeAtLeast(seconds(1)), .timeAtMost(seconds(1)),
    ] {
      var machine = WaitStateMachine([condition])
      #expect(machine.evaluate(failed) == .failed(error), "\(condition)")
    }
    var paused = WaitStateMachine([.status(.paused)])
    #expect(paused.evaluate(failed) == .pending)
  }
}
