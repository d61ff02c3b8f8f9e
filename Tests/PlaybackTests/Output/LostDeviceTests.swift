import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayback
import PlayheadRealtimeAudio
import Testing

@testable import PlayheadPlayerModel

/// The behaviour of players when devices disappear and return: by policy, without lost samples or audio on the wrong
/// device.
@Suite struct LostDeviceTests {
  /// Creates a rig that has played for a second.
  private func playingRig(
    _ names: String..., selection: OutputSelection = OutputSelection()
  ) async throws -> DeviceRig {
    let rig = try await DeviceRig(names[0], names.count > 1 ? names[1] : names[0], selection: selection)
    await rig.player.play()
    await rig.advance(milliseconds: 1_000)
    #expect(await rig.playbackStatus == "playing - 1.0")
    return rig
  }

  /// Expects the heard audio to be continuous from the file's first sample.
  private func expectContinuous(_ rig: DeviceRig, frameCount: Int) {
    let runs = rig.heard.runs
    var next = 0
    for run in runs {
      #expect(run.firstIndex == next, "\(runs)")
      next = run.endIndex
    }
    #expect(next == frameCount, "\(runs)")
  }

  @Test func pausePolicyPausesAndSwitchesToTheNextDevice() async throws {
    let rig = try await playingRig("headset", "speakers")
    await rig.report(["speakers"])
    #expect(await rig.playbackStatus == "paused - 0.0")
    #expect(await rig.output.label == "pulse:speakers")
    #expect(rig.routes == ["oldDeviceUnavailable speakers"])
    await rig.advance(milliseconds: 500)
    #expect(await rig.player.currentTime() == MediaTime(value: 1, timescale: 1))
    await rig.player.play()
    await rig.advance(milliseconds: 500)
    expectContinuous(rig, frameCount: 72_000)
    #expect(rig.pauseCount == 1)
  }

  @Test func deviceLossReportedByTheSinkEqualsAServerReport() async throws {
    let rig = try await playingRig("headset", "speakers")
    rig.server.state.withLock { $0.names = ["speakers"] }
    await rig.fail("headset", .deviceLost)
    #expect(await rig.playbackStatus == "paused - 0.0")
    #expect(await rig.output.label == "pulse:speakers")
    await rig.report()
    #expect(rig.routes == ["oldDeviceUnavailable speakers"])
    #expect(rig.pauseCount == 1)
  }

  @Test func pausePolicyStaysPausedWhenTheFirstOtherDeviceAppears() async throws {
    let rig = try await playingRig("headset")
    await rig.report([])
    #expect(await rig.playbackStatus == "paused - 0.0")
    let lost = await rig.output
    #expect(lost.status == .lost && lost.error?.code == .deviceLost)
    await rig.report(["usb"])
    #expect(await rig.output.label == "pulse:usb")
    #expect(await rig.playbackStatus == "paused - 0.0")
    #expect(rig.routes == ["oldDeviceUnavailable none", "newDeviceAvailable usb"])
  }

  @Test func holdPolicyWaitsForTheSameDeviceWithoutLosingSamples() async throws {
    let rig = try await playingRig("headset", "speakers", selection: OutputSelection(lostPolicy: .hold))
    await rig.report(["speakers"])
    #expect(await rig.playbackStatus == "waiting outputUnavailable 1.0")
    await rig.advance(milliseconds: 3_000)
    await rig.report(["speakers", "usb"])
    #expect(await rig.output.status == .lost)
    #expect(await rig.player.currentTime() == MediaTime(value: 1, timescale: 1))
    await rig.report(["speakers", "usb", "headset"])
    #expect(await rig.output.label == "pulse:headset")
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
    expectContinuous(rig, frameCount: 72_000)
    // It stays on this device, whatever the default is.
    await rig.report(["speakers", "headset"])
    #expect(await rig.output.label == "pulse:headset")
  }

