import MediaCore
import RealtimeAudio
import RigSupport
import Testing

@testable import Playback

/// The valid combinations of a session's setting, and their effects.
@Suite struct AudioSessionSettingTests {
  private static func row(_ category: AudioSessionCategory, _ mode: AudioSessionMode, _ options: AudioSessionOptions)
    -> String
  {
    do throws(MediaError) {
      let setting = try AudioSessionSetting(category, mode: mode, options: options)
      return "role=\(setting.role.rawValue) others=\(setting.otherAudio.rawValue)"
        + " options=\(setting.options.names.joined(separator: ","))"
    } catch {
      return "\(error.code.name): \(error.message)"
    }
  }

  @Test("every category with every mode and every option")
  func table() throws {
    var lines: [String] = []
    for category in AudioSessionCategory.allCases {
      lines.append(
        "== \(category.rawValue) playback=\(category.allowsPlayback) recording=\(category.allowsRecording)")
      for mode in AudioSessionMode.allCases {
        lines.append("\(mode.rawValue): \(Self.row(category, mode, []))")
        guard category.modes.contains(mode) else { continue }
        for (name, option) in AudioSessionOptions.named {
          lines.append("\(mode.rawValue)+\(name): \(Self.row(category, mode, option))")
        }
      }
    }
    try expectGolden(lines.joined(separator: "\n") + "\n", "session-settings")
  }

  @Test("ducking implies mixing, and the values are AVFoundation's")
  func values() throws {
    let setting = try AudioSessionSetting(.playback, options: .duckOthers)
    #expect(setting.options == [.duckOthers, .mixWithOthers])
    #expect(
      AudioSessionOptions.named.map(\.option.rawValue) == [0x1, 0x2, 0x4, 0x8, 0x11, 0x20, 0x40])
    #expect(AudioSessionOptions.interruptSpokenAudioAndMixWithOthers.contains(.mixWithOthers))
    #expect(try AudioSessionSetting(.playback, options: .interruptSpokenAudioAndMixWithOthers).otherAudio == .mixed)
  }

  @Test("what does not fit is named")
  func mismatch() {
    let error = expectError(.sessionMismatch) {
      try AudioSessionSetting(.ambient, options: [.mixWithOthers, .defaultToSpeaker])
    }
    #expect(error?.message == "the category ambient has no option mixWithOthers, defaultToSpeaker")
  }
}

@Suite struct AudioSessionStateMachineTests {
  private typealias Machine = AudioSessionStateMachine

  private func interrupted(_ change: (inout InterruptionPolicy) -> Void = { _ in }) -> Machine {
    var machine = Machine()
    var policy = InterruptionPolicy()
    change(&policy)
    _ = machine.set(policy)
    _ = machine.playbackAsked()
    _ = machine.interruptionBegan()
    return machine
  }

  @Test("begins as AVAudioSession does: soloAmbient, not active")
  func beginning() {
    let machine = Machine()
    #expect(machine.state.setting.category == .soloAmbient)
    #expect(!machine.state.isActive)
    #expect(machine.holdReason == nil)
  }

  @Test("mode and options do not outlast a category")
  func notSticky() throws {
    var machine = Machine()
    _ = machine.set(try AudioSessionSetting(.playback, mode: .moviePlayback, options: .duckOthers))
    let actions = machine.set(try AudioSessionSetting(.playAndRecord))
    #expect(machine.state.setting.mode == .default)
    #expect(machine.state.setting.options == [])
    #expect(actions == [.setRole(.music)])
  }

  @Test("a category that plays nothing has players wait, and another one lets them go")
  func categoryWithoutPlayback() throws {
    var machine = Machine()
    let held = machine.set(try AudioSessionSetting(.record))
    #expect(held == [.setRole(.production), .hold(.categoryForbidsPlayback, isResumption: false)])
    let free = machine.set(try AudioSessionSetting(.playback))
    #expect(free == [.setRole(.music), .hold(nil, isResumption: false)])
  }

  @Test("an interruption holds, deactivates, and is told; it begins once")
  func begins() {
    var machine = Machine()
    _ = machine.playbackAsked()
    #expect(machine.state.isActive)
    let actions = machine.interruptionBegan()
    #expect(actions == [.hold(.interrupted, isResumption: false), .emit(.interruptionBegan)])
    #expect(machine.state.isInterrupted)
    #expect(!machine.state.isActive)
    #expect(machine.interruptionBegan() == [])
  }

