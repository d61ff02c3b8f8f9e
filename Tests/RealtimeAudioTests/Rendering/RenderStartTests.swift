import MediaTesting
import Testing

@testable import PlayheadRealtimeAudio

/// Inputs that begin at a frame set in advance.
@Suite struct RenderStartTests {
  /// Attaches inputs with one stream each, which wait for `startFrame`.
  private func attachWaiting(_ rig: RenderRig, _ streams: [RenderStream], startFrame: Int64) throws -> [Int] {
    let inputs = try streams.map { _ in try #require(rig.core.attachInput()) }
    for (input, stream) in zip(inputs, streams) {
      rig.core.setStream(rig.keep(stream), fromFrame: 0, input: input)
      rig.core.setRunning(true, fromFrame: startFrame, input: input)
    }
    rig.core.postCommands()
    return inputs
  }

  private func startFrames(_ rig: RenderRig) -> [Int64] {
    var frames: [Int64] = []
    while let event = rig.core.nextEvent() { if event.kind == .runBegan { frames.append(event.outputFrame) } }
    return frames
  }

  @Test(arguments: [1, 7, 64, 1_000]) func inputsBeginAtTheSameFrameForEveryBlockSize(blockFrames: Int) throws {
    let rig = RenderRig()
    _ = rig.render(10)
    _ = try attachWaiting(rig, [RenderStream(ramp(500)), RenderStream(ramp(500, from: 1_001))], startFrame: 333)
    var heard: [Float] = []
    while rig.core.renderedFrame < 700 { heard += rig.render(blockFrames) }
    #expect(Array(heard.prefix(323)) == silence(323))
    let sum = zip(ramp(300), ramp(300, from: 1_001)).map { $0 + $1 }
    #expect(Array(heard[323..<623]) == sum)
    #expect(startFrames(rig) == [333, 333])
  }

  @Test func playingInputIsUnaffectedByAWaitingInput() throws {
    let rig = RenderRig()
    _ = try rig.play(RenderStream(ramp(500)))
    _ = try attachWaiting(rig, [RenderStream(ramp(500, from: 1_001))], startFrame: 100)
    let heard = rig.render(200)
    #expect(Array(heard.prefix(100)) == ramp(100))
    #expect(Array(heard[100...]) == zip(ramp(100, from: 101), ramp(100, from: 1_001)).map { $0 + $1 })
  }

  @Test func mixerStaysActiveWhileAnInputWaits() throws {
    let rig = RenderRig()
    let inputs = try attachWaiting(rig, [RenderStream(ramp(50))], startFrame: .max)
    #expect(rig.render(100) == silence(100))
    #expect(rig.core.isActive)
    #expect(rig.core.readyFrameCount(atMost: 4_096) == 4_096)
    // The frame is set later.
    rig.post { $0.setRunning(true, fromFrame: 120, input: inputs[0]) }
    #expect(rig.core.readyFrameCount(atMost: 4_096) == 70)
    #expect(rig.render(70) == silence(20) + ramp(50))
  }

  @Test func repeatedRenderingBeginsAtTheSameFrame() throws {
    let rig = RenderRig()
    _ = try attachWaiting(rig, [RenderStream(ramp(500))], startFrame: 100)
    let first = rig.render(200)
    for frame in [150, 100, 99, 20] as [Int64] {
      #expect(rig.core.rewind(toFrame: frame) == frame)
      #expect(rig.render(200 - Int(frame)) == Array(first[Int(frame)...]))
    }
  }

  @Test func pastBeginFrameStartsAllInputsAtOnce() throws {
    let rig = RenderRig()
    _ = rig.render(500)
    _ = try attachWaiting(rig, [RenderStream(ramp(50)), RenderStream(ramp(50))], startFrame: 499)
    #expect(rig.render(50) == ramp(50).map { $0 * 2 })
    #expect(startFrames(rig) == [500, 500])
  }

  @Test func playingInputWithABeginFrameIsSilentUntilThatFrame() throws {
    let rig = RenderRig()
    let input = try rig.play(RenderStream(ramp(500)))
    _ = rig.render(100)
    rig.post { $0.setRunning(true, fromFrame: 150, input: input) }
    #expect(rig.render(100) == silence(50) + ramp(50, from: 101))
    #expect(rig.events() == ["streamSet 0 0", "runBegan 0 0", "stopped 100 100", "runBegan 150 100"])
  }

  @Test func stopOrPlayEndsTheWait() throws {
    let rig = RenderRig()
    let inputs = try attachWaiting(rig, [RenderStream(ramp(50))], startFrame: 1_000)
    _ = rig.render(10)
    rig.post { $0.setRunning(false, input: inputs[0]) }
    #expect(rig.render(2_000) == silence(2_000))
    #expect(!rig.core.isActive)
    rig.post { $0.setRunning(true, fromFrame: 5_000, input: inputs[0]) }
    _ = rig.render(10)
    rig.post { $0.setRunning(true, input: inputs[0]) }
    #expect(rig.render(50) == ramp(50))
  }

  @Test func streamSetDuringTheWaitBeginsWithoutACrossFade() throws {
    let rig = RenderRig()
    let inputs = try attachWaiting(rig, [RenderStream(ramp(500))], startFrame: 100)
    _ = rig.render(50)
    let next = rig.keep(RenderStream(ramp(500, from: 1_001)))
    rig.post { $0.setStream(next, fromFrame: 3, switchFade: SwitchFade(frameCount: 40), input: inputs[0]) }
    #expect(rig.render(100) == silence(50) + ramp(50, from: 1_004))
  }

  @Test func metersShowSilenceBeforeTheBeginFrame() throws {
    let rig = RenderRig(sampleRateHz: 1_000)
    let inputs = try attachWaiting(rig, [RenderStream(silence(100).map { _ in 0.5 })], startFrame: 25)
    rig.post { $0.setMetering(true, input: inputs[0]) }
    #expect(rig.render(50) == silence(25) + silence(25).map { _ in 0.5 })
    let peaks = (0..<5).map { rig.core.meterWindow($0, input: inputs[0])?.peaks }
    #expect(peaks == [[0], [0], [0.5], [0.5], [0.5]])
    #expect(rig.core.meterWindow(2, input: inputs[0])?.meanSquares == [0.125])
  }

  /// A sink must not renumber frames while an input waits for one of them.
  @Test func pendingEffectMixesWhileAnInputWaits() throws {
    let rig = RenderRig()
    let inputs = try attachWaiting(rig, [RenderStream(ramp(500))], startFrame: 300)
    #expect(rig.core.pendingEffect(fromFrame: 0) == .mixes)
    _ = rig.render(100)
    let next = rig.keep(RenderStream(ramp(500)))
    rig.post { $0.setStream(next, fromFrame: 0, input: inputs[0]) }
    #expect(rig.core.pendingEffect(fromFrame: 50) == .mixes)
    rig.core.applyCommands()
    rig.post { $0.setRunning(false, input: inputs[0]) }
    #expect(rig.core.pendingEffect(fromFrame: 100) == .silences)
  }

  @Test func startAtAFrameDoesNotAllocate() throws {
    let rig = RenderRig()
    let inputs = try attachWaiting(rig, [RenderStream(ramp(2_000)), RenderStream(ramp(2_000))], startFrame: 700)
    rig.core.setMetering(true, input: inputs[1])
    rig.core.postCommands()
    let block = UnsafeMutablePointer<Float>.allocate(capacity: 512)
    defer { block.deallocate() }
    rig.core.render(into: block, frameCount: 512)
    rig.core.setRunning(true, fromFrame: 600, input: inputs[0])
    rig.core.postCommands()
    let core = rig.core
    let counts = AllocationProbe.count {
      for _ in 0..<3 { core.render(into: block, frameCount: 100) }
      _ = core.rewind(toFrame: 550)
      _ = core.readyFrameCount(atMost: 512)
      core.render(into: block, frameCount: 512)
    }
    #expect(counts == .none)
  }
}