  @Test func fadeEndsAtOnceWithItsActionWhenTheOutputIsLost() async throws {
    for endAction in FadeEndAction.allCases {
      let rig = try await playingRig("headset", selection: OutputSelection(lostPolicy: .hold))
      let outcomes = TextLog()
      // The volume stays, so that the samples stay comparable.
      try await rig.player.fade(to: 1, duration: MediaTime(value: 1, timescale: 1), endAction: endAction) {
        outcomes("\($0)")
      }
      await rig.advance(milliseconds: 500)
      await rig.report([])
      #expect(outcomes.lines == ["finished"], "\(endAction)")
      #expect(await !rig.player.state.isFading)
      #expect(
        await rig.playbackStatus == (endAction == .none ? "waiting outputUnavailable 1.0" : "paused - 0.0"),
        "\(endAction)")
      // Without an output, `stop` seeks to the beginning when the next one is open.
      #expect(await rig.player.currentTime() == MediaTime(value: 3, timescale: 2), "\(endAction)")
      await rig.report(["headset"])
      await rig.player.play()
      await rig.advance(milliseconds: 1_000)
      // The old fade does not pause the player on the new output.
      #expect(await rig.playbackStatus == "playing - 1.0", "\(endAction)")
      let time = MediaTime(value: endAction == .stop ? 2 : 5, timescale: 2)
      #expect(await rig.player.currentTime() == time, "\(endAction)")
      if endAction != .stop { expectContinuous(rig, frameCount: 120_000) }
    }
  }

  @Test func movePolicyContinuesOnTheNextDeviceAtOnce() async throws {
    let rig = try await playingRig("headset", "speakers", selection: OutputSelection(lostPolicy: .move))
    await rig.report(["speakers"])
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
    #expect(rig.pauseCount == 0)
    #expect(rig.routes == ["oldDeviceUnavailable speakers"])
    expectContinuous(rig, frameCount: 72_000)
  }

  @Test func nullPolicyContinuesSilentlyAndReturnsToTheDevice() async throws {
    let rig = try await playingRig("headset", "speakers", selection: OutputSelection(lostPolicy: .null))
    await rig.report(["speakers"])
    let silent = await rig.output
    #expect(silent.status == .fallback && silent.error?.code == .deviceLost)
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
    await rig.report(["speakers", "headset"])
    #expect(await rig.output.label == "pulse:headset")
    await rig.advance(milliseconds: 500)
    expectContinuous(rig, frameCount: 96_000)
  }

  @Test func pauseHoldAndMovePoliciesWaitForALostServer() async throws {
    for policy in [LostDevicePolicy.pause, .hold, .move] {
      let rig = try await playingRig("speakers", selection: OutputSelection(lostPolicy: policy))
      await rig.fail("speakers", .outputLost)
      #expect(await rig.playbackStatus == "waiting outputUnavailable 1.0")
      #expect(rig.server.state.withLock { $0.checkCount } == 1)
      await rig.reportNoServer()
      await rig.advance(milliseconds: 2_000)
      #expect(await rig.player.currentTime() == MediaTime(value: 1, timescale: 1))
      await rig.report()
      await rig.advance(milliseconds: 500)
      #expect(await rig.playbackStatus == "playing - 1.0")
      #expect(rig.routes == ["noSuitableRoute none", "newDeviceAvailable speakers"])
      #expect(rig.pauseCount == 0)
      expectContinuous(rig, frameCount: 72_000)
    }
  }

  @Test func unpluggedPortPausesExceptWithTheMovePolicy() async throws {
    for policy in LostDevicePolicy.allCases {
      let rig = try await playingRig("laptop", selection: OutputSelection(lostPolicy: policy))
      await rig.report(unplugged: ["laptop"])
      #expect(await rig.playbackStatus == (policy == .move ? "playing - 1.0" : "paused - 0.0"))
      await rig.report()
      #expect(rig.routes == ["oldDeviceUnavailable laptop", "newDeviceAvailable laptop"])
      #expect(rig.pauseCount == (policy == .move ? 0 : 1))
    }
  }

  @Test func returningPreferredDeviceIsUsedAgainWithoutAPause() async throws {
    let rig = try await playingRig("speakers", "usb", selection: OutputSelection(preferred: ["headset", "usb"]))
    #expect(await rig.output.label == "pulse:usb")
    await rig.report(["speakers", "usb", "headset"])
    #expect(await rig.output.label == "pulse:headset")
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
    #expect(rig.routes == ["newDeviceAvailable headset"])
    // An unplugged device counts as lost.
    await rig.report(unplugged: ["headset"])
    #expect(await rig.output.label == "pulse:usb")
    #expect(await rig.playbackStatus == "paused - 0.0")
    await rig.player.play()
    await rig.report()
    #expect(await rig.output.label == "pulse:headset")
    await rig.advance(milliseconds: 500)
    expectContinuous(rig, frameCount: 96_000)
  }

  @Test func newDeviceThatIsNotPreferredChangesNothing() async throws {
    let rig = try await playingRig("speakers")
    await rig.report(["headset", "speakers"])
    await rig.advance(milliseconds: 500)
    #expect(await rig.output.label == "pulse:speakers")
    #expect(rig.routes == [])
    #expect(await rig.playbackStatus == "playing - 1.0")
  }

  @Test func movedStreamIsReportedAndContinues() async throws {
    let rig = try await playingRig("speakers", "usb")
    await rig.notice("speakers", .moved(to: "usb"))
    #expect(rig.routes == ["override usb"])
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
    expectContinuous(rig, frameCount: 72_000)
  }

  @Test func playerWaitsWhileTheDeviceIsUnresponsive() async throws {
    let rig = try await playingRig("speakers")
    await rig.notice("speakers", .stalled)
    #expect(await rig.output.status == .unresponsive)
    #expect(await rig.playbackStatus == "waiting outputUnavailable 1.0")
    await rig.player.pause()
    #expect(await rig.playbackStatus == "paused - 0.0")
    await rig.player.play()
    #expect(await rig.playbackStatus == "waiting outputUnavailable 1.0")
    await rig.notice("speakers", .resumed)
    #expect(await rig.output.status == .ready)
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
  }

  @Test func playerCreatedWhileTheDeviceIsUnresponsiveWaits() async throws {
    let rig = try await playingRig("speakers")
    await rig.notice("speakers", .stalled)
    let other = QueuePlayer(engine: rig.engine)
    try await other.append([PlayerItem(asset: Asset(path: rig.path), id: 2)])
    await other.play()
    await rig.advance(milliseconds: 100)
    #expect(await other.state.timeControlStatus == .waiting)
    #expect(await other.state.reasonForWaitingToPlay == .outputUnavailable)
    await rig.notice("speakers", .resumed)
    await rig.advance(milliseconds: 100)
    #expect(await other.state.timeControlStatus == .playing)
  }

  @Test func selectingAnotherDeviceLosesNoSample() async throws {
    let rig = try await playingRig("speakers", "usb")
    #expect(await rig.select(OutputSelection(.device("usb"))) == nil)
    #expect(await rig.output.label == "pulse:usb")
    await rig.advance(milliseconds: 500)
    #expect(await rig.select(OutputSelection(.silence)) == nil)
    #expect(await rig.output.status == .ready)
    await rig.advance(milliseconds: 500)
    #expect(await rig.select(OutputSelection()) == nil)
    #expect(await rig.output.label == "pulse:speakers")
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
    #expect(rig.routes == ["override usb", "override none", "override speakers"])
    expectContinuous(rig, frameCount: 120_000)
  }

  @Test func invalidSelectionIsRejected() async throws {
    let rig = try await playingRig("speakers", "usb")
    #expect(await rig.select(OutputSelection(.device("nowhere"), lostPolicy: .hold)) == .noSuchDevice)
    #expect(await rig.onLoop { $0.engine.core.outputSelection } == OutputSelection())
    await rig.fail("speakers", .outputLost)
    #expect(await rig.select(OutputSelection(.device("usb"))) == .outputUnavailable)
    let other = try await Rig()
    let code = await other.run { _ -> MediaError.Code? in
      do throws(MediaError) {
        try other.engine.core.selectOutput(OutputSelection(lostPolicy: .hold))
        return nil
      } catch { return error.code }
    }
    #expect(code == .outputConfiguration)
  }

  /// Creates a rig whose devices refuse to open after one second of playback. Attempts repeat after 50 ms, 100 ms and
  /// so on.
  private func refusingRig() async throws -> DeviceRig {
    let rig = try await playingRig("speakers", "usb")
    rig.server.state.withLock { $0.broken = ["speakers", "usb"] }
    await rig.fail("speakers", .outputLost)
    await rig.report()
    return rig
  }

  private func attemptCount(_ rig: DeviceRig) -> Int { rig.server.state.withLock { $0.sinks.count } }

  /// Expects the next attempt exactly this long after the last one, which was now.
  private func expectNextAttempt(_ rig: DeviceRig, afterMilliseconds wait: Int64) async {
    let count = attemptCount(rig)
    await rig.advance(milliseconds: wait - 1)
    #expect(attemptCount(rig) == count)
    await rig.advance(milliseconds: 1)
    #expect(attemptCount(rig) == count + 1)
  }

  @Test func deviceThatFailsToOpenIsRetriedWithIncreasingDelays() async throws {
    let rig = try await refusingRig()
    for wait: Int64 in [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 32_000, 32_000] {
      await expectNextAttempt(rig, afterMilliseconds: wait)
    }
    rig.server.state.withLock { $0.broken = [] }
    await expectNextAttempt(rig, afterMilliseconds: 32_000)
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
    expectContinuous(rig, frameCount: 72_000)
  }

  @Test(arguments: ["another device comes", "another one is chosen"])
  func changedDevicesOrSelectionResetTheRetryDelay(change: String) async throws {
    let rig = try await refusingRig()
    // The next attempt would be in 1.6 s.
    for wait: Int64 in [50, 100, 200, 400, 800] { await expectNextAttempt(rig, afterMilliseconds: wait) }
    let count = attemptCount(rig)
    if change == "another device comes" {
      await rig.report(["speakers", "usb", "headset"])
    } else {
      #expect(await rig.select(OutputSelection(.device("usb"))) == nil)
    }
    #expect(attemptCount(rig) == count + 1)
    await expectNextAttempt(rig, afterMilliseconds: 50)
    rig.server.state.withLock { $0.broken = [] }
    await expectNextAttempt(rig, afterMilliseconds: 100)
    await rig.advance(milliseconds: 500)
    #expect(await rig.playbackStatus == "playing - 1.0")
    expectContinuous(rig, frameCount: 72_000)
  }

  @Test func namedDeviceThatNeverExistedIsAwaited() async throws {
    let rig = try await DeviceRig("speakers", selection: OutputSelection(.device("headset"), lostPolicy: .move))
    await rig.player.play()
    await rig.advance(milliseconds: 500)
    #expect(await rig.output.status == .lost)
    await rig.report(["speakers", "headset"])
    await rig.advance(milliseconds: 500)
    #expect(await rig.output.label == "pulse:headset")
    // From then on the policy applies, and playback returns to the device.
    await rig.report(["speakers"])
    #expect(await rig.output.label == "pulse:speakers")
    await rig.report(["speakers", "headset"])
    #expect(await rig.output.label == "pulse:headset")
  }
}
