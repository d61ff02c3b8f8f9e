import PlayheadMediaCore
import PlayheadRealtimeAudio
import RigSupport
import Testing

@testable import PlayheadPlayback
@testable import PlayheadPlayerModel

/// The actions of the state machine of `AudioSession`.
@Suite struct AudioSessionStateMachineTests {
  private typealias Machine = AudioSessionStateMachine

  private func interruptedMachine(_ change: (inout AudioSession.InterruptionPolicy) -> Void = { _ in }) -> Machine {
    var machine = Machine()
    var policy = AudioSession.InterruptionPolicy()
    change(&policy)
    _ = machine.set(policy)
    _ = machine.playbackRequested()
    _ = machine.interruptionBegan()
    return machine
  }

  @Test func initialSettingIsInactiveSoloAmbient() {
    let machine = Machine()
    #expect(machine.state.setting.category == .soloAmbient)
    #expect(!machine.state.isActive)
    #expect(machine.waitingReason == nil)
  }

  @Test func changingTheCategoryResetsModeAndOptions() throws {
    var machine = Machine()
    _ = machine.set(try AudioSession.Setting(.playback, mode: .moviePlayback, options: .duckOthers))
    let actions = machine.set(try AudioSession.Setting(.playAndRecord))
    #expect(machine.state.setting.mode == .default)
    #expect(machine.state.setting.options == [])
    #expect(actions == [.setRole(.music)])
  }

  @Test func categoryWithoutPlaybackMakesPlayersWaitUntilItChanges() throws {
    var machine = Machine()
    let actions = machine.set(try AudioSession.Setting(.record))
    #expect(actions == [.setRole(.production), .setWaitingReason(.categoryForbidsPlayback, isResumption: false)])
    let laterActions = machine.set(try AudioSession.Setting(.playback))
    #expect(laterActions == [.setRole(.music), .setWaitingReason(nil, isResumption: false)])
  }

  @Test func interruptionDeactivatesTheSessionAndIsReportedOnce() {
    var machine = Machine()
    _ = machine.playbackRequested()
    #expect(machine.state.isActive)
    let actions = machine.interruptionBegan()
    #expect(actions == [.setWaitingReason(.interrupted, isResumption: false), .emit(.interruptionBegan)])
    #expect(machine.state.isInterrupted)
    #expect(!machine.state.isActive)
    #expect(machine.interruptionBegan() == [])
  }

  @Test func serverEndOfAnInterruptionResumesPlayersAndReactivatesTheSession() {
    var machine = interruptedMachine()
    let actions = machine.serverEndedInterruption()
    #expect(
      actions == [
        .setWaitingReason(nil, isResumption: true), .releaseDevice(overrulesServer: false),
        .emit(.interruptionEnded(.server, shouldResume: true)),
      ])
    #expect(machine.state.isActive)
  }

  @Test func pausePolicyPausesPlayersAtTheEndOfAnInterruption() {
    var machine = interruptedMachine { $0.atEnd = .pause }
    let actions = machine.serverEndedInterruption()
    #expect(
      actions == [
        .pausePlayers(.interruption), .setWaitingReason(nil, isResumption: false),
        .releaseDevice(overrulesServer: false),
        .emit(.interruptionEnded(.server, shouldResume: false)),
      ])
    #expect(!machine.state.isActive)
  }

  @Test func playEndsTheInterruptionAndTheLaterServerEndIsNotReported() {
    var machine = interruptedMachine()
    let actions = machine.playbackRequested()
    #expect(
      actions == [
        .setWaitingReason(nil, isResumption: true), .releaseDevice(overrulesServer: true),
        .emit(.interruptionEnded(.request, shouldResume: true)),
      ])
    #expect(machine.serverEndedInterruption() == [.releaseDevice(overrulesServer: false)])
    #expect(!machine.state.isInterrupted)
  }

  @Test(arguments: AudioSession.InterruptionPolicy.Outcome.allCases)
  func timeOutEndsAnInterruptionAsThePolicySpecifies(outcome: AudioSession.InterruptionPolicy.Outcome) {
    var machine = Machine()
    var policy = AudioSession.InterruptionPolicy()
    (policy.timeOut, policy.atTimeOut) = (MediaTime(value: 60, timescale: 1), outcome)
    _ = machine.set(policy)
    #expect(machine.interruptionBegan().contains(.startTimer(MediaTime(value: 60, timescale: 1))))
    let actions = machine.timeOutPassed()
    #expect(actions.first == .stopTimer)
    #expect(actions.contains(.pausePlayers(.interruption)) == (outcome == .pause))
    #expect(actions.contains(.releaseDevice(overrulesServer: true)))
    #expect(actions.last == .emit(.interruptionEnded(.timeOut, shouldResume: outcome == .resume)))
    #expect(machine.timeOutPassed() == [])
  }

  @Test func timeOutSetDuringAnInterruptionStartsThenAndNilStopsIt() {
    var machine = interruptedMachine()
    var policy = AudioSession.InterruptionPolicy()
    policy.timeOut = MediaTime(value: 5, timescale: 1)
    #expect(machine.set(policy) == [.startTimer(MediaTime(value: 5, timescale: 1))])
    #expect(machine.set(policy) == [])
    policy.timeOut = nil
    #expect(machine.set(policy) == [.stopTimer])
  }

  @Test func losingTheOutputEndsTheInterruptionAndTheSilenceHint() {
    var machine = interruptedMachine()
    _ = machine.duckingChanged(true)
    let actions = machine.outputLost()
    #expect(
      actions == [
        .emit(.silenceSecondaryAudioHint(isBeginning: false)), .setWaitingReason(nil, isResumption: true),
        .emit(.interruptionEnded(.outputLost, shouldResume: true)),
      ])
    #expect(machine.outputLost() == [])
  }

  @Test func statement42_deactivationPausesPlayersAndActivationFailsWhileInterrupted() throws {
    var machine = Machine()
    try machine.activate()
    #expect(machine.deactivate(isRunning: true) == [.pausePlayers(.session)])
    #expect(!machine.state.isActive)
    #expect(machine.deactivate(isRunning: false) == [])
    _ = machine.interruptionBegan()
    expectError(.sessionInterrupted) { try machine.activate() }
  }

  @Test func endingWithoutAnInterruptionIsRejected() {
    var machine = Machine()
    expectError(.invalidState) { try machine.endInterruption(.resume) }
  }

  @Test func endOfAnInterruptionInACategoryWithoutPlaybackKeepsPlayersWaiting() throws {
    var machine = interruptedMachine()
    _ = machine.set(try AudioSession.Setting(.record))
    #expect(machine.waitingReason == .interrupted)
    #expect(machine.serverEndedInterruption().contains(.setWaitingReason(.categoryForbidsPlayback, isResumption: true)))
  }

  @Test func silenceHintIsReportedOnlyWhenItChanges() {
    var machine = Machine()
    #expect(machine.duckingChanged(true) == [.emit(.silenceSecondaryAudioHint(isBeginning: true))])
    #expect(machine.duckingChanged(true) == [])
    #expect(machine.state.secondaryAudioShouldBeSilencedHint)
    #expect(machine.duckingChanged(false) == [.emit(.silenceSecondaryAudioHint(isBeginning: false))])
  }
}
