import PlayheadMediaCore
import Testing

@testable import PlayheadPlayerModel

@Suite struct SilenceStateMachineTests {
  private typealias Moment = SilenceStateMachine.Moment

  /// The moment at a number of milliseconds, on a device that started at 0.
  private func moment(_ milliseconds: Int64) -> Moment {
    Moment(hostTime: HostTime(nanoseconds: milliseconds * 1_000_000), frame: milliseconds * 48)
  }

  private func time(_ milliseconds: Int64) -> HostTime { moment(milliseconds).hostTime }

  /// Two seconds of silence from 1 s on.
  private func machine() -> SilenceStateMachine {
    SilenceStateMachine(threshold: 0.001, durationNanoseconds: 2_000_000_000, start: moment(1_000))
  }

  @Test func silenceIsReportedOnceAfterItsDuration() {
    var machine = machine()
    #expect(machine.dueTime == time(3_000))
    #expect(machine.silenceLasted(until: time(2_999)) == nil)
    #expect(machine.silenceLasted(until: time(3_000)) == .began(moment(1_000)))
    #expect(machine.dueTime == nil)
    #expect(machine.silenceLasted(until: time(9_000)) == nil)
  }

  @Test func audioStartsTheDurationAgain() {
    var machine = machine()
    #expect(machine.audioHeard(from: moment(2_000), to: moment(2_010)) == nil)
    #expect(machine.dueTime == time(4_010))
    #expect(machine.silenceLasted(until: time(4_000)) == nil)
    #expect(machine.silenceLasted(until: time(5_000)) == .began(moment(2_010)))
  }

  @Test func audioEndsReportedSilence() {
    var machine = machine()
    #expect(machine.silenceLasted(until: time(3_000)) == .began(moment(1_000)))
    #expect(
      machine.audioHeard(from: moment(4_500), to: moment(4_510)) == .ended(moment(4_500), nanoseconds: 3_500_000_000))
    #expect(machine.audioHeard(from: moment(4_510), to: moment(4_520)) == nil)
    #expect(machine.silenceLasted(until: time(6_520)) == .began(moment(4_520)))
  }

  @Test func unknownAudioCountsAsLoudUnlessSilenceWasReported() {
    var machine = machine()
    machine.audioWasUnknown(until: moment(1_500))
    #expect(machine.silenceLasted(until: time(3_499)) == nil)
    #expect(machine.silenceLasted(until: time(3_500)) == .began(moment(1_500)))
    machine.audioWasUnknown(until: moment(4_000))
    #expect(
      machine.audioHeard(from: moment(5_500), to: moment(5_510)) == .ended(moment(5_500), nanoseconds: 4_000_000_000))
  }

  @Test func framesOfAStoppedDeviceDoNotCount() {
    var machine = machine()
    machine.deviceStopped()
    #expect(machine.silenceLasted(until: time(3_000)) == .began(Moment(hostTime: time(1_000), frame: nil)))
  }
}
