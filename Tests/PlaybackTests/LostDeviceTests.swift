import MediaAssets
import MediaCore
import Playback
import RealtimeAudio
import Testing

/// The behaviour of players when devices disappear and return: by policy, without lost samples or audio on the wrong
/// device.
@Suite struct LostDeviceTests {
  /// Creates a rig that has played for a second.
  private func playing(_ names: String..., selection: OutputSelection = OutputSelection()) async throws -> DeviceRig {
    let rig = try await DeviceRig(names[0], names.count > 1 ? names[1] : names[0], selection: selection)
    await rig.player.play()
    await rig.pass(milliseconds: 1_000)
    #expect(await rig.playing == "playing - 1.0")
    return rig
  }

  /// Expects the heard audio to be continuous from the file's first sample.
  private func expectWhole(_ rig: DeviceRig, frameCount: Int) {
    let runs = rig.heard.runs
    var next = 0
    for run in runs {
      #expect(run.firstIndex == next, "\(runs)")
      next = run.endIndex
    }
    #expect(next == frameCount, "\(runs)")
  }

  @Test func pausePausesAndTakesTheNextDevice() async throws {
    let rig = try await playing("headset", "speakers")
    await rig.report(["speakers"])
    #expect(await rig.playing == "paused - 0.0")
    #expect(await rig.output.label == "pulse:speakers")
    #expect(rig.routes == ["oldDeviceUnavailable speakers"])
    await rig.pass(milliseconds: 500)
    #expect(await rig.player.currentTime() == MediaTime(value: 1, timescale: 1))
    await rig.player.play()
    await rig.pass(milliseconds: 500)
    expectWhole(rig, frameCount: 72_000)
    #expect(rig.pauseCount == 1)
  }

  @Test func aSinkThatSaysThatItsDeviceIsGoneIsAsGoodAsAReport() async throws {
    let rig = try await playing("headset", "speakers")
    rig.server.state.withLock { $0.names = ["speakers"] }
    await rig.fail("headset", .deviceLost)
    #expect(await rig.playing == "paused - 0.0")
    #expect(await rig.output.label == "pulse:speakers")
    await rig.report()
    #expect(rig.routes == ["oldDeviceUnavailable speakers"])
    #expect(rig.pauseCount == 1)
  }

  @Test func pauseWithoutAnotherDeviceWaitsForOneAndStaysPaused() async throws {
    let rig = try await playing("headset")
    await rig.report([])
    #expect(await rig.playing == "paused - 0.0")
    let lost = await rig.output
    #expect(lost.status == .lost && lost.error?.code == .deviceLost)
    await rig.report(["usb"])
    #expect(await rig.output.label == "pulse:usb")
    #expect(await rig.playing == "paused - 0.0")
    #expect(rig.routes == ["oldDeviceUnavailable none", "newDeviceAvailable usb"])
  }

  @Test func holdWaitsInPlaceForTheVeryDevice() async throws {
    let rig = try await playing("headset", "speakers", selection: OutputSelection(lostPolicy: .hold))
    await rig.report(["speakers"])
    #expect(await rig.playing == "waiting outputUnavailable 1.0")
    await rig.pass(milliseconds: 3_000)
    await rig.report(["speakers", "usb"])
    #expect(await rig.output.status == .lost)
    #expect(await rig.player.currentTime() == MediaTime(value: 1, timescale: 1))
    await rig.report(["speakers", "usb", "headset"])
    #expect(await rig.output.label == "pulse:headset")
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
    expectWhole(rig, frameCount: 72_000)
    // It stays on this device, whatever the default is.
    await rig.report(["speakers", "headset"])
    #expect(await rig.output.label == "pulse:headset")
  }

  @Test func moveGoesOnAtOnce() async throws {
    let rig = try await playing("headset", "speakers", selection: OutputSelection(lostPolicy: .move))
    await rig.report(["speakers"])
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
    #expect(rig.pauseCount == 0)
    #expect(rig.routes == ["oldDeviceUnavailable speakers"])
    expectWhole(rig, frameCount: 72_000)
  }