  @Test("the server's end lets go, faded in, without overruling it; shouldResume is told in the end only")
  func endsByServer() {
    var machine = interrupted()
    let actions = machine.serverEndedInterruption()
    #expect(
      actions == [
        .hold(nil, isResumption: true), .releaseDevice(overrulesServer: false),
        .emit(.interruptionEnded(.server, shouldResume: true)),
      ])
    #expect(machine.state.isActive)
  }

  @Test("with the policy to pause what played is paused before it is let go")
  func pausesAtEnd() {
    var machine = interrupted { $0.atEnd = .pause }
    let actions = machine.serverEndedInterruption()
    #expect(
      actions == [
        .pausePlayers(.interruption), .hold(nil, isResumption: false), .releaseDevice(overrulesServer: false),
        .emit(.interruptionEnded(.server, shouldResume: false)),
      ])
    #expect(!machine.state.isActive)
  }

  @Test("play ends it, whatever the server wants; its own end then brings nothing about")
  func playEnds() {
    var machine = interrupted()
    let actions = machine.playbackAsked()
    #expect(
      actions == [
        .hold(nil, isResumption: true), .releaseDevice(overrulesServer: true),
        .emit(.interruptionEnded(.request, shouldResume: true)),
      ])
    #expect(machine.serverEndedInterruption() == [.releaseDevice(overrulesServer: false)])
    #expect(!machine.state.isInterrupted)
  }

  @Test(
    "an end that never comes is made up for after the time-out, as the policy says",
    arguments: InterruptionPolicy.Outcome.allCases)
  func timesOut(outcome: InterruptionPolicy.Outcome) {
    var machine = Machine()
    var policy = InterruptionPolicy()
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

  @Test("a time-out that is set during an interruption counts from then; none ends it")
  func timeOutChanges() {
    var machine = interrupted()
    var policy = InterruptionPolicy()
    policy.timeOut = MediaTime(value: 5, timescale: 1)
    #expect(machine.set(policy) == [.startTimer(MediaTime(value: 5, timescale: 1))])
    #expect(machine.set(policy) == [])
    policy.timeOut = nil
    #expect(machine.set(policy) == [.stopTimer])
  }

  @Test("a device that goes away takes the interruption and the hint with it")
  func outputLost() {
    var machine = interrupted()
    _ = machine.duckingChanged(true)
    let actions = machine.outputLost()
    #expect(
      actions == [
        .emit(.silenceSecondaryAudioHint(isBeginning: false)), .hold(nil, isResumption: true),
        .emit(.interruptionEnded(.outputLost, shouldResume: true)),
      ])
    #expect(machine.outputLost() == [])
  }

  @Test("statement 42: deactivating what runs deactivates it; during an interruption nothing is activated")
  func activation() throws {
    var machine = Machine()
    try machine.activate()
    #expect(machine.deactivate(isRunning: true) == [.pausePlayers(.session)])
    #expect(!machine.state.isActive)
    #expect(machine.deactivate(isRunning: false) == [])
    _ = machine.interruptionBegan()
    expectError(.sessionInterrupted) { try machine.activate() }
  }

  @Test("there is nothing to end without an interruption")
  func noEnd() {
    var machine = Machine()
    expectError(.invalidState) { try machine.endInterruption(.resume) }
  }

  @Test("an interruption in a category that plays nothing leaves players waiting for that")
  func interruptionWithoutPlayback() throws {
    var machine = interrupted()
    _ = machine.set(try AudioSessionSetting(.record))
    #expect(machine.holdReason == .interrupted)
    #expect(machine.serverEndedInterruption().contains(.hold(.categoryForbidsPlayback, isResumption: true)))
  }

  @Test("the hint is told when it changes")
  func hint() {
    var machine = Machine()
    #expect(machine.duckingChanged(true) == [.emit(.silenceSecondaryAudioHint(isBeginning: true))])
    #expect(machine.duckingChanged(true) == [])
    #expect(machine.state.secondaryAudioShouldBeSilencedHint)
    #expect(machine.duckingChanged(false) == [.emit(.silenceSecondaryAudioHint(isBeginning: false))])
  }
}
