import Glibc
import MediaTesting
import PlayheadMediaCore
import Testing

@testable import PlayheadRealtimeAudio

/// Calls everything on the sink's side of a `RenderCore`, in every situation, and expects no allocation and no lock.
///
/// The probe is disabled under the thread and address sanitizers, which replace the same functions. Then these tests
/// still run the code, and the first test checks that nothing was counted.
@Suite struct RenderAllocationTests {
  @Test func probeCountsAllocationsAndLocks() {
    let allocations = AllocationProbe.count {
      let memory = malloc(100)
      free(memory)
      let aligned = UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 4_096)
      aligned.deallocate()
    }
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    let locks = AllocationProbe.count {
      pthread_mutex_lock(mutex)
      pthread_mutex_unlock(mutex)
    }
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    let arrays = AllocationProbe.count {
      withExtendedLifetime([Int](repeating: 1, count: allocations.lockCount + 100)) {}
    }
    if AllocationProbe.isAvailable {
      // The peak is the size that the C library allocated, which is slightly larger.
      let peak = allocations.peakByteCount
      #expect(
        allocations
          == AllocationProbe.Counts(allocationCount: 4, lockCount: 0, byteCount: 200, peakByteCount: peak))
      #expect((100..<200).contains(peak))
      #expect(locks == AllocationProbe.Counts(allocationCount: 0, lockCount: 1))
      #expect(arrays.allocationCount == 2)
    } else {
      #expect([allocations, locks, arrays] == [.none, .none, .none])
    }
    #expect(AllocationProbe.count {} == .none)
  }

  @Test func probeCountsOnlyItsOwnThread() {
    let hasEnded = Flag()
    let counts = ConditionMutex<AllocationProbe.Counts?>(nil)
    let other = NamedThread(name: "idle") {
      let counted = AllocationProbe.count { while !hasEnded.isSet { sched_yield() } }
      counts.update { $0 = counted }
    }
    withExtendedLifetime([Int](repeating: 1, count: 100)) {}
    hasEnded.set()
    other.join()
    #expect(counts.withState { $0?.allocationCount } == 0)
  }

  /// Runs `body` with a warmed-up core, a buffer of 512 stereo frames, and counters at zero.
  private func count(
    prepare: (RenderRig, [RenderStream]) throws -> Void = { _, _ in },
    _ body: (RenderCore, UnsafeMutablePointer<Float>) -> Void
  ) throws -> AllocationProbe.Counts {
    let rig = RenderRig(channelCount: 2)
    let streams = (0..<4).map { RenderStream(ramp(2_000, from: $0), channelCount: 2) }
    for stream in streams.dropLast() { _ = try rig.play(stream) }
    let block = UnsafeMutablePointer<Float>.allocate(capacity: 1_024)
    defer { block.deallocate() }
    rig.core.render(into: block, frameCount: 100)
    try prepare(rig, streams)
    let core = rig.core
    return withExtendedLifetime(streams) { AllocationProbe.count { body(core, block) } }
  }

  @Test func renderingDoesNotAllocate() throws {
    #expect(try count { core, block in core.render(into: block, frameCount: 512) } == .none)
    #expect(try count { core, block in core.render(into: block, frameCount: 0) } == .none)
    // Into an underrun, and further.
    #expect(try count { core, block in for _ in 0..<5 { core.render(into: block, frameCount: 512) } } == .none)
  }

  @Test func applyingCommandsDoesNotAllocate() throws {
    let counts = try count { rig, streams in
      let core = rig.core
      core.setGain(0.5, rampFrameCount: 300, input: 0)
      core.setGain(0.5, rampFrameCount: 300, curve: .equalPower, input: 2)
      core.setMuted(true, rampFrameCount: 200, input: 0)
      core.setPan(-0.5, rampFrameCount: 100, input: 0)
      #expect(streams[0].setItemGain(0.5, itemID: 1, fromFrame: 300))
      core.setItemGain(0.25, itemID: 1, of: streams[0], rampFrameCount: 100, input: 0)
      core.setItemGain(0.25, itemID: 1, of: streams[3], rampFrameCount: 100, input: 0)
      core.setMetering(true, input: 0)
      core.setRunning(false, input: 1)
      core.scheduleStream(streams[3], fromFrame: 0, atFrame: 150, input: 2)
      core.setStream(nil, fromFrame: 0, input: 1)
      core.detachInput(1)
      #expect(core.attachInput() == 1)
      core.postCommands()
    } _: { core, block in
      core.applyCommands()
      core.render(into: block, frameCount: 512)
    }
    #expect(counts == .none)
  }

  @Test func missedAndCancelledSchedulesDoNotAllocate() throws {
    let counts = try count { rig, streams in
      rig.core.scheduleStream(streams[3], fromFrame: 0, atFrame: 1, input: 0)
      rig.core.scheduleStream(streams[3], fromFrame: 0, atFrame: 900, input: 1)
      rig.core.scheduleStream(nil, fromFrame: 0, atFrame: 0, input: 1)
      rig.core.postCommands()
    } _: { core, block in
      core.render(into: block, frameCount: 512)
    }
    #expect(counts == .none)
  }

  @Test func switchFadesAndMetersDoNotAllocate() throws {
    let counts = try count { rig, streams in
      rig.core.setMetering(true, input: 0)
      rig.core.setMetering(true, input: 1)
      rig.core.setStream(streams[3], fromFrame: 0, switchFade: SwitchFade(frameCount: 240), input: 0)
      rig.core.scheduleStream(streams[3], fromFrame: 0, atFrame: 200, switchFade: SwitchFade(frameCount: 240), input: 1)
      rig.core.setPan(1, rampFrameCount: 0, input: 2)
      rig.core.postCommands()
    } _: { core, block in
      core.render(into: block, frameCount: 512)
      _ = core.rewind(toFrame: 150)
      core.render(into: block, frameCount: 512)
      core.release(heardFrame: 600)
    }
    #expect(counts == .none)
  }

  @Test func rewindAndReleaseDoNotAllocate() throws {
    let counts = try count { rig, streams in
      rig.core.scheduleStream(streams[3], fromFrame: 0, atFrame: 200, input: 0)
      rig.core.postCommands()
      streams[1].requestSpaceWakeup()
    } _: { core, block in
      core.render(into: block, frameCount: 512)
      _ = core.rewind(toFrame: 150)
      core.render(into: block, frameCount: 512)
      core.release(heardFrame: 600)
      core.render(into: block, frameCount: 500)
      core.release(heardFrame: core.renderedFrame)
      _ = core.rewind(toFrame: 0)
    }
    #expect(counts == .none)
  }

  @Test func historyAndEventQueueOverflowWithoutAllocating() throws {
    let counts = try count { core, block in
      for _ in 0..<3_000 {
        core.render(into: block, frameCount: 2)
        _ = core.rewind(toFrame: core.renderedFrame - 1)
        _ = core.consumeWakeRequest()
      }
    }
    #expect(counts == .none)
  }

  @Test func queriesDoNotAllocate() throws {
    let counts = try count { core, block in
      _ = core.readyFrameCount(atMost: 512)
      _ = core.consumeWakeRequest()
      _ = core.isActive
      _ = core.renderedFrame
      _ = core.lastAudibleFrame
      core.clock.publish(heardFrame: 50, at: HostTime(nanoseconds: 1), isRunning: true)
      _ = core.clock.snapshot().heardFrame(at: HostTime(nanoseconds: 2))
    }
    #expect(counts == .none)
  }
}