  @Test func nullGoesOnInSilenceAndComesBack() async throws {
    let rig = try await playing("headset", "speakers", selection: OutputSelection(lostPolicy: .null))
    await rig.report(["speakers"])
    let silent = await rig.output
    #expect(silent.status == .fallback && silent.error?.code == .deviceLost)
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
    await rig.report(["speakers", "headset"])
    #expect(await rig.output.label == "pulse:headset")
    await rig.pass(milliseconds: 500)
    expectWhole(rig, frameCount: 96_000)
  }

  @Test func aServerThatGoesAwayIsWaitedForWhateverThePolicy() async throws {
    for policy in [LostDevicePolicy.pause, .hold, .move] {
      let rig = try await playing("speakers", selection: OutputSelection(lostPolicy: policy))
      await rig.fail("speakers", .outputLost)
      #expect(await rig.playing == "waiting outputUnavailable 1.0")
      #expect(rig.server.state.withLock { $0.checkCount } == 1)
      await rig.reportNothing()
      await rig.pass(milliseconds: 2_000)
      #expect(await rig.player.currentTime() == MediaTime(value: 1, timescale: 1))
      await rig.report()
      await rig.pass(milliseconds: 500)
      #expect(await rig.playing == "playing - 1.0")
      #expect(rig.routes == ["noSuitableRoute none", "newDeviceAvailable speakers"])
      #expect(rig.pauseCount == 0)
      expectWhole(rig, frameCount: 72_000)
    }
  }

  @Test func aPortThatIsUnpluggedPausesButForMove() async throws {
    for policy in LostDevicePolicy.allCases {
      let rig = try await playing("laptop", selection: OutputSelection(lostPolicy: policy))
      await rig.report(unplugged: ["laptop"])
      #expect(await rig.playing == (policy == .move ? "playing - 1.0" : "paused - 0.0"))
      await rig.report()
      #expect(rig.routes == ["oldDeviceUnavailable laptop", "newDeviceAvailable laptop"])
      #expect(rig.pauseCount == (policy == .move ? 0 : 1))
    }
  }

  @Test func aPreferredDeviceIsTakenAgainWhenItReturnsAndNothingPauses() async throws {
    let rig = try await playing("speakers", "usb", selection: OutputSelection(preferred: ["headset", "usb"]))
    #expect(await rig.output.label == "pulse:usb")
    await rig.report(["speakers", "usb", "headset"])
    #expect(await rig.output.label == "pulse:headset")
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
    #expect(rig.routes == ["newDeviceAvailable headset"])
    // An unplugged device counts as lost.
    await rig.report(unplugged: ["headset"])
    #expect(await rig.output.label == "pulse:usb")
    #expect(await rig.playing == "paused - 0.0")
    await rig.player.play()
    await rig.report()
    #expect(await rig.output.label == "pulse:headset")
    await rig.pass(milliseconds: 500)
    expectWhole(rig, frameCount: 96_000)
  }

  @Test func aNewDeviceThatNobodyPrefersChangesNothing() async throws {
    let rig = try await playing("speakers")
    await rig.report(["headset", "speakers"])
    await rig.pass(milliseconds: 500)
    #expect(await rig.output.label == "pulse:speakers")
    #expect(rig.routes == [])
    #expect(await rig.playing == "playing - 1.0")
  }

  @Test func aMovedStreamIsToldAndGoesOn() async throws {
    let rig = try await playing("speakers", "usb")
    await rig.notice("speakers", .moved(to: "usb"))
    #expect(rig.routes == ["override usb"])
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
    expectWhole(rig, frameCount: 72_000)
  }

  @Test func aDeviceThatHangsIsWaitedForInPlace() async throws {
    let rig = try await playing("speakers")
    await rig.notice("speakers", .stoppedAnswering)
    #expect(await rig.output.status == .unresponsive)
    #expect(await rig.playing == "waiting outputUnavailable 1.0")
    await rig.player.pause()
    #expect(await rig.playing == "paused - 0.0")
    await rig.player.play()
    #expect(await rig.playing == "waiting outputUnavailable 1.0")
    await rig.notice("speakers", .answersAgain)
    #expect(await rig.output.status == .ready)
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
  }

