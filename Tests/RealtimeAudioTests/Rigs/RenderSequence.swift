import MediaTesting
import PlayheadMediaCore

@testable import PlayheadRealtimeAudio

/// One sequence: a core and a model that receive the same operations.
struct RenderSequence {
  let core: RenderCore
  let inputCount: Int
  var model: RenderModel
  var streams: [RenderStream] = []
  var timeline = EventTimeline()
  var random: SeededGenerator
  /// The first failure; nil while all checks pass.
  var failure: String?

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    inputCount = Int.random(in: 1...4, using: &random)
    let channelCount = Int.random(in: 1...2, using: &random)
    // Meter windows are ten frames long.
    core = RenderCore(format: AudioFormat(sampleRateHz: 1_000, channelCount: channelCount))
    model = RenderModel(inputCount: inputCount, channelCount: channelCount)
    for index in 0..<inputCount { expect(core.attachInput() == index, "attached in order") }
    core.postCommands()
    core.applyCommands()
    for input in 0..<inputCount {
      let stream = makeStream()
      post(.setStream(.init(stream: stream, frame: 0), .none, input: input))
      post(.setRunning(true, input: input))
    }
    core.postCommands()
  }

  mutating func expect(_ condition: Bool, _ message: String) {
    if !condition, failure == nil { failure = message }
  }

  // MARK: - Steps

  mutating func run(stepCount: Int) {
    for _ in 0..<stepCount where failure == nil {
      switch Int.random(in: 0..<100, using: &random) {
      case ..<34: render(frameCount: Int.random(in: 0...40, using: &random))
      case ..<47: rewind()
      case ..<60: release()
      case ..<83: write()
      case ..<86: endStream()
      case ..<95: postCommands()
      case ..<97:
        core.applyCommands()
        model.applyCommands()
      default: checkReadyFrames()
      }
      readEvents()
      expect(core.renderedFrame == model.renderedFrame, "renderedFrame")
    }
    if failure == nil { finish() }
  }

  mutating func render(frameCount: Int) {
    var block = [Float](repeating: .nan, count: frameCount * model.channelCount + 1)
    core.render(into: &block, frameCount: frameCount)
    let guardSample = block.removeLast()
    let expected = model.render(frameCount: frameCount)
    expect(guardSample.isNaN, "wrote past the block")
    expect(block == expected, "content of the block that ends at \(model.renderedFrame)")
    expect(core.isActive == model.isActive, "isActive at \(model.renderedFrame)")
    let lastAudible = model.audible.lastIndex { $0.contains { $0 != nil } } ?? -1
    expect(core.lastAudibleFrame > lastAudible, "lastAudibleFrame")
    expect(core.lastAudibleFrame <= model.renderedFrame, "lastAudibleFrame after the rendered ones")
    checkMeters()
  }

  /// Checks that every recent window that has been rendered completely has the levels of the model.
  mutating func checkMeters() {
    let length = Int64(core.meterWindowFrameCount)
    for (index, input) in model.inputs.enumerated() {
      guard let begin = input.meterBegin, model.renderedFrame / length > begin / length else { continue }
      let end = model.renderedFrame / length
      for number in max(begin / length, end - 8)..<end {
        let frames = Int(max(begin, number * length))..<Int((number + 1) * length)
        guard let window = core.meterWindow(number, input: index) else {
          return expect(false, "no window \(number) of input \(index)")
        }
        for channel in 0..<model.channelCount {
          let samples = frames.map { model.contributions[$0][index][channel].magnitude }
          let meanSquare = samples.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(frames.count)
          expect(window.peaks[channel] == samples.max(), "peak in window \(number) of input \(index)")
          expect(window.meanSquares[channel] == Float(meanSquare), "average in window \(number) of input \(index)")
        }
      }
    }
  }

  mutating func rewind() {
    let frame = Int64.random(in: model.heardFrame - 3...model.renderedFrame + 3, using: &random)
    let reached = core.rewind(toFrame: frame)
    expect(reached == model.rewind(toFrame: frame), "rewind to \(frame) reached \(reached)")
  }

  mutating func release() {
    let frame = Int64.random(in: model.heardFrame...model.renderedFrame, using: &random)
    core.release(heardFrame: frame)
    model.release(heardFrame: frame)
    expect(core.clippedSampleCount == model.clippedSampleCount, "clipped samples")
    for (index, stream) in streams.enumerated() where model.isNeeded(stream: index) {
      let (heard, needed) = model.heardLimits(stream: index)
      expect(stream.releasedFrame >= heard, "stream \(index) retains heard frames")
      expect(
        stream.releasedFrame <= needed,
        "stream \(index) released \(stream.releasedFrame), needed \(needed), written \(stream.writtenFrame)")
    }
  }

  mutating func write() {
    let index = Int.random(in: streams.indices, using: &random)
    guard model.streams[index].end == nil else { return }
    append(to: index, frameCount: Int.random(in: 1...60, using: &random))
  }

  mutating func append(to index: Int, frameCount: Int) {
    let first = model.streams[index].written
    let samples = (0..<frameCount * model.channelCount).map {
      RenderModel.sample(
        .init(stream: index, frame: first + Int64($0 / model.channelCount)), channel: $0 % model.channelCount)
    }
    let count = streams[index].write(samples, frameCount: frameCount)
    expect(count == min(frameCount, streams[index].capacityFrames - Int(first - streams[index].releasedFrame)), "room")
    model.streams[index].written += Int64(count)
  }

  mutating func endStream() {
    let index = Int.random(in: streams.indices, using: &random)
    guard model.streams[index].end == nil else { return }
    streams[index].end()
    model.streams[index].end = model.streams[index].written
  }

  mutating func checkReadyFrames() {
    let requestedCount = Int.random(in: 1...60, using: &random)
    let ready = core.readyFrameCount(atMost: requestedCount)
    model.applyCommands()
    expect((0...requestedCount).contains(ready), "ready \(ready) of \(requestedCount)")
    expect(model.isReady(frameCount: ready), "an input lacks samples within \(ready) frames")
    if ready == 0 { expect(!model.isReady(frameCount: 1), "no input lacks samples, but no frame may be rendered") }
  }

  // MARK: - Commands

  mutating func makeStream() -> Int {
    let capacity = Int.random(in: 1...3, using: &random) * 32
    streams.append(RenderStream(capacityFrames: capacity, channelCount: model.channelCount))
    model.streams.append(.init())
    if Bool.random(using: &random) {
      append(to: streams.count - 1, frameCount: Int.random(in: 1...60, using: &random))
    }
    return streams.count - 1
  }

  mutating func postCommands() {
    for _ in 0..<Int.random(in: 1...3, using: &random) { post(randomCommand()) }
    core.postCommands()
  }

  /// A cross-fade of any curve, with separate lengths that may be 0; none in half of all cases.
  mutating func randomFade() -> SwitchFade {
    if Bool.random(using: &random) { return .none }
    return SwitchFade(
      outFrameCount: Int64.random(in: 0...30, using: &random), inFrameCount: Int64.random(in: 0...30, using: &random),
      curve: [.linear, .equalPower, .sCurve].randomElement(using: &random) ?? .linear)
  }

  mutating func randomCommand() -> RenderModel.Command {
    let input = Int.random(in: 0..<inputCount, using: &random)
    let state = model.inputs[input]
    switch Int.random(in: 0..<16, using: &random) {
    case 0: return .reattach(input: input)
    case 1: return .setRunning(false, input: input)
    case 2: return .setRunning(true, input: input)
    case 3:
      let frame = core.renderedFrame + Int64.random(in: -20...60, using: &random)
      return .setRunning(true, fromFrame: Int.random(in: 0..<6, using: &random) == 0 ? .max : frame, input: input)
    case 4: return .setStream(.init(stream: makeStream(), frame: 0), randomFade(), input: input)
    case 5: return .setStream(nil, randomFade(), input: input)
    case 6:
      // Sets the scheduled stream at once.
      if let next = state.schedule?.next, model.pending.isEmpty {
        return .setStream(next, randomFade(), input: input)
      }
      return .setStream(.init(stream: makeStream(), frame: 0), .none, input: input)
    case 7: return .scheduleStream(nil, input: input)
    case 8, 9:
      let at = (state.position?.frame ?? 0) + Int64.random(in: -3...50, using: &random)
      let next = RenderModel.StreamFrame(stream: makeStream(), frame: Int64.random(in: 0...2, using: &random))
      return .scheduleStream(.init(next: next, atFrame: at, switchFade: randomFade()), input: input)
    case 10:
      return .setMuted(.random(using: &random), rampFrameCount: Int64.random(in: 0...30, using: &random), input: input)
    case 11, 12:
      let pan = Int.random(in: -1...1, using: &random)
      return .setPan(pan, rampFrameCount: Int64.random(in: 0...30, using: &random), input: input)
    case 13: return .setMetering(.random(using: &random), input: input)
    default:
      let gain: Float = [0, 1, 1, 0.5, 0.3].randomElement(using: &random) ?? 1
      return .setGain(gain, rampFrameCount: Int64.random(in: 0...30, using: &random), input: input)
    }
  }

  mutating func post(_ command: RenderModel.Command) {
    model.pending.append(command)
    switch command {
    case .reattach(let input):
      core.detachInput(input)
      expect(core.attachInput() == input, "the index is free again")
    case .setRunning(let isRunning, let frame, let input): core.setRunning(isRunning, fromFrame: frame, input: input)
    case .setStream(let streamFrame, let switchFade, let input):
      core.setStream(
        streamFrame.map { streams[$0.stream] }, fromFrame: streamFrame?.frame ?? 0, switchFade: switchFade, input: input
      )
    case .scheduleStream(let schedule, let input):
      core.scheduleStream(
        schedule.map { streams[$0.next.stream] }, fromFrame: schedule?.next.frame ?? 0,
        atFrame: schedule?.atFrame ?? 0, switchFade: schedule?.switchFade ?? .none, input: input)
    case .setGain(let gain, let rampFrameCount, let input):
      core.setGain(gain, rampFrameCount: rampFrameCount, input: input)
    case .setMuted(let isMuted, let count, let input): core.setMuted(isMuted, rampFrameCount: count, input: input)
    case .setPan(let pan, let count, let input): core.setPan(Float(pan), rampFrameCount: count, input: input)
    case .setMetering(let isEnabled, let input): core.setMetering(isEnabled, input: input)
    }
  }

  // MARK: - Events

  mutating func readEvents() {
    while let event = core.nextEvent() {
      timeline.add(event)
      guard event.kind == .streamRetired else { continue }
      let index = streams.firstIndex { $0.id == event.streamID } ?? -1
      expect(index >= 0 && !model.isNeeded(stream: index), "stream \(index) retired while it is needed")
      expect(timeline.retired.filter { $0 == event.streamID }.count == 1, "stream \(index) retired twice")
    }
  }

  /// Checks that the events match the rendered audio, and that all streams are retired.
  mutating func finish() {
    for frame in 0..<model.renderedFrame {
      for input in 0..<inputCount {
        let reported = timeline.streamFrame(input: input, at: frame)
        let rendered = model.audible[Int(frame)][input]
        let renderedID = rendered.map { streams[$0.stream].id }
        guard reported?.streamID != renderedID || reported?.streamFrame != rendered?.frame else { continue }
        let texts = [String(describing: reported), String(describing: rendered)]
        expect(false, "events report \(texts[0]), not \(texts[1]) at \(frame), input \(input)")
      }
    }
    for input in 0..<inputCount { core.detachInput(input) }
    core.postCommands()
    core.applyCommands()
    model.applyCommands()
    core.release(heardFrame: core.renderedFrame)
    expect(!core.isActive, "isActive without inputs")
    while let event = core.nextEvent() { timeline.add(event) }
    let expected = streams.indices.filter { model.streams[$0].wasUsed }.map { streams[$0].id }
    expect(timeline.retired.sorted() == expected.sorted(), "streams retired \(timeline.retired), expected \(expected)")
    expect(timeline.missedScheduleCount == model.missedScheduleCount, "missed schedules")
    expect(core.lostEventCount == 0, "lost events")
  }
}