  @Test func aPlayerThatIsMadeWhileTheDeviceStallsWaitsForIt() async throws {
    let rig = try await playing("speakers")
    await rig.notice("speakers", .stoppedAnswering)
    let other = QueuePlayer(engine: rig.engine)
    try await other.append([PlayerItem(asset: Asset(path: rig.path), id: 2)])
    await other.play()
    await rig.pass(milliseconds: 100)
    #expect(await other.state.timeControlStatus == .waiting)
    #expect(await other.state.reasonForWaitingToPlay == .outputUnavailable)
    await rig.notice("speakers", .answersAgain)
    await rig.pass(milliseconds: 100)
    #expect(await other.state.timeControlStatus == .playing)
  }

  @Test func anotherDeviceIsChosenWithoutASampleLost() async throws {
    let rig = try await playing("speakers", "usb")
    #expect(await rig.select(OutputSelection(.device("usb"))) == nil)
    #expect(await rig.output.label == "pulse:usb")
    await rig.pass(milliseconds: 500)
    #expect(await rig.select(OutputSelection(.silence)) == nil)
    #expect(await rig.output.status == .ready)
    await rig.pass(milliseconds: 500)
    #expect(await rig.select(OutputSelection()) == nil)
    #expect(await rig.output.label == "pulse:speakers")
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
    #expect(rig.routes == ["override usb", "override none", "override speakers"])
    expectWhole(rig, frameCount: 120_000)
  }

  @Test func whatCannotBeChosenChangesNothing() async throws {
    let rig = try await playing("speakers", "usb")
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
  private func refusing() async throws -> DeviceRig {
    let rig = try await playing("speakers", "usb")
    rig.server.state.withLock { $0.broken = ["speakers", "usb"] }
    await rig.fail("speakers", .outputLost)
    await rig.report()
    return rig
  }

  private func attemptCount(_ rig: DeviceRig) -> Int { rig.server.state.withLock { $0.sinks.count } }

  /// Expects the next attempt exactly this long after the last one, which was now.
  private func expectNextAttempt(_ rig: DeviceRig, afterMilliseconds wait: Int64) async {
    let count = attemptCount(rig)
    await rig.pass(milliseconds: wait - 1)
    #expect(attemptCount(rig) == count)
    await rig.pass(milliseconds: 1)
    #expect(attemptCount(rig) == count + 1)
  }

  @Test func aDeviceThatIsThereAndRefusesIsTriedAgainEachTimeLater() async throws {
    let rig = try await refusing()
    for wait: Int64 in [50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 32_000, 32_000] {
      await expectNextAttempt(rig, afterMilliseconds: wait)
    }
    rig.server.state.withLock { $0.broken = [] }
    await expectNextAttempt(rig, afterMilliseconds: 32_000)
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
    expectWhole(rig, frameCount: 72_000)
  }

  @Test(arguments: ["another device comes", "another one is chosen"])
  func whatIsDifferentMakesWhoRefusedWorthTryingSoon(what: String) async throws {
    let rig = try await refusing()
    // The next attempt would be in 1.6 s.
    for wait: Int64 in [50, 100, 200, 400, 800] { await expectNextAttempt(rig, afterMilliseconds: wait) }
    let count = attemptCount(rig)
    if what == "another device comes" {
      await rig.report(["speakers", "usb", "headset"])
    } else {
      #expect(await rig.select(OutputSelection(.device("usb"))) == nil)
    }
    #expect(attemptCount(rig) == count + 1)
    await expectNextAttempt(rig, afterMilliseconds: 50)
    rig.server.state.withLock { $0.broken = [] }
    await expectNextAttempt(rig, afterMilliseconds: 100)
    await rig.pass(milliseconds: 500)
    #expect(await rig.playing == "playing - 1.0")
    expectWhole(rig, frameCount: 72_000)
  }

  @Test func aNamedDeviceThatWasNeverThereIsWaitedFor() async throws {
    let rig = try await DeviceRig("speakers", selection: OutputSelection(.device("headset"), lostPolicy: .move))
    await rig.player.play()
    await rig.pass(milliseconds: 500)
    #expect(await rig.output.status == .lost)
    await rig.report(["speakers", "headset"])
    await rig.pass(milliseconds: 500)
    #expect(await rig.output.label == "pulse:headset")
    // From then on the policy applies, and playback returns to the device.
    await rig.report(["speakers"])
    #expect(await rig.output.label == "pulse:speakers")
    await rig.report(["speakers", "headset"])
    #expect(await rig.output.label == "pulse:headset")
  }
}
